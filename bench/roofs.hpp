// The rates that the memory reaches in this run, by kernels that do nothing else and by the driver's own copy. On the
// host, where small sizes only try the benchmarks out, a copy stands for all of them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include <ingot/ingot.hpp>

#include "gpu.hpp"
#include "report.hpp"

namespace bench {

inline constexpr int rounds = 21;

/// Blocks that cover n vectors.
inline std::size_t blocks_for(std::size_t n, unsigned threads, int vectors) {
    const std::size_t each = threads * static_cast<std::size_t>(vectors);
    return (n + each - 1) / each;
}

/// The launch shapes that are tried for every hand-written streaming kernel; the best one counts.
struct launch_shape {
    unsigned threads;
    int vectors;  // of 16 bytes, a thread
    std::vector<std::string> options() const {
        return {"-DTHREADS=" + std::to_string(threads), "-DVECTORS=" + std::to_string(vectors)};
    }
    std::string text() const { return std::to_string(threads) + " threads x " + std::to_string(vectors); }
};
inline constexpr std::array<launch_shape, 5> launch_shapes{{{256, 1}, {256, 2}, {512, 1}, {512, 2}, {256, 4}}};

class roofs {
public:
    /// Streams x and y into a third array. Their values must not all be 0.
    roofs(report& out, const ingot::array<float>& x, const ingot::array<float>& y) {
        if (x.device().is_cuda())
            measure_kernels(out, x, y);
        else
            measure_copy(out, x);
    }

    /// Microseconds that the roof of the nearest mix of reads and writes needs for these bytes.
    double time_of(std::uint64_t read, std::uint64_t written) const {
        return static_cast<double>(read + written) / nearest(read, written).rate;
    }
    std::string name_of(std::uint64_t read, std::uint64_t written) const {
        return std::string(nearest(read, written).name) + " roof";
    }

private:
    void measure_copy(report& out, const ingot::array<float>& x) {
        const std::uint64_t bytes = 4 * static_cast<std::uint64_t>(x.size());
        ingot::array<float> z = ingot::empty<float>(x.size());
        float* const to = z.mutable_data();
        const auto copy = [=, from = x.data()](int) { std::memcpy(to, from, bytes); };
        const double time = median(time_in_turn({copy}, rounds)[0]);
        out.add({.section = "roof", .name = "memcpy", .unit = "us", .time = time, .bytes = 2 * bytes});
        mixes_.fill({"copy", 0.5, static_cast<double>(2 * bytes) / time});
    }

    void measure_kernels(report& out, const ingot::array<float>& x, const ingot::array<float>& y) {
        const std::size_t n = static_cast<std::size_t>(x.size()) / 4;
        const std::uint64_t bytes = 16 * n;
        ingot::array<float> z = ingot::empty<float>(x.size());
        const auto *a = x.data(), *b = y.data();
        float* const to = z.mutable_data();

        std::vector<work> candidates;
        std::vector<hand_kernel> kernels;
        kernels.reserve(4 * launch_shapes.size());
        for (const launch_shape& shape : launch_shapes) {
            const std::size_t blocks = blocks_for(n, shape.threads, shape.vectors);
            const auto add = [&](const char* name, auto... arguments) {
                const hand_kernel& kernel = kernels.emplace_back("roof.cu", name, shape.options());
                candidates.push_back([=, &kernel](int) { kernel(blocks, shape.threads, arguments..., n); });
            };
            add("copy", a, to);
            add("triad", a, b, to);
            add("read", a, to);
            add("write", to, 1.0f);
        }
        candidates.push_back([=](int) {
            ingot::runtime::check(
                ingot::runtime::driver()->cuMemcpyDtoDAsync(reinterpret_cast<CUdeviceptr>(to),
                                                            reinterpret_cast<CUdeviceptr>(a), bytes, native_stream()),
                "copying on the device");
        });
        const auto times = time_in_turn(candidates, rounds);

        const struct {
            const char* name;
            int reads, writes;
        } jobs[] = {{"copy", 1, 1}, {"triad", 2, 1}, {"read", 1, 0}, {"write", 0, 1}};
        for (std::size_t job = 0; job < 4; ++job) {
            const std::uint64_t moved = bytes * static_cast<std::uint64_t>(jobs[job].reads + jobs[job].writes);
            double best = std::numeric_limits<double>::infinity();
            std::string shape;
            for (std::size_t s = 0; s < launch_shapes.size(); ++s) {
                const double time = median(times[4 * s + job]);
                if (time < best) {
                    best = time;
                    shape = launch_shapes[s].text();
                }
            }
            if (job == 0) {
                const double memcpy_time = median(times.back());
                out.add({.section = "roof", .name = "memcpy", .unit = "us", .time = memcpy_time, .bytes = moved});
                if (memcpy_time < best) {
                    best = memcpy_time;
                    shape = "memcpy";
                }
            }
            out.add(
                {.section = "roof", .name = jobs[job].name, .unit = "us", .time = best, .bytes = moved, .note = shape});
            mixes_[job] = {jobs[job].name, static_cast<double>(jobs[job].reads) / (jobs[job].reads + jobs[job].writes),
                           static_cast<double>(moved) / best};
        }
    }

    struct mix {
        const char* name = "";
        double reads = 0;  // share of the bytes
        double rate = 0;   // bytes a microsecond
    };
    const mix& nearest(std::uint64_t read, std::uint64_t written) const {
        const double share = static_cast<double>(read) / static_cast<double>(read + written);
        return *std::min_element(mixes_.begin(), mixes_.end(), [=](const mix& a, const mix& b) {
            return std::abs(a.reads - share) < std::abs(b.reads - share);
        });
    }

    std::array<mix, 4> mixes_;
};

}  // namespace bench
