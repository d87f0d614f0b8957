// The launches of a radix sort: (1) histograms of all digits in one read; (2) sums, which give the start of each digit;
// (3) for each digit a pass that reads and writes the keys, whose blocks find their positions by look-back.
#include "runtime/sorting/radix_sort.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <string>

#include <ingot/core/buffer.hpp>
#include <ingot/core/error.hpp>

#include "runtime/device/device_facts.hpp"
#include "runtime/device/ordering.hpp"
#include "runtime/kernels/own_kernels.hpp"
#include "runtime/sorting/key_order.hpp"
#include "runtime/sorting/radix_kernels.hpp"
#include "runtime/system/warning.hpp"

namespace ingot::runtime {

#ifndef INGOT_SORTING_KERNELS
std::span<const kernel_image> radix_images() { return {}; }
#endif

radix_limits& limits_of_radix_sort() {
    static radix_limits limits;
    return limits;
}

#ifdef INGOT_HAS_CUDA_HEADERS

namespace {

using namespace radix;

/// The image that runs on GPUs of an architecture; null where there is none.
const kernel_image* image_for(int architecture) {
    const kernel_image* best = nullptr;
    for (const kernel_image& image : radix_images()) {
        if (image.architecture > architecture) continue;
        if (!image.ptx && image.architecture / 10 != architecture / 10) continue;
        const bool better = best == nullptr || (best->ptx && !image.ptx) ||
                            (best->ptx == image.ptx && image.architecture > best->architecture);
        if (better) best = &image;
    }
    return best;
}

constexpr int sizes = 4;  // of keys: 1, 2, 4 and 8 bytes
std::size_t size_index(std::size_t bytes) { return static_cast<std::size_t>(std::countr_zero(bytes)); }

struct radix_kernels {
    explicit radix_kernels(const kernel_image& image)
        : architecture(image.architecture),
          module(target::cuda, "radix sort", std::as_bytes(std::span(image.begin, image.end))) {
        const auto find = [&](const std::string& name) { return std::make_unique<loaded_kernel>(module.kernel(name)); };
        for (std::size_t i = 0; i < sizes; ++i) {
            const std::string key = std::to_string(1 << i);
            for (const bool wide : {false, true}) {
                const std::string offset = wide ? "8" : "4";
                histograms[i][wide] = find("histogram_" + key + "_" + offset);
                passes[i][wide][false] = find("pass_" + key + "_0_" + offset);
                passes[i][wide][true] = find("pass_" + key + "_" + offset + "_" + offset);
            }
        }
        sums[false] = find("exclusive_sum_4");
        sums[true] = find("exclusive_sum_8");
    }

    using kernel = std::unique_ptr<const loaded_kernel>;
    int architecture;
    kernel_module module;
    kernel histograms[sizes][2], passes[sizes][2][2], sums[2];  // [size][64-bit offsets][with values]
};

/// Null where there are none.
std::unique_ptr<const radix_kernels> load_radix_kernels(std::uint32_t architecture) {
    const std::string slower = "rows are sorted by Ingot's own kernels, in more passes than CUB's: ";
    const kernel_image* const image = image_for(static_cast<int>(architecture));
    if (image == nullptr) {
        warn_once(slower + "Ingot was built without these for sm_" + std::to_string(architecture) +
                  " (INGOT_SORTING_ARCHITECTURES)");
        return nullptr;
    }
    try {
        return std::make_unique<const radix_kernels>(*image);
    } catch (const error& reason) {
        warn_once(slower + reason.what());
        return nullptr;
    }
}

const radix_kernels* kernels_of(device_id device) {
    return kernels_made_once<std::unique_ptr<const radix_kernels>>(device, "radix sort", {}, load_radix_kernels).get();
}

template <class Arguments>
void launch(const loaded_kernel& kernel, Arguments a, index_t blocks, index_t rows, int threads,
            const stream_state& stream) {
    launch_kernel("sort", kernel, a, static_cast<unsigned>(blocks), static_cast<unsigned>(rows),
                  static_cast<unsigned>(threads), stream);
}

/// The number of blocks that a GPU runs at once.
index_t resident_blocks(const loaded_kernel& kernel, int threads, device_id device) {
    codegen::launch step;
    step.threads = static_cast<std::uint32_t>(threads);
    int blocks = 1;
    check(driver()->cuOccupancyMaxActiveBlocksPerMultiprocessor(
              &blocks, static_cast<CUfunction>(kernel.on_gpu(device.index(), step)), threads, 0),
          "sort");
    return std::max<index_t>(1, blocks) * processors_of(device);
}

constexpr index_t ceil_div(index_t a, index_t b) { return (a + b - 1) / b; }

/// Rows of a temporary, the operand or the result.
struct rows_of_array {
    std::byte* data = nullptr;
    index_t stride = 0;  // in elements of the array
};

/// Gives out pieces of one buffer; without a buffer, adds up their sizes.
class pieces {
public:
    std::byte* take(std::size_t bytes) {
        std::byte* const piece = begin_ == nullptr ? nullptr : begin_ + taken_;
        taken_ += (bytes + 255) / 256 * 256;
        return piece;
    }
    std::size_t taken() const { return taken_; }
    void start(void* begin) { begin_ = static_cast<std::byte*>(begin), taken_ = 0; }

private:
    std::byte* begin_ = nullptr;
    std::size_t taken_ = 0;
};

/// A sort of all rows at once.
class radix_sort {
public:
    radix_sort(const radix_kernels& kernels, const sorted_rows& r, dtype type, bool as_indices, stream_state& stream)
        : kernels_(kernels),
          r_(r),
          as_indices_(as_indices),
          key_bytes_(detail::size_of(type)),
          wide_(r.length > limits_of_radix_sort().narrow_length),
          value_bytes_(!as_indices ? 0
                       : wide_     ? 8
                                   : 4),
          order_(order_of(type, as_indices)),
          tile_(tile_of(kernels.architecture, static_cast<int>(key_bytes_), static_cast<int>(value_bytes_),
                        wide_ ? 8 : 4)),
          portion_(std::max<index_t>(limits_of_radix_sort().portion / tile_.size(), 1) * tile_.size()),
          portions_(ceil_div(r.length, portion_)),
          passes_(static_cast<index_t>(key_bytes_)),
          stream_(stream) {}

