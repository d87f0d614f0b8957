#include "runtime/ndimage/images.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include <ingot/core/functions.hpp>
#include <ingot/core/padding.hpp>
#include <ingot/files/npy.hpp>

namespace ingot {

using namespace detail;
using ndimage::border;

namespace ndimage {

namespace {

[[noreturn]] void throw_ragged() { throw shape_error("[neighbourhood] rows of several lengths; one is wanted"); }

}  // namespace

neighbourhood::neighbourhood(std::initializer_list<std::initializer_list<double>> rows) {
    shape_ = {static_cast<index_t>(rows.size()), rows.size() > 0 ? static_cast<index_t>(rows.begin()->size()) : 0};
    for (const auto& row : rows) {
        if (static_cast<index_t>(row.size()) != shape_[1]) throw_ragged();
        values_.insert(values_.end(), row);
    }
}

neighbourhood::neighbourhood(std::initializer_list<std::initializer_list<std::initializer_list<double>>> planes) {
    shape_ = {static_cast<index_t>(planes.size()), 0, 0};
    for (const auto& rows : planes) {
        const neighbourhood plane(rows);
        if (values_.empty()) shape_ = {shape_[0], plane.shape_[0], plane.shape_[1]};
        if (plane.shape_[0] != shape_[1] || plane.shape_[1] != shape_[2]) throw_ragged();
        values_.insert(values_.end(), plane.values_.begin(), plane.values_.end());
    }
}

neighbourhood::neighbourhood(const image& e) {
    const std::span<const index_t> shape = e.tree->extents().span();
    values_ = runtime::any_lazy(e.tree, e.type).as<double>().to_host();
    shape_.assign(shape.begin(), shape.end());
}

}  // namespace ndimage

detail::number_row::number_row(const image& e) {
    if (e.tree->extents().rank != 1)
        throw shape_error("[filter] coefficients of shape " + to_text(e.tree->extents().span()) +
                          "; one axis is wanted");
    values_ = runtime::any_lazy(e.tree, e.type).as<double>().to_host();
}

namespace runtime {

reach reach_of(const char* operation, index_t size, index_t origin) {
    if (size < 1)
        throw shape_error("[" + std::string(operation) + "] " + std::to_string(size) +
                          " places along an axis; at least 1 is wanted");
    if (origin < -(size / 2) || origin > (size - 1) / 2)
        throw shape_error("[" + std::string(operation) + "] origin " + std::to_string(origin) + " of " +
                          std::to_string(size) + " places; " + std::to_string(-(size / 2)) + " to " +
                          std::to_string((size - 1) / 2) + " are inside");
    return {size / 2 + origin, size - 1 - size / 2 - origin};
}

namespace {

pad_mode pad_mode_of(border b) {
    switch (b) {
        case border::reflect:
            return pad_mode::symmetric;
        case border::constant:
        case border::grid_constant:
            return pad_mode::constant;
        case border::nearest:
            return pad_mode::edge;
        case border::mirror:
            return pad_mode::reflect;
        default:
            return pad_mode::wrap;
    }
}

/// A number of that dtype; integers are truncated, and saturate.
any_lazy number_of(dtype type, double value) {
    return with_element_type(type, [&]<class T>(std::type_identity<T>) {
        if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
            if (!(value > static_cast<double>(std::numeric_limits<T>::min())))
                return any_lazy(ingot::scalar(value == value ? std::numeric_limits<T>::min() : T{0}));
            if (value >= static_cast<double>(std::numeric_limits<T>::max()))
                return any_lazy(ingot::scalar(std::numeric_limits<T>::max()));
            return any_lazy(ingot::scalar(static_cast<T>(value)));
        } else if constexpr (std::is_same_v<T, bool>) {
            return any_lazy(ingot::scalar(value != 0));
        } else if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
            return any_lazy(ingot::scalar(T(static_cast<float>(value))));
        } else if constexpr (complex_number<T>) {
            return any_lazy(ingot::scalar(T(static_cast<typename T::value_type>(value))));
        } else {
            return any_lazy(ingot::scalar(static_cast<T>(value)));
        }
    });
}

}  // namespace

any_lazy bordered(const any_lazy& x, std::span<const reach> reaches, std::span<const border> borders, double cval) {
    any_lazy result = x;
    const auto rank = static_cast<std::size_t>(x.extents().rank);
    for (std::size_t j = 0; j < rank; ++j) {
        if (reaches[j].before == 0 && reaches[j].after == 0) continue;
        std::vector<pad_width> widths(rank, pad_width(0, 0));
        widths[j] = pad_width(reaches[j].before, reaches[j].after);
        result = {padded(result.tree(), x.type(), pad_widths(std::move(widths)), pad_mode_of(borders[j]),
                         number_of(x.type(), cval).tree()),
                  x.type()};
    }
    return result;
}

