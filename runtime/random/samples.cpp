// Random orders, choices and vectors, and checks of their arguments.
#include <ingot/distributions/samples.hpp>

#include <string>
#include <vector>

#include <ingot/core/error.hpp>

namespace ingot::detail {

namespace {

/// The number of elements of a shape.
index_t points_in(const shape_like& shape) {
    index_t n = 1;
    for (const index_t extent : shape.values()) n *= extent;
    return n;
}

/// The first elements of an order, in a shape.
lazy<std::int64_t> first_of_order(const lazy<std::int64_t>& order, const shape_like& shape) {
    return reshape(order(slice(0, points_in(shape))), shape);
}

[[noreturn]] void throw_no_covariance(double least, double greatest) {
    throw linalg_error("[multivariate_normal] the covariance has eigenvalues from " + std::to_string(least) + " to " +
                       std::to_string(greatest) + ": none is to be negative");
}

}  // namespace

index_t checked_population(const char* operation, index_t n) {
    if (n < 0)
        throw shape_error("[" + std::string(operation) +
                          "] a count that is not negative is wanted, or an array of one axis or more");
    return n;
}

void check_choice(index_t of, const shape_like& shape, bool replace) {
    check_extents("choice", shape.values());
    const index_t wanted = points_in(shape);
    if (wanted > of && (!replace || of == 0))
        throw shape_error("[choice] " + std::to_string(wanted) + " of " + std::to_string(of) + " elements are wanted" +
                          (of == 0 ? "" : ", without replacement"));
}

void check_weights(const shape_like& weights, index_t of) {
    if (weights.count() != 1 || weights[0] != of)
        throw shape_error("[choice] weights of shape " + to_text(weights.values()) + ": one for each of " +
                          std::to_string(of) + " is wanted");
}

void check_covariance(const shape_like& mean, const shape_like& covariance) {
    if (mean.count() != 1 || covariance.count() != 2 || covariance[0] != mean[0] || covariance[1] != mean[0])
        throw shape_error("[multivariate_normal] mean of shape " + to_text(mean.values()) +
                          " and covariance of shape " + to_text(covariance.values()) + ": (n,) and (n, n) are wanted");
}

lazy<std::int64_t> random_order(index_t n, random::generator& g) { return argsort(g.bits<std::uint64_t>({n})); }

lazy<std::int64_t> drawn_apart(index_t n, const shape_like& shape, random::generator& g) {
    return first_of_order(random_order(n, g), shape);
}
lazy<std::int64_t> drawn_apart(index_t n, const shape_like& shape, const lazy<double>& weights, random::generator& g) {
    const index_t wanted = points_in(shape), possible = wanted == 0 ? 0 : count_nonzero(weights > 0).item();
    if (wanted > possible)
        throw shape_error("[choice] " + std::to_string(wanted) + " of " + std::to_string(n) +
                          " elements are wanted without replacement, and " + std::to_string(possible) +
                          " have a weight above 0");
    return first_of_order(argsort(-log1p(-g.uniform<double>({n})) / weights), shape);
}

lazy<std::int64_t> drawn_again(index_t n, const shape_like& shape, random::generator& g) {
    const index_t high = n > 0 ? n : 1;  // of an empty population nothing is drawn
    return random::integers<std::int64_t>(0, high, shape, g);
}
lazy<std::int64_t> drawn_again(index_t n, const shape_like& shape, const lazy<double>& weights, random::generator& g) {
    if (n == 0) return zeros<std::int64_t>(shape);
    const array<double> bounds = cumsum(weights);
    const lazy<double> at = g.uniform<double>(shape) * bounds(-1);
    return minimum(searchsorted(bounds, at, search_side::right), n - 1);
}

lazy<double> normal_vectors(const array<double>& mean, const array<double>& covariance, const shape_like& shape,
                            random::generator& g) {
    const index_t n = mean.size();
    std::vector<index_t> all_axes(shape.begin(), shape.end());
    all_axes.push_back(n);
    if (n == 0) return g.normal<double>(all_axes);
    const auto [w, v] = linalg::eigh(covariance);
    const auto [least, greatest] = eval(ingot::min(w), ingot::max(w));
    if (!(least.item() >= -1e-8 * greatest.item())) throw_no_covariance(least.item(), greatest.item());
    const array<double> spread = v * sqrt(maximum(w, 0));  // eigenvectors as columns, scaled by the deviations
    const lazy<double> rows = reshape(g.normal<double>(all_axes), {-1, n});
    return reshape(matmul(rows, transpose(spread)), all_axes) + mean;
}

}  // namespace ingot::detail
