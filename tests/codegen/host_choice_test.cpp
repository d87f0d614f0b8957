// Blocks and strips of row kernels on the host, as values.
#include <doctest/doctest.h>

#include "codegen/host/choice.hpp"
#include "tests/codegen/trees.hpp"

using namespace ingot;
using namespace ingot::codegen;

namespace {

using detail::fold;
using detail::target;

/// For sum(x, 1), or across memory sum(x, 0), of float32.
fold_strips fold_of(std::uint8_t length_class, bool columns) {
    key_builder b(target::host);
    b.axes(1).bound_axis(0, length_class).leaf(dtype::f4, columns ? "1s" : "s1").reduce(fold::sum, dtype::f4);
    const key k = b.output(dtype::f4, "1").done();
    const codegen::graph g = lower(k, loops::shared);
    return choose_fold_strips(kernel_builder(k, g), find_folding(k, g));
}

/// For cumsum(x, 1), or cumsum(sin(x), 0), of float32.
scan_strips scan_of(std::uint8_t length_class, bool columns) {
    key_builder b(target::host);
    b.axes(2).bound_axis(0, length_class, columns ? 1 : 2);
    if (columns)
        b.leaf(dtype::f4, "01s").map("sin").scan(fold::sum, dtype::f4, "10");
    else
        b.leaf(dtype::f4, "s01").scan(fold::sum, dtype::f4, "01");
    const key k = b.output(dtype::f4, "s1").done();
    const codegen::graph g = lower(k, loops::shared);
    return choose_scan_strips(kernel_builder(k, g), find_scanning(k, g));
}

std::optional<row_strips> softmax_of(std::uint8_t length_class) {
    const key k = softmax_tree(target::host, dtype::f4, length_class);
    const codegen::graph g = lower(k, loops::shared);
    return choose_row_strips(kernel_builder(k, g), find_row_program(k, g).value());
}

}  // namespace

TEST_CASE("folds on the host: short rows lie side by side, longer ones have strips of their own, long ones pieces") {
    CHECK(fold_of(1, false).way == direction::across);
    CHECK(fold_of(2, false).way == direction::along);
    CHECK(fold_of(2, false).strip == 64);
    CHECK(fold_of(8, false).strip == 256);
    CHECK(!fold_of(11, false).in_pieces());
    CHECK(fold_of(12, false).in_pieces());
    CHECK(fold_of(5, true).way == direction::across);
    CHECK(fold_of(5, true).strip == 2048);
    CHECK(fold_of(5, true).pattern() == "column reduction");
    CHECK(fold_of(6, true).pattern() == "split reduction");
}

TEST_CASE("scans on the host: rows, pieces of long ones, strips of columns, whole vectors where a library computes") {
    using layout = scan_strips::layout;
    CHECK(scan_of(11, false).how == layout::rows);
    CHECK(scan_of(12, false).how == layout::pieces);
    CHECK(scan_of(12, false).piece == 1u << 15);
    CHECK(!scan_of(12, false).whole_vectors);
    CHECK(scan_of(12, true).how == layout::columns);
    CHECK(scan_of(12, true).line == 1);
    CHECK(scan_of(12, true).whole_vectors);
}

TEST_CASE("a softmax on the host keeps its exponentials from one phase to the next, while a cache has room") {
    REQUIRE(softmax_of(8));
    REQUIRE(softmax_of(8)->cached.size() == 1);
    CHECK(softmax_of(8)->cached[0].phase == 1);
    CHECK(softmax_of(8)->longest == 4096);
    CHECK(softmax_of(8)->along_rows == std::vector<std::size_t>{0});
    CHECK(softmax_of(8)->once_a_row.empty());
    REQUIRE(softmax_of(13));
    CHECK(softmax_of(13)->cached.empty());
    CHECK(!softmax_of(14));
}
