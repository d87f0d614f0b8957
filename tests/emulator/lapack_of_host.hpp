// LAPACK, by which emulated libraries compute: the host's OpenBLAS, null where there is none.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <complex>
#include <type_traits>
#include <vector>

#include "runtime/linalg/lapack.hpp"

namespace emulator {

using ingot::runtime::lapack_functions;

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

/// f(work, size of work, info) asks for a size first.
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

/// Exchanges rows, then solves with both triangles.
template <class T, class Pivot>
void solve_by_factors(int n, int right, const T* lu, int lda, const Pivot* pivots, T* b, int ldb) {
    for (int k = 0; k < right; ++k) {
        T* const x = b + k * ldb;
        for (int i = 0; i < n; ++i) std::swap(x[i], x[pivots[i] - 1]);
        for (int j = 0; j < n; ++j)
            for (int i = j + 1; i < n; ++i) x[i] -= lu[i + j * lda] * x[j];
        for (int j = n; j-- > 0;) {
            x[j] /= lu[j + j * lda];
            for (int i = 0; i < j; ++i) x[i] -= lu[i + j * lda] * x[j];
        }
    }
}

/// Values in ascending order, and with `vectors` eigenvectors in the place of the matrix.
template <class T, class R>
int eigenvalues(bool vectors, bool upper, int n, T* a, int lda, R* w) {
    const char *const job = vectors ? "V" : "N", *const triangle = upper ? "U" : "L";
    const auto size = static_cast<std::size_t>(n);
    std::vector<int> iwork(3 + 5 * size);
    [[maybe_unused]] std::vector<R> rwork(1 + 5 * size + 2 * size * size);
    const int liwork = static_cast<int>(iwork.size());
    [[maybe_unused]] const int lrwork = static_cast<int>(rwork.size());
    return run_with_work<T>([&](T* work, const int* lwork, int* found) {
        if constexpr (lapack_functions<T>::is_complex)
            lapack<T>()->syevd(job, triangle, &n, a, &lda, w, work, lwork, rwork.data(), &lrwork, iwork.data(), &liwork,
                               found, 1, 1);
        else
            lapack<T>()->syevd(job, triangle, &n, a, &lda, w, work, lwork, iwork.data(), &liwork, found, 1, 1);
    });
}

/// LAPACK's gesdd; m >= n.
template <class T, class R>
int singular_values(char job, int m, int n, T* a, int lda, R* s, T* u, int ldu, T* vt, int ldvt) {
    const auto rows = static_cast<std::size_t>(m), lesser = static_cast<std::size_t>(n);
    std::vector<int> iwork(8 * lesser);
    [[maybe_unused]] std::vector<R> rwork(lesser * (5 * lesser + 7) + 2 * rows * lesser + 2 * lesser * lesser + lesser);
    return run_with_work<T>([&](T* work, const int* lwork, int* found) {
        if constexpr (lapack_functions<T>::is_complex)
            lapack<T>()->gesdd(&job, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work, lwork, rwork.data(), iwork.data(),
                               found, 1);
        else
            lapack<T>()->gesdd(&job, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work, lwork, iwork.data(), found, 1);
    });
}

}  // namespace emulator
