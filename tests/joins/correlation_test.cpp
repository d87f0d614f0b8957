// convolve, correlate, cov and corrcoef against NumPy 2.
#include "tests/arrays/expect.hpp"
#include "tests/joins/numpy_cases.hpp"
#include "tests/walls/count.hpp"

using namespace ingot;
using testing::drawn;
using testing::numpy_cases;

namespace {

template <class T>
void slide_dtype(numpy_cases& c, index_t n, index_t m, unsigned seed) {
    const array<T> a = drawn<T>({n}, seed), b = drawn<T>({m}, seed + 1);
    c.add_all(std::tie(a, b),
              {"np.convolve(a, b)", "np.convolve(a, b, 'same')", "np.convolve(a, b, 'valid')", "np.correlate(a, b)",
               "np.correlate(a, b, 'full')", "np.correlate(a, b, 'same')"},
              convolve(a, b), convolve(a, b, convolve_mode::same), convolve(a, b, convolve_mode::valid),
              correlate(a, b), correlate(a, b, convolve_mode::full), correlate(a, b, convolve_mode::same));
}

}  // namespace

TEST_CASE("convolutions and correlations are NumPy's") {
    numpy_cases c;
    c.forgive(4);
    slide_dtype<double>(c, 20, 4, 1);
    slide_dtype<double>(c, 20, 5, 2);
    slide_dtype<double>(c, 3, 12, 3);
    slide_dtype<double>(c, 7, 7, 4);
    slide_dtype<double>(c, 1, 1, 5);
    slide_dtype<int>(c, 9, 4, 6);
    slide_dtype<bool>(c, 9, 3, 9);
    slide_dtype<float16>(c, 9, 3, 10);
    slide_dtype<std::complex<double>>(c, 9, 4, 11);
    const array<int> i = drawn<int>({6}, 13);
    const array<float> f = drawn<float>({3}, 14);
    const array<float> long_one = drawn<float>({700}, 7), window = drawn<float>({90}, 8);
    c.add("np.convolve(a, b)", eval(convolve(long_one, window)), long_one, window);
    c.add("np.convolve(a, b * 2)[::2] + 1", eval(convolve(i, f * 2)(slice(none, none, 2)) + 1), i, f);
    c.run();
}

TEST_CASE("a convolution within is one kernel, and pads first beyond") {
    const array<float> a = drawn<float>({300}, 1), v = drawn<float>({5}, 2);
    CHECK(launches([&] { (void)convolve(a, v); }) == 0);
    CHECK(launches([&] { eval(convolve(a * 2, v, convolve_mode::valid) + 1); }) == 1);
    CHECK(launches([&] { eval(convolve(a, v) + 1); }) == 2);
}

TEST_CASE("covariances and correlations of variables are NumPy's") {
    numpy_cases c;
    c.forgive(16);
    const array<double> m = drawn<double>({3, 20}, 1), x = drawn<double>({20}, 2);
    const array<float> f = drawn<float>({2, 7}, 3);
    const array<std::complex<double>> z = drawn<std::complex<double>>({2, 9}, 4);
    c.add("np.cov(a)", eval(cov(m)), m);
    c.add("np.cov(a, ddof=0)", eval(cov(m, ddof(0))), m);
    c.add("np.cov(a, rowvar=False)", eval(cov(transpose(m))), m);
    c.add("np.cov(a, b)", eval(cov(m, x)), m, x);
    c.add("np.cov(a * 2, a, ddof=3)", eval(cov(x * 2, x, ddof(3))), x);
    c.add("np.cov(a)", eval(cov(x)), x);
    c.add("np.cov(a)", eval(cov(f)), f);
    c.add("np.cov(a)", eval(cov(z)), z);
    c.add("np.cov(a)", eval(cov(m(all, slice(0, 1)))), array<double>(m(all, slice(0, 1))));
    c.add("np.corrcoef(a)", eval(corrcoef(m)), m);
    c.add("np.corrcoef(a, b)", eval(corrcoef(m, x)), m, x);
    c.add("np.corrcoef(a)", eval(corrcoef(x)), x);
    c.add("np.corrcoef(a)", eval(corrcoef(f)), f);
    c.add("np.corrcoef(a)", eval(corrcoef(z)), z);
    c.run();
}

