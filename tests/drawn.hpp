// Cases of a list: all of them on a GPU and where INGOT_TEST_ALL is set, else a random third in each run. The list
// covers the classes of a GPU's schedules; each run compiles as many of them for CUDA as time allows, and runs as many
// on the emulated GPU.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <initializer_list>
#include <random>
#include <vector>

#include <ingot/core/device.hpp>

namespace ingot::test {

/// INGOT_TEST_SEED; or INGOT_TEST_DRAW, by which only this is drawn; or a number that is another one in each run.
inline unsigned long drawing_seed() {
    static const unsigned long seed = [] {
        for (const char* const name : {"INGOT_TEST_SEED", "INGOT_TEST_DRAW"})
            if (const char* const given = std::getenv(name)) return std::strtoul(given, nullptr, 10);
        return static_cast<unsigned long>(std::random_device()());
    }();
    return seed;
}

/// Whether a test takes all its cases: on a GPU that is not emulated, and where INGOT_TEST_ALL is set. Else it takes a
/// random part of them.
inline bool takes_all() {
    return std::getenv("INGOT_TEST_ALL") != nullptr ||
           (current_device().is_cuda() && std::getenv("INGOT_TEST_EMULATED") == nullptr);
}

/// `most` where a test takes all cases, else a third of it, as a number of random cases.
inline int number_of_draws(int most) { return takes_all() ? most : (most + 2) / 3; }

template <class T>
std::vector<T> drawn(std::initializer_list<T> all) {
    if (takes_all()) return all;
    static std::mt19937_64 random(drawing_seed());
    std::vector<T> some;
    const std::size_t first = random() % 3;
    for (std::size_t i = first % all.size(); i < all.size(); i += 3) some.push_back(all.begin()[i]);
    return some;
}

}  // namespace ingot::test
