// The error record of a stream (codegen/text/error_report.hpp). It is made when the first statement needs it, written
// by kernels and library functions, and thrown and cleared after a wait for the stream.
#pragma once

#include <cstdint>

#include "codegen/text/error_report.hpp"
#include "runtime/device/stream.hpp"

namespace ingot::runtime {

struct executable;

/// The record lies in host memory that the stream's device sees under the same address. It is never freed.
codegen::error_record& error_record_of(stream_state&);

/// The number by which a report names its statement; it is unique because an executable is never freed. 0 names none.
std::uint64_t statement_number(const executable&) noexcept;
/// Used by a report whose statement is unknown.
inline constexpr std::uint64_t unknown_statement = 1;

/// Writes a report from the host at once; an earlier report stays.
void report_error(codegen::error_record&, std::uint64_t statement, codegen::report_kind, std::int32_t axis,
                  std::int64_t index, std::int64_t extent) noexcept;

/// Throws the recorded error and clears the record: index_error, linalg_error or library_error.
void throw_recorded(codegen::error_record&);
void clear(codegen::error_record&) noexcept;

}  // namespace ingot::runtime
