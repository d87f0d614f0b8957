// libcusolver for tests without a GPU: what the runtime calls of it, by LAPACK on the emulated GPU's memory, which is
// the host's. It waits for its stream and then computes, so that what the stream has yet to do is seen when it was not
// ordered. It refuses what the real one's pages say it refuses.
#include <cusolverDn.h>
#include <dlfcn.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <vector>

#include "runtime/linalg/lapack.hpp"
#include "streams_of_libraries.hpp"

using ingot::runtime::lapack_functions;

struct cusolverDnContext {
    cudaStream_t stream = nullptr;
};

namespace {

template <class T>
const lapack_functions<T>* lapack() {
    static const lapack_functions<T>* const made = []() -> const lapack_functions<T>* {
        void* const library = dlopen("libopenblas.so.0", RTLD_NOW);
        if (library == nullptr) return nullptr;
        static lapack_functions<T> f;
        const char prefix = std::is_same_v<T, float>                 ? 's'
                            : std::is_same_v<T, double>              ? 'd'
                            : std::is_same_v<T, std::complex<float>> ? 'c'
                                                                     : 'z';
        fill(f, prefix,
             [&]<class F>(F& function, const char* name) { function = reinterpret_cast<F>(dlsym(library, name)); });
        return &f;
    }();
    return made;
}

void wait_for(cusolverDnHandle_t h) { emulator::wait_for(h->stream); }

/// f of the type as a value; T for A is what it computes in.
template <class F>
cusolverStatus_t with_type(cudaDataType a, cudaDataType computed, const F& f) {
    if (a != computed) return CUSOLVER_STATUS_INVALID_VALUE;
    switch (a) {
        case CUDA_R_32F:
            return lapack<float>() ? f(float{}) : CUSOLVER_STATUS_NOT_INITIALIZED;
        case CUDA_R_64F:
            return lapack<double>() ? f(double{}) : CUSOLVER_STATUS_NOT_INITIALIZED;
        case CUDA_C_32F:
            return lapack<std::complex<float>>() ? f(std::complex<float>{}) : CUSOLVER_STATUS_NOT_INITIALIZED;
        case CUDA_C_64F:
            return lapack<std::complex<double>>() ? f(std::complex<double>{}) : CUSOLVER_STATUS_NOT_INITIALIZED;
        default:
            return CUSOLVER_STATUS_INVALID_VALUE;
    }
}
cudaDataType part_of(cudaDataType t) { return t == CUDA_C_32F ? CUDA_R_32F : t == CUDA_C_64F ? CUDA_R_64F : t; }

/// Areas of odd sizes, of which every byte is written.
constexpr std::size_t device_bytes = 77, host_bytes = 33;
cusolverStatus_t ask(size_t* device, size_t* host) {
    *device = device_bytes, *host = host_bytes;
    return CUSOLVER_STATUS_SUCCESS;
}
bool spoil(void* device, size_t on_device, void* host, size_t on_host) {
    if (on_device < device_bytes || on_host < host_bytes || device == nullptr || host == nullptr) return false;
    std::memset(device, 0xff, device_bytes), std::memset(host, 0xff, host_bytes);
    return true;
}

template <class T, class F>
int run_with_work(const F& f) {
    T wanted{};
    int ask_for_size = -1, info = 0;
    f(&wanted, &ask_for_size, &info);
    std::vector<T> work(static_cast<std::size_t>(std::real(wanted)) + 1);
    const int size = static_cast<int>(work.size());
    f(work.data(), &size, &info);
    return info;
}

template <class T>
cusolverStatus_t form_q(cusolverDnHandle_t h, int m, int n, int k, T* a, int lda, const T* tau, int* info) {
    if (!(m >= n && n >= k && lda >= m)) return CUSOLVER_STATUS_INVALID_VALUE;
    if (lapack<T>() == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
    wait_for(h);
    *info = run_with_work<T>([&](T* work, const int* lwork, int* found) {
        lapack<T>()->orgqr(&m, &n, &k, a, &lda, tau, work, lwork, found);
    });
    return CUSOLVER_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* h) {
    *h = new cusolverDnContext;
    return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t h, cudaStream_t stream) {
    h->stream = stream;
    return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t* params) {
    *params = reinterpret_cast<cusolverDnParams_t>(params);
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, cublasFillMode_t, int64_t,
                                             cudaDataType, const void*, int64_t, cudaDataType, size_t* device,
                                             size_t* host) {
    return ask(device, host);
}
cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t h, cusolverDnParams_t, cublasFillMode_t uplo, int64_t n,
                                  cudaDataType type, void* a, int64_t lda, cudaDataType computed, void* device,
                                  size_t on_device, void* host, size_t on_host, int* info) {
    wait_for(h);
    if (!spoil(device, on_device, host, on_host)) return CUSOLVER_STATUS_INVALID_VALUE;
    return with_type(type, computed, [&]<class T>(T) {
        const int order = static_cast<int>(n), leading = static_cast<int>(lda);
        lapack<T>()->potrf(uplo == CUBLAS_FILL_MODE_UPPER ? "U" : "L", &order, static_cast<T*>(a), &leading, info, 1);
        return CUSOLVER_STATUS_SUCCESS;
    });
}

cusolverStatus_t cusolverDnXgetrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, int64_t, int64_t, cudaDataType,
                                             const void*, int64_t, cudaDataType, size_t* device, size_t* host) {
    return ask(device, host);
}
cusolverStatus_t cusolverDnXgetrf(cusolverDnHandle_t h, cusolverDnParams_t, int64_t m, int64_t n, cudaDataType type,
                                  void* a, int64_t lda, int64_t* pivots, cudaDataType computed, void* device,
                                  size_t on_device, void* host, size_t on_host, int* info) {
    wait_for(h);
    if (!spoil(device, on_device, host, on_host)) return CUSOLVER_STATUS_INVALID_VALUE;
    return with_type(type, computed, [&]<class T>(T) {
        const int rows = static_cast<int>(m), columns = static_cast<int>(n), leading = static_cast<int>(lda);
        std::vector<int> narrow(static_cast<std::size_t>(std::min(m, n)));
        lapack<T>()->getrf(&rows, &columns, static_cast<T*>(a), &leading, narrow.data(), info);
        std::copy(narrow.begin(), narrow.end(), pivots);
        return CUSOLVER_STATUS_SUCCESS;
    });
}
/// By hand: rows exchanged, then both triangles.
cusolverStatus_t cusolverDnXgetrs(cusolverDnHandle_t h, cusolverDnParams_t, cublasOperation_t operation, int64_t n,
                                  int64_t right, cudaDataType type, const void* a, int64_t lda, const int64_t* pivots,
                                  cudaDataType type_of_b, void* b, int64_t ldb, int* info) {
    if (operation != CUBLAS_OP_N || type != type_of_b) return CUSOLVER_STATUS_INVALID_VALUE;
    wait_for(h);
    *info = 0;
    return with_type(type, type, [&]<class T>(T) {
        const T* const lu = static_cast<const T*>(a);
        for (int64_t k = 0; k < right; ++k) {
            T* const x = static_cast<T*>(b) + k * ldb;
            for (int64_t i = 0; i < n; ++i) std::swap(x[i], x[pivots[i] - 1]);
            for (int64_t j = 0; j < n; ++j)
                for (int64_t i = j + 1; i < n; ++i) x[i] -= lu[i + j * lda] * x[j];
            for (int64_t j = n; j-- > 0;) {
                x[j] /= lu[j + j * lda];
                for (int64_t i = 0; i < j; ++i) x[i] -= lu[i + j * lda] * x[j];
            }
        }
        return CUSOLVER_STATUS_SUCCESS;
    });
}

