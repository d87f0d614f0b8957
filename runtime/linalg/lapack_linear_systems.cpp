// Linear systems on the host, by LAPACK: Cholesky and LU factors, solutions, inverses, determinants, least squares.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

#include "runtime/linalg/lapack_call.hpp"

namespace ingot::runtime {

template <class T>
void lapack_call<T>::cholesky() {
    take_matrices(true);
    T* const result = make<T>(0, {rows_, rows_});
    for_parts([&](index_t first, index_t last) {
        by_columns<T> a(rows_, rows_);
        const bool upper = option_ != 0;
        const int n = static_cast<int>(rows_), lda = a.leading();
        for (index_t i = first; i < last; ++i) {
            load(0, i, a);
            int info = 0;
            lapack_.potrf(upper ? "U" : "L", &n, a.data(), &lda, &info, 1);
            if (info != 0) fail_not_definite(i, info);
            for (index_t k = 0; k < rows_; ++k)
                for (index_t j = 0; j < rows_; ++j)
                    if (upper ? j > k : j < k) a(j, k) = T(0);
            store(result, i, a, rows_, rows_);
        }
    });
}

namespace {

/// A call of LAPACK takes longer than a matrix of at most this many rows.
constexpr index_t worth_a_call = 8;

/// getrf of a small square matrix, into L and U in its place.
template <class T>
int factorise_small(by_columns<T>& a, std::vector<int>& pivots) {
    const auto size = [](const T& x) { return std::abs(std::real(x)) + std::abs(std::imag(x)); };  // as LAPACK's
    const index_t n = a.rows;
    int info = 0;
    for (index_t k = 0; k < n; ++k) {
        index_t largest = k;
        for (index_t i = k + 1; i < n; ++i)
            if (size(a(i, k)) > size(a(largest, k))) largest = i;
        pivots[static_cast<std::size_t>(k)] = static_cast<int>(largest) + 1;
        if (a(largest, k) == T(0)) {
            if (info == 0) info = static_cast<int>(k) + 1;
            continue;
        }
        if (largest != k)
            for (index_t j = 0; j < n; ++j) std::swap(a(k, j), a(largest, j));
        for (index_t i = k + 1; i < n; ++i) {
            const T factor = a(i, k) /= a(k, k);
            for (index_t j = k + 1; j < n; ++j) a(i, j) -= factor * a(k, j);
        }
    }
    return info;
}

/// Solves by the factors of a small matrix, in b's place.
template <class T>
void solve_small(by_columns<T>& a, const std::vector<int>& pivots, by_columns<T>& b) {
    const index_t n = a.rows;
    for (index_t j = 0; j < b.columns; ++j) {
        for (index_t k = 0; k < n; ++k) std::swap(b(k, j), b(pivots[static_cast<std::size_t>(k)] - 1, j));
        for (index_t k = 0; k < n; ++k)
            for (index_t i = k + 1; i < n; ++i) b(i, j) -= a(i, k) * b(k, j);
        for (index_t k = n; k-- > 0;) {
            b(k, j) /= a(k, k);
            for (index_t i = 0; i < k; ++i) b(i, j) -= a(i, k) * b(k, j);
        }
    }
}

}  // namespace

template <class T>
int lapack_call<T>::factorise(by_columns<T>& a, std::vector<int>& pivots) const {
    if (a.rows == a.columns && a.rows <= worth_a_call) return factorise_small(a, pivots);
    const int m = static_cast<int>(a.rows), n = static_cast<int>(a.columns), lda = a.leading();
    int info = 0;
    if (m > 0 && n > 0) lapack_.getrf(&m, &n, a.data(), &lda, pivots.data(), &info);
    return info;
}

template <class T>
int lapack_call<T>::eliminate(by_columns<T>& a, by_columns<T>& b, std::vector<int>& pivots) const {
    const int n = static_cast<int>(a.rows), right = static_cast<int>(b.columns), lda = a.leading(), ldb = b.leading();
    int info = 0;
    if (n > worth_a_call)
        lapack_.gesv(&n, &right, a.data(), &lda, pivots.data(), b.data(), &ldb, &info);
    else if (info = factorise_small(a, pivots); info == 0)
        solve_small(a, pivots, b);
    return info;
}

template <class T>
void lapack_call<T>::solve() {
    take_matrices(true);
    const right_sides right = take_right_sides();
    const bool vector = right.vector;
    const index_t wide = right.columns;
    T* const result = vector ? make<T>(0, {rows_}) : make<T>(0, {rows_, wide});
    for_parts(
        [&](index_t first, index_t last) {
            by_columns<T> a(rows_, rows_), b(rows_, wide);
            std::vector<int> pivots = room<int>(rows_);
            for (index_t i = first; i < last; ++i) {
                load(0, i, a);
                load(1, vector ? 0 : i, b, vector ? 1 : 2);
                if (const int pivot = eliminate(a, b, pivots); pivot != 0) fail_singular(i, pivot);
                store(result, i, b, rows_, wide);
            }
        },
        wide);
}

template <class T>
void lapack_call<T>::inv() {
    take_matrices(true);
    T* const result = make<T>(0, {rows_, rows_});
    for_parts([&](index_t first, index_t last) {
        by_columns<T> a(rows_, rows_), b(rows_, rows_);
        std::vector<int> pivots = room<int>(rows_);
        for (index_t i = first; i < last; ++i) {
            load(0, i, a);
            b.make_identity();
            if (const int pivot = eliminate(a, b, pivots); pivot != 0) {
                if (option_ == 0) fail_singular(i, pivot);
                std::fill(b.values.begin(), b.values.end(), T(std::numeric_limits<R>::infinity()));
            }
            store(result, i, b, rows_, rows_);
        }
    });
}

template <class T>
void lapack_call<T>::det(bool logarithm) {
    take_matrices(true);
    T* const result = make<T>(0, {});
    R* const size_result = logarithm ? make<R>(1, {}) : nullptr;
    for_parts([&](index_t first, index_t last) {
        by_columns<T> a(rows_, rows_);
        std::vector<int> pivots = room<int>(rows_);
        for (index_t i = first; i < last; ++i) {
            load(0, i, a);
            factorise(a, pivots);
            result[i] = determinant(a.data(), rows_ + 1, pivots.data(), rows_, logarithm ? size_result + i : nullptr);
        }
    });
}

template <class T>
void lapack_call<T>::lu() {
    take_matrices(false);
    const index_t lesser = std::min(rows_, columns_);
    T* const result = make<T>(0, {rows_, columns_});
    std::int64_t* const exchanged = make<std::int64_t>(1, {lesser});
    for_parts([&](index_t first, index_t last) {
        by_columns<T> a(rows_, columns_);
        std::vector<int> pivots = room<int>(lesser);
        for (index_t i = first; i < last; ++i) {
            load(0, i, a);
            factorise(a, pivots);
            store(result, i, a, rows_, columns_);
            std::transform(pivots.begin(), pivots.end(), exchanged + i * lesser, [](int row) { return row - 1; });
        }
    });
}

template <class T>
void lapack_call<T>::triangular() {
    take_matrices(true);
    const right_sides right = take_right_sides();
    const bool vector = right.vector;
    const index_t wide = right.columns;
    T* const result = vector ? make<T>(0, {rows_}) : make<T>(0, {rows_, wide});
    const char *const triangle = (option_ & 1) != 0 ? "U" : "L", *const diagonal = (option_ & 2) != 0 ? "U" : "N";
    for_parts(
        [&](index_t first, index_t last) {
            by_columns<T> a(rows_, rows_), b(rows_, wide);
            const int n = static_cast<int>(rows_), k = static_cast<int>(wide), lda = a.leading(), ldb = b.leading();
            for (index_t i = first; i < last; ++i) {
                load(0, i, a);
                load(1, vector ? 0 : i, b, vector ? 1 : 2);
                int info = 0;
                if (n > 0)
                    lapack_.trtrs(triangle, "N", diagonal, &n, &k, a.data(), &lda, b.data(), &ldb, &info, 1, 1, 1);
                if (info != 0) fail_zero_on_diagonal(i);
                store(result, i, b, rows_, wide);
            }
        },
        wide);
}

template <class T>
void lapack_call<T>::lstsq() {
    take_matrices(false);
    const auto right = operands_[1].where.extents();
    const bool vector = right.size() == 1;
    const index_t wide = vector ? 1 : right[1], lesser = std::min(rows_, columns_), longer = std::max(rows_, columns_);
    T* const x_result = make_alone<T>(0, vector ? std::vector{columns_} : std::vector{columns_, wide});
    // LAPACK returns nothing about the matrix if there are no right sides, so it gets one.
    const index_t sides = std::max<index_t>(wide, 1);
    const one_library_thread alone(is_small(sides));
    by_columns<T> a(rows_, columns_), b(longer, sides);
    load(0, 0, a);
    if (wide > 0) load(1, 0, b, vector ? 1 : 2);
    check_finite(0, a), check_finite(0, b);
    std::vector<R> s = room<R>(lesser);
    int rank = 0;
    const R rcond = option_ != 0 ? static_cast<R>(number_) : static_cast<R>(longer) * std::numeric_limits<R>::epsilon();
    if (lesser > 0) {
        const int m = static_cast<int>(rows_), n = static_cast<int>(columns_), k = as_int(sides), lda = a.leading(),
                  ldb = b.leading();
        std::vector<int> iwork = room<int>(1);
        [[maybe_unused]] std::vector<R> rwork = room<R>(1);
        const auto decompose = [&](T* work, const int* lwork, int* info) {
            if constexpr (is_complex)
                lapack_.gelsd(&m, &n, &k, a.data(), &lda, b.data(), &ldb, s.data(), &rcond, &rank, work, lwork,
                              rwork.data(), iwork.data(), info);
            else
                lapack_.gelsd(&m, &n, &k, a.data(), &lda, b.data(), &ldb, s.data(), &rcond, &rank, work, lwork,
                              iwork.data(), info);
        };
        std::vector<T> work = work_area(decompose);
        iwork.resize(static_cast<std::size_t>(std::max(iwork[0], 1)));
        if constexpr (is_complex) rwork.resize(static_cast<std::size_t>(as_int(static_cast<index_t>(rwork[0]) + 1)));
        const int lwork = static_cast<int>(work.size());
        int info = 0;
        decompose(work.data(), &lwork, &info);
        if (info != 0) fail_at(0, "has singular values that the iteration did not converge to");
    }
    store(x_result, 0, b, columns_, wide);
    const bool has_rest = rank == columns_ && rows_ > columns_;
    R* const rest = make_alone<R>(1, {has_rest ? wide : 0});
    for (index_t k = 0; has_rest && k < wide; ++k) {
        rest[k] = 0;
        for (index_t j = columns_; j < rows_; ++j) rest[k] += std::norm(b(j, k));
    }
    *make_alone<std::int64_t>(2, {}) = rank;
    std::copy(s.begin(), s.end(), make_alone<R>(3, {lesser}));
}

#define INGOT_SOLVERS(T)                        \
    template void lapack_call<T>::cholesky();   \
    template void lapack_call<T>::solve();      \
    template void lapack_call<T>::inv();        \
    template void lapack_call<T>::det(bool);    \
    template void lapack_call<T>::lu();         \
    template void lapack_call<T>::triangular(); \
    template void lapack_call<T>::lstsq()
INGOT_SOLVERS(float);
INGOT_SOLVERS(double);
INGOT_SOLVERS(std::complex<float>);
INGOT_SOLVERS(std::complex<double>);
#undef INGOT_SOLVERS

}  // namespace ingot::runtime
