// Transfers between arrays and the host's own memory. Every function takes any expression, and waits.
#pragma once

#include <concepts>
#include <type_traits>
#include <vector>

#include <ingot/core/array.hpp>
#include <ingot/core/host_values.hpp>

namespace ingot {
namespace detail {

/// Throws shape_error for an array whose number of elements is not one.
[[noreturn]] INGOT_API void throw_not_one(const char* operation, extents_ref shape);
[[noreturn]] INGOT_API void throw_wrong_count(const char* operation, std::size_t given, extents_ref shape);
/// Whether the elements are contiguous in C order.
INGOT_API bool is_contiguous(const layout& where) noexcept;
/// Copies a contiguous leaf to the host.
INGOT_API void read_values(const buffer_ref& memory, const layout& where, std::size_t bytes_each, void* to);
/// Writes all elements of an array.
INGOT_API void write_values(destination to, const void* from);

/// The values of e as elements of a buffer; evaluates nothing where they already are.
template <class U, class E>
leaf<U> values_as(const E& e) {
    const auto& node = as_node(e);
    if constexpr (may_be_leaf<std::remove_cvref_t<decltype(node)>> && E::type == dtype_of<U>)
        if (const auto as_it_lies = leaf_of(node)) return *as_it_lies;
    leaf<U> values;
    evaluate_into<U>(node, values.memory(), values.where());
    return values;
}

/// values_as, contiguous in C order.
template <class U, class E>
leaf<U> contiguous_values_as(const E& e) {
    leaf<U> values = values_as<U>(e);
    if (!is_contiguous(values.where())) values = array<U>(values).as_leaf();
    return values;
}

/// Reads e, which has `count` elements, converted to U.
template <class U, class E>
void read(const char* operation, const E& e, U* to, std::size_t count) {
    {
        shape_room room;
        const extents_ref shape = as_node(e).extents(room);
        if (static_cast<std::size_t>(shape.size()) != count) throw_wrong_count(operation, count, shape);
    }
    const leaf<U> values = contiguous_values_as<U>(e);
    read_values(values.memory(), values.where(), sizeof(U), to);
}

template <class E>
auto expression_members<E>::item(const source_place& at) const {
    const in_statement of_the_user(at);
    if (size() != 1) {
        shape_room room;
        throw_not_one("item", as_node(self()).extents(room));
    }
    typename E::value_type value;
    read("item", self(), &value, 1);
    return value;
}

template <class E>
auto expression_members<E>::to_host(const source_place& at) const {
    const in_statement of_the_user(at);
    using T = typename E::value_type;
    const auto n = static_cast<std::size_t>(size());
    std::vector<T> values;
    reserve_on_host(n, sizeof(T), [&] { values.resize(n); });
    if constexpr (std::same_as<T, bool>) {
        const value_room<bool> read_values(n);
        read("to_host", self(), read_values.get(), n);
        for (std::size_t k = 0; k < n; ++k) values[k] = read_values.get()[k];
    } else {
        read("to_host", self(), values.data(), n);
    }
    return values;
}

/// A range as contiguous elements of type T: itself, or a copy.
template <class T, class R>
class contiguous_range {
public:
    explicit contiguous_range(const R& values) {
        if constexpr (in_place) {
            data_ = std::data(values);
            size_ = std::size(values);
        } else {
            size_ = count_of_values(values);
            copy_ = value_room<T>(size_);
            T* to = copy_.get();
            for (auto&& value : values) *to++ = converted(static_cast<value_of<R>>(value));
            data_ = copy_.get();
        }
    }
    const T* data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }

private:
    /// Converts as astype does: integers wrap, floats saturate.
    static T converted(const value_of<R>& value) {
        if constexpr (std::is_floating_point_v<value_of<R>>)
            return element_value<T>("set", value);
        else
            return static_cast<T>(value);
    }
    static constexpr bool in_place = contiguous_values<R> && std::same_as<value_of<R>, T>;
    const T* data_;
    std::size_t size_;
    value_room<T> copy_;
};

}  // namespace detail

template <class T>
template <detail::values_of_host R>
    requires std::constructible_from<T, detail::value_of<R>>
void array<T>::set(const R& values) {
    check_count(detail::count_of_values(values));
    const detail::contiguous_range<T, R> from(values);
    write_all(from.data(), from.size());
}

template <class T>
void array<T>::check_count(std::size_t count) const {
    if (static_cast<std::size_t>(leaf_.where().size()) != count)
        detail::throw_wrong_count("set", count, {leaf_.where().shape(), leaf_.where().rank()});
}

template <class T>
void array<T>::write_all(const void* values, std::size_t count) {
    check_count(count);
    detail::write_values({type, leaf_.memory(), leaf_.where()}, values);
}

/// Writes the values of e, in C order and converted, into a span, a vector or an array of the host, and waits for them.
/// Throws shape_error where the numbers of values differ.
///
///     std::vector<float> values(3);
///     copy_to(array<int>{1, 2, 3} * 2, values);
///     std::cout << values[0] << ' ' << values[2];
///     // prints: 2 6
template <array_expression E, class R>
    requires detail::contiguous_values<std::remove_reference_t<R>> &&
             element_type<detail::value_of<std::remove_reference_t<R>>>
void copy_to(const E& e, R&& to, const source_place& at = source_place::current()) {
    const detail::in_statement of_the_user(at);
    detail::read("copy_to", e, std::data(to), std::size(to));
}
template <array_expression E>
void copy_to(const E& e, std::vector<bool>& to) {
    const detail::value_room<bool> values(to.size());
    detail::read("copy_to", e, values.get(), to.size());
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = values[i];
}

}  // namespace ingot
