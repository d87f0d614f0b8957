// Counts points in cells of several variables.
#include <string>
#include <utility>

#include <ingot/core/error.hpp>
#include <ingot/core/host.hpp>
#include <ingot/core/print.hpp>
#include <ingot/statistics/histograms.hpp>

namespace ingot::detail {

std::tuple<array<double>, std::vector<array<double>>> counted_cells(const lazy<double>& points,
                                                                    const bins_of_variables& bins,
                                                                    const histogramdd_options& options) {
    constexpr const char* operation = "histogramdd";
    const shape_like shape = points.shape();
    if (shape.count() != 2)
        throw shape_error("[histogramdd] points of shape " + to_text(shape.values()) +
                          "; a matrix is wanted, a row for each");
    const index_t n = shape[0], variables = shape[1];
    const auto check_number = [&](const char* what, std::size_t given) {
        if (given != static_cast<std::size_t>(variables))
            throw shape_error("[histogramdd] " + std::string(what) + " of " + std::to_string(given) +
                              " variables for " + std::to_string(variables));
    };
    if (!bins.is_for_all()) check_number("bins", bins.all().size());
    if (!options.ranges.empty()) check_number("ranges", options.ranges.size());
    const array<double> given(points);
    std::vector<array<double>> edges;
    std::vector<index_t> cells;
    // The number of each point's cell, or -1.
    lazy<index_t> cell(zeroed<index_t>(operation, std::span(&n, 1), device_of_values(given)));
    for (index_t k = 0; k < variables; ++k) {
        const array<double> values(given(all, k));
        const auto index = static_cast<std::size_t>(k);
        const bins_of_variable& own = bins.all()[bins.is_for_all() ? 0 : index];
        const bin_range range = options.ranges.empty() ? bin_range() : options.ranges[index];
        edges.push_back(own.edges ? given_edges(operation, *own.edges)
                                  : edges_on<double>(device_of_values(values), operation,
                                                     bins_over<dtype::f8>(operation, own.count, range, values)));
        cells.push_back(edges.back().size() > 1 ? edges.back().size() - 1 : 0);
        const array<index_t> bin(bin_of(values, edges.back()));
        cell = where(cell < 0 || bin < 0, index_t{-1}, cell * cells.back() + bin);
    }
    const index_t all_cells = extents_ref::of(cells).size();
    const array<index_t> at(cell);
    array<double> counts;
    if (options.weights) {
        const shape_like weights = options.weights->shape();
        if (weights != shape_like(n)) throw_other_size(operation, "weights", weights.values(), shape_like(n).values());
        counts = sums_of_floats(operation, all_cells, *options.weights, as_node(at));
    } else {
        counts = array<double>(as_values<double>(scattered_sums<index_t>(operation, all_cells, 1, as_node(at))));
    }
    lazy<double> h(reshape(counts, cells));
    if (options.density && all_cells != 0) {
        for (index_t k = 0; k < variables; ++k) {
            const array<double>& e = edges[static_cast<std::size_t>(k)];
            std::vector<index_t> along(cells.size(), 1);
            along[static_cast<std::size_t>(k)] = -1;
            h = h / reshape(e(slice(1, none)) - e(slice(none, -1)), along);
        }
        h = h / sum(counts);
    }
    return {array<double>(h), std::move(edges)};
}

}  // namespace ingot::detail
