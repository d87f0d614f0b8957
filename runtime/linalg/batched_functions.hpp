// The functions of cuSOLVER and cuBLAS that take a batch of small matrices in one call, as a table for each element
// type. Matrices are given by an array of pointers, or lie one behind the other.
#pragma once

#include <cublas_v2.h>
#include <cusolverDn.h>

#include <memory>
#include <mutex>
#include <string>
#include <type_traits>

#include "runtime/linalg/cublas.hpp"

namespace ingot::runtime {

/// T: NVIDIA's type; R: the type of its parts.
template <class T, class R>
struct batched_functions {
    using part = R;

    cusolverStatus_t (*potrf)(cusolverDnHandle_t, cublasFillMode_t, int n, T* a[], int lda, int* infos, int batch);
    cusolverStatus_t (*syevj_size)(cusolverDnHandle_t, cusolverEigMode_t, cublasFillMode_t, int n, const T* a, int lda,
                                   const R* w, int* lwork, syevjInfo_t, int batch);
    cusolverStatus_t (*syevj)(cusolverDnHandle_t, cusolverEigMode_t, cublasFillMode_t, int n, T* a, int lda, R* w,
                              T* work, int lwork, int* infos, syevjInfo_t, int batch);
    cusolverStatus_t (*gesvdj_size)(cusolverDnHandle_t, cusolverEigMode_t, int m, int n, const T* a, int lda,
                                    const R* s, const T* u, int ldu, const T* v, int ldv, int* lwork, gesvdjInfo_t,
                                    int batch);
    cusolverStatus_t (*gesvdj)(cusolverDnHandle_t, cusolverEigMode_t, int m, int n, T* a, int lda, R* s, T* u, int ldu,
                               T* v, int ldv, T* work, int lwork, int* infos, gesvdjInfo_t, int batch);
    // Pivots have 32 bits. `info` is on the host; it says which argument is wrong.
    cublasStatus_t (*getrf)(cublasHandle_t, int n, T* const a[], int lda, int* pivots, int* infos, int batch);
    cublasStatus_t (*getrs)(cublasHandle_t, cublasOperation_t, int n, int right, const T* const a[], int lda,
                            const int* pivots, T* const b[], int ldb, int* info, int batch);
    cublasStatus_t (*trsm)(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t,
                           int m, int n, const T* factor, const T* const a[], int lda, T* const b[], int ldb,
                           int batch);
    cublasStatus_t (*geqrf)(cublasHandle_t, int m, int n, T* const a[], int lda, T* const tau[], int* info, int batch);
};

// Their types are those that NVIDIA's headers declare.
template <class F, class Declared>
inline constexpr bool is_declared = std::is_same_v<F, Declared*>;
static_assert(is_declared<decltype(batched_functions<float, float>::potrf), decltype(::cusolverDnSpotrfBatched)>);
static_assert(is_declared<decltype(batched_functions<cuDoubleComplex, double>::syevj_size),
                          decltype(::cusolverDnZheevjBatched_bufferSize)>);
static_assert(is_declared<decltype(batched_functions<cuComplex, float>::syevj), decltype(::cusolverDnCheevjBatched)>);
static_assert(is_declared<decltype(batched_functions<cuComplex, float>::gesvdj_size),
                          decltype(::cusolverDnCgesvdjBatched_bufferSize)>);
static_assert(is_declared<decltype(batched_functions<cuComplex, float>::gesvdj), decltype(::cusolverDnCgesvdjBatched)>);
static_assert(is_declared<decltype(batched_functions<double, double>::getrf), decltype(::cublasDgetrfBatched)>);
static_assert(is_declared<decltype(batched_functions<cuComplex, float>::getrs), decltype(::cublasCgetrsBatched)>);
static_assert(is_declared<decltype(batched_functions<cuComplex, float>::trsm), decltype(::cublasCtrsmBatched)>);
static_assert(is_declared<decltype(batched_functions<cuComplex, float>::geqrf), decltype(::cublasCgeqrfBatched)>);

/// Opened once, for ever; open_cusolver() opens cuSOLVER's library. Throws library_error.
template <class T, class R, class F>
const batched_functions<T, R>& batched(const char* operation, const F& open_cusolver) {
    static std::mutex mutex;
    static const batched_functions<T, R>* known = nullptr;
    const std::lock_guard lock(mutex);
    if (known != nullptr) return *known;
    constexpr bool is_complex = !std::is_same_v<T, R>;
    const char prefix = std::is_same_v<R, float> ? (is_complex ? 'C' : 'S') : (is_complex ? 'Z' : 'D');
    dynamic_library cusolver = open_cusolver(), cublas = open_cublas(operation);
    auto made = std::make_unique<batched_functions<T, R>>();
    const auto get = [&](auto& function, const dynamic_library& from, const char* library, const std::string& name) {
        from.get(function, (library + std::string(1, prefix) + name).c_str());
    };
    const std::string eigenvalues = is_complex ? "heevjBatched" : "syevjBatched";
    get(made->potrf, cusolver, "cusolverDn", "potrfBatched");
    get(made->syevj_size, cusolver, "cusolverDn", eigenvalues + "_bufferSize");
    get(made->syevj, cusolver, "cusolverDn", eigenvalues);
    get(made->gesvdj_size, cusolver, "cusolverDn", "gesvdjBatched_bufferSize");
    get(made->gesvdj, cusolver, "cusolverDn", "gesvdjBatched");
    get(made->getrf, cublas, "cublas", "getrfBatched");
    get(made->getrs, cublas, "cublas", "getrsBatched");
    get(made->trsm, cublas, "cublas", "trsmBatched");
    get(made->geqrf, cublas, "cublas", "geqrfBatched");
    cusolver.keep_loaded();
    cublas.keep_loaded();
    known = made.release();
    return *known;
}

}  // namespace ingot::runtime
