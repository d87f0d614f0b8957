// BLAS reads a C-order matrix as its transpose, so a product is requested as that of the second operand and the first,
// and nothing is copied. The library loops over the innermost batch axis; this file loops over the others.
#include "runtime/linalg/matrix_product.hpp"

#include <algorithm>

#include <ingot/core/key.hpp>

#include "runtime/front/libraries.hpp"

namespace ingot::runtime {

namespace {

/// The layout of a matrix that has stride 1 along one axis.
struct matrix_layout {
    bool transposed;  // columns are contiguous
    index_t leading;
};
matrix_layout layout_of(const library_array& a, std::size_t batch) {
    const index_t rows = a.extents[batch], columns = a.extents[batch + 1];
    const index_t down = a.strides[batch], across = a.strides[batch + 1];
    const bool by_rows = columns == 1 ? down != 1 || rows == 1 : across == 1;
    // A matrix of one column may have any stride between rows.
    if (by_rows) return {false, std::max<index_t>({rows == 1 ? 0 : down, columns, 1})};
    return {true, std::max<index_t>({columns == 1 ? 0 : across, rows, 1})};
}

}  // namespace

void matrix_product(const library_arguments& given) {
    const library_array &a = given.operands[0], &b = given.operands[1], &c = given.results[0];
    const std::size_t batch = given.batch_axes;
    const auto each = static_cast<index_t>(detail::size_of(c.type));
    const index_t rows = c.extents[batch], columns = c.extents[batch + 1], inner = a.extents[batch + 1];
    const matrix_layout of_a = layout_of(a, batch), of_b = layout_of(b, batch);
    product_call call{{of_b.transposed, of_a.transposed},
                      columns,
                      rows,
                      inner,
                      {},
                      {of_b.leading, of_a.leading},
                      nullptr,
                      std::max<index_t>({rows == 1 ? 0 : c.strides[batch], columns, 1})};
    call.type = c.type;
    call.tf32 = !given.attributes.empty() && given.attributes[0] == static_cast<std::uint32_t>(detail::math_mode::tf32);
    if (given.operands.size() > 2) call.bias = given.operands[2].data;
    index_t outer = 1;
    for (std::size_t j = 0; j + 1 < batch; ++j) outer *= a.extents[j];
    if (batch != 0) {
        call.batch = a.extents[batch - 1];
        call.strides[0] = b.strides[batch - 1], call.strides[1] = a.strides[batch - 1];
        call.strides[2] = c.strides[batch - 1];
    }
    for (index_t i = 0; i < outer; ++i) {
        index_t at[3] = {0, 0, 0}, left = i;
        for (std::size_t j = batch == 0 ? 0 : batch - 1; j-- > 0; left /= a.extents[j]) {
            const index_t digit = left % a.extents[j];
            at[0] += digit * b.strides[j], at[1] += digit * a.strides[j], at[2] += digit * c.strides[j];
        }
        call.operands[0] = static_cast<const std::byte*>(b.data) + at[0] * each;
        call.operands[1] = static_cast<const std::byte*>(a.data) + at[1] * each;
        call.result = static_cast<std::byte*>(c.data) + at[2] * each;
        libraries::products(call, given.stream);
    }
}

}  // namespace ingot::runtime
