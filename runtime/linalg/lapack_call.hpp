// One call of a solver on the host, matrix by matrix. LAPACK uses column order and overwrites its operands, so each
// matrix is copied into a work area in that order, and each result back into C order. Errors are thrown at once,
// because a call on the host has ended when it returns.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <exception>
#include <mutex>
#include <span>
#include <vector>

#include <ingot/core/error.hpp>
#include <ingot/linalg/solvers.hpp>

#include "runtime/device/host_workers.hpp"
#include "runtime/device/ordering.hpp"
#include "runtime/linalg/lapack.hpp"
#include "runtime/linalg/solvers.hpp"

namespace ingot::runtime {

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
inline index_t start_of(index_t i, std::span<const index_t> batch, const detail::layout& where, int own_axes) {
    index_t at = where.offset;
    for (std::size_t j = batch.size(); j-- > 0; i /= batch[j]) {
        const auto axis = static_cast<int>(j) - static_cast<int>(batch.size()) + where.rank() - own_axes;
        if (axis >= 0 && where.shape()[axis] != 1) at += i % batch[j] * where.strides()[axis];
    }
    return at;
}

/// The call of one solver with element type T.
template <class T>
class lapack_call : solver_problem {
public:
    using R = typename part_type<T>::type;
    using C = std::complex<R>;
    static constexpr bool is_complex = lapack_functions<T>::is_complex;

    lapack_call(const char* operation, int option, double number, std::span<const detail::matrix_operand> operands,
                std::span<const detail::destination> results, stream_state& stream)
        : solver_problem(operation, operands),
          option_(option),
          number_(number),
          results_(results),
          stream_(stream),
          lapack_(lapack<T>(operation)) {
        for (const detail::matrix_operand& o : operands)
            if (o.memory) order_read(*o.memory, stream);
    }

    void run(detail::solver which) {
        switch (which) {
            case detail::solver::cholesky:
                return cholesky();
            case detail::solver::qr:
                return qr();
            case detail::solver::svd:
                return svd(option_ != 0 ? 'A' : 'S');
            case detail::solver::svdvals:
                return svd('N');
            case detail::solver::eigh:
                return eigh('V');
            case detail::solver::eigvalsh:
                return eigh('N');
            case detail::solver::eig:
                return eig('V');
            case detail::solver::eigvals:
                return eig('N');
            case detail::solver::solve:
                return solve();
            case detail::solver::inv:
                return inv();
            case detail::solver::det:
                return det(false);
            case detail::solver::slogdet:
                return det(true);
            case detail::solver::lstsq:
                return lstsq();
            case detail::solver::lu:
                return lu();
            case detail::solver::triangular:
                return triangular();
        }
    }

private:
    /// Copies matrix i of an operand; a vector becomes a column.
    void load(std::size_t operand, index_t i, by_columns<T>& to, int own_axes = 2) const {
        const detail::layout& where = operands_[operand].where;
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
        const detail::destination& to = results_[result];
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

    // Linear systems.
    void cholesky();
    /// Overwrites a with its factors L and U; returns 0, or the number of the first zero pivot, from 1.
    int factorise(by_columns<T>& a, std::vector<int>& pivots) const;
    /// Overwrites a and b; returns as `factorise` does.
    int eliminate(by_columns<T>& a, by_columns<T>& b, std::vector<int>& pivots) const;
    void solve();
    void inv();
    void det(bool logarithm);
    void lu();
    void triangular();
    void lstsq();

    // Decompositions.
    void qr();
    void svd(char job);
    void eigh(char job);
    void eig(char job);

    int option_;
    double number_;
    std::span<const detail::destination> results_;
    stream_state& stream_;
    const lapack_functions<T>& lapack_;
};

}  // namespace ingot::runtime
