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
#include <ingot/core/lazy.hpp>
#include <ingot/core/random.hpp>
#include <ingot/core/scans.hpp>
#include <ingot/core/scatter.hpp>
#include <ingot/distributions.hpp>
#include <ingot/sorting.hpp>
#include <ingot/sparse/products.hpp>

#include "runtime/sparse/triplets.hpp"
#include "runtime/system/number_text.hpp"

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

/// Parts below each other; or along the diagonal, where each begins right of the one before.
template <class T, class I>
csr<T, I> parts_below(std::span<const csr<T, I>> parts, const matrix_extents& e, index_t entries, bool moves_right) {
    std::vector<array<T>> values;
    std::vector<lazy<I>> indices, starts;
    I entry = 0, column = 0;
    for (const csr<T, I>& part : parts) {
        values.push_back(part.values());
        indices.push_back(part.indices() + column);
        starts.push_back(part.indptr()(slice(none, -1)) + entry);
        entry += static_cast<I>(part.nnz());
        if (moves_right) column += static_cast<I>(part.shape()[1]);
    }
    starts.push_back(full<I>({1}, static_cast<I>(entries)));
    return csr<T, I>(typename csr<T, I>::sorted{}, array<T>(concatenate(values)), array<I>(concatenate(indices)),
                     array<I>(concatenate(starts)), e.rows, e.columns);
}

/// The new number of each entry, where those of row i move by moves(i): the steps from entry to entry are added.
template <class I>
array<index_t> moved_entries(const array<I>& indptr, const array<index_t>& moves, index_t entries) {
    array<index_t> steps = ones<index_t>(entries + 1);
    steps(0) = moves(0);
    if (moves.size() > 1) scatter_add(steps(indptr(slice(1, -1))), diff(moves));
    return array<index_t>(cumsum(steps(slice(0, entries))));
}

/// Parts side by side. An entry moves behind those of all parts in the rows above, and of the parts before in its row.
template <class T, class I>
csr<T, I> parts_beside(std::span<const csr<T, I>> parts, const matrix_extents& e, index_t entries) {
    array<T> values = empty<T>({entries});
    array<I> indices = empty<I>({entries}), starts = zeros<I>(e.rows + 1);
    for (const csr<T, I>& part : parts) starts += part.indptr();
    array<index_t> before(starts(slice(none, -1)));
    index_t column = 0;
    for (const csr<T, I>& part : parts) {
        const array<I>& own = part.indptr();
        if (part.nnz() != 0) {
            const array<index_t> places = moved_entries(own, array<index_t>(before - own(slice(none, -1))), part.nnz());
            values(places) = part.values();
            indices(places) = part.indices() + static_cast<I>(column);
        }
        before += own(slice(1, none)) - own(slice(none, -1));
        column += part.shape()[1];
    }
    return csr<T, I>(typename csr<T, I>::sorted{}, std::move(values), std::move(indices), std::move(starts), e.rows,
                     e.columns);
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
                          std::to_string(offsets.size()) +
                          " offsets were given; one offset for each diagonal is wanted");
    if (diagonals.empty()) return csr<T, I>(shape);
    const device where = diagonals[0].device();
    std::vector<array<T>> values;
    std::vector<array<index_t>> keys;
    for (std::size_t i = 0; i < diagonals.size(); ++i) {
        const index_t count = places_of_diagonal(e, offsets[i]).count;
        const array<T>& given = diagonals[i];
        if (given.ndim() != 1 || (given.size() != count && given.size() != 1))
            throw_unequal("sparse::diags", "a diagonal", given.shape(),
                          "a vector of length " + std::to_string(count) + " or 1 is wanted at offset " +
                              std::to_string(offsets[i]));
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
    const shape_like x = a.shape(), y = b.shape();
    const matrix_extents e = extents_of("sparse::kron", {x[0] * y[0], x[1] * y[1]});
    check_width<I>("sparse::kron", e, a.nnz() * b.nnz());
    if (a.nnz() == 0 || b.nnz() == 0) {
        const with_device there(a.device());
        return csr<T, I>({e.rows, e.columns});
    }
    // Row i of a and row k of b make row i * b.rows + k, in which a's entries follow each other, each with all of b's.
    const with_device there(a.device());
    const auto by_entry = [](const csr<T, I>& of) {
        const array<index_t> row = rows_of_entries(of.indptr(), of.nnz()), starts(of.indptr());
        const array<index_t> first = elements_at(starts, row);
        return std::tuple(first, array<index_t>(elements_at(starts, array<index_t>(row + 1)) - first),
                          array<index_t>(numbers_to(of.nnz(), of.device()) - first));
    };
    const auto [first, count, number] = by_entry(a);
    const auto [first_of_b, count_of_b, number_of_b] = by_entry(b);
    const array<index_t> places(ravel(first(all, newaxis) * b.nnz() + count(all, newaxis) * first_of_b +
                                      number(all, newaxis) * count_of_b + number_of_b));
    array<T> values = empty<T>({places.size()});
    array<I> indices = empty<I>({places.size()});
    values(places) = ravel(a.values()(all, newaxis) * b.values());
    indices(places) = ravel(a.indices()(all, newaxis) * static_cast<I>(y[1]) + b.indices());
    const array<index_t> starts(a.indptr()), starts_of_b(b.indptr());
    const auto of_row = starts(slice(none, -1));
    array<I> indptr = full<I>({e.rows + 1}, static_cast<I>(places.size()));
    indptr(slice(none, -1)) =
        ravel(of_row(all, newaxis) * b.nnz() + diff(starts)(all, newaxis) * starts_of_b(slice(none, -1)));
    return csr<T, I>(typename csr<T, I>::sorted{}, std::move(values), std::move(indices), std::move(indptr), e.rows,
                     e.columns);
}

template <sparse_element T, sparse_index I>
csr<T, I> stacked(const char* operation, std::span<const csr<T, I>> parts, int axis) {
    if (parts.empty())
        throw shape_error("[" + std::string(operation) + "] no matrix was given; one or more are wanted");
    index_t rows = 0, columns = 0, entries = 0;
    for (const csr<T, I>& part : parts) {
        const shape_like own = part.shape(), first = parts.front().shape();
        if (axis < 2 && own[1 - axis] != first[1 - axis])
            throw shape_error("[" + std::string(operation) + "] shapes " + detail::to_text(first.values()) + " and " +
                              detail::to_text(own.values()) + " were given; matrices with as many " +
                              (axis == 0 ? "columns" : "rows") + " as the first are wanted");
        rows = axis == 1 ? own[0] : rows + own[0];
        columns = axis == 0 ? own[1] : columns + own[1];
        entries += part.nnz();
    }
    const matrix_extents e = extents_of(operation, {rows, columns});
    check_width<I>(operation, e, entries);
    const with_device there(parts.front().device());
    return axis == 1 ? parts_beside(parts, e, entries) : parts_below(parts, e, entries, axis == 2);
}

template <sparse_element T, sparse_index I>
csr<T, I> random(index_t rows, index_t columns, double density) {
    const matrix_extents e = extents_of("sparse::random", {rows, columns});
    if (!(density >= 0 && density <= 1))
        throw error("[sparse::random] the density is " + runtime::number_text(density) +
                    "; a number from 0 to 1 is wanted");
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
                          detail::to_text(y.values()) + " were given; a second matrix with " + std::to_string(x[1]) +
                          " rows is wanted, as many as the first has columns");
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
