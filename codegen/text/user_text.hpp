// A kernel that a user wrote as text, in the form that codegen uses: its types, and the struct of functions that goes
// into a source's prelude.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codegen/graph/key.hpp"

namespace ingot::codegen {

class prelude;

struct user_text {
    struct parameter {
        std::string type, name;  // as spelled in the source
        dtype of;
        bool raw = false;  // a whole array
        friend bool operator==(const parameter&, const parameter&) = default;
    };
    std::string name;
    std::vector<std::pair<char, dtype>> types;  // the dtypes of the letters
    std::vector<parameter> inputs, outputs;
    std::vector<std::string> parts;  // map, join, post, identity of a reduction; an elementwise kernel's statements
    parameter partial;               // a reduction's partial results
    std::string preamble;            // the text before the kernel

    bool reduces() const { return parts.size() == 4; }
    /// Whether a reduction's post uses the numbers of elements before and after it.
    bool counts() const;
    /// The function that a node calls: "map", "post", or an output's name.
    std::string function(std::uint16_t which) const;
    friend bool operator==(const user_text&, const user_text&) = default;
};

/// Reads a key's text (<ingot/kernels/kernel_text.hpp>), its letters bound to the dtypes of `binding`. Throws
/// ingot::error where it is no kernel.
user_text read_user_text(const std::string& text, std::uint64_t binding);

/// The state in which a text ends. Text behind a line comment would become part of it, and nothing can follow a block
/// comment that does not end.
enum class text_end { code, line_comment, block_comment };
text_end end_of_text(std::string_view text);

/// Adds the struct with the functions of text number `which` to the prelude; returns its name.
std::string spell_user_text(const std::vector<user_text>& all, std::uint16_t which, prelude& needs);

/// Lines of a source that are lines of a user's text, counted from 1.
struct text_place {
    std::string of;  // "the text of pick", "the map of length"
    std::size_t first_line = 0, lines = 0;
};
/// The lines of a text's parts in a source: statements occur once for each output.
std::vector<text_place> places_of(const user_text&, detail::target, std::string_view source);

/// Whether a name occurs in a text.
bool has_name(std::string_view text, std::string_view name);
/// Adds raw_array<T>, a whole array of which a text reads any element.
void add_raw_array(prelude& needs);

/// Operations of one call, estimated from the length of the text.
std::uint32_t cost_of_user(const user_text& t, std::uint16_t which);

}  // namespace ingot::codegen
