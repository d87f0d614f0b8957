// Random orders, choices and vectors, and checks of their arguments.
#include <ingot/distributions/samples.hpp>

#include <bit>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <ingot/core/error.hpp>
#include <ingot/core/philox.hpp>

#include "runtime/system/number_text.hpp"

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

/// Numbers that were drawn: bits where they are dense, else a hash table that is at most half full.
class drawn_numbers {
public:
    drawn_numbers(index_t n, index_t wanted)
        : is_dense_(n <= 64 * wanted), bits_(std::bit_width(static_cast<std::uint64_t>(wanted)) + 1) {
        if (is_dense_)
            drawn_.resize(static_cast<std::size_t>(n));
        else
            table_.resize(std::size_t{1} << bits_, none);
    }
    /// Returns whether the number was not drawn before.
    bool add(std::uint32_t number) {
        if (is_dense_) {
            const bool is_new = !drawn_[number];
            drawn_[number] = true;
            return is_new;
        }
        std::size_t at = number * std::uint32_t{2654435769} >> (32 - bits_);
        while (table_[at] != none && table_[at] != number) at = (at + 1) % table_.size();
        return std::exchange(table_[at], number) == none;
    }

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    bool is_dense_;
    std::uint64_t bits_;
    std::vector<bool> drawn_;
    std::vector<std::uint32_t> table_;
};

/// The first `wanted` different numbers among `draws` of random::integers<std::int32_t>(0, n, {draws}, g).
lazy<std::int64_t> first_different(index_t n, index_t wanted, index_t draws, random::generator& g) {
    const random_call call = g.bits<std::uint32_t>({draws}).call();
    const auto last = static_cast<std::uint32_t>(n - 1);
    drawn_numbers drawn(n, wanted);
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(wanted));
    std::size_t count = 0;
    for (std::uint64_t block = 0; count < numbers.size(); ++block) {
        const philox::block words = philox::words(call.seed, call.number, block);
        for (std::size_t i = 0; i < words.size() && count < numbers.size(); ++i) {
            std::uint32_t lower = 0;
            if (philox::may_carry(words[i], last))
                lower = philox::words(call.seed, call.number, block + philox::lower_half_block)[i];
            const std::uint32_t number = philox::integer(words[i], lower, last);
            numbers[count] = number;
            count += drawn.add(number);
        }
    }
    return lazy<std::int64_t>(asarray(numbers));
}

[[noreturn]] void throw_no_covariance(double least, double greatest) {
    throw linalg_error("[multivariate_normal] the covariance has eigenvalues from " + runtime::number_text(least, 6) +
                       " to " + runtime::number_text(greatest, 6) + ": none is to be negative");
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
    const index_t wanted = points_in(shape);
    if (wanted == 0 || wanted > n / 2 || n > std::numeric_limits<std::int32_t>::max())
        return first_of_order(random_order(n, g), shape);
    // The first draws with replacement that repeat no earlier one. Each is a repetition with a probability below 1 / 2,
    // k / n behind k different numbers, so with a probability of at most 2^-64 more than 110 + 2.5 wanted^2 / n are
    // (Chernoff's bound of a sum of geometric numbers).
    const double square = static_cast<double>(wanted) * static_cast<double>(wanted) / static_cast<double>(n);
    const index_t draws = wanted + 110 + static_cast<index_t>(2.5 * square);
    if (current_device().is_host()) return reshape(first_different(n, wanted, draws, g), shape);
    const array<std::int32_t> numbers = random::integers<std::int32_t>(0, static_cast<std::int32_t>(n), {draws}, g);
    const array<index_t> order = argsort(numbers);
    const array<std::int32_t> sorted = take<unchecked_mode>(numbers, order, 0);
    array<index_t> last_repeated = order;
    last_repeated(slice(1, none)) += where(sorted(slice(1, none)) == sorted(slice(none, -1)), draws, index_t{0});
    const auto first = sort(last_repeated)(slice(0, wanted));
    return reshape(lazy<std::int64_t>(astype<std::int64_t>(take<unchecked_mode>(numbers, first, 0))), shape);
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
