// A vector added to each row of a product: cublasLt adds it in the product's call for halves and in TF32. The values
// are small integers, so that nothing is rounded unless a test says so.
#include <string>

#include "runtime/linalg/matrix_product.hpp"
#include "tests/arrays/expect.hpp"
#include "tests/linalg/has_blas.hpp"

using namespace ingot;

namespace {

/// Values from -2 to 2.
template <class T>
array<T> small_integers(const shape_like& shape, int step) {
    index_t n = 1;
    for (const index_t extent : shape) n *= extent;
    return astype<T>(reshape((arange<int>(static_cast<int>(n)) * step + step / 2) % 5 - 2, shape));
}
template <class A, class B>
array<int> summed_products(const A& a, const B& b) {
    return sum(astype<int>(a)(ellipsis, newaxis) * astype<int>(b)(ellipsis, newaxis, all, all), -2);
}

/// Whether an expression is one call of a library that adds, and no kernel.
template <class E>
bool adds_in_call(const E& e) {
    const explanation what = explain(e);
    return what.kernels.size() == 1 && what.kernels[0].kind == step_kind::library_call &&
           what.kernels[0].reason.find(", the bias added in the call") != std::string::npos;
}

bool can_add_in_call() { return current_device().is_cuda() && runtime::has_cublas_lt(); }

}  // namespace

TEST_CASE_TEMPLATE("a product and a vector are one call in halves and TF32", T, float16, bfloat16, float) {
    if (!test::has_blas()) return;
    const with_math g(tf32);
    const bool in_call = can_add_in_call();
    const array<T> a = small_integers<T>({6, 8}, 3), b = small_integers<T>({8, 16}, 7),
                   bias = small_integers<T>({16}, 9) * 2;
    const array<T> down = transpose(a), across = transpose(b);
    const array<int> wanted = summed_products(a, b) + astype<int>(bias);
    const auto expect = [&](const auto& e, const array<int>& numbers) {
        CHECK(adds_in_call(e) == in_call);
        CHECK(array_equal(astype<int>(array<T>(e)), numbers).item());
    };
    expect(matmul(a, b) + bias, wanted);
    expect(bias + matmul(transpose(down), transpose(across)), wanted);
    const array<T> stack = small_integers<T>({3, 6, 8}, 11);
    expect(matmul(stack, b) + bias, summed_products(stack, b) + astype<int>(bias));
    expect(reshape(matmul(a, b) + bias, {2, 3, 16}), reshape(wanted, {2, 3, 16}));
    // The result is a part of an array with a larger row stride.
    array<T> whole = zeros<T>({6, 24});
    whole(all, slice(0, 16)) = matmul(a, b) + bias;
    CHECK(array_equal(astype<int>(whole(all, slice(0, 16))), wanted).item());
    CHECK(!any(whole(all, slice(16, none))).item());
    // cublasLt may have no kernel for rows like these.
    const array<T> odd = b(all, slice(0, 15)), of_odd = bias(slice(0, 15));
    expect(matmul(a, odd) + of_odd, wanted(all, slice(0, 15)));
    expect(matmul(stack, odd) + of_odd, (summed_products(stack, b) + astype<int>(bias))(ellipsis, slice(0, 15)));
}

TEST_CASE_TEMPLATE("what is no vector along a product's rows is added by a kernel", T, float16, float) {
    if (!test::has_blas()) return;
    const with_math g(tf32);
    const array<T> a = small_integers<T>({16, 8}, 3), b = small_integers<T>({8, 16}, 7),
                   bias = small_integers<T>({32}, 9);
    const array<int> product = summed_products(a, b), vector = astype<int>(bias);
    const auto expect = [&](const auto& e, const array<int>& numbers) {
        CHECK(!adds_in_call(e));
        CHECK(array_equal(astype<int>(array<T>(e)), numbers).item());
    };
    const auto row = slice(0, 16);
    expect(matmul(a, b) + bias(row, newaxis), product + vector(row, newaxis));
    expect(transpose(matmul(a, b)) + bias(row), transpose(product) + vector(row));
    expect(matmul(a, b) + bias(slice(0, 32, 2)), product + vector(slice(0, 32, 2)));
    expect(matmul(a, b) + bias(slice(1, 17)), product + vector(slice(1, 17)));
    expect(matmul(a, b) + b(0, 0), product + astype<int>(b(0, 0)));
    expect(matmul(a, b(all, slice(0, 1))) + bias(row, newaxis), product(all, slice(0, 1)) + vector(row, newaxis));
    expect(matmul(a, b) + a(all, newaxis, 0), product + astype<int>(a(all, newaxis, 0)));
    const array<T> matrix = small_integers<T>({16, 16}, 11);
    expect(matmul(a, b) + matrix, product + astype<int>(matrix));
    expect(maximum(matmul(a, b) + bias(row), 0), maximum(product + vector(row), 0));
    // Reshapes whose rows are several rows of the product, or parts of one.
    expect(reshape(matmul(a, b), {8, 32}) + bias, reshape(product, {8, 32}) + vector);
    expect(reshape(matmul(a, b), {32, 8}) + bias(slice(0, 8)), reshape(product, {32, 8}) + vector(slice(0, 8)));
    expect(ravel(matmul(a(slice(0, 2)), b)) + bias, reshape(product(slice(0, 2)), {32}) + vector);
    // Two users, and a result that is the vector itself.
    const auto shared = matmul(a, b);
    const auto [with, without] = eval(shared + bias(row), shared);
    CHECK(array_equal(astype<int>(with), product + vector(row)).item());
    CHECK(array_equal(astype<int>(without), product).item());
    const auto sum_of_both = matmul(a, b) + bias(row);
    const auto [once, twice] = eval(sum_of_both, sum_of_both * 2);
    CHECK(array_equal(astype<int>(once), product + vector(row)).item());
    CHECK(array_equal(astype<int>(twice), 2 * (product + vector(row))).item());
    array<T> own = small_integers<T>({1, 16}, 9);
    const array<int> before = astype<int>(own);
    own(all, all) = matmul(a(slice(0, 1)), b) + own;
    CHECK(array_equal(astype<int>(own), product(slice(0, 1)) + before).item());
}

TEST_CASE("a product and a vector are rounded once in a call, and each in strict mathematics") {
    if (!test::has_blas()) return;
    // 2049 lies between two float16, and so does not 2050.
    const array<float16> a = ones<float16>({2, 8}), bias = ones<float16>({8});
    array<float16> b = full<float16>({8, 8}, float16(256));
    b(0) = float16(257);
    const auto e = matmul(a, b) + bias;
    if (can_add_in_call()) {
        CHECK(adds_in_call(e));
        CHECK(all(astype<float>(array<float16>(e)) == 2050).item());
    }
    const with_math g(strict);
    CHECK(!adds_in_call(e));
    CHECK(all(astype<float>(array<float16>(e)) == 2048).item());
    const array<float> single = ones<float>({8, 8});
    CHECK(!adds_in_call(matmul(single, single) + single(0)));
}
