// Recurrences by blocks. A filter makes outputs and its next state of inputs and its state, by matrices. A block of n
// steps is a filter of the same kind, whose operand and result are vectors of n elements: its matrices are responses to
// one element each, found by the recurrence. One product of matrices gives all blocks' results from rest and the states
// that they leave; these are the operand of the recurrence from block to block, whose result, the states that enter,
// adds a few products to each element.
#include <ingot/signal/recurrences.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include <ingot/core/joins.hpp>
#include <ingot/core/padding.hpp>
#include <ingot/linalg/products.hpp>
#include <ingot/ndimage/filters.hpp>
#include <ingot/signal/convolutions.hpp>

#include "runtime/device/graphs.hpp"
#include "runtime/signal/signals.hpp"
#include "runtime/signal/taps.hpp"

namespace ingot::detail {

using runtime::extended;
using runtime::numbers_on;
using runtime::part_of_last;
using runtime::part_of_signal;
using runtime::signal_as;
using runtime::signal_axis;
using signal::second_order_sections;
using signal::transfer_function;

namespace {

/// Responses of a transfer function's states are long and nearly cancel: with float64 alone those of five poles near 1
/// would be known to a few digits.
#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 precise;
#else
using precise = long double;
#endif

/// A matrix on the host in C order.
template <class N>
struct small_matrix {
    std::size_t rows, columns;
    std::vector<N> values = std::vector<N>(rows * columns);
    N& operator()(std::size_t i, std::size_t j) { return values[i * columns + j]; }
    const N& operator()(std::size_t i, std::size_t j) const { return values[i * columns + j]; }
    std::span<N> row(std::size_t i) { return {&values[i * columns], columns}; }
};
template <class N>
small_matrix<N> product_of(const small_matrix<N>& a, const small_matrix<N>& b) {
    small_matrix<N> c{a.rows, b.columns};
    for (std::size_t i = 0; i < a.rows; ++i)
        for (std::size_t k = 0; k < a.columns; ++k)
            for (std::size_t j = 0; j < b.columns; ++j) c(i, j) += a(i, k) * b(k, j);
    return c;
}
/// l^-1 m, of a lower triangular matrix.
template <class N>
small_matrix<N> solved(const small_matrix<N>& l, small_matrix<N> m) {
    for (std::size_t j = 0; j < m.columns; ++j)
        for (std::size_t i = 0; i < m.rows; ++i) {
            for (std::size_t k = 0; k < i; ++k) m(i, j) -= l(i, k) * m(k, j);
            m(i, j) /= l(i, i);
        }
    return m;
}

/// Sections in cascade; a section's coefficients of equal number, a0 is 1.
using cascade = std::vector<transfer_function>;

std::size_t states_of(const transfer_function& section) { return section.b.size() - 1; }
std::size_t states_of(const cascade& all_sections) {
    return std::accumulate(all_sections.begin(), all_sections.end(), std::size_t{0},
                           [](std::size_t n, const transfer_function& s) { return n + states_of(s); });
}
bool has_taps_alone(const transfer_function& f) {
    return std::all_of(f.a.begin() + 1, f.a.end(), [](double a) { return a == 0; });
}

constexpr std::size_t no_input = static_cast<std::size_t>(-1);

/// Sections step by step, in the transposed direct form II. `advance` makes one step with 1 at an input, or from the
/// state alone, and returns the outputs.
template <class N>
struct sections_system {
    using number = N;
    const cascade& sections;
    std::size_t states() const { return states_of(sections); }
    static constexpr std::size_t width() { return 1; }
    std::vector<N> advance(std::vector<N>& z, std::size_t input) const {
        N x = input == no_input ? 0 : 1;
        N* at = z.data();
        for (const transfer_function& s : sections) {
            const std::size_t n = states_of(s);
            const N y = s.b[0] * x + (n > 0 ? at[0] : 0);
            for (std::size_t i = 0; i < n; ++i) at[i] = s.b[i + 1] * x - s.a[i + 1] * y + (i + 1 < n ? at[i + 1] : 0);
            x = y;
            at += n;
        }
        return {x};
    }
};
/// Blocks: their inputs are the states that blocks leave, their outputs those that enter.
struct blocks_system {
    using number = long double;
    small_matrix<number> to_state;
    std::size_t states() const { return to_state.rows; }
    std::size_t width() const { return to_state.rows; }
    std::vector<number> advance(std::vector<number>& z, std::size_t input) const {
        std::vector<number> next(z.size());
        for (std::size_t i = 0; i < z.size(); ++i)
            for (std::size_t j = 0; j < z.size(); ++j) next[j] += z[i] * to_state(i, j);
        if (input != no_input) next[input] += 1;
        std::swap(z, next);
        return next;
    }
};

/// The steps that are one block, from rest or from a state.
template <class N>
struct block_response {
    small_matrix<N> from_rest;   // (inputs, outputs and the state at the end)
    small_matrix<N> from_state;  // (state, outputs)
    small_matrix<N> to_state;    // (state, the state at the end)
};
template <class S, class N = typename S::number>
block_response<N> response_of(const S& s, std::size_t steps) {
    const std::size_t p = s.width(), n = s.states();
    block_response<N> r{{steps * p, steps * p + n}, {n, steps * p}, {n, n}};
    for (std::size_t i = 0; i < n; ++i) {
        std::vector<N> z(n);
        z[i] = 1;
        for (std::size_t t = 0; t < steps; ++t) std::ranges::copy(s.advance(z, no_input), &r.from_state(i, t * p));
        std::ranges::copy(z, r.to_state.row(i).begin());
    }
    for (std::size_t i = 0; i < p; ++i) {
        std::vector<N> z(n);
        for (std::size_t t = 0; t < steps; ++t) {
            const std::vector<N> y = s.advance(z, t == 0 ? i : no_input);
            for (std::size_t from = 0; from + t < steps; ++from)
                std::ranges::copy(y, &r.from_rest(from * p + i, (from + t) * p));
            std::ranges::copy(z, &r.from_rest((steps - 1 - t) * p + i, steps * p));
        }
    }
    return r;
}

/// Whether the states' responses may nearly cancel, as those of sections do not.
bool may_cancel(const cascade& f) { return f.size() == 1 && states_of(f) > 2 && !has_taps_alone(f[0]); }

template <class N>
N root_of(N x) {
    N root = std::sqrt(static_cast<double>(x));
    for (int k = 0; k < 2; ++k) root = (root + x / root) / 2;
    return root;
}
/// The lower triangular l of m = l q, where q's rows are orthonormal and replace m's.
template <class N>
small_matrix<N> orthonormalise(small_matrix<N>& m) {
    small_matrix<N> l{m.rows, m.rows};
    for (std::size_t i = 0; i < m.rows; ++i) {
        const std::span<N> row = m.row(i);
        for (int time = 0; time < 2; ++time)
            for (std::size_t k = 0; k < i; ++k) {
                const N along = std::inner_product(row.begin(), row.end(), m.row(k).begin(), N{0});
                l(i, k) += along;
                for (std::size_t j = 0; j < row.size(); ++j) row[j] -= along * m(k, j);
            }
        l(i, i) = root_of(std::inner_product(row.begin(), row.end(), row.begin(), N{0}));
        for (N& x : row) x /= l(i, i);
    }
    return l;
}
/// Counts states in coordinates in which their responses are orthonormal: then no error of a state grows. Returns the
/// coordinates of the states that they replace.
template <class N>
small_matrix<N> with_orthonormal_responses(block_response<N>& r) {
    const small_matrix<N> l = orthonormalise(r.from_state);
    r.to_state = product_of(solved(l, r.to_state), l);
    const std::size_t n = l.rows, first = r.from_rest.columns - n;
    for (std::size_t i = 0; i < r.from_rest.rows; ++i) {
        const std::span<N> ends = r.from_rest.row(i).subspan(first);
        std::vector<N> changed(n);
        for (std::size_t k = 0; k < n; ++k)
            for (std::size_t j = 0; j <= k; ++j) changed[j] += ends[k] * l(k, j);
        std::ranges::copy(changed, ends.begin());
    }
    return l;
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
template <class N>
index_t steps_of_block(const sections_system<N>& s, index_t n) {
    index_t steps = 32;
    while (steps < 4 * static_cast<index_t>(s.states())) steps *= 2;
    // A divisor of n needs no copy with zeros behind.
    for (index_t divisor = steps; divisor < 2 * steps; ++divisor)
        if (n % divisor == 0) return divisor;
    return steps;
}
index_t steps_of_block(const blocks_system& s, index_t) {
    return static_cast<index_t>(std::max<std::size_t>(2, 64 / s.states()));
}

template <class T>
using wide = std::conditional_t<kind_of(dtype_of<T>) == kind::complex, std::complex<double>, double>;

template <class T, class N>
array<T> on_device(ingot::device where, const small_matrix<N>& m) {
    return numbers_on<T>(where, {m.values.begin(), m.values.end()},
                         {static_cast<index_t>(m.rows), static_cast<index_t>(m.columns)});
}

/// States that blocks leave, (outer * blocks, d, inner), as rows for each of outer and inner; and back.
template <class T>
lazy<T> rows_of_states(const lazy<T>& e, index_t outer, index_t inner) {
    const index_t blocks = e.shape()[0] / outer, d = e.shape()[1];
    const lazy<T> apart = reshape(e, {outer, blocks, d, inner});
    return reshape(lazy<T>(moveaxis(apart, 3, 1)), {outer * inner, blocks * d});
}
template <class T>
lazy<T> states_of_blocks(const lazy<T>& rows, index_t outer, index_t inner, index_t d) {
    const index_t blocks = rows.shape()[1] / d;
    const lazy<T> apart = reshape(rows, {outer, inner, blocks, d});
    return reshape(lazy<T>(moveaxis(apart, 1, 3)), {outer * blocks, d, inner});
}

/// Signals (outer, n, inner), with steps along the middle axis, through a recurrence, evaluated now; the states in
/// which they end are left in `end` where it is given. A state is a row for each of outer and inner.
template <class T, class S>
lazy<T> respond(const S& s, const lazy<T>& u, const std::optional<lazy<wide<T>>>& start, lazy<wide<T>>* end,
                ingot::device where) {
    using W = wide<T>;
    using N = typename S::number;
    const auto p = static_cast<index_t>(s.width()), d = static_cast<index_t>(s.states());
    const index_t outer = u.shape()[0], n = u.shape()[1] / p, inner = u.shape()[2];
    const index_t steps = std::min(n, steps_of_block(s, n)), blocks = (n + steps - 1) / steps;
    block_response<N> r = response_of(s, static_cast<std::size_t>(steps));
    std::optional<small_matrix<N>> coordinates;
    if constexpr (requires { s.sections; })
        if (blocks > 1 && may_cancel(s.sections)) coordinates = with_orthonormal_responses(r);

    const index_t beyond = blocks * steps - n, outputs = steps * p;
    const lazy<T> whole = beyond == 0 ? u : lazy<T>(pad(u, {{0, 0}, {0, beyond * p}, {0, 0}}));
    // A block of contiguous steps is a row of the product's left matrix, others are columns of its right one.
    const bool contiguous = inner == 1;
    const array<T> all_from_rest = on_device<T>(where, r.from_rest), from_state = on_device<T>(where, r.from_state);
    const lazy<T> from_rest = blocks > 1 ? lazy<T>(all_from_rest) : lazy<T>(all_from_rest(all, slice(0, outputs)));
    const lazy<T> cut = contiguous ? lazy<T>(reshape(whole, {outer * blocks, outputs}))
                                   : lazy<T>(reshape(whole, {outer * blocks, outputs, inner}));
    lazy<T> made = contiguous ? lazy<T>(matmul(cut, from_rest)) : lazy<T>(matmul(transpose(from_rest), cut));
    if (blocks > 1) made = array<T>(made);
    lazy<T> y = made(all, slice(0, outputs));
    std::optional<lazy<W>> entering = start;
    if (start && coordinates) entering = matmul(*start, on_device<W>(where, *coordinates));
    if (blocks > 1) {
        blocks_system between{{r.to_state.rows, r.to_state.columns}};
        for (std::size_t i = 0; i < between.to_state.values.size(); ++i)
            between.to_state.values[i] = static_cast<long double>(r.to_state.values[i]);
        const lazy<W> left = made(all, slice(outputs, outputs + d));
        const lazy<W> rows =
            contiguous ? lazy<W>(reshape(left, {outer, blocks * d})) : rows_of_states(left, outer, inner);
        const lazy<W> levels = respond<W>(between, lazy<W>(rows(ellipsis, newaxis)), entering, nullptr, where);
        entering = levels(all, all, 0);
    }
    if (entering) {
        const lazy<T> given = astype<T>(*entering);
        const lazy<T> z =
            contiguous ? lazy<T>(reshape(given, {outer * blocks, d})) : states_of_blocks(given, outer, inner, d);
        if (d > 8)
            y = contiguous ? lazy<T>(y + matmul(z, from_state)) : lazy<T>(y + matmul(transpose(from_state), z));
        else
            for (index_t i = 0; i < d; ++i)
                y = y + z(all, slice(i, i + 1)) *
                            (contiguous ? lazy<T>(from_state(i)) : lazy<T>(from_state(i, ellipsis, newaxis)));
    }
    if (end != nullptr) {
        // The last block's elements in the states' own coordinates.
        const index_t rest = n - (blocks - 1) * steps;
        const block_response<N> last = response_of(s, static_cast<std::size_t>(rest));
        const array<W> to_end = on_device<W>(where, last.from_rest)(all, slice(rest * p, none));
        const lazy<W> elements = moveaxis(lazy<W>(u(all, slice((n - rest) * p, n * p))), 2, 1);
        *end = matmul(lazy<W>(reshape(elements, {outer * inner, rest * p})), to_end);
        if (entering) {
            const small_matrix<N> to_state = coordinates ? solved(*coordinates, last.to_state) : last.to_state;
            *end = *end + matmul(part_of_last(*entering, (blocks - 1) * d, blocks * d), on_device<W>(where, to_state));
        }
    }
    // An array in another shape is a view; an expression would find each element's block by divisions.
    const lazy<T> result = reshape(array<T>(y), {outer, blocks * outputs, inner});
    return beyond == 0 ? result : lazy<T>(result(all, slice(0, n * p)));
}

/// Signals (outer, n, inner), of which those that are broken are filtered step by step.
template <class T>
lazy<T> step_by_step(const cascade& f, const lazy<T>& x, const std::optional<lazy<wide<T>>>& start, lazy<wide<T>>* end,
                     const array<T>& y, const std::vector<bool>& is_broken, ingot::device where) {
    using W = wide<T>;
    const shape_like shape = x.shape();
    const auto n = static_cast<std::size_t>(shape[1]), inner = static_cast<std::size_t>(shape[2]), d = states_of(f);
    const std::vector<T> given = array<T>(x).to_host();
    std::vector<T> results = y.to_host();
    std::vector<W> first = start ? array<W>(*start).to_host() : std::vector<W>(d * is_broken.size());
    std::vector<W> last = end != nullptr ? array<W>(*end).to_host() : first;
    // A state is a row for each of outer and inner; one row may stand for all.
    const std::size_t apart = first.size() > d ? d : 0;
    for (std::size_t row = 0; row < is_broken.size(); ++row) {
        if (!is_broken[row]) continue;
        std::vector<W> z(first.begin() + static_cast<std::ptrdiff_t>(row * apart),
                         first.begin() + static_cast<std::ptrdiff_t>(row * apart + d));
        for (std::size_t k = 0; k < n; ++k) {
            const std::size_t at = (row / inner * n + k) * inner + row % inner;
            W value = static_cast<W>(given[at]);
            W* state = z.data();
            for (const transfer_function& s : f) {
                const std::size_t count = states_of(s);
                const W made = s.b[0] * value + (count > 0 ? state[0] : W(0));
                for (std::size_t i = 0; i < count; ++i)
                    state[i] = s.b[i + 1] * value - s.a[i + 1] * made + (i + 1 < count ? state[i + 1] : W(0));
                value = made;
                state += count;
            }
            results[at] = static_cast<T>(value);
        }
        if (end != nullptr) std::ranges::copy(z, last.begin() + static_cast<std::ptrdiff_t>(row * d));
    }
    if (end != nullptr) *end = asarray(last, end->shape()).to(where);
    return lazy<T>(asarray(results, shape).to(where));
}

/// Signals (outer, n, inner) through a cascade. In a product of matrices NaN and infinity reach the elements before
/// them, too, and powers of a filter that is unstable overflow: a signal whose last result says so is filtered step by
/// step on the host. A graph that is recorded cannot ask.
template <class T>
lazy<T> filtered_signals(const cascade& f, const lazy<T>& x, const std::optional<lazy<wide<T>>>& start,
                         lazy<wide<T>>* end, ingot::device where) {
    if (states_of(f) == 0)
        return x * std::accumulate(f.begin(), f.end(), part_of_signal<T>(1), [](auto gain, const auto& s) {
                   return gain * static_cast<part_of_signal<T>>(s.b[0]);
               });
    const lazy<T> y = may_cancel(f) ? respond<T>(sections_system<precise>{f}, x, start, end, where)
                                    : respond<T>(sections_system<long double>{f}, x, start, end, where);
    if (runtime::capture_of_thread() != nullptr) return y;
    const array<bool> is_broken(!isfinite(y(all, -1)));
    if (!any(is_broken).item()) return y;
    return step_by_step<T>(f, x, start, end, array<T>(y), is_broken.to_host(), where);
}
template <class T>
lazy<T> filtered_rows(const cascade& f, const lazy<T>& x, const std::optional<lazy<wide<T>>>& start, lazy<wide<T>>* end,
                      ingot::device where) {
    return filtered_signals<T>(f, lazy<T>(x(ellipsis, newaxis)), start, end, where)(all, all, 0);
}
/// Signals along an axis. Axes behind it stay there where they have enough elements for a product of matrices.
template <class T>
lazy<T> filtered_along(const cascade& f, const lazy<T>& x, const signal_axis& a,
                       const std::optional<lazy<wide<T>>>& start, lazy<wide<T>>* end, ingot::device where) {
    constexpr index_t least_columns = 16;
    index_t inner = 1;
    const shape_like shape = x.shape();
    for (int j = a.axis + 1; j < shape.count(); ++j) inner *= shape[j];
    if (inner < least_columns) return from_rows(filtered_rows<T>(f, rows_of(x, a), start, end, where), a);
    const lazy<T> side_by_side = reshape(x, {a.rows / inner, a.extent, inner});
    return reshape(filtered_signals<T>(f, side_by_side, start, end, where), shape);
}

bool is_empty_signal(const image& e) { return e.tree->extents().size() == 0; }

tree_ref from_rest(const image& e, const signal_axis& a, const cascade& f) {
    return runtime::with_signal_type(e.type, [&]<class T>(std::type_identity<T>) {
        const lazy<T> x = signal_as<T>(e);
        if (is_empty_signal(e)) return x.tree();
        return filtered_along<T>(f, x, a, std::nullopt, nullptr, runtime::device_of(e)).tree();
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
        if (is_empty_signal(e)) return {x.tree(), signal_as<T>(zi).tree()};
        const index_t shift = by_section ? 1 : 0;
        lazy<W> rows = moveaxis(given, a.axis + shift, -1);
        if (by_section) rows = moveaxis(rows, 0, -2);
        lazy<W> end = rows;
        const lazy<T> y = filtered_along<T>(f, x, a, lazy<W>(reshape(rows, {a.rows, d})), &end, runtime::device_of(e));
        std::vector<index_t> shape = a.others;
        if (by_section) shape.push_back(sections);
        shape.push_back(of_one);
        lazy<T> zf = astype<T>(reshape(end, shape_like(shape)));
        if (by_section) zf = moveaxis(zf, -2, 0);
        zf = moveaxis(zf, -1, a.axis + shift);
        return {y.tree(), zf.tree()};
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

/// A signal with very many taps, by transforms of blocks.
tree_ref convolved_by_blocks(const char* operation, const image& x, const signal_axis& a,
                             const std::vector<double>& taps) {
    const ingot::device where = runtime::device_of(x);
    std::vector<index_t> shape(a.others.size() + 1, 1);
    shape[static_cast<std::size_t>(a.axis)] = static_cast<index_t>(taps.size());
    const bool single = x.type == dtype::f4 || x.type == dtype::c8;
    const image b = single ? image(numbers_on<float>(where, taps, shape_like(shape)))
                           : image(numbers_on<double>(where, taps, shape_like(shape)));
    const axes over(a.axis);
    const tree_ref full = convolved_by_transforms(operation, x, b, convolve_mode::full, &over, true);
    view_room view;
    view_sliced(view, full->extents(), operation, a.axis, as_index_item(slice(0, a.extent)));
    return view_tree(full, view, 0);
}

}  // namespace

tree_ref by_transfer_function(const char* operation, const image& e, const std::vector<double>& b,
                              const std::vector<double>& a, index_t axis) {
    const transfer_function f = normalised(operation, b, a);
    const signal_axis along = runtime::axis_of_signal(operation, e, axis);
    if (!has_taps_alone(f) || is_empty_signal(e)) return from_rest(e, along, {f});
    const image x{runtime::as_type({e.tree, e.type}, signal_dtype(e.type)).tree(), signal_dtype(e.type)};
    constexpr std::size_t most_in_one_expression = 8, most_in_products = 1024;
    // NaN and infinity reach all results of a block's transform.
    const auto is_finite = [&] {
        return runtime::capture_of_thread() != nullptr ||
               runtime::with_signal_type(x.type, [&]<class T>(std::type_identity<T>) {
                   return bool(ingot::all(isfinite(signal_as<T>(x))).item());
               });
    };
    if (f.b.size() > most_in_products && is_finite()) return convolved_by_blocks(operation, x, along, f.b);
    if (f.b.size() > most_in_one_expression) return convolved_by_products(x, along, f.b);
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

std::vector<double> lfilter_zi(const detail::number_row& b, const detail::number_row& a) {
    return detail::steady_state("lfilter_zi", detail::normalised("lfilter_zi", b.values(), a.values()));
}

std::vector<std::array<double, 2>> sosfilt_zi(const second_order_sections& sos) {
    const std::vector<double> states = detail::steady_state("sosfilt_zi", detail::cascade_of("sosfilt_zi", sos));
    std::vector<std::array<double, 2>> pairs;
    for (std::size_t i = 0; i < states.size(); i += 2) pairs.push_back({states[i], states[i + 1]});
    return pairs;
}

}  // namespace ingot::signal
