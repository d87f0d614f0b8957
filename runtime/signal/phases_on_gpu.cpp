// See phases.hpp. The kernel is compiled for a filter's steps and its number of taps, whose values are arguments.
#include "runtime/signal/phases.hpp"

#include <algorithm>
#include <complex>
#include <string>

#include <ingot/core/dtype.hpp>

#include "runtime/kernels/own_kernels.hpp"
#include "runtime/signal/phases.cuh.hpp"

namespace ingot::runtime {

using detail::index_t;

#ifdef INGOT_HAS_CUDA_HEADERS

namespace {

constexpr index_t threads = 128;  // of a block

/// Periods of `up` results that a thread computes; 0 where one does not fit.
index_t periods_of_thread(const rate_filter& f, dtype type) {
    constexpr index_t most_steps = 64, most_results = 16, most_words = 96, most_products = 512, most_tap_bytes = 3072,
                      most_shared_words = 10240;
    const auto words = static_cast<index_t>(detail::size_of(type)) / 4;
    const bool complex = detail::kind_of(type) == detail::kind::complex;
    const index_t tap_bytes = words * (complex ? 2 : 4) * f.size();
    if (f.up > most_steps || f.down > most_steps || f.size() < 1 || tap_bytes > most_tap_bytes) return 0;
    const index_t window = (f.size() + f.up - 1) / f.up + ((f.up - 1) * f.down + f.middle % f.up) / f.up;
    for (const index_t periods : {4, 2, 1})
        if (periods * f.up <= most_results && periods * f.size() <= most_products &&
            threads * periods * std::max(f.down, f.up) * words <= most_shared_words &&
            ((periods - 1) * f.down + window + periods * f.up) * words <= most_words)
            return periods;
    return 0;
}

index_t results_of_block(const rate_filter& f, dtype type) { return threads * periods_of_thread(f, type) * f.up; }
constexpr index_t blocks_of_row(index_t results, index_t count) { return (count + results - 1) / results; }

}  // namespace

bool can_sum_phases(const rate_filter& f, dtype type, index_t rows, index_t count) {
    constexpr index_t most_idle = 4;  // times as many threads as have results; a single row is short anyway
    const index_t results = results_of_block(f, type);
    return results != 0 && blocks_of_row(results, count) <= INT32_MAX / std::max<index_t>(rows, 1) &&
           (rows == 1 || count * most_idle >= results);
}

namespace {

struct phase_kernels {
    loaded_kernel sum_phases;
};

/// The text's struct has as many taps as the filter.
template <class T, class R>
struct phase_arguments {
    const T* elements;
    T* results;
    long long extent, count, first;
    R beyond;
    unsigned tiles;
    R taps[3072 / sizeof(R)];
};

std::string text_of_phases(const rate_filter& f, dtype type) {
    const bool complex = detail::kind_of(type) == detail::kind::complex;
    const std::string part = detail::size_of(type) == (complex ? 8U : 4U) ? "float" : "double";
    const auto constant = [](const std::string& name, index_t n) { return name + " = " + std::to_string(n); };
    return "typedef " + part + " part;\n" + (complex ? "#define COMPLEX\n" : "") + "constexpr int " +
           constant("up", f.up) + ", " + constant("down", f.down) + ", " + constant("size", f.size()) + ", " +
           constant("place", f.middle % f.up) + ", " + constant("periods", periods_of_thread(f, type)) + ", " +
           constant("threads", threads) + ";\n" + std::string(embedded::phases);
}

template <class T, class R>
void sum_phases(const rate_filter& f, const phase_sums& s, stream_state& stream) {
    const index_t tiles = blocks_of_row(results_of_block(f, s.type), s.count), blocks = tiles * s.rows;
    if (blocks == 0) return;
    phase_arguments<T, R> a{static_cast<const T*>(s.elements),
                            static_cast<T*>(s.results),
                            s.extent,
                            s.count,
                            f.middle / f.up - (f.size() - 1) / f.up,
                            static_cast<R>(s.beyond),
                            static_cast<unsigned>(tiles),
                            {}};
    std::ranges::transform(f.taps, a.taps, [](double tap) { return static_cast<R>(tap); });
    const phase_kernels& kernels = own_kernels<phase_kernels>(stream.device, {"sum_phases"},
                                                              {s.type, f.up * 64 + f.middle % f.up, f.down, f.size()},
                                                              [&] { return text_of_phases(f, s.type); });
    launch_kernel("resample", kernels.sum_phases, a, static_cast<unsigned>(blocks), 1, threads, stream);
}

}  // namespace

void sum_phases_on_gpu(const rate_filter& f, const phase_sums& s, stream_state& stream) {
    stream.backend->bind_thread();
    switch (s.type) {
        case dtype::f4:
            return sum_phases<float, float>(f, s, stream);
        case dtype::f8:
            return sum_phases<double, double>(f, s, stream);
        case dtype::c8:
            return sum_phases<std::complex<float>, float>(f, s, stream);
        default:
            return sum_phases<std::complex<double>, double>(f, s, stream);
    }
}

#else

bool can_sum_phases(const rate_filter&, dtype, index_t, index_t) { return false; }
void sum_phases_on_gpu(const rate_filter&, const phase_sums&, stream_state&) {}

#endif

}  // namespace ingot::runtime
