// Systems solved by factors, tensor equations and matrix exponentials, built from triangular solvers and products.
#include <ingot/linalg/matrix_functions.hpp>

#include <limits>
#include <numeric>
#include <string>

#include <ingot/core/error.hpp>
#include <ingot/ingot.hpp>

namespace ingot::detail {

namespace {

/// The original index of each row of a matrix after the exchanges, done in order: (..., rows) from pivots (..., k).
array<std::int64_t> rows_exchanged(const array<std::int64_t>& pivots, index_t rows) {
    const shape_like given = pivots.shape();
    std::vector<index_t> shape(given.begin(), given.end());
    const auto k = static_cast<std::size_t>(shape.back());
    shape.back() = rows;
    index_t matrices = 1;
    for (std::size_t j = 0; j + 1 < shape.size(); ++j) matrices *= shape[j];
    const std::vector<std::int64_t> exchanged = pivots.to_host();
    std::vector<std::int64_t> from(static_cast<std::size_t>(matrices * rows));
    for (std::size_t i = 0; i < static_cast<std::size_t>(matrices); ++i) {
        std::int64_t* const own = from.data() + i * static_cast<std::size_t>(rows);
        std::iota(own, own + rows, 0);
        for (std::size_t j = 0; j < k; ++j) std::swap(own[j], own[exchanged[i * k + j]]);
    }
    return asarray<std::int64_t>(from, shape).to(pivots.device());
}

index_t product_of_extents(std::span<const index_t> extents) {
    index_t n = 1;
    for (const index_t extent : extents) n *= extent;
    return n;
}

}  // namespace

void check_trans(const char* operation, int trans) {
    if (trans < 0 || trans > 2)
        throw error("[" + std::string(operation) + "] trans is " + std::to_string(trans) + ": 0, 1 or 2 is wanted");
}

std::vector<std::size_t> cheapest_cuts(std::span<const index_t> extents) {
    const std::size_t n = extents.size() - 1;
    std::vector<double> costs(n * n);
    std::vector<std::size_t> cuts(n * n);
    const auto extent = [&](std::size_t i) { return static_cast<double>(extents[i]); };
    for (std::size_t length = 1; length < n; ++length)
        for (std::size_t i = 0; i + length < n; ++i) {
            const std::size_t j = i + length;
            double least = std::numeric_limits<double>::infinity();
            for (std::size_t cut = i; cut < j; ++cut) {
                const double cost =
                    costs[i * n + cut] + costs[(cut + 1) * n + j] + extent(i) * extent(cut + 1) * extent(j + 1);
                if (cost < least) least = cost, cuts[i * n + j] = cut;
            }
            costs[i * n + j] = least;
        }
    return cuts;
}

void check_chain(std::span<const other_operand> parts) {
    if (parts.size() < 2)
        throw shape_error("[multi_dot] " + std::to_string(parts.size()) + " arrays: two or more are wanted");
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const int rank = parts[i].shape.rank;
        const bool at_an_end = i == 0 || i + 1 == parts.size();
        if (rank != 2 && !(rank == 1 && at_an_end))
            throw shape_error("[multi_dot] array " + std::to_string(i) + " of shape " + to_text(parts[i].shape.span()) +
                              ": a matrix is wanted" + (at_an_end ? ", or a vector" : ""));
    }
}

template <class T>
array<T> matrix_functions<T>::solve_triangular(const char* operation, const array<T>& a, const array<T>& b,
                                               const linalg::triangular_options& how) {
    check_trans(operation, how.trans);
    const bool transposed = how.trans != 0 && a.ndim() >= 2;
    const lazy<T> read = !transposed ? lazy<T>(a) : how.trans == 1 ? lazy<T>(mT(a)) : adjoint(lazy<T>(a));
    const bool upper = how.lower == transposed;
    return solved<T, T>(operation, solver::triangular, (upper ? 1 : 0) + (how.unit_diagonal ? 2 : 0), 0, read, b);
}

