// What random choices do not take.
#include <ingot/samples.hpp>

#include <string>

#include <ingot/error.hpp>

namespace ingot::detail {

index_t points_in(const shape_like& shape) {
    index_t n = 1;
    for (const index_t extent : shape.values()) n *= extent;
    return n;
}

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
        throw shape_error("[choice] " + std::to_string(wanted) + " of " + std::to_string(of) + " are wanted" +
                          (of == 0 ? "" : ", and none is put back"));
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

void throw_no_covariance(double least, double greatest) {
    throw linalg_error("[multivariate_normal] the covariance has eigenvalues from " + std::to_string(least) + " to " +
                       std::to_string(greatest) + ": none is to be negative");
}

}  // namespace ingot::detail
