// where(x - 2 > y, x * y, x + y) over sizes 2^10 to 2^28, fused, op by op and hand-written: the README's plot.
// Every size rotates among buffers of 512 MiB together (at most 64 sets), so that from 2^18 on none is found in a
// cache.
//   sizes RESULTS.jsonl [LARGEST_LOG2]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include <ingot/ingot.hpp>

#include "gpu.hpp"
#include "host_data.hpp"
#include "report.hpp"
#include "roofs.hpp"

namespace {

using namespace ingot;
using bench::median;

/// Separate buffers for each method of computing.
struct buffers {
    array<float> x, y, fused, op_by_op, by_hand;
};

void check(const char* what, const array<float>& result, const std::vector<float>& x, const std::vector<float>& y) {
    const std::vector<float> values = result.to_host();
    bench::require(what, values.size(), 0, [&](std::size_t i) {
        return values[i] == (x[i] - 2 > y[i] ? x[i] * y[i] : x[i] + y[i]) ? 0.0 : 1.0;
    });
}

void measure(bench::report& out, const bench::hand_kernel& kernel, int log2_elements) {
    const std::size_t n = std::size_t{1} << log2_elements;
    const std::size_t count = std::clamp((std::size_t{1} << 29) / (12 * n), std::size_t{1}, std::size_t{64});
    const std::size_t repeats = std::clamp((std::size_t{1} << 24) / n, std::size_t{1}, std::size_t{256});
    const auto seed = static_cast<std::uint64_t>(100 + 2 * log2_elements);
    const auto x_host = bench::uniform<float>(n, seed, -4, 4), y_host = bench::uniform<float>(n, seed + 1, -4, 4);
    std::vector<buffers> sets(count);
    for (buffers& set : sets) {
        set.x = asarray(x_host);
        set.y = asarray(y_host);
        set.by_hand = empty<float>(n);
    }
    std::vector<float*> to;
    for (buffers& set : sets) to.push_back(set.by_hand.mutable_data());

    const auto of = [&](int repeat) -> buffers& { return sets[static_cast<std::size_t>(repeat) % count]; };
    const auto fused = [&](int repeat) {
        buffers& b = of(repeat);
        b.fused = where(b.x - 2 > b.y, b.x * b.y, b.x + b.y);
    };
    const auto op_by_op = [&](int repeat) {
        buffers& b = of(repeat);
        const array<float> difference = b.x - 2;
        const array<bool> condition = difference > b.y;
        const array<float> product = b.x * b.y;
        const array<float> sum = b.x + b.y;
        b.op_by_op = where(condition, product, sum);
    };
    const std::size_t blocks = bench::blocks_for(n / 4, 256, 1);
    const auto by_hand = [&](int repeat) {
        const buffers& b = of(repeat);
        kernel(blocks, 256, b.x.data(), b.y.data(), to[static_cast<std::size_t>(repeat) % count], std::size_t{n / 4});
    };

    fused(0);
    op_by_op(0);
    by_hand(0);
    check("fused", sets[0].fused, x_host, y_host);
    check("op by op", sets[0].op_by_op, x_host, y_host);
    check("hand-written", sets[0].by_hand, x_host, y_host);

    const auto times = bench::time_in_turn({fused, op_by_op, by_hand}, bench::rounds, static_cast<int>(repeats));
    const char* const names[] = {"fused", "op by op", "hand-written"};
    for (std::size_t c = 0; c < 3; ++c)
        out.add({.section = "sizes",
                 .name = std::string(names[c]) + ", 2^" + std::to_string(log2_elements),
                 .unit = "us",
                 .time = median(times[c]),
                 .baseline = "hand-written",
                 .baseline_time = median(times[2]),
                 .elements = n,
                 .bytes = 12 * n});
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc < 2) return std::fprintf(stderr, "usage: sizes RESULTS.jsonl [LARGEST_LOG2]\n"), 2;
    const int largest = std::clamp(argc > 2 ? std::atoi(argv[2]) : 28, 10, 30);
    bench::report out(argv[1]);
    const bench::hand_kernel kernel("where.cu", "where", {"-DTHREADS=256", "-DVECTORS=1"});
    for (int log2_elements = 10; log2_elements <= largest; ++log2_elements) measure(out, kernel, log2_elements);
} catch (const std::exception& reason) {
    std::fprintf(stderr, "sizes: %s\n", reason.what());
    return 1;
}
