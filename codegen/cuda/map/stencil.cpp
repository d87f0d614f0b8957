// See stencil.hpp.
#include "codegen/cuda/map/stencil.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace ingot::codegen {

using namespace detail;

namespace {

bool is_contiguous(const cuda_kernel& b, const array_argument& at) {
    return class_along(b, at, b.rank - 1) == stride_class::unit;
}

/// Whether a relation tells how a binder's place is shifted. Where one does, all binders have one.
bool names_shift(const view_relation& r) { return r.operand == r.base; }
bool all_are_shifts(const kernel_builder& b) {
    return b.unravellings.empty() || (!b.key.relations.empty() && names_shift(b.key.relations.front()));
}

border border_of(place_rule rule) {
    switch (rule) {
        case place_rule::nearest:
            return border::nearest;
        case place_rule::reflect:
            return border::reflected;
        case place_rule::symmetric:
            return border::mirrored;
        default:
            return border::wrapped;
    }
}

/// A view's steps along the map's axes from the base of its relatives, as its own offset has them; the base has none.
std::vector<int> steps_of(const cuda_kernel& b, const array_argument& in) {
    for (const view_relation& r : b.key.relations)
        if (r.operand == in.index) return {r.steps.begin(), r.steps.begin() + b.rank};
    return std::vector<int>(static_cast<std::size_t>(b.rank));
}
std::uint16_t base_of(const cuda_kernel& b, const array_argument& in) {
    for (const view_relation& r : b.key.relations)
        if (r.operand == in.index) return r.base;
    return in.index;
}

/// The place of a view among its relatives.
struct view_offset {
    const array_argument* in;
    std::uint16_t base;
    std::vector<int> offsets;  // steps in its own offset
    std::vector<int> steps;    // these steps and its shifts
    std::vector<border> borders;
};

view_offset offset_of(const cuda_kernel& b, const array_argument& in) {
    view_offset v{&in, base_of(b, in), steps_of(b, in), {}, {}};
    v.steps = v.offsets;
    for (int a = 0; a < b.rank; ++a) {
        const view_axis axis = axis_of_view(b, in, a);
        v.steps[static_cast<std::size_t>(a)] += axis.steps;
        v.borders.push_back(axis.beyond);
    }
    return v;
}

/// Whether two views agree on the elements beyond the ends of an axis, and where the ends are.
bool agree_on_border(const view_offset& v, const view_offset& w, std::size_t axis) {
    if (v.borders[axis] == border::none && w.borders[axis] == border::none) return true;
    return v.offsets[axis] == w.offsets[axis] &&
           (v.borders[axis] == w.borders[axis] || v.borders[axis] == border::none || w.borders[axis] == border::none);
}

}  // namespace

view_axis axis_of_view(const kernel_builder& b, const array_argument& in, int axis) {
    for (const unravelling& u : b.unravellings)
        for (const int a : u.axes) {
            const auto own = static_cast<std::size_t>(a);
            if (in.at->strides[own] == stride_class::broadcast) continue;
            for (const view_relation& r : b.key.relations)
                if (names_shift(r) && r.steps[own] == axis + 1)
                    return {a, r.steps[static_cast<std::size_t>(axis)], border_of(u.rule)};
        }
    return {axis};
}

stride_class class_along(const kernel_builder& b, const array_argument& at, int axis) {
    if (axis < 0 || at.is_output) return inner_class(at, axis);
    return at.at->strides[static_cast<std::size_t>(axis_of_view(b, at, axis).own)];
}

bool moves_along(const kernel_builder& b, const array_argument& in, std::uint64_t axes) {
    return std::ranges::any_of(axes_in(axes), [&](int a) { return class_along(b, in, a) != stride_class::broadcast; });
}

