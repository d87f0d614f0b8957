// How work on a stream reports errors that it finds while it runs. The first report since the last one was taken is
// kept in a record of the stream, in host memory that a GPU sees; the next wait for the stream throws it
// (runtime/kernels/error_record.hpp).
//
// A report claims the record by its statement's number, then fills it; the kind comes last, as the sign that it is
// full.
#pragma once

#include <cstdint>
#include <string>

#include <ingot/core/key.hpp>

namespace ingot::codegen {

/// The kind of error. The texts are in runtime/kernels/error_record.cpp.
enum class report_kind : std::uint32_t {
    none,
    index,          // `index` is outside axis `axis` (-1: unknown axis), which has `extent` elements
    singular,       // matrix `index` of a batch
    not_definite,   // matrix `index` of a batch
    not_converged,  // matrix `index` of a batch
    library,        // a library's status `index`
};

struct error_record {
    std::uint64_t statement;
    report_kind kind;
    std::int32_t axis;
    std::int64_t index, extent;
};

/// `void report_error(error_record*, statement, kind, axis, index, extent)`, as text for kernels of a target, without
/// headers.
std::string error_report_text(detail::target where);

}  // namespace ingot::codegen
