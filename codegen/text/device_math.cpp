// The table of device_math.hpp, and the printing of its rows. A body is an expression or statements over a, b, c, d, in
// which T is float or double. An empty body is the compiler's builtin of that name, "row name" that row of the operator
// table, "extern" the C library's function. Functions that a body calls are declared before it.
#include "codegen/text/device_math.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <ingot/core/operators.hpp>

#include "codegen/graph/graph.hpp"
#include "codegen/operator_bodies.hpp"
#include "codegen/text/device_math.h.hpp"
#include "codegen/text/user_text.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

// clang-format off
constexpr device_function table[] = {
    // Functions of C and C++, in both precisions.
    {"acos", "xx", ""},       {"acosh", "xx", ""},      {"asin", "xx", ""},       {"asinh", "xx", ""},
    {"atan", "xx", ""},       {"atan2", "xxx", ""},     {"atanh", "xx", ""},      {"cbrt", "xx", ""},
    {"ceil", "xx", ""},       {"copysign", "xxx", ""},  {"cos", "xx", ""},        {"cosh", "xx", ""},
    {"erf", "xx", ""},        {"erfc", "xx", ""},       {"exp", "xx", ""},        {"exp2", "xx", ""},
    {"expm1", "xx", ""},      {"fabs", "xx", ""},       {"fdim", "xxx", ""},      {"floor", "xx", ""},
    {"fma", "xxxx", ""},      {"fmax", "xxx", ""},      {"fmin", "xxx", ""},      {"fmod", "xxx", ""},
    {"frexp", "xxI", ""},     {"hypot", "xxx", ""},     {"ilogb", "ix", ""},      {"ldexp", "xxi", ""},
    {"lgamma", "xx", ""},     {"llrint", "Lx", ""},     {"llround", "Lx", ""},    {"log", "xx", ""},
    {"log10", "xx", ""},      {"log1p", "xx", ""},      {"log2", "xx", ""},       {"logb", "xx", ""},
    {"lrint", "lx", ""},      {"lround", "lx", ""},     {"modf", "xxX", ""},      {"nearbyint", "xx", ""},
    {"nextafter", "xxx", ""}, {"pow", "xxx", ""},       {"remainder", "xxx", ""}, {"remquo", "xxxI", ""},
    {"rint", "xx", ""},       {"round", "xx", ""},      {"scalbln", "xxl", ""},   {"scalbn", "xxi", ""},
    {"sin", "xx", ""},        {"sinh", "xx", ""},       {"sqrt", "xx", ""},       {"tan", "xx", ""},
    {"tanh", "xx", ""},       {"tgamma", "xx", ""},     {"trunc", "xx", ""},
    {"isfinite", "bd", ""},   {"isfinite", "bf", ""},   {"isinf", "bd", ""},      {"isinf", "bf", ""},
    {"isnan", "bd", ""},      {"isnan", "bf", ""},      {"signbit", "bd", ""},    {"signbit", "bf", ""},
    {"nan", "ds", "__builtin_nan(\"\")"}, {"nanf", "fs", "__builtin_nanf(\"\")"},
    {"abs", "xx", ""},        {"abs", "ii", ""},        {"abs", "ll", "a < 0 ? -a : a"}, {"abs", "LL", "a < 0 ? -a : a"},
    {"labs", "ll", ""},       {"llabs", "LL", ""},

    // CUDA's own functions, in both precisions.
    {"cospi", "xx", "const T k = T(__builtin_rint(2 * double(a))), t = T(a - k / 2);\n"
                    "const double r = 3.14159265358979323846 * double(t), q = __builtin_fmod(double(k), 4);\n"
                    "if (q == 1 || q == -3) return T(-__builtin_sin(r));\nif (q == 2 || q == -2) return T(-__builtin_cos(r));\n"
                    "return T(q == 0 ? __builtin_cos(r) : __builtin_sin(r));"},
    {"sinpi", "xx", "const T k = T(__builtin_rint(2 * double(a))), t = T(a - k / 2);\n"
                    "const double r = 3.14159265358979323846 * double(t), q = __builtin_fmod(double(k), 4);\n"
                    "if (q == 1 || q == -3) return T(__builtin_cos(r));\nif (q == 2 || q == -2) return T(-__builtin_sin(r));\n"
                    "return T(q == 0 ? __builtin_sin(r) : -__builtin_cos(r));"},
    {"sincos", "vxXX", "*b = T(__builtin_sin(a)), *c = T(__builtin_cos(a));"},
    {"sincospi", "vxXX", "*b = sinpi(a), *c = cospi(a);"},
    {"cyl_bessel_i0", "xx", "row i0"},   {"cyl_bessel_i1", "xx", "row i1"},
    {"erfcinv", "xx", "row erfcinv"},    {"erfcx", "xx", "row erfcx"},       {"erfinv", "xx", "row erfinv"},
    {"exp10", "xx", "T(__builtin_pow(10.0, double(a)))"},
    {"fdivide", "xxx", "a / b"},
    {"j0", "xx", ""},  {"j1", "xx", ""},  
    {"jn", "did", "extern"}, {"jn", "fif", "float(jn(a, double(b)))"}, {"jnf", "fif", "float(jn(a, double(b)))"},
    {"y0", "xx", ""},  {"y1", "xx", ""},  
    {"yn", "did", "extern"}, {"yn", "fif", "float(yn(a, double(b)))"}, {"ynf", "fif", "float(yn(a, double(b)))"},
    {"norm", "diP", "double r = 0;\nfor (int k = 0; k < a; ++k) r = __builtin_hypot(r, b[k]);\nreturn r;"},
    {"normf", "fip", "double r = 0;\nfor (int k = 0; k < a; ++k) r = __builtin_hypot(r, b[k]);\nreturn float(r);"},
    {"norm3d", "xxxx", "T(__builtin_hypot(__builtin_hypot(a, b), c))"},
    {"norm4d", "xxxxx", "T(__builtin_hypot(__builtin_hypot(a, b), __builtin_hypot(c, d)))"},
    {"normcdf", "xx", "row ndtr"},       {"normcdfinv", "xx", "row ndtri"},
    {"rcbrt", "xx", "T(1 / __builtin_cbrt(a))"},
    {"rhypot", "xxx", "T(1 / __builtin_hypot(a, b))"},
    {"rnorm", "diP", "return 1 / norm(a, b);"}, {"rnormf", "fip", "return 1 / normf(a, b);"},
    {"rnorm3d", "xxxx", "T(1 / __builtin_hypot(__builtin_hypot(a, b), c))"},
    {"rnorm4d", "xxxxx", "T(1 / __builtin_hypot(__builtin_hypot(a, b), __builtin_hypot(c, d)))"},
    {"rsqrt", "xx", "T(1 / __builtin_sqrt(a))"},

    // Atomic operations return the old value; on the host elements come in order.
    {"atomicAdd", "", "template <class A, class B>\nstatic inline A atomicAdd(A* at, B b) {\n    const A old = *at;\n    *at = A(old + b);\n    return old;\n}\n"},
    {"atomicSub", "", "template <class A, class B>\nstatic inline A atomicSub(A* at, B b) {\n    const A old = *at;\n    *at = A(old - b);\n    return old;\n}\n"},
    {"atomicMax", "", "template <class A, class B>\nstatic inline A atomicMax(A* at, B b) {\n    const A old = *at, to = A(b);\n    if (old < to) *at = to;\n    return old;\n}\n"},
    {"atomicMin", "", "template <class A, class B>\nstatic inline A atomicMin(A* at, B b) {\n    const A old = *at, to = A(b);\n    if (to < old) *at = to;\n    return old;\n}\n"},
    {"atomicAnd", "", "template <class A, class B>\nstatic inline A atomicAnd(A* at, B b) {\n    const A old = *at;\n    *at = A(old & b);\n    return old;\n}\n"},
    {"atomicOr", "", "template <class A, class B>\nstatic inline A atomicOr(A* at, B b) {\n    const A old = *at;\n    *at = A(old | b);\n    return old;\n}\n"},
    {"atomicXor", "", "template <class A, class B>\nstatic inline A atomicXor(A* at, B b) {\n    const A old = *at;\n    *at = A(old ^ b);\n    return old;\n}\n"},
    {"atomicExch", "", "template <class A, class B>\nstatic inline A atomicExch(A* at, B b) {\n    const A old = *at;\n    *at = A(b);\n    return old;\n}\n"},
    {"atomicCAS", "", "template <class A, class B, class C>\nstatic inline A atomicCAS(A* at, B expected, C b) {\n    const A old = *at;\n    if (old == A(expected)) *at = A(b);\n    return old;\n}\n"},

    // Least and greatest: of two numbers of one kind, in the wider type of the two.
    {"max", "", "template <class A, class B>\nstatic inline auto max(A a, B b) {\n    return a < b ? b : a;\n}\n"},
    {"max", "fff", "__builtin_fmaxf(a, b)"}, {"max", "ddd", "__builtin_fmax(a, b)"},
    {"max", "dfd", "__builtin_fmax(a, b)"},  {"max", "ddf", "__builtin_fmax(a, b)"},
    {"min", "", "template <class A, class B>\nstatic inline auto min(A a, B b) {\n    return b < a ? b : a;\n}\n"},
    {"min", "fff", "__builtin_fminf(a, b)"}, {"min", "ddd", "__builtin_fmin(a, b)"},
    {"min", "dfd", "__builtin_fmin(a, b)"},  {"min", "ddf", "__builtin_fmin(a, b)"},
    {"llmax", "LLL", "a < b ? b : a"},       {"llmin", "LLL", "b < a ? b : a"},
    {"ullmax", "UUU", "a < b ? b : a"},      {"ullmin", "UUU", "b < a ? b : a"},
    {"umax", "uuu", "a < b ? b : a"},        {"umin", "uuu", "b < a ? b : a"},

    // A GPU's approximations in single precision; the host computes them in full precision.
    {"__cosf", "ff", "__builtin_cosf(a)"},       {"__exp10f", "ff", "float(__builtin_pow(10.0, double(a)))"},
    {"__expf", "ff", "__builtin_expf(a)"},       {"__fdividef", "fff", "a / b"},
    {"__log10f", "ff", "__builtin_log10f(a)"},   {"__log2f", "ff", "__builtin_log2f(a)"},
    {"__logf", "ff", "__builtin_logf(a)"},       {"__powf", "fff", "__builtin_powf(a, b)"},
    {"__saturatef", "ff", "a > 0 ? a < 1 ? a : 1 : 0"},
    {"__sincosf", "vfFF", "*b = __builtin_sinf(a), *c = __builtin_cosf(a);"},
    {"__sinf", "ff", "__builtin_sinf(a)"},       {"__tanf", "ff", "__builtin_tanf(a)"},

    // Rounded to nearest, down, up, to zero; never contracted.
    {"__fadd_@", "fff", "a + b"},     {"__fsub_@", "fff", "a - b"},   {"__fmul_@", "fff", "a * b"},
    {"__fdiv_@", "fff", "a / b"},     {"__fmaf_@", "ffff", "__builtin_fmaf(a, b, c)"},
    {"__frcp_@", "ff", "1 / a"},      {"__fsqrt_@", "ff", "__builtin_sqrtf(a)"},
    {"__frsqrt_rn", "ff", "float(1 / __builtin_sqrt(a))"},
    {"__dadd_@", "ddd", "a + b"},     {"__dsub_@", "ddd", "a - b"},   {"__dmul_@", "ddd", "a * b"},
    {"__ddiv_@", "ddd", "a / b"},     {"__fma_@", "dddd", "__builtin_fma(a, b, c)"},
    {"__drcp_@", "dd", "1 / a"},      {"__dsqrt_@", "dd", "__builtin_sqrt(a)"},

    // Conversions.
    {"__double2float_@", "fd", "float(a)"},    {"__int2float_@", "fi", "float(a)"},
    {"__uint2float_@", "fu", "float(a)"},      {"__ll2float_@", "fL", "float(a)"},
    {"__ull2float_@", "fU", "float(a)"},       {"__ll2double_@", "dL", "double(a)"},
    {"__ull2double_@", "dU", "double(a)"},     {"__int2double_rn", "di", "double(a)"},
    {"__uint2double_rn", "du", "double(a)"},
    {"__float2int_@", "if", ""},    {"__float2uint_@", "uf", ""},   {"__float2ll_@", "Lf", ""},
    {"__float2ull_@", "Uf", ""},    {"__double2int_@", "id", ""},   {"__double2uint_@", "ud", ""},
    {"__double2ll_@", "Ld", ""},    {"__double2ull_@", "Ud", ""},
    {"__float_as_int", "if", "__builtin_bit_cast(int, a)"},
    {"__float_as_uint", "uf", "__builtin_bit_cast(unsigned int, a)"},
    {"__int_as_float", "fi", "__builtin_bit_cast(float, a)"},
    {"__uint_as_float", "fu", "__builtin_bit_cast(float, a)"},
    {"__double_as_longlong", "Ld", "__builtin_bit_cast(long long, a)"},
    {"__longlong_as_double", "dL", "__builtin_bit_cast(double, a)"},
    {"__double2hiint", "id", "int(__builtin_bit_cast(long long, a) >> 32)"},
    {"__double2loint", "id", "int(__builtin_bit_cast(long long, a))"},
    {"__hiloint2double", "dii", "__builtin_bit_cast(double, (long long)a << 32 | (unsigned int)b)"},

    // Integers and their bits.
    {"__brev", "uu", "a = (a >> 1 & 0x55555555u) | (a & 0x55555555u) << 1;\n"
                     "a = (a >> 2 & 0x33333333u) | (a & 0x33333333u) << 2;\n"
                     "a = (a >> 4 & 0x0f0f0f0fu) | (a & 0x0f0f0f0fu) << 4;\nreturn __builtin_bswap32(a);"},
    {"__brevll", "UU", "return (unsigned long long)__brev((unsigned int)a) << 32 | __brev((unsigned int)(a >> 32));"},
    {"__byte_perm", "uuuu", "const unsigned long long bytes = (unsigned long long)b << 32 | a;\nunsigned int r = 0;\n"
                            "for (int k = 0; k < 4; ++k)\n"
                            "    r |= (unsigned int)(bytes >> 8 * (c >> 4 * k & 7) & 0xff) << 8 * k;\nreturn r;"},
    {"__clz", "ii", "a == 0 ? 32 : __builtin_clz((unsigned int)a)"},
    {"__clzll", "iL", "a == 0 ? 64 : __builtin_clzll((unsigned long long)a)"},
    {"__dp2a_hi", "iiii", "return (a << 16 >> 16) * (b << 8 >> 24) + (a >> 16) * (b >> 24) + c;"},
    {"__dp2a_hi", "uuuu", "return (a & 0xffff) * (b >> 16 & 0xff) + (a >> 16) * (b >> 24) + c;"},
    {"__dp2a_lo", "iiii", "return (a << 16 >> 16) * (b << 24 >> 24) + (a >> 16) * (b << 16 >> 24) + c;"},
    {"__dp2a_lo", "uuuu", "return (a & 0xffff) * (b & 0xff) + (a >> 16) * (b >> 8 & 0xff) + c;"},
    {"__dp4a", "iiii", "for (int k = 0; k < 32; k += 8) c += int((signed char)(a >> k)) * int((signed char)(b >> k));\n"
                       "return c;"},
    {"__dp4a", "uuuu", "for (int k = 0; k < 32; k += 8) c += (a >> k & 0xff) * (b >> k & 0xff);\nreturn c;"},
    {"__ffs", "ii", "__builtin_ffs(a)"},
    {"__ffsll", "iL", "__builtin_ffsll(a)"},
    {"__fns", "uuui", "const int step = c < 0 ? -1 : 1;\nint left = c < 0 ? -c : c;\n"
                      "if (left == 0) return a >> (b & 31) & 1 ? b : ~0u;\n"
                      "for (int at = int(b & 31); at >= 0 && at < 32; at += step)\n"
                      "    if ((a >> at & 1) != 0 && --left == 0) return (unsigned int)at;\nreturn ~0u;"},
    {"__funnelshift_l", "uuuu", "(unsigned int)((((unsigned long long)b << 32 | a) << (c & 31)) >> 32)"},
    {"__funnelshift_lc", "uuuu", "(unsigned int)((((unsigned long long)b << 32 | a) << (c < 32 ? c : 32)) >> 32)"},
    {"__funnelshift_r", "uuuu", "(unsigned int)(((unsigned long long)b << 32 | a) >> (c & 31))"},
    {"__funnelshift_rc", "uuuu", "(unsigned int)(((unsigned long long)b << 32 | a) >> (c < 32 ? c : 32))"},
    {"__hadd", "iii", "int(((long long)a + b) >> 1)"},
    {"__mul24", "iii", "int((unsigned int)(a << 8 >> 8) * (unsigned int)(b << 8 >> 8))"},
    {"__mul64hi", "LLL", "(long long)((__int128)a * b >> 64)"},
    {"__mulhi", "iii", "int((long long)a * b >> 32)"},
    {"__nv_bswap16", "tt", "__builtin_bswap16(a)"},
    {"__nv_bswap32", "uu", "__builtin_bswap32(a)"},
    {"__nv_bswap64", "UU", "__builtin_bswap64(a)"},
    {"__popc", "iu", "__builtin_popcount(a)"},
    {"__popcll", "iU", "__builtin_popcountll(a)"},
    {"__rhadd", "iii", "int(((long long)a + b + 1) >> 1)"},
    {"__sad", "uiiu", "(unsigned int)(a < b ? (long long)b - a : (long long)a - b) + c"},
    {"__uhadd", "uuu", "(unsigned int)(((unsigned long long)a + b) >> 1)"},
    {"__umul24", "uuu", "(a & 0xffffff) * (b & 0xffffff)"},
    {"__umul64hi", "UUU", "(unsigned long long)((unsigned __int128)a * b >> 64)"},
    {"__umulhi", "uuu", "(unsigned int)((unsigned long long)a * b >> 32)"},
    {"__urhadd", "uuu", "(unsigned int)(((unsigned long long)a + b + 1) >> 1)"},
    {"__usad", "uuuu", "(a < b ? b - a : a - b) + c"},
};
// clang-format on

