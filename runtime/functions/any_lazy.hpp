// An expression whose dtype is known only at run time. A composed function is written over it once, in the library, and
// not instantiated as a template in every user's file for every dtype. Operators follow the operator table's rules;
// errors are those of lazy<T>.
#pragma once

#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include <ingot/core/lazy.hpp>
#include <ingot/core/places.hpp>

namespace ingot::runtime {

class any_lazy {
public:
    /// Any expression, unchanged.
    template <array_expression E>
    any_lazy(const E& e) : any_lazy(lazy<typename E::value_type>(e).tree(), E::type) {}
    any_lazy(detail::tree_ref tree, dtype type) : tree_(std::move(tree)), type_(type) {}
    /// A number that is weak beside an expression, as a C++ number is.
    any_lazy(double value) : type_(dtype::f8), floating_(value) {}
    any_lazy(index_t value) : type_(dtype::i8), integer_(value) {}
    any_lazy(int value) : any_lazy(index_t{value}) {}

    dtype type() const noexcept { return type_; }
    bool is_number() const noexcept { return !tree_; }
    const detail::tree_ref& tree() const noexcept { return tree_; }
    detail::extents_ref extents() const noexcept { return tree_->extents(); }
    shape_like shape() const { return shape_like(extents().span()); }
    device_id device() const noexcept { return tree_->device; }
    /// The number as an operand of an operator that computes in `d`.
    detail::weak_leaf as_leaf(dtype d) const;

    /// The expression through a view.
    any_lazy viewed(const detail::axis_view& view) const { return {detail::view_tree(tree_, view, 0), type_}; }
    /// The expression as a temporary, which a statement that reads it evaluates once into an array.
    any_lazy kept() const { return {detail::keep_tree(tree_), type_}; }
    /// The expression as T, converted from another dtype.
    template <class T>
    lazy<T> as() const;

private:
    detail::tree_ref tree_;  // null: a number
    dtype type_;
    double floating_ = 0;
    index_t integer_ = 0;
};

/// Applies a row of the operator table. Throws dtype_error where it has no function of these dtypes, shape_error where
/// the shapes do not broadcast.
any_lazy apply(detail::op, std::initializer_list<any_lazy> operands);
any_lazy as_type(const any_lazy&, dtype);
template <class T>
lazy<T> any_lazy::as() const {
    return lazy<T>::of(as_type(*this, lazy<T>::type).tree());
}

inline any_lazy operator+(const any_lazy& a, const any_lazy& b) { return apply(detail::op::add, {a, b}); }
inline any_lazy operator-(const any_lazy& a, const any_lazy& b) { return apply(detail::op::subtract, {a, b}); }
inline any_lazy operator*(const any_lazy& a, const any_lazy& b) { return apply(detail::op::multiply, {a, b}); }
inline any_lazy operator/(const any_lazy& a, const any_lazy& b) { return apply(detail::op::divide, {a, b}); }
inline any_lazy operator<(const any_lazy& a, const any_lazy& b) { return apply(detail::op::less, {a, b}); }
inline any_lazy choose(const any_lazy& condition, const any_lazy& a, const any_lazy& b) {
    return apply(detail::op::where, {condition, a, b});
}

/// A fold over axes (null: all); with `keep` they stay as axes of extent 1.
any_lazy folded(detail::fold, const char* operation, const any_lazy&, const axes* over, bool keep);
any_lazy mean_of(const char* operation, const any_lazy&, const axes& over, bool keep);
/// Element i along the axis is e's element i + `by`, or the rule's element beyond the ends; the axis has `extent`
/// elements.
any_lazy beyond_ends(detail::place_rule, const char* operation, const any_lazy& e, int axis, index_t by,
                     index_t extent);
/// The slices of e along its first axis, elements of a vector, at int64 indices that lie inside; the axes of the
/// indices stand first. The indices are part of the expression, however large.
any_lazy elements_at(const any_lazy& e, const any_lazy& indices);
/// e read in cycles along axes (places.hpp).
any_lazy cycled(const char* operation, const any_lazy& e, std::span<const detail::cycle>);

}  // namespace ingot::runtime
