// Shared by the three files that spell scalar computation: the facts of library functions, and small texts.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "codegen/text/spelling.hpp"

namespace ingot::codegen {

inline bool is_integer(dtype t) { return detail::kind_of(t) == detail::kind::integer; }

/// A function of the mathematical library, or null.
const detail::function_facts* function_named(std::string_view name);

/// "float a, float b" or "a, b".
std::string parameters(std::string_view type, std::size_t count);

/// The definition of bits_of or from_bits for a dtype of 4 or 8 bytes.
std::string spell_reinterpretation(std::string_view function, dtype, prelude& needs);

}  // namespace ingot::codegen
