// Random statements of shifted, wrapped, joined, gathered and windowed values among maps, folds and scans. Each is
// evaluated in one statement, and step by step. INGOT_TEST_SEED replays a run, INGOT_TEST_STATEMENTS sets how many
// statements it has.
#include <doctest/doctest.h>

#include <cstdlib>
#include <random>

#include <ingot/ingot.hpp>

#include "bench/composing.hpp"

namespace ingot::tests {

namespace {

std::uint64_t setting_of(const char* variable, std::uint64_t otherwise) {
    const char* const text = std::getenv(variable);
    return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace

TEST_CASE("statements of rolls, pads, joins, gathers and windows are what their steps are") {
    const std::uint64_t seed = setting_of("INGOT_TEST_SEED", std::random_device()());
    const std::uint64_t statements = setting_of("INGOT_TEST_STATEMENTS", 8);
    std::uint64_t kernels = 0;
    for (std::uint64_t k = 0; k < statements; ++k) {
        bench::composer<double> c(seed + k);
        try {
            const auto v = c.draw(4);
            const std::uint64_t before = counters().kernel_launches;
            const array<double> found = v.whole;
            kernels += counters().kernel_launches - before;
            const bool same = found.shape() == v.stepped.shape() && allclose(found, v.stepped, 1e-9, 1e-9).item();
            if (!same) FAIL_CHECK("seed " << seed + k << ", shape " << found.shape() << ": " << c.told());
        } catch (const std::exception& e) {
            FAIL_CHECK("seed " << seed + k << " threw " << e.what() << ": " << c.told());
        }
    }
    MESSAGE(statements << " statements, " << kernels << " kernels, seed " << seed);
}

}  // namespace ingot::tests
