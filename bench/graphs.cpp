// A graph of 20 small kernels: one by one, as Ingot records it, and as the driver records the same launches by hand.
// And conjugate gradients' kind of loop, a sum that has to fall below a bound, with a read by the host in each turn and
// without one. On a GPU.
//   graphs RESULTS.jsonl [ELEMENTS]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <ingot/ingot.hpp>

#include "report.hpp"
#include "runtime/device/driver.hpp"

using namespace ingot;

namespace {

constexpr int kernels = 20;

template <class F>
double microseconds(F run) {
    const benchmark_result r = benchmark(run, {.repeats = 200, .warm_up = 20});
    const std::vector<double>& times = r.gpu.empty() ? r.cpu : r.gpu;
    return *std::min_element(times.begin(), times.end());
}

/// The launches of a function, recorded by the driver on a stream of the user's.
CUgraphExec by_hand(const stream& s, const auto& launches) {
    const runtime::driver_api& api = *runtime::driver();
    const auto native = static_cast<CUstream>(s.native_handle());
    CUgraph graph = nullptr;
    CUgraphExec made = nullptr;
    runtime::check(api.cuStreamBeginCapture(native, CU_STREAM_CAPTURE_MODE_RELAXED), "beginning a graph");
    {
        with_stream in(s);
        launches();
    }
    runtime::check(api.cuStreamEndCapture(native, &graph), "ending a graph");
    runtime::check(api.cuGraphInstantiateWithFlags(&made, graph, 0), "making a graph");
    return made;
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): an error ends the program with its text
int main(int argc, char** argv) {
    if (argc < 2) return std::fprintf(stderr, "usage: graphs RESULTS.jsonl [ELEMENTS]\n"), 2;
    if (!current_device().is_cuda()) return std::puts("no GPU"), 0;
    bench::report out(argv[1]);
    const index_t n = argc > 2 ? std::atoll(argv[2]) : 1 << 16;
    array<float> x = ones<float>(n);
    const raw_kernel step(
        "extern \"C\" __global__ void step(float* x, int n) {\n"
        "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (i < n) x[i] = x[i] * 0.5f + 1.0f;\n"
        "}",
        "step");
    const auto blocks = static_cast<std::uint32_t>((n + 255) / 256);
    const auto launches = [&] {
        for (int i = 0; i < kernels; ++i) step(blocks, 256, inout(x), static_cast<int>(n));
    };
    const stream s;
    {
        with_stream in(s);
        launches();  // compiles, and makes the array the stream's own, so that nothing is waited for
        s.synchronize();
    }
    CUgraphExec hand = by_hand(s, launches);
    const graph recorded = capture(launches);
    with_stream in(s);
    const double one_by_one = microseconds(launches), graphs = microseconds([&] { recorded.launch(); }),
                 hands = microseconds([&] {
                     runtime::check(runtime::driver()->cuGraphLaunch(hand, static_cast<CUstream>(s.native_handle())),
                                    "launching a graph");
                 });
    const std::string size = " of " + std::to_string(n) + " elements";
    out.add({.section = "graphs",
             .name = "a graph of " + std::to_string(kernels) + " kernels" + size,
             .unit = "us",
             .time = graphs,
             .baseline = "the graph made by hand",
             .baseline_time = hands,
             .kind = bench::promise::share,
             .goal = 1 / 1.1,
             .note = "one by one " + std::to_string(one_by_one) + " us"});
    array<float> rest = ones<float>(n), total = full<float>({}, 1.0F), turns = zeros<float>({});
    const auto loop = [&] {
        rest.fill(1);
        total.fill(1);
        turns.fill(0);
        loop_while([&] { return total > 1e-6F; },
                   [&] {
                       rest *= 0.99F;
                       assign(total, mean(rest));
                       turns += 1;
                   });
    };
    const graph looped = capture(loop);
    const double without = microseconds([&] { looped.launch(); }), with_reads = microseconds(loop);
    out.add({.section = "graphs",
             .name = "a loop of " + std::to_string(static_cast<int>(turns.item())) + " turns" + size,
             .unit = "us",
             .time = without,
             .baseline = "with a read in each turn",
             .baseline_time = with_reads,
             .kind = bench::promise::share,
             .goal = 1.5});
    runtime::driver()->cuGraphExecDestroy(hand);
}
