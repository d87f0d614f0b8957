// How work on a stream reports what it found wrong while it ran: the first report since the last one was taken is kept
// in a record of the stream, in host memory that a GPU sees, and whoever waits for the stream next throws it
// (runtime/kernels/error_record.hpp).
//
// The record is claimed by the number of a statement, then filled; its kind comes last and says that the rest is there.
#pragma once

#include <cstdint>
#include <string>

#include <ingot/core/key.hpp>

namespace ingot::codegen {

/// What was wrong. The texts are runtime/kernels/error_record.cpp's.
enum class report_kind : std::uint32_t {
    none,
    index,          // `index` on axis `axis`, or one that is not known (-1), which has `extent` elements
    singular,       // matrix `index` of a batch
    not_definite,   // the same
    not_converged,  // the same
    library,        // a library's status `index`
};

struct error_record {
    std::uint64_t statement;
    report_kind kind;
    std::int32_t axis;
    std::int64_t index, extent;
};

/// `void report_error(error_record*, statement, kind, axis, index, extent)`, as text for kernels of a target.
/// Header-free.
std::string error_report_text(detail::target where);

}  // namespace ingot::codegen
