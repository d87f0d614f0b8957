// view<T>: a named part of an array, read as an expression and written in place. It is to an array what std::span is to
// a vector.
#pragma once

#include <utility>

#include <ingot/core/array_indexing.hpp>

namespace ingot {

namespace detail {
/// Throws shape_error where the view's array has been assigned to since.
INGOT_API void check_viewed(const layout& then, const layout& now);
}  // namespace detail

/// A part of an array of T, written through: `view<float> row = x(0); row = 7;`, or a function's parameter. It refers
/// to the array, not to its values: it reads the values at evaluation, and earlier copies of the array keep theirs. The
/// array must outlive it; once the array was assigned another shape, using the view throws shape_error. It has the
/// members of every expression (members.hpp).
///
///     array<int> x = zeros<int>({2, 3});
///     view<int> row = x(1);
///     row = array<int>{1, 2, 3};
///     row(slice(1, none)) *= 10;
///     std::cout << x << ' ' << sum(row);
///     // prints: [[ 0  0  0]
///     //          [ 1 20 30]] 51
template <class T>
class view : public detail::expression_members<view<T>>, public detail::compound_members<view<T>, T, true> {
public:
    using value_type = T;
    static constexpr dtype type = detail::dtype_of<T>;

    /// A view of a whole array.
    view(array<T>& whole) : view(whole.as_selection()) {}
    /// A view of a selection: x(0), transpose(x), diagonal(x).
    view(selection<T>&& part)
        : target_(&detail::access::target(part)),
          whole_(target_->where()),
          where_(detail::access::seen(part).where()) {}
    /// A view of the same part.
    view(const view&) = default;
    ~view() = default;
    view(const array<T>&) = delete;  // a view writes, and a const array is not written
    view(array<T>&&) = delete;       // a temporary dies too early

    /// Writes e, broadcast and converted. Throws shape_error where it does not broadcast.
    template <class E>
        requires detail::assignable_to<E, T>
    view& operator=(E&& e) {
        assign_value("assign", std::forward<E>(e));
        return *this;
    }
    /// Writes the elements of the other part.
    // NOLINTNEXTLINE(bugprone-unhandled-self-assignment)
    view& operator=(const view& e) {
        assign_value("assign", e);
        return *this;
    }

    // Inner
    detail::leaf<T> as_leaf() const {
        detail::check_viewed(whole_, target_->where());
        return {target_->memory(), where_};
    }
    selection<T> as_selection() const {
        detail::check_viewed(whole_, target_->where());
        selection<T> part(*target_);
        detail::access::seen(part).where() = where_;
        return part;
    }
    template <class E>
    void assign_value(const char* operation, E&& e) {
        detail::write(operation, as_selection(), std::forward<E>(e));
    }
    template <detail::op O, class E>
    void update(E&& e) {
        detail::update<O>(as_selection(), std::forward<E>(e));
    }

private:
    detail::leaf<T>* target_;
    detail::layout whole_, where_;
};

template <class T>
view(array<T>&) -> view<T>;
template <class T>
view(selection<T>&&) -> view<T>;

}  // namespace ingot
