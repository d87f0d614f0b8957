// Checks of the operands of convolutions and correlations.
#include <ingot/statistics/correlation.hpp>

#include <string>

#include <ingot/core/error.hpp>

#include "runtime/system/number_text.hpp"

namespace ingot::detail {

void check_sequences(const char* operation, std::span<const index_t> a, std::span<const index_t> v) {
    for (const auto shape : {a, v})
        if (shape.size() != 1 || shape[0] == 0)
            throw shape_error("[" + std::string(operation) + "] shapes " + to_text(a) + " and " + to_text(v) +
                              ": two vectors with elements are wanted");
}

void throw_too_many_axes(const char* operation, extents_ref shape, int most) {
    throw shape_error("[" + std::string(operation) + "] shape " + to_text(shape.span()) + " has more than " +
                      std::to_string(most) + " axes");
}

void check_observations(const char* operation, index_t of_first, index_t of_second) {
    if (of_first != of_second)
        throw shape_error("[" + std::string(operation) + "] " + std::to_string(of_first) +
                          " observations of the first and " + std::to_string(of_second) +
                          " of the second variables; as many of both are wanted");
}

observation_weights weigh(const char* operation, index_t n, index_t less, const covariance_options& how) {
    const auto checked = [&](const auto& weights, const char* which) {
        const shape_like shape = weights.shape();
        if (shape.count() != 1 || shape[0] != n)
            throw shape_error("[" + std::string(operation) + "] " + which + " of shape " + to_text(shape.values()) +
                              ": one for each of " + std::to_string(n) + " observations is wanted");
        array<double> values{astype<double>(weights)};
        if (n > 0)
            if (const double least = min(values).item(); least < 0)
                throw error("[" + std::string(operation) + "] " + which + " with " + runtime::number_text(least) +
                            " among them: none may be negative");
        return values;
    };
    array<double> of_each = how.aweights ? checked(*how.aweights, "aweights") : ones<double>(n);
    array<double> each = how.fweights ? array<double>(checked(*how.fweights, "fweights") * of_each) : of_each;
    const auto [total, squares] = eval(sum(each), sum(each * of_each));
    const double all = total.item();
    if (all == 0) throw error("[" + std::string(operation) + "] weights that add up to 0");
    const double off = static_cast<double>(less) * (how.aweights && less != 0 ? squares.item() / all : 1);
    return {std::move(each), all, all > off ? all - off : 0};
}

}  // namespace ingot::detail
