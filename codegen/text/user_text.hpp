// Prints a kernel that a user wrote as text: the struct of functions that goes into a source's prelude.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codegen/graph/user_text.hpp"

namespace ingot::codegen {

class prelude;

/// The state in which a text ends. Text behind a line comment would become part of it, and nothing can follow a block
/// comment that does not end.
enum class text_end { code, line_comment, block_comment };
text_end end_of_text(std::string_view text);

/// Adds the struct with the functions of text number `which` to the prelude; returns its name.
std::string spell_user_text(const std::vector<user_text>& all, std::uint16_t which, prelude& needs);

/// Lines of a source that are lines of a user's text, counted from 1.
struct text_range {
    std::string of;  // "the text of pick", "the map of length"
    std::size_t first_line = 0, lines = 0;
};
/// The lines of a text's parts in a source: statements occur once for each output.
std::vector<text_range> text_ranges_of(const user_text&, detail::target, std::string_view source);

/// Adds raw_array<T>, a whole array of which a text reads any element.
void add_raw_array(prelude& needs);

}  // namespace ingot::codegen
