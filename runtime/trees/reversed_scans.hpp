// Scans that are read from their end. Where such a scan is all that a statement computes, it is scanned from its start
// and written from the end of the output. That is one kernel; reading a stored scan backwards would be a second one.
#pragma once

#include <ingot/core/indexing.hpp>
#include <ingot/core/lazy.hpp>

#include "runtime/front/statement.hpp"

namespace ingot::runtime {

/// The tree of such a scan read from its start; null for any other statement. `flip` is the view through which the
/// output is written.
detail::tree_ref reversed_scan(const statement&, detail::view_room& flip);

/// The statement that computes the reversed tree into `to`, which has memory and a layout of the result's shape. The
/// constructor's arguments must outlive it.
class reversed_statement {
public:
    reversed_statement(const detail::tree_ref& reversed, const detail::view_room& flip, const output& to);
    reversed_statement(const reversed_statement&) = delete;
    reversed_statement& operator=(const reversed_statement&) = delete;
    statement get() const noexcept;

private:
    detail::layout where_;
    output to_;
    operand tree_{};
    detail::word program_;
};

}  // namespace ingot::runtime
