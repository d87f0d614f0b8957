// Shared by the solvers on the host and on a GPU: the matrices of a batch by their shapes, and the errors,
// which name a matrix by its index in the batch.
#include <limits>
#include <string>
#include <vector>

#include <ingot/core/error.hpp>

#include "runtime/linalg/solvers.hpp"

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

}  // namespace ingot::runtime
