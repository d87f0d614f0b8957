// Checks of the operands of products.
#include <ingot/linalg/products.hpp>

#include <numeric>
#include <set>
#include <string>

#include <ingot/core/error.hpp>

namespace ingot::detail {

namespace {

[[noreturn]] void fail(const char* operation, std::span<const index_t> a, std::span<const index_t> b,
                       const std::string& why) {
    throw shape_error("[" + std::string(operation) + "] shapes " + to_text(a) + " and " + to_text(b) + ": " + why);
}

}  // namespace

axis_labels labels_from(int first, int count) {
    axis_labels labels(static_cast<std::size_t>(count));
    std::iota(labels.begin(), labels.end(), first);
    return labels;
}

void check_contracted(const char* operation, extents_ref a, int of_a, extents_ref b, int of_b) {
    if (a.data[of_a] != b.data[of_b])
        fail(operation, a.span(), b.span(),
             "axis " + std::to_string(of_a) + " of the first has to be as long as axis " + std::to_string(of_b) +
                 " of the second");
}

void check_square(const char* operation, extents_ref shape) {
    if (shape.rank < 2 || shape.data[shape.rank - 1] != shape.data[shape.rank - 2])
        throw shape_error("[" + std::string(operation) + "] shape " + to_text(shape.span()) +
                          ": square matrices are wanted");
}

void throw_has_no_axes(const char* operation, extents_ref a, extents_ref b) {
    fail(operation, a.span(), b.span(), "an axis at least is wanted");
}

void throw_not_two_vectors(const char* operation, std::span<const index_t> a, std::span<const index_t> b) {
    fail(operation, a, b, "two vectors of one length are wanted");
}

void check_tensor_axes(extents_ref a, const axes& of_a, extents_ref b, const axes& of_b) {
    if (of_a.count() != of_b.count())
        fail("tensordot", a.span(), b.span(), "as many axes of the first as of the second are wanted");
    std::set<int> seen[2];
    for (int i = 0; i < of_a.count(); ++i) {
        const int x = checked_axis("tensordot", of_a[i], a.rank), y = checked_axis("tensordot", of_b[i], b.rank);
        if (!seen[0].insert(x).second || !seen[1].insert(y).second)
            fail("tensordot", a.span(), b.span(), "an axis is given twice");
        check_contracted("tensordot", a, x, b, y);
    }
}

void check_tensor_count(std::span<const index_t> a, std::span<const index_t> b, index_t count) {
    if (count < 0 || count > static_cast<index_t>(a.size()) || count > static_cast<index_t>(b.size()))
        fail("tensordot", a, b, "not both have " + std::to_string(count) + " axes to sum over");
}

void check_vectors_of_three(extents_ref a, index_t of_a, extents_ref b, index_t of_b) {
    if (a.rank == 0 || b.rank == 0) throw_has_no_axes("cross", a, b);
    const int x = checked_axis("cross", of_a, a.rank), y = checked_axis("cross", of_b, b.rank);
    if (a.data[x] != 3 || b.data[y] != 3) fail("cross", a.span(), b.span(), "vectors of three are wanted");
}

}  // namespace ingot::detail