any_lazy bordered_for(std::size_t reads, const any_lazy& x, std::span<const reach> reaches,
                      std::span<const border> borders, double cval) {
    const auto axes = std::ranges::count_if(reaches, [](reach r) { return r.before > 0 || r.after > 0; });
    const bool on_host = device_of(x).is_host();
    if (!on_host && fits_one_expression(reads, static_cast<std::size_t>(axes)))
        return bordered(x, reaches, borders, cval);
    const auto last = static_cast<std::size_t>(x.extents().rank) - 1;
    if (on_host || (reaches[last].before == 0 && reaches[last].after == 0))
        return bordered(x, reaches, borders, cval).kept();
    // A vector of 16 bytes begins at each row, and at its first element behind the border.
    const index_t vector = std::max<index_t>(16 / static_cast<index_t>(detail::size_of(x.type())), 1);
    const auto up = [=](index_t n) { return (n + vector - 1) / vector * vector; };
    std::vector<reach> wide(reaches.begin(), reaches.end());
    const index_t n = x.extents().data[last], more = up(reaches[last].before) - reaches[last].before;
    wide[last].before += more;
    wide[last].after = up(wide[last].before + n + reaches[last].after) - wide[last].before - n;
    return part_of(bordered(x, wide, borders, cval).kept(), static_cast<int>(last), more,
                   reaches[last].before + n + reaches[last].after);
}

any_lazy bordered(const any_lazy& x, int axis, reach r, border b, double cval) {
    const auto rank = static_cast<std::size_t>(x.extents().rank);
    std::vector<reach> reaches(rank);
    reaches[static_cast<std::size_t>(axis)] = r;
    const std::vector<border> borders(rank, b);
    return bordered(x, reaches, borders, cval);
}

any_lazy part_of(const any_lazy& x, int axis, index_t first, index_t extent) {
    if (first == 0 && extent == x.extents().data[axis]) return x;
    view_room view;
    view_sliced(view, x.extents(), "ndimage", axis, as_index_item(slice(first, first + extent)));
    return x.viewed(view);
}

any_lazy part_of(const any_lazy& x, std::span<const index_t> first, std::span<const index_t> shape) {
    std::vector<index_item> items;
    for (std::size_t j = 0; j < first.size(); ++j) items.push_back(as_index_item(slice(first[j], first[j] + shape[j])));
    view_room view;
    view_by_index(view, x.extents(), items.data(), static_cast<int>(items.size()));
    return x.viewed(view);
}

any_lazy windows_along(const any_lazy& x, int axis, index_t size) {
    view_room view;
    const axes over(axis);
    view_windows(view, x.extents(), {&size, 1}, &over);
    return x.viewed(view);
}

any_lazy windows_around(const any_lazy& x, std::span<const index_t> shape) {
    view_room view;
    view_windows(view, x.extents(), shape, nullptr);
    return x.viewed(view);
}

dtype weighted_dtype(dtype type) {
    if (detail::kind_of(type) == kind::complex) return type;
    return type == dtype::f4 || is_half(type) ? dtype::f4 : dtype::f8;
}

any_lazy stored_as(const any_lazy& sum, dtype type) {
    const bool wraps = detail::kind_of(type) <= kind::integer && type != dtype::i8 && type != dtype::u8;
    return as_type(wraps ? as_type(sum, dtype::i8) : sum, type);
}

namespace {

/// Calls f(number, place) for all places of a box, in C order.
template <class F>
void for_each_place(std::span<const index_t> shape, const F& f) {
    std::size_t count = 1;
    for (const index_t extent : shape) count *= static_cast<std::size_t>(extent);
    std::vector<index_t> at(shape.size());
    for (std::size_t i = 0; i < count; ++i) {
        f(i, at);
        for (std::size_t j = shape.size(); j-- > 0;) {
            if (++at[j] < shape[j]) break;
            at[j] = 0;
        }
    }
}

}  // namespace

places places_of(const ndimage::neighbourhood& n) {
    places p{n.shape(), {}, {}};
    for_each_place(n.shape(), [&](std::size_t i, const std::vector<index_t>& at) {
        if (n.values()[i] != 0) p.at.push_back(at), p.values.push_back(n.values()[i]);
    });
    return p;
}

places places_of_box(std::span<const index_t> shape) {
    places p{{shape.begin(), shape.end()}, {}, {}};
    for_each_place(shape,
                   [&](std::size_t, const std::vector<index_t>& at) { p.at.push_back(at), p.values.push_back(1); });
    return p;
}

ndimage::neighbourhood reversed(const ndimage::neighbourhood& n) {
    return {std::vector<double>(n.values().rbegin(), n.values().rend()), n.shape()};
}

bool is_symmetric(const ndimage::neighbourhood& s) {
    const std::vector<double>& v = s.values();
    return std::ranges::all_of(s.shape(), [](index_t n) { return n == 3; }) &&
           std::equal(v.begin(), v.end(), v.rbegin(), [](double a, double b) { return (a != 0) == (b != 0); });
}

ndimage::neighbourhood cross(int rank) {
    std::size_t count = 1;
    for (int j = 0; j < rank; ++j) count *= 3;
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        int off = 0;
        for (std::size_t rest = i, j = 0; j < static_cast<std::size_t>(rank); ++j, rest /= 3) off += rest % 3 != 1;
        values[i] = off <= 1;
    }
    return {std::move(values), std::vector<index_t>(static_cast<std::size_t>(rank), 3)};
}

void check_axes(const char* operation, const char* what, const ndimage::neighbourhood& n, const any_lazy& x) {
    const bool is_empty = std::ranges::any_of(n.shape(), [](index_t extent) { return extent == 0; });
    if (n.shape().size() != static_cast<std::size_t>(x.extents().rank) || is_empty)
        throw shape_error("[" + std::string(operation) + "] " + what + " of shape " + to_text(n.shape()) +
                          " for an operand of shape " + to_text(x.extents().span()) +
                          "; as many axes are wanted, none of them empty");
}

}  // namespace runtime
}  // namespace ingot
