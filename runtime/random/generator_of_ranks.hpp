// The generator that a thread's random numbers come from while it is a rank of a session.
#pragma once

#include <ingot/core/random.hpp>

namespace ingot::runtime {

/// Null in a thread without a session, which shares the generator of the process.
extern constinit thread_local random::generator* generator_of_ranks;

}  // namespace ingot::runtime
