// Transfers that run while others compute: pieces of an array on the host go to the GPU, are worked on and come back,
// by turns on two streams, through pinned memory. On one stream each waits for the one before. overlap [ELEMENTS OF A
// PIECE] [PIECES]
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <ingot/ingot.hpp>

using namespace ingot;

namespace {

/// As much work as a transfer takes, or so.
auto worked_on(const array<float>& x) {
    lazy<float> y = x;
    for (int k = 0; k < 24; ++k) y = y + 0.1f * sin(y);
    return y;
}

double milliseconds(const std::vector<stream>& streams, const std::vector<array<float>>& in,
                    std::vector<array<float>>& out, device on) {
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < in.size(); ++i) {
        const with_stream here(streams[i % streams.size()]);
        array<float> piece = in[i].to(on);  // the host goes on at once: the memory is pinned
        piece = worked_on(piece);
        transfer(out[i], piece);
    }
    for (const stream& s : streams) s.synchronize();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main(int argc, char** argv) {
    const index_t n = argc > 1 ? std::atoll(argv[1]) : 1 << 22;
    const std::size_t pieces = argc > 2 ? static_cast<std::size_t>(std::atoll(argv[2])) : 16;
    const device on = current_device();
    std::vector<array<float>> in, out;
    for (std::size_t i = 0; i < pieces; ++i) {
        in.push_back(empty_pinned<float>(n));
        out.push_back(empty_pinned<float>(n));
        in.back().fill(static_cast<float>(i));
    }
    const std::vector<stream> one{stream(on)}, two{stream(on), stream(on)};
    milliseconds(two, in, out, on);  // compiles, and takes memory
    const double in_turn = milliseconds(one, in, out, on), overlapped = milliseconds(two, in, out, on);

    std::printf("%zu pieces of %lld elements, there and back, on %s\n", pieces, static_cast<long long>(n),
                on.name().c_str());
    std::printf("on one stream %.2f ms, on two %.2f ms: %.2f times as fast\n", in_turn, overlapped,
                in_turn / overlapped);
    if (on.is_host()) std::puts("On a host work is done when a statement ends: nothing overlaps.");
    double expected = 1;
    for (int k = 0; k < 24; ++k) expected += 0.1 * std::sin(expected);
    if (pieces > 1) std::printf("of 1 became %.6f, should be: %.6f\n", static_cast<double>(out[1](0).item()), expected);
}
