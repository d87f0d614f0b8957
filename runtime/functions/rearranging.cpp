// The source elements of splits, tiles, rolls, insertions and deletions.
#include <ingot/core/rearranging.hpp>

#include <algorithm>
#include <numeric>
#include <string>

#include <ingot/core/error.hpp>
#include <ingot/core/scans.hpp>
#include <ingot/core/splits.hpp>
#include <ingot/sorting/searching.hpp>

#include "runtime/functions/any_lazy.hpp"

namespace ingot::detail {

namespace {

[[noreturn]] void fail(const char* operation, const std::string& text) {
    throw shape_error("[" + std::string(operation) + "] " + text);
}

void check_number_of_counts(index_t counts, index_t extent) {
    if (counts != 1 && counts != extent)
        fail("repeat", std::to_string(counts) + " numbers for " + std::to_string(extent) + " elements");
}

}  // namespace

even_parts find_parts(const char* operation, extents_ref shape, index_t count, index_t axis, bool equal) {
    const int at = checked_axis(operation, axis, shape.rank);
    const index_t extent = shape.data[at];
    if (count < 1) fail(operation, std::to_string(count) + " parts: one or more are wanted");
    if (equal && extent % count != 0)
        fail(operation, "axis " + std::to_string(at) + " of shape " + to_text(shape.span()) + " has no " +
                            std::to_string(count) + " equal parts");
    return {at, extent / count + 1, extent % count};
}

void find_tiles(cycle_room& room, extents_ref shape, const integer_list& repeats) {
    const int before = shape.rank - repeats.count();  // leading axes that are unchanged
    for (int j = before; j < shape.rank; ++j) {
        const index_t times = repeats[j - before];
        index_t extent = 0;
        if (times < 0) fail("tile", std::to_string(times) + " times: a number that is not negative is wanted");
        if (__builtin_mul_overflow(shape.data[j], times, &extent)) throw_too_large(static_cast<std::uint64_t>(times));
        if (times != 1) room.cycles[room.count++] = {j, 0, extent};
    }
}

tree_ref rolled(const tree_ref& given, dtype type, const integer_list& by, const axes* along) {
    runtime::any_lazy x(given, type);
    const extents_ref shape = x.extents();
    const int count = along ? along->count() : by.count();
    if (by.count() != count && by.count() != 1 && count != 1)
        fail("roll", std::to_string(by.count()) + " numbers for " + std::to_string(count) + " axes");
    index_t firsts[max_rank] = {};  // of each axis, the index that comes first
    for (int k = 0; k < std::max(count, by.count()); ++k) {
        const int axis = along ? checked_axis("roll", (*along)[count == 1 ? 0 : k], shape.rank) : 0;
        const index_t extent = shape.data[axis], shift = by[by.count() == 1 ? 0 : k];
        if (extent > 1) firsts[axis] = (firsts[axis] + extent - (shift % extent + extent) % extent) % extent;
    }
    for (int axis = 0, rank = shape.rank; axis < rank; ++axis)
        if (firsts[axis] != 0) x = beyond_ends(place_rule::wrap, "roll", x, axis, firsts[axis], x.extents().data[axis]);
    return x.tree();
}

void check_repeats(index_t repeats) {
    if (repeats < 0) fail("repeat", std::to_string(repeats) + " times: a number that is not negative is wanted");
}

index_t extent_along(const char* operation, std::span<const index_t> shape, const axis_or_none& axis) {
    if (axis.is_none()) return extents_ref::of(shape).size();
    return shape[static_cast<std::size_t>(checked_axis(operation, axis.axis(), static_cast<int>(shape.size())))];
}

std::vector<index_t> indices_of_slice(const slice& s, index_t extent) {
    view_room view;
    view_sliced(view, {&extent, 1}, "index", 0, as_index_item(s));
    std::vector<index_t> indices(static_cast<std::size_t>(view.extents[0]));
    for (std::size_t i = 0; i < indices.size(); ++i)
        indices[i] = view.starts[0] + static_cast<index_t>(i) * view.walks[0].by;
    return indices;
}

std::vector<index_t> counted_from_start(const char* operation, const std::vector<index_t>& indices, extents_ref shape,
                                        int axis, index_t beyond) {
    const index_t extent = shape.data[axis];
    std::vector<index_t> counted;
    for (const index_t i : indices) {
        if (i < -extent || i >= extent + beyond)
            throw index_error("[" + std::string(operation) + "] " + std::to_string(i) + " is out of range for axis " +
                              std::to_string(axis) + " of extent " + std::to_string(extent));
        counted.push_back(i < 0 ? i + extent : i);
    }
    return counted;
}

std::vector<std::size_t> order_of(const std::vector<index_t>& indices) {
    std::vector<std::size_t> order(indices.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return indices[a] < indices[b]; });
    return order;
}

