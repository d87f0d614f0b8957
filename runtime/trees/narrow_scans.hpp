// Scans of which little is read. Instead of storing all prefixes, a fold computes the part before the first prefix that
// is read, and the part behind the last is left out:
//
//   cumsum(x)(slice(-3, none))   is   sum(x(slice(0, -3))) + cumsum(x(slice(-3, none)))
//   cumsum(x)(k)                 is   sum(x(slice(0, k + 1)))
//
// The stored part is then as large as the range between the first and the last prefix that are read.
#pragma once

#include <span>

#include <ingot/core/door.hpp>

namespace ingot::runtime {

/// The range of a scan's prefixes that are read, as indices on the scanned axis.
struct read_prefixes {
    detail::index_t first, last;
    detail::index_t length;  // of the axis
    /// End of the part that is folded first. No reduction folds logarithms, so their scans begin at 0.
    detail::index_t begin;
};
/// For a scan's word; `operands` end with its pick.
read_prefixes find_read_prefixes(detail::word scan, std::span<const operand> operands);

/// Whether a scan would store much, and at least twice as much as it must.
bool reads_few_prefixes(detail::word scan, std::span<const operand> operands);

}  // namespace ingot::runtime
