// libcufft for tests without a GPU: computes transforms by their definition, over the emulated GPU's memory, which is
// the host's. It waits for its stream and then computes. It has the real library's requirements: a work area, layouts
// without overlap in the result, real numbers at the address of a complex one. It overwrites the operand of a transform
// to real numbers.
#include <cufft.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <numbers>
#include <vector>

#include "streams_of_libraries.hpp"

namespace {

struct side {
    std::vector<long long> strides;  // for each axis
    long long distance;
};
struct plan {
    bool made = false, allocates = true;
    std::vector<long long> extents;
    side from, to;
    cufftType type{};
    long long batch = 0;
    cudaStream_t stream = nullptr;
    void* work = nullptr;
};
constexpr std::size_t work_bytes = 256;

std::mutex& mutex() {
    static std::mutex& m = *new std::mutex;
    return m;
}
std::map<cufftHandle, plan>& plans() {
    static auto& all = *new std::map<cufftHandle, plan>;
    return all;
}
plan* plan_of(cufftHandle handle) {
    const std::lock_guard lock(mutex());
    const auto found = plans().find(handle);
    return found == plans().end() ? nullptr : &found->second;
}

/// sum of x[j] exp(sign 2 pi i j k / n)
std::vector<std::complex<double>> transform(const std::vector<std::complex<double>>& x, int sign) {
    const std::size_t n = x.size();
    std::vector<std::complex<double>> roots(n), made(n);
    for (std::size_t k = 0; k < n; ++k) {
        const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
        roots[k] = {std::cos(angle), sign * std::sin(angle)};
    }
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t j = 0; j < n; ++j) made[k] += x[j] * roots[j * k % n];
    return made;
}

/// The points of these extents, the last quickest, as offsets in an array.
template <class F>
void for_each_point(const std::vector<long long>& extents, const std::vector<long long>& strides, F f) {
    long long size = 1;
    for (const long long n : extents) size *= n;
    for (long long i = 0; i < size; ++i) {
        long long left = i, at = 0;
        for (std::size_t k = extents.size(); k-- > 0; left /= extents[k]) at += left % extents[k] * strides[k];
        f(static_cast<std::size_t>(i), at);
    }
}
/// Transforms one axis of an array in C order.
void transform_axis(std::vector<std::complex<double>>& all, const std::vector<long long>& extents, std::size_t axis,
                    int sign) {
    std::size_t inner = 1;
    for (std::size_t k = axis + 1; k < extents.size(); ++k) inner *= static_cast<std::size_t>(extents[k]);
    const auto n = static_cast<std::size_t>(extents[axis]);
    for (std::size_t start = 0; start < all.size(); ++start) {
        if (start / inner % n != 0) continue;
        std::vector<std::complex<double>> x(n);
        for (std::size_t j = 0; j < n; ++j) x[j] = all[start + j * inner];
        x = transform(x, sign);
        for (std::size_t j = 0; j < n; ++j) all[start + j * inner] = x[j];
    }
}

template <class From, class To>
cufftResult execute(cufftHandle handle, cufftType type, From* from, To* to, int sign) {
    plan* const p = plan_of(handle);
    if (p == nullptr || !p->made || p->type != type) return CUFFT_INVALID_PLAN;
    if (p->work == nullptr || p->allocates) return CUFFT_NO_WORKSPACE;
    constexpr std::size_t pair = 2 * (sizeof(From) < sizeof(To) ? sizeof(From) : sizeof(To));
    const std::size_t aligned = sizeof(From) == sizeof(To) ? sizeof(From) : pair;
    if (reinterpret_cast<std::uintptr_t>(from) % aligned != 0 || reinterpret_cast<std::uintptr_t>(to) % aligned != 0)
        return CUFFT_UNALIGNED_DATA;
    emulator::wait_for(p->stream);
    std::memset(p->work, 0x7f, work_bytes);
    std::vector<long long> of_from = p->extents, of_to = p->extents;
    constexpr bool to_complex = sizeof(From)<sizeof(To), to_real = sizeof(From)> sizeof(To);
    if (to_complex) of_to.back() = of_to.back() / 2 + 1;
    if (to_real) of_from.back() = of_from.back() / 2 + 1;
    std::size_t size = 1;
    for (const long long n : p->extents) size *= static_cast<std::size_t>(n);
    const auto last = static_cast<std::size_t>(p->extents.back());
    for (long long b = 0; b < p->batch; ++b) {
        std::vector<std::complex<double>> all(size);
        From* const x = from + b * p->from.distance;
        const auto width = static_cast<std::size_t>(of_from.back());
        for_each_point(of_from, p->from.strides, [&](std::size_t i, long long at) {
            all[i / width * last + i % width] = std::complex<double>(x[at]);
            if constexpr (to_real) x[at] = From(std::numeric_limits<float>::quiet_NaN());
        });
        const std::size_t rank = p->extents.size();
        for (std::size_t k = 0; k < rank; ++k) {
            if (to_real && k + 1 == rank) {  // the other half of each row is the conjugate of this one
                for (std::size_t row = 0; row < size; row += last)
                    for (std::size_t j = width; j < last; ++j) all[row + j] = std::conj(all[row + last - j]);
            }
            transform_axis(all, p->extents, k, sign);
        }
        To* const y = to + b * p->to.distance;
        const auto made = static_cast<std::size_t>(of_to.back());
        for_each_point(of_to, p->to.strides, [&](std::size_t i, long long at) {
            const std::complex<double> z = all[i / made * last + i % made];
            if constexpr (to_real)
                y[at] = static_cast<To>(z.real());
            else
                y[at] = To(z);
        });
    }
    return CUFFT_SUCCESS;
}

