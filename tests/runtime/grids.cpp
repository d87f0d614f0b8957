// The numbers that a plan's symbolic sizes become at launch.
#include <doctest/doctest.h>

#include <array>

#include "runtime/front/launch.hpp"

using namespace ingot;

namespace {

std::uint64_t pieces_of(index_t places, std::uint32_t waves, std::uint32_t blocks_in_waves = 0) {
    codegen::launch step;
    step.grid[0] = codegen::points_of(1);
    step.grid[1] = ceil_divide(codegen::points_of(2), 10);
    step.resident_blocks = 2;
    step.waves = waves;
    step.blocks_in_waves = blocks_in_waves;
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
    CHECK(pieces_of(13, 4, 3) == 20);
    CHECK(pieces_of(70, 4, 3) == 5);    // 350 of 396
    CHECK(pieces_of(114, 4, 3) == 10);  // 1140 of 1188
}
