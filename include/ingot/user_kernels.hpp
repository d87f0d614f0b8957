// Kernels from text, as CuPy has them. Their calls are expressions, which fuse with what is around them:
//
//   const reduction_kernel<"T x", "T y"> l2("x * x", "a + b", "y = sqrt(a)", "0", "l2");
//   array<float> lengths = l2(m - mean(m), 1) + 1;   // one kernel
//
// A parameter's type is a letter, which stands for the dtype of the argument, or a dtype's name (float, int64).
#pragma once

#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include <ingot/kernel_text.hpp>
#include <ingot/reduction_nodes.hpp>

namespace ingot {

namespace detail {
inline std::string_view checked_post(std::string_view name, std::string_view post, std::string_view output) {
    if (post.find_first_not_of(" \t\n;") == post.npos)
        throw error("[kernel] the reduction '" + std::string(name) + "' has no post: statements that set the output (" +
                    std::string(output) + ") are wanted, \"y = a\" say");
    return post;
}
}  // namespace detail

/// A reduction that is given as text. map: an expression in the inputs; join: of two partial results a and b, in any
/// order and grouping; post: statements that set the output from the joined a; identity: what join leaves alone.
/// Partial results have the output's type. A parameter's type is a letter, which stands for the dtype of the argument,
/// or a dtype's name.
///
///     const reduction_kernel<"T x", "T y"> length("x * x", "a + b", "y = sqrt(a)", "0", "length");
///     std::cout << length(array<double>{{3, 4}, {6, 8}}, 1) + 1;
///     // prints: [ 6. 11.]
template <detail::fixed_string In, detail::fixed_string Out>
class reduction_kernel {
    static constexpr detail::parameter_list inputs = detail::parse_parameters(In.view());
    static constexpr detail::parameter_list outputs = detail::parse_parameters(Out.view());
    static_assert(inputs.valid,
                  "inputs are a list like \"T x, float y\" of up to 8 parameters with names of their own");
    static_assert(outputs.valid && outputs.count == 1, "a reduction's output is one parameter like \"T y\"");
    static constexpr bool output_is_known = [] {
        detail::placeholder_list known;
        known.add(inputs);
        return !outputs[0].is_placeholder() || known.find(outputs[0].type[0]) < known.count;
    }();
    static_assert(output_is_known, "the output's type is one of the inputs' or a dtype's name");
    static constexpr std::size_t n = static_cast<std::size_t>(inputs.count);

    template <class... A>
    static constexpr detail::text_binding binding = detail::bind_placeholders<A...>(inputs);
    template <class... A>
    static constexpr bool fits = (operand_like<A> && ...) && (array_expression<A> || ...) && binding<A...>.legal;
    template <std::size_t... I, class... A>
    static constexpr bool callable(std::index_sequence<I...>, std::type_identity<std::tuple<A...>>) {
        return fits<std::tuple_element_t<I, std::tuple<A...>>...>;
    }

public:
    /// Throws error where there is no post: its output would never be set; compile_error where a comment has no end.
    reduction_kernel(std::string_view map, std::string_view join, std::string_view post, std::string_view identity,
                     std::string_view name = "reduction")
        : text_(detail::keep_text(
              {name, In.view(), Out.view(), map, join, detail::checked_post(name, post, Out.view()), identity})) {}

    /// k(x, y, axes{0, 2}, keepdims): the inputs, over which axes (else all), and whether these stay. Of the inputs'
    /// common shape without the axes. Throws shape_error where the inputs do not broadcast or do not have the axes; the
    /// evaluation throws compile_error where the text is no C++.
    template <class... A>
        requires(sizeof...(A) >= n) && (callable(std::make_index_sequence<n>{}, std::type_identity<std::tuple<A...>>{}))
    auto operator()(A&&... arguments) const {
        return call(std::make_index_sequence<n>{}, std::make_index_sequence<sizeof...(A) - n>{},
                    std::forward_as_tuple(std::forward<A>(arguments)...));
    }
    /// The same of one input, the axes in bare braces: k(x, {0, 2}).
    template <class A, detail::keeps_tag... T>
        requires(n == 1) && (fits<A>)
    auto operator()(A&& argument, const axes& over, T... tags) const {
        detail::reduction how{text_.name.c_str(), &over};
        (how.note(tags), ...);
        return of(how, std::index_sequence<0>{}, std::forward<A>(argument));
    }

private:
    struct options {
        std::optional<axes> over;
        bool keep = false;
        void note(keepdims_t) { keep = true; }
        void note(const axes& a) { over = a; }
    };

    template <std::size_t... I, std::size_t... J, class... A>
    auto call(std::index_sequence<I...> own, std::index_sequence<J...>, std::tuple<A...> arguments) const {
        options o;
        (o.note(std::get<n + J>(arguments)), ...);
        const detail::reduction how{text_.name.c_str(), o.over ? &*o.over : nullptr, o.keep};
        return of(how, own, std::get<I>(std::move(arguments))...);
    }

    template <std::size_t... I, class... A>
    auto of(const detail::reduction& how, std::index_sequence<I...>, A&&... arguments) const {
        using namespace detail;
        constexpr text_binding b = binding<A...>;
        constexpr dtype result = b.type_of(outputs[0]);
        const text_leaf text(text_, b.encode());
        auto mapped = make_node<user_op(user_part::map), result>(
            how.operation, as_text_argument(how.operation, b.type_of(inputs[I]), std::forward<A>(arguments))..., text);
        return make_node<user_op(user_part::post), result>(how.operation,
                                                           reduced<fold::user>(how, std::move(mapped), text), text);
    }

    const detail::kernel_text& text_;
};

}  // namespace ingot
