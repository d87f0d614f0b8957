// One transform so large that several threads make it, and what explain says of a transform's operations.
#include <dlfcn.h>

#include <numbers>

#include "tests/arrays/expect.hpp"
#include "tests/fft/has_fft.hpp"
#include "tests/untested.hpp"

using namespace ingot;

TEST_CASE_TEMPLATE("one large transform", T, float, double) {
    if (!test::has_fft()) return;
    using C = std::complex<T>;
    constexpr index_t n = index_t{1} << 17;
    const double bound = 100 * static_cast<double>(std::numeric_limits<T>::epsilon());
    array<C> x = zeros<C>(n);
    x(1) = C(1);
    const auto turn = astype<double>(arange(n)) * (-2 * std::numbers::pi / static_cast<double>(n));
    const array<C> wanted = complex_of(astype<T>(cos(turn)), astype<T>(sin(turn)));
    const array<C> of_one = fft::fft(x);
    CHECK(static_cast<double>(max(abs(of_one - wanted)).item()) < bound);
    random::generator g(3);
    const array<T> real_numbers = g.normal<T>(n);
    const array<C> numbers = complex_of(real_numbers, T(2) * real_numbers);
    CHECK(static_cast<double>(max(abs(fft::ifft(fft::fft(numbers)) - numbers)).item()) < bound);
    CHECK(static_cast<double>(max(abs(fft::irfft(fft::rfft(real_numbers)) - real_numbers)).item()) < bound);
    // As rows it is a batch, and each worker takes some of them.
    const array<C> rows = fft::fft(reshape(numbers, {2, n / 2}));
    CHECK(static_cast<double>(max(abs(rows(1) - fft::fft(numbers(slice(n / 2, none))))).item()) <
          bound * std::sqrt(static_cast<double>(n)));
}

TEST_CASE("the number of threads that a program has set for FFTW's plans stays") {
    if (!test::has_fft()) return;
    const with_device on_the_host(device::host());
    (void)eval(fft::fft(ones<std::complex<double>>(8)));  // FFTW is open
    void* const library = dlopen("libfftw3_threads.so.3", RTLD_NOW | RTLD_NOLOAD);
    if (library == nullptr) {
        return test::untested("FFTW has no threads here");
    }
    const auto set = reinterpret_cast<void (*)(int)>(dlsym(library, "fftw_plan_with_nthreads"));
    const auto number = reinterpret_cast<int (*)()>(dlsym(library, "fftw_planner_nthreads"));
    if (set != nullptr && number != nullptr) {
        const int before = number();
        CHECK(before == 1);
        set(3);
        for (const index_t n : {index_t{24}, index_t{1} << 17}) (void)eval(fft::fft(ones<std::complex<double>>(n)));
        CHECK(number() == 3);
        set(before);
    }
    dlclose(library);
}

TEST_CASE("explain counts a transform's operations: 5 n log2(n), of real numbers half of it") {
    const auto operations = [](const auto& e) {
        std::uint64_t sum_of_calls = 0;
        for (const kernel_explanation& k : explain(e).kernels)
            if (k.kind == step_kind::library_call) sum_of_calls += k.flops;
        return sum_of_calls;
    };
    const array<std::complex<float>> x = ones<std::complex<float>>({3, 8, 16});
    const array<double> r = ones<double>({3, 16});
    CHECK(operations(fft::fft(x)) == 3 * 8 * 5 * 16 * 4);
    CHECK(operations(fft::ifft2(x)) == 3 * 5 * 128 * 7);
    CHECK(operations(fft::rfft(r)) == 3 * 5 * 16 * 4 / 2);
    CHECK(operations(fft::irfft(fft::rfft(r))) == 3 * 5 * 16 * 4);
    CHECK(operations(fft::fft(ones<float>({4, 1}))) == 0);
}
