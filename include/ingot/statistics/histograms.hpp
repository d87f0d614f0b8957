// Counts, or sums of weights, at integers and in bins: bincount and histograms. The values may be an expression, which
// is one kernel with the counting. Counts are scattered additions; so are sums of weights, with the same bits in every
// run on the host and on a GPU.
#pragma once

#include <cmath>
#include <concepts>
#include <initializer_list>
#include <limits>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <ingot/core/scatter.hpp>
#include <ingot/sorting/searching.hpp>

namespace ingot {

/// The range of a histogram whose bins are given as a number: {first, last}, by default from the least value to the
/// greatest.
///
///     const bin_range zero_to_ten{0, 10};
///     std::cout << histogram_bin_edges(array<double>{1, 2}, 2, zero_to_ten);
///     // prints: [ 0.  5. 10.]
class bin_range {
public:
    /// A range from the least value to the greatest.
    constexpr bin_range() = default;
    /// A range from `first` to `last`.
    template <std::convertible_to<double> A, std::convertible_to<double> B>
    constexpr bin_range(A first, B last)
        : first_(static_cast<double>(first)), last_(static_cast<double>(last)), given_(true) {}

    // Inner
    constexpr bool is_given() const noexcept { return given_; }
    constexpr double first() const noexcept { return first_; }
    constexpr double last() const noexcept { return last_; }

private:
    double first_ = 0, last_ = 0;
    bool given_ = false;
};

/// The type of `density`.
class density_t {
public:
    // Inner
    struct made {};
    constexpr explicit density_t(made) {}  // braces alone are a range
};

/// The ranges of the bins of a histogram of two variables.
///
///     array<double> x{0, 1}, y{5, 6};
///     std::cout << std::get<2>(histogram2d(x, y, 1, bin_ranges{{}, {0, 10}}));
///     // prints: [ 0. 10.]
struct bin_ranges {
    /// The first variable's range.
    bin_range x;
    /// The second variable's range.
    bin_range y;
};

/// The last argument of a histogram that makes it a density: its integral over the bins is 1.
///
///     std::cout << std::get<0>(histogram(array<int>{0, 1, 1, 4}, array<int>{0, 1, 2, 6}, density));
///     // prints: [0.25   0.5    0.0625]
inline constexpr density_t density{density_t::made{}};

namespace detail {

/// The device for results of values on device `d`: the current one for numbers alone, and for arrays in parts, whose
/// sums are ordinary arrays.
inline device device_of_results(device_id d) {
    return d == no_device || d.kind() == device_kind::distributed ? current_place() : device(d);
}
template <class E>
device device_of_values(const E& e) {
    return device_of_results(as_node(e).on_device());
}

// ---- sums at places --------------------------------------------------------------------------------------------

template <class T, class V, class P>
array<T> scattered_sums(const char* operation, index_t n, const V& values, const P& at) {
    array<T> sums = zeroed<T>(operation, std::span<const index_t>(&n, 1), device_of_results(at.on_device()));
    shape_room room;
    if (n != 0 && at.extents(room).size() != 0) {
        leaf<T>& target = access::target(sums);
        scatter_into<scatter_rule::add>(operation, target, target.memory().get(), source_node<T>(operation, values), at,
                                        0);
    }
    return sums;
}

/// Sums in float64. On the host a scatter adds in order; elsewhere in no order.
template <class V, class P>
array<double> sums_of_floats(const char* operation, index_t n, const V& weights, const P& at) {
    if (device_of_results(at.on_device()).is_host()) return scattered_sums<double>(operation, n, weights, at);
    return exact_sums(operation, array<index_t>(at), array<double>(weights), n);
}

/// The sum of the weights at each index: integers in 64 bits, converted to their own type, others in double precision.
template <class W, class P>
auto sums_of_weights(const char* operation, index_t n, const W& weights, const P& at) {
    using T = typename W::value_type;
    if constexpr (complex_number<T>) {
        using R = typename T::value_type;
        return array<T>(complex_of(astype<R>(sums_of_floats(operation, n, as_values<double>(real(weights)), at)),
                                   astype<R>(sums_of_floats(operation, n, as_values<double>(imag(weights)), at))));
    } else if constexpr (kind_of(dtype_of<T>) == kind::floating) {
        return array<T>(as_values<T>(sums_of_floats(operation, n, as_values<double>(weights), at)));
    } else {
        return array<T>(as_values<T>(scattered_sums<index_t>(operation, n, as_values<index_t>(weights), at)));
    }
}

// ---- bincount --------------------------------------------------------------------------------------------------

/// Integers that int64 holds, bool included.
template <class E>
concept countable_array =
    array_expression<E> && kind_of(std::remove_cvref_t<E>::type) != kind::floating &&
    kind_of(std::remove_cvref_t<E>::type) != kind::complex && std::remove_cvref_t<E>::type != dtype::u8;

/// The number of elements to count. Throws shape_error unless x is a vector, or where `minlength` is negative.
INGOT_API void check_bincount(std::span<const index_t> x, index_t minlength);
/// Throws index_error where the least is negative.
INGOT_API index_t length_of_counts(index_t least, index_t greatest, index_t minlength);

template <class X>
index_t length_of_counts(const X& x, index_t minlength) {
    check_bincount(shape_of_expression(x).values(), minlength);
    if (x.size() == 0) return minlength;
    const auto [least, greatest] = eval(min(x), max(x));
    return length_of_counts(static_cast<index_t>(least.item()), static_cast<index_t>(greatest.item()), minlength);
}

/// The number of occurrences of each integer from 0 to the greatest in a vector: int64, at least `minlength` elements.
/// With weights, which have x's shape, the sum of each integer's weights instead, in float64. Waits for the greatest.
/// Throws shape_error where x is no vector, weights have another shape or `minlength` is negative, index_error where an
/// integer is negative.
///
///     array<int> x{0, 3, 1, 3};
///     std::cout << bincount(x) << ' ' << bincount(x % 2, 4);
///     std::cout << ' ' << bincount(x, array<double>{0.5, 1, 2, 0.25});
///     // prints: [1 1 0 2] [1 3 0 0] [0.5  2.   0.   1.25]
template <countable_array X>
array<index_t> bincount(const X& x, index_t minlength = 0, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const index_t n = length_of_counts(as_values<index_t>(x), minlength);
    return scattered_sums<index_t>("bincount", n, 1, as_node(as_values<index_t>(x)));
}
template <countable_array X, real_array W>
array<double> bincount(const X& x, const W& weights, index_t minlength = 0,
                       const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    check_bincount(shape_of_expression(x).values(), minlength);
    const shape_like given = shape_of_expression(weights), wanted = shape_of_expression(x);
    if (!same_extents(extents_ref::of(given.values()), extents_ref::of(wanted.values())))
        throw_other_size("bincount", "weights", given.values(), wanted.values());
    const index_t n = length_of_counts(as_values<index_t>(x), minlength);
    return sums_of_floats("bincount", n, as_values<double>(weights), as_node(as_values<index_t>(x)));
}

// ---- edges -----------------------------------------------------------------------------------------------------

/// A number of bins, or their edges.
template <class B>
concept bins_like = integer_argument<B> || real_array<B>;

/// Bins of one width. `computed`: the dtype in which their edges are computed, as NumPy does.
struct uniform_bins {
    index_t count = 0;
    double first = 0, last = 0;
    dtype computed = dtype::f8;
};
/// The edges of the bins, count + 1. Throws error where these are not all different in dtype `kept_in`.
INGOT_API std::vector<double> edges_of(const char* operation, const uniform_bins&, dtype kept_in);
[[noreturn]] INGOT_API void throw_falling_edges(const char* operation);

template <class T>
double as_double(T value) {
    if constexpr (half_float<T>)
        return static_cast<float>(value);
    else
        return static_cast<double>(value);
}

/// The dtype of edges that are computed for values of this dtype.
constexpr dtype edges_in(dtype values) { return kind_of(values) == kind::floating ? values : dtype::f8; }

/// The type in which values of this dtype and edges computed for them are compared.
template <dtype D>
using binned_as = std::conditional_t<D == dtype::f4 || is_half(D), float, double>;

/// Bins over the values of e, or over a range; their edges are computed as for values of dtype `as`. C is float or
/// double.
template <class C>
INGOT_API uniform_bins bins_over(const char* operation, index_t count, const bin_range&, const lazy<C>& e, dtype as);
/// Edges as an array on a device. T is a floating type.
template <class T>
INGOT_API array<T> edges_on(device, const char* operation, const std::vector<double>& values);

template <dtype As, class E>
uniform_bins bins_over(const char* operation, index_t count, const bin_range& range, const E& e) {
    using C = binned_as<As>;
    return bins_over(operation, count, range, lazy<C>(as_values<C>(e)), As);
}
template <class T>
array<T> edges_on(device where, const char* operation, const uniform_bins& bins) {
    return edges_on<T>(where, operation, edges_of(operation, bins, dtype_of<T>));
}

/// Checks and returns given edges. Throws shape_error where they are no vector, and error where they decrease.
template <class B>
array<typename B::value_type> given_edges(const char* operation, const B& bins) {
    check_vector(operation, shape_of_expression(bins).values());
    array<typename B::value_type> edges(bins);
    if (edges.size() > 1 && any(edges(slice(none, -1)) > edges(slice(1, none))).item()) throw_falling_edges(operation);
    return edges;
}

/// The edges of `bins` equal bins over the values of e, from the least value to the greatest, or over a range; in e's
/// dtype where that is floating, else in float64. Given edges are returned unchanged. Waits for the least and the
/// greatest value, or for whether given edges increase. Throws shape_error where these are no vector; error where they
/// decrease, where there is no bin, where a range is not finite or ends before it begins, or where edges would not all
/// be different.
///
///     array<double> x{0, 1, 2, 4};
///     std::cout << histogram_bin_edges(x, 4) << ' ' << histogram_bin_edges(x, 2, {0, 1});
///     // prints: [0. 1. 2. 3. 4.] [0.  0.5 1. ]
template <real_array E, bins_like B = int>
auto histogram_bin_edges(const E& e, const B& bins = 10, bin_range range = {},
                         const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    constexpr const char* operation = "histogram_bin_edges";
    if constexpr (array_expression<B>) {
        return given_edges(operation, bins);
    } else {
        constexpr dtype t = std::remove_cvref_t<E>::type;
        return edges_on<type_of<edges_in(t)>>(device_of_values(e), operation,
                                              bins_over<t>(operation, as_extent(bins), range, e));
    }
}

// ---- histograms ------------------------------------------------------------------------------------------------

using bin_kernel = elementwise_kernel<"T x, raw T edges", "int64 k">;
/// The bin of a value; -1 outside all bins.
INGOT_API const bin_kernel& bin_text();

/// The bins of e's values, among given edges.
template <class E, class T>
auto bin_of(const E& e, const array<T>& edges) {
    using C = type_of<compared_in<E, array<T>>()>;
    return bin_text()(as_values<C>(e), as_values<C>(edges));
}

/// Uniform bins: the values of their edges, and the bin of each of e's values. C is float or double; `as`: the dtype of
/// e's values.
struct found_bins {
    std::vector<double> edges;
    lazy<index_t> bins;
    index_t count() const { return static_cast<index_t>(edges.size()) - 1; }
};
template <class C>
INGOT_API found_bins find_bins(const char* operation, index_t count, const bin_range&, const lazy<C>& e, dtype as);
/// The number of elements at each of n indices; a negative one is not counted.
INGOT_API array<index_t> counts_at(const char* operation, index_t n, const lazy<index_t>& at);

/// Finds the edges, then returns `totals(bin of each value, number of bins)` and the edges.
template <class E, class B, class F>
auto histogram_by(const E& e, const B& bins, const bin_range& range, const F& totals) {
    constexpr const char* operation = "histogram";
    if constexpr (array_expression<B>) {
        auto edges = given_edges(operation, bins);
        const index_t n = edges.size() > 1 ? edges.size() - 1 : 0;
        auto counts = totals(lazy<index_t>(bin_of(e, edges)), n);
        return std::tuple(std::move(counts), std::move(edges));
    } else {
        constexpr dtype t = E::type;
        using C = binned_as<t>;
        const found_bins found = find_bins(operation, as_extent(bins), range, lazy<C>(as_values<C>(e)), t);
        auto edges = edges_on<type_of<edges_in(t)>>(device_of_values(e), operation, found.edges);
        auto counts = totals(found.bins, found.count());
        return std::tuple(std::move(counts), std::move(edges));
    }
}

/// The counts divided by the bins' widths and by their sum.
template <class T, class C>
auto as_density(std::tuple<array<T>, array<C>>&& counted) {
    auto& [n, edges] = counted;
    using R = type_of<promote(dtype_of<T>, dtype::f8)>;
    const index_t bins = n.size();
    if (bins == 0) return std::tuple(array<R>(as_values<R>(n)), std::move(edges));
    const auto width = as_values<double>(edges(slice(1, none))) - as_values<double>(edges(slice(none, -1)));
    array<R> d(as_values<R>(n) / width / as_values<R>(sum(n)));
    return std::tuple(std::move(d), std::move(edges));
}

template <class E, class W>
void check_weights(const char* operation, const E& e, const W& weights) {
    const shape_like given = shape_of_expression(weights), wanted = shape_of_expression(e);
    if (!same_extents(extents_ref::of(given.values()), extents_ref::of(wanted.values())))
        throw_other_size(operation, "weights", given.values(), wanted.values());
}

/// The number of e's elements in each bin, and the edges of the bins. `bins`: the number of bins of equal width, over a
/// range or from the least value to the greatest; or their edges, an increasing vector. A bin includes its left edge,
/// the last bin also the right one; values outside and NaN are not counted. Counts are int64. With weights, which have
/// e's shape, a bin has the sum of its elements' weights, in their dtype. With a last `density` that is divided by the
/// bin's width and the total, in float64, or complex128 for complex weights. Waits as `histogram_bin_edges` does, and
/// throws what that throws; shape_error where the weights have another shape, error where the least or the greatest
/// value is not finite and no range is given.
///
///     array<double> x{1, 2, 1, 4};
///     const auto [counts, edges] = histogram(x, 3);
///     std::cout << counts << ' ' << edges << ' ' << std::get<0>(histogram(x * x, array<int>{0, 1, 4, 16}));
///     std::cout << ' ' << std::get<0>(histogram(x, 2, array<float>{1, 10, 2, 20}, {0, 4}));
///     // prints: [2 1 1] [1. 2. 3. 4.] [0 2 2] [ 3. 30.]
template <real_array E, bins_like B = int>
auto histogram(const E& e, const B& bins = 10, bin_range range = {},
               const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return histogram_by(e, bins, range,
                        [](const lazy<index_t>& at, index_t n) { return counts_at("histogram", n, at); });
}
template <real_array E, bins_like B, array_expression W>
auto histogram(const E& e, const B& bins, const W& weights, bin_range range = {},
               const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    check_weights("histogram", e, weights);
    return histogram_by(e, bins, range, [&](const lazy<index_t>& at, index_t n) {
        return sums_of_weights("histogram", n, weights, at);
    });
}
template <real_array E, bins_like B>
auto histogram(const E& e, const B& bins, density_t, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return as_density(histogram(e, bins));
}
template <real_array E, bins_like B>
auto histogram(const E& e, const B& bins, bin_range range, density_t,
               const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return as_density(histogram(e, bins, range));
}
template <real_array E, bins_like B, array_expression W>
auto histogram(const E& e, const B& bins, const W& weights, density_t,
               const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return as_density(histogram(e, bins, weights));
}
template <real_array E, bins_like B, array_expression W>
auto histogram(const E& e, const B& bins, const W& weights, bin_range range, density_t,
               const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return as_density(histogram(e, bins, weights, range));
}

// ---- of two variables ------------------------------------------------------------------------------------------

/// Throws shape_error unless both are vectors of one length.
INGOT_API void check_pairs(std::span<const index_t> x, std::span<const index_t> y);

/// The edges along one variable, whose values are compared in dtype `As`.
template <dtype As, class E, class B>
auto edges_along(const E& e, const B& bins, const bin_range& range) {
    constexpr const char* operation = "histogram2d";
    if constexpr (array_expression<B>)
        return given_edges(operation, bins);
    else
        return edges_on<double>(device_of_values(e), operation, bins_over<As>(operation, as_extent(bins), range, e));
}

template <class X, class Y, class BX, class BY, class F>
auto histogram2d_by(const X& x, const Y& y, const BX& xbins, const BY& ybins, const bin_ranges& ranges,
                    const F& totals) {
    constexpr dtype both = promote(X::type, Y::type);
    using T = type_of<both>;
    check_pairs(shape_of_expression(x).values(), shape_of_expression(y).values());
    auto xedges = edges_along<both>(x, xbins, ranges.x);
    auto yedges = edges_along<both>(y, ybins, ranges.y);
    const index_t columns = yedges.size() > 1 ? yedges.size() - 1 : 0;
    const index_t rows = xedges.size() > 1 ? xedges.size() - 1 : 0;
    const auto row = bin_of(as_values<T>(x), xedges);
    const auto column = bin_of(as_values<T>(y), yedges);
    array<deferred<double, X>> flat =
        totals(lazy<index_t>(where(row < 0 || column < 0, index_t{-1}, row * columns + column)), rows * columns);
    return std::tuple(array<double>(reshape(flat, {rows, columns})), std::move(xedges), std::move(yedges));
}

template <class A, class B>
auto as_density2d(std::tuple<array<double>, array<A>, array<B>>&& counted) {
    auto& [h, xedges, yedges] = counted;
    if (h.size() != 0) {
        const auto width = [](const auto& edges) {
            return as_values<double>(edges(slice(1, none))) - as_values<double>(edges(slice(none, -1)));
        };
        h = h / expand_dims(width(xedges), 1) / expand_dims(width(yedges), 0) / sum(h);
    }
    return std::move(counted);
}

/// The bins of both variables: one argument of `histogram` for both, or a pair of them.
template <class B>
concept pair_of_bins = bins_like<B> || requires(const B& b) {
    requires std::tuple_size_v<B> == 2;
    requires bins_like<std::remove_cvref_t<decltype(std::get<0>(b))>>;
    requires bins_like<std::remove_cvref_t<decltype(std::get<1>(b))>>;
};
template <bool Second, class B>
const auto& bins_along(const B& bins) {
    if constexpr (bins_like<B>)
        return bins;
    else
        return std::get < Second ? 1 : 0 > (bins);
}

/// The number of points (x, y) in each cell of bins, and the edges of both. x and y are vectors of one length; x's bins
/// are rows. `bins` and the range are arguments of `histogram`, one for both or a std::pair or std::tuple {of x, of y}.
/// With weights a cell has their sum; with a last `density` it is divided by the cell's area and the total. The
/// histogram and computed edges are float64. Waits and throws as `histogram` does.
///
///     array<double> x{0, 1, 1, 2}, y{5, 5, 6, 9};
///     const auto [h, xedges, yedges] = histogram2d(x, y, std::pair(2, array<int>{5, 6, 8}));
///     std::cout << h << '\n' << std::get<0>(histogram2d(x, y, 2, {{0, 2}, {5, 9}}, density));
///     // prints: [[1. 0.]
///     //          [1. 1.]]
///     //         [[0.125 0.   ]
///     //          [0.25  0.125]]
template <real_array X, real_array Y, pair_of_bins B = int>
auto histogram2d(const X& x, const Y& y, const B& bins = 10, bin_ranges ranges = {},
                 const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return histogram2d_by(x, y, bins_along<false>(bins), bins_along<true>(bins), ranges,
                          [](const lazy<index_t>& at, index_t n) {
                              return array<double>(as_values<double>(counts_at("histogram2d", n, at)));
                          });
}
template <real_array X, real_array Y, pair_of_bins B, real_array W>
auto histogram2d(const X& x, const Y& y, const B& bins, const W& weights, bin_ranges ranges = {},
                 const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    check_weights("histogram2d", x, weights);
    return histogram2d_by(x, y, bins_along<false>(bins), bins_along<true>(bins), ranges,
                          [&](const lazy<index_t>& at, index_t n) {
                              return sums_of_floats("histogram2d", n, as_values<double>(weights), at);
                          });
}
template <real_array X, real_array Y, pair_of_bins B>
auto histogram2d(const X& x, const Y& y, const B& bins, density_t, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return as_density2d(histogram2d(x, y, bins));
}
template <real_array X, real_array Y, pair_of_bins B>
auto histogram2d(const X& x, const Y& y, const B& bins, bin_ranges ranges, density_t,
                 const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return as_density2d(histogram2d(x, y, bins, ranges));
}
template <real_array X, real_array Y, pair_of_bins B, real_array W>
auto histogram2d(const X& x, const Y& y, const B& bins, const W& weights, density_t,
                 const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return as_density2d(histogram2d(x, y, bins, weights));
}
template <real_array X, real_array Y, pair_of_bins B, real_array W>
auto histogram2d(const X& x, const Y& y, const B& bins, const W& weights, bin_ranges ranges, density_t,
                 const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return as_density2d(histogram2d(x, y, bins, weights, ranges));
}

// ---- of several variables --------------------------------------------------------------------------------------

/// The bins of one variable: the number of bins of equal width, or their edges.
struct bins_of_variable {
    index_t count = 0;
    std::optional<array<double>> edges = {};

