// Distributes the axes of a transform over calls, and checks them.
#include <algorithm>
#include <cmath>
#include <string>

#include <ingot/core/error.hpp>

#include "runtime/fft/axes.hpp"

namespace ingot::detail {

namespace {

transformed_axis checked(const char* operation, extents_ref shape, int axis, index_t points) {
    if (points < 1)
        throw shape_error("[" + std::string(operation) + "] " + std::to_string(points) + " points along axis " +
                          std::to_string(axis) + " of shape " + to_text(shape.span()) + ": there has to be one");
    return {axis, points};
}
/// The number of points along the axis; for half a spectrum, the points of the whole.
index_t points_there(extents_ref shape, int axis, bool halved) {
    return halved ? 2 * (shape.data[axis] - 1) : shape.data[axis];
}

}  // namespace

transformed_axis axis_of_transform(const char* operation, extents_ref shape, const fft::points& n, index_t axis,
                                   bool halved) {
    const int at = checked_axis(operation, axis, shape.rank);
    return checked(operation, shape, at, n.is_given() ? n.count() : points_there(shape, at, halved));
}

std::vector<transformed_axis> axes_of_transform(const char* operation, extents_ref shape, const fft::extents& s,
                                                const axes* over, bool halved) {
    if (s.is_given() && over != nullptr && s.count() != over->count())
        throw shape_error("[" + std::string(operation) + "] " + std::to_string(s.count()) + " extents for " +
                          std::to_string(over->count()) + " axes");
    const int count = over != nullptr ? over->count() : s.is_given() ? s.count() : shape.rank;
    if (over == nullptr && count > shape.rank)
        throw shape_error("[" + std::string(operation) + "] " + std::to_string(count) + " extents for shape " +
                          to_text(shape.span()));
    std::vector<transformed_axis> all;
    for (int i = 0; i < count; ++i) {
        const int at = checked_axis(operation, over != nullptr ? (*over)[i] : i - count, shape.rank);
        const index_t there = points_there(shape, at, halved && !s.is_given() && i == count - 1);
        all.push_back(checked(operation, shape, at, s.is_given() && s[i] != -1 ? s[i] : there));
    }
    return all;
}

std::vector<std::vector<transformed_axis>> calls_of_transform(std::span<const transformed_axis> all, bool real) {
    constexpr std::size_t most_axes = 3;
    std::vector<std::vector<transformed_axis>> calls;
    for (std::size_t i = all.size(); i-- > 0;) {
        const auto has = [&](const std::vector<transformed_axis>& call) {
            return std::ranges::any_of(call, [&](const transformed_axis& a) { return a.axis == all[i].axis; });
        };
        if (calls.empty() || calls.back().size() == most_axes || has(calls.back())) calls.emplace_back();
        calls.back().push_back(all[i]);
    }
    for (std::vector<transformed_axis>& call : calls) {
        const bool keeps_last = real && &call == &calls.front();
        std::ranges::reverse(call);
        std::sort(call.begin(), call.end() - (keeps_last ? 1 : 0),
                  [](const transformed_axis& a, const transformed_axis& b) { return a.axis < b.axis; });
    }
    return calls;
}

double factor_of_transform(fft::norm how, std::span<const transformed_axis> all, bool inverse) {
    double points = 1;
    for (const transformed_axis& a : all) points *= static_cast<double>(a.points);
    if (how == fft::norm::ortho) return 1 / std::sqrt(points);
    return (how == fft::norm::backward) == inverse ? 1 / points : 1;
}

void check_has_axes(const char* operation, std::span<const transformed_axis> all) {
    if (all.empty()) throw shape_error("[" + std::string(operation) + "] wants an axis, and none is given");
}

void check_points(const char* operation, index_t n) {
    if (n < 1)
        throw shape_error("[" + std::string(operation) + "] " + std::to_string(n) + " points: there has to be one");
}

shift_room shifts_of(extents_ref shape, const axes* over, bool back) {
    std::vector<index_t> by, along;
    const auto add = [&](int axis) {
        const index_t half = shape.data[axis] / 2;
        by.push_back(back ? -half : half), along.push_back(axis);
    };
    if (over == nullptr)
        for (int j = 0; j < shape.rank; ++j) add(j);
    else
        for (const index_t given : *over) add(checked_axis(back ? "ifftshift" : "fftshift", given, shape.rank));
    return {integer_list(by), integer_list(along)};
}

void check_cosine_type(const char* operation, int type, index_t points) {
    if (type < 1 || type > 4)
        throw shape_error("[" + std::string(operation) + "] type " + std::to_string(type) + ": there are 1 to 4");
    if (type == 1 && points < 2)
        throw shape_error("[" + std::string(operation) + "] of type 1 wants two points or more, not " +
                          std::to_string(points));
}

}  // namespace ingot::detail
