// Random numbers, compared with a memset of the same bytes and with direct calls of cuRAND's Philox.
//   random_numbers RESULTS.jsonl [SHRINK]
// SHRINK divides the lengths by 2^SHRINK. On the host only the memset is compared.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include <ingot/ingot.hpp>

#include "gpu.hpp"
#include "report.hpp"
#include "runtime/system/dynamic_library.hpp"

#if __has_include(<curand.h>)

#include <curand.h>

namespace {

using namespace ingot;

void check(curandStatus_t status) {
    if (status != CURAND_STATUS_SUCCESS) throw std::runtime_error("cuRAND: status " + std::to_string(status));
}

class bare_curand {
public:
    bare_curand() {
        const auto path = runtime::find_cuda_library("curand", {10});
        if (!path) throw library_error("libcurand was not found");
        runtime::dynamic_library library(path->string());
        decltype(&::curandCreateGenerator) create = nullptr;
        decltype(&::curandSetStream) set_stream = nullptr;
        library.get(create, "curandCreateGenerator");
        library.get(set_stream, "curandSetStream");
        library.get(bits_, "curandGenerate");
        library.get(uniform_, "curandGenerateUniform");
        library.get(normal_, "curandGenerateNormal");
        library.keep_loaded();
        CUstream const stream = bench::native_stream();
        check(create(&generator_, CURAND_RNG_PSEUDO_PHILOX4_32_10));
        check(set_stream(generator_, reinterpret_cast<cudaStream_t>(stream)));
    }
    void uniform(float* to, std::size_t n) const { check(uniform_(generator_, to, n)); }
    void normal(float* to, std::size_t n) const { check(normal_(generator_, to, n, 0, 1)); }
    void bits(void* to, std::size_t n) const { check(bits_(generator_, static_cast<unsigned*>(to), n)); }

private:
    curandGenerator_t generator_ = nullptr;
    decltype(&::curandGenerate) bits_ = nullptr;
    decltype(&::curandGenerateUniform) uniform_ = nullptr;
    decltype(&::curandGenerateNormal) normal_ = nullptr;
};

class table {
public:
    table(bench::report& out, int shrink) : out_(out), shrink_(shrink), gpu_(current_device().is_cuda()) {
        if (gpu_) try {
                curand_.emplace();
            } catch (const std::exception& reason) {
                std::printf("nothing beside: %s\n", reason.what());
            }
    }

    void run() {
        const index_t n = index_t{1} << (28 - shrink_);
        const auto count = static_cast<std::size_t>(n);
        filled<float>(
            "uniform float32 2^28", n, [&] { return random::uniform<float>(n); },
            [&](float* to) { curand_->uniform(to, count); }, 0.5, 1.0 / 12);
        filled<float>(
            "normal float32 2^28", n, [&] { return random::normal<float>(n); },
            [&](float* to) { curand_->normal(to, count); }, 0, 1);
        filled<int>(
            "integers below 1000 int32 2^28", n, [&] { return random::integers<int>(0, 1000, n); },
            [&](int* to) { curand_->bits(to, count); }, 499.5, (1000.0 * 1000 - 1) / 12);
        quarter_of_circle();
    }

private:
    /// Times stored draws from a distribution with known mean and variance.
    template <class T, class F, class G>
    void filled(const char* name, index_t n, F draw, G bare, double expected, double variance) {
        array<T> made = draw(), by_hand = empty<T>(n);
        const double off =
            (mean(astype<double>(made)).item() - expected) / std::sqrt(variance / static_cast<double>(n));
        const double spread = var(astype<double>(made)).item() / variance;
        if (!(std::abs(off) < 5 && std::abs(spread - 1) < 10 / std::sqrt(static_cast<double>(n))))
            throw std::runtime_error(std::string(name) + ": their mean or their variance is off");
        T* const to = by_hand.mutable_data();
        const auto bytes = static_cast<std::size_t>(n) * sizeof(T);
        std::vector<bench::work> candidates{[&](int) { made = draw(); }, [&](int) { set(to, bytes); }};
        if (curand_) candidates.push_back([&](int) { bare(to); });
        report(name, candidates, "write roof", bytes);
    }
    void set(void* to, std::size_t bytes) const {
        if (gpu_)
            runtime::check(
                runtime::driver()->cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(to), 1, bytes, bench::native_stream()),
                "filling");
        else
            std::memset(to, 1, bytes);
    }

    /// Counts the pairs that fall into a circle. Ingot's are never stored; cuRAND stores its numbers, and they are not
    /// counted.
    void quarter_of_circle() {
        const index_t pairs = index_t{1} << (30 - shrink_);
        double made = 0;
        const auto draw = [&](int) {
            const auto x = random::uniform<float>(pairs), y = random::uniform<float>(pairs);
            found_ = 4 * mean(astype<float>(x * x + y * y < 1));
        };
        draw(0);
        made = found_.item();
        if (!(std::abs(made - 3.14159265) < 10 / std::sqrt(static_cast<double>(pairs))))
            throw std::runtime_error("pi is not " + std::to_string(made));
        std::vector<bench::work> candidates{draw};
        std::optional<array<float>> all;
        if (curand_) {
            all.emplace(empty<float>(2 * pairs));
            candidates.push_back(
                [&, to = all->mutable_data()](int) { curand_->uniform(to, static_cast<std::size_t>(2 * pairs)); });
        }
        report("pi by 2^30 pairs", candidates, "cuRAND's uniforms alone", 0);
    }

    /// Reports the first candidate beside the second and the third, where they exist.
    void report(const char* name, const std::vector<bench::work>& candidates, const char* baseline, std::size_t bytes) {
        const counter_values before = counters();
        candidates[0](0);
        const auto kernels = counters().kernel_launches - before.kernel_launches;
        const auto times = bench::time_in_turn(candidates, 11);
        bench::row row{.section = "random",
                       .name = name,
                       .unit = "us",
                       .time = bench::median(times[0]),
                       .bytes = bytes,
                       .note = std::to_string(kernels) + " kernels"};
        if (times.size() > 1) row.baseline = baseline, row.baseline_time = bench::median(times[1]);
        if (times.size() > 2) row.note += "; cuRAND " + std::to_string(bench::median(times[2])) + " us";
        out_.add(row);

        for (std::size_t c = 1; c < times.size(); ++c)
            std::printf("    %s %.5g us, ratio %.3f\n", c == 1 ? baseline : "cuRAND", bench::median(times[c]),
                        bench::paired_ratio(times[0], times[c]));
    }

    bench::report& out_;
    int shrink_;
    bool gpu_;
    std::optional<bare_curand> curand_;
    array<double> found_;
};

int run(int argc, char** argv) {
    if (argc < 2) return std::fprintf(stderr, "usage: random_numbers RESULTS.jsonl [SHRINK]\n"), 2;
    const int shrink = argc > 2 ? std::atoi(argv[2]) : 0;
    if (shrink < 0 || shrink > 20) return std::fprintf(stderr, "SHRINK: 0 to 20\n"), 2;
    bench::report out(argv[1]);
    table(out, shrink).run();
    return 0;
}

}  // namespace

int main(int argc, char** argv) try { return run(argc, argv); } catch (const std::exception& reason) {
    std::fprintf(stderr, "random_numbers: %s\n", reason.what());
    return 1;
}

#else

int main() {
    std::fprintf(stderr, "random_numbers: built without the headers of cuRAND\n");
    return 1;
}

#endif
