// See stencil.hpp.
#include "codegen/cuda/map/stencil.hpp"

#include <map>
#include <set>

namespace ingot::codegen {

using namespace detail;

namespace {

bool is_contiguous(const cuda_kernel& b, const array_argument& at) {
    return inner_class(at, b.rank - 1) == stride_class::unit;
}

/// Steps from the relatives' base, which itself has none.
std::vector<int> steps_of(const cuda_kernel& b, const array_argument& in) {
    for (const view_relation& r : b.key.relations)
        if (r.operand == in.at->head.same_as) return {r.steps.begin(), r.steps.end()};
    return std::vector<int>(static_cast<std::size_t>(b.rank));
}
std::uint16_t base_of(const cuda_kernel& b, const array_argument& in) {
    for (const view_relation& r : b.key.relations)
        if (r.operand == in.at->head.same_as) return r.base;
    return in.at->head.same_as;
}

}  // namespace

std::vector<view_family> families_of(const cuda_kernel& b, const stencil_axes& axes) {
    std::vector<view_family> families;
    std::vector<std::uint16_t> bases;
    const auto step = [](const std::vector<int>& steps, int axis) {
        return axis < 0 ? 0 : steps[static_cast<std::size_t>(axis)];
    };
    std::vector<std::vector<int>> firsts;  // steps of each family's first view
    for (const array_argument& in : b.inputs) {
        if (!is_contiguous(b, in)) continue;
        const std::uint16_t base = base_of(b, in);
        const std::vector<int> steps = steps_of(b, in);
        std::vector<int> others = steps;
        for (const int a : {axes.down, axes.side, b.rank - 1})
            if (a >= 0) others[static_cast<std::size_t>(a)] = 0;
        std::size_t f = 0;
        while (f < families.size() && (bases[f] != base || families[f].others != others)) ++f;
        if (f == families.size()) {
            families.push_back({{}, others});
            bases.push_back(base);
            firsts.push_back(steps);
        }
        const std::vector<int>& first = firsts[f];
        families[f].views.push_back({&in, step(steps, axes.down) - step(first, axes.down),
                                     step(steps, axes.side) - step(first, axes.side),
                                     step(steps, b.rank - 1) - step(first, b.rank - 1)});
    }
    return families;
}

std::optional<stencil_axes> find_stencil(const cuda_kernel& b) {
    const int inner = b.rank - 1;
    if (b.rank == 0 || b.key.relations.empty() || b.key.axes.size() != static_cast<std::size_t>(b.rank) ||
        b.loops != 0 || !b.unravellings.empty() || b.scatters() || b.has_raw() || b.key.folded_before != 0)
        return {};
    if (b.rank > 1 && (b.key.axes[static_cast<std::size_t>(inner)].flags & axis_flags::short_inner) != 0) return {};
    if (!std::ranges::all_of(b.outputs, [&](const array_argument& z) { return is_contiguous(b, z); })) return {};
    // How many places along each axis views of one buffer have: the more the more is read again.
    std::vector<std::size_t> places(static_cast<std::size_t>(b.rank));
    bool related = false;
    for (const array_argument& in : b.inputs) {
        if (!is_contiguous(b, in)) continue;
        const std::uint16_t base = base_of(b, in);
        std::vector<std::set<int>> met(static_cast<std::size_t>(b.rank));
        std::size_t relatives = 0;
        for (const array_argument& other : b.inputs) {
            if (!is_contiguous(b, other) || base_of(b, other) != base) continue;
            ++relatives;
            const std::vector<int> steps = steps_of(b, other);
            for (std::size_t a = 0; a < met.size(); ++a) met[a].insert(steps[a]);
        }
        related = related || relatives > 1;
        for (std::size_t a = 0; a < met.size(); ++a) places[a] = std::max(places[a], met[a].size());
    }
    if (!related) return {};
    stencil_axes axes;
    for (int a = 0; a < inner; ++a) {
        const std::size_t here = places[static_cast<std::size_t>(a)];
        if (here > 1 && (axes.down < 0 || here > places[static_cast<std::size_t>(axes.down)])) axes.down = a;
    }
    for (int a = 0; a < inner; ++a) {
        const std::size_t here = places[static_cast<std::size_t>(a)];
        if (a != axes.down && here > 1 && (axes.side < 0 || here > places[static_cast<std::size_t>(axes.side)]))
            axes.side = a;
    }
    if (axes.down < 0 && inner > 0) axes.down = inner - 1;
    return axes;
}

std::vector<view_window> windows_of(const cuda_kernel& b, const stencil_axes& axes, window_size size) {
    std::vector<view_window> windows;
    for (view_family& f : families_of(b, axes)) {
        const array_argument& first = f.first();
        const auto moves = [&](int axis) { return axis >= 0 && b.moves_along(first, axis_bit(axis)); };
        view_window w{.family = {}, .name = first.name + (f.views.size() > 1 ? "_rows" : "")};
        w.moves_down = moves(axes.down), w.moves_aside = moves(axes.side);
        std::map<int, row_line> lines;
        for (const stencil_view& v : f.views)
            for (int t = 0; t < (w.moves_aside ? static_cast<int>(size.aside) : 1); ++t) {
                row_line& line = lines.try_emplace(t + v.side, row_line{t + v.side}).first->second;
                line.down.add(v.down);
                line.left = std::max(line.left, -v.along);
                line.right = std::max(line.right, v.along);
                w.down.add(v.down);
            }
        w.first_side = lines.begin()->first;
        for (const auto& [side, line] : lines) {
            while (!w.lines.empty() && w.lines.back().side + 1 < side) w.lines.push_back({w.lines.back().side + 1});
            w.lines.push_back(line);
            w.left = std::max(w.left, line.left);
            w.right = std::max(w.right, line.right);
        }
        w.width = w.left + static_cast<int>(size.each) + w.right;
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
                // From the slot where it is first read to that in which it arrives.
                int used = line.down.high + 1;
                for (const stencil_view& v : w.family.views) {
                    const int e = column - w.left - v.along, t = line.side - v.side;
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
