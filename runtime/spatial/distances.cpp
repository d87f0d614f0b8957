// Distances as folds along rows. A metric is a row of a table: how each operand is prepared, which is done once, and
// the fold of a pair of rows.
#include <ingot/spatial/distances.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <ingot/core/creation.hpp>
#include <ingot/core/device.hpp>
#include <ingot/core/error.hpp>
#include <ingot/core/functions.hpp>
#include <ingot/core/operators.hpp>
#include <ingot/core/places.hpp>
#include <ingot/core/reductions.hpp>
#include <ingot/core/views.hpp>
#include <ingot/kernels/user_kernels.hpp>

#include "runtime/functions/any_lazy.hpp"
#include "runtime/system/number_text.hpp"

namespace ingot::detail {

using runtime::any_lazy;
using runtime::apply;
using runtime::as_type;
using runtime::choose;
using spatial::metric;

namespace {

const axes last_axis{-1};

any_lazy magnitude(const any_lazy& x) { return apply(op::absolute, {x}); }
any_lazy root(const any_lazy& x) { return apply(op::sqrt, {x}); }
any_lazy row_total(const any_lazy& x) { return runtime::folded(fold::sum, "cdist", x, &last_axis, true); }

any_lazy as_they_are(const any_lazy& x) { return x; }
/// Divided by the greatest magnitude first, so that no square overflows or vanishes.
any_lazy of_length_one(const any_lazy& x) {
    if (x.extents().data[1] == 0) return x;
    const any_lazy scaled = x / runtime::folded(fold::max, "cdist", magnitude(x), &last_axis, true);
    return scaled / root(row_total(scaled * scaled));
}
any_lazy centred(const any_lazy& x) {
    return of_length_one((x - runtime::mean_of("cdist", x, last_axis, true)).kept());
}
any_lazy of_sum_one(const any_lazy& x) { return x / row_total(x); }

/// Pairs of rows: both operands in the shape of the pairs, with the columns as a last axis, or one after the other.
/// Distances of few columns are elementwise, so that a fold of them needs no matrix in memory.
class row_pair {
public:
    row_pair(std::vector<any_lazy> x, std::vector<any_lazy> y, index_t columns)
        : x_(std::move(x)), y_(std::move(y)), columns_(columns) {}

    double columns() const { return static_cast<double>(columns_); }
    template <class F>
    any_lazy total(const F& of) const {
        return joined(fold::sum, op::add, of);
    }
    template <class F>
    any_lazy greatest(const F& of) const {
        // The greatest of no elements is 0, as their sum.
        return joined(columns_ == 0 ? fold::sum : fold::max, op::maximum, of);
    }
    /// The number of columns in which `of` is true, in the elements' dtype.
    template <class F>
    any_lazy number(const F& of) const {
        return total([&](const any_lazy& x, const any_lazy& y) { return as_type(of(x, y), x.type()); });
    }

private:
    template <class F>
    any_lazy joined(fold f, op pairwise, const F& of) const {
        any_lazy all_of_them = of(x_[0], y_[0]);
        if (static_cast<index_t>(x_.size()) != columns_)
            return runtime::folded(f, "cdist", all_of_them, &last_axis, false);
        for (std::size_t k = 1; k < x_.size(); ++k) all_of_them = apply(pairwise, {all_of_them, of(x_[k], y_[k])});
        return all_of_them;
    }

