// array<T>: a value, as std::vector is. Copies share the buffer and split when one of them is written.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include <ingot/expression.hpp>

namespace ingot {

/// An n-dimensional array of T on a device; rank and shape are dynamic.
template <class T>
class array : public detail::expression_base {
    static_assert(element_type<T>, "array<T>: T must be bool, an integer, float or double");

public:
    using value_type = T;
    static constexpr ingot::dtype type = detail::dtype_of<T>;

    array() = default;
    /// Evaluates an expression in one kernel, converting in it.
    template <array_expression E>
        requires(!std::same_as<std::remove_cvref_t<E>, array>)
    array(const E& e) {
        detail::evaluate_into<T>(e, leaf_.memory(), leaf_.where());
    }
    explicit array(detail::leaf<T> l) : leaf_(std::move(l)) {}

    const detail::leaf<T>& as_leaf() const& noexcept { return leaf_; }
    detail::leaf<T> as_leaf() && noexcept { return std::move(leaf_); }

private:
    detail::leaf<T> leaf_;
};

}  // namespace ingot
