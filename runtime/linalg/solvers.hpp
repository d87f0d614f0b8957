// The common part of the solvers on the host and on a GPU: the batch of matrices, and error messages.
#pragma once

#include <cmath>
#include <complex>
#include <span>
#include <string>
#include <vector>

#include <ingot/linalg/solvers.hpp>

#include "runtime/device/stream.hpp"

namespace ingot::runtime {

/// The matrices are the last two axes of the first operand; the axes before them are the batch.
class solver_problem {
protected:
    solver_problem(const char* operation, std::span<const detail::matrix_operand> operands)
        : operation_(operation), operands_(operands) {}

    [[noreturn]] void fail(const std::string& why) const;
    /// Throws an error about matrix i of the batch.
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
    /// Describes the second operand: a vector, or matrices whose batch is broadcast with the first operand's.
    right_sides take_right_sides();
    index_t count() const;

    const char* operation_;
    std::span<const detail::matrix_operand> operands_;
    std::vector<index_t> batch_;
    index_t rows_ = 0, columns_ = 0;
};

/// The determinant of a factorised matrix, from its diagonal and the exchanges of rows. With `log_of_size`, the result
/// is the sign, and the logarithm of the absolute value is stored there.
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

/// Element of eigenvector k of a real matrix. LAPACK stores a pair of conjugate vectors in two columns, the real and
/// the imaginary part. packed(column) is the row's element.
template <class F, class I, class R>
std::complex<R> eigenvector_element(const F& packed, I k, R imaginary) {
    if (imaginary == 0) return packed(k);
    return imaginary > 0 ? std::complex<R>(packed(k), packed(k + 1)) : std::complex<R>(packed(k - 1), -packed(k));
}

struct solver_call {
    const char* operation;
    detail::solver which;
    int option;
    double number;
    dtype type;
    std::span<const detail::matrix_operand> operands;
    std::span<const detail::destination> results;
    stream_state& stream;
};
void call_lapack(const solver_call&);
/// Throws library_error where cuSOLVER is missing or lacks the function.
void call_cusolver(const solver_call&, stream_state&);

}  // namespace ingot::runtime
