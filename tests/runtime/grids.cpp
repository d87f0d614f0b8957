// What the symbolic sizes of a plan become when it is launched.
#include <doctest/doctest.h>

#include <array>
#include <span>

#include "runtime/launch.hpp"

using namespace ingot;

namespace {

std::uint64_t pieces_of(index_t places, std::uint32_t waves, std::uint32_t blocks_in_waves = 0) {
    codegen::launch step;
    step.grid[0] = {.axes = 1};
    step.grid[1] = {.axes = 2, .divide_by = 10};
    step.resident_blocks = 2;
    step.waves = waves;
    step.blocks_in_waves = blocks_in_waves;
    const std::array<index_t, 2> extents{places, 1000};
    return runtime::grid_of(step, extents, 132)[1];
}

/// How wide the strips of so many columns are, and how many there are of each of three planes.
std::array<std::uint64_t, 2> strips_of(index_t columns, std::uint32_t threads) {
    const std::array<index_t, 2> extents{3, columns};
    codegen::formula f{.axes = 1, .inner = 2, .threads = threads, .strip = 64};
    const std::uint64_t wide = runtime::value_of(f, extents, 132);
    f.strips = true;
    return {wide, runtime::value_of(f, extents, 132) / 3};
}

/// How many of so many vectors of columns lie beside each other in a block, and how many such blocks there are.
std::array<std::uint64_t, 2> beside_of(index_t vectors) {
    const std::array<index_t, 1> extents{vectors};
    codegen::formula f{.axes = 1, .evenly = 64, .fewest = 8};
    const std::uint64_t across = runtime::value_of(f, extents, 132);
    f.strips = true;
    return {across, runtime::value_of(f, extents, 132)};
}

}  // namespace

TEST_CASE("the fewer columns there are that blocks share, the fewer are a block's") {
    using pieces = std::array<std::uint64_t, 2>;
    CHECK(beside_of(3) == pieces{3, 1});
    CHECK(beside_of(75) == pieces{8, 10});
    CHECK(beside_of(128) == pieces{16, 8});
    CHECK(beside_of(512) == pieces{32, 16});
    CHECK(beside_of(2048) == pieces{64, 32});
    CHECK(beside_of(100000) == pieces{64, 1563});
    for (index_t vectors = 1; vectors < 4000; ++vectors) {
        const auto [across, blocks] = beside_of(vectors);
        const auto all = static_cast<std::uint64_t>(vectors);
        CHECK((across <= 64 && across * blocks >= all && across * (blocks - 1) < all));
    }
}

TEST_CASE("strips are as few as can be, or some more where fewer threads of a block are then idle") {
    using strips = std::array<std::uint64_t, 2>;
    CHECK(strips_of(64, 256) == strips{64, 1});
    CHECK(strips_of(128, 256) == strips{64, 2});
    CHECK(strips_of(130, 0) == strips{44, 3});
    CHECK(strips_of(130, 256) == strips{33, 4});  // seven rows of 33, not five of 44
    CHECK(strips_of(257, 0) == strips{52, 5});
    CHECK(strips_of(257, 256) == strips{37, 7});
    CHECK(strips_of(1, 256) == strips{1, 1});
    for (index_t columns = 1; columns < 2000; ++columns) {
        const auto [wide, many] = strips_of(columns, 256);
        const auto all = static_cast<std::uint64_t>(columns);
        CHECK((wide <= 64 && wide * many >= all && wide * (many - 1) < all));
    }
}

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