constexpr std::string_view ways[] = {"rn", "rd", "ru", "rz"};

std::string spell_type(char letter, bool single) {
    const std::string number = single ? "float" : "double";
    switch (letter) {
        case 'x':
            return number;
        case 'X':
            return number + '*';
        case 'P':
            return "const double*";
        case 'p':
            return "const float*";
        case 'f':
            return "float";
        case 'd':
            return "double";
        case 'F':
            return "float*";
        case 'I':
            return "int*";
        case 'b':
            return "bool";
        case 'i':
            return "int";
        case 't':
            return "unsigned short";
        case 'u':
            return "unsigned int";
        case 'l':
            return "long";
        case 'L':
            return "long long";
        case 'U':
            return "unsigned long long";
        case 's':
            return "const char*";
        default:
            return "void";
    }
}

std::string list_parameters(std::string_view signature, bool single) {
    std::string out;
    for (std::size_t i = 1; i < signature.size(); ++i)
        out += (i > 1 ? ", " : "") + spell_type(signature[i], single) + ' ' + "abcd"[i - 1];
    return out;
}
std::string list_arguments(std::size_t count) { return std::string("a, b, c, d").substr(0, 3 * count - 2); }

/// The body with the type for T.
std::string with_type(std::string_view body, bool single) {
    std::string out;
    for (std::size_t i = 0; i < body.size(); ++i) {
        const auto is_part = [&](std::size_t at) {
            const char c = at < body.size() ? body[at] : ' ';
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        };
        if (body[i] == 'T' && !is_part(i + 1) && (i == 0 || !is_part(i - 1)))
            out += single ? "float" : "double";
        else
            out += body[i];
    }
    return out;
}

