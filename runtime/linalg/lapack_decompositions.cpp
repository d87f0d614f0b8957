// LAPACK's decompositions of a batch of matrices on the host: QR, singular values, eigenvalues of symmetric and of
// general matrices.
#include <algorithm>
#include <complex>
#include <vector>

#include "runtime/linalg/lapack_call.hpp"

namespace ingot::runtime {

template <class T>
void lapack_call<T>::qr() {
    take_matrices(false);
    const bool complete = option_ != 0;
    const index_t lesser = std::min(rows_, columns_), wide = complete ? rows_ : lesser;
    T *const q_result = make<T>(0, {rows_, wide}), *const r_result = make<T>(1, {wide, columns_});
    for_parts([&](index_t first, index_t last) {
        by_columns<T> a(rows_, columns_), q(rows_, wide), r(wide, columns_);
        std::vector<T> tau = room<T>(lesser);
        const int m = static_cast<int>(rows_), n = static_cast<int>(columns_), w = static_cast<int>(wide),
                  k = static_cast<int>(lesser), lda = a.leading(), ldq = q.leading();
        const auto factorise = [&](T* work, const int* lwork, int* info) {
            lapack_.geqrf(&m, &n, a.data(), &lda, tau.data(), work, lwork, info);
        };
        const auto form = [&](T* work, const int* lwork, int* info) {
            lapack_.orgqr(&m, &w, &k, q.data(), &ldq, tau.data(), work, lwork, info);
        };
        std::vector<T> work, work_of_form;
        if (lesser > 0) work = work_area(factorise), work_of_form = work_area(form);
        const int lwork = static_cast<int>(work.size()), lwork_of_form = static_cast<int>(work_of_form.size());
        for (index_t i = first; i < last; ++i) {
            load(0, i, a);
            int info = 0;
            q.make_identity();
            if (lesser > 0) {
                factorise(work.data(), &lwork, &info);
                std::copy_n(a.values.begin(), rows_ * std::min(columns_, wide), q.values.begin());
                form(work_of_form.data(), &lwork_of_form, &info);
            }
            for (index_t y = 0; y < columns_; ++y)
                for (index_t x = 0; x < wide; ++x) r(x, y) = x <= y ? a(x, y) : T(0);
            store(q_result, i, q, rows_, wide);
            store(r_result, i, r, wide, columns_);
        }
    });
}

template <class T>
void lapack_call<T>::svd(char job) {
    take_matrices(false);
    const bool vectors = job != 'N';
    const index_t lesser = std::min(rows_, columns_),
                  left = job == 'A' ? rows_
                         : vectors  ? lesser
                                    : 0,
                  right = job == 'A' ? columns_
                          : vectors  ? lesser
                                     : 0;
    T *u_result = nullptr, *v_result = nullptr;
    if (vectors) u_result = make<T>(0, {rows_, left}), v_result = make<T>(2, {right, columns_});
    R* const s_result = make<R>(vectors ? 1 : 0, {lesser});
    for_parts([&](index_t first, index_t last) {
        by_columns<T> a(rows_, columns_), u(rows_, left), vt(right, columns_);
        std::vector<R> s = room<R>(lesser);
        std::vector<int> iwork = room<int>(8 * lesser);
        const index_t longer = std::max(rows_, columns_);
        [[maybe_unused]] std::vector<R> rwork;
        if constexpr (is_complex)
            rwork = room<R>(
                std::max<index_t>(1, lesser * (vectors ? std::max(5 * lesser + 7, 2 * longer + 2 * lesser + 1) : 7)));
        const int m = static_cast<int>(rows_), n = static_cast<int>(columns_), lda = a.leading(), ldu = u.leading(),
                  ldvt = vt.leading();
        const auto decompose = [&](T* work, const int* lwork, int* info) {
            if constexpr (is_complex)
                lapack_.gesdd(&job, &m, &n, a.data(), &lda, s.data(), u.data(), &ldu, vt.data(), &ldvt, work, lwork,
                              rwork.data(), iwork.data(), info, 1);
            else
                lapack_.gesdd(&job, &m, &n, a.data(), &lda, s.data(), u.data(), &ldu, vt.data(), &ldvt, work, lwork,
                              iwork.data(), info, 1);
        };
        std::vector<T> work;
        if (lesser > 0) work = work_area(decompose);
        const int lwork = static_cast<int>(work.size());
        for (index_t i = first; i < last; ++i) {
            load_finite(i, a);
            int info = 0;
            if (lesser > 0)
                decompose(work.data(), &lwork, &info);
            else
                u.make_identity(), vt.make_identity();
            if (info != 0) fail_at(i, "has singular values that the iteration did not converge to");
            std::copy(s.begin(), s.end(), s_result + i * lesser);
            if (vectors) store(u_result, i, u, rows_, left), store(v_result, i, vt, right, columns_);
        }
    });
}

template <class T>
void lapack_call<T>::eigh(char job) {
    take_matrices(true);
    R* const w_result = make<R>(0, {rows_});
    T* const v_result = job == 'V' ? make<T>(1, {rows_, rows_}) : nullptr;
    for_parts([&](index_t first, index_t last) {
        by_columns<T> a(rows_, rows_);
        std::vector<R> w = room<R>(rows_);
        const char* const uplo = option_ != 0 ? "U" : "L";
        const int n = static_cast<int>(rows_), lda = a.leading();
        std::vector<int> iwork = room<int>(1);
        [[maybe_unused]] std::vector<R> rwork = room<R>(1);
        int liwork = -1;
        [[maybe_unused]] int lrwork = -1;
        const auto decompose = [&](T* work, const int* lwork, int* info) {
            if constexpr (is_complex)
                lapack_.syevd(&job, uplo, &n, a.data(), &lda, w.data(), work, lwork, rwork.data(), &lrwork,
                              iwork.data(), &liwork, info, 1, 1);
            else
                lapack_.syevd(&job, uplo, &n, a.data(), &lda, w.data(), work, lwork, iwork.data(), &liwork, info, 1, 1);
        };
        std::vector<T> work = work_area(decompose);
        liwork = std::max(iwork[0], 1);
        iwork.resize(static_cast<std::size_t>(liwork));
        lrwork = as_int(std::max<index_t>(static_cast<index_t>(rwork[0]), 1));
        rwork.resize(static_cast<std::size_t>(lrwork));
        const int lwork = static_cast<int>(work.size());
        for (index_t i = first; i < last; ++i) {
            load(0, i, a);
            // LAPACK does not read the other triangle, which may hold anything; it is cleared for check_finite.
            for (index_t k = 0; k < rows_; ++k)
                for (index_t j = 0; j < rows_; ++j)
                    if (option_ != 0 ? j > k : j < k) a(j, k) = T(0);
            check_finite(i, a);
            int info = 0;
            if (rows_ > 0) decompose(work.data(), &lwork, &info);
            if (info != 0) fail_at(i, "has eigenvalues that the iteration did not converge to");
            std::copy(w.begin(), w.end(), w_result + i * rows_);
            if (v_result) store(v_result, i, a, rows_, rows_);
        }
    });
}

template <class T>
void lapack_call<T>::eig(char job) {
    take_matrices(true);
    C* const w_result = make<C>(0, {rows_});
    C* const v_result = job == 'V' ? make<C>(1, {rows_, rows_}) : nullptr;
    for_parts([&](index_t first, index_t last) {
        by_columns<T> a(rows_, rows_), v(job == 'V' ? rows_ : 0, job == 'V' ? rows_ : 0);
        by_columns<C> vectors(v.rows, v.rows);
        std::vector<C> w = room<C>(rows_);
        std::vector<R> re = room<R>(rows_), im = room<R>(rows_), rwork = room<R>(2 * rows_);
        const int n = static_cast<int>(rows_), lda = a.leading(), ldv = v.leading(), one = 1;
        const auto decompose = [&](T* work, const int* lwork, int* info) {
            if constexpr (is_complex)
                lapack_.geev("N", &job, &n, a.data(), &lda, w.data(), nullptr, &one, v.data(), &ldv, work, lwork,
                             rwork.data(), info, 1, 1);
            else
                lapack_.geev("N", &job, &n, a.data(), &lda, re.data(), im.data(), nullptr, &one, v.data(), &ldv, work,
                             lwork, info, 1, 1);
        };
        std::vector<T> work = work_area(decompose);
        const int lwork = static_cast<int>(work.size());
        for (index_t i = first; i < last; ++i) {
            load_finite(i, a);
            int info = 0;
            if (rows_ > 0) decompose(work.data(), &lwork, &info);
            if (info != 0) fail_at(i, "has eigenvalues that the iteration did not converge to");
            if constexpr (!is_complex)
                for (index_t k = 0; k < rows_; ++k) {
                    const auto at = static_cast<std::size_t>(k);
                    w[at] = {re[at], im[at]};
                    if (!v_result) continue;
                    for (index_t j = 0; j < rows_; ++j)
                        vectors(j, k) = eigenvector_element([&](index_t column) { return v(j, column); }, k, im[at]);
                }
            std::copy(w.begin(), w.end(), w_result + i * rows_);
            if (!v_result) continue;
            if constexpr (is_complex)
                store(v_result, i, v, rows_, rows_);
            else
                store(v_result, i, vectors, rows_, rows_);
        }
    });
}

#define INGOT_SOLVERS(T)                      \
    template void lapack_call<T>::qr();       \
    template void lapack_call<T>::svd(char);  \
    template void lapack_call<T>::eigh(char); \
    template void lapack_call<T>::eig(char)
INGOT_SOLVERS(float);
INGOT_SOLVERS(double);
INGOT_SOLVERS(std::complex<float>);
INGOT_SOLVERS(std::complex<double>);
#undef INGOT_SOLVERS

}  // namespace ingot::runtime