namespace {

/// All arrays that are contiguous along the inner axis, in families of views that differ along the axes.
std::vector<view_family> families_of(const cuda_kernel& b, const stencil_axes& axes) {
    const auto is_distinguished = [&](std::size_t a) {
        const int axis = static_cast<int>(a);
        return axis == axes.down || axis == axes.side || axis == b.rank - 1;
    };
    const auto fits = [&](const view_offset& v, const view_offset& w) {
        if (v.base != w.base) return false;
        for (std::size_t a = 0; a < v.steps.size(); ++a)
            if (!agree_on_border(v, w, a) || (!is_distinguished(a) && v.steps[a] != w.steps[a])) return false;
        return true;
    };
    std::vector<std::vector<view_offset>> groups;
    for (const array_argument& in : b.inputs) {
        if (!is_contiguous(b, in)) continue;
        view_offset v = offset_of(b, in);
        const auto own = std::ranges::find_if(groups, [&](const std::vector<view_offset>& g) {
            return std::ranges::all_of(g, [&](const view_offset& w) { return fits(v, w); });
        });
        if (own != groups.end())
            own->push_back(std::move(v));
        else
            groups.push_back({std::move(v)});
    }
    std::vector<view_family> families;
    for (const std::vector<view_offset>& g : groups) {
        view_family& f = families.emplace_back();
        f.borders.assign(static_cast<std::size_t>(b.rank), border::none);
        for (const view_offset& v : g)
            for (std::size_t a = 0; a < f.borders.size(); ++a) f.borders[a] = std::max(f.borders[a], v.borders[a]);
        // Steps count from the view in the middle of the rows, if any: outputs usually lie there.
        const std::size_t inner = f.borders.size() - 1;
        number_range along;
        for (const view_offset& v : g) along.add(v.steps[inner]);
        const auto middle =
            std::ranges::find_if(g, [&](const view_offset& v) { return 2 * v.steps[inner] == along.low + along.high; });
        const view_offset& origin = middle == g.end() ? g.front() : *middle;
        const auto step = [&](const view_offset& v, int axis) {
            if (axis < 0) return 0;
            const auto a = static_cast<std::size_t>(axis);
            return v.steps[a] - (f.borders[a] == border::none ? origin.steps[a] : v.offsets[a]);
        };
        const auto add = [&](const view_offset& v) {
            f.views.push_back({v.in, step(v, axes.down), step(v, axes.side), step(v, b.rank - 1)});
        };
        add(origin);
        for (const view_offset& v : g)
            if (&v != &origin) add(v);
    }
    return families;
}

}  // namespace

std::optional<stencil_axes> find_stencil(const cuda_kernel& b) {
    const int inner = b.rank - 1;
    if (b.rank == 0 || b.key.relations.empty() || b.loops != 0 || b.scatters() || b.has_raw() ||
        b.key.folded_before != 0)
        return {};
    if (!all_are_shifts(b)) return {};
    if (b.rank > 1 && (b.key.axes[static_cast<std::size_t>(inner)].flags & axis_flags::short_inner) != 0) return {};
    if (!std::ranges::all_of(b.outputs, [&](const array_argument& z) { return is_contiguous(b, z); })) return {};
    // The number of places of one buffer's views along each axis: more places mean more repeated reads.
    std::vector<std::size_t> step_counts(static_cast<std::size_t>(b.rank));
    bool related = false;
    for (const array_argument& in : b.inputs) {
        if (!is_contiguous(b, in)) continue;
        const std::uint16_t base = base_of(b, in);
        std::vector<std::set<int>> met(static_cast<std::size_t>(b.rank));
        std::size_t relatives = 0;
        for (const array_argument& other : b.inputs) {
            if (!is_contiguous(b, other) || base_of(b, other) != base) continue;
            ++relatives;
            const std::vector<int> steps = offset_of(b, other).steps;
            for (std::size_t a = 0; a < met.size(); ++a) met[a].insert(steps[a]);
        }
        related = related || relatives > 1;
        for (std::size_t a = 0; a < met.size(); ++a) step_counts[a] = std::max(step_counts[a], met[a].size());
    }
    if (!related) return {};
    stencil_axes axes;
    for (int a = 0; a < inner; ++a) {
        const std::size_t here = step_counts[static_cast<std::size_t>(a)];
        if (here > 1 && (axes.down < 0 || here > step_counts[static_cast<std::size_t>(axes.down)])) axes.down = a;
    }
    for (int a = 0; a < inner; ++a) {
        const std::size_t here = step_counts[static_cast<std::size_t>(a)];
        if (a != axes.down && here > 1 && (axes.side < 0 || here > step_counts[static_cast<std::size_t>(axes.side)]))
            axes.side = a;
    }
    if (axes.down < 0 && inner > 0) axes.down = inner - 1;
    return axes;
}

