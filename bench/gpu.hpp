// Hand-written kernels for comparison with Ingot's: loads a text of kernels/*.cu, launches it on the current stream,
// and times candidates in turn by events of that stream.
#pragma once

#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <ingot/core/device.hpp>
#include "runtime/device/device.hpp"
#include "runtime/device/device_facts.hpp"
#include "runtime/device/driver.hpp"
#include "runtime/kernels/kernel_module.hpp"

namespace bench {

inline std::string kernel_text(const std::string& file) {
    std::ifstream in(std::string(INGOT_BENCH_KERNELS) + "/" + file);
    if (!in) throw std::runtime_error("cannot read " + file);
    return (std::ostringstream() << in.rdbuf()).str();
}

inline ingot::runtime::source_text cuda_source(std::string text, std::string name, std::vector<std::string> options) {
    const ingot::detail::device_id device = ingot::current_device();
    if (!device.is_cuda())
        throw ingot::device_error("a benchmark of a GPU, and the current device is " + to_string(device));
    return {ingot::runtime::target::cuda,
            "sm_" + std::to_string(ingot::runtime::architecture_of(device)),
            std::move(text),
            std::move(options),
            {std::move(name)}};
}

/// The driver's handle of the current stream; the calling thread can use it from then on.
inline CUstream native_stream() {
    const ingot::runtime::stream_state& stream = *ingot::runtime::current().stream;
    stream.backend->bind_thread();
    return reinterpret_cast<CUstream>(static_cast<std::uintptr_t>(stream.native));
}

/// A kernel of kernels/<file>, compiled with options such as "-DVECTORS=2".
class hand_kernel {
public:
    hand_kernel(const std::string& file, const std::string& name, std::vector<std::string> options = {})
        : module_(ingot::runtime::load(cuda_source(kernel_text(file), name, std::move(options)))),
          function_(reinterpret_cast<CUfunction>(module_->kernel(name))) {}

    template <class... A>
    void operator()(std::size_t blocks, unsigned threads, A... arguments) const {
        void* pointers[] = {&arguments...};
        ingot::runtime::check(
            ingot::runtime::driver()->cuLaunchKernel(function_, static_cast<unsigned>(blocks), 1, 1, threads, 1, 1, 0,
                                                     native_stream(), pointers, nullptr),
            "launching a hand-written kernel");
    }
    CUfunction function() const noexcept { return function_; }

private:
    std::shared_ptr<const ingot::runtime::kernel_module> module_;
    CUfunction function_;
};

using work = std::function<void(int repeat)>;

/// Microseconds of one call of each candidate, round by round: [candidate][round]. In a round each candidate is called
/// `repeats` times between two events; the argument counts calls, for candidates that rotate among buffers.
inline std::vector<std::vector<double>> time_in_turn(const std::vector<work>& candidates, int rounds, int repeats = 1) {
    for (int warm = 0; warm < 3; ++warm)
        for (const work& candidate : candidates) candidate(warm);

    struct interval {
        ingot::event from, to;
    };
    std::vector<std::vector<interval>> intervals(candidates.size());
    for (int round = 0; round < rounds; ++round)
        for (std::size_t c = 0; c < candidates.size(); ++c) {
            interval& timed = intervals[c].emplace_back();
            timed.from.record();
            for (int repeat = 0; repeat < repeats; ++repeat) candidates[c](round * repeats + repeat);
            timed.to.record();
        }
    ingot::synchronize();

    std::vector<std::vector<double>> microseconds(candidates.size());
    for (std::size_t c = 0; c < candidates.size(); ++c)
        for (const interval& timed : intervals[c])
            microseconds[c].push_back(1e3 * static_cast<double>(elapsed(timed.from, timed.to)) / repeats);
    return microseconds;
}

}  // namespace bench
