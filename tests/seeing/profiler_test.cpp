// Ranges for a profiler, which a library of the tests' own takes down in one's place.
#include <doctest/doctest.h>

#include <string>

#include "runtime/device/nvtx.hpp"
#include "tests/cache/fixture.hpp"
#include "tests/seeing/output.hpp"

using namespace ingot::test;

namespace {

const std::string program = "'" INGOT_TEST_PROGRAMS "/profiled' 2>&1";

std::string seen_through(const std::string& library, const scratch_directory& cache) {
    return output_of("INGOT_CACHE_DIR='" + cache.path().string() + "' NVTX_INJECTION64_PATH='" + library + "' " +
                     program);
}

}  // namespace

TEST_CASE("a profiler sees a range for every statement, named by its expression, and for every compile") {
    const scratch_directory cache;
    const std::string recording = INGOT_TEST_PROGRAMS "/recording_profiler.so";
    const std::string cold = seen_through(recording, cache);
    CHECK(lines_with(cold, "ingot: x0 * s0 - s1") == 2);
    CHECK(lines_with(cold, "ingot: compile x0 * s0 - s1") == 1);
    CHECK(lines_with(cold, "ingot: x0 / sqrt(") == 1);
    const int compiles = lines_with(cold, "ingot: compile ");
    CHECK(compiles >= 2);
    CHECK(lines_with(cold, "computed 6") == 1);
    CHECK(cold.find("another layout") == cold.npos);
    CHECK(lines_with(cold, "  ingot:") == 0);  // ranges end before others begin
    const std::string warm = seen_through(recording, cache);
    CHECK(lines_with(warm, "ingot: compile ") == 0);
    CHECK(lines_with(warm, "ingot: x0 * s0 - s1") == 2);
}

TEST_CASE("a library that is no profiler, or is not there, is one warning") {
    const scratch_directory cache;
    for (const char* const wrong : {"/nowhere/profiler.so", "libm.so.6"}) {
        const std::string text = seen_through(wrong, cache);
        CHECK(lines_with(text, std::string("ingot: NVTX_INJECTION64_PATH names no profiler's library: ") + wrong) == 1);
        CHECK(lines_with(text, "computed 6") == 1);
    }
}

TEST_CASE("without a profiler nothing is called") {
    REQUIRE(std::getenv("NVTX_INJECTION64_PATH") == nullptr);
    ingot::runtime::look_for_profiler();
    CHECK(ingot::runtime::the_profiler.load() == nullptr);
    const scratch_directory cache;
    CHECK(output_of("INGOT_CACHE_DIR='" + cache.path().string() + "' " + program) == "computed 6\n");
}