template <class T>
array<T> matrix_functions<T>::solve_by_cholesky(const array<T>& c, const array<T>& b, bool lower) {
    const array<T> y = solve_triangular("cho_solve", c, b, {.lower = lower, .trans = lower ? 0 : 2});
    return solve_triangular("cho_solve", c, y, {.lower = lower, .trans = lower ? 2 : 0});
}

template <class T>
array<T> matrix_functions<T>::solve_by_lu(const factors& lu, const array<T>& b, int trans) {
    const char* const operation = "lu_solve";
    check_trans(operation, trans);
    const array<T>& packed = std::get<0>(lu);
    shape_room room;
    check_square(operation, extents_ref::of(shape_like(packed.shape()).values()));
    const shape_like given = b.shape();
    const index_t n = packed.shape()[packed.ndim() - 1];
    const bool vector = given.count() == 1;
    if (given.count() == 0 || given[given.count() - (vector ? 1 : 2)] != n)
        throw shape_error("[lu_solve] factors of shape " + to_text(shape_like(packed.shape()).values()) +
                          " and a right side of shape " + to_text(given.values()) +
                          ": the second has to have as many rows as the first");
    const lazy<T> columns = vector ? lazy<T>(expand_dims(b, -1)) : lazy<T>(b);
    // Rows of both batches together.
    const array<std::int64_t> from = rows_exchanged(std::get<1>(lu), n);
    const shape_like of_sides = columns.shape(), of_rows = from.shape();
    std::vector<index_t> batch(of_rows.begin(), of_rows.end() - 1), sides_batch(of_sides.begin(), of_sides.end() - 2);
    const extents_ref batches[] = {extents_ref::of(batch), extents_ref::of(sides_batch)};
    int rank = 0;
    broadcast_shapes(operation, batches, 2, room, rank);
    std::vector<index_t> whole(room, room + rank);
    whole.insert(whole.end(), {n, of_sides[of_sides.count() - 1]});
    const auto permuted = [&](const lazy<T>& e, const lazy<std::int64_t>& by) {
        return array<T>(
            take_along_axis<unchecked_mode>(broadcast_to(e, whole), broadcast_to(expand_dims(by, -1), whole), -2));
    };
    const auto triangles = [&](const array<T>& e, bool lower) {
        return solve_triangular(operation, packed, e, {.lower = lower, .trans = trans, .unit_diagonal = lower});
    };
    const array<T> x = trans == 0 ? triangles(triangles(permuted(columns, from), true), false)
                                  : permuted(triangles(triangles(array<T>(columns), false), true), argsort(from));
    return vector ? array<T>(x(ellipsis, 0)) : x;
}

template <class T>
auto matrix_functions<T>::lu(const array<T>& a) -> std::tuple<array<R>, array<T>, array<T>> {
    const auto [packed, pivots] = solved<T, T, std::int64_t>("lu", solver::lu, 0, 0, a);
    const index_t rows = packed.shape()[packed.ndim() - 2], lesser = pivots.shape()[pivots.ndim() - 1];
    const with_device there(packed.device());
    const array<std::int64_t> from = rows_exchanged(pivots, rows);
    const array<std::int64_t> each = arange<std::int64_t>(rows);
    return {array<R>(astype<R>(expand_dims(each, -1) == expand_dims(from, -2))),
            array<T>(tril(packed(ellipsis, all, slice(0, lesser)), -1) + eye<T>(rows, lesser)),
            array<T>(triu(packed(ellipsis, slice(0, lesser), all)))};
}

template <class T>
array<T> matrix_functions<T>::inverse_triangle(const array<T>& a, bool lower) {
    shape_room room;
    check_square("tri_inv", as_node(a).extents(room));
    const with_device there(a.device());
    return solve_triangular("tri_inv", a, identity<T>(a.shape()[a.ndim() - 1]), {.lower = lower});
}

