// The start of a process's session.
#pragma once

#include <memory>
#include <optional>

#include "runtime/distributed/session.hpp"

namespace ingot::runtime {

/// The session of the ranks with which the process was started, or of this rank alone. Throws distributed_error.
std::shared_ptr<rank_session> start_session();

/// Where the ranks of the launcher meet, by its environment variables; none where the process was started alone.
std::optional<meeting_place> meeting_place_of_environment();

/// Puts INGOT_HOST, "address:port", in place of what the launcher says, if it is set.
void read_host(meeting_place&);

std::uint64_t new_seed();

}  // namespace ingot::runtime
