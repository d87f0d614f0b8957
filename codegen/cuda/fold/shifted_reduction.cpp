// Moments and exponential sums as CUDA text.
#include "codegen/text/shifted_reduction.hpp"

#include "codegen/cuda/fold/shifted_reduction.cuh.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

std::string largest(dtype t) { return t == dtype::f4 ? "3.402823466e+38f" : "1.7976931348623157e+308"; }

}  // namespace

std::string spell_shifted_fold(fold f, dtype t, prelude& needs) {
    if (needs.where() == target::host) return spell_shifted_fold_host(f, t, needs);
    const std::string type = needs.type(t);
    if (f == fold::squares) {
        needs.add("moments", embedded::moments);
        return "squares";
    }
    needs.add("exponential_sum", embedded::exponential_sum);
    node n;
    n.kind = node_kind::map;
    n.type = t;
    n.code = static_cast<std::uint16_t>(op::exp);
    n.arity = 1;
    const std::string value = spell_map(n, {t}, {"x"}, needs);
    std::string weight = "    return sum + exp2_of_weight(x * 1.44269502f);\n";
    if (t == dtype::f8) {
        // The table's statements up to p and 2^n, whose product is the exponential.
        weight = "    const double a = x < -708.0 ? __hiloint2double(0xc0862000, __double2loint(x)) : x;\n" +
                 quick_statements(op::exp, t) +
                 "    return fma(p, __hiloint2double((__double2loint(shifted) << 20) + 0x3ff00000, 0), sum);\n";
    } else {
        needs.add("exp2_of_weight", embedded::exp2_of_weight);
    }
    needs.add("exponential " + type,
              "template <>\n__device__ __forceinline__ " + type + " exponential(" + type + " x) {\n    return " +
                  value + ";\n}\ntemplate <>\n__device__ __forceinline__ " + type + " add_weight(" + type + " sum, " +
                  type + " x) {\n" + weight + "}\ntemplate <>\n__device__ constexpr " + type +
                  " largest() {\n    return " + largest(t) + ";\n}\n");
    return "exponentials";
}

std::string spell_shifted_part(fold f, dtype t, prelude& needs) {
    spell_shifted_fold(f, t, needs);
    const std::string part = f == fold::squares ? "moments" : "exponential_sum";
    return needs.where() == target::host ? part : part + '<' + needs.type(t) + '>';
}

std::string spell_shifted_sums(fold f, dtype t, prelude& needs) {
    spell_shifted_fold(f, t, needs);
    return (f == fold::squares ? "sums_near<" : "exponentials_near<") + needs.type(t) + '>';
}

std::string spell_shifted_sums_start(fold f, dtype t, prelude& needs) {
    const std::string least = '-' + largest(t);
    return spell_shifted_sums(f, t, needs) +
           (f == fold::squares ? "{0, 0, 0, 0}" : '{' + least + ", 0, " + least + '}');
}

std::string spell_shifted_start(fold f, dtype t, prelude& needs) {
    return spell_shifted_part(f, t, needs) + (f == fold::squares ? "{0, 0, 0, 0}" : "{-" + largest(t) + ", 0}");
}

}  // namespace ingot::codegen