cusolverStatus_t cusolverDnXgeqrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, int64_t, int64_t, cudaDataType,
                                             const void*, int64_t, cudaDataType, const void*, cudaDataType,
                                             size_t* device, size_t* host) {
    return ask(device, host);
}
cusolverStatus_t cusolverDnXgeqrf(cusolverDnHandle_t h, cusolverDnParams_t, int64_t m, int64_t n, cudaDataType type,
                                  void* a, int64_t lda, cudaDataType type_of_tau, void* tau, cudaDataType computed,
                                  void* device, size_t on_device, void* host, size_t on_host, int* info) {
    if (type_of_tau != type) return CUSOLVER_STATUS_INVALID_VALUE;
    wait_for(h);
    if (!spoil(device, on_device, host, on_host)) return CUSOLVER_STATUS_INVALID_VALUE;
    return with_type(type, computed, [&]<class T>(T) {
        const int rows = static_cast<int>(m), columns = static_cast<int>(n), leading = static_cast<int>(lda);
        *info = run_with_work<T>([&](T* work, const int* lwork, int* found) {
            lapack<T>()->geqrf(&rows, &columns, static_cast<T*>(a), &leading, static_cast<T*>(tau), work, lwork, found);
        });
        return CUSOLVER_STATUS_SUCCESS;
    });
}

