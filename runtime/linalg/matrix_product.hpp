// The matrix product of trees (libraries.def): cuBLAS on a GPU, CBLAS on the host, each opened on first use.
#pragma once

#include "runtime/front/library_functions.hpp"

namespace ingot::runtime {

/// Of float16, bfloat16, float32, float64, complex64 and complex128; the halves are summed in float32. The call's
/// attribute, where it has one, is the math mode, which on a GPU may be `tf32`. A third operand, on a GPU, is a vector
/// that is added to each row. Throws library_error where the library is not there, or says that it failed.
void matrix_product(const library_arguments&);

/// What a library of BLAS is asked: column by column, as it counts, so that the operands are the other way round.
struct product_call {
    bool transposed[2];  // the second operand, then the first
    index_t m, n, k;     // columns of the result, rows, and what is summed over
    const void* operands[2];
    index_t leading[2];  // from one line of an operand to the next, in elements
    void* result;
    index_t leading_of_result;
    index_t batch = 1;               // so many products
    index_t strides[3] = {0, 0, 0};  // from one to the next, of the operands and the result
    bool tf32 = false;               // float32's operands may lose all but ten bits of their fractions
    const void* bias = nullptr;      // of a GPU's call: what is added along the result's columns, of 16-byte alignment
};
void call_cublas(const product_call&, dtype, stream_state&);
/// Whether calls of a GPU may have a bias.
bool has_cublas_lt();
void call_cblas(const product_call&, dtype);

}  // namespace ingot::runtime
