// Products of matrices against sums of products, which round nothing here: small integers.
#include <doctest/doctest.h>

#include "tests/arrays/expect.hpp"
#include "tests/linalg/has_blas.hpp"
#include "tests/walls/count.hpp"

using namespace ingot;

namespace {

template <class T>
array<T> matrix(index_t rows, index_t columns, int modulus) {
    return astype<T>(reshape(arange<int>(static_cast<int>(rows * columns)) % modulus - modulus / 2, {rows, columns}));
}
template <class A, class B>
auto by_sums(const A& a, const B& b) {
    return sum(a(ellipsis, newaxis) * b(ellipsis, newaxis, all, all), -2);
}
template <class A, class B>
bool same(const A& a, const B& b) {
    return a.shape() == b.shape() && all(a == b).item();
}

}  // namespace

TEST_CASE_TEMPLATE("products of every type, of vectors, transposed and computed operands", T, float, double, float16,
                   bfloat16, std::complex<float>, std::complex<double>, int, std::int8_t, std::uint64_t) {
    if (!test::has_blas()) return;
    const std::array<index_t, 3> sizes[] = {{5, 7, 3}, {1, 7, 3}, {5, 1, 3}, {5, 7, 1}, {1, 1, 1}, {16, 32, 8}};
    for (const std::array<index_t, 3>& size : sizes) {
        const index_t m = size[0], k = size[1], n = size[2];
        CAPTURE(m);
        CAPTURE(k);
        CAPTURE(n);
        const array<T> a = matrix<T>(m, k, 7), b = matrix<T>(k, n, 5);
        const array<T> wanted = astype<T>(by_sums(a, b)), down = transpose(a), across = transpose(b);
        CHECK(same(array<T>(matmul(a, b)), wanted));
        CHECK(same(array<T>(matmul(transpose(down), b)), wanted));
        CHECK(same(array<T>(matmul(a, transpose(across))), wanted));
        CHECK(same(array<T>(matmul(transpose(down), transpose(across) + b)), array<T>(wanted + wanted)));
        CHECK(same(array<T>(matmul(a, b(all, 0))), array<T>(wanted(all, 0))));
        CHECK(same(array<T>(matmul(a(0), b)), array<T>(wanted(0))));
        CHECK(same(array<T>(matmul(a(0), b(all, 0))), array<T>(wanted(0, 0))));
        CHECK(same(array<T>(matmul(a(slice(none, none, -1)), b)), array<T>(wanted(slice(none, none, -1)))));
    }
}

TEST_CASE("batches broadcast, and a product is one call between fused kernels") {
    if (!test::has_blas()) return;
    const array<float> x = reshape(matrix<float>(24, 5, 11), {2, 3, 4, 5}),
                       y = reshape(matrix<float>(15, 2, 3), {3, 5, 2});
    CHECK(same(array<float>(matmul(x, y)), array<float>(sum(x(ellipsis, newaxis) * y(all, newaxis, all, all), -2))));
    CHECK(same(array<float>(matmul(x(1, 2), y)), array<float>(by_sums(x(1, 2), y))));
    CHECK(same(array<float>(matmul(permute_dims(x, {1, 0, 2, 3}), y(all, newaxis))),
               array<float>(permute_dims(array<float>(matmul(x, y)), {1, 0, 2, 3}))));
    const array<float> a = matrix<float>(4, 5, 7), b = matrix<float>(5, 3, 5);
    const std::uint64_t before = counters().library_calls;
    array<float> r;
    CHECK(launches([&] { r = matmul(a + 1, b) * 2 + 1; }) == 2);
    CHECK(counters().library_calls == before + 1);
    CHECK(same(r, array<float>(by_sums(a + 1, b) * 2 + 1)));
    array<float> again = r;
    again(all, slice(1, none)) += matmul(a, b)(all, slice(1, none));
    CHECK(same(array<float>(again(all, 0)), array<float>(r(all, 0))));
    CHECK(same(array<double>(matmul(a, astype<double>(b))), array<double>(by_sums(a, b))));
    CHECK(all(matmul(zeros<float>({2, 0}), zeros<float>({0, 3})) == 0).item());
    CHECK(matmul(zeros<float>({0, 4}), ones<float>({4, 3})).shape() == shape_like{0, 3});
}

TEST_CASE("products with a vector and small ones are part of the kernel around them, and no library is asked") {
    const std::uint64_t before = counters().library_calls;
    const array<float> m = matrix<float>(30, 50, 7), v = matrix<float>(50, 1, 5)(all, 0), w = v(slice(0, 30)),
                       small = matrix<float>(3, 3, 5), stack = reshape(matrix<float>(60, 3, 7), {60, 1, 3});
    array<float> r;
    CHECK(launches([&] { r = matmul(m, v + 1) * 2; }) == 1);
    CHECK(same(r, array<float>(sum(m * (v + 1), 1) * 2)));
    CHECK(same(array<float>(matmul(w, m)), array<float>(sum(w(all, newaxis) * m, 0))));
    CHECK(same(array<float>(matmul(transpose(m), w)), array<float>(sum(w(all, newaxis) * m, 0))));
    CHECK(same(array<float>(matmul(stack, small)), array<float>(by_sums(stack, small))));
    CHECK(launches([&] { eval(exp(matmul(stack, small) + 1)); }) == 1);
    CHECK(counters().library_calls == before);
}

TEST_CASE("matrices that do not fit are refused where the product is written") {
    const array<float> a = ones<float>({2, 3});
    CHECK(thrown<shape_error>([&] { (void)matmul(a, a); }).find("[matmul] shapes (2, 3) and (2, 3) do not fit") == 0);
    const array<float> v = zeros<float>(2);
    CHECK(thrown<shape_error>([&] { (void)matmul(a, v); }) ==
          "[matmul] shapes (2, 3) and (2,) do not fit: axis 1 of the first has to be as long as axis 0 of the second");
    CHECK(thrown<shape_error>([&] { (void)matmul(v(newaxis, 0), a); }) ==
          "[matmul] shapes (1,) and (2, 3) do not fit: axis 0 of the first has to be as long as axis 0 of the second");
    CHECK_THROWS_AS((void)matmul(a, array<float>{1, 2}), shape_error);
    CHECK_THROWS_AS((void)matmul(ones<float>({2, 2, 3}), ones<float>({3, 3, 2})), shape_error);
    CHECK_THROWS_AS((void)matmul(ones<int>({2, 3}), ones<int>({2, 3})), shape_error);
    CHECK_THROWS_AS((void)matmul(full<float>({}, 1), a), shape_error);
}
