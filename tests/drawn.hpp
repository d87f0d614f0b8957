// Cases of a list: all on a GPU and where INGOT_TEST_ALL is set, else a third of them, others in each run. What is
// listed are the classes of a GPU's schedules; each run compiles as many for it as it has time for.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <initializer_list>
#include <random>
#include <vector>

#include <ingot/device.hpp>

namespace ingot::test {

template <class T>
std::vector<T> drawn(std::initializer_list<T> all) {
    if (current_device().is_cuda() || std::getenv("INGOT_TEST_ALL") != nullptr) return all;
    const char* const given = std::getenv("INGOT_TEST_SEED");
    static const unsigned long seed = given != nullptr ? std::strtoul(given, nullptr, 10) : std::random_device()();
    static std::mt19937_64 random(seed);
    [[maybe_unused]] static const bool said = [] {
        MESSAGE("INGOT_TEST_SEED=", seed);
        return true;
    }();
    std::vector<T> some;
    const std::size_t first = random() % 3;
    for (std::size_t i = first % all.size(); i < all.size(); i += 3) some.push_back(all.begin()[i]);
    return some;
}

}  // namespace ingot::test
