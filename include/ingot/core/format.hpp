// std::format of expressions and shapes, with their printed text; included where the standard library has it.
#pragma once

#include <algorithm>
#include <format>
#include <string>
#include <string_view>

#include <ingot/core/print.hpp>

// Inner: "{}", or "{:.3}" for 3 digits behind the point at most.
template <ingot::array_expression E>
struct std::formatter<E, char> {
    constexpr auto parse(std::format_parse_context& given) {
        auto at = given.begin();
        if (at != given.end() && *at == '.') {
            ++at;
            if (at == given.end() || *at < '0' || *at > '9')
                throw std::format_error("digits are wanted behind the point");
            for (precision_ = 0; at != given.end() && *at >= '0' && *at <= '9' && precision_ < 1000; ++at)
                precision_ = 10 * precision_ + (*at - '0');
        }
        if (at != given.end() && *at != '}') throw std::format_error("an array's format is {} or {:.3}");
        return at;
    }
    template <class Context>
    auto format(const E& e, Context& to) const {
        const auto values = ingot::detail::values_as<typename E::value_type>(e);
        ingot::print_options options;
        if (precision_ >= 0) options.precision = precision_;
        const ingot::with_print_options as_given(options);
        const std::string text = ingot::detail::text_of(values.memory(), values.where(), E::type);
        return std::copy(text.begin(), text.end(), to.out());
    }

private:
    int precision_ = -1;  // the thread's
};

namespace ingot::detail {

struct list_formatter : std::formatter<std::string_view> {
    template <class Context>
    auto format(const integer_list& list, Context& to) const {
        return std::formatter<std::string_view>::format(to_text(list.values()), to);
    }
};

}  // namespace ingot::detail

// Inner
template <>
struct std::formatter<ingot::detail::integer_list, char> : ingot::detail::list_formatter {};
template <>
struct std::formatter<ingot::shape_like, char> : ingot::detail::list_formatter {};
template <>
struct std::formatter<ingot::axes, char> : ingot::detail::list_formatter {};

// Inner: as of a float.
template <ingot::detail::half_float T>
struct std::formatter<T, char> : std::formatter<float> {
    template <class Context>
    auto format(T x, Context& to) const {
        return std::formatter<float>::format(static_cast<float>(x), to);
    }
};
