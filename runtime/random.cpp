// The generator that random::uniform and random::normal share.
#include <ingot/random.hpp>

#include <random>

namespace ingot::random {

generator& default_generator() {
    // Leaked on purpose: leaves may be written while the process ends.
    static generator& shared = *new generator([] {
        std::random_device entropy;
        return static_cast<std::uint64_t>(entropy()) << 32 | entropy();
    }());
    return shared;
}

}  // namespace ingot::random