std::string indented(const std::string& statements) {
    std::string out = "    ";
    for (const char c : statements) out += c == '\n' ? std::string("\n    ") : std::string(1, c);
    return out + '\n';
}

std::string define(const std::string& name, std::string_view signature, const std::string& body, bool single) {
    const std::string head = "static inline " + spell_type(signature[0], single) + ' ' + name + '(' +
                             list_parameters(signature, single) + ") {";
    if (!body.ends_with(';')) return head + " return " + body + "; }\n";
    return head + '\n' + indented(body) + "}\n";
}

/// Applies a row of one argument of the operator table, in double precision.
std::string apply_row(std::string_view name, bool single, prelude& needs) {
    const auto row = std::ranges::find(op_table, name, &op_facts::name);
    node n;
    n.kind = node_kind::map;
    n.code = static_cast<std::uint16_t>(row - std::begin(op_table));
    n.type = dtype::f8;
    n.arity = 1;
    const std::string value = spell_map(n, {n.type}, {single ? "double(a)" : "a"}, needs);
    return single ? "float(" + value + ')' : value;
}

// ---- rounding ---------------------------------------------------------------------------------------------------

/// Defines a row whose name ends with a rounding mode.
std::string define_rounded(const std::string& name, const device_function& f, std::size_t way, prelude& needs) {
    const std::string_view signature = f.signature;
    if (f.body.empty()) {  // to an integer
        static constexpr std::string_view whole[] = {"rint", "floor", "ceil", "trunc"};
        const std::string type = spell_type(signature[0], false);
        // The instruction returns 0 for NaN; for doubles and 64-bit results it returns the highest bit alone.
        const bool zero = signature[1] == 'f' && (signature[0] == 'i' || signature[0] == 'u');
        const std::string of_nan = zero ? '(' + type + ")0" : '(' + type + ")(1ull << (8 * sizeof(" + type + ") - 1))";
        needs.add("to_integer", embedded::to_integer);
        return define(name, signature,
                      "to_integer<" + type + ">(__builtin_" + std::string(whole[way]) + "(a), " + of_nan + ')', false);
    }
    std::string lines;
    if (way == 0) {
        needs.add("uncontracted", embedded::uncontracted);
        for (std::size_t i = 1; i < signature.size(); ++i)
            if (signature[i] == 'f' || signature[i] == 'd')
                lines += std::string(1, "abcd"[i - 1]) + " = uncontracted(" + "abcd"[i - 1] + ");\n";
        lines += "return uncontracted(" + std::string(f.body) + ");";
        return define(name, signature, lines, false);
    }
    needs.add("rounding", embedded::rounding);
    lines = "const rounding now(rounding::" + std::string(ways[way]) + ");\n";
    for (std::size_t i = 1; i < signature.size(); ++i)
        lines += "volatile " + spell_type(signature[i], false) + " read_" + "abcd"[i - 1] + " = given_" +
                 "abcd"[i - 1] + ";\n";
    for (std::size_t i = 1; i < signature.size(); ++i)
        lines += "const " + spell_type(signature[i], false) + ' ' + "abcd"[i - 1] + " = read_" + "abcd"[i - 1] + ";\n";
    const std::string result = spell_type(signature[0], false);
    lines += "volatile " + result + " r = " + std::string(f.body) + ";\nreturn r;";
    std::string given;
    for (std::size_t i = 1; i < signature.size(); ++i)
        given += (i > 1 ? ", " : "") + spell_type(signature[i], false) + " given_" + "abcd"[i - 1];
    return "static inline " + result + ' ' + name + '(' + given + ") {\n" + indented(lines) + "}\n";
}