std::vector<view_window> windows_of(const cuda_kernel& b, const stencil_axes& axes, window_size size) {
    std::vector<view_window> windows;
    for (view_family& f : families_of(b, axes)) {
        const array_argument& first = f.first();
        const auto moves = [&](int axis) { return class_along(b, first, axis) != stride_class::broadcast; };
        const auto border_of = [&](int axis) {
            return axis < 0 ? border::none : f.borders[static_cast<std::size_t>(axis)];
        };
        view_window w{.family = {}, .name = first.name + (f.views.size() > 1 ? "_rows" : "")};
        w.moves_down = moves(axes.down), w.moves_aside = moves(axes.side);
        w.down_border = border_of(axes.down), w.side_border = border_of(axes.side);
        w.border_along = border_of(b.rank - 1);
        std::map<int, row_line> lines;
        for (const stencil_view& v : f.views)
            for (int t = 0; t < (w.moves_aside ? static_cast<int>(size.aside) : 1); ++t) {
                row_line& line = lines.try_emplace(t + v.side, row_line{t + v.side}).first->second;
                line.down.add(v.down);
                line.left = std::max(line.left, -v.along);
                line.right = std::max(line.right, v.along);
                w.down.add(v.down);
            }
        w.first_side = lines.begin()->first, w.last_side = lines.rbegin()->first;
        for (const auto& [side, line] : lines) {
            while (!w.lines.empty() && w.lines.back().side + 1 < side) w.lines.push_back({w.lines.back().side + 1});
            w.lines.push_back(line);
            w.left = std::max(w.left, line.left);
            w.right = std::max(w.right, line.right);
        }
        const auto room = [&](int elements) { return size.pairs ? (elements + 3) / 4 * 4 : elements; };
        w.first = room(w.left);
        w.width = w.first + static_cast<int>(size.each) + room(w.right);
        w.slots = static_cast<std::uint32_t>(w.down.high - w.down.low) + 1 + (w.moves_down ? size.ahead : 0);
        w.family = std::move(f);
        windows.push_back(std::move(w));
    }
    return windows;
}

std::uint32_t registers_of(const std::vector<view_window>& windows, window_size size) {
    std::uint32_t registers = 0;
    for (const view_window& w : windows) {
        const std::uint32_t words = std::max(1u, bytes_of(w.family.first()) / 4);
        for (const row_line& line : w.lines)
            for (int column = 0; column < w.width; ++column) {
                // From the slot where it is first read to the slot in which it arrives.
                int used = line.down.high + 1;
                for (const stencil_view& v : w.family.views) {
                    const int e = column - w.first - v.along, t = line.side - v.side;
                    if (e < 0 || e >= static_cast<int>(size.each)) continue;
                    if (t < 0 || t >= (w.moves_aside ? static_cast<int>(size.aside) : 1)) continue;
                    used = std::min(used, v.down);
                }
                if (used > line.down.high) continue;
                registers +=
                    words * (static_cast<std::uint32_t>(line.down.high - used) + 1 + (w.moves_down ? size.ahead : 0));
            }
    }
    return registers;
}

}  // namespace ingot::codegen
