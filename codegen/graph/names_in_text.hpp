// The names in a user's text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include <ingot/kernels/kernel_text.hpp>

namespace ingot::codegen {

inline bool continues_name(char c) { return detail::is_identifier(std::string_view(&c, 1)) || (c >= '0' && c <= '9'); }

template <class F>
void for_each_name(std::string_view text, F f) {
    for (std::size_t i = 0; i < text.size();) {
        std::size_t end = i;
        while (end < text.size() && continues_name(text[end])) ++end;
        f(text.substr(i, end - i));
        i = std::max(end, i + 1);
    }
}

}  // namespace ingot::codegen
