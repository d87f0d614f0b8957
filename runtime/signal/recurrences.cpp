// Recurrences by blocks. With the state z, a filter is z' = A z + B u, y = C z + D u. A block of n steps is a filter of
// the same kind, whose operand and result are vectors of n elements: its matrices are responses to one element each,
// found by the recurrence. One product of matrices gives all blocks' results from rest and the states that they leave;
// these are the operand of the recurrence from block to block, whose result, the states that enter, adds a few products
// to each element.
#include <ingot/signal/recurrences.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <ingot/core/joins.hpp>
#include <ingot/core/padding.hpp>
#include <ingot/linalg/products.hpp>
#include <ingot/ndimage/filters.hpp>

#include "runtime/signal/signals.hpp"

namespace ingot::detail {

using runtime::extended;
using runtime::numbers_on;
using runtime::part_of_last;
using runtime::signal_as;
using runtime::signal_axis;
using signal::second_order_sections;
using signal::transfer_function;

namespace {

/// Powers of a transfer function's matrix have elements that nearly cancel; their sums keep float64's precision this
/// way.
using precise = long double;
using precise_vector = std::vector<precise>;

/// A matrix on the host in C order.
struct small_matrix {
    std::size_t rows, columns;
    precise_vector values = precise_vector(rows * columns);
    precise& operator()(std::size_t i, std::size_t j) { return values[i * columns + j]; }
    precise operator()(std::size_t i, std::size_t j) const { return values[i * columns + j]; }
};
small_matrix identity_of(std::size_t n) {
    small_matrix m{n, n};
    for (std::size_t i = 0; i < n; ++i) m(i, i) = 1;
    return m;
}
/// m v.
precise_vector times(const small_matrix& m, const precise_vector& v) {
    precise_vector product(m.rows);
    for (std::size_t i = 0; i < m.rows; ++i)
        for (std::size_t j = 0; j < m.columns; ++j) product[i] += m(i, j) * v[j];
    return product;
}
precise_vector column_of(const small_matrix& m, std::size_t j) {
    precise_vector v(m.rows);
    for (std::size_t i = 0; i < m.rows; ++i) v[i] = m(i, j);
    return v;
}

/// z' = A z + B u, y = C z + D u.
struct state_space {
    small_matrix a, b, c, d;
    std::size_t states() const { return a.rows; }
    std::size_t inputs() const { return b.columns; }
    std::size_t outputs() const { return c.rows; }
};

/// The steps that are one block, from rest or from a state.
struct block_response {
    small_matrix from_rest;   // (inputs, outputs and the state at the end)
    small_matrix from_state;  // (state, outputs)
    small_matrix to_state;    // (state, the state at the end)
};
block_response response_of(const state_space& s, std::size_t steps) {
    const std::size_t p = s.inputs(), q = s.outputs(), n = s.states();
    block_response r{{steps * p, steps * q + n}, {n, steps * q}, {n, n}};
    for (std::size_t i = 0; i < n; ++i) {
        precise_vector z(n);
        z[i] = 1;
        for (std::size_t t = 0; t < steps; ++t) {
            std::ranges::copy(times(s.c, z), &r.from_state(i, t * q));
            z = times(s.a, z);
        }
        std::ranges::copy(z, &r.to_state(i, 0));
    }
    for (std::size_t i = 0; i < p; ++i) {
        precise_vector y = column_of(s.d, i), z = column_of(s.b, i);
        for (std::size_t t = 0; t < steps; ++t) {
            for (std::size_t from = 0; from + t < steps; ++from)
                std::ranges::copy(y, &r.from_rest(from * p + i, (from + t) * q));
            std::ranges::copy(z, &r.from_rest((steps - 1 - t) * p + i, steps * q));
            y = times(s.c, z);
            z = times(s.a, z);
        }
    }
    return r;
}
/// The recurrence from block to block: it takes the states that blocks leave and gives those that enter.
state_space next_level(const small_matrix& to_state) {
    const std::size_t n = to_state.rows;
    small_matrix a{n, n};
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) a(i, j) = to_state(j, i);
    return {a, identity_of(n), identity_of(n), {n, n}};
}

/// Sections in cascade; a section's coefficients of equal number, a0 is 1.
using cascade = std::vector<transfer_function>;

std::size_t states_of(const transfer_function& section) { return section.b.size() - 1; }
std::size_t states_of(const cascade& all) {
    return std::accumulate(all.begin(), all.end(), std::size_t{0},
                           [](std::size_t n, const transfer_function& s) { return n + states_of(s); });
}

/// One step of all sections in the transposed direct form II.
precise step(const cascade& all, precise_vector& z, precise x) {
    precise* at = z.data();
    for (const transfer_function& s : all) {
        const std::size_t n = states_of(s);
        const precise y = s.b[0] * x + (n > 0 ? at[0] : 0);
        for (std::size_t i = 0; i < n; ++i) at[i] = s.b[i + 1] * x - s.a[i + 1] * y + (i + 1 < n ? at[i + 1] : 0);
        x = y;
        at += n;
    }
    return x;
}
state_space state_space_of(const cascade& all) {
    const std::size_t n = states_of(all);
    state_space s{{n, n}, {n, 1}, {1, n}, {1, 1}};
    precise_vector z(n);
    s.d(0, 0) = step(all, z, 1);
    for (std::size_t i = 0; i < n; ++i) s.b(i, 0) = z[i];
    for (std::size_t j = 0; j < n; ++j) {
        precise_vector unit(n);
        unit[j] = 1;
        s.c(0, j) = step(all, unit, 0);
        for (std::size_t i = 0; i < n; ++i) s.a(i, j) = unit[i];
    }
    return s;
}

[[noreturn]] void throw_bad_filter(const char* operation, const std::string& what) {
    throw error("[" + std::string(operation) + "] " + what);
}
transfer_function normalised(const char* operation, std::vector<double> b, std::vector<double> a) {
    if (a.empty() || b.empty()) throw_bad_filter(operation, "no coefficients; b and a want one each");
    if (a[0] == 0) throw_bad_filter(operation, "a0 is 0; another number is wanted");
    const double first = a[0];
    for (std::vector<double>* all : {&b, &a})
        for (double& value : *all) value /= first;
    const std::size_t n = std::max(b.size(), a.size());
    b.resize(n), a.resize(n);
    return {std::move(b), std::move(a)};
}
cascade cascade_of(const char* operation, const second_order_sections& sos) {
    if (sos.empty()) throw_bad_filter(operation, "no section; at least one is wanted");
    cascade all;
    for (const std::array<double, 6>& s : sos)
        all.push_back(normalised(operation, {s[0], s[1], s[2]}, {s[3], s[4], s[5]}));
    return all;
}

/// The steps of a block at the first level, and at the others, whose operands are vectors of states.
index_t steps_of_block(const state_space& s) {
    const std::size_t n = s.states();
    if (s.inputs() == 1) {
        std::size_t steps = 32;
        while (steps < 4 * n) steps *= 2;
        return static_cast<index_t>(steps);
    }
    return static_cast<index_t>(std::max<std::size_t>(2, 64 / n));
}

template <class T>
using wide = std::conditional_t<kind_of(dtype_of<T>) == kind::complex, std::complex<double>, double>;

/// Rows of n steps through a recurrence, evaluated now; the state in which they end is left in `end` where it is given.
template <class T>
lazy<T> respond(const state_space& s, const lazy<T>& u, index_t n, const std::optional<lazy<wide<T>>>& start,
                lazy<wide<T>>* end, ingot::device where) {
    using W = wide<T>;
    const auto p = static_cast<index_t>(s.inputs()), q = static_cast<index_t>(s.outputs());
    const auto d = static_cast<index_t>(s.states());
    const index_t rows = u.shape()[0], steps = std::min(n, steps_of_block(s)), blocks = (n + steps - 1) / steps;
    const block_response r = response_of(s, static_cast<std::size_t>(steps));
    const auto on_device = [&]<class N>(std::type_identity<N>, const small_matrix& m) {
        return numbers_on<N>(where, {m.values.begin(), m.values.end()},
                             {static_cast<index_t>(m.rows), static_cast<index_t>(m.columns)});
    };
    const std::type_identity<T> own{};
    const std::type_identity<W> widest{};

    const index_t beyond = blocks * steps - n;
    const lazy<T> whole = beyond == 0 ? u : lazy<T>(pad(u, {{0, 0}, {0, beyond * p}}));
    const array<T> from_rest = on_device(own, r.from_rest);
    const lazy<T> cut = reshape(whole, {rows * blocks, steps * p});
    const lazy<T> made = blocks > 1 ? lazy<T>(array<T>(matmul(cut, from_rest)))
                                    : lazy<T>(matmul(cut, from_rest(all, slice(0, steps * q))));
    lazy<T> y = blocks > 1 ? part_of_last(made, 0, steps * q) : made;
    std::optional<lazy<W>> last = start;  // the state that enters the last block
    if (start || blocks > 1) {
        lazy<W> entering = start ? *start : lazy<W>(zeros<W>({rows, d}));
        if (blocks > 1) {
            const lazy<W> left = reshape(lazy<W>(part_of_last(made, steps * q, steps * q + d)), {rows, blocks * d});
            entering = respond<W>(next_level(r.to_state), left, blocks, start, nullptr, where);
            last = part_of_last(entering, (blocks - 1) * d, blocks * d);
        }
        const lazy<T> z = astype<T>(reshape(entering, {rows * blocks, d}));
        const array<T> from_state = on_device(own, r.from_state);
        if (d <= 8)
            for (index_t i = 0; i < d; ++i) y = y + z(all, slice(i, i + 1)) * from_state(i);
        else
            y = y + matmul(z, from_state);
    }
    if (end != nullptr) {
        const index_t rest = n - (blocks - 1) * steps, behind = steps * q;
        const array<W> to_end = on_device(widest, r.from_rest)(slice((steps - rest) * p, none), slice(behind, none));
        *end = matmul(lazy<W>(part_of_last(u, (n - rest) * p, n * p)), to_end);
        if (last)
            *end = *end + matmul(*last, on_device(widest, response_of(s, static_cast<std::size_t>(rest)).to_state));
    }
    // An array in another shape is a view; an expression would find each element's block by divisions.
    const lazy<T> result = reshape(array<T>(y), {rows, blocks * steps * q});
    return beyond == 0 ? result : part_of_last(result, 0, n * q);
}

/// Rows through a cascade.
template <class T>
lazy<T> filtered_rows(const cascade& f, const lazy<T>& x, const std::optional<lazy<wide<T>>>& start, lazy<wide<T>>* end,
                      ingot::device where) {
    const state_space s = state_space_of(f);
    if (s.states() == 0) return x * s.d(0, 0);
    return respond<T>(s, x, x.shape()[1], start, end, where);
}

bool is_empty_signal(const image& e) { return e.tree->extents().size() == 0; }
bool has_taps_alone(const transfer_function& f) {
    return std::all_of(f.a.begin() + 1, f.a.end(), [](double a) { return a == 0; });
}

tree_ref from_rest(const image& e, const signal_axis& a, const cascade& f) {
    return runtime::with_signal_type(e.type, [&]<class T>(std::type_identity<T>) {
        const lazy<T> x = signal_as<T>(e);
        if (is_empty_signal(e)) return x.tree();
        return from_rows(filtered_rows<T>(f, rows_of(x, a), std::nullopt, nullptr, runtime::device_of(e)), a).tree();
    });
}

/// Shape of a state: of lfilter's, or of sosfilt's with the sections first.
std::vector<index_t> shape_of_state(const signal_axis& a, index_t sections, index_t states) {
    std::vector<index_t> shape = a.others;
    shape.insert(shape.begin() + a.axis, states);
    if (sections > 0) shape.insert(shape.begin(), sections);
    return shape;
}

std::array<tree_ref, 2> from_given_state(const char* operation, const image& e, const signal_axis& a, const cascade& f,
                                         bool by_section, const image& zi) {
    const auto sections = static_cast<index_t>(by_section ? f.size() : 0);
    const auto d = static_cast<index_t>(states_of(f)), of_one = by_section ? 2 : d;
    const std::vector<index_t> wanted = shape_of_state(a, sections, of_one);
    if (!std::ranges::equal(zi.tree->extents().span(), wanted))
        throw shape_error("[" + std::string(operation) + "] a state of shape " + to_text(zi.tree->extents().span()) +
                          "; " + to_text(wanted) + " is wanted");
    if (kind_of(zi.type) == kind::complex && kind_of(e.type) != kind::complex)
        throw dtype_error("[" + std::string(operation) + "] a state of " + std::string(name(zi.type)) +
                          " for a signal of " + std::string(name(e.type)) + "; real numbers are wanted");
    return runtime::with_signal_type(e.type, [&]<class T>(std::type_identity<T>) -> std::array<tree_ref, 2> {
        using W = wide<T>;
        const lazy<T> x = signal_as<T>(e);
        const lazy<W> given = signal_as<W>(zi);
        if (is_empty_signal(e) || d == 0) return {x.tree(), signal_as<T>(zi).tree()};
        const index_t shift = by_section ? 1 : 0;
        lazy<W> rows = moveaxis(given, a.axis + shift, -1);
        if (by_section) rows = moveaxis(rows, 0, -2);
        lazy<W> end = rows;
        const lazy<T> y =
            filtered_rows<T>(f, rows_of(x, a), lazy<W>(reshape(rows, {a.rows, d})), &end, runtime::device_of(e));
        std::vector<index_t> shape = a.others;
        if (by_section) shape.push_back(sections);
        shape.push_back(of_one);
        lazy<T> zf = astype<T>(reshape(end, shape_like(shape)));
        if (by_section) zf = moveaxis(zf, -2, 0);
        zf = moveaxis(zf, -1, a.axis + shift);
        return {from_rows(y, a).tree(), zf.tree()};
    });
}

/// `steady`: the state for a signal of ones.
tree_ref both_ways(const char* operation, const image& e, index_t axis, const cascade& f,
                   const std::vector<double>& steady, index_t coefficients, const signal::filtfilt_options& how) {
    const signal_axis a = runtime::axis_of_signal(operation, e, axis);
    const index_t edge = how.padtype == signal::extension::none ? 0 : how.padlen.value_or(3 * coefficients);
    if (edge < 0 || edge >= a.extent)
        throw shape_error("[" + std::string(operation) + "] an axis of " + std::to_string(a.extent) +
                          " elements, extended by " + std::to_string(edge) + "; a longer one is wanted");
    return runtime::with_signal_type(e.type, [&]<class T>(std::type_identity<T>) {
        using W = wide<T>;
        const ingot::device where = runtime::device_of(e);
        const lazy<T> given = rows_of(lazy<T>(array<T>(signal_as<T>(e))), a);
        lazy<T> x = edge == 0 ? given : extended(given, edge, how.padtype);
        const array<W> state = numbers_on<W>(where, steady, {1, static_cast<index_t>(steady.size())});
        for (int time = 0; time < 2; ++time) {
            x = array<T>(x);
            const lazy<W> start = lazy<W>(part_of_last(x, 0, 1)) * state;
            x = flip(filtered_rows<T>(f, x, steady.empty() ? std::nullopt : std::optional(start), nullptr, where), 1);
        }
        return from_rows(part_of_last(x, edge, edge + a.extent), a).tree();
    });
}

/// Solves (1 - A^T) z = b for the state that a signal of ones leaves as it is.
std::vector<double> steady_state(const char* operation, const transfer_function& f) {
    const double of_b = std::accumulate(f.b.begin(), f.b.end(), 0.0),
                 of_a = std::accumulate(f.a.begin(), f.a.end(), 0.0);
    std::vector<double> z(states_of(f));
    if (z.empty()) return z;
    if (of_a == 0) throw_bad_filter(operation, "the transfer function has a pole at 1; the state of ones wants none");
    // z_i = b_{i+1} - a_{i+1} g + z_{i+1}, with the gain g.
    const double gain = of_b / of_a;
    for (std::size_t i = z.size(); i-- > 0;) z[i] = f.b[i + 1] - f.a[i + 1] * gain + (i + 1 < z.size() ? z[i + 1] : 0);
    return z;
}
std::vector<double> steady_state(const char* operation, const cascade& all) {
    std::vector<double> states;
    double gain = 1;
    for (const transfer_function& f : all) {
        for (const double z : steady_state(operation, f)) states.push_back(gain * z);
        gain *= std::accumulate(f.b.begin(), f.b.end(), 0.0) / std::accumulate(f.a.begin(), f.a.end(), 0.0);
    }
    return states;
}

}  // namespace