cusolverStatus_t cusolverDnXsyevd_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t,
                                             cublasFillMode_t, int64_t, cudaDataType, const void*, int64_t,
                                             cudaDataType, const void*, cudaDataType, size_t* device, size_t* host) {
    return ask(device, host);
}
cusolverStatus_t cusolverDnXsyevd(cusolverDnHandle_t h, cusolverDnParams_t, cusolverEigMode_t mode,
                                  cublasFillMode_t uplo, int64_t n, cudaDataType type, void* a, int64_t lda,
                                  cudaDataType type_of_w, void* w, cudaDataType computed, void* device,
                                  size_t on_device, void* host, size_t on_host, int* info) {
    if (type_of_w != part_of(type)) return CUSOLVER_STATUS_INVALID_VALUE;
    wait_for(h);
    if (!spoil(device, on_device, host, on_host)) return CUSOLVER_STATUS_INVALID_VALUE;
    return with_type(type, computed, [&]<class T>(T) {
        using R = typename ingot::runtime::part_type<T>::type;
        const char* const job = mode == CUSOLVER_EIG_MODE_VECTOR ? "V" : "N";
        const char* const triangle = uplo == CUBLAS_FILL_MODE_UPPER ? "U" : "L";
        const int order = static_cast<int>(n), leading = static_cast<int>(lda);
        const auto size = static_cast<std::size_t>(n);
        std::vector<int> iwork(3 + 5 * size);
        [[maybe_unused]] std::vector<R> rwork(1 + 5 * size + 2 * size * size);
        const int liwork = static_cast<int>(iwork.size());
        [[maybe_unused]] const int lrwork = static_cast<int>(rwork.size());
        *info = run_with_work<T>([&](T* work, const int* lwork, int* found) {
            if constexpr (lapack_functions<T>::is_complex)
                lapack<T>()->syevd(job, triangle, &order, static_cast<T*>(a), &leading, static_cast<R*>(w), work, lwork,
                                   rwork.data(), &lrwork, iwork.data(), &liwork, found, 1, 1);
            else
                lapack<T>()->syevd(job, triangle, &order, static_cast<T*>(a), &leading, static_cast<R*>(w), work, lwork,
                                   iwork.data(), &liwork, found, 1, 1);
        });
        return CUSOLVER_STATUS_SUCCESS;
    });
}

cusolverStatus_t cusolverDnXgesvd_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, signed char, signed char,
                                             int64_t m, int64_t n, cudaDataType, const void*, int64_t, cudaDataType,
                                             const void*, cudaDataType, const void*, int64_t, cudaDataType, const void*,
                                             int64_t, cudaDataType, size_t* device, size_t* host) {
    return m < n ? CUSOLVER_STATUS_INVALID_VALUE : ask(device, host);
}
cusolverStatus_t cusolverDnXgesvd(cusolverDnHandle_t h, cusolverDnParams_t, signed char job_u, signed char job_v,
                                  int64_t m, int64_t n, cudaDataType type, void* a, int64_t lda, cudaDataType type_of_s,
                                  void* s, cudaDataType type_of_u, void* u, int64_t ldu, cudaDataType type_of_v,
                                  void* vt, int64_t ldvt, cudaDataType computed, void* device, size_t on_device,
                                  void* host, size_t on_host, int* info) {
    if (m < n || job_u != job_v || type_of_s != part_of(type) || type_of_u != type || type_of_v != type)
        return CUSOLVER_STATUS_INVALID_VALUE;
    wait_for(h);
    if (!spoil(device, on_device, host, on_host)) return CUSOLVER_STATUS_INVALID_VALUE;
    return with_type(type, computed, [&]<class T>(T) {
        using R = typename ingot::runtime::part_type<T>::type;
        const char job = static_cast<char>(job_u);
        const int rows = static_cast<int>(m), columns = static_cast<int>(n), leading = static_cast<int>(lda),
                  leading_u = static_cast<int>(ldu), leading_v = static_cast<int>(ldvt);
        const auto lesser = static_cast<std::size_t>(n);
        std::vector<int> iwork(8 * lesser);
        [[maybe_unused]] std::vector<R> rwork(lesser * (5 * lesser + 7) + 2 * static_cast<std::size_t>(m) * lesser +
                                              2 * lesser * lesser + lesser);
        *info = run_with_work<T>([&](T* work, const int* lwork, int* found) {
            if constexpr (lapack_functions<T>::is_complex)
                lapack<T>()->gesdd(&job, &rows, &columns, static_cast<T*>(a), &leading, static_cast<R*>(s),
                                   static_cast<T*>(u), &leading_u, static_cast<T*>(vt), &leading_v, work, lwork,
                                   rwork.data(), iwork.data(), found, 1);
            else
                lapack<T>()->gesdd(&job, &rows, &columns, static_cast<T*>(a), &leading, static_cast<R*>(s),
                                   static_cast<T*>(u), &leading_u, static_cast<T*>(vt), &leading_v, work, lwork,
                                   iwork.data(), found, 1);
        });
        return CUSOLVER_STATUS_SUCCESS;
    });
}