    std::vector<any_lazy> x_, y_;
    index_t columns_;
};

any_lazy difference(const any_lazy& x, const any_lazy& y) { return magnitude(x - y); }
any_lazy unequal(const any_lazy& x, const any_lazy& y) { return apply(op::not_equal, {x, y}); }

any_lazy squares(const row_pair& rows, double) {
    return rows.total([](const any_lazy& x, const any_lazy& y) {
        const any_lazy d = x - y;
        return d * d;
    });
}
any_lazy euclidean(const row_pair& rows, double p) { return root(squares(rows, p)); }
any_lazy cityblock(const row_pair& rows, double) { return rows.total(difference); }
any_lazy chebyshev(const row_pair& rows, double) { return rows.greatest(difference); }
any_lazy minkowski(const row_pair& rows, double p) {
    if (p == 1) return cityblock(rows, p);
    if (p == 2) return euclidean(rows, p);
    if (std::isinf(p)) return chebyshev(rows, p);
    const any_lazy powers =
        rows.total([&](const any_lazy& x, const any_lazy& y) { return apply(op::power, {difference(x, y), p}); });
    return apply(op::power, {powers, 1 / p});
}
any_lazy cosine(const row_pair& rows, double) {
    // A row of no columns has no direction.
    if (rows.columns() == 0) return squares(rows, 0) / 0.0;
    const any_lazy product = rows.total([](const any_lazy& x, const any_lazy& y) { return x * y; });
    return 1 - apply(op::minimum, {apply(op::maximum, {product, -1.0}), 1.0});
}
any_lazy hamming(const row_pair& rows, double) { return rows.number(unequal) / rows.columns(); }
any_lazy canberra(const row_pair& rows, double) {
    return rows.total([](const any_lazy& x, const any_lazy& y) {
        const any_lazy both = magnitude(x) + magnitude(y);
        return choose(apply(op::equal, {both, 0.0}), any_lazy(0.0), difference(x, y) / both);
    });
}
any_lazy braycurtis(const row_pair& rows, double) {
    return rows.total(difference) / rows.total([](const any_lazy& x, const any_lazy& y) { return magnitude(x + y); });
}
any_lazy jensenshannon(const row_pair& rows, double) {
    const any_lazy both = rows.total([](const any_lazy& x, const any_lazy& y) {
        const any_lazy middle = (x + y) / 2.0;
        const auto entropy = [&](const any_lazy& p) {
            return choose(any_lazy(0.0) < p, p * apply(op::log, {p / middle}), any_lazy(0.0));
        };
        // A row whose sum is 0 has no finite shares. Its distance is infinite, as SciPy's is.
        return choose(apply(op::isfinite, {middle}), entropy(x) + entropy(y),
                      any_lazy(std::numeric_limits<double>::infinity()));
    });
    return root(both / 2.0);
}
any_lazy jaccard(const row_pair& rows, double) {
    const auto is_true = [](const any_lazy& x) { return as_type(x, dtype::b1); };
    const any_lazy either = rows.number(
        [&](const any_lazy& x, const any_lazy& y) { return apply(op::logical_or, {is_true(x), is_true(y)}); });
    const any_lazy one =
        rows.number([&](const any_lazy& x, const any_lazy& y) { return unequal(is_true(x), is_true(y)); });
    return choose(apply(op::equal, {either, 0.0}), any_lazy(0.0), one / either);
}

struct metric_row {
    any_lazy (*prepared)(const any_lazy&);
    any_lazy (*distance)(const row_pair&, double p);
    bool in_doubles = false;  // terms of rows that are alike cancel
};

/// In the order of the enumerators.
constexpr metric_row metrics[] = {
    {as_they_are, euclidean},
    {as_they_are, squares},
    {as_they_are, cityblock},
    {as_they_are, chebyshev},
    {as_they_are, minkowski},
    {of_length_one, cosine},
    {centred, cosine},
    {as_they_are, hamming},
    {as_they_are, canberra},
    {as_they_are, braycurtis},
    {of_sum_one, jensenshannon, true},
    {as_they_are, jaccard},
};
const metric_row& row_of(const char* operation, metric m, double p) {
    if (m == metric::minkowski && !(p > 0))
        throw error("[" + std::string(operation) + "] an exponent of " + runtime::number_text(p) +
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
any_lazy indexed(const any_lazy& x, std::initializer_list<index_item> items) {
    view_room view;
    view_by_index(view, x.extents(), items.begin(), static_cast<int>(items.size()));
    return x.viewed(view);
}
/// Up to so many columns are unrolled.
constexpr index_t few_columns = 8;
/// The operand of a pair that `of` makes of a matrix, or of each of its columns where they are few.
template <class F>
std::vector<any_lazy> in_columns(const any_lazy& rows, const F& of) {
    const index_t columns = rows.extents().data[1];
    if (columns == 0 || columns > few_columns) return {of(rows)};
    std::vector<any_lazy> each;
    for (index_t k = 0; k < columns; ++k) each.push_back(of(indexed(rows, {as_index_item(all), as_index_item(k)})));
    return each;
}
/// The rows along the first of two axes, or along the second one.
any_lazy along(const any_lazy& rows, bool second) {
    const index_item one = as_index_item(newaxis), every = as_index_item(all), rest = as_index_item(ellipsis);
    return indexed(rows, {second ? one : every, second ? every : one, rest});
}
/// The operand whose rows move along the results' inner axis. Few columns that each of `many` rows reads are copied
/// apart, so that each is contiguous.
std::vector<any_lazy> inner_operand(const any_lazy& rows, index_t many) {
    constexpr index_t worth_copying = 256;
    const index_t columns = rows.extents().data[1];
    if (columns < 2 || columns > few_columns || many < worth_copying)
        return in_columns(rows, [](const any_lazy& x) { return along(x, true); });
    view_room view;
    view_permuted(view, rows.extents(), nullptr, "transpose");
    const any_lazy apart = apply(op::positive, {rows.viewed(view)}).kept();
    std::vector<any_lazy> each;
    for (index_t k = 0; k < columns; ++k)
        each.push_back(indexed(apart, {as_index_item(newaxis), as_index_item(k), as_index_item(all)}));
    return each;
}

// ---- pairs of rows ---------------------------------------------------------------------------------------------

using row_kernel = elementwise_kernel<"double pair, double n", "double row">;
/// The first row of a pair of n rows. Numbers up to 2^53 are exact; the root is rounded, so that the row may be one
/// off.
const row_kernel& first_of_pair() {
    static const row_kernel text(R"(
const double left = 4 * n * (n - 1) - 8 * pair - 7;
row = n - 2 - floor(sqrt(left > 0 ? left : 0.0) / 2 - 0.5);
row = row < 0 ? 0.0 : row;
row = row * (2 * n - row - 1) / 2 > pair ? row - 1 : row;
row = (row + 1) * (2 * n - row - 2) / 2 <= pair ? row + 1 : row;)",
                                 "pair");
    return text;
}
struct row_pairs {
    lazy<index_t> first, second;
};
/// The number of pairs before the first one that has this row as its first.
lazy<index_t> first_place(const lazy<index_t>& row, index_t n) {
    return lazy<index_t>((row * (2 * n - row - index_t{1})) >> index_t{1});
}
/// All pairs of n rows, in the order of `pdist`.
row_pairs pairs_of(index_t n) {
    const lazy<double> pair(astype<double>(position_along(n * (n - 1) / 2, 0)));
    const lazy<double> row(first_of_pair()(pair, static_cast<double>(n)));
    const lazy<double> column = pair - row * (2.0 * static_cast<double>(n) - row - 1) / 2 + row + 1;
    return {lazy<index_t>(astype<index_t>(row)), lazy<index_t>(astype<index_t>(column))};
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
    const dtype made = computed_for(promote(a.type, b.type)), type = row.in_doubles ? dtype::f8 : made;
    const row_pair pairs(in_columns(rows_for(row, a, type), [](const any_lazy& x) { return along(x, false); }),
                         inner_operand(rows_for(row, b, type), of_a.data[0]), of_a.data[1]);
    return as_type(row.distance(pairs, p), made).tree();
}

tree_ref distances_within(const any_expression& x, metric m, double p) {
    check_matrix("pdist", x.tree->extents());
    const metric_row& row = row_of("pdist", m, p);
    const dtype made = computed_for(x.type);
    const any_lazy rows = rows_for(row, x, row.in_doubles ? dtype::f8 : made);
    const index_t n = x.tree->extents().data[0], columns = x.tree->extents().data[1];
    if (n < 2) {
        const with_device there(rows.device() == no_device ? current_device() : device(rows.device()));
        return as_type(any_lazy(zeros<double>(0)), made).tree();
    }
    // The whole matrix in a temporary costs twice the operations, and a place of one index for each pair; gathers of
    // rows would find the pair anew for each column of both.
    const row_pair pairs_of_rows(in_columns(rows, [](const any_lazy& x) { return along(x, false); }),
                                 inner_operand(rows, n), columns);
    const any_lazy whole = as_type(row.distance(pairs_of_rows, p), made).kept();
    const any_lazy flat(reshape_tree(whole.tree(), std::array<index_t, 1>{n * n}, 0), whole.type());
    const row_pairs pairs = pairs_of(n);
    return runtime::elements_at(flat, lazy<index_t>(pairs.first * n + pairs.second)).tree();
}

tree_ref other_form(const any_expression& elements, const shape_like& shape, bool checks) {
    const auto fails = [&](const char* wanted) {
        return shape_error("[squareform] shape " + to_text(shape.values()) + "; " + wanted + " is wanted");
    };
    const any_lazy flat(elements.tree, elements.type);
    if (shape.count() == 2) {
        const index_t n = shape[0];
        if (shape[1] != n) throw fails("a square matrix");
        const row_pairs pairs = pairs_of(n);
        const any_lazy above = runtime::elements_at(flat, lazy<index_t>(pairs.first * n + pairs.second));
        if (checks && n > 0) {
            const any_lazy below = runtime::elements_at(flat, lazy<index_t>(pairs.second * n + pairs.first));
            const any_lazy diagonal = runtime::elements_at(flat, lazy<index_t>(position_along(n, 0) * (n + 1)));
            if (any(apply(op::not_equal, {above, below}).as<bool>()).item() || any(diagonal.as<bool>()).item())
                throw error(
                    "[squareform] the matrix is not symmetric, or its diagonal is not 0; a symmetric matrix with a "
                    "diagonal of 0 is wanted");
        }
        return above.tree();
    }
    if (shape.count() != 1) throw fails("a matrix or a vector");
    const index_t count = shape[0];
    const auto n = static_cast<index_t>(std::ceil(std::sqrt(2.0 * static_cast<double>(count))));
    if (n * (n - 1) / 2 != count) throw fails("a vector of n (n - 1) / 2 elements");
    if (count == 0) {
        const with_device there(flat.device() == no_device ? current_device() : device(flat.device()));
        return as_type(any_lazy(zeros<double>({1, 1})), flat.type()).tree();
    }
    const lazy<index_t> row(position_along(n, 1)), column(position_along(n, 0));
    const lazy<index_t> low = minimum(row, column), high = maximum(row, column);
    const lazy<bool> on_diagonal = row == column;
    const lazy<index_t> place = first_place(low, n) + (high - low - index_t{1});
    const any_lazy values = runtime::elements_at(flat, lazy<index_t>(where(on_diagonal, index_t{0}, place)));
    return as_type(choose(on_diagonal, any_lazy(0), values), flat.type()).tree();
}

}  // namespace ingot::detail
