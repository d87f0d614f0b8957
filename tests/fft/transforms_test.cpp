// Transforms in expressions: which steps they take, what is read as it lies, round trips, and what is refused.
#include <doctest/doctest.h>

#include <thread>

#include "runtime/front/library_functions.hpp"
#include "tests/arrays/expect.hpp"
#include "tests/fft/has_fft.hpp"
#include "tests/walls/count.hpp"

using namespace ingot;

namespace {

using complex_f = std::complex<float>;

template <class T>
array<T> drawn(const shape_like& shape) {
    random::generator g(3);
    if constexpr (detail::complex_number<T>)
        return complex_of(g.normal<typename T::value_type>(shape), g.normal<typename T::value_type>(shape));
    else
        return g.normal<T>(shape);
}

/// The kind of each step: k(ernel), l(ibrary call), f(ill).
template <class E>
std::string steps(const E& e) {
    std::string kinds;
    for (const kernel_explanation& k : explain(e).kernels) kinds += "klf"[static_cast<std::size_t>(k.kind)];
    return kinds;
}
template <class A, class B>
bool close(const A& a, const B& b) {
    return a.shape() == b.shape() && max(abs(a - b)).item() <= 1e-5 * (1 + max(abs(b)).item());
}

template <class E>
concept has_rfft = requires(const E& e) { fft::rfft(e); };

}  // namespace

TEST_CASE("a product of spectra is two library calls and one kernel, the scale in it") {
    if (!test::has_fft()) return;
    const array<complex_f> x = drawn<complex_f>({256}), h = drawn<complex_f>({256});
    const auto filtered = fft::ifft(fft::fft(x) * h);
    CHECK(steps(filtered) == "lkl");
    const std::uint64_t before = counters().library_calls;
    array<complex_f> y;
    CHECK(launches([&] { y = filtered; }) == 1);
    CHECK(counters().library_calls == before + 2);
    const array<complex_f> spectrum = fft::fft(x), product = spectrum * h;
    CHECK(close(y, fft::ifft(product)));
    CHECK(steps(abs(fft::ifft(fft::fft(x) * h)) * 2) == "lklk");
    CHECK(steps(fft::ifft(fft::fft(x))) == "lkl");
}

TEST_CASE("scales, shifts and masks are part of the kernels around a transform") {
    if (!test::has_fft()) return;
    const array<complex_f> x = drawn<complex_f>({6, 64});
    CHECK(steps(fft::fft(x)) == "l");
    CHECK(steps(fft::fft(x + 1.0f)) == "kl");
    CHECK(steps(fft::ifft(x)) == "lk");
    CHECK(steps(fft::ifft(x + 1.0f)) == "kl");
    CHECK(steps(abs(fft::ifft(x))) == "lk");
    CHECK(steps(fft::fftshift(fft::fft(x))) == "lk");
    CHECK(steps(log(abs(fft::fftshift(fft::fft2(x), 1)) + 1.0f)) == "lk");
    CHECK(steps(fft::fft(fft::ifftshift(x * 2.0f))) == "kl");
    CHECK(steps(fft::fft(x, 100)) == "kl");  // filled up with zeros
    CHECK(steps(fft::fft(x, 30)) == "l");
    CHECK(steps(fft::fft(real(x))) == "kl");
    CHECK(steps(fft::rfft(real(x))) == "kl");
    CHECK(steps(fft::irfft(fft::rfft(real(x)) * 2.0f)) == "klkl");
    CHECK(steps(sum(fft::fft(x), 1)) == "lk");
    const auto f = fft::fft(x + 1.0f);
    CHECK(steps(f * conj(f)) == "klk");
}

