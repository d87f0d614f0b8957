// libcusolver for tests without a GPU: the functions that the runtime calls, by LAPACK on the emulated GPU's memory,
// which is the host's. It waits only for its stream and then computes, so that missing order with other streams shows.
// It refuses the arguments that the real library's documentation forbids.
#include <cusolverDn.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <vector>

#include "lapack_of_host.hpp"
#include "streams_of_libraries.hpp"

using emulator::lapack;
using emulator::lapack_functions;
using emulator::run_with_work;

struct cusolverDnContext {
    cudaStream_t stream = nullptr;
};

namespace {

void wait_for(cusolverDnHandle_t h) { emulator::wait_for(h->stream); }

/// Calls f with a value of the type; T is the type in which A is computed.
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

/// Areas of odd sizes; every byte is written.
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

// ---- batches of small matrices, each type by its own function ------------------------------------------------------

/// The least size of a batched function's work area; every element is written.
constexpr int batched_elements = 7;
template <class T>
bool spoil_elements(T* work, int lwork) {
    if (work == nullptr || lwork < batched_elements) return false;
    std::memset(static_cast<void*>(work), 0xff, batched_elements * sizeof(T));
    return true;
}

template <class T, class N>
cusolverStatus_t factorise_each(cusolverDnHandle_t h, cublasFillMode_t uplo, int n, N* a[], int lda, int* infos,
                                int batch) {
    if (lda < n || n < 1) return CUSOLVER_STATUS_INVALID_VALUE;
    if (lapack<T>() == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
    wait_for(h);
    for (int i = 0; i < batch; ++i)
        lapack<T>()->potrf(uplo == CUBLAS_FILL_MODE_UPPER ? "U" : "L", &n, reinterpret_cast<T*>(a[i]), &lda, infos + i,
                           1);
    return CUSOLVER_STATUS_SUCCESS;
}
template <class T, class N, class R>
cusolverStatus_t eigenvalues_each(cusolverDnHandle_t h, cusolverEigMode_t mode, cublasFillMode_t uplo, int n, N* a,
                                  int lda, R* w, N* work, int lwork, int* infos, syevjInfo_t params, int batch) {
    if (lda < n || n < 1 || params == nullptr || !spoil_elements(work, lwork)) return CUSOLVER_STATUS_INVALID_VALUE;
    if (lapack<T>() == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
    wait_for(h);
    for (int i = 0; i < batch; ++i)
        infos[i] = emulator::eigenvalues(mode == CUSOLVER_EIG_MODE_VECTOR, uplo == CUBLAS_FILL_MODE_UPPER, n,
                                         reinterpret_cast<T*>(a) + i * lda * n, lda, w + i * n);
    return CUSOLVER_STATUS_SUCCESS;
}
/// Like the real function: at most 32 rows and columns, U and V square, V not transposed.
template <class T, class N, class R>
cusolverStatus_t singular_values_each(cusolverDnHandle_t h, cusolverEigMode_t mode, int m, int n, N* a, int lda, R* s,
                                      N* u, int ldu, N* v, int ldv, N* work, int lwork, int* infos, gesvdjInfo_t params,
                                      int batch) {
    if (m < n || n < 1 || m > 32 || lda < m || ldu < m || ldv < n || params == nullptr || !spoil_elements(work, lwork))
        return CUSOLVER_STATUS_INVALID_VALUE;
    if (lapack<T>() == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
    wait_for(h);
    const bool vectors = mode == CUSOLVER_EIG_MODE_VECTOR;
    std::vector<T> vt(static_cast<std::size_t>(n * n)), left(static_cast<std::size_t>(m * m));
    for (int i = 0; i < batch; ++i) {
        infos[i] = emulator::singular_values(vectors ? 'A' : 'N', m, n, reinterpret_cast<T*>(a) + i * lda * n, lda,
                                             s + i * n, left.data(), m, vt.data(), n);
        for (int j = 0; vectors && j < m * m; ++j)
            reinterpret_cast<T*>(u)[i * ldu * m + j % m + j / m * ldu] = left[static_cast<std::size_t>(j)];
        for (int j = 0; vectors && j < n * n; ++j) {
            T element = vt[static_cast<std::size_t>(j)];
            if constexpr (lapack_functions<T>::is_complex) element = std::conj(element);
            reinterpret_cast<T*>(v)[i * ldv * n + j / n + j % n * ldv] = element;
        }
    }
    return CUSOLVER_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

cusolverStatus_t cusolverDnCreateSyevjInfo(syevjInfo_t* params) {
    *params = reinterpret_cast<syevjInfo_t>(params);
    return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnCreateGesvdjInfo(gesvdjInfo_t* params) {
    *params = reinterpret_cast<gesvdjInfo_t>(params);
    return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnXsyevBatched_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t,
                                                   cublasFillMode_t, int64_t, cudaDataType, const void*, int64_t,
                                                   cudaDataType, const void*, cudaDataType, size_t* device,
                                                   size_t* host, int64_t) {
    return ask(device, host);
}
cusolverStatus_t cusolverDnXsyevBatched(cusolverDnHandle_t h, cusolverDnParams_t, cusolverEigMode_t mode,
                                        cublasFillMode_t uplo, int64_t n, cudaDataType type, void* a, int64_t lda,
                                        cudaDataType type_of_w, void* w, cudaDataType computed, void* device,
                                        size_t on_device, void* host, size_t on_host, int* infos, int64_t batch) {
    if (type_of_w != part_of(type)) return CUSOLVER_STATUS_INVALID_VALUE;
    wait_for(h);
    if (!spoil(device, on_device, host, on_host)) return CUSOLVER_STATUS_INVALID_VALUE;
    return with_type(type, computed, [&]<class T>(T) {
        using R = typename ingot::runtime::part_type<T>::type;
        for (int64_t i = 0; i < batch; ++i)
            infos[i] = emulator::eigenvalues(mode == CUSOLVER_EIG_MODE_VECTOR, uplo == CUBLAS_FILL_MODE_UPPER,
                                             static_cast<int>(n), static_cast<T*>(a) + i * lda * n,
                                             static_cast<int>(lda), static_cast<R*>(w) + i * n);
        return CUSOLVER_STATUS_SUCCESS;
    });
}

#define BATCHED(S, sy, N, T, R)                                                                                        \
    cusolverStatus_t cusolverDn##S##potrfBatched(cusolverDnHandle_t h, cublasFillMode_t uplo, int n, N* a[], int lda,  \
                                                 int* infos, int batch) {                                              \
        return factorise_each<T>(h, uplo, n, a, lda, infos, batch);                                                    \
    }                                                                                                                  \
    cusolverStatus_t cusolverDn##S##sy##evjBatched_bufferSize(cusolverDnHandle_t, cusolverEigMode_t, cublasFillMode_t, \
                                                              int, const N*, int, const R*, int* elements,             \
                                                              syevjInfo_t, int) {                                      \
        *elements = batched_elements;                                                                                  \
        return CUSOLVER_STATUS_SUCCESS;                                                                                \
    }                                                                                                                  \
    cusolverStatus_t cusolverDn##S##sy##evjBatched(cusolverDnHandle_t h, cusolverEigMode_t mode,                       \
                                                   cublasFillMode_t uplo, int n, N* a, int lda, R* w, N* work,         \
                                                   int lwork, int* infos, syevjInfo_t params, int batch) {             \
        return eigenvalues_each<T>(h, mode, uplo, n, a, lda, w, work, lwork, infos, params, batch);                    \
    }                                                                                                                  \
    cusolverStatus_t cusolverDn##S##gesvdjBatched_bufferSize(cusolverDnHandle_t, cusolverEigMode_t, int, int,          \
                                                             const N*, int, const R*, const N*, int, const N*, int,    \
                                                             int* elements, gesvdjInfo_t, int) {                       \
        *elements = batched_elements;                                                                                  \
        return CUSOLVER_STATUS_SUCCESS;                                                                                \
    }                                                                                                                  \
    cusolverStatus_t cusolverDn##S##gesvdjBatched(cusolverDnHandle_t h, cusolverEigMode_t mode, int m, int n, N* a,    \
                                                  int lda, R* s, N* u, int ldu, N* v, int ldv, N* work, int lwork,     \
                                                  int* infos, gesvdjInfo_t params, int batch) {                        \
        return singular_values_each<T>(h, mode, m, n, a, lda, s, u, ldu, v, ldv, work, lwork, infos, params, batch);   \
    }
BATCHED(S, sy, float, float, float)
BATCHED(D, sy, double, double, double)
BATCHED(C, he, cuComplex, std::complex<float>, float)
BATCHED(Z, he, cuDoubleComplex, std::complex<double>, double)

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
cusolverStatus_t cusolverDnXgetrs(cusolverDnHandle_t h, cusolverDnParams_t, cublasOperation_t operation, int64_t n,
                                  int64_t right, cudaDataType type, const void* a, int64_t lda, const int64_t* pivots,
                                  cudaDataType type_of_b, void* b, int64_t ldb, int* info) {
    if (operation != CUBLAS_OP_N || type != type_of_b) return CUSOLVER_STATUS_INVALID_VALUE;
    wait_for(h);
    *info = 0;
    return with_type(type, type, [&]<class T>(T) {
        emulator::solve_by_factors(static_cast<int>(n), static_cast<int>(right), static_cast<const T*>(a),
                                   static_cast<int>(lda), pivots, static_cast<T*>(b), static_cast<int>(ldb));
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
        *info =
            emulator::eigenvalues(mode == CUSOLVER_EIG_MODE_VECTOR, uplo == CUBLAS_FILL_MODE_UPPER, static_cast<int>(n),
                                  static_cast<T*>(a), static_cast<int>(lda), static_cast<R*>(w));
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
        *info =
            emulator::singular_values(static_cast<char>(job_u), static_cast<int>(m), static_cast<int>(n),
                                      static_cast<T*>(a), static_cast<int>(lda), static_cast<R*>(s), static_cast<T*>(u),
                                      static_cast<int>(ldu), static_cast<T*>(vt), static_cast<int>(ldvt));
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
