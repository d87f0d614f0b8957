// Text of scalar computation. A body of the operator table is split into names and the rest: operands, types and
// functions are replaced or noted, everything else is printed as in the table.
#include "codegen/text/spelling.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>

#include <ingot/core/operators.hpp>

namespace ingot::codegen {

namespace {

using namespace detail;

/// Bodies of the table beside the rows' own: quick ones, the tests of these where an operand is shared, and bodies that
/// flush subnormals.
struct other_body {
    op of;
    dtype type;
    std::string_view body;
};
constexpr other_body quick_table[] = {
#define INGOT_QUICK(name, type, body) {op::name, dtype::type, #body},
#include <ingot/core/operators.def>
};

constexpr other_body shared_table[] = {
#define INGOT_QUICK_SHARED(name, type, condition) {op::name, dtype::type, #condition},
#include <ingot/core/operators.def>
};

constexpr other_body flushed_table[] = {
#define INGOT_FLUSHED(name, type, body) {op::name, dtype::type, #body},
#include <ingot/core/operators.def>
};

const other_body* body_among(std::span<const other_body> table, op o, dtype t) {
    for (const other_body& q : table)
        if (q.of == o && q.type == t) return &q;
    return nullptr;
}
const other_body* quick_body(op o, dtype t) { return body_among(quick_table, o, t); }

/// Instructions of a GPU without an intrinsic, with subnormals flushed.
struct instruction {
    std::string_view name;
    dtype type;
    std::string_view text;
};
constexpr instruction instructions[] = {{"rcp_approx", dtype::f4, "rcp.approx.ftz.f32"},
                                        {"rcp_approx", dtype::f8, "rcp.approx.ftz.f64"},
                                        {"rsqrt_approx", dtype::f4, "rsqrt.approx.ftz.f32"},
                                        {"exp2_approx", dtype::f4, "ex2.approx.ftz.f32"},
                                        {"log2_approx", dtype::f4, "lg2.approx.ftz.f32"}};

const instruction* instruction_named(std::string_view name, dtype t) {
    for (const instruction& i : instructions)
        if (i.name == name && i.type == t) return &i;
    return nullptr;
}

bool is_integer(dtype t) { return kind_of(t) == kind::integer; }

/// Functions that every evaluator rounds alike: the host has an instruction or an exact sequence for each.
constexpr std::array<std::string_view, 7> exact_functions{"abs", "ceil", "copysign", "floor", "fma", "rint", "sqrt"};
/// Functions of libmvec from its beginning, and from glibc 2.35 on.
constexpr std::array<std::string_view, 5> vector_functions{"cos", "exp", "log", "pow", "sin"};
constexpr std::array<std::string_view, 20> later_vector_functions{
    "acos", "acosh", "asin",  "asinh", "atan",  "atan2", "atanh", "cbrt", "cosh", "erf",
    "erfc", "exp2",  "expm1", "hypot", "log10", "log1p", "log2",  "sinh", "tan",  "tanh"};

template <class List>
bool contains(const List& list, std::string_view name) {
    return std::find(list.begin(), list.end(), name) != list.end();
}

const function_facts* function_named(std::string_view name) {
    for (const function_facts& f : function_table)
        if (f.name == name) return &f;
    return nullptr;
}

const routine_facts* routine_named(std::string_view name) {
    for (const routine_facts& r : routine_table)
        if (r.name == name) return &r;
    return nullptr;
}

/// "float a, float b" or "a, b".
std::string parameters(std::string_view type, std::size_t count) {
    std::string out;
    for (std::size_t i = 0; i < count; ++i) {
        if (i > 0) out += ", ";
        if (!type.empty()) out.append(type).append(" ");
        out += "abcd"[i];
    }
    return out;
}

/// The host's declaration of a function of the mathematical library, with the overload for float. Where libmvec has the
/// function, the attribute lets the compiler vectorise its calls.
std::string declare_on_host(std::string_view name, dtype t) {
    const std::string name_of(name);
    const std::size_t arity = function_named(name)->arity;
    const std::string type = type_name(t), suffix = t == dtype::f4 ? "f" : "";
    const std::string head = "static inline " + type + ' ' + name_of + '(' + parameters(type, arity) + ')';
    if (contains(exact_functions, name)) {
        const std::string builtin = (name == "abs" ? "fabs" : name_of) + suffix;
        return head + " { return __builtin_" + builtin + '(' + parameters("", arity) + "); }\n";
    }
    const std::string attribute = contains(vector_functions, name)         ? "vectorised "
                                  : contains(later_vector_functions, name) ? "vectorised_since_235 "
                                                                           : "";
    std::string out =
        "extern \"C\" " + attribute + type + ' ' + name_of + suffix + '(' + parameters(type, arity) + ");\n";
    if (t == dtype::f4) out += head + " { return " + name_of + "f(" + parameters("", arity) + "); }\n";
    return out;
}

constexpr std::string_view vectorised_macros =
    "#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)\n"
    "#include <features.h>\n"
    "#define vectorised __attribute__((simd(\"notinbranch\"), const, nothrow))\n"
    "#endif\n"
    "#if defined(vectorised) && defined(__GLIBC__)\n"
    "#if __GLIBC_PREREQ(2, 35)\n"
    "#define vectorised_since_235 vectorised\n"
    "#endif\n"
    "#endif\n"
    "#ifndef vectorised\n"
    "#define vectorised __attribute__((const, nothrow))\n"
    "#endif\n"
    "#ifndef vectorised_since_235\n"
    "#define vectorised_since_235 __attribute__((const, nothrow))\n"
    "#endif\n";

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool continues_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The types for the letters of a body in one application of its row.
struct body_types {
    dtype computed, result;
    dtype unsigned_type() const {
        if (kind_of(computed) == kind::floating) return size_of(computed) == 4 ? dtype::u4 : dtype::u8;
        return size_of(computed) <= 4 ? dtype::u4 : dtype::u8;
    }
    dtype signed_type() const {
        switch (size_of(computed)) {
            case 1:
                return dtype::i1;
            case 2:
                return dtype::i2;
            case 4:
                return dtype::i4;
            default:
                return dtype::i8;
        }
    }
};

std::string spell_reinterpretation(std::string_view function, const body_types& types, prelude& needs) {
    const bool single = size_of(types.computed) == 4;
    const std::string number = single ? "float" : "double";
    const std::string bits = needs.type(single ? dtype::u4 : dtype::u8);
    const bool to_bits = function == "bits_of";
    std::string body;
    if (needs.where() == target::host) {
        body = "__builtin_bit_cast(" + (to_bits ? bits : number) + ", a)";
    } else if (single) {
        body = to_bits ? "__float_as_uint(a)" : "__uint_as_float(a)";
    } else {
        body = to_bits ? bits + "(__double_as_longlong(a))" : "__longlong_as_double((long long)a)";
    }
    std::string out(needs.function_prefix());
    out += ' ' + (to_bits ? bits : number) + ' ' + std::string(function) + '(' + (to_bits ? number : bits) +
           " a) { return " + body + "; }\n";
    return out;
}

std::string spell_instruction(const instruction& i, prelude& needs) {
    const std::string type = needs.type(i.type), letter = i.type == dtype::f8 ? "d" : "f";
    return std::string(needs.function_prefix()) + ' ' + type + ' ' + std::string(i.name) + '(' + type + " a) {\n    " +
           type + " y;\n    asm(\"" + std::string(i.text) + " %0, %1;\" : \"=" + letter + "\"(y) : \"" + letter +
           "\"(a));\n    return y;\n}\n";
}

constinit std::atomic<text_lookup> replaced{nullptr};

std::string_view text_of(op o, evaluator where, dtype first, dtype second) {
    const text_lookup other = replaced.load(std::memory_order_relaxed);
    return other != nullptr ? other(o, where, first, second) : body_of(o, where, first, second).text;
}

void add_routine(const routine_facts& routine, dtype t, prelude& needs);
/// Adds the function of a row's own text and returns its name.
std::string add_row_function(op o, dtype t, prelude& needs);

/// The row whose own body replaces a call of that name in other bodies. On the host it does: a vector library's
/// function may be 4 last places off, which would put a product over its bound. CUDA's functions are more exact, except
/// for doubles where a row corrects them.
std::optional<op> row_for_call(std::string_view name, dtype t, target where) {
    const bool host = where == target::host;
    for (const spelling_facts& s : spelling_table)
        if (s.type == t && (s.where != spelling_facts::reach::cuda) == host && (host || t == dtype::f8) &&
            facts(s.of).name == name)
            return s.of;
    return std::nullopt;
}

/// Replaces the letters of a body: operands by names, types by their spelling. Notes the functions that it calls.
std::string substitute(std::string_view body, const body_types& types, const std::vector<std::string>& operands,
                       prelude& needs) {
    std::string out;
    for (std::size_t i = 0; i < body.size();) {
        if (!starts_name(body[i])) {
            // The exponent or suffix of a number is no name.
            if (std::isdigit(static_cast<unsigned char>(body[i])) != 0) {
                while (i < body.size() && (continues_name(body[i]) || body[i] == '.')) out += body[i++];
            } else {
                out += body[i++];
            }
            continue;
        }
        std::size_t end = i;
        while (end < body.size() && continues_name(body[end])) ++end;
        const std::string_view name = body.substr(i, end - i);
        i = end;
        if (name.size() == 1 && name[0] >= 'a' && name[0] <= 'c' &&
            static_cast<std::size_t>(name[0] - 'a') < operands.size()) {
            out += operands[static_cast<std::size_t>(name[0] - 'a')];
        } else if (name == "T") {
            out += needs.type(types.computed);
        } else if (name == "U") {
            out += needs.type(types.unsigned_type());
        } else if (name == "R") {
            out += needs.type(types.result);
        } else if (name == "S") {
            out += needs.type(types.signed_type());
        } else if (const auto row = out.ends_with("::") ? std::nullopt  // the library's own function
                                                        : row_for_call(name, types.computed, needs.where())) {
            out += add_row_function(*row, types.computed, needs);
        } else {
            out += name;
            if (name == "bits_of" || name == "from_bits")
                needs.add(std::string(name) + type_name(types.computed), spell_reinterpretation(name, types, needs));
            else if (name == "opaque")
                needs.add(name, std::string(needs.function_prefix()) + ' ' + needs.type(dtype::u4) + " opaque(" +
                                    type_name(dtype::u4) + " a) {\n    asm(\"\" : \"+r\"(a));\n    return a;\n}\n");
            else if (const instruction* own = instruction_named(name, types.computed))
                add_instruction(name, own->type, needs);
            else if (const routine_facts* routine = routine_named(name))
                add_routine(*routine, types.computed, needs);
            else if (function_named(name))
                needs.calls(name, types.computed);
        }
    }
    return out;
}

/// Breaks statements on one line into indented lines: a line ends at `;`, `{` and `}` outside parentheses.
std::string indent_statements(std::string_view statements) {
    std::string out, line;
    int depth = 1, parentheses = 0;
    const auto flush = [&] {
        if (line.empty()) return;
        out.append(4 * static_cast<std::size_t>(depth), ' ').append(line).append("\n");
        line.clear();
    };
    for (const char c : statements) {
        if (c == ' ' && line.empty()) continue;
        if (c == '}') {
            flush();
            --depth;
        }
        line += c;
        parentheses += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (parentheses > 0) continue;
        if (c == ';' || c == '}') flush();
        if (c == '{') {
            flush();
            ++depth;
        }
    }
    flush();
    return out;
}

std::string add_row_function(op o, dtype t, prelude& needs) {
    const std::string type = needs.type(t), name = std::string(facts(o).name) + '_' + type;
    if (needs.has(name)) return name;
    const std::string statements =
        substitute(text_of(o, static_cast<evaluator>(needs.where()), t, t), {t, t}, {"a", "b", "c"}, needs);
    needs.add(name, std::string(needs.function_prefix()) + ' ' + type + ' ' + name + '(' +
                        parameters(type, facts(o).arity) + ") {\n" + indent_statements(statements) + "}\n");
    return name;
}

/// Adds a function of the table, after the functions that it calls.
void add_routine(const routine_facts& routine, dtype t, prelude& needs) {
    const std::string type = needs.type(t), key = std::string(routine.name) + '_' + type;
    if (needs.has(key)) return;
    const std::string statements = substitute(routine.body, {t, t}, {"a", "b", "c", "d"}, needs);
    needs.add(key, std::string(needs.function_prefix()) + ' ' + type + ' ' + std::string(routine.name) + '(' +
                       parameters(type, routine.arity) + ") {\n" + indent_statements(statements) + "}\n");
}

/// A complex number as it lies in memory. Nothing is computed with it, only with its parts.
std::string spell_complex(dtype t, std::string_view function) {
    const std::string type = type_name(t), part = type_name(part_of(t)), head = std::string(function) + ' ';
    const std::string inside(function.starts_with("static ") ? "" : head);
    return "struct alignas(" + std::to_string(size_of(t)) + ") " + type + " {\n    " + part + " re, im;\n    " + type +
           "() = default;\n    " + inside + type + '(' + part + " a, " + part + " b) : re(a), im(b) {}\n};\n" + head +
           part + " real(const " + type + "& z) { return z.re; }\n" + head + part + " imag(const " + type +
           "& z) { return z.im; }\n";
}

}  // namespace

std::string prelude::type(dtype t) {
    if (is_integer(t) || is_half(t)) types_.insert(t);
    if (kind_of(t) == kind::complex) add(type_name(t), spell_complex(t, function_prefix()));
    return type_name(t);
}

bool prelude::has(std::string_view name) const {
    return std::any_of(parts_.begin(), parts_.end(), [&](const auto& part) { return part.first == name; });
}

void prelude::add(std::string_view name, std::string_view text) {
    if (!has(name)) parts_.emplace_back(name, text);
}

void prelude::calls(std::string_view function, dtype t) {
    calls_[std::string(function)].insert(t);
    if (!contains(exact_functions, function)) inexact_ = true;
}

std::string prelude::element(dtype t, std::string at) {
    if (where_ != target::host || t != dtype::b1) return at;
    add("truth",
        "/// Reads a bool by a comparison: g++ 12 does not vectorise conditions on a bool that is loaded.\n"
        "static inline bool truth(const bool& b) { return reinterpret_cast<const unsigned char&>(b) != 0; }\n");
    return "truth(" + at + ')';
}

std::string_view prelude::function_prefix() const {
    return where_ == target::cuda ? "__device__ __forceinline__" : "static inline";
}

std::string prelude::text() const {
    static constexpr std::pair<dtype, std::string_view> spelled[] = {{dtype::i1, "signed char"},
                                                                     {dtype::u1, "unsigned char"},
                                                                     {dtype::i2, "short"},
                                                                     {dtype::u2, "unsigned short"},
                                                                     {dtype::i4, "int"},
                                                                     {dtype::u4, "unsigned int"},
                                                                     {dtype::i8, "long long"},
                                                                     {dtype::u8, "unsigned long long"},
                                                                     {dtype::f2, "unsigned short"},
                                                                     {dtype::bf, "unsigned short"}};
    std::string out;
    for (const auto& [type, as] : spelled)
        if (types_.contains(type)) out += "using " + type_name(type) + " = " + std::string(as) + ";\n";
    if (where_ == target::host && !calls_.empty()) {
        if (inexact_) out += vectorised_macros;
        for (const auto& [function, dtypes] : calls_)
            for (const dtype t : dtypes) out += declare_on_host(function, t);
    }
    for (const auto& [name, text] : parts_) {
        if (!out.empty()) out += '\n';
        out += text;
    }
    return out;
}

bool is_exact_function(std::string_view name) { return contains(exact_functions, name); }

std::string spell_constant(dtype t, double value, prelude& needs) {
    if (kind_of(t) == kind::complex) {
        const dtype part = part_of(t);
        return needs.type(t) + '(' + spell_constant(part, value, needs) + ", " + spell_constant(part, 0, needs) + ')';
    }
    if (is_half(t)) {
        const unsigned bits = t == dtype::f2 ? float16(value).bits() : bfloat16(value).bits();
        return needs.type(t) + '(' + std::to_string(bits) + ')';
    }
    if (t == dtype::b1) return value != 0 ? "true" : "false";
    char digits[40];
    if (is_integer(t)) {
        const auto end = std::to_chars(digits, digits + sizeof(digits), static_cast<long long>(value)).ptr;
        const std::string number(digits, end);
        return t == dtype::i4 ? number : needs.type(t) + '(' + number + ')';
    }
    const auto end = t == dtype::f4 ? std::to_chars(digits, digits + sizeof(digits), static_cast<float>(value)).ptr
                                    : std::to_chars(digits, digits + sizeof(digits), value).ptr;
    std::string number(digits, end);
    if (number.find_first_of(".e") == std::string::npos) number += ".0";
    return t == dtype::f4 ? number + 'f' : number;
}

void add_reinterpretations(prelude& needs) {
    for (const char* function : {"bits_of", "from_bits"})
        needs.add(function + type_name(dtype::f4), spell_reinterpretation(function, {dtype::f4, dtype::f4}, needs));
}

void add_instruction(std::string_view name, dtype t, prelude& needs) {
    needs.add(std::string(name) + type_name(t), spell_instruction(*instruction_named(name, t), needs));
}

namespace {

/// Adds the function that converts a 16-bit float to float; returns its name.
std::string spell_widening(dtype half, prelude& needs) {
    const std::string type = needs.type(half), bits = type_name(dtype::u4), function = "float_of_" + type;
    std::string body;
    if (half == dtype::bf) {
        body = "    return from_bits(" + bits + "(a) << 16);\n";
    } else if (needs.where() == target::cuda) {
        const bool signs = needs.keeps_nan_signs();
        if (signs) add_reinterpretations(needs);
        body = "    float y;\n    asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(y) : \"h\"(a));\n    return ";
        body += signs ? "from_bits((bits_of(y) & 0x7fffffffu) | (" + bits + "(a) & 0x8000u) << 16);\n" : "y;\n";
    } else {
        // The shifted bits are a power of 2 too small, by the difference of the exponents' biases; infinities and NaN
        // need all exponent bits set.
        body = "    const " + bits + " magnitude = (a & 0x7fffu) << 13, sign = (a & 0x8000u) << 16;\n" + "    const " +
               bits +
               " special = magnitude >= 0x0f800000u ? 0x7f800000u : 0u;\n"
               "    return from_bits(bits_of(from_bits(magnitude) * 0x1p112f) | special | sign);\n";
    }
    if (half == dtype::bf || needs.where() == target::host) add_reinterpretations(needs);
    needs.add(function,
              std::string(needs.function_prefix()) + " float " + function + '(' + type + " a) {\n" + body + "}\n");
    return function;
}
std::string spell_narrowing(dtype half, prelude& needs) {
    const std::string type = needs.type(half), bits = type_name(dtype::u4), function = "to_" + type;
    if (needs.where() == target::host) add_reinterpretations(needs);
    std::string body;
    if (needs.where() == target::cuda) {
        const bool is_float16 = half == dtype::f2;
        const std::string instruction = is_float16 ? "cvt.rn.f16.f32" : "cvt.rn.bf16.f32";
        body = "    " + type + " y;\n    asm(\"" + instruction + " %0, %1;\" : \"=h\"(y) : \"f\"(a));\n    return y;\n";
    } else if (half == dtype::bf) {
        body = "    const " + bits + " b = bits_of(a);\n    const " + bits +
               " nearest = (b + 0x7fffu + (b >> 16 & 1u)) >> 16, quiet = b >> 16 | 0x40u;\n    return " + type +
               "((b & 0x7fffffffu) > 0x7f800000u ? quiet : nearest);\n";
    } else {
        // A sum with 2^-1 has the spacing of the subnormals, and so rounds to them.
        body = "    const " + bits + " b = bits_of(a), m = b & 0x7fffffffu, sign = b >> 16 & 0x8000u;\n" +
               "    const " + bits + " small = bits_of(from_bits(m) + 0.5f) - 0x3f000000u;\n    const " + bits +
               " normal = (m - 0x38000000u + 0xfffu + (m >> 13 & 1u)) >> 13;\n    const " + bits +
               " finite = m < 0x38800000u ? small : normal;\n    const " + bits +
               " large = m > 0x7f800000u ? 0x7e00u : 0x7c00u;\n    return " + type +
               "((m >= 0x477ff000u ? large : finite) | sign);\n";
    }
    needs.add(function,
              std::string(needs.function_prefix()) + ' ' + type + ' ' + function + "(float a) {\n" + body + "}\n");
    return function;
}
/// Rounds a double to float towards zero, with the last bit set where that is not exact, so that rounding further to 16
/// bits rounds once.
std::string spell_round_to_odd(prelude& needs) {
    add_reinterpretations(needs);
    const std::string bits = needs.type(dtype::u4);
    needs.add("round_to_odd",
              "/// Rounds towards zero and sets the last bit if inexact, so that rounding further rounds only once.\n" +
                  std::string(needs.function_prefix()) +
                  " float round_to_odd(double a) {\n    const float nearest = float(a);\n" +
                  "    const double back = nearest;\n    const " + bits +
                  " b = bits_of(nearest);\n    const bool beyond = back > 0 ? back > a : back < 0 && back < a;\n" +
                  "    return back == a || a != a ? nearest : from_bits((beyond ? b - 1u : b) | 1u);\n}\n");
    return "round_to_odd";
}

/// A value of another dtype as the float that is then rounded to 16 bits.
std::string spell_before_narrowing(const std::string& from, dtype from_type, prelude& needs) {
    if (from_type == dtype::f4) return from;
    if (from_type == dtype::f8) return spell_round_to_odd(needs) + '(' + from + ')';
    if (size_of(from_type) <= 2) return spell_cast(from, from_type, dtype::f4, needs);
    return spell_round_to_odd(needs) + '(' + spell_cast(from, from_type, dtype::f8, needs) + ')';
}

}  // namespace

std::string spell_cast(const std::string& from, dtype from_type, dtype to, prelude& needs) {
    if (is_half(from_type)) {
        const std::string widened = spell_widening(from_type, needs) + '(' + from + ')';
        return to == dtype::f4 ? widened : spell_cast(widened, dtype::f4, to, needs);
    }
    if (is_half(to)) return spell_narrowing(to, needs) + '(' + spell_before_narrowing(from, from_type, needs) + ')';
    if (to == dtype::b1) return from + " != 0";
    const std::string type = needs.type(to);
    if (from_type == dtype::b1 && kind_of(to) == kind::floating && needs.where() == target::host)  // g++ 12, as above
        return '(' + from + " ? " + spell_constant(to, 1, needs) + " : " + spell_constant(to, 0, needs) + ')';
    if (kind_of(from_type) != kind::floating || !is_integer(to)) return type + '(' + from + ')';
    // Values out of range saturate, NaN gives 0. The first number too large is a power of two, exact in every float.
    const std::string given = type_name(from_type);
    const int bits = static_cast<int>(8 * size_of(to)) - (is_signed(to) ? 1 : 0);
    const std::string top = spell_constant(from_type, std::ldexp(1.0, bits), needs);
    const std::string greatest = type + "(~" + type + "(0)" + (is_signed(to) ? " ^ least" : "") + ")";
    std::string function = "/// Converts with saturation; NaN gives 0.\n" + std::string(needs.function_prefix()) + ' ' +
                           type + " to_" + type + '(' + given + " a) {\n";
    if (is_signed(to))
        function += "    const " + type + " least = " + type + "(1ull << " + std::to_string(bits) + ");\n";
    const std::string bottom = is_signed(to) ? '-' + top : spell_constant(from_type, 0, needs);
    // A compiler that turned this and a cast back into a truncation would return a negative zero for -0.5; with this
    // test it cannot.
    std::string in_range = "a == a";
    if (needs.where() == target::host && is_signed(to)) {
        const std::string one = spell_constant(from_type, 1, needs);
        in_range = "(a <= -" + one + ") | (a >= " + one + ")";
    }
    function += "    return a >= " + top + " ? " + greatest + " : a <= " + bottom + " ? " +
                (is_signed(to) ? "least" : type + "(0)") + " : " + in_range + " ? " + type + "(a) : " + type +
                "(0);\n}\n";
    needs.add("to_" + type + '(' + given + ')', function);
    return "to_" + type + '(' + from + ')';
}

bool has_quick_body(const node& n) {
    return n.kind == node_kind::map && quick_body(static_cast<op>(n.code), n.type) != nullptr;
}

std::string quick_statements(op o, dtype t) {
    std::string_view body = quick_body(o, t)->body;
    body = body.substr(0, body.find("rare |="));
    std::string out;
    for (std::size_t end; (end = body.find(';')) != body.npos; body.remove_prefix(end + 1))
        out += (body[0] == ' ' ? "   " : "    ") + std::string(body.substr(0, end + 1)) + '\n';
    return out;
}

namespace {

std::string spell_bit_cast(const std::string& from, dtype from_type, dtype to, prelude& needs) {
    const std::string given = needs.type(from_type), made = needs.type(to), name = "bits_as_" + made;
    const std::string body = needs.where() == target::host ? "__builtin_bit_cast(" + made + ", a)"
                                                           : "reinterpret_cast<const " + made + "&>(a)";
    needs.add(name + '(' + given + ')', std::string(needs.function_prefix()) + ' ' + made + ' ' + name + "(const " +
                                            given + "& a) { return " + body + "; }\n");
    return name + '(' + from + ')';
}

}  // namespace

void replace_texts(text_lookup other) noexcept { replaced.store(other, std::memory_order_relaxed); }

std::string spell_map(const node& n, const std::vector<dtype>& argument_types,
                      const std::vector<std::string>& arguments, prelude& needs, bool shared) {
    const op o = static_cast<op>(n.code);
    if (o == op::bit_cast) return spell_bit_cast(arguments[0], argument_types[0], n.type, needs);
    const op_facts& row = facts(o);
    const std::size_t deciding = row.rule == rule::selection ? 1 : 0;
    const dtype second = argument_types.size() == 2 ? argument_types[1] : argument_types[deciding];
    const body_types types{argument_types[deciding], n.type};
    const other_body* const quick = needs.quick() ? quick_body(o, types.computed) : nullptr;
    const other_body* const flushed =
        n.flushed && quick == nullptr ? body_among(flushed_table, o, types.computed) : nullptr;
    std::string_view body = quick != nullptr ? quick->body
                            : flushed != nullptr
                                ? flushed->body
                                : text_of(o, static_cast<evaluator>(needs.where()), types.computed, second);
    const bool expression = body.starts_with("return ") && body.find(';') == body.size() - 1;
    if (expression) {
        body.remove_prefix(7);
        body.remove_suffix(1);
        return substitute(body, types, arguments, needs);
    }
    const std::string own_name = std::string(row.name) + '_' + type_name(types.computed);
    std::string name = (quick != nullptr ? "quick_" : flushed != nullptr ? "flushed_" : "") + own_name;
    const auto add = [&](const auto& statements) {
        if (needs.has(name)) return;
        std::string head(needs.function_prefix());
        head += ' ' + needs.type(n.type) + ' ' + name + '(';
        std::vector<std::string> letters;
        for (std::size_t i = 0; i < argument_types.size(); ++i) {
            letters.emplace_back(1, "abc"[i]);
            head += (i > 0 ? ", " : "") + needs.type(argument_types[i]) + ' ' + letters.back();
        }
        if (quick != nullptr) head += ", bool& rare";
        needs.add(name, head + ") {\n" + indent_statements(substitute(statements, types, letters, needs)) + "}\n");
    };
    add(body);
    const other_body* const condition =
        shared && quick != nullptr ? body_among(shared_table, o, types.computed) : nullptr;
    if (condition != nullptr) {
        const std::string usual = name;
        name = "quick_shared_" + own_name;
        add("bool unusual = false; const T q = " + usual + "(a, b, unusual); rare |= unusual && (" +
            std::string(condition->body) + "); return q;");
    }
    std::string call = name + '(';
    for (std::size_t i = 0; i < arguments.size(); ++i) call += (i > 0 ? ", " : "") + arguments[i];
    return call + (quick != nullptr ? ", rare)" : ")");
}

}  // namespace ingot::codegen
