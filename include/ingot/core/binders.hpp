// The nodes that are not elementwise. A binder binds the trailing axes of its operand (program.hpp); the leading axes
// are the result's. So reductions, scans, gathers and reshapes are one class: an operand, the number of its axes that
// are bound, and a place that says where on them to read (nothing for a fold, a pick for scans and reshapes, an index
// for gathers).
//
// A function that makes a binder first views the operand so that the bound axes are last. A view of the result then
// composes onto the operand's leading axes and onto the place; the bound axes pass through.
#pragma once

#include <ingot/core/expression.hpp>
#include <ingot/core/indexing.hpp>

namespace ingot::detail {

/// How a binder views its operand: how many trailing axes it then binds, and whether the view changes anything.
struct arrangement {
    int bound;
    bool moves;
};
/// The view with the reduced axes (all, where `over` is null) last in ascending order; with `keep` each leaves an axis
/// of extent 1.
INGOT_API arrangement view_reduced(view_room&, const char* operation, extents_ref shape, const axes* over, bool keep);
/// The view with the scanned axis repeated as the last one; nothing moves along the first. Returns the pick.
INGOT_API layout view_scanned(view_room&, const char* operation, extents_ref shape, index_t axis);
/// The views of source and index over the result's axes, the source's gathered axis last.
INGOT_API void view_gathered(view_room& source, view_room& index, const char* operation, extents_ref source_shape,
                             extents_ref index_shape, index_t axis);
/// The views of x(i, all, j). Source: over the result's axes, then the axes that arrays index, in their order. Array k:
/// over the result's axes and the first k of the indexed ones. Throws index_error, and shape_error where the arrays do
/// not broadcast.
INGOT_API void view_by_arrays(view_room& source, view_room* arrays, extents_ref shape, const index_item* items,
                              int count, const extents_ref* array_shapes);
/// The view with the result's axes first, along which nothing moves, then the operand's own.
INGOT_API void view_unravelled(view_room&, const char* operation, extents_ref shape, std::span<const index_t> result);
/// The axes of a library function's call: the batch's, and those that it binds.
struct library_axes {
    shape_room batch;
    int batch_rank = 0;
    index_t bound[8];
};
/// The axes of a call for operands of these shapes; `made`: the extent of the axis that only the result has. Throws
/// shape_error where the operands have too few axes, or others.
INGOT_API library_axes axes_of_library(const char* operation, library_function, std::span<const extents_ref> operands,
                                       index_t made);
/// The view of operand `number` over the batch's axes, the result's own, along which nothing moves, and the bound ones.
INGOT_API void view_for_library(view_room&, const char* operation, library_function, const library_axes&, int number,
                                extents_ref shape);
/// The pick of the whole result in C order.
INGOT_API layout pick_of_library(library_function, const library_axes&);
/// The identity view: gives all layouts of a tree its full shape.
INGOT_API void view_whole(view_room&, extents_ref shape);

/// The place of a fold, which reads all bound elements.
struct no_place {
    static constexpr std::array<word, 0> program{};
    static constexpr int operands = 0, binders = 0, nodes = 0;
    void gather(cursor&) const noexcept {}
    void apply(const axis_view&, int) noexcept {}
    bool try_reshape(std::span<const index_t>, int) const noexcept { return true; }
    device_id on_device() const noexcept { return no_device; }
    std::uint32_t count(const buffer*) const noexcept { return 0; }
};

/// The place of a scan or a reshape: a layout over the result's axes.
class pick {
public:
    static constexpr std::array<word, 0> program{};  // the binder's own word takes the operand
    static constexpr int operands = 1, binders = 0, nodes = 0;

    explicit pick(layout where) : where_(std::move(where)) {}
    const layout& where() const noexcept { return where_; }

    void gather(cursor& c) const noexcept {
        operand& o = *c.operands++;
        o.kind = operand_kind::pick;
        o.type = dtype::i8;
        o.where = &where_;
    }
    void apply(const axis_view& v, int bound) { where_ = compose(where_, v, bound); }
    bool try_reshape(std::span<const index_t> shape, int bound) { return detail::try_reshape(where_, shape, bound); }
    device_id on_device() const noexcept { return no_device; }
    std::uint32_t count(const buffer*) const noexcept { return 0; }

private:
    layout where_;
};

/// W: the node's own word. Operand: a node whose last `bound` axes are bound. Place: no_place, a pick, or an index
/// node.
template <word W, class Operand, class Place>
class binder : public node_members<binder<W, Operand, Place>> {
public:
    static constexpr dtype type = dtype_of_word(W);
    using value_type = type_of<type>;
    static constexpr auto program = join_words(Operand::program, Place::program, std::array<word, 1>{W});
    static constexpr int operands = Operand::operands + Place::operands;
    static constexpr int binders = Operand::binders + Place::binders + 1;
    static constexpr int nodes = Operand::nodes + Place::nodes + 1;

    binder(Operand operand, int bound, Place place)
        : operand_(std::move(operand)), place_(std::move(place)), bound_(bound) {}
    INGOT_REJECTED("an expression and a const array are not written; x(0) = 3 is, of an array x", (class E),
                   (!std::same_as<std::remove_cvref_t<E>, binder>), void operator=(E&&) const)

    void gather(cursor& c) const {
        operand_.gather(c);
        place_.gather(c);
        *c.attributes++ = static_cast<word>(bound_);
    }
    extents_ref extents(shape_room& room) const {
        if constexpr (std::same_as<Place, pick>) {
            return {place_.where().shape(), place_.where().rank()};
        } else {
            const extents_ref all = operand_.extents(room);
            return {all.data, all.rank - bound_};
        }
    }
    void apply(const axis_view& v, int bound) {
        operand_.apply(v, bound + bound_);
        place_.apply(v, bound);
    }
    bool try_reshape(std::span<const index_t> shape, int bound) {
        return operand_.try_reshape(shape, bound + bound_) && place_.try_reshape(shape, bound);
    }
    device_id on_device() const noexcept {
        device_id device = operand_.on_device();
        meet(device, place_.on_device());
        return device;
    }
    std::uint32_t count(const buffer* b) const noexcept { return operand_.count(b) + place_.count(b); }
    const Operand& operand() const noexcept { return operand_; }
    int bound() const noexcept { return bound_; }

private:
    Operand operand_;
    [[no_unique_address]] Place place_;
    int bound_;
};

/// The leaf of a reshape whose axes merged: its operand has the result's layout.
template <word W, may_be_leaf Operand>
    requires(kind_of_word(W) == word_kind::unravel)
auto leaf_of(const binder<W, Operand, pick>& reshape) -> decltype(leaf_of(reshape.operand())) {
    if (reshape.bound() != 0) return {};
    return leaf_of(reshape.operand());
}

/// A value without axes under a view: a reshape whose place gives only the shape.
template <class N>
auto repeated(N value, const axis_view& view) {
    using result = binder<make_word(word_kind::unravel, N::type), N, pick>;
    return result(std::move(value), 0, pick(compose(layout(0), view, 0)));
}

template <class E>
using node_of = std::remove_cvref_t<decltype(as_node(std::declval<E>()))>;

}  // namespace ingot::detail
