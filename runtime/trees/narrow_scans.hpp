// Scans of which little is read. All prefixes would be kept to read a few of them; so what comes before the first that
// is read is folded instead, and what comes behind the last is left out:
//
//   cumsum(x)(slice(-3, none))   is   sum(x(slice(0, -3))) + cumsum(x(slice(-3, none)))
//   cumsum(x)(k)                 is   sum(x(slice(0, k + 1)))
//
// What is stored is then as large as what is between the first and the last prefix that are read.
#pragma once

#include <span>

#include <ingot/core/door.hpp>

namespace ingot::runtime {

/// The prefixes of a scan that are read, by their places on the scanned axis.
struct read_prefixes {
    detail::index_t first, last;
    detail::index_t length;  // of the axis
    /// Where what is folded beforehand ends. No reduction folds logarithms: their scans begin at the beginning.
    detail::index_t begin;
};
/// Of a scan's word and the operands up to its pick.
read_prefixes find_read_prefixes(detail::word scan, std::span<const operand> operands);

/// Whether a scan would store much, and at least twice what has to be.
bool shows_little(detail::word scan, std::span<const operand> operands);

}  // namespace ingot::runtime
