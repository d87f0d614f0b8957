// What the symbolic sizes of a plan become when it is launched.
#include <doctest/doctest.h>

#include <array>
#include <span>

#include "runtime/launch.hpp"

using namespace ingot;

namespace {

std::uint64_t pieces_of(index_t places, std::uint32_t waves) {
    codegen::launch step;
    step.grid[0] = {.axes = 1};
    step.grid[1] = {.axes = 2, .divide_by = 10};
    step.resident_blocks = 2;
    step.waves = waves;
    const std::array<index_t, 2> extents{places, 1000};
    return runtime::grid_of(step, extents, 132)[1];
}

}  // namespace

TEST_CASE("blocks that share results are as many as are resident, or some waves of them where one would not be full") {
    CHECK(pieces_of(1, 1) == 100);  // no more pieces than there are
    CHECK(pieces_of(13, 1) == 20);
    CHECK(pieces_of(150, 1) == 1);
    CHECK(pieces_of(1000, 1) == 1);
    CHECK(pieces_of(13, 4) == 20);  // 260 of 264
    CHECK(pieces_of(150, 4) == 5);
    CHECK(pieces_of(117, 2) == 2);  // 234 of 264: two waves are no fuller
    CHECK(pieces_of(270, 4) == 3);
    CHECK(pieces_of(1000, 4) == 1);  // 3.8 waves as it is
}