    template <integer_argument I>
    bins_of_variable(I bins) : count(as_extent(bins)) {}
    template <real_array B>
    bins_of_variable(const B& given) : edges(array<double>(as_values<double>(given))) {}
};

}  // namespace detail

/// The bins of `histogramdd`: one number for all variables, or in braces a number or edges for each.
class bins_of_variables {
public:
    template <detail::integer_argument I>
    bins_of_variables(I of_each) : all_{of_each} {}
    bins_of_variables(std::initializer_list<detail::bins_of_variable> of_each) : all_(of_each), is_for_all_(false) {}

    // Inner
    const std::vector<detail::bins_of_variable>& all() const noexcept { return all_; }
    bool is_for_all() const noexcept { return is_for_all_; }

private:
    std::vector<detail::bins_of_variable> all_;
    bool is_for_all_ = true;
};

/// The options of `histogramdd`.
struct histogramdd_options {
    /// The range of each variable whose bins are given as a number; by default from the least value to the greatest.
    std::vector<bin_range> ranges = {};
    /// The weight of each point; there are as many as points.
    std::optional<lazy<double>> weights = {};
    /// Whether counts are divided by the cells' volume and by the total.
    bool density = false;
};

namespace detail {

INGOT_API std::tuple<array<double>, std::vector<array<double>>> counted_cells(const lazy<double>& points,
                                                                              const bins_of_variables&,
                                                                              const histogramdd_options&);

/// The number of points in each cell of bins of several variables, and the edges of each, all in float64. The points
/// are the rows of a matrix, the variables its columns. Waits and throws as `histogram` does; shape_error where the
/// points are no matrix, or the number of bins, ranges or weights does not fit.
///
///     array<double> points{{0, 5, 0}, {1, 5, 0}, {1, 6, 1}, {2, 9, 1}};
///     const auto [counts, edges] = histogramdd(points, {2, array<int>{5, 6, 8}, 1});
///     std::cout << counts(all, all, 0) << ' ' << edges.size() << ' ' << edges[0];
///     // prints: [[1. 0.]
///     //          [1. 1.]] 3 [0. 1. 2.]
template <real_array E>
auto histogramdd(const E& points, const bins_of_variables& bins = 10, const histogramdd_options& options = {},
                 const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return counted_cells(lazy<deferred<double, E>>(as_values<double>(points)), bins, options);
}

}  // namespace detail

using detail::bincount;
using detail::histogram;
using detail::histogram2d;
using detail::histogram_bin_edges;
using detail::histogramdd;

}  // namespace ingot