cusolverStatus_t cusolverDnXgeev_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t left,
                                            cusolverEigMode_t, int64_t, cudaDataType, const void*, int64_t,
                                            cudaDataType, const void*, cudaDataType, const void*, int64_t, cudaDataType,
                                            const void*, int64_t, cudaDataType, size_t* device, size_t* host) {
    return left != CUSOLVER_EIG_MODE_NOVECTOR ? CUSOLVER_STATUS_INVALID_VALUE : ask(device, host);
}
/// The eigenvalues as complex numbers; of a real matrix the vectors are packed, as LAPACK's are.
cusolverStatus_t cusolverDnXgeev(cusolverDnHandle_t h, cusolverDnParams_t, cusolverEigMode_t left,
                                 cusolverEigMode_t right, int64_t n, cudaDataType type, void* a, int64_t lda,
                                 cudaDataType type_of_w, void* w, cudaDataType type_of_left, void*, int64_t,
                                 cudaDataType type_of_right, void* v, int64_t ldv, cudaDataType computed, void* device,
                                 size_t on_device, void* host, size_t on_host, int* info) {
    if (left != CUSOLVER_EIG_MODE_NOVECTOR || part_of(type_of_w) == type_of_w || part_of(type_of_w) != part_of(type) ||
        type_of_left != type || type_of_right != type)
        return CUSOLVER_STATUS_INVALID_VALUE;
    wait_for(h);
    if (!spoil(device, on_device, host, on_host)) return CUSOLVER_STATUS_INVALID_VALUE;
    return with_type(type, computed, [&]<class T>(T) {
        using R = typename ingot::runtime::part_type<T>::type;
        const char* const job = right == CUSOLVER_EIG_MODE_VECTOR ? "V" : "N";
        const int order = static_cast<int>(n), leading = static_cast<int>(lda), leading_v = static_cast<int>(ldv);
        const auto values = static_cast<std::size_t>(n);
        std::vector<R> re(values), im(values), rwork(2 * values);
        auto* const result = static_cast<std::complex<R>*>(w);
        *info = run_with_work<T>([&](T* work, const int* lwork, int* found) {
            if constexpr (lapack_functions<T>::is_complex)
                lapack<T>()->geev("N", job, &order, static_cast<T*>(a), &leading, result, nullptr, &leading,
                                  static_cast<T*>(v), &leading_v, work, lwork, rwork.data(), found, 1, 1);
            else
                lapack<T>()->geev("N", job, &order, static_cast<T*>(a), &leading, re.data(), im.data(), nullptr,
                                  &leading, static_cast<T*>(v), &leading_v, work, lwork, found, 1, 1);
        });
        for (std::size_t k = 0; !lapack_functions<T>::is_complex && k < values; ++k) result[k] = {re[k], im[k]};
        return CUSOLVER_STATUS_SUCCESS;
    });
}

#define FORM_Q(name, type, T)                                                                                      \
    cusolverStatus_t name##_bufferSize(cusolverDnHandle_t, int, int, int, const type*, int, const type*, int* n) { \
        *n = 5;                                                                                                    \
        return CUSOLVER_STATUS_SUCCESS;                                                                            \
    }                                                                                                              \
    cusolverStatus_t name(cusolverDnHandle_t h, int m, int n, int k, type* a, int lda, const type* tau, type*,     \
                          int size, int* info) {                                                                   \
        if (size < 5) return CUSOLVER_STATUS_INVALID_VALUE;                                                        \
        return form_q(h, m, n, k, reinterpret_cast<T*>(a), lda, reinterpret_cast<const T*>(tau), info);            \
    }
FORM_Q(cusolverDnSorgqr, float, float)
FORM_Q(cusolverDnDorgqr, double, double)
FORM_Q(cusolverDnCungqr, cuComplex, std::complex<float>)
FORM_Q(cusolverDnZungqr, cuDoubleComplex, std::complex<double>)
}
