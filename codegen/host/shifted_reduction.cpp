// Moments and exponential sums as the host's text. A lane has sums, in the elements' dtype, of few elements; lanes and
// pieces of a row are joined in double.
#include "codegen/text/shifted_reduction.hpp"

#include "codegen/host/shifted_reduction.h.hpp"
#include "codegen/text/kernel.hpp"

namespace ingot::codegen {

using namespace detail;

std::string spell_shifted_fold_host(fold f, dtype t, prelude& needs) {
    needs.type(dtype::u8);
    if (f == fold::squares) {
        needs.add("moments", embedded::host_moments);
        return "squares";
    }
    for (const dtype computed : {t, dtype::f8}) {
        node n;
        n.kind = node_kind::map;
        n.type = computed;
        n.code = static_cast<std::uint16_t>(op::exp);
        n.arity = 1;
        const std::string type = needs.type(computed);
        needs.add("weight " + type, "static inline " + type + " weight(" + type + " x) { return " +
                                        spell_map(n, {computed}, {"x"}, needs) + "; }\n");
    }
    add_independent(needs);
    needs.add("exponential_sum", embedded::host_exponential_sum);
    return "exponentials";
}

}  // namespace ingot::codegen