TEST_CASE("an array that lies as the library takes it is given to it") {
    if (!test::has_fft()) return;
    const array<complex_f> x = drawn<complex_f>({8, 12, 16});
    CHECK(steps(fft::fft(x(all, all, slice(0, none, 3)))) == "l");
    CHECK(steps(fft::fft(x(slice(0, none, 2), all, slice(2, 9)))) == "l");
    CHECK(steps(fft::fft(transpose(x(0)))) == "l");
    CHECK(steps(fft::fft(x, none, 1)) == "l");
    CHECK(steps(fft::fft(x, none, 1) * 2.0f) == "lk");
    CHECK(steps(fft::fft2(x, none, {0, 1})) == "l");
    CHECK(steps(fft::fft2(x, none, {0, 2})) == "l");
    CHECK(steps(fft::irfft(x, none, 0)) == "kl");
    CHECK(steps(transpose(fft::fft(x(0)))) == "l");
    CHECK(steps(fft::fft2(x(all, slice(1, none, 2), slice(0, none, 2)))) == "l");
    CHECK(steps(fft::fft2(transpose(x(0)))) == "kl");
    CHECK(steps(fft::fft(x(all, all, slice(none, none, -1)))) == "kl");
    CHECK(steps(fft::fft(x(all, slice(none, none, -1)))) == "kl");
    CHECK(steps(fft::fft(sliding_window_view(x(0, 0), 4))) == "l");
    CHECK(steps(fft::fft(broadcast_to(x(0, 0), {5, 16}))) == "lk");  // once for all
    const array<float> r = drawn<float>({4, 32});
    CHECK(steps(fft::rfft(r)) == "l");
    CHECK(steps(fft::rfft(r(all, slice(4, none)))) == "l");
    CHECK(steps(fft::rfft(r(all, slice(1, none)))) == "kl");  // cuFFT reads pairs
    CHECK(steps(fft::rfft2(r)) == "l");
    const array<complex_f> many = drawn<complex_f>({20, 6, 20});  // more than a few calls along two strides
    CHECK(steps(fft::fft(many, none, 1)) == "klk");
}

TEST_CASE_TEMPLATE("there and back again", T, float, double) {
    if (!test::has_fft()) return;
    using C = std::complex<T>;
    const T bound = std::numeric_limits<T>::epsilon() * 20;
    const auto error = [&](const auto& a, const auto& b) {
        REQUIRE(a.shape() == b.shape());
        return sqrt(sum(abs(a - b) * abs(a - b)) / sum(abs(b) * abs(b))).item();
    };
    for (const index_t n : {1, 2, 9, 10, 101, 4096}) {
        CAPTURE(n);
        const array<C> x = drawn<C>({n});
        const array<T> r = drawn<T>({n});
        for (const fft::norm how : {fft::norm::backward, fft::norm::ortho, fft::norm::forward}) {
            CHECK(error(fft::ifft(fft::fft(x, how), how), x) < bound);
            CHECK(error(fft::irfft(fft::rfft(r, how), n, -1, how), r) < bound);
            CHECK(error(fft::hfft(fft::ihfft(r, how), n, -1, how), r) < bound);
        }
    }
    const array<C> x = drawn<C>({3, 4, 5});
    const array<T> r = drawn<T>({3, 4, 5});
    CHECK(error(fft::ifftn(fft::fftn(x)), x) < bound);
    CHECK(error(fft::ifft2(fft::fft2(x)), x) < bound);
    CHECK(error(fft::irfftn(fft::rfftn(r), r.shape().values()), r) < bound);
    CHECK(error(fft::irfft2(fft::rfft2(r), {4, 5}), r) < bound);
}

TEST_CASE("rows of zeros are not transformed along the last axis") {
    if (!test::has_fft()) return;
    const array<float> x = drawn<float>({2, 30, 40});
    const array<complex_f> z = drawn<complex_f>({2, 30, 40});
    const auto wide = [](const auto& e) { return eval(pad(e, {{0, 6}, {0, 226}, {0, 88}})); };
    const auto error = [](const auto& a, const auto& b) { return max(abs(a - b)).item() / max(abs(b)).item(); };
    CHECK(error(fft::rfftn(x, {8, 256, 128}, fft::norm::ortho), fft::rfftn(wide(x), fft::norm::ortho)) < 1e-6f);
    CHECK(error(fft::fftn(z, {8, 256, 128}), fft::fftn(wide(z))) < 1e-6f);
    CHECK(error(fft::ifftn(z, {8, 256, 128}), fft::ifftn(wide(z))) < 1e-6f);
    CHECK(error(fft::rfftn(x, {8, 128, 256}, {0, 2, 1}), fft::rfftn(wide(x), none, {0, 2, 1})) < 1e-6f);
    CHECK(steps(fft::rfftn(x, {8, 256, 128})) == "klkl");
    CHECK(steps(fft::rfftn(x, {2, 64, 64})) == "kl");
}

