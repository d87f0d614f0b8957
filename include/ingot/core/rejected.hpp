// Rejected overloads whose hint says what to write. Overload resolution chooses them, they cannot be called, and SFINAE
// sees that. The first line of g++ and clang++ has the hint: g++ prints the template parameters of a deleted function,
// clang++ the text of an attribute.
#pragma once

#include <cstddef>
#include <string_view>

namespace ingot::detail {

/// A text as a template argument.
template <std::size_t N>
struct fixed_string {
    char text[N]{};
    constexpr fixed_string(const char (&given)[N]) {
        for (std::size_t i = 0; i < N; ++i) text[i] = given[i];
    }
    constexpr std::string_view view() const { return {text, N - 1}; }
};

/// The result of a function that cannot be called.
struct rejected {};

}  // namespace ingot::detail

#define INGOT_LIST(...) __VA_ARGS__
// INGOT_REJECTED(hint, (template parameters), (condition), declaration)
// INGOT_REJECTED_ALWAYS(hint, declaration): no template, and no overload of one
#ifdef __clang__
#define INGOT_REJECTED(hint, parameters, condition, ...) \
    template <INGOT_LIST parameters>                     \
        requires(condition)                              \
    __attribute__((unavailable(hint))) __VA_ARGS__;
#define INGOT_REJECTED_ALWAYS(hint, ...) __attribute__((unavailable(hint))) __VA_ARGS__;
#else
#define INGOT_REJECTED(hint, parameters, condition, ...)                        \
    template <INGOT_LIST parameters, ::ingot::detail::fixed_string Hint = hint> \
        requires(condition)                                                     \
    __VA_ARGS__ = delete;
#define INGOT_REJECTED_ALWAYS(hint, ...)                 \
    template <::ingot::detail::fixed_string Hint = hint> \
    __VA_ARGS__ = delete;
#endif
