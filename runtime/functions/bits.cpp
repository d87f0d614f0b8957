// packbits and unpackbits: sums of shifted bits, and shifts back.
#include <ingot/core/bits.hpp>

#include <string>
#include <utility>
#include <vector>

#include <ingot/core/error.hpp>
#include <ingot/core/padding.hpp>
#include <ingot/core/reductions.hpp>
#include <ingot/core/reshape.hpp>

namespace ingot::detail {

namespace {

/// e and its axis; without an axis, its elements in C order.
template <class T>
std::pair<lazy<T>, int> along(const char* operation, const lazy<T>& e, const axis_or_none& axis) {
    if (axis.is_none()) return {lazy<T>(ravel(e)), 0};
    return {e, checked_axis(operation, axis.axis(), e.ndim())};
}

/// The shift of each of eight bits.
array<std::uint8_t> shifts(bit_order order, int axes_behind) {
    array<std::uint8_t> by = order == bit_order::big ? array<std::uint8_t>{7, 6, 5, 4, 3, 2, 1, 0}
                                                     : array<std::uint8_t>{0, 1, 2, 3, 4, 5, 6, 7};
    std::vector<index_t> shape(static_cast<std::size_t>(axes_behind) + 1, 1);
    shape[0] = 8;
    return array<std::uint8_t>(reshape(by, shape));
}

/// e padded with zeros at the end of an axis, to n elements.
template <class T>
lazy<T> lengthened(const char* operation, const lazy<T>& e, int axis, index_t n) {
    const shape_like shape = e.shape();
    std::vector<index_t> more(shape.begin(), shape.end());
    more[static_cast<std::size_t>(axis)] = n - shape[axis];
    if (n == shape[axis]) return e;
    lazy_parts<T> parts{
        e, lazy<T>(viewed_to_read(lazy<T>(scalar(T(0))), view_broadcast, operation, std::span<const index_t>(more)))};
    return joined(operation, std::move(parts), axis);
}

}  // namespace

lazy<std::uint8_t> packed_bits(const lazy<bool>& given, const axis_or_none& axis, bit_order order) {
    const auto [e, at] = along("packbits", given, axis);
    const index_t bytes = (e.shape()[at] + 7) / 8;
    const lazy<std::uint8_t> bits(astype<std::uint8_t>(lengthened("packbits", e, at, 8 * bytes)));
    const lazy<std::uint8_t> eights(unflatten(bits, at, {bytes, 8}));
    return lazy<std::uint8_t>(astype<std::uint8_t>(sum(eights << shifts(order, eights.ndim() - at - 2), at + 1)));
}

lazy<std::uint8_t> unpacked_bits(const lazy<std::uint8_t>& given, const axis_or_none& axis,
                                 std::optional<index_t> count, bit_order order) {
    const auto [e, at] = along("unpackbits", given, axis);
    const lazy<std::uint8_t> shifted(expand_dims(e, at + 1) >> shifts(order, e.ndim() - at - 1));
    const index_t available = 8 * e.shape()[at], requested = count.value_or(available);
    const lazy<std::uint8_t> bits(flatten(shifted & scalar<std::uint8_t>(1), at, at + 1));
    if (requested < -available)
        throw shape_error("[unpackbits] count " + std::to_string(requested) + " leaves out more than the " +
                          std::to_string(available) + " bits");
    if (requested > available) return lengthened("unpackbits", bits, at, requested);
    return sliced("unpackbits", bits, at, slice(0, requested < 0 ? available + requested : requested));
}

}  // namespace ingot::detail
