// x(mask) and nonzero over whole and parted tiles: whatever the dtype, where masks and values begin, and how many are
// kept.
#include <doctest/doctest.h>

#include <random>

#include "tests/arrays/expect.hpp"

using namespace ingot;

namespace {

/// Flags, of which `percent` in a hundred are true.
std::vector<bool> flags_of(index_t n, int percent) {
    std::mt19937 random(static_cast<unsigned>(n + percent));
    std::vector<bool> flags(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < flags.size(); ++i) flags[i] = static_cast<int>(random() % 100) < percent;
    return flags;
}

template <class T>
void expect_selected(index_t n, int percent, index_t skip) {
    CAPTURE(n);
    CAPTURE(percent);
    CAPTURE(skip);
    const std::vector<bool> flags = flags_of(n + 2 * skip, percent);
    const array<bool> all_flags = asarray(flags);
    const array<T> all_values(astype<T>(arange<index_t>(n + 2 * skip) % 101));
    const auto values = all_values.to_host();
    std::vector<T> wanted;
    std::vector<index_t> wanted_places;
    for (index_t i = 0; i < n; ++i) {
        if (!flags[static_cast<std::size_t>(i + 2 * skip)]) continue;
        wanted.push_back(values[static_cast<std::size_t>(i + skip)]);
        wanted_places.push_back(i);
    }
    const auto mask = all_flags(slice(2 * skip, none));
    const array<T> kept = all_values(slice(skip, skip + n))(mask);
    CHECK(kept.to_host() == wanted);
    CHECK(nonzero(mask)[0].to_host() == wanted_places);
}

}  // namespace

TEST_CASE_TEMPLATE("what a mask selects lies side by side in order", T, std::int8_t, float16, float, double,
                   std::complex<double>) {
    for (const int percent : {0, 3, 50, 97, 100}) expect_selected<T>(3 * 8192 + 1500, percent, 0);
    for (const index_t n : {1, 31, 1024, 1025, 8192, 8193}) expect_selected<T>(n, 60, 0);
    for (const index_t skip : {1, 2, 4, 7, 16}) expect_selected<T>(8192 + 2100, 40, skip);
}