TEST_CASE("covariances of weighted observations and of columns are NumPy's") {
    numpy_cases c;
    c.forgive(16);
    const array<double> m = drawn<double>({3, 6}, 1), w{0.5, 2, 0, 1, 3, 0.25};
    const array<std::complex<double>> z = drawn<std::complex<double>>({2, 6}, 4);
    const array<int> f{1, 0, 2, 3, 1, 1};
    c.add("np.cov(a, fweights=b)", eval(cov(m, {.fweights = f})), m, f);
    c.add("np.cov(a, aweights=b)", eval(cov(m, {.aweights = w})), m, w);
    c.add("np.cov(a, fweights=b, aweights=c)", eval(cov(m, {.fweights = f, .aweights = w})), m, f, w);
    c.add("np.cov(a, bias=True, fweights=b, aweights=c)", eval(cov(m, {.bias = true, .fweights = f, .aweights = w})), m,
          f, w);
    c.add("np.cov(a, ddof=2, fweights=b, aweights=c)", eval(cov(m, {.ddof = 2, .fweights = f, .aweights = w})), m, f,
          w);
    c.add("np.cov(a, aweights=b)", eval(cov(z, {.aweights = w})), z, w);
    c.add("np.cov(a[0], a[1:], aweights=b)", eval(cov(m(0), m(slice(1, none)), {.aweights = w})), m, w);
    c.add("np.cov(a, bias=True)", eval(cov(m, {.bias = true})), m);
    c.add("np.cov(a, rowvar=False)", eval(cov(m, {.rowvar = false})), m);
    c.add("np.cov(a.T, b, rowvar=False)", eval(cov(transpose(m), w, {.rowvar = false})), m, w);
    c.add("np.corrcoef(a, rowvar=False)", eval(corrcoef(m(all, slice(0, 3)), {.rowvar = false})),
          array<double>(m(all, slice(0, 3))));
    c.add("np.corrcoef(a.T, b, rowvar=False)", eval(corrcoef(transpose(m), w, {.rowvar = false})), m, w);
    c.run();
}

TEST_CASE("sequences and variables that do not fit throw and say why") {
    const array<int> m = counted({2, 3}), v = counted({3});
    CHECK(thrown<shape_error>([&] { (void)convolve(v, zeros<int>(0)); }) ==
          "[convolve] shapes (3,) and (0,): two vectors with elements are wanted");
    CHECK_THROWS_AS((void)correlate(m, v), shape_error);
    CHECK(thrown<shape_error>([&] { (void)cov(counted({2, 2, 2})); }) == "[cov] shape (2, 2, 2) has more than 2 axes");
    CHECK(thrown<shape_error>([&] { (void)corrcoef(m, counted({4})); }) ==
          "[corrcoef] 3 observations of the first and 4 of the second variables; as many of both are wanted");
    CHECK(thrown<shape_error>([&] { (void)cov(v, counted({2})); }) ==
          "[cov] 3 observations of the first and 2 of the second variables; as many of both are wanted");
    CHECK(thrown<shape_error>([&] { (void)cov(m, {.fweights = array<int>{1, 2}}); }) ==
          "[cov] fweights of shape (2,): one for each of 3 observations is wanted");
    CHECK(thrown<error>([&] { (void)cov(m, {.aweights = array<double>{1, -2, 1}}); }) ==
          "[cov] aweights with -2 among them: none may be negative");
    CHECK(thrown<error>([&] { (void)cov(m, {.fweights = zeros<int>(3)}); }) == "[cov] weights that add up to 0");
}
