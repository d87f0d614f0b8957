// NumPy's names of views, joins and grids, each with a call that it takes.
#include <doctest/doctest.h>

#include <string>
#include <tuple>
#include <vector>

#include <ingot/ingot.hpp>

using namespace ingot;

namespace {

struct one_name {
    std::string name;
    bool is_declared;
};

/// All arguments depend on the template's, so that an undeclared name is an invalid call and not an error.
template <class A, class I, class S>
std::vector<one_name> names() {
    const auto first = [](const auto& a, const auto&) { return a; };
    using F = decltype(first);
#define NAME(name, ...)                                                                           \
    {                                                                                             \
        #name, requires(A x, A v, const I i, const S s, const slice all_of, F f) { __VA_ARGS__; } \
    }
    return {
        NAME(T, x.T()),
        NAME(transpose, transpose(x)),
        NAME(permute_dims, permute_dims(x, {1, 0})),
        NAME(swapaxes, swapaxes(x, 0, 1)),
        NAME(moveaxis, moveaxis(x, 0, 1)),
        NAME(rollaxis, rollaxis(x, 1)),
        NAME(mT, mT(x)),
        NAME(matrix_transpose, matrix_transpose(x)),
        NAME(flip, flip(x)),
        NAME(fliplr, fliplr(x)),
        NAME(flipud, flipud(x)),
        NAME(rot90, rot90(x)),
        NAME(squeeze, squeeze(x)),
        NAME(expand_dims, expand_dims(x, 0)),
        NAME(atleast_1d, atleast_1d(x)),
        NAME(atleast_2d, atleast_2d(x)),
        NAME(atleast_3d, atleast_3d(x, v)),
        NAME(broadcast_to, broadcast_to(x, s)),
        NAME(broadcast_arrays, broadcast_arrays(x, v)),
        NAME(reshape, reshape(x, s)),
        NAME(ravel, ravel(x)),
        NAME(flatten, flatten(x)),
        NAME(diagonal, diagonal(x)),
        NAME(sliding_window_view, sliding_window_view(x, {2, 2})),
        NAME(as_strided, as_strided(x, {2}, {8})),
        NAME(split, split(x, 2)),
        NAME(array_split, array_split(x, {1, 2})),
        NAME(hsplit, hsplit(x, 2)),
        NAME(vsplit, vsplit(x, 2)),
        NAME(dsplit, dsplit(x, 2)),
        NAME(concatenate, concatenate({x, v}, 1)),
        NAME(stack, stack(std::tuple{x, v})),
        NAME(hstack, hstack(std::vector{x, v})),
        NAME(vstack, vstack({x, v})),
        NAME(dstack, dstack({x, v})),
        NAME(column_stack, column_stack({x, v})),
        NAME(append, append(x, v, 0)),
        NAME(tile, tile(x, {2, 2})),
        NAME(repeat, repeat(x, 2, 1)),
        NAME(roll, roll(x, 1)),
        NAME(pad, pad(x, {{1, 2}, {0, 1}}, pad_mode::edge)),
        NAME(insert, insert(x, {1, 2}, 5)),
        NAME(delete_elements, delete_elements(x, all_of)),
        NAME(trim_zeros, trim_zeros(v)),
        NAME(meshgrid, meshgrid(v, v, ij_indexing, sparse_grid)),
        NAME(mgrid, mgrid(all_of, all_of)),
        NAME(ogrid, ogrid(all_of, all_of)),
        NAME(indices, indices(s)),
        NAME(ix_, ix_(i, i)),
        NAME(tri, tri(s[0])),
        NAME(tril, tril(x)),
        NAME(triu, triu(x)),
        NAME(diag, diag(x)),
        NAME(diagflat, diagflat(x)),
        NAME(vander, vander(v)),
        NAME(fromfunction, fromfunction(f, {2, 3})),
        NAME(unravel_index, unravel_index(i, s)),
        NAME(ravel_multi_index, ravel_multi_index(std::tuple{i, i}, s)),
        NAME(eye, eye(s[0])),
        NAME(arange, arange(s[0])),
        NAME(linspace, linspace(0, 1, s[0])),
        NAME(convolve, convolve(v, v)),
        NAME(correlate, correlate(v, v)),
        NAME(cov, cov(x)),
        NAME(corrcoef, corrcoef(x)),
    };
#undef NAME
}

}  // namespace

TEST_CASE("views, joins and grids have NumPy's names") {
    for (const one_name& n : names<array<double>&, array<int>, shape_like>()) CHECK_MESSAGE(n.is_declared, n.name);
}
