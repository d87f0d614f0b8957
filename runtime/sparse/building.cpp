// Sparse matrices of diagonals, of other matrices and of random numbers, and products of two of them, by array
// operations. Keys are sorted only where the order of the entries is not known; the host has another product.
#include <ingot/sparse/building.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include <ingot/core/array_indexing.hpp>
#include <ingot/core/complex_parts.hpp>
#include <ingot/core/creation.hpp>
#include <ingot/core/index_functions.hpp>
#include <ingot/core/joins.hpp>
#include <ingot/core/random.hpp>
#include <ingot/core/scans.hpp>
#include <ingot/distributions.hpp>
#include <ingot/sorting.hpp>
#include <ingot/sparse/products.hpp>

#include "runtime/sparse/triplets.hpp"

namespace ingot::sparse {

namespace {

/// The places of the diagonal `offset` right of the main one: the first key, and how many there are.
struct diagonal_places {
    index_t first, count;
};
diagonal_places places_of_diagonal(const matrix_extents& e, index_t offset) {
    const index_t row = std::max<index_t>(0, -offset), column = std::max<index_t>(0, offset);
    return {row * e.columns + column, std::max<index_t>(0, std::min(e.rows - row, e.columns - column))};
}
array<index_t> keys_of_diagonal(const matrix_extents& e, index_t offset, device where) {
    const auto [first, count] = places_of_diagonal(e, offset);
    return array<index_t>(numbers_to(count, where) * (e.columns + 1) + first);
}

/// Keys in a matrix of other extents, below and right of (row, column).
array<index_t> moved_keys(const array<index_t>& keys, const matrix_extents& from, index_t row, index_t column,
                          index_t columns) {
    const auto own_row = floor_divide(keys, from.columns);
    return array<index_t>((own_row + row) * columns + (keys - own_row * from.columns + column));
}

template <class T>
array<T> drawn_values(index_t count) {
    if constexpr (detail::complex_number<T>) {
        using part = typename T::value_type;
        return array<T>(complex_of(ingot::random::uniform<part>({count}), ingot::random::uniform<part>({count})));
    } else {
        return array<T>(ingot::random::uniform<T>({count}));
    }
}

/// So many different numbers below n, in ascending order.
array<index_t> distinct_below(index_t n, index_t count) {
    if (count > n / 4)
        return array<index_t>(sort(argsort(array<double>(ingot::random::uniform<double>({n})))(slice(0, count))));
    array<index_t> found = zeros<index_t>(0);
    while (found.size() < count) {
        const index_t missing = count - found.size();
        const array<index_t> more(ingot::random::integers<index_t>(index_t{0}, n, {missing + missing / 4 + 16}));
        found = array<index_t>(unique(concatenate({found, more})));
    }
    if (found.size() == count) return found;
    // The surplus is left out at random.
    const array<index_t> order(argsort(array<double>(ingot::random::uniform<double>({found.size()}))));
    return array<index_t>(sort(elements_at(found, array<index_t>(order(slice(0, count))))));
}

}  // namespace

template <sparse_element T, sparse_index I>
csr<T, I> eye(index_t rows, index_t columns, index_t offset) {
    const matrix_extents e = extents_of("sparse::eye", {rows, columns});
    const index_t count = places_of_diagonal(e, offset).count;
    return csr_of<T, I>("sparse::eye", triplets<T>{ones<T>(count), keys_of_diagonal(e, offset, current_device()), e});
}

template <sparse_element T, sparse_index I>
csr<T, I> diags(const std::vector<array<T>>& diagonals, const std::vector<index_t>& offsets, const shape_like& shape) {
    const matrix_extents e = extents_of("sparse::diags", shape);
    if (diagonals.size() != offsets.size())
        throw shape_error("[sparse::diags] " + std::to_string(diagonals.size()) + " diagonals and " +
                          std::to_string(offsets.size()) + " offsets: as many are wanted");
    if (diagonals.empty()) return csr<T, I>(shape);
    const device where = diagonals[0].device();
    std::vector<array<T>> values;
    std::vector<array<index_t>> keys;
    for (std::size_t i = 0; i < diagonals.size(); ++i) {
        const index_t count = places_of_diagonal(e, offsets[i]).count;
        const array<T>& given = diagonals[i];
        if (given.ndim() != 1 || (given.size() != count && given.size() != 1))
            throw_unequal(
                "sparse::diags", "a diagonal", given.shape(),
                "a vector of length " + std::to_string(count) + " is wanted at offset " + std::to_string(offsets[i]));
        values.push_back(given.size() == count ? given : array<T>(broadcast_to(given, {count})));
        keys.push_back(keys_of_diagonal(e, offsets[i], where));
    }
    const with_device there(where);
    return csr_of<T, I>("sparse::diags", summed(array<T>(concatenate(values)), array<index_t>(concatenate(keys)), e));
}

template <sparse_element T, sparse_index I>
csr<T, I> diags(const std::vector<array<T>>& diagonals, const std::vector<index_t>& offsets) {
    const index_t extent =
        diagonals.empty() || offsets.empty() ? 0 : diagonals[0].size() + std::max(offsets[0], -offsets[0]);
    return diags<T, I>(diagonals, offsets, {extent, extent});
}

template <sparse_element T, sparse_index I>
csr<T, I> kron(const csr<T, I>& a, const csr<T, I>& b) {
    const triplets<T> x = triplets_of(a), y = triplets_of(b);
    const matrix_extents e =
        extents_of("sparse::kron", {x.extents.rows * y.extents.rows, x.extents.columns * y.extents.columns});
    if (x.keys.size() == 0 || y.keys.size() == 0) {
        const with_device there(a.device());
        return csr<T, I>({e.rows, e.columns});
    }
    // The key of a pair is the sum of a number of either's.
    const auto row = floor_divide(x.keys, x.extents.columns);
    const array<index_t> first(row * y.extents.rows * e.columns +
                               (x.keys - row * x.extents.columns) * y.extents.columns);
    const array<index_t> second = moved_keys(y.keys, y.extents, 0, 0, e.columns);
    return csr_of<T, I>("sparse::kron", summed(array<T>(ravel(array<T>(x.values(all, newaxis) * y.values))),
                                               array<index_t>(ravel(array<index_t>(first(all, newaxis) + second))), e));
}

template <sparse_element T, sparse_index I>
csr<T, I> stacked(const char* operation, std::span<const csr<T, I>> parts, int axis) {
    if (parts.empty()) throw shape_error("[" + std::string(operation) + "] there is nothing to join");
    index_t rows = 0, columns = 0;
    for (const csr<T, I>& part : parts) {
        const shape_like own = part.shape(), first = parts.front().shape();
        if (axis < 2 && own[1 - axis] != first[1 - axis])
            throw shape_error("[" + std::string(operation) + "] shapes " + detail::to_text(first.values()) + " and " +
                              detail::to_text(own.values()) + " differ along axis " + std::to_string(1 - axis));
        rows = axis == 1 ? own[0] : rows + own[0];
        columns = axis == 0 ? own[1] : columns + own[1];
    }
    const matrix_extents e = extents_of(operation, {rows, columns});
    std::vector<array<T>> values;
    std::vector<array<index_t>> keys;
    index_t row = 0, column = 0;
    for (const csr<T, I>& part : parts) {
        const triplets<T> t = triplets_of(part);
        values.push_back(t.values);
        keys.push_back(moved_keys(t.keys, t.extents, row, column, columns));
        if (axis != 1) row += t.extents.rows;
        if (axis != 0) column += t.extents.columns;
    }
    return csr_of<T, I>(operation, summed(array<T>(concatenate(values)), array<index_t>(concatenate(keys)), e));
}

template <sparse_element T, sparse_index I>
csr<T, I> random(index_t rows, index_t columns, double density) {
    const matrix_extents e = extents_of("sparse::random", {rows, columns});
    if (!(density >= 0 && density <= 1))
        throw error("[sparse::random] a density of " + std::to_string(density) + ": a number from 0 to 1 is wanted");
    const index_t count = std::llround(density * static_cast<double>(rows * columns));
    if (count == 0) return csr<T, I>({rows, columns});
    return csr_of<T, I>("sparse::random",
                        triplets<T>{drawn_values<T>(count), distinct_below(rows * columns, count), e});
}

/// On a GPU all products are computed, sorted, and added: each entry of a stands for as many as b has entries in the
/// row that the entry's column names.
template <sparse_element T, sparse_index I>
csr<T, I> matmul(const csr<T, I>& a, const csr<T, I>& b, const source_place& here) {
    const detail::in_statement of_the_user(here);
    const shape_like x = a.shape(), y = b.shape();
    if (x[1] != y[0])
        throw shape_error("[matmul] sparse matrices of shapes " + detail::to_text(x.values()) + " and " +
                          detail::to_text(y.values()) + ": as many rows are wanted as the first has columns");
    const matrix_extents e = extents_of("matmul", {x[0], y[1]});
    const with_device there(a.device());
    const index_t entries = a.nnz();
    if (entries == 0 || b.nnz() == 0) return csr<T, I>({e.rows, e.columns});
    // A thread of the host has a dense row, which is not to be larger than the operands by far.
    if (a.device().is_host() && e.columns <= 16 * (entries + b.nnz()) + 65536) {
        check_one_device("matmul", a.values(), b.values());
        return multiplied_on_host("matmul", a, b);
    }
    const array<index_t> row_of_b(astype<index_t>(a.indices()));
    const array<index_t> starts = elements_at(array<index_t>(astype<index_t>(b.indptr())), row_of_b);
    const array<index_t> ends = elements_at(array<index_t>(astype<index_t>(b.indptr())), array<index_t>(row_of_b + 1));
    array<index_t> offsets = zeros<index_t>(entries + 1);
    offsets(slice(1, none)) = cumsum(ends - starts);
    const index_t products = offsets(entries).item();
    if (products == 0) return csr<T, I>({e.rows, e.columns});
    const array<index_t> product = numbers_to(products, a.device()), of_a = rows_of_entries(offsets, products);
    const array<index_t> of_b(elements_at(array<index_t>(starts - offsets(slice(0, entries))), of_a) + product);
    const array<index_t> rows = elements_at(rows_of_entries(a.indptr(), entries), of_a);
    const array<index_t> columns = elements_at(array<index_t>(astype<index_t>(b.indices())), of_b);
    return csr_of<T, I>("matmul", summed(array<T>(elements_at(a.values(), of_a) * elements_at(b.values(), of_b)),
                                         keys_of_places(rows, columns, e), e));
}

#define INGOT_BUILDING(T, I)                                                                             \
    template INGOT_API csr<T, I> eye<T, I>(index_t, index_t, index_t);                                   \
    template INGOT_API csr<T, I> diags<T, I>(const std::vector<array<T>>&, const std::vector<index_t>&,  \
                                             const shape_like&);                                         \
    template INGOT_API csr<T, I> diags<T, I>(const std::vector<array<T>>&, const std::vector<index_t>&); \
    template INGOT_API csr<T, I> kron(const csr<T, I>&, const csr<T, I>&);                               \
    template INGOT_API csr<T, I> stacked(const char*, std::span<const csr<T, I>>, int);                  \
    template INGOT_API csr<T, I> random<T, I>(index_t, index_t, double);                                 \
    template INGOT_API csr<T, I> matmul(const csr<T, I>&, const csr<T, I>&, const source_place&);
INGOT_SPARSE_TYPES(INGOT_BUILDING)

}  // namespace ingot::sparse