tree_ref by_transfer_function(const char* operation, const image& e, const std::vector<double>& b,
                              const std::vector<double>& a, index_t axis) {
    const transfer_function f = normalised(operation, b, a);
    const signal_axis along = runtime::axis_of_signal(operation, e, axis);
    if (!has_taps_alone(f)) return from_rest(e, along, {f});
    const image x{runtime::as_type({e.tree, e.type}, signal_dtype(e.type)).tree(), signal_dtype(e.type)};
    const auto taps = static_cast<index_t>(f.b.size());
    return correlated_along(operation, x, f.b, along.axis,
                            {.mode = ndimage::border::constant, .cval = 0, .origin = -(taps / 2)}, true);
}

std::array<tree_ref, 2> by_transfer_function_from(const char* operation, const image& e, const std::vector<double>& b,
                                                  const std::vector<double>& a, index_t axis, const image& state) {
    const transfer_function f = normalised(operation, b, a);
    return from_given_state(operation, e, runtime::axis_of_signal(operation, e, axis), {f}, false, state);
}

tree_ref by_sections(const char* operation, const image& e, const second_order_sections& sos, index_t axis) {
    const cascade f = cascade_of(operation, sos);
    return from_rest(e, runtime::axis_of_signal(operation, e, axis), f);
}

