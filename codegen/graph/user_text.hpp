// A kernel that a user wrote as text, in the form that codegen uses: its types, parameters and parts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codegen/graph/key.hpp"

namespace ingot::codegen {

struct user_text {
    struct parameter {
        std::string type, name;  // as spelled in the source
        dtype of = dtype::b1;
        bool raw = false;  // a whole array in C order
        friend bool operator==(const parameter&, const parameter&) = default;
    };
    std::string name;
    std::vector<std::pair<char, dtype>> types;  // the dtypes of the letters
    std::vector<parameter> inputs, outputs;
    std::vector<std::string> parts;  // map, join, post, identity of a reduction; an elementwise kernel's statements
    parameter partial;               // a reduction's partial results
    std::string preamble;            // the text before the kernel

    bool writes = false;  // an elementwise kernel with raw outputs

    bool reduces() const { return parts.size() == 4; }
    /// Whether a reduction's post uses the numbers of elements before and after it.
    bool counts() const;
    /// The function that a node calls: "map", "post", an output's name, or "write", which has the outputs among its
    /// inputs, as raw arrays, and returns the index at which a scatter writes nothing.
    std::string function(std::uint16_t which) const;
    friend bool operator==(const user_text&, const user_text&) = default;
};

/// Reads a key's text (<ingot/kernels/kernel_text.hpp>), its letters bound to the dtypes of `binding`. Throws
/// ingot::error where it is no kernel.
user_text read_user_text(const std::string& text, std::uint64_t binding);

/// Whether a name occurs in a text.
bool has_name(std::string_view text, std::string_view name);
/// Operations of one call, estimated from the length of the text.
std::uint32_t cost_of_user(const user_text& t, std::uint16_t which);

}  // namespace ingot::codegen
