// The error record of a stream (codegen/text/error_report.hpp): made when the first statement asks for it, written by
// kernels and library functions, thrown and cleared by whoever has waited for the stream.
#pragma once

#include <cstdint>

#include "codegen/text/error_report.hpp"
#include "runtime/device/stream.hpp"

namespace ingot::runtime {

struct executable;

/// In host memory that the stream's device sees under the same address. It stands for ever.
codegen::error_record& error_record_of(stream_state&);

/// The number that a report names its statement by: an executable is never freed. 0 is none's.
std::uint64_t statement_number(const executable&) noexcept;
/// For a report whose statement is not known.
inline constexpr std::uint64_t unknown_statement = 1;

/// Reports from the host, at once; a report that is there already stays.
void report_error(codegen::error_record&, std::uint64_t statement, codegen::report_kind, std::int32_t axis,
                  std::int64_t index, std::int64_t extent) noexcept;

/// Throws what the record holds, and clears it: index_error, linalg_error or library_error.
void throw_recorded(codegen::error_record&);
void clear(codegen::error_record&) noexcept;

}  // namespace ingot::runtime