template <class T>
array<T> matrix_functions<T>::exponential(const array<T>& a) {
    shape_room room;
    check_square("expm", as_node(a).extents(room));
    if (a.size() == 0) return a;
    const with_device there(a.device());
    // Below this norm the approximant is as exact as float64.
    constexpr double most = 5.371920351148152;
    const array<R> norms = max(sum(abs(a), -2), -1);
    const array<int> halvings =
        astype<int>(where(isfinite(norms), maximum(ceil(log2(astype<double>(norms) / most)), 0), 0));
    const auto of_each = expand_dims(halvings, axes{-1, -2});
    const array<T> x = a * astype<R>(exp2(-astype<double>(of_each)));
    const array<T> x2 = matmul(x, x), x4 = matmul(x2, x2), x6 = matmul(x2, x4);
    const array<T> one = identity<T>(a.shape()[a.ndim() - 1]);
    const auto b = [](double coefficient) { return static_cast<R>(coefficient / 64764752532480000.0); };
    const array<T> odd =
        matmul(x, array<T>(matmul(x6, array<T>(b(1) * x6 + b(16380) * x4 + b(40840800) * x2)) + b(33522128640) * x6 +
                           b(10559470521600) * x4 + b(1187353796428800) * x2 + b(32382376266240000) * one));
    const array<T> even = matmul(x6, array<T>(b(182) * x6 + b(960960) * x4 + b(1323241920) * x2)) +
                          b(670442572800) * x6 + b(129060195264000) * x4 + b(7771770303897600) * x2 + one;
    array<T> made = linalg::solve(even - odd, even + odd);
    const int squarings = max(halvings).item();
    for (int k = 0; k < squarings; ++k) made = array<T>(where(of_each > k, matmul(made, made), made));
    return made;
}

template <class T>
array<T> matrix_functions<T>::tensorsolve(const array<T>& a, const array<T>& b, const axes& last) {
    std::vector<index_t> order;
    std::vector<bool> is_last(static_cast<std::size_t>(a.ndim()));
    std::vector<index_t> named;
    for (const index_t axis : last) {
        const int at = checked_axis("tensorsolve", axis, a.ndim());
        is_last[static_cast<std::size_t>(at)] = true;
        named.push_back(at);
    }
    for (int j = 0; j < a.ndim(); ++j)
        if (!is_last[static_cast<std::size_t>(j)]) order.push_back(j);
    order.insert(order.end(), named.begin(), named.end());
    const lazy<T> turned = permute_dims(a, axes(order));
    const shape_like shape = turned.shape();
    const int of_b = b.ndim();
    const std::span<const index_t> own =
        shape.values().last(static_cast<std::size_t>(shape.count() > of_b ? shape.count() - of_b : 0));
    const index_t n = product_of_extents(own);
    if (n != b.size() || n * n != a.size())
        throw shape_error(
            "[tensorsolve] shapes " + to_text(shape.values()) + " and " + to_text(shape_like(b.shape()).values()) +
            ": the second has to have as many elements as the axes of the first behind those of the second");
    return array<T>(reshape(linalg::solve(reshape(turned, {n, n}), ravel(b)), shape_like(own)));
}

template <class T>
array<T> matrix_functions<T>::tensorinv(const array<T>& a, index_t ind) {
    const shape_like shape = a.shape();
    const std::string of = "[tensorinv] shape " + to_text(shape.values()) + " with ind " + std::to_string(ind) + ": ";
    if (ind <= 0 || ind > shape.count()) throw shape_error(of + "ind has to be from 1 to the number of axes");
    const auto first = shape.values().first(static_cast<std::size_t>(ind)),
               rest = shape.values().subspan(static_cast<std::size_t>(ind));
    const index_t n = product_of_extents(rest);
    if (product_of_extents(first) != n)
        throw shape_error(of + "the first ind axes have to have as many elements as the others");
    std::vector<index_t> turned(rest.begin(), rest.end());
    turned.insert(turned.end(), first.begin(), first.end());
    return array<T>(reshape(linalg::inv(reshape(a, {n, n})), turned));
}

template struct matrix_functions<float>;
template struct matrix_functions<double>;
template struct matrix_functions<std::complex<float>>;
template struct matrix_functions<std::complex<double>>;

}  // namespace ingot::detail
