// Distances as folds along rows. A metric is a row of a table: how each operand is prepared, which is done once, and the
// fold of a pair of rows.
#include <ingot/spatial/distances.hpp>

#include <cmath>
#include <limits>
#include <string>

#include <ingot/core/device.hpp>
#include <ingot/core/error.hpp>
#include <ingot/core/functions.hpp>
#include <ingot/core/operators.hpp>
#include <ingot/core/places.hpp>
#include <ingot/core/reductions.hpp>
#include <ingot/core/reshape.hpp>
#include <ingot/core/views.hpp>
#include <ingot/kernels/user_kernels.hpp>

#include "runtime/functions/any_lazy.hpp"

namespace ingot::detail {

using runtime::any_lazy;
using runtime::apply;
using runtime::as_type;
using runtime::choose;
using spatial::metric;

namespace {

const axes last_axis{-1};

any_lazy magnitude(const any_lazy& x) { return apply(op::abs, {x}); }
any_lazy root(const any_lazy& x) { return apply(op::sqrt, {x}); }
any_lazy total(const any_lazy& x) { return runtime::folded(fold::sum, "cdist", x, &last_axis, false); }
/// The number of true elements, in the numbers' dtype.
any_lazy number_of(const any_lazy& truths, const any_lazy& numbers) { return total(as_type(truths, numbers.type())); }
any_lazy row_total(const any_lazy& x) { return runtime::folded(fold::sum, "cdist", x, &last_axis, true); }

any_lazy as_they_are(const any_lazy& x) { return x; }
any_lazy of_length_one(const any_lazy& x) { return x / root(row_total(x * x)); }
any_lazy centred(const any_lazy& x) {
    return of_length_one((x - runtime::mean_of("cdist", x, last_axis, true)).kept());
}
any_lazy of_sum_one(const any_lazy& x) { return x / row_total(x); }

any_lazy squares(const any_lazy& x, const any_lazy& y, double) {
    const any_lazy d = x - y;
    return total(d * d);
}
any_lazy euclidean(const any_lazy& x, const any_lazy& y, double) { return root(squares(x, y, 2)); }
any_lazy cityblock(const any_lazy& x, const any_lazy& y, double) { return total(magnitude(x - y)); }
any_lazy chebyshev(const any_lazy& x, const any_lazy& y, double) {
    const any_lazy d = magnitude(x - y);
    // The greatest of no elements is 0, as their sum.
    return d.shape()[-1] == 0 ? total(d) : runtime::folded(fold::max, "cdist", d, &last_axis, false);
}
any_lazy minkowski(const any_lazy& x, const any_lazy& y, double p) {
    if (p == 1) return cityblock(x, y, p);
    if (p == 2) return euclidean(x, y, p);
    if (std::isinf(p)) return chebyshev(x, y, p);
    return apply(op::power, {total(apply(op::power, {magnitude(x - y), p})), 1 / p});
}
any_lazy cosine(const any_lazy& x, const any_lazy& y, double) {
    return 1 - apply(op::minimum, {apply(op::maximum, {total(x * y), -1.0}), 1.0});
}
any_lazy hamming(const any_lazy& x, const any_lazy& y, double) {
    return number_of(apply(op::not_equal, {x, y}), x) / static_cast<double>(x.shape()[-1]);
}
any_lazy canberra(const any_lazy& x, const any_lazy& y, double) {
    const any_lazy sum_of_both = magnitude(x) + magnitude(y);
    return total(choose(apply(op::equal, {sum_of_both, 0.0}), any_lazy(0.0), magnitude(x - y) / sum_of_both));
}
any_lazy braycurtis(const any_lazy& x, const any_lazy& y, double) {
    return total(magnitude(x - y)) / total(magnitude(x + y));
}
any_lazy jensenshannon(const any_lazy& x, const any_lazy& y, double) {
    const any_lazy middle = (x + y) / 2.0;
    const auto entropy = [&](const any_lazy& p) {
        // Of rows whose sum is 0, which have no finite shares, the distance is infinite, as SciPy's is.
        const any_lazy unknown = apply(op::logical_not, {apply(op::isfinite, {p})});
        return choose(unknown, any_lazy(std::numeric_limits<double>::infinity()),
                      choose(any_lazy(0.0) < p, p * apply(op::log, {p / middle}), any_lazy(0.0)));
    };
    return root(total(entropy(x) + entropy(y)) / 2.0);
}
any_lazy jaccard(const any_lazy& x, const any_lazy& y, double) {
    const any_lazy either =
        apply(op::logical_or, {apply(op::not_equal, {x, 0.0}), apply(op::not_equal, {y, 0.0})});
    const any_lazy count = number_of(either, x);
    const any_lazy differ = number_of(apply(op::not_equal, {x, y}), x);  // none where both are 0
    return choose(apply(op::equal, {count, 0.0}), any_lazy(0.0), differ / count);
}

struct metric_row {
    any_lazy (*prepared)(const any_lazy&);
    any_lazy (*distance)(const any_lazy& x, const any_lazy& y, double p);
};

/// In the order of the enumerators.
constexpr metric_row metrics[] = {
    {as_they_are, euclidean}, {as_they_are, squares},    {as_they_are, cityblock},  {as_they_are, chebyshev},
    {as_they_are, minkowski}, {of_length_one, cosine},   {centred, cosine},         {as_they_are, hamming},
    {as_they_are, canberra},  {as_they_are, braycurtis}, {of_sum_one, jensenshannon}, {as_they_are, jaccard},
};
const metric_row& row_of(const char* operation, metric m, double p) {
    if (m == metric::minkowski && !(p > 0))
        throw error("[" + std::string(operation) + "] an exponent of " + std::to_string(p) +
                    "; one greater than 0 is wanted");
    return metrics[static_cast<std::size_t>(m)];
}

/// The rows of a matrix in a dtype, prepared in a temporary that all pairs read.
any_lazy rows_for(const metric_row& row, const any_expression& x, dtype type) {
    return row.prepared(as_type(any_lazy(x.tree, x.type), type).kept()).kept();
}
void check_matrix(const char* operation, extents_ref shape) {
    if (shape.rank != 2)
        throw shape_error("[" + std::string(operation) + "] points of shape " + to_text(shape.span()) +
                          "; a matrix is wanted, a row for each");
}
dtype computed_for(dtype t) {
    return kind_of(t) == kind::floating && promote(t, dtype::f4) == dtype::f4 ? dtype::f4 : dtype::f8;
}
/// x with a new axis.
any_lazy expanded(const any_lazy& x, index_t axis) {
    const index_item item = axis == 0 ? as_index_item(newaxis) : as_index_item(all);
    const index_item items[] = {item, axis == 0 ? as_index_item(all) : as_index_item(newaxis), as_index_item(all)};
    view_room view;
    view_by_index(view, x.extents(), items, 3);
    return x.viewed(view);
}

// ---- pairs of rows ---------------------------------------------------------------------------------------------

using row_kernel = elementwise_kernel<"int64 k, int64 n", "int64 i">;
/// The first row of pair k of n rows. The root is rounded, so that the row may be one off.
const row_kernel& first_of_pair() {
    static const row_kernel text(R"(
const double left = 4.0 * n * (n - 1) - 8.0 * k - 7;
i = n - 2 - static_cast<int64>(sqrt(left > 0 ? left : 0) / 2 - 0.5);
if (i < 0) i = 0;
if (i > 0 && i * (2 * n - i - 1) / 2 > k) i -= 1;
if ((i + 1) * (2 * n - i - 2) / 2 <= k) i += 1;)",
                                 "pair");
    return text;
}
struct row_pairs {
    lazy<index_t> first, second;
};
/// All pairs of n rows, in the order of `pdist`.
row_pairs pairs_of(index_t n) {
    const lazy<index_t> k(position_along(n * (n - 1) / 2, 0));
    const lazy<index_t> i(first_of_pair()(k, n));
    return {i, lazy<index_t>(k - i * (2 * n - i - index_t{1}) / 2 + i + index_t{1})};
}

}  // namespace

tree_ref distances_between(const char* operation, const any_expression& a, const any_expression& b, metric m,
                           double p) {
    const extents_ref of_a = a.tree->extents(), of_b = b.tree->extents();
    check_matrix(operation, of_a);
    check_matrix(operation, of_b);
    if (of_a.data[1] != of_b.data[1])
        throw shape_error("[" + std::string(operation) + "] points of shapes " + to_text(of_a.span()) + " and " +
                          to_text(of_b.span()) + "; as many columns of both are wanted");
    const metric_row& row = row_of(operation, m, p);
    const dtype type = computed_for(promote(a.type, b.type));
    return row.distance(expanded(rows_for(row, a, type), 1), expanded(rows_for(row, b, type), 0), p).tree();
}

}  // namespace ingot::detail
