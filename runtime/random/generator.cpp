// The generator that random::uniform and random::normal share, and seeds that are derived from others.
#include <ingot/core/random.hpp>

#include <random>

#include <ingot/core/philox.hpp>

#include "runtime/random/generator_of_ranks.hpp"

namespace ingot::detail {

std::uint64_t mixed_seed(std::uint64_t seed, std::uint64_t number, std::uint64_t place) noexcept {
    // No leaf's calls reach so far.
    const philox::block w = philox::words(seed, ~place, number);
    return philox::word_of<std::uint64_t>(w, 0);
}

}  // namespace ingot::detail

constinit thread_local ingot::random::generator* ingot::runtime::generator_of_ranks = nullptr;

namespace ingot::random {

generator& default_generator() {
    if (runtime::generator_of_ranks != nullptr) return *runtime::generator_of_ranks;
    // Leaked on purpose: leaves may be created while the process ends.
    static generator& shared = *new generator([] {
        std::random_device entropy;
        return static_cast<std::uint64_t>(entropy()) << 32 | entropy();
    }());
    return shared;
}

std::vector<generator> split(std::size_t n) { return default_generator().split(n); }

}  // namespace ingot::random