    void run() {
        lay_out();
        const buffer_ref scratch = allocate_buffer(pieces_.taken(), stream_.device, stream_);
        order_write(*scratch, stream_);
        pieces_.start(scratch->data);
        lay_out();
        const rows_of_array from = operand();
        count(from);
        rows_of_array keys = from, values;
        for (index_t pass = 0; pass < passes_; ++pass) {
            const bool last = pass + 1 == passes_;
            const rows_of_array to = {r_.to, r_.to_stride};
            rows_of_array keys_to, values_to;
            if (as_indices_) {
                if (!last) keys_to = {keys_[pass % 2], r_.length};
                // The result also serves as a temporary.
                if (last)
                    values_to = to;
                else if (pass % 2 == 1)
                    values_to = {r_.to, r_.to_stride * 8 / static_cast<index_t>(value_bytes_)};
                else
                    values_to = {values_, r_.length};
            } else {
                keys_to = (passes_ - pass) % 2 == 1 ? to : rows_of_array{keys_[0], r_.length};
            }
            scatter(pass, keys, keys_to, values, values_to);
            keys = keys_to, values = values_to;
        }
    }

private:
    std::size_t offset_bytes() const { return wide_ ? 8 : 4; }
    std::size_t keys_of_rows() const { return static_cast<std::size_t>(r_.rows * r_.length) * key_bytes_; }
    /// A sort of one pass cannot overwrite its input.
    bool in_place() const { return passes_ == 1 && !as_indices_ && r_.from == r_.to; }

    void lay_out() {
        const auto all = static_cast<std::size_t>(portions_ * passes_ * r_.rows);
        counters_ = pieces_.take(all * sizeof(int));
        bins_ = pieces_.take(all * digits * offset_bytes());
        lookback_ = pieces_.take(static_cast<std::size_t>(tiles_of(std::min(r_.length, portion_)) * r_.rows * digits) *
                                 sizeof(int));
        if (passes_ > 1 || in_place()) keys_[0] = pieces_.take(keys_of_rows());
        if (passes_ > 2 && as_indices_) keys_[1] = pieces_.take(keys_of_rows());
        if (passes_ > 1 && as_indices_)
            values_ = pieces_.take(static_cast<std::size_t>(r_.rows * r_.length) * value_bytes_);
    }
    index_t tiles_of(index_t length) const { return ceil_div(length, tile_.size()); }

    rows_of_array operand() const {
        const rows_of_array from{const_cast<std::byte*>(r_.from), r_.from_stride};
        if (!in_place()) return from;
        const bool gapless = r_.rows == 1 || r_.from_stride == r_.length;
        const auto row = static_cast<std::size_t>(r_.length) * key_bytes_;
        for (index_t i = 0; i < (gapless ? 1 : r_.rows); ++i)
            stream_.backend->copy(keys_[0] + static_cast<std::size_t>(i) * row,
                                  r_.from + static_cast<std::size_t>(i * r_.from_stride) * key_bytes_,
                                  gapless ? static_cast<std::size_t>(r_.rows) * row : row, copy_direction::within,
                                  stream_.native);
        return {keys_[0], r_.length};
    }

