// Solvers on the host, matrix by matrix. LAPACK uses column order and overwrites its operands, so each matrix is copied
// into a work area in that order, and each result back into C order. Errors are thrown at once, because a call on the
// host has ended when it returns; they name the matrix by its index in the batch.
#include <ingot/linalg/solvers.hpp>

#include <algorithm>
#include <cmath>
#include <exception>
#include <mutex>
#include <string>
#include <vector>

#include <ingot/core/error.hpp>

#include "runtime/device/graphs.hpp"
#include "runtime/device/host_workers.hpp"
#include "runtime/device/ordering.hpp"
#include "runtime/front/evaluate.hpp"
#include "runtime/linalg/lapack.hpp"
#include "runtime/linalg/solvers.hpp"
#include "runtime/system/counters.hpp"

namespace ingot::runtime {

void solver_problem::fail(const std::string& why) const {
    std::string shapes;
    for (const detail::matrix_operand& o : operands_)
        shapes += (shapes.empty() ? "" : " and ") + detail::to_text(o.where.extents());
    throw shape_error("[" + std::string(operation_) + "] " + (operands_.size() > 1 ? "shapes " : "shape ") + shapes +
                      ": " + why);
}

void solver_problem::fail_at(index_t i, const std::string& why) const {
    std::string which = "the matrix";
    if (!batch_.empty()) {
        std::vector<index_t> place(batch_.size());
        for (std::size_t j = batch_.size(); j-- > 0; i /= batch_[j]) place[j] = i % batch_[j];
        which = "matrix " + detail::to_text(place);
    }
    throw linalg_error("[" + std::string(operation_) + "] " + which + " of shape " +
                       detail::to_text(operands_[0].where.extents()) + " " + why);
}
void solver_problem::fail_singular(index_t i, int pivot) const {
    fail_at(i, "is singular: pivot " + std::to_string(pivot - 1) + " is 0");
}
void solver_problem::fail_zero_on_diagonal(index_t i) const { fail_at(i, "is singular: a 0 stands on its diagonal"); }
void solver_problem::fail_not_definite(index_t i, int order) const {
    fail_at(i, "is not positive definite: its minor of order " + std::to_string(order) + " is not positive");
}

int solver_problem::as_int(index_t n) const {
    if (n > std::numeric_limits<int>::max())
        throw library_error("[" + std::string(operation_) + "] an extent or work area of " + std::to_string(n) +
                            " is too large for the library");
    return static_cast<int>(n);
}

void solver_problem::take_matrices(bool square) {
    const auto shape = operands_[0].where.extents();
    if (shape.size() < 2) fail("a matrix has two axes");
    rows_ = shape[shape.size() - 2], columns_ = shape[shape.size() - 1];
    if (square && rows_ != columns_) fail("square matrices are wanted");
    batch_.assign(shape.begin(), shape.end() - 2);
    for (const index_t n : shape) as_int(n);
}

solver_problem::right_sides solver_problem::take_right_sides() {
    const auto right = operands_[1].where.extents();
    const bool vector = right.size() == 1;
    if (right.empty() || right[right.size() - (vector ? 1 : 2)] != rows_)
        fail("the second has to have as many rows as the first");
    const index_t wide = vector ? 1 : right[right.size() - 1];
    as_int(wide);
    if (!vector) {
        detail::shape_room both;
        int rank = 0;
        const std::vector<index_t> own = batch_;
        const detail::extents_ref batches[] = {detail::extents_ref::of(own),
                                               detail::extents_ref::of(right.first(right.size() - 2))};
        detail::broadcast_shapes(operation_, batches, 2, both, rank);
        batch_.assign(both, both + rank);
    }
    return {vector, wide};
}

index_t solver_problem::count() const {
    index_t n = 1;
    for (const index_t extent : batch_) n *= extent;
    return n;
}

namespace {

using detail::destination;
using detail::layout;
using detail::matrix_operand;
using detail::solver;

template <class T>
std::vector<T> room(index_t n) {
    return std::vector<T>(static_cast<std::size_t>(n));
}

/// A matrix in column order.
template <class T>
struct by_columns {
    by_columns(index_t m, index_t n) : rows(m), columns(n), values(room<T>(m * n)) {}
    T& operator()(index_t i, index_t j) { return values[static_cast<std::size_t>(j * rows + i)]; }
    void make_identity() {
        std::fill(values.begin(), values.end(), T(0));
        for (index_t i = 0; i < std::min(rows, columns); ++i) (*this)(i, i) = T(1);
    }
    int leading() const { return static_cast<int>(std::max<index_t>(rows, 1)); }
    T* data() { return values.data(); }

