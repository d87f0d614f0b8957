// Reads at places along axes: beyond the ends the nearest element or a mirrored one, or elements in cycles. A place is
// affine in the result's axes, so a view of such a read is the same node at other places, and a map over it is one
// kernel.
#pragma once

#include <span>
#include <utility>

#include <ingot/core/binders.hpp>
#include <ingot/core/random.hpp>

namespace ingot::detail {

/// `extent` elements along the axis: element i is e's element i + `by`, or its substitute beyond the ends.
template <place_rule Rule, class E>
auto beyond_ends(const char* operation, const E& e, int axis, index_t by, index_t extent) {
    using node = node_of<E>;
    constexpr word code = make_word(word_kind::unravel, node::type, static_cast<word>(Rule));
    node operand = as_node(e);
    shape_room room;
    view_room view;
    layout place = view_scanned(view, operation, operand.extents(room), axis);
    place.offset = by;
    view.extents[axis] = place.shape()[axis] = extent;
    operand.apply(view, 0);
    return binder<code, node, pick>(std::move(operand), 1, pick(std::move(place)));
}
/// beyond_ends with e's extent.
template <class E>
auto nearest(const char* operation, const E& e, int axis, index_t by) {
    return beyond_ends<place_rule::nearest>(operation, e, axis, by, e.shape()[axis]);
}

/// A read of one axis of n elements in cycles: element i of `extent` is element (first + i) / repeats mod n. 0 <=
/// first.
struct cycle {
    int axis;
    index_t first;
    index_t extent;
    index_t repeats = 1;
};
/// The view for reads in cycles: the result's axes, then for each cycle its rounds, e's axis, and the repeats. Returns
/// the place and how many axes it binds.
struct cycle_place {
    layout place;
    int bound;
};
INGOT_API cycle_place view_cycled(view_room&, const char* operation, extents_ref shape, std::span<const cycle>);

/// e read in cycles along these axes.
template <class E>
auto cycled(const char* operation, E&& e, std::span<const cycle> cycles) {
    using node = node_of<E>;
    node operand = as_node(std::forward<E>(e));
    shape_room room;
    view_room view;
    cycle_place at = view_cycled(view, operation, operand.extents(room), cycles);
    operand.apply(view, 0);
    return binder<make_word(word_kind::unravel, node::type), node, pick>(std::move(operand), at.bound,
                                                                         pick(std::move(at.place)));
}

/// Numbers that are affine in the indices, by the layout `where`. They take no memory. A template passes its own
/// parameter, so that the code is instantiated with it.
template <class...>
auto positions(layout where) {
    return random_leaf<index_t, generator_kind::position>({0, 0}, std::move(where), no_device);
}
/// The index along an axis with `behind` axes of extent 1 behind it. The template parameter is as above.
template <class...>
auto position_along(index_t extent, int behind) {
    layout counter(1 + behind);
    for (int j = 0; j <= behind; ++j) counter.shape()[j] = j == 0 ? extent : 1, counter.strides()[j] = j == 0;
    return positions(std::move(counter));
}

}  // namespace ingot::detail
