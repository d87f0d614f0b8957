// A long expression is evaluated in pieces. One that reads no array, places alone, is evaluated where the statement is,
// not on the current device.
#include <doctest/doctest.h>

#include <ingot/ingot.hpp>

#include "tests/untested.hpp"

using namespace ingot;

TEST_CASE("pieces that read places alone are evaluated on the device of the operands") {
    if (!current_device().is_cuda()) return ingot::test::untested("there is no GPU here");
    const array<double> there = array<double>(random::uniform<double>({40})).to(device::host());
    memory_pool on_the_gpu = default_memory_pool();
    on_the_gpu.free_all_blocks();
    const std::size_t taken = on_the_gpu.total_bytes();
    lazy<double> place = astype<double>(lazy<index_t>(ogrid(slice(0, 60))));
    for (int i = 0; i < 80; ++i) place = abs(place * 0.97 - 0.25);
    const lazy<index_t> at = astype<index_t>(clip(place, 0, 39));
    const array<double> got = take(there, at, 0) + take(there, 39 - at, 0);
    CHECK(got.device() == device::host());
    CHECK(got.size() == 60);
    CHECK(on_the_gpu.total_bytes() == taken);
}