TEST_CASE("several transforms in one statement") {
    if (!test::has_fft()) return;
    const array<complex_f> x = drawn<complex_f>({4, 10});
    const auto [a, b] = eval(fft::irfft(x, 18), fft::irfft(x, 19));  // of spectra of one length
    CHECK(close(a, array<float>(fft::irfft(x))));
    CHECK(close(b, array<float>(fft::irfft(x, 19))));
    const array<float> c = fft::irfft(x, 18) + fft::irfft(x, 19)(all, slice(0, 18));
    CHECK(close(c, a + b(all, slice(0, 18))));
    const array<complex_f> both = fft::fft(x) + fft::ifft(x) * 2.0f, one = fft::fft(x), other = fft::ifft(x);
    CHECK(close(both, one + other * 2.0f));
    array<complex_f> y = x;
    y = fft::fft(y);
    CHECK(close(y, one));
    assign(y, fft::ifft(y));
    CHECK(close(y, x));
    assign(y, fft::fft(y, none, 0));
    CHECK(close(y, transpose(array<complex_f>(fft::fft(array<complex_f>(transpose(x)))))));
    array<complex_f> wide = zeros<complex_f>({6, 12});
    wide(slice(1, -1), slice(none, none, -1))(all, slice(1, -1)) = fft::fft(x, none, 0);  // one stride is negative
    CHECK(close(wide(slice(1, -1), slice(10, 0, -1)), y));
    wide(slice(1, -1), slice(1, -1)) = fft::ifft2(x + 0.0f);
    CHECK(close(wide(slice(1, -1), slice(1, -1)), array<complex_f>(fft::ifft2(x))));
    array<complex_f> spread = zeros<complex_f>({8, 20});
    spread(slice(0, none, 2), slice(0, none, 2)) = fft::fft(x, none, 0);
    CHECK(close(spread(slice(0, none, 2), slice(0, none, 2)), y));
    CHECK(max(abs(spread(slice(1, none, 2)))).item() == 0);
    CHECK(max(abs(spread(all, slice(1, none, 2)))).item() == 0);
    array<float> odd = zeros<float>({3, 9});
    odd(slice(1, none)) = fft::irfft(x(slice(0, 2), slice(0, 5)), 9);  // 36 bytes from where it begins
    CHECK(close(odd(slice(1, none)), array<float>(fft::irfft(x(slice(0, 2), slice(0, 5)), 9))));
    CHECK(sum(abs(odd(0))).item() == 0);
}

TEST_CASE("frequencies are numpy's") {
    CHECK(holds(fft::fftfreq(5), {5}, {0, 0.2, 0.4, -0.4, -0.2}));
    CHECK(holds(fft::fftfreq(4, 0.5), {4}, {0, 0.5, -1, -0.5}));
    CHECK(holds(fft::rfftfreq(5), {3}, {0, 0.2, 0.4}));
    CHECK(holds(fft::rfftfreq<float>(4, 0.25), {3}, {0, 1, 2}));
    CHECK(holds(fft::fftshift(arange<int>(5)), {5}, {3, 4, 0, 1, 2}));
    CHECK(holds(fft::ifftshift(arange<int>(5)), {5}, {2, 3, 4, 0, 1}));
    CHECK(holds(fft::fftshift(counted({2, 3}), {0}), {2, 3}, {3, 4, 5, 0, 1, 2}));
    CHECK(holds(fft::fftshift(counted({2, 3})), {2, 3}, {5, 3, 4, 2, 0, 1}));
}

TEST_CASE("a batch without transforms, and many threads at once") {
    if (!test::has_fft()) return;
    CHECK(eval(fft::fft(zeros<float>({0, 4}))).shape() == shape_like{0, 4});
    CHECK(eval(fft::irfft(zeros<float>({4, 0, 5}), none, 0)).shape() == shape_like{6, 0, 5});
    CHECK(eval(fft::fft(zeros<double>({0}), 3)).to_host() == std::vector<std::complex<double>>(3));
    const array<complex_f> x = drawn<complex_f>({64, 48});
    const array<complex_f> wanted = fft::fft(x + 1.0f);
    bool right[4] = {};
    std::vector<std::thread> threads;
    for (bool& r : right)
        threads.emplace_back([&] {
            r = true;
            for (int i = 0; i < 3; ++i) r = r && close(fft::fft(x + 1.0f), wanted);
            const array<complex_f> own = drawn<complex_f>({17 + (&r - right)});
            r = r && close(fft::ifft(fft::fft(own)), own);
        });
    for (std::thread& t : threads) t.join();
    for (const bool r : right) CHECK(r);
}

