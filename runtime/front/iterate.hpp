// Statements that run several times, as iterate repeats them.
#pragma once

#include <ingot/core/iterate.hpp>

#include "runtime/front/statement.hpp"

namespace ingot::detail {

/// assign_selected for the whole repetition.
void assign_repeated(const char* operation, const tree&, destination to, const layout& part, std::uint32_t own,
                     const runtime::repetition&);

}  // namespace ingot::detail