    index_t rows, columns;
    std::vector<T> values;
};

/// The first element of the i-th matrix of a batch; axes of extent 1 are repeated.
index_t start_of(index_t i, std::span<const index_t> batch, const layout& where, int own_axes) {
    index_t at = where.offset;
    for (std::size_t j = batch.size(); j-- > 0; i /= batch[j]) {
        const auto axis = static_cast<int>(j) - static_cast<int>(batch.size()) + where.rank() - own_axes;
        if (axis >= 0 && where.shape()[axis] != 1) at += i % batch[j] * where.strides()[axis];
    }
    return at;
}

/// The call of one solver with element type T.
template <class T>
class call : solver_problem {
public:
    using R = typename part_type<T>::type;
    using C = std::complex<R>;
    static constexpr bool is_complex = lapack_functions<T>::is_complex;

    call(const char* operation, int option, double number, std::span<const matrix_operand> operands,
         std::span<const destination> results, stream_state& stream)
        : solver_problem(operation, operands),
          option_(option),
          number_(number),
          results_(results),
          stream_(stream),
          lapack_(lapack<T>(operation)) {
        for (const matrix_operand& o : operands)
            if (o.memory) order_read(*o.memory, stream);
    }

    void run(solver which) {
        switch (which) {
            case solver::cholesky:
                return cholesky();
            case solver::qr:
                return qr();
            case solver::svd:
                return svd(option_ != 0 ? 'A' : 'S');
            case solver::svdvals:
                return svd('N');
            case solver::eigh:
                return eigh('V');
            case solver::eigvalsh:
                return eigh('N');
            case solver::eig:
                return eig('V');
            case solver::eigvals:
                return eig('N');
            case solver::solve:
                return solve();
            case solver::inv:
                return inv();
            case solver::det:
                return det(false);
            case solver::slogdet:
                return det(true);
            case solver::lstsq:
                return lstsq();
            case solver::lu:
                return lu();
            case solver::triangular:
                return triangular();
        }
    }

private:
    /// Copies matrix i of an operand; a vector becomes a column.
    void load(std::size_t operand, index_t i, by_columns<T>& to, int own_axes = 2) const {
        const layout& where = operands_[operand].where;
        if (to.values.empty()) return;
        const T* const from =
            static_cast<const T*>(operands_[operand].memory->data) + start_of(i, batch_, where, own_axes);
        const index_t* const strides = where.strides() + where.rank() - own_axes;
        const index_t down = strides[0], across = own_axes == 2 ? strides[1] : 0;
        const index_t rows = where.shape()[where.rank() - own_axes];
        const index_t columns = own_axes == 2 ? where.shape()[where.rank() - 1] : 1;
        for (index_t k = 0; k < columns; ++k)
            for (index_t j = 0; j < rows; ++j) to(j, k) = from[j * down + k * across];
    }
    void load_finite(index_t i, by_columns<T>& to) const {
        load(0, i, to);
        check_finite(i, to);
    }
    void check_finite(index_t i, const by_columns<T>& a) const {
        for (const T& value : a.values)
            if (!std::isfinite(std::real(value)) || !std::isfinite(std::imag(value)))
                fail_at(i, "has elements that are infinite or NaN");
    }

    /// Allocates a result with these axes behind the batch's.
    template <class U>
    U* make(std::size_t result, std::vector<index_t> own) {
        std::vector<index_t> shape = batch_;
        shape.insert(shape.end(), own.begin(), own.end());
        return make_alone<U>(result, shape);
    }
    template <class U>
    U* make_alone(std::size_t result, const std::vector<index_t>& shape) {
        detail::check_extents(operation_, shape);
        const destination& to = results_[result];
        to.where = detail::contiguous_layout(shape);
        to.memory = allocate_buffer(static_cast<std::size_t>(to.where.size()) * sizeof(U), stream_.device, stream_);
        order_write(*to.memory, stream_);
        return static_cast<U*>(to.memory->data);
    }
    /// Stores the first rows and columns of a matrix, in C order, as number i of a result.
    template <class U, class V>
    static void store(U* result, index_t i, by_columns<V>& from, index_t rows, index_t columns) {
        U* to = result + i * rows * columns;
        for (index_t j = 0; j < rows; ++j)
            for (index_t k = 0; k < columns; ++k) *to++ = from(j, k);
    }

    /// Makes a work area of the size that f(work, lwork, info) returns for a query.
    template <class F>
    std::vector<T> work_area(const F& f) const {
        T size{};
        const int query = -1;
        int info = 0;
        f(&size, &query, &info);
        return room<T>(as_int(std::max<index_t>(static_cast<index_t>(std::real(size)), 1)));
    }