bool is_of_library(std::string_view name) {
    return std::ranges::any_of(function_table, [=](const function_facts& f) { return f.name == name; });
}

/// Defines a row in one precision, under its own name or with an f appended.
std::string define_plain(const std::string& name, const device_function& f, bool single, prelude& needs) {
    std::string body = with_type(f.body, single);
    if (body == "extern")
        return "extern \"C\" " + spell_type(f.signature[0], single) + ' ' + name + '(' +
               list_parameters(f.signature, single) + ");\n";
    if (f.body.starts_with("row "))
        body = apply_row(f.body.substr(4), single, needs);
    else if (body.empty())
        body = "__builtin_" + std::string(f.name) + (f.has_both_precisions() && single ? "f(" : "(") +
               list_arguments(f.signature.size() - 1) + ')';
    return define(name, f.signature, body, single);
}

/// Declares the functions of the table that a body calls.
void declare_called(std::string_view body, std::string_view by, prelude& needs) {
    for (const char* const called : {"sinpi", "cospi", "norm", "normf", "jn", "yn", "__brev"})
        if (called != by && body.find(std::string(called) + '(') != body.npos) declare_device_function(called, needs);
}

}  // namespace

std::span<const device_function> device_functions() { return table; }

void declare_device_function(std::string_view given, prelude& needs) {
    const std::string name(given), stem = name.ends_with('f') ? name.substr(0, name.size() - 1) : "";
    if (needs.has(name)) return;
    std::string text;
    for (const device_function& f : table) {
        const bool both = f.has_both_precisions(), plain = f.name == name, single = both && f.name == stem;
        if (plain || single) {
            declare_called(f.body, f.name, needs);
            // The kernel's own bodies may call functions of the library, and the compiler has vector versions of some.
            const bool library = both && is_of_library(f.name);
            if (library && plain) needs.calls(f.name, dtype::f8);
            if (library && f.body.empty()) {
                if (plain || !is_exact_function(f.name)) needs.calls(f.name, dtype::f4);
                if (single && is_exact_function(f.name) && f.name != "abs") text += define_plain(name, f, true, needs);
            } else if (f.signature.empty()) {
                text += f.body;
            } else {
                text += define_plain(name, f, single, needs);
                if (both && plain) text += define_plain(name, f, true, needs);
            }
        } else if (f.name.ends_with('@') && name.starts_with(f.name.substr(0, f.name.size() - 1))) {
            const std::string way = name.substr(f.name.size() - 1);
            if (const auto at = std::ranges::find(ways, way); at != std::end(ways))
                text += define_rounded(name, f, static_cast<std::size_t>(at - std::begin(ways)), needs);
        }
    }
    if (!text.empty()) needs.add(name, text);
}

std::string declare_beside_c(std::string_view text) {
    static constexpr std::string_view of_c[] = {"exp10", "sincos", "abs", "max", "min"};
    prelude needs(target::host);
    for (const device_function& f : table) {
        const bool builtin = f.body.empty() && !f.name.ends_with('@');
        // A raw kernel has atomic operations between threads.
        if (builtin || f.name.starts_with("atomic") || f.body == "extern" || f.body.starts_with("row ") ||
            f.body.starts_with("__builtin_nan") || std::ranges::find(of_c, f.name) != std::end(of_c))
            continue;
        const bool rounded = f.name.ends_with('@');
        const std::string stem(f.name.substr(0, f.name.size() - rounded));
        const auto declare = [&](const std::string& name) {
            if (has_name(text, name)) declare_device_function(name, needs);
        };
        if (!rounded) declare(stem);
        if (f.has_both_precisions()) declare(stem + 'f');
        for (const std::string_view way : ways)
            if (rounded) declare(stem + std::string(way));
    }
    return needs.text();
}

}  // namespace ingot::codegen
