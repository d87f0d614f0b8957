// Folds of segments. On the host, workers go through the rows. On a GPU, a thread folds one element of a segment's
// result; where segments are long, it folds blocks of rows that a reduction has folded before. Both add runs of rows
// first and then their sums, so that the rounding error does not grow with one number alone.
#include <ingot/core/segments.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <ingot/core/error.hpp>
#include <ingot/kernels/user_kernels.hpp>

#include "runtime/device/host_workers.hpp"
#include "runtime/kernels/folds.hpp"

namespace ingot::detail {

namespace {

constexpr index_t run_length = 256;  // rows that are added first

template <class R, class V, class F>
void fold_rows(const V* values, index_t inner, index_t first, index_t end, R* to, R* part, const F& join) {
    for (index_t start = first; start < end; start += run_length) {
        const index_t stop = std::min(start + run_length, end);
        for (index_t row = start; row < stop; ++row)
            for (index_t j = 0; j < inner; ++j) {
                const R x = static_cast<R>(values[row * inner + j]);
                part[j] = row == start ? x : join(part[j], x);
            }
        for (index_t j = 0; j < inner; ++j) to[j] = start == first ? part[j] : join(to[j], part[j]);
    }
}

template <class R, class V, class F>
void fold_on_host(const V* values, index_t rows, index_t inner, std::span<const index_t> starts,
                  std::span<const index_t> ends, R nothing, R* to, const F& join) {
    runtime::run_on_workers(starts.size(), [&](std::size_t begin, std::size_t end) {
        std::vector<R> part(static_cast<std::size_t>(inner));
        for (std::size_t s = begin; s < end; ++s) {
            R* const result = to + static_cast<index_t>(s) * inner;
            std::fill_n(result, inner, nothing);
            fold_rows(values, inner, std::max<index_t>(starts[s], 0), std::min(ends[s], rows), result, part.data(),
                      join);
        }
    });
}

using segment_kernel = elementwise_kernel<
    "raw V a, raw R blocks, raw int64 starts, raw int64 ends, int64 skipped, int64 in_blocks, "
    "int64 inner, R nothing",
    "R y">;
const segment_kernel& segment_text(fold f) {
    const auto made = [](const std::string& join) {
        return segment_kernel(
            "const int64 s = i / inner, j = i % inner, rows = a.size() / inner;\n"
            "        int64 row = starts[s] < 0 ? 0 : starts[s];\n"
            "        const int64 given = ends[s + skipped], end = given < rows ? given : rows;\n"
            "        y = nothing;\n"
            "        for (bool first = true; row < end; first = false) {\n"
            "            const int64 block = row / 256;\n"
            "            R p;\n"
            "            if (block * 256 == row && row + 256 <= end && block < in_blocks) {\n"
            "                p = blocks[block * inner + j];\n"
            "                row += 256;\n"
            "            } else {\n"
            "                const int64 stop = block * 256 + 256 < end ? block * 256 + 256 : end;\n"
            "                p = R(a[row++ * inner + j]);\n"
            "                for (; row < stop; ++row) {\n"
            "                    const R q = R(a[row * inner + j]);\n"
            "                    p = " +
                join +
                ";\n"
                "                }\n"
                "            }\n"
                "            if (!first) {\n"
                "                const R q = y;\n"
                "                p = " +
                join +
                ";\n"
                "            }\n"
                "            y = p;\n"
                "        }",
            "segments");
    };
    static const segment_kernel sum = made("p + q"), max = made("p >= q || p != p ? p : q"),
                                min = made("p <= q || p != p ? p : q");
    return f == fold::sum ? sum : f == fold::max ? max : min;
}

/// Folded runs of rows; empty where segments are short.
template <class R, class V>
array<R> folded_blocks(fold f, const array<V>& values, index_t inner, index_t segments) {
    const index_t rows = values.size() / inner, blocks = rows / run_length;
    if (rows < 64 * segments || blocks < 16) return zeros<R>({0, inner});
    const auto all =
        astype<R>(reshape(reshape(values, {-1})(slice(0, blocks * run_length * inner)), {blocks, run_length, inner}));
    if (f == fold::sum) return array<R>(sum(all, 1));
    return f == fold::max ? array<R>(max(all, 1)) : array<R>(min(all, 1));
}

}  // namespace

void check_offsets(const char* operation, std::span<const index_t> offsets) {
    if (offsets.size() != 1 || offsets[0] == 0)
        throw shape_error("[" + std::string(operation) + "] offsets of shape " + to_text(offsets) +
                          ": a vector of one more than there are segments is wanted");
}

template <class V>
lazy<segment_result<V>> folded_segments(const char* operation, fold f, const lazy<V>& values,
                                        const array<index_t>& starts, const array<index_t>& ends, index_t skipped) {
    using R = segment_result<V>;
    if (values.ndim() == 0)
        throw shape_error("[" + std::string(operation) + "] values of shape (): one axis or more are wanted");
    if (const device_id a = values.on_device(), b = starts.as_leaf().on_device(); a != b && a != no_device)
        throw_two_devices(operation, a, b);
    const with_device beside(starts.device());
    const array<V> given(values);
    const shape_like whole = given.shape();
    std::vector<index_t> shape(whole.begin(), whole.end());
    const index_t rows = shape[0], segments = ends.size() - skipped;
    shape[0] = 1;
    const index_t inner = extents_ref::of(shape).size();
    shape[0] = segments;
    const R nothing = runtime::folds::identity_of<R>(facts(f).start);
    if (segments * inner == 0 || rows == 0) return full<R>(shape_like(shape), nothing);
    if (!starts.device().is_host()) {
        const array<R> blocks = folded_blocks<R>(f, given, inner, segments);
        const auto all = segment_text(f)(given, blocks, starts, ends, skipped, blocks.shape()[0], inner, nothing,
                                         of_size(segments * inner));
        return lazy<R>(reshape(all, shape_like(shape)));
    }
    leaf<R> result = new_leaf<R>(operation, shape, starts.as_leaf().on_device());
    const auto run = [&](const auto& join) {
        fold_on_host(given.data(), rows, inner, {starts.data(), static_cast<std::size_t>(segments)},
                     {ends.data() + skipped, static_cast<std::size_t>(segments)}, nothing,
                     static_cast<R*>(result.memory()->data), join);
    };
    if (f == fold::sum)
        run([](R a, R b) { return runtime::folds::sum::join(a, b); });
    else if (f == fold::max)
        run([](R a, R b) { return runtime::folds::max::join(a, b); });
    else
        run([](R a, R b) { return runtime::folds::min::join(a, b); });
    return array<R>(adopted{}, std::move(result));
}

#define INGOT_SEGMENTS(V)                                                                         \
    template INGOT_API lazy<segment_result<V>> folded_segments(const char*, fold, const lazy<V>&, \
                                                               const array<index_t>&, const array<index_t>&, index_t);
INGOT_SEGMENTS(index_t)
INGOT_SEGMENTS(std::uint64_t)
INGOT_SEGMENTS(float)
INGOT_SEGMENTS(double)

}  // namespace ingot::detail
