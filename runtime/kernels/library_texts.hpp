// The library's own kernel texts, for searches and bins, also compiled for the interpreter. A text is written once: the
// printed kernel and the compiled function are the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "codegen/text/user_text.hpp"

namespace ingot::runtime {

enum class library_text : std::uint8_t {
    search_up_left,
    search_up_right,
    search_down_left,
    search_down_right,
    bin,
    uniform_bin,
    interp,
};
/// The statements, one on a line.
std::string statements_of(library_text);
/// The functions that the statements call, or nothing.
std::string_view preamble_of(library_text);

/// A block of elements: for each parameter its values, or a raw array's elements and their number.
struct text_block {
    const void* const* values;
    const std::int64_t* counts;
    void* to;
    std::size_t count;
};
using text_function = void (*)(const text_block&);
/// The function that computes a text's output for a block; null for a user's text.
text_function function_of(const codegen::user_text&);

}  // namespace ingot::runtime
