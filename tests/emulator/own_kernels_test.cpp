// Kernels whose text is Ingot's own and fixed give on a GPU what the host gives. Where EMULATOR_NVRTC names NVIDIA's
// compiler, each text compiles there, too.
#include <doctest/doctest.h>

#include <complex>
#include <cstdlib>
#include <type_traits>

#include <ingot/ingot.hpp>
#include <ingot/ndimage.hpp>
#include <ingot/sparse.hpp>

#include "tests/joins/numpy_cases.hpp"

namespace ingot {
namespace {

/// f of arrays on the host and on the GPU.
template <class F, class... T>
void check_on_gpu(const F& f, const array<T>&... x) {
    const auto there = [](const auto& result) { return array(result).to(device::host()); };
    const auto here = there(f(x...));
    const auto of_gpu = [&] {
        const with_device gpu(device::cuda(0));
        return there(f(x.to(device::cuda(0))...));
    }();
    CHECK(array_equal(here, of_gpu, true).item());
}

template <class T>
array<T> drawn_on_host(const shape_like& shape, unsigned seed) {
    const with_device host(device::host());
    return testing::drawn<T>(shape, seed);
}

TEST_CASE("rows are sorted: short ones, and those of complex numbers, which no other kernel sorts") {
    const auto sorted = [](const auto& x) { return sort(x); };
    const auto places = [](const auto& x) { return argsort(x); };
    check_on_gpu(sorted, drawn_on_host<float>({5, 70}, 1));
    check_on_gpu(places, drawn_on_host<std::int16_t>({5, 70}, 2));
    check_on_gpu(sorted, drawn_on_host<std::complex<float>>({2, 3000}, 3));
    check_on_gpu(places, drawn_on_host<std::complex<double>>({2, 300}, 4));
}

TEST_CASE("few elements of long rows are selected, and of very long ones after a sample") {
    const auto greatest = [](const auto& x) { return std::get<0>(topk(x, 5)); };
    check_on_gpu(greatest, drawn_on_host<float>({2, 9000}, 5));
    check_on_gpu(greatest, drawn_on_host<double>({40000}, 6));
    check_on_gpu([](const auto& x) { return median(x); }, drawn_on_host<float>({40001}, 7));
}

TEST_CASE("elements that a mask keeps are brought together") {
    check_on_gpu([](const auto& x) { return array(x(x > 0)); }, drawn_on_host<double>({5000}, 8));
    check_on_gpu([](const auto& x) { return nonzero(x)[0]; }, drawn_on_host<int>({3000}, 9));
}

TEST_CASE("float32 numbers are added exactly to many sums") {
    const array<int> at = abs(drawn_on_host<int>({20000}, 10)) % 3000;
    check_on_gpu([](const auto& i, const auto& w) { return bincount(i, w); }, at, drawn_on_host<float>({20000}, 11));
}

TEST_CASE("sparse products by vectors and by matrices") {
    const auto product = []<class T>(const array<T>& a, const array<T>& b) { return matmul(sparse::csr<T>(a), b); };
    check_on_gpu(product, drawn_on_host<double>({40, 30}, 12), drawn_on_host<double>({30}, 13));
    check_on_gpu(product, drawn_on_host<float>({40, 30}, 14), drawn_on_host<float>({30, 7}, 15));
}

TEST_CASE("sums, products and comparisons of sparse matrices") {
    const auto each = []<class T, class I>(const sparse::csr<T, I>& a, const sparse::csr<T, I>& b) {
        array<T> all_of_them = (a + b).to_dense() + (a - b).to_dense() * 3 + multiply(a, b).to_dense() * 5;
        all_of_them += (a != b).to_dense() * 100;
        if constexpr (std::is_floating_point_v<T>) all_of_them += (a < b).to_dense() + (a > b).to_dense() * 10;
        return all_of_them;
    };
    const auto check_type = [&]<class T, class I>(std::type_identity<sparse::csr<T, I>>) {
        const array<T> a = round(drawn_on_host<T>({20, 30}, 20)), b = round(drawn_on_host<T>({20, 30}, 21));
        check_on_gpu([&](const auto& x, const auto& y) { return each(sparse::csr<T, I>(x), sparse::csr<T, I>(y)); }, a,
                     b);
    };
    check_type(std::type_identity<sparse::csr<float>>{});
    check_type(std::type_identity<sparse::csr<double, std::int64_t>>{});
    check_type(std::type_identity<sparse::csr<std::complex<float>>>{});
    check_type(std::type_identity<sparse::csr<std::complex<double>, std::int64_t>>{});
}

TEST_CASE("triangular systems, forwards and backwards") {
    const array<double> x = drawn_on_host<double>({40, 40}, 18) / 16, b = drawn_on_host<double>({40}, 19);
    for (const bool lower : {true, false}) {
        const auto solved = [&](const auto& a, const auto& v) {
            return round(1e6 * spsolve_triangular(sparse::csr<double>(a), v, {.lower = lower, .unit_diagonal = true}));
        };
        check_on_gpu(solved, array<double>(where(abs(x) > 0.2, x, 0.0)), b);
    }
}

TEST_CASE("connected parts along one axis and along three") {
    const auto labels = [](const auto& x) { return ndimage::label(x).labels; };
    check_on_gpu(labels, drawn_on_host<bool>({700}, 16));
    check_on_gpu(labels, drawn_on_host<bool>({9, 11, 40}, 17));
}

}  // namespace
}  // namespace ingot
