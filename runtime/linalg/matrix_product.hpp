// The matrix product of trees (libraries.def): cuBLAS on a GPU, CBLAS on the host, each opened on first use.
#pragma once

#include "runtime/front/library_functions.hpp"

namespace ingot::runtime {

/// Takes float16, bfloat16, float32, float64, complex64 and complex128; sums of halves are computed in float32. An
/// attribute of the call, if there is one, is the math mode, which on a GPU may be `tf32`. A third operand, on a GPU,
/// is a vector that is added to each row. Throws library_error where the library is missing or reports a failure.
void matrix_product(const library_arguments&);

/// A call of a BLAS library. BLAS uses column order, so the operands are exchanged.
struct product_call {
    bool transposed[2];  // of the second operand, then of the first
    index_t m, n, k;     // columns of the result, its rows, and the length of the sums
    const void* operands[2];
    index_t leading[2];  // elements from one line of an operand to the next
    void* result;
    index_t leading_of_result;
    index_t batch = 1;               // number of products
    index_t strides[3] = {0, 0, 0};  // elements from one product to the next, for the operands and the result
    dtype type = dtype::f4;
    bool tf32 = false;           // float32 operands may be cut to ten bits of their fractions
    const void* bias = nullptr;  // for a GPU: added along the result's columns; 16-byte aligned
};
void call_cublas(const product_call&, stream_state&);
/// Whether a GPU's products may have a bias.
bool has_cublas_lt();
void call_cblas(const product_call&);

}  // namespace ingot::runtime
