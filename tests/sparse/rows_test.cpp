// Transposed, joined and multiplied matrices against dense ones: of every type, at the edges, and with long rows.
#include <doctest/doctest.h>

#include <complex>
#include <string>
#include <utility>
#include <vector>

#include <ingot/ingot.hpp>
#include <ingot/sparse.hpp>

using namespace ingot;

namespace {

/// Small integers, whose sums are exact in any order; a complex number has two.
template <class T>
array<T> drawn(const shape_like& shape, double share) {
    const auto numbers = [&] { return array<float>(round(8 * random::uniform<float>(shape) - 4)); };
    const array<bool> chosen = random::uniform<double>(shape) < share;
    if constexpr (detail::complex_number<T>)
        return where(chosen, astype<T>(complex_of(numbers(), numbers())), T(0));
    else
        return where(chosen, astype<T>(numbers()), T(0));
}

template <class T, class I>
void check_is(const sparse::csr<T, I>& made, const array<T>& wanted) {
    CHECK(made.shape() == wanted.shape());
    CHECK(array_equal(made.to_dense(), wanted).item());
    const sparse::csr<T, I> sorted_again(made.values(), made.indices(), made.indptr(), made.shape());
    CHECK(array_equal(sorted_again.indices(), made.indices()).item());
}

template <class T, class I>
void check_all(const shape_like& shape, double share) {
    CAPTURE(shape);
    const index_t m = shape[0], n = shape[1];
    const array<T> x = drawn<T>(shape, share), y = drawn<T>(shape, share), z = drawn<T>({n, 30}, share);
    const sparse::csr<T, I> a(x), b(y), c(z);
    check_is(a.transpose().to_csr(), array<T>(transpose(x)));
    CHECK(a.transpose().to_csr().nnz() == a.nnz());
    check_is(sparse::vstack({a, b, a}), array<T>(concatenate({x, y, x}, 0)));
    check_is(sparse::hstack({a, b, a}), array<T>(concatenate({x, y, x}, 1)));
    array<T> along = zeros<T>({m + n, n + 30});
    along(slice(none, m), slice(none, n)) = x;
    along(slice(m, none), slice(n, none)) = z;
    check_is(sparse::block_diag({a, c}), along);
    const array<T> small = drawn<T>({3, 2}, 0.7);
    const array<T> pairs = x(all, newaxis, all, newaxis) * small(newaxis, all, newaxis, all);
    check_is(kron(a, sparse::csr<T, I>(small)), array<T>(reshape(pairs, {m * 3, n * 2})));
    if constexpr (!detail::complex_number<T>) check_is(matmul(a, c), array<T>(matmul(x, z)));
    const array<T> squares = sum(x(all, newaxis) * y, 2);
    check_is(matmul(a, b.transpose().to_csr()), squares);
}

template <class T, class I>
void check_shapes() {
    for (const shape_like& shape : {shape_like{0, 0}, {0, 5}, {4, 0}, {1, 1}, {1, 70}, {70, 1}, {40, 90}})
        for (const double share : {0.0, 0.05, 0.6}) check_all<T, I>(shape, share);
}

}  // namespace

TEST_CASE("transposed, joined and multiplied matrices have the elements of dense ones, sorted") {
    random::seed(8);
    check_shapes<float, std::int32_t>();
    if (current_device().is_cuda()) return check_all<std::complex<double>, std::int64_t>({40, 90}, 0.1);
    check_shapes<double, std::int32_t>();
    check_shapes<std::complex<float>, std::int32_t>();
    check_shapes<std::complex<double>, std::int32_t>();
    check_shapes<float, std::int64_t>();
    check_shapes<double, std::int64_t>();
    check_shapes<std::complex<float>, std::int64_t>();
    check_shapes<std::complex<double>, std::int64_t>();
}

TEST_CASE("rows of thousands of entries, dense and far apart, are joined and multiplied") {
    const index_t columns = current_device().is_cuda() ? 3000 : 200000;
    array<double> x = zeros<double>({5, 9}), y = drawn<double>({9, columns}, 0.001);
    x(2) = 1.0;
    x(4) = arange<double>(9);
    y(3) = drawn<double>({columns}, 0.5);
    y(7) = drawn<double>({columns}, 0.02);
    const sparse::csr<double> a(x), b(y);
    check_is(matmul(a, b), array<double>(matmul(x, y)));
    check_is(sparse::hstack({b, b}), array<double>(concatenate({y, y}, 1)));
    check_is(b.transpose().to_csr(), array<double>(transpose(y)));
}

TEST_CASE("a row's few columns that lie far apart are sorted") {
    if (current_device().is_cuda()) return;
    array<double> y = zeros<double>({3, 1000000});
    y(0, slice(none, none, 33333)) = 1.0;
    y(1) = drawn<double>({1000000}, 0.1);
    y(2, slice(5, none, 50000)) = 3.0;
    const array<double> x{{1, 0, 2}, {0, 1, 0}, {0, 0, 0}};
    check_is(matmul(sparse::csr<double>(x), sparse::csr<double>(y)), array<double>(matmul(x, y)));
}

TEST_CASE("a product of far more columns than entries needs no dense row") {
    const index_t columns = index_t{1} << 40;
    const sparse::csr<double, std::int64_t> a({2}, {1}, {0, 0, 1}, {2, 2}),
        b({3, 4}, {7, columns - 1}, {0, 0, 2}, {2, columns});
    const auto product = matmul(a, b);
    CHECK(product.values().to_host() == std::vector<double>{6, 8});
    CHECK(product.indices().to_host() == std::vector<std::int64_t>{7, columns - 1});
    CHECK(product.indptr().to_host() == std::vector<std::int64_t>{0, 0, 2});
}

TEST_CASE("transpositions and products on the host launch no kernel, joins sort nothing") {
    random::seed(6);
    const sparse::csr<double> a = sparse::random<double>(60, 60, 0.1);
    const auto counted = [](const auto& f) {
        const counter_values before = counters();
        const sparse::csr<double> made = f();
        CHECK(made.nnz() > 0);
        const counter_values now = counters();
        return std::pair(now.kernel_launches - before.kernel_launches, now.library_calls - before.library_calls);
    };
    if (current_device().is_host()) {
        CHECK(counted([&] { return a.transpose().to_csr(); }).first == 0);
        CHECK(counted([&] { return matmul(a, a); }).first == 0);
    }
    CHECK(counted([&] { return sparse::vstack({a, a}); }).second == 0);
    CHECK(counted([&] { return sparse::hstack({a, a}); }).second == 0);
    CHECK(counted([&] { return sparse::block_diag({a, a}); }).second == 0);
    CHECK(counted([&] { return kron(a, a); }).second == 0);
}

TEST_CASE("products that cancel stay entries, and results too large for their indices are refused") {
    const sparse::csr<double> row({1, 1}, {0, 1}, {0, 2}, {1, 2}), column({1, -1}, {0, 0}, {0, 1, 2}, {2, 1});
    CHECK(matmul(row, column).values().to_host() == std::vector<double>{0});
    const index_t half = index_t{1} << 30;
    const sparse::csr<double> wide({1}, {0}, {0, 1}, {1, half - 1}), two = sparse::hstack({wide, wide});
    CHECK(two.shape() == shape_like{1, 2 * half - 2});
    CHECK_THROWS_AS(sparse::hstack({two, wide}), shape_error);
    CHECK_THROWS_AS(sparse::block_diag({two, wide}), shape_error);
    CHECK_THROWS_AS(kron(two, row), shape_error);
}
