// How generated source spells a constant, and the conversion of a value to another dtype: 16-bit floats by their bits,
// integers with saturation.
#include <charconv>
#include <cmath>
#include <string>

#include "codegen/text/spelling.hpp"
#include "codegen/text/spelling_helpers.hpp"

namespace ingot::codegen {

using namespace detail;

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

std::string spell_reinterpretation(std::string_view function, dtype t, prelude& needs) {
    const bool single = size_of(t) == 4;
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

void add_reinterpretations(prelude& needs) {
    for (const char* function : {"bits_of", "from_bits"})
        needs.add(function + type_name(dtype::f4), spell_reinterpretation(function, dtype::f4, needs));
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
    if (from_type == dtype::b1 && kind_of(to) == kind::floating && needs.where() == target::host)  // see element()
        return '(' + from + " ? " + spell_constant(to, 1, needs) + " : " + spell_constant(to, 0, needs) + ')';
    if (kind_of(from_type) != kind::floating || !is_integer(to)) return type + '(' + from + ')';
    // Values out of range saturate, NaN gives 0. The first number too large is a power of two, exact in every float.
    const std::string given = type_name(from_type);
    if (needs.where() == target::cuda && from_type == dtype::f4 && size_of(to) <= 4) {
        // CUDA's instruction does both. Its result is a register of 32 bits.
        const std::string wide = needs.type(is_signed(to) ? dtype::i4 : dtype::u4);
        needs.add("to_" + type + '(' + given + ')',
                  "/// Converts with saturation; NaN gives 0.\n" + std::string(needs.function_prefix()) + ' ' + type +
                      " to_" + type + "(float a) {\n    " + wide + " y;\n    asm(\"cvt.rzi." +
                      (is_signed(to) ? "s" : "u") + std::to_string(8 * size_of(to)) +
                      ".f32 %0, %1;\" : \"=r\"(y) : \"f\"(a));\n    return " + type + "(y);\n}\n");
        return "to_" + type + '(' + from + ')';
    }
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

}  // namespace ingot::codegen
