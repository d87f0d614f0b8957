// The start of ranks by MPI. The library links none: a module that was built against one is opened when it is wanted.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "runtime/distributed/transport.hpp"
#include "runtime/mpi/ingot_mpi.hpp"

namespace ingot::runtime {

/// Whether the process's ranks meet by MPI: its launcher has started them and the module is there, or INGOT_TRANSPORT
/// says so. Then MPI has begun, and the place becomes the one that it says. A collective call. Throws library_error
/// where INGOT_TRANSPORT asks for MPI and it is missing. Where Ingot has begun MPI, it ends with the process if no
/// session that met by it has failed.
bool meet_by_mpi(std::optional<meeting_place>&);

/// Says that a session that met by MPI has ended.
void end_mpi_session(const std::shared_ptr<rank_group>&) noexcept;

/// For processes that have met by MPI.
const ingot_mpi_table& mpi_of_process();

std::string name_of_mpi(const ingot_mpi_table&);
std::string text_of_mpi_error(const ingot_mpi_table&, int error);

}  // namespace ingot::runtime