std::vector<run> runs_without(const std::vector<index_t>& indices, index_t extent) {
    std::vector<index_t> out = indices;
    std::sort(out.begin(), out.end());
    out.push_back(extent);
    std::vector<run> runs;
    index_t start = 0;
    for (const index_t i : out) {
        if (i > start) runs.push_back({start, i});
        start = i + 1;
    }
    if (runs.empty()) runs.push_back({0, 0});
    return runs;
}

std::vector<index_t> indices_of_runs(const std::vector<run>& runs) {
    std::vector<index_t> indices;
    for (const run& r : runs)
        for (index_t i = r.start; i < r.end; ++i) indices.push_back(i);
    return indices;
}

std::vector<index_t> inserted_indices(const std::vector<index_t>& before, index_t extent) {
    std::vector<index_t> from;
    from.reserve(static_cast<std::size_t>(extent) + before.size());
    index_t i = 0;
    for (const std::size_t k : order_of(before)) {
        for (; i < before[k]; ++i) from.push_back(i);
        from.push_back(-1 - static_cast<index_t>(k));
    }
    for (; i < extent; ++i) from.push_back(i);
    return from;
}

namespace {

/// An array of n indices, f(0) to f(n - 1).
template <class F>
array<index_t> indices_on(device_id where, index_t n, const F& f) {
    return generated<index_t>("index", n, f).to(where == no_device ? current_place() : where);
}

}  // namespace

array<index_t> listed_on(device_id where, const std::vector<index_t>& indices) {
    return indices_on(where, static_cast<index_t>(indices.size()),
                      [&](index_t i) { return indices[static_cast<std::size_t>(i)]; });
}

lazy<index_t> repeated_indices(device_id where, const std::vector<index_t>& counts, index_t extent) {
    for (const index_t c : counts) check_repeats(c);
    check_number_of_counts(static_cast<index_t>(counts.size()), extent);
    const auto count_of = [&](index_t i) { return counts[counts.size() == 1 ? 0 : static_cast<std::size_t>(i)]; };
    index_t total = 0;
    for (index_t i = 0; i < extent; ++i)
        if (__builtin_add_overflow(total, count_of(i), &total))
            throw_too_large(static_cast<std::uint64_t>(count_of(i)));
    index_t at = -1, left = 0;
    return indices_on(where, total, [&](index_t) {
        while (left == 0) left = count_of(++at);
        --left;
        return at;
    });
}

// On a GPU the counts stay there: element i of the result is found by a search for the first index whose running count
// exceeds i.
lazy<index_t> repeated_indices(const array<index_t>& counts, index_t extent) {
    if (counts.ndim() > 1)
        fail("repeat", "numbers of shape " + to_text(counts.shape().values()) + ": a vector is wanted");
    check_number_of_counts(counts.size(), extent);
    if (counts.device().is_host() || extent == 0)
        return repeated_indices(counts.as_leaf().on_device(), ravel(counts).to_host(), extent);
    const auto all = broadcast_to(ravel(counts), {extent});
    const auto [ends, least] = eval(cumsum(all), min(all));
    check_repeats(least.item());
    const index_t total = ends(-1).item();
    return searchsorted(ends, position_along<index_t>(total, 0), search_side::right);
}

}  // namespace ingot::detail
