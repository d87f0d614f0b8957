// The functions of cuSOLVER and cuBLAS that take a batch of small matrices in one call, as a table for each element
// type. Matrices are given by an array of pointers, or lie one behind the other.
#pragma once

#include <cublas_v2.h>
#include <cusolverDn.h>

#include <string>
#include <type_traits>

#include "runtime/linalg/cublas.hpp"
#include "runtime/linalg/cusolver_library.hpp"

namespace ingot::runtime {

/// The letter for a type in the functions' names. T: NVIDIA's type; R: the type of its parts.
template <class T, class R>
inline constexpr char letter =
    std::is_same_v<R, float> ? (std::is_same_v<T, R> ? 'S' : 'C') : (std::is_same_v<T, R> ? 'D' : 'Z');

template <class T, class R>
struct batched_cusolver : api_table {
    using api_table::api_table;
    static library_files files() { return cusolver_api::files(); }

    cusolverStatus_t (*potrf)(cusolverDnHandle_t, cublasFillMode_t, int n, T* a[], int lda, int* infos,
                              int batch) = named("potrf");
    cusolverStatus_t (*syevj_size)(cusolverDnHandle_t, cusolverEigMode_t, cublasFillMode_t, int n, const T* a, int lda,
                                   const R* w, int* lwork, syevjInfo_t, int batch) = named(syevj_name, "_bufferSize");
    cusolverStatus_t (*syevj)(cusolverDnHandle_t, cusolverEigMode_t, cublasFillMode_t, int n, T* a, int lda, R* w,
                              T* work, int lwork, int* infos, syevjInfo_t, int batch) = named(syevj_name);
    cusolverStatus_t (*gesvdj_size)(cusolverDnHandle_t, cusolverEigMode_t, int m, int n, const T* a, int lda,
                                    const R* s, const T* u, int ldu, const T* v, int ldv, int* lwork, gesvdjInfo_t,
                                    int batch) = named("gesvdj", "_bufferSize");
    cusolverStatus_t (*gesvdj)(cusolverDnHandle_t, cusolverEigMode_t, int m, int n, T* a, int lda, R* s, T* u, int ldu,
                               T* v, int ldv, T* work, int lwork, int* infos, gesvdjInfo_t,
                               int batch) = named("gesvdj");

private:
    static constexpr const char* syevj_name = std::is_same_v<T, R> ? "syevj" : "heevj";
    any_function named(const std::string& name, const char* end = "") const {
        return function("cusolverDn" + (letter<T, R> + name) + "Batched" + end);
    }
};

template <class T, class R>
struct batched_cublas : api_table {
    using api_table::api_table;
    static library_files files() { return files_of_cublas(); }

    // Pivots have 32 bits. `info` is on the host; it says which argument is wrong.
    cublasStatus_t (*getrf)(cublasHandle_t, int n, T* const a[], int lda, int* pivots, int* infos,
                            int batch) = named("getrf");
    cublasStatus_t (*getrs)(cublasHandle_t, cublasOperation_t, int n, int right, const T* const a[], int lda,
                            const int* pivots, T* const b[], int ldb, int* info, int batch) = named("getrs");
    cublasStatus_t (*trsm)(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t,
                           int m, int n, const T* factor, const T* const a[], int lda, T* const b[], int ldb,
                           int batch) = named("trsm");
    cublasStatus_t (*geqrf)(cublasHandle_t, int m, int n, T* const a[], int lda, T* const tau[], int* info,
                            int batch) = named("geqrf");

private:
    any_function named(const std::string& name) const { return function("cublas" + (letter<T, R> + name) + "Batched"); }
};

/// The functions of both libraries for one type. Throws library_error.
template <class T, class R>
struct batched_functions : batched_cusolver<T, R>, batched_cublas<T, R> {
    using part = R;
    explicit batched_functions(const char* operation)
        : batched_cusolver<T, R>(opened_library<batched_cusolver<T, R>>::get(operation)),
          batched_cublas<T, R>(opened_library<batched_cublas<T, R>>::get(operation)) {}
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

}  // namespace ingot::runtime
