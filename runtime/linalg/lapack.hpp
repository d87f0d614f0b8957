// LAPACK as a typed table, with Fortran's conventions: all arguments by address, lengths of strings last.
#pragma once

#include <complex>
#include <cstddef>
#include <string>
#include <type_traits>

namespace ingot::runtime {

template <class T>
struct part_type {
    using type = T;
};
template <class R>
struct part_type<std::complex<R>> {
    using type = R;
};

using fortran_length = std::size_t;

/// The functions of one element type, with the names of the real ones. For complex types, geev, gesdd, syevd and gelsd
/// need another work area, of parts.
template <class T>
struct lapack_functions {
    using R = typename part_type<T>::type;
    static constexpr bool is_complex = !std::is_same_v<T, R>;
    template <class Real, class Complex>
    using either = std::conditional_t<is_complex, Complex, Real>;

    void (*potrf)(const char* uplo, const int* n, T* a, const int* lda, int* info, fortran_length);
    void (*getrf)(const int* m, const int* n, T* a, const int* lda, int* pivots, int* info);
    void (*gesv)(const int* n, const int* right, T* a, const int* lda, int* pivots, T* b, const int* ldb, int* info);
    void (*trtrs)(const char* uplo, const char* transposed, const char* diagonal, const int* n, const int* right,
                  const T* a, const int* lda, T* b, const int* ldb, int* info, fortran_length, fortran_length,
                  fortran_length);
    void (*geqrf)(const int* m, const int* n, T* a, const int* lda, T* tau, T* work, const int* lwork, int* info);
    void (*orgqr)(const int* m, const int* n, const int* k, T* a, const int* lda, const T* tau, T* work,
                  const int* lwork, int* info);
    either<void (*)(const char* job, const int* m, const int* n, T* a, const int* lda, R* s, T* u, const int* ldu,
                    T* vt, const int* ldvt, T* work, const int* lwork, int* iwork, int* info, fortran_length),
           void (*)(const char* job, const int* m, const int* n, T* a, const int* lda, R* s, T* u, const int* ldu,
                    T* vt, const int* ldvt, T* work, const int* lwork, R* rwork, int* iwork, int* info, fortran_length)>
        gesdd;
    either<void (*)(const char* job, const char* uplo, const int* n, T* a, const int* lda, R* w, T* work,
                    const int* lwork, int* iwork, const int* liwork, int* info, fortran_length, fortran_length),
           void (*)(const char* job, const char* uplo, const int* n, T* a, const int* lda, R* w, T* work,
                    const int* lwork, R* rwork, const int* lrwork, int* iwork, const int* liwork, int* info,
                    fortran_length, fortran_length)>
        syevd;
    either<void (*)(const char* left, const char* right, const int* n, T* a, const int* lda, R* re, R* im, T* vl,
                    const int* ldvl, T* vr, const int* ldvr, T* work, const int* lwork, int* info, fortran_length,
                    fortran_length),
           void (*)(const char* left, const char* right, const int* n, T* a, const int* lda, T* w, T* vl,
                    const int* ldvl, T* vr, const int* ldvr, T* work, const int* lwork, R* rwork, int* info,
                    fortran_length, fortran_length)>
        geev;
    either<void (*)(const int* m, const int* n, const int* right, T* a, const int* lda, T* b, const int* ldb, R* s,
                    const R* rcond, int* rank, T* work, const int* lwork, int* iwork, int* info),
           void (*)(const int* m, const int* n, const int* right, T* a, const int* lda, T* b, const int* ldb, R* s,
                    const R* rcond, int* rank, T* work, const int* lwork, R* rwork, int* iwork, int* info)>
        gelsd;
};

/// Sets all functions; `get(function, name)` sets one.
template <class T, class Get>
void fill(lapack_functions<T>& f, char prefix, const Get& get) {
    constexpr bool of_complex = lapack_functions<T>::is_complex;
    const auto named = [&](auto& function, const char* name) {
        get(function, (prefix + std::string(name) + "_").c_str());
    };
    named(f.potrf, "potrf");
    named(f.getrf, "getrf");
    named(f.gesv, "gesv");
    named(f.trtrs, "trtrs");
    named(f.geqrf, "geqrf");
    named(f.orgqr, of_complex ? "ungqr" : "orgqr");
    named(f.gesdd, "gesdd");
    named(f.syevd, of_complex ? "heevd" : "syevd");
    named(f.geev, "geev");
    named(f.gelsd, "gelsd");
}

/// Opened once, for ever. Throws library_error, which names the operation.
template <class T>
const lapack_functions<T>& lapack(const char* operation);

/// Functions that get and set the library's number of threads; null where the library has none.
struct library_threads {
    int (*get)();
    void (*set)(int);
};
const library_threads* threads_of_lapack();

/// While such an object with `enabled` exists, the library uses one thread: sharing a small matrix among threads costs
/// more than it saves, and several of Ingot's threads have their own matrices.
class one_library_thread {
public:
    explicit one_library_thread(bool enabled);
    one_library_thread(const one_library_thread&) = delete;
    one_library_thread& operator=(const one_library_thread&) = delete;
    ~one_library_thread();

private:
    const library_threads* const threads_;
};

}  // namespace ingot::runtime
