// Fourier transforms, compared with direct calls of cuFFT in the same process, on the same stream and arrays.
//   fft RESULTS.jsonl [SHRINK]
// SHRINK divides the extents by 2^SHRINK, for trials without goals. A GPU is needed.
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include <ingot/ingot.hpp>

#include "gpu.hpp"
#include "host_data.hpp"
#include "report.hpp"
#include "runtime/system/dynamic_library.hpp"

#if __has_include(<cufft.h>)
#include <cufft.h>

namespace {

using namespace ingot;
using number = std::complex<float>;

void check(cufftResult status) {
    if (status != CUFFT_SUCCESS) throw std::runtime_error("cuFFT: status " + std::to_string(static_cast<int>(status)));
}

/// cuFFT as its user calls it, a plan with a work area of its own.
class bare_plan {
public:
    bare_plan(std::vector<long long> extents, long long batch) {
        const auto path = runtime::find_cuda_library("cufft", {12, 11});
        if (!path) throw library_error("libcufft was not found");
        runtime::dynamic_library library(path->string());
        decltype(&::cufftCreate) create = nullptr;
        decltype(&::cufftMakePlanMany64) make_plan = nullptr;
        decltype(&::cufftSetStream) set_stream = nullptr;
        library.get(create, "cufftCreate");
        library.get(make_plan, "cufftMakePlanMany64");
        library.get(set_stream, "cufftSetStream");
        library.get(execute_, "cufftExecC2C");
        library.keep_loaded();
        CUstream const stream = bench::native_stream();
        std::size_t work = 0;
        check(create(&plan_));
        check(make_plan(plan_, static_cast<int>(extents.size()), extents.data(), nullptr, 1, 0, nullptr, 1, 0,
                        CUFFT_C2C, batch, &work));
        check(set_stream(plan_, reinterpret_cast<cudaStream_t>(stream)));
    }
    void operator()(const void* from, void* to, int direction) const {
        check(execute_(plan_, static_cast<cufftComplex*>(const_cast<void*>(from)), static_cast<cufftComplex*>(to),
                       direction));
    }

private:
    cufftHandle plan_ = CUFFT_PLAN_NULL;
    decltype(&::cufftExecC2C) execute_ = nullptr;
};

class table {
public:
    table(bench::report& out, int shrink) : out_(out), shrink_(shrink) {}

    void run() {
        const index_t side = index_t{4096} >> shrink_, n = index_t{1} << (24 - 2 * shrink_);
        measure("complex64 2^24", {n}, [](const auto& x) { return fft::fft(x); }, {n}, 1);
        measure("complex64 4096 of 4096", {side, side}, [](const auto& x) { return fft::fft(x); }, {side}, side);
        measure("complex64 2-D 4096^2", {side, side}, [](const auto& x) { return fft::fft2(x); }, {side, side}, 1);
        measure_filter(n);
    }

private:
    static array<number> drawn(const shape_like& shape, std::uint64_t seed) {
        index_t n = 1;
        for (const index_t extent : shape) n *= extent;
        const auto parts = bench::uniform<float>(static_cast<std::size_t>(2 * n), seed, -1, 1);
        const array<float> pairs = asarray(parts, {n, 2});
        return reshape(complex_of(pairs(all, 0), pairs(all, 1)), shape);
    }

    template <class F>
    void measure(const std::string& name, const shape_like& shape, F transform, std::vector<long long> extents,
                 long long batch) {
        const array<number> x = drawn(shape, ++seed_);
        array<number> by_hand = zeros<number>(shape), made;
        const bare_plan plan(std::move(extents), batch);
        const auto* const from = x.data();
        auto* const to = by_hand.mutable_data();
        report(
            name, [&](int) { made = transform(x); }, [&](int) { plan(from, to, CUFFT_FORWARD); }, made, by_hand,
            "1 call");
    }
    void measure_filter(index_t n) {
        const array<number> x = drawn(n, ++seed_), h = drawn(n, ++seed_);
        array<number> by_hand = zeros<number>(n), spectrum = by_hand, product = by_hand, made;
        const bare_plan plan({n}, 1);
        const bench::hand_kernel multiply("fft.cu", "multiply");
        const auto *const from = x.data(), *const with = h.data();
        auto *const to = by_hand.mutable_data(), *const s = spectrum.mutable_data(), *const p = product.mutable_data();
        const auto pairs = static_cast<unsigned>(n / 2);
        report(
            "ifft(fft(x) * h) 2^24", [&](int) { made = fft::ifft(fft::fft(x) * h); },
            [&](int) {
                plan(from, s, CUFFT_FORWARD);
                multiply((pairs + 255) / 256, 256, static_cast<const void*>(s), static_cast<const void*>(with),
                         static_cast<void*>(p), 1 / static_cast<float>(n), pairs);
                plan(p, to, CUFFT_INVERSE);
            },
            made, by_hand, "2 calls and a kernel");
    }

    void report(const std::string& name, const bench::work& ours, const bench::work& bare, array<number>& made,
                const array<number>& by_hand, const char* wanted) {
        const counter_values before = counters();
        ours(0);
        bare(0);
        const counter_values after = counters();
        const double error = max(abs(made - by_hand)).item() / max(abs(by_hand)).item();
        if (!(error < 1e-5)) throw std::runtime_error(name + " is off by " + std::to_string(error));
        const auto times = bench::time_in_turn({ours, bare}, 21);
        char note[128];
        std::snprintf(note, sizeof note, "%llu library calls, %llu kernels (wanted: %s), error %.2g",
                      static_cast<unsigned long long>(after.library_calls - before.library_calls),
                      static_cast<unsigned long long>(after.kernel_launches - before.kernel_launches), wanted, error);
        out_.add({.section = "fft",
                  .name = name,
                  .unit = "us",
                  .time = bench::median(times[0]),
                  .baseline = "cuFFT by hand",
                  .baseline_time = bench::median(times[1]),
                  .kind = shrink_ == 0 ? bench::promise::share : bench::promise::none,
                  .reached = bench::paired_ratio(times[1], times[0]),
                  .goal = 1 / 1.1,
                  .note = note});
        std::printf("    by hand %.4g us; %s\n", bench::median(times[1]), note);
    }

    bench::report& out_;
    int shrink_;
    std::uint64_t seed_ = 200;
};

int run(int argc, char** argv) {
    if (argc < 2) return std::fprintf(stderr, "usage: fft RESULTS.jsonl [SHRINK]\n"), 2;
    const int shrink = argc > 2 ? std::atoi(argv[2]) : 0;
    if (shrink < 0 || shrink > 10) return std::fprintf(stderr, "SHRINK: 0 to 10\n"), 2;
    bench::report out(argv[1]);
    table(out, shrink).run();
    return 0;
}

}  // namespace

int main(int argc, char** argv) try { return run(argc, argv); } catch (const std::exception& reason) {
    std::fprintf(stderr, "fft: %s\n", reason.what());
    return 1;
}

#else

int main() {
    std::fprintf(stderr, "fft: built without the headers of cuFFT\n");
    return 1;
}

#endif
