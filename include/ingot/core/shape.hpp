// Shapes and axes as parameters: one class each, implicit from a bare integer, a brace list of any integers mixed, or a
// range of integers, so that no function needs an overload for them.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include <ingot/core/export.hpp>
#include <ingot/core/host_values.hpp>
#include <ingot/core/layout.hpp>

namespace ingot {

/// The type of extents, axes, indices and offsets: 64 bits with a sign.
using index_t = detail::index_t;

namespace detail {

template <class I>
concept integer_argument = std::integral<I> && !std::same_as<I, bool>;

[[noreturn]] INGOT_API void throw_too_large(std::uint64_t extent);

/// An extent or an axis. Throws shape_error where 64 bits with a sign do not hold it.
template <integer_argument I>
constexpr index_t as_extent(I i) {
    if constexpr (std::unsigned_integral<I> && sizeof(I) >= sizeof(index_t))
        if (i > std::uint64_t{INT64_MAX}) throw_too_large(i);
    return static_cast<index_t>(i);
}
/// An index or an end of a slice. A value beyond 64 bits with a sign becomes their end, which also lies beyond any
/// axis.
template <integer_argument I>
constexpr index_t as_index(I i) {
    if constexpr (std::unsigned_integral<I> && sizeof(I) >= sizeof(index_t))
        if (i > std::uint64_t{INT64_MAX}) return INT64_MAX;
    return static_cast<index_t>(i);
}

/// One entry of a brace list.
struct any_integer {
    index_t value;
    template <integer_argument I>
    constexpr any_integer(I i) : value(as_extent(i)) {}
};

/// The base of shapes, axes and strides: up to 64 integers without an allocation. It is made from one integer, a list
/// in braces of any integer types mixed, or a range. Throws shape_error where there are more, or one is too large. It
/// compares with == and prints as a tuple.
///
///     const shape_like shape = zeros({2, 3}).shape();
///     std::cout << shape << ' ' << shape.size() << shape.count() << ' ' << shape[1];
///     std::cout << ' ' << *shape.begin() << shape.end()[-1] << shape.values()[1] << ' ' << (shape == axes{2, 3});
///     // prints: (2, 3) 22 3 233 1
class integer_list {
public:
    integer_list() = default;  // from {}: no axes, the shape of a 0-d array
    template <integer_argument I>
    integer_list(I i) {
        push(as_extent(i));
    }
    integer_list(std::initializer_list<any_integer> list) {
        for (any_integer i : list) push(i.value);
    }
    template <detail::values_of_host R>
        requires integer_argument<detail::value_of<R>>
    integer_list(const R& range) {
        for (auto i : range) push(as_extent(i));
    }

    /// The integers; valid as long as the list is.
    std::span<const index_t> values() const noexcept { return {values_, static_cast<std::size_t>(count_)}; }
    /// How many there are.
    int count() const noexcept { return count_; }
    /// Integer number i, which must exist.
    index_t operator[](int i) const noexcept { return values_[i]; }
    /// The first integer.
    const index_t* begin() const noexcept { return values_; }
    /// The end of the integers.
    const index_t* end() const noexcept { return values_ + count_; }
    /// How many there are.
    std::size_t size() const noexcept { return static_cast<std::size_t>(count_); }
    friend bool operator==(const integer_list& a, const integer_list& b) noexcept {
        if (a.count_ != b.count_) return false;
        for (int i = 0; i < a.count_; ++i)
            if (a.values_[i] != b.values_[i]) return false;
        return true;
    }

private:
    INGOT_API static void throw_too_many();
    void push(index_t i) {
        if (count_ == max_rank) throw_too_many();
        values_[count_++] = i;
    }
    int count_ = 0;
    index_t values_[max_rank];
};

}  // namespace detail

/// The shape of a new array: `zeros<float>({2, 3})`, `zeros<float>(n)`, `full<float>({}, v)` for 0-d.
class shape_like : public detail::integer_list {
public:
    using integer_list::integer_list;
};

/// Axes of an expression; negative ones count from the end.
class axes : public detail::integer_list {
public:
    using integer_list::integer_list;
};

namespace detail {

/// Room for the shape of a node that does not hold it.
using shape_room = index_t[max_rank];

/// A shape owned by somebody else.
struct extents_ref {
    const index_t* data;
    int rank;
    static extents_ref of(std::span<const index_t> shape) { return {shape.data(), static_cast<int>(shape.size())}; }
    std::span<const index_t> span() const { return {data, static_cast<std::size_t>(rank)}; }
    index_t size() const {
        index_t n = 1;
        for (const index_t extent : span()) n *= extent;
        return n;
    }
};

inline bool same_extents(extents_ref a, extents_ref b) {
    if (a.rank != b.rank) return false;
    for (int j = 0; j < a.rank; ++j)
        if (a.data[j] != b.data[j]) return false;
    return true;
}

/// The shape as text: "(2, 3)", "(4,)", "()".
INGOT_API std::string to_text(std::span<const index_t> shape);
/// Throws shape_error unless `axis` names an axis of that rank; returns it counted from the start.
INGOT_API int checked_axis(const char* operation, index_t axis, int rank);
/// Throws shape_error where an extent is negative or the product overflows.
INGOT_API void check_extents(const char* operation, std::span<const index_t> shape);
}  // namespace detail

}  // namespace ingot
