// What the solvers of the host and of a GPU share: which matrices there are, and what is said of one.
#pragma once

#include <cmath>
#include <complex>
#include <span>
#include <string>
#include <vector>

#include <ingot/linalg/solvers.hpp>

#include "runtime/device/stream.hpp"

namespace ingot::runtime {

/// Matrices are the last two axes of the first operand; what stands before is the batch.
class solver_problem {
protected:
    solver_problem(const char* operation, std::span<const detail::matrix_operand> operands)
        : operation_(operation), operands_(operands) {}

    [[noreturn]] void fail(const std::string& why) const;
    /// Of number i of the batch.
    [[noreturn]] void fail_at(index_t i, const std::string& why) const;
    [[noreturn]] void fail_singular(index_t i, int pivot) const;
    [[noreturn]] void fail_zero_on_diagonal(index_t i) const;
    [[noreturn]] void fail_not_definite(index_t i, int order) const;
    /// The libraries' integers have 32 bits.
    int as_int(index_t n) const;

    void take_matrices(bool square);
    struct right_sides {
        bool vector;
        index_t columns;
    };
    /// Of the second operand: a vector, or matrices whose batch is broadcast with the first's.
    right_sides take_right_sides();
    index_t count() const;

    const char* operation_;
    std::span<const detail::matrix_operand> operands_;
    std::vector<index_t> batch_;
    index_t rows_ = 0, columns_ = 0;
};

/// Of a factorised matrix, from what stands on its diagonal and the rows that were exchanged: its determinant, or where
/// `log_of_size` is wanted the sign, and that.
template <class T, class Pivot, class R>
T determinant(const T* diagonal, index_t stride, const Pivot* pivots, index_t n, R* log_of_size) {
    T sign(1);
    R sum(0);
    for (index_t j = 0; j < n; ++j) {
        const T pivot = diagonal[j * stride];
        if (pivots[j] != static_cast<Pivot>(j + 1)) sign = -sign;
        if (log_of_size == nullptr) {
            sign *= pivot;
        } else {
            const R size = std::abs(pivot);
            sign = size == 0 ? T(0) : sign * (pivot / size);
            sum += std::log(size);
        }
    }
    if (log_of_size != nullptr) *log_of_size = sum;
    return sign;
}

/// Of the eigenvectors of a real matrix, number k in one row: of a pair, the second the conjugate of the first,
/// LAPACK's two columns have real and imaginary parts. packed(column) has the row's elements.
template <class F, class I, class R>
std::complex<R> eigenvector_element(const F& packed, I k, R imaginary) {
    if (imaginary == 0) return packed(k);
    return imaginary > 0 ? std::complex<R>(packed(k), packed(k + 1)) : std::complex<R>(packed(k - 1), -packed(k));
}

/// On a GPU, by cuSOLVER. Throws library_error where it is not there, or does not have the function.
void run_cusolver(const char* operation, detail::solver which, int option, dtype type,
                  std::span<const detail::matrix_operand> operands, std::span<const detail::destination> results,
                  stream_state& stream);

}  // namespace ingot::runtime
