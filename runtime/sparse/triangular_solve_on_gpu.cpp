// Substitution on a GPU by a kernel of Ingot's own, whose warps wait for each other's elements.
#include <string>

#include "runtime/kernels/own_kernels.hpp"
#include "runtime/sparse/element_text.hpp"
#include "runtime/sparse/triangular_kernels.cuh.hpp"
#include "runtime/sparse/triangular_solve.hpp"

namespace ingot::runtime {

#ifdef INGOT_HAS_CUDA_HEADERS

namespace {

struct triangular_arguments {
    const void *values, *indices, *starts, *b;
    void *x, *slots;
    long long rows, width;
    int lower, unit_diagonal;
};
struct triangular_kernels {
    loaded_kernel solve;
};

constexpr std::string_view real_division = R"(
__device__ value less(value a, value b) { return a - b; }
__device__ value quotient(value a, value b) { return a / b; }
)";
/// By the larger part of the divisor, so that nothing overflows early (Smith, 1962).
constexpr std::string_view complex_division = R"(
__device__ value less(value a, value b) { return {a.re - b.re, a.im - b.im}; }
__device__ value quotient(value a, value b) {
    if (fabs(b.re) >= fabs(b.im)) {
        const part r = b.im / b.re, d = b.re + b.im * r;
        return {(a.re + a.im * r) / d, (a.im - a.re * r) / d};
    }
    const part r = b.re / b.im, d = b.re * r + b.im;
    return {(a.re * r + a.im) / d, (a.im * r - a.re) / d};
}
)";

}  // namespace

void solve_triangular_on_gpu(const triangular_solve& s, stream_state& stream) {
    stream.backend->bind_thread();
    constexpr unsigned warps = 8;
    const triangular_kernels& kernels =
        own_kernels<triangular_kernels>(stream.device, {"solve_triangular"}, {s.type, s.index_type}, [&] {
            const bool is_complex = s.type == dtype::c8 || s.type == dtype::c16;
            std::string text = element_text(s.type, s.index_type, 32);
            text += is_complex ? complex_division : real_division;
            return text += embedded::triangular_kernels;
        });
    const detail::index_t blocks = (s.rows * s.width + warps - 1) / warps;
    launch_kernel("a triangular solve", kernels.solve,
                  triangular_arguments{s.values, s.indices, s.indptr, s.b, s.x, s.slots, s.rows, s.width, s.lower,
                                       s.unit_diagonal},
                  static_cast<unsigned>(blocks), 1, warps * 32, stream);
}

#else

void solve_triangular_on_gpu(const triangular_solve&, stream_state&) {}

#endif

}  // namespace ingot::runtime