    /// Computes the start of each digit in the first portion of each row.
    void count(const rows_of_array& keys) {
        const std::size_t bins = static_cast<std::size_t>(passes_ * r_.rows) * digits * offset_bytes();
        stream_.backend->fill(counters_, 0, static_cast<std::size_t>(bins_ - counters_) + bins, stream_.native);
        const loaded_kernel& histogram = *kernels_.histograms[size_index(key_bytes_)][wide_];
        const index_t tiles = ceil_div(r_.length, histogram_threads * histogram_items),
                      resident = resident_blocks(histogram, histogram_threads, stream_.device);
        launch(histogram,
               histogram_arguments{keys.data, bins_, keys.stride, r_.length, static_cast<int>(passes_) * digit_bits,
                                   order_},
               std::min(tiles, std::max<index_t>(1, resident / r_.rows)), r_.rows, histogram_threads, stream_);
        launch(*kernels_.sums[wide_], static_cast<void*>(bins_), passes_ * r_.rows, 1, digits, stream_);
    }

    void scatter(index_t pass, const rows_of_array& keys, const rows_of_array& keys_to, const rows_of_array& values,
                 const rows_of_array& values_to) {
        const bool last = pass + 1 == passes_;
        const std::size_t bins_of_pass = digits * offset_bytes();
        for (index_t portion = 0; portion < portions_; ++portion) {
            pass_arguments a{};
            a.keys = keys.data, a.key_stride = keys.stride;
            a.sorted_keys = keys_to.data, a.sorted_key_stride = keys_to.stride;
            a.values = values.data, a.value_stride = values.stride;
            a.sorted_values = values_to.data, a.sorted_value_stride = values_to.stride;
            a.first = portion * portion_;
            const index_t length = std::min(portion_, r_.length - portion * portion_), tiles = tiles_of(length);
            a.length = static_cast<int>(length);
            a.lookback = reinterpret_cast<int*>(lookback_), a.lookback_stride = tiles * digits;
            a.counters = reinterpret_cast<int*>(counters_) + (portion * passes_ + pass) * r_.rows;
            a.counters_stride = 1;
            a.bins = bins_ + static_cast<std::size_t>(portion * r_.rows * passes_ + pass) * bins_of_pass;
            if (portion + 1 < portions_)
                a.next_bins = bins_ + static_cast<std::size_t>((portion + 1) * r_.rows * passes_ + pass) * bins_of_pass;
            a.bins_stride = passes_ * digits;
            a.bit = static_cast<int>(pass) * digit_bits, a.bits = digit_bits;
            a.maps_in = pass == 0, a.maps_out = last, a.wide = last && as_indices_;
            a.order = order_;
            stream_.backend->fill(lookback_, 0, static_cast<std::size_t>(tiles * r_.rows * digits) * sizeof(int),
                                  stream_.native);
            launch(*kernels_.passes[size_index(key_bytes_)][wide_][as_indices_], a, tiles, r_.rows, tile_.threads,
                   stream_);
        }
    }

    const radix_kernels& kernels_;
    const sorted_rows r_;
    const bool as_indices_;
    const std::size_t key_bytes_;
    const bool wide_;  // 64-bit offsets, and values
    const std::size_t value_bytes_;
    const key_order order_;
    const tile_shape tile_;
    const index_t portion_, portions_, passes_;
    stream_state& stream_;
    pieces pieces_;
    std::byte *counters_ = nullptr, *bins_ = nullptr, *lookback_ = nullptr, *keys_[2] = {}, *values_ = nullptr;
};

}  // namespace

bool has_radix_sort(device_id device) { return kernels_of(device) != nullptr; }

void radix_sort_rows(const sorted_rows& r, dtype type, bool as_indices, stream_state& stream) {
    const radix_kernels* const kernels = kernels_of(stream.device);
    if (kernels == nullptr) throw library_error("[sort] the library holds no kernels of CUB's for this GPU");
    constexpr index_t most_rows = 65535;  // of a grid
    const auto from_bytes = static_cast<index_t>(detail::size_of(type)),
               to_bytes = as_indices ? index_t{8} : from_bytes;
    for (index_t i = 0; i < r.rows; i += most_rows) {
        sorted_rows part = r;
        part.rows = std::min(most_rows, r.rows - i);
        part.from += i * r.from_stride * from_bytes;
        part.to += i * r.to_stride * to_bytes;
        radix_sort(*kernels, part, type, as_indices, stream).run();
    }
}

#else

bool has_radix_sort(device_id) { return false; }
void radix_sort_rows(const sorted_rows&, dtype, bool, stream_state&) {
    throw library_error("[sort] Ingot was built without CUDA's headers");
}

#endif

}  // namespace ingot::runtime