TEST_CASE("more lengths than there are plans kept") {
    if (!test::has_fft()) return;
    for (int round = 0; round < 2; ++round)
        for (index_t n = 1; n <= 150; n += current_device().is_host() ? 1 : 3) {
            const array<complex_f> x = full<complex_f>({n}, complex_f(1));
            REQUIRE(real(fft::fft(x)(0)).item() == doctest::Approx(static_cast<double>(n)));
        }
}

TEST_CASE("a size that cuFFT refuses is named, and the stream stays usable") {
    if (!test::has_fft() || current_device().is_host()) return;
    // The emulated library has no transforms of this length; the real one does them.
    const array<float> x = ones<float>({2, 7919});
    const std::string said = thrown<library_error>([&] { eval(fft::fft(x)); });
    if (said != "nothing was thrown")
        CHECK(said == "[fft] cuFFT: it has no transform of this size, of a transform of (7919,), 2 times");
    CHECK(real(fft::fft(x(0, slice(0, 8)))(0)).item() == doctest::Approx(8));
    CHECK(sum(x).item() == 2 * 7919);
}

TEST_CASE("what cannot be transformed is refused where it is written") {
    const array<float> x = ones<float>({2, 3});
    CHECK(thrown<shape_error>([&] { (void)fft::fft(x, 0); }) ==
          "[fft] 0 points along axis 1 of shape (2, 3): there has to be one");
    CHECK(thrown<shape_error>([&] { (void)fft::rfft(x, -2, 0); }) ==
          "[rfft] -2 points along axis 0 of shape (2, 3): there has to be one");
    CHECK(thrown<shape_error>([&] { (void)fft::ifft(zeros<float>({2, 0})); }) ==
          "[ifft] 0 points along axis 1 of shape (2, 0): there has to be one");
    CHECK(thrown<shape_error>([&] { (void)fft::irfft(ones<float>({1})); }) ==
          "[irfft] 0 points along axis 0 of shape (1,): there has to be one");
    CHECK_THROWS_AS((void)fft::fft(x, none, 2), shape_error);
    CHECK_THROWS_AS((void)fft::fft(full<float>({}, 1)), shape_error);
    CHECK_THROWS_AS((void)fft::fft2(ones<float>({3})), shape_error);
    CHECK(thrown<shape_error>([&] { (void)fft::fftn(x, {2}, {0, 1}); }) == "[fftn] 1 extents for 2 axes");
    CHECK(thrown<shape_error>([&] { (void)fft::fftn(x, {2, 2, 2}); }) == "[fftn] 3 extents for shape (2, 3)");
    CHECK(thrown<shape_error>([&] { (void)fft::rfftn(x, none, {}); }) == "[rfftn] wants an axis, and none is given");
    CHECK_THROWS_AS((void)fft::fftn(x, {2, 0}), shape_error);
    CHECK(thrown<shape_error>([&] { (void)fft::dct(x, 5); }) == "[dct] type 5: there are 1 to 4");
    CHECK_THROWS_AS((void)fft::dct(ones<float>({1}), 1), shape_error);
    CHECK(thrown<shape_error>([&] { (void)fft::fftfreq(0); }) == "[fftfreq] 0 points: there has to be one");
    CHECK_THROWS_AS((void)fft::rfftfreq(-3), shape_error);
    CHECK_THROWS_AS((void)fft::fftshift(x, 2), shape_error);
    CHECK(!has_rfft<array<complex_f>>);
    CHECK(has_rfft<array<int>>);
}

TEST_CASE("a transform of real numbers written among others' elements") {
    const array<float> x = reshape(arange<float>(3 * 5 * 7), {3, 5, 7});
    const array<std::complex<float>> wanted = fft::rfft(x);
    array<std::complex<float>> y = zeros<std::complex<float>>({3, 8, 4});
    y(all, slice(0, 5), all) = fft::rfft(x);
    CHECK(array_equal(array<std::complex<float>>(y(all, slice(0, 5), all)), wanted).item());
    CHECK(all(y(all, slice(5, none), all) == 0).item());
    // Two results at once, one of them transposed: each has its own order of axes.
    const array<std::complex<double>> z = reshape(arange<double>(15), {3, 5}) * std::complex<double>(1, -2),
                                      v = reshape(arange<double>(15), {5, 3}) * std::complex<double>(0, 1);
    array<std::complex<double>> u = zeros<std::complex<double>>({5, 3}), w = zeros<std::complex<double>>({3, 5});

    assign(std::tuple(u(all), transpose(w)), v, transpose(fft::fft2(z)));
    CHECK(array_equal(u, v).item());
    CHECK(allclose(w, fft::fft2(z)).item());
}
