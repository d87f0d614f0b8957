// selection<T>: the type of x(...) for an array that may be written. It is a snapshot of the view, which reads as any
// expression does, and a reference to the array, which an assignment in the same statement writes: x(slice(1)) = e.
// Kept in a variable it is a value and cannot be assigned to.
#pragma once

#include <type_traits>
#include <utility>

#include <ingot/core/assignment.hpp>
#include <ingot/core/expression.hpp>

namespace ingot {

/// The type of x(...) and of views for an array that may be written. It reads as any expression does, with the view of
/// its creation; an assignment in the same statement writes the array. Kept in a variable it is a value and cannot be
/// assigned to. It has the members of every expression (members.hpp).
///
///     array<int> x{1, 2, 3, 4};
///     x(slice(1, 3)) = x(slice(2, 4)) * 10;
///     std::cout << x;
///     // prints: [ 1 30 40  4]
template <class T>
class selection : public detail::expression_members<selection<T>> {
public:
    using value_type = T;
    static constexpr dtype type = detail::dtype_of<T>;

    // Inner
    explicit selection(detail::leaf<T>& whole) : seen_(whole), target_(&whole) {}

    selection(const selection&) = default;
    selection(selection&&) noexcept = default;

    /// Writes e, broadcast and converted, into the selection; the array keeps its shape. Throws shape_error where e
    /// does not broadcast, or the array was assigned to since, device_error where e is on another device.
    template <class E>
        requires detail::assignable_to<E, T>
    void operator=(E&& e) && {
        detail::write("assign", std::move(*this), std::forward<E>(e));
    }
    INGOT_REJECTED("a selection is written in its own statement: x(0) = 7", (class E), (detail::assignable_to<E, T>),
                   void operator=(E&&) &)
    /// Writes the elements too; else u(slice(1)) = v(slice(1)) would only copy the snapshot. A self-assignment writes
    /// the elements unchanged.
    // NOLINTNEXTLINE(bugprone-unhandled-self-assignment)
    void operator=(const selection& e) && { detail::write("assign", std::move(*this), e); }

    // Inner
    const detail::leaf<T>& as_leaf() const& noexcept { return seen_; }
    detail::leaf<T> as_leaf() && noexcept { return std::move(seen_); }
    selection as_selection() && noexcept { return std::move(*this); }
    void apply(const detail::axis_view& view) { seen_.apply(view, 0); }

private:
    friend struct detail::access;

    detail::leaf<T> seen_;
    detail::leaf<T>* target_;
};

}  // namespace ingot
