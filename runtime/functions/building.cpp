// Progressions from slices, and indices of triangles of matrices.
#include <ingot/core/building.hpp>

#include <cmath>
#include <string>

#include <ingot/core/error.hpp>
#include <ingot/core/grids.hpp>
#include <ingot/core/index_functions.hpp>

#include "runtime/system/number_text.hpp"

namespace ingot::detail {

progression progression_of(const char* operation, const slice& s) {
    if (s.stop() == open_end)
        throw index_error("[" + std::string(operation) + "] a slice without an end: slice(start, stop, step)");
    const index_t start = s.start() == open_end ? 0 : s.start();
    const auto number = [](index_t i) { return any_number{static_cast<std::uint64_t>(i), false}; };
    return {start, s.step(), arange_count(number(start), number(s.stop()), number(s.step()))};
}

float_progression float_progression_of(const char* operation, const slice& s) {
    const progression p = progression_of(operation, s);
    return {static_cast<double>(p.start), static_cast<double>(p.step), p.count};
}
float_progression float_progression_of(const char* operation, const grid_steps& s) {
    const double count = std::ceil((s.stop - s.start) / s.step);
    if (s.step == 0 || !std::isfinite(s.start) || !(count < 0x1p62))
        throw shape_error("[" + std::string(operation) + "] steps of " + runtime::number_text(s.step) + " from " +
                          runtime::number_text(s.start) + " to " + runtime::number_text(s.stop) +
                          ": finite ones that are not 0 are wanted");
    return {s.start, s.step, count > 0 ? static_cast<index_t>(count) : 0};
}
float_progression float_progression_of(const char* operation, const grid_points& p) {
    if (p.count < 0)
        throw shape_error("[" + std::string(operation) + "] " + std::to_string(p.count) +
                          " points: a number that is not negative is wanted");
    return {p.first, p.count == 1 ? 0 : (p.last - p.first) / static_cast<double>(p.count - 1), p.count};
}

void throw_beyond(const char* operation, index_t index, std::span<const index_t> shape) {
    throw index_error("[" + std::string(operation) + "] index " + std::to_string(index) + " is outside shape " +
                      to_text(shape));
}

void throw_wrong_count(const char* operation, int given, std::span<const index_t> shape) {
    throw shape_error("[" + std::string(operation) + "] " + std::to_string(given) + " indices for shape " +
                      to_text(shape));
}

index_t size_of_shape(const char* operation, std::span<const index_t> shape) {
    check_extents(operation, shape);
    return extents_ref::of(shape).size();
}

}  // namespace ingot::detail

namespace ingot {

namespace {

/// The indices of the ones in a matrix of ones and zeros.
std::array<array<index_t>, 2> places_of(const array<bool>& ones) {
    auto places = nonzero(ones);
    return {std::move(places[0]), std::move(places[1])};
}

}  // namespace

std::array<array<index_t>, 2> tril_indices(index_t n, index_t offset, std::optional<index_t> columns) {
    return places_of(tri<bool>(n, columns.value_or(n), offset));
}

std::array<array<index_t>, 2> triu_indices(index_t n, index_t offset, std::optional<index_t> columns) {
    return places_of(!tri<bool>(n, columns.value_or(n), offset - 1));
}

}  // namespace ingot
