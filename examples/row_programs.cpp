// Softmax and layer norm over the rows of a matrix: plain expressions in which reductions go back along the row.
// row_programs [ROWS COLUMNS]
#include <cstdio>
#include <cstdlib>

#include <ingot/ingot.hpp>

#include "measured.hpp"

using namespace ingot;

namespace {

/// Rows with mean 0 and variance 1, scaled and shifted by columns.
auto layer_norm(const array<float>& x, const array<float>& scale, const array<float>& shift) {
    return (x - mean(x, 1, keepdims)) / sqrt(var(x, 1, keepdims) + 1e-5) * scale + shift;
}

array<float> softmax_op_by_op(const array<float>& x) {
    const array<float> largest = max(x, 1, keepdims);
    const array<float> shifted = x - largest;
    const array<float> powers = exp(shifted);
    const array<float> total = sum(powers, 1, keepdims);
    return powers / total;
}

array<float> layer_norm_op_by_op(const array<float>& x, const array<float>& scale, const array<float>& shift) {
    const array<float> average = mean(x, 1, keepdims);
    const array<float> centred = x - average;
    const array<float> squares = centred * centred;
    const array<float> variance = mean(squares, 1, keepdims);
    const array<float> deviation = sqrt(variance + 1e-5);
    const array<float> standard = centred / deviation;
    const array<float> scaled = standard * scale;
    return scaled + shift;
}

}  // namespace

int main(int argc, char** argv) {
    const device d = current_device();
    const index_t rows = argc > 2 ? std::atoll(argv[1]) : d.is_cuda() ? 65536 : 2048;
    const index_t columns = argc > 2 ? std::atoll(argv[2]) : 4096;
    const array<float> x = 2 + random::normal<float>({rows, columns});
    const array<float> scale = random::uniform<float>({columns}), shift = random::uniform<float>({columns});
    array<float> fused, apart;

    std::printf("%lld rows of %lld float32 on %s, %s\n\n%-24s %8s %12s %12s\n", static_cast<long long>(rows),
                static_cast<long long>(columns), to_string(d).c_str(), d.name().c_str(), "", "kernels", "us",
                "GB/s of x");
    const auto report = [&](const char* what, auto run) {
        const measured m = measure(run);
        std::printf("%-24s %8llu %12.1f %12.1f\n", what, static_cast<unsigned long long>(m.kernels), m.microseconds,
                    rate(8.0 * static_cast<double>(rows * columns), m.microseconds));
    };
    const auto largest_difference = [&] { return max(abs(fused - apart)).item(); };

    report("softmax, fused", [&] { fused = softmax(x, 1); });
    report("softmax, op by op", [&] { apart = softmax_op_by_op(x); });
    std::printf("rows sum to 1 within %.1e, the two differ by at most %.1e\n\n",
                max(abs(sum(astype<double>(fused), 1) - 1)).item(), static_cast<double>(largest_difference()));

    report("layer norm, fused", [&] { fused = layer_norm(x, scale, shift); });
    report("layer norm, op by op", [&] { apart = layer_norm_op_by_op(x, scale, shift); });
    std::printf("the two differ by at most %.1e\n", static_cast<double>(largest_difference()));
}