    /// Whether a matrix, with its right sides, is small enough for one thread.
    bool is_small(index_t sides = 0) const {
        constexpr double most_elements = 128 * 128;
        return static_cast<double>(rows_) * static_cast<double>(std::max(columns_, sides)) <= most_elements;
    }
    /// f(first, last) for parts of the batch. Small matrices are distributed over the workers, and the library then
    /// uses one thread.
    template <class F>
    void for_parts(const F& f, index_t sides = 0) const {
        constexpr double worth_a_part = 30'000;  // elements times the longer side
        const bool small = is_small(sides);
        const one_library_thread alone(small);
        const index_t n = count();
        if (!small) return f(0, n);
        const double work = static_cast<double>((rows_ * columns_ + 1) * (std::max(rows_, columns_) + 1));
        const auto each = static_cast<index_t>(worth_a_part / work) + 1, parts = (n + each - 1) / each;
        if (parts < 2) return f(0, n);
        // The error names the first matrix that fails.
        std::mutex mutex;
        std::size_t where = 0;
        std::exception_ptr failure;
        run_on_workers(static_cast<std::size_t>(parts), [&](std::size_t begin, std::size_t end) {
            try {
                f(static_cast<index_t>(begin) * each, std::min(static_cast<index_t>(end) * each, n));
            } catch (const linalg_error&) {
                const std::lock_guard lock(mutex);
                if (!failure || begin < where) where = begin, failure = std::current_exception();
            }
        });
        if (failure) std::rethrow_exception(failure);
    }

