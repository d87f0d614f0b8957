// Fourier transforms of trees (libraries.def): cuFFT on a GPU, FFTW on the host, each opened on first use.
#pragma once

#include <string>
#include <vector>

#include "runtime/front/library_functions.hpp"

namespace ingot::runtime {

/// The functions behind the rows of each name, for any number of axes. They do not scale. They throw library_error
/// where the library is missing or reports a failure.
void fft(const library_arguments&);
void ifft(const library_arguments&);
/// rfft transforms real numbers and keeps the first half of the spectrum's last axis. irfft transforms such a half
/// back, takes it as complete, and overwrites its operand.
void rfft(const library_arguments&);
void irfft(const library_arguments&);

/// A library's call: a transform along all of `own` for each point of `batch`.
struct transform {
    enum class direction : std::uint8_t { forward, inverse, to_complex, to_real };
    /// Strides are in elements of the array to which they belong.
    struct axis {
        index_t extent, from, to;
    };

    direction how;
    dtype part;               // float32 or float64
    std::vector<axis> own;    // the last one's extent counts the real numbers, where there are any
    std::vector<axis> batch;  // extents above 1; axes that can be walked as one are joined
    void* from;
    void* to;

    std::size_t bytes_from() const { return detail::size_of(part) * (how == direction::to_complex ? 1 : 2); }
    std::size_t bytes_to() const { return detail::size_of(part) * (how == direction::to_real ? 1 : 2); }
    /// The last axis of each array; one of the two may be half as long.
    index_t last_from() const { return how == direction::to_real ? own.back().extent / 2 + 1 : own.back().extent; }
    index_t last_to() const { return how == direction::to_complex ? own.back().extent / 2 + 1 : own.back().extent; }
    /// The longest axis of the batch; the batch's size where there is none.
    std::size_t longest_of_batch() const;
    /// "a transform of (4096, 4096), 3 times"
    std::string text() const;
};
void call_fftw(const transform&);
void call_cufft(const transform&, stream_state&);

/// Calls f(from, to) with the arrays' addresses for each point of the batch, without its axis `without`.
template <class F>
void for_each_of_batch(const transform& t, std::size_t without, F&& f) {
    index_t points = 1;
    for (std::size_t j = 0; j < t.batch.size(); ++j) points *= j == without ? 1 : t.batch[j].extent;
    for (index_t i = 0; i < points; ++i) {
        index_t from = 0, to = 0, left = i;
        for (std::size_t j = t.batch.size(); j-- > 0;) {
            if (j == without) continue;
            const index_t digit = left % t.batch[j].extent;
            left /= t.batch[j].extent;
            from += digit * t.batch[j].from, to += digit * t.batch[j].to;
        }
        f(static_cast<std::byte*>(t.from) + from * static_cast<index_t>(t.bytes_from()),
          static_cast<std::byte*>(t.to) + to * static_cast<index_t>(t.bytes_to()));
    }
}

}  // namespace ingot::runtime
