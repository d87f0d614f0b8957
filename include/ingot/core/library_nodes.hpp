// Nodes that a library's function computes (libraries.def): operands whose trailing axes are all bound at once, and a
// pick over the result's axes.
#pragma once

#include <array>
#include <tuple>
#include <utility>

#include <ingot/core/binders.hpp>

namespace ingot::detail {

/// W: the node's own word. Operands: nodes whose last `bound` axes are bound.
template <word W, class... Operands>
class library_node : public node_members<library_node<W, Operands...>> {
public:
    static constexpr dtype type = dtype_of_word(W);
    using value_type = type_of<type>;
    static constexpr auto program = join_words(Operands::program..., std::array<word, 1>{W});
    static constexpr int operands = (Operands::operands + ...) + 1;
    static constexpr int binders = (Operands::binders + ...) + 1;
    static constexpr int nodes = (Operands::nodes + ...) + 1;

    library_node(std::tuple<Operands...> values, int bound, layout place)
        : values_(std::move(values)), place_(std::move(place)), bound_(bound) {}

    void gather(cursor& c) const {
        for_each([&](const auto& value) { value.gather(c); });
        place_.gather(c);
        *c.attributes++ = static_cast<word>(bound_);
    }
    extents_ref extents(shape_room&) const { return {place_.where().shape(), place_.where().rank()}; }
    void apply(const axis_view& v, int bound) {
        std::apply([&](auto&... value) { (value.apply(v, bound + bound_), ...); }, values_);
        place_.apply(v, bound);
    }
    bool try_reshape(std::span<const index_t> shape, int bound) {
        return std::apply([&](auto&... value) { return (value.try_reshape(shape, bound + bound_) && ...); }, values_) &&
               place_.try_reshape(shape, bound);
    }
    device_id on_device() const noexcept {
        device_id device = no_device;
        for_each([&](const auto& value) { meet(device, value.on_device()); });
        return device;
    }
    std::uint32_t count(const buffer* b) const noexcept {
        std::uint32_t references = 0;
        for_each([&](const auto& value) { references += value.count(b); });
        return references;
    }

private:
    template <class F>
    void for_each(F f) const {
        std::apply([&](const auto&... value) { (f(value), ...); }, values_);
    }

    std::tuple<Operands...> values_;
    pick place_;
    int bound_;
};

/// The node of function F over these expressions, in T; `made`: the extent of the axis that only the result has. Throws
/// shape_error, and device_error where they are on two devices.
template <library_function F, class T, class... E>
auto call_library_making(const char* operation, index_t made, E&&... e) {
    constexpr library_facts row = facts(F);
    static_assert(sizeof...(E) == row.arity());
    using result = library_node<make_word(word_kind::library, dtype_of<T>, static_cast<word>(F)), node_of<E>...>;
    std::tuple<node_of<E>...> values(as_node(std::forward<E>(e))...);
    return std::apply(
        [&](auto&... value) {
            device_id device = no_device;
            for (const device_id d : {value.on_device()...}) {
                if (!may_meet(device, d)) throw_two_devices(operation, device, d);
                meet(device, d);
            }
            shape_room rooms[sizeof...(E)];
            int i = 0;
            const std::array<extents_ref, sizeof...(E)> shapes{value.extents(rooms[i++])...};
            const library_axes axes = axes_of_library(operation, F, shapes, made);
            view_room view;
            i = 0;
            ((view_for_library(view, operation, F, axes, i, shapes[static_cast<std::size_t>(i)]), value.apply(view, 0),
              ++i),
             ...);
            return result(std::move(values), row.axes, pick_of_library(F, axes));
        },
        values);
}
template <library_function F, class T, class... E>
auto call_library(const char* operation, E&&... e) {
    return call_library_making<F, T>(operation, 0, std::forward<E>(e)...);
}

}  // namespace ingot::detail