template <class T>
auto* as_complex(T* z) {
    return reinterpret_cast<std::complex<decltype(T::x)>*>(z);
}

/// Reads the strides of the advanced layout; false where it is not valid.
bool read_layout(side& to, const std::vector<long long>& extents, const long long* embed, long long stride,
                 long long distance, long long batch) {
    if (stride < 1 || (batch > 1 && distance < 1)) return false;
    to.strides.assign(extents.size(), stride);
    for (std::size_t k = extents.size() - 1; k > 0; --k) {
        if (embed[k] < extents[k]) return false;
        to.strides[k - 1] = to.strides[k] * embed[k];
    }
    to.distance = distance;
    return true;
}

}  // namespace

extern "C" {

cufftResult cufftCreate(cufftHandle* handle) {
    const std::lock_guard lock(mutex());
    static cufftHandle last = 0;
    *handle = ++last;
    plans()[*handle];
    return CUFFT_SUCCESS;
}
cufftResult cufftDestroy(cufftHandle handle) {
    const std::lock_guard lock(mutex());
    return plans().erase(handle) == 1 ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}
cufftResult cufftSetAutoAllocation(cufftHandle handle, int allocate) {
    plan_of(handle)->allocates = allocate != 0;
    return CUFFT_SUCCESS;
}
cufftResult cufftSetStream(cufftHandle handle, cudaStream_t stream) {
    plan_of(handle)->stream = stream;
    return CUFFT_SUCCESS;
}
cufftResult cufftSetWorkArea(cufftHandle handle, void* work) {
    plan_of(handle)->work = work;
    return CUFFT_SUCCESS;
}
cufftResult cufftMakePlanMany64(cufftHandle handle, int rank, long long int* n, long long int* inembed,
                                long long int istride, long long int idist, long long int* onembed,
                                long long int ostride, long long int odist, cufftType type, long long int batch,
                                size_t* work) {
    plan* const p = plan_of(handle);
    if (p == nullptr || p->made) return CUFFT_INVALID_PLAN;
    if (rank < 1 || rank > 3 || batch < 1) return CUFFT_INVALID_VALUE;
    p->extents.assign(n, n + rank);
    for (const long long extent : p->extents)
        if (extent < 1) return CUFFT_INVALID_SIZE;
    if (p->extents.back() == 7919) return CUFFT_INVALID_SIZE;  // for the tests of errors
    std::vector<long long> of_from = p->extents, of_to = p->extents;
    if (type == CUFFT_R2C || type == CUFFT_D2Z) of_to.back() = of_to.back() / 2 + 1;
    if (type == CUFFT_C2R || type == CUFFT_Z2D) of_from.back() = of_from.back() / 2 + 1;
    if (!read_layout(p->from, of_from, inembed, istride, idist, batch) ||
        !read_layout(p->to, of_to, onembed, ostride, odist, batch))
        return CUFFT_INVALID_VALUE;
    p->type = type, p->batch = batch, p->made = true;
    *work = work_bytes;
    return CUFFT_SUCCESS;
}
cufftResult cufftExecC2C(cufftHandle handle, cufftComplex* from, cufftComplex* to, int direction) {
    return execute(handle, CUFFT_C2C, as_complex(from), as_complex(to), direction);
}
cufftResult cufftExecZ2Z(cufftHandle handle, cufftDoubleComplex* from, cufftDoubleComplex* to, int direction) {
    return execute(handle, CUFFT_Z2Z, as_complex(from), as_complex(to), direction);
}
cufftResult cufftExecR2C(cufftHandle handle, cufftReal* from, cufftComplex* to) {
    return execute(handle, CUFFT_R2C, from, as_complex(to), CUFFT_FORWARD);
}
cufftResult cufftExecD2Z(cufftHandle handle, cufftDoubleReal* from, cufftDoubleComplex* to) {
    return execute(handle, CUFFT_D2Z, from, as_complex(to), CUFFT_FORWARD);
}
cufftResult cufftExecC2R(cufftHandle handle, cufftComplex* from, cufftReal* to) {
    return execute(handle, CUFFT_C2R, as_complex(from), to, CUFFT_INVERSE);
}
cufftResult cufftExecZ2D(cufftHandle handle, cufftDoubleComplex* from, cufftDoubleReal* to) {
    return execute(handle, CUFFT_Z2D, as_complex(from), to, CUFFT_INVERSE);
}
}