std::array<tree_ref, 2> by_sections_from(const char* operation, const image& e, const second_order_sections& sos,
                                         index_t axis, const image& state) {
    const cascade f = cascade_of(operation, sos);
    return from_given_state(operation, e, runtime::axis_of_signal(operation, e, axis), f, true, state);
}

tree_ref forth_and_back(const char* operation, const image& e, const std::vector<double>& b,
                        const std::vector<double>& a, index_t axis, const signal::filtfilt_options& how) {
    const transfer_function f = normalised(operation, b, a);
    return both_ways(operation, e, axis, {f}, steady_state(operation, f), static_cast<index_t>(f.a.size()), how);
}

tree_ref forth_and_back(const char* operation, const image& e, const second_order_sections& sos, index_t axis,
                        const signal::filtfilt_options& how) {
    const cascade f = cascade_of(operation, sos);
    const auto without = [&](std::size_t i) {
        return std::ranges::count_if(sos, [&](const std::array<double, 6>& s) { return s[i] == 0; });
    };
    const index_t coefficients = static_cast<index_t>(2 * sos.size() + 1) - std::min(without(2), without(5));
    return both_ways(operation, e, axis, f, steady_state(operation, f), coefficients, how);
}

}  // namespace ingot::detail

namespace ingot::signal {

std::vector<double> lfilter_zi(const std::vector<double>& b, const std::vector<double>& a) {
    return detail::steady_state("lfilter_zi", detail::normalised("lfilter_zi", b, a));
}

std::vector<std::array<double, 2>> sosfilt_zi(const second_order_sections& sos) {
    const std::vector<double> states = detail::steady_state("sosfilt_zi", detail::cascade_of("sosfilt_zi", sos));
    std::vector<std::array<double, 2>> pairs;
    for (std::size_t i = 0; i < states.size(); i += 2) pairs.push_back({states[i], states[i + 1]});
    return pairs;
}

}  // namespace ingot::signal