    void cholesky() {
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

    void qr() {
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

    void svd(char job) {
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
                rwork = room<R>(std::max<index_t>(
                    1, lesser * (vectors ? std::max(5 * lesser + 7, 2 * longer + 2 * lesser + 1) : 7)));
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

    void eigh(char job) {
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
                    lapack_.syevd(&job, uplo, &n, a.data(), &lda, w.data(), work, lwork, iwork.data(), &liwork, info, 1,
                                  1);
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

    void eig(char job) {
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
                    lapack_.geev("N", &job, &n, a.data(), &lda, re.data(), im.data(), nullptr, &one, v.data(), &ldv,
                                 work, lwork, info, 1, 1);
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
                            vectors(j, k) =
                                eigenvector_element([&](index_t column) { return v(j, column); }, k, im[at]);
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

    /// Overwrites a and b; returns 0, or the number of the zero pivot.
    int eliminate(by_columns<T>& a, by_columns<T>& b, std::vector<int>& pivots) const {
        const int n = static_cast<int>(a.rows), right = static_cast<int>(b.columns), lda = a.leading(),
                  ldb = b.leading();
        int info = 0;
        if (n > 0) lapack_.gesv(&n, &right, a.data(), &lda, pivots.data(), b.data(), &ldb, &info);
        return info;
    }
    void solve() {
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

    void inv() {
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

    void det(bool logarithm) {
        take_matrices(true);
        T* const result = make<T>(0, {});
        R* const size_result = logarithm ? make<R>(1, {}) : nullptr;
        for_parts([&](index_t first, index_t last) {
            by_columns<T> a(rows_, rows_);
            std::vector<int> pivots = room<int>(rows_);
            const int n = static_cast<int>(rows_), lda = a.leading();
            for (index_t i = first; i < last; ++i) {
                load(0, i, a);
                int info = 0;
                if (rows_ > 0) lapack_.getrf(&n, &n, a.data(), &lda, pivots.data(), &info);
                result[i] =
                    determinant(a.data(), rows_ + 1, pivots.data(), rows_, logarithm ? size_result + i : nullptr);
            }
        });
    }

    void lu() {
        take_matrices(false);
        const index_t lesser = std::min(rows_, columns_);
        T* const result = make<T>(0, {rows_, columns_});
        std::int64_t* const exchanged = make<std::int64_t>(1, {lesser});
        for_parts([&](index_t first, index_t last) {
            by_columns<T> a(rows_, columns_);
            std::vector<int> pivots = room<int>(lesser);
            const int m = static_cast<int>(rows_), n = static_cast<int>(columns_), lda = a.leading();
            for (index_t i = first; i < last; ++i) {
                load(0, i, a);
                int info = 0;
                if (lesser > 0) lapack_.getrf(&m, &n, a.data(), &lda, pivots.data(), &info);
                store(result, i, a, rows_, columns_);
                std::transform(pivots.begin(), pivots.end(), exchanged + i * lesser, [](int row) { return row - 1; });
            }
        });
    }

    void triangular() {
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

    void lstsq() {
        take_matrices(false);
        const auto right = operands_[1].where.extents();
        const bool vector = right.size() == 1;
        const index_t wide = vector ? 1 : right[1], lesser = std::min(rows_, columns_),
                      longer = std::max(rows_, columns_);
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
        const R rcond =
            option_ != 0 ? static_cast<R>(number_) : static_cast<R>(longer) * std::numeric_limits<R>::epsilon();
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
            if constexpr (is_complex)
                rwork.resize(static_cast<std::size_t>(as_int(static_cast<index_t>(rwork[0]) + 1)));
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

    int option_;
    double number_;
    std::span<const destination> results_;
    stream_state& stream_;
    const lapack_functions<T>& lapack_;
};

}  // namespace

}  // namespace ingot::runtime

namespace ingot::detail {

void run_solver(const char* operation, solver which, int option, double number, dtype type,
                std::span<const matrix_operand> operands, std::span<const destination> results) {
    device_id device = runtime::current().device;
    for (const matrix_operand& o : operands)
        if (o.memory) device = o.memory->device;
    runtime::stream_state& stream = *runtime::context_on(device).stream;
    if (!device.is_host()) {
        // The results for no elements are known; they are made on the host.
        if (operands[0].where.size() == 0) {
            const with_device there(ingot::device::host());
            std::vector<matrix_operand> nothing;
            const buffer_ref none;
            for (const matrix_operand& o : operands) nothing.push_back({none, o.where});
            run_solver(operation, which, option, number, type, nothing, results);
            for (const destination& to : results) to.memory = copy_of(to.memory, device);
            return;
        }
        runtime::run_cusolver(operation, which, option, type, operands, results, stream);
        return runtime::add(runtime::counter::library_calls);
    }
    runtime::check_not_recorded(stream, "a solver");
    const auto run = [&]<class T>(std::type_identity<T>) {
        runtime::call<T>(operation, option, number, operands, results, stream).run(which);
    };
    switch (type) {
        case dtype::f4:
            run(std::type_identity<float>{});
            break;
        case dtype::f8:
            run(std::type_identity<double>{});
            break;
        case dtype::c8:
            run(std::type_identity<std::complex<float>>{});
            break;
        default:
            run(std::type_identity<std::complex<double>>{});
    }
    runtime::add(runtime::counter::library_calls);
}

void check_least_squares(const shape_like& a, const shape_like& b) {
    const auto fail = [&](const char* why) {
        throw shape_error("[lstsq] shapes " + to_text(a.values()) + " and " + to_text(b.values()) + ": " + why);
    };
    if (a.count() != 2) fail("one matrix is wanted");
    if (b.count() == 0 || b.count() > 2 || b[0] != a[0])
        fail("the second has to be a vector or a matrix of as many rows as the first");
}

void throw_no_such_norm(int axes, const linalg::norm_order& order) {
    using linalg::norm_order;
    const std::string name = order.kind() == norm_order::fro   ? "\"fro\""
                             : order.kind() == norm_order::nuc ? "\"nuc\""
                                                               : std::to_string(order.value());
    throw shape_error("[norm] " + std::string(axes == 1 ? "vectors" : "matrices") + " have no norm of order " + name);
}

axes axes_of_norm(extents_ref shape, const axes* over, const linalg::norm_order& order) {
    std::vector<index_t> along;
    if (over != nullptr)
        for (const index_t axis : *over) along.push_back(checked_axis("norm", axis, shape.rank));
    else
        for (int j = 0; j < shape.rank; ++j) along.push_back(j);
    if (along.empty() || along.size() > 2 || (along.size() == 2 && along[0] == along[1]))
        throw shape_error(
            "[norm] shape " + to_text(shape.span()) + ": a norm is over one axis or two" +
            (over == nullptr && order.kind() != linalg::norm_order::unsaid ? ", which have to be named" : ""));
    return axes(along);
}

void throw_no_inverse(dtype type) {
    throw dtype_error("[matrix_power] " + std::string(name(type)) +
                      " has no inverse matrices: a negative power wants float32, float64 or complex numbers");
}

}  // namespace ingot::detail

namespace ingot::linalg {

norm_order::kinds norm_order::named(std::string_view name) {
    if (name == "fro") return fro;
    if (name == "nuc") return nuc;
    throw shape_error("[norm] \"" + std::string(name) +
                      "\" is no order of a norm: a number, \"fro\" or \"nuc\" is wanted");
}

}  // namespace ingot::linalg
