#include "tests/parity/sweep.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <ingot/core/device.hpp>

namespace ingot::testing {

namespace {

using detail::kind;
using detail::op;
using detail::rule;

constexpr dtype all_dtypes[] = {dtype::b1, dtype::i1, dtype::u1, dtype::i2, dtype::u2, dtype::i4, dtype::u4, dtype::i8,
                                dtype::u8, dtype::f2, dtype::bf, dtype::f4, dtype::f8, dtype::c8, dtype::c16};

// ---- what is asked ------------------------------------------------------------------------------------------------

bool is_complex(dtype t) { return detail::kind_of(t) == kind::complex; }
bool is_floating(dtype t) { return detail::kind_of(t) == kind::floating; }

sweep_case make_case(op row, std::span<const dtype> types, const detail::signature& s) {
    sweep_case c;
    c.row = row;
    c.result = s.result;
    std::copy_n(s.computes.begin(), types.size(), c.computes.begin());
    c.exact = c.bound(detail::evaluator::host) == 0 && c.bound(detail::evaluator::cuda) == 0;
    return c;
}

/// The rows of so many operands that take these dtypes. Special ones have places and groups of their own.
void add_rows(sweep_group& g) {
    const std::vector<dtype>& types = g.types;
    std::vector<detail::operand_type> operands;
    for (const dtype t : types) operands.push_back({t});
    for (std::size_t i = 0; i < detail::op_count; ++i) {
        const op row = static_cast<op>(i);
        const detail::op_facts& facts = detail::facts(row);
        if (!detail::has_function(row) || facts.rule == rule::special || facts.arity != types.size()) continue;
        if (row == op::astype) {
            for (const dtype to : all_dtypes)
                if (to != types[0] && (!is_complex(types[0]) || is_complex(to) || to == dtype::b1))
                    g.cases.push_back(make_case(row, types, {true, {types[0]}, to}));
            continue;
        }
        const detail::signature s = detail::resolve(row, operands.data());
        if (s.legal) g.cases.push_back(make_case(row, types, s));
    }
}

sweep_group group_of(std::vector<dtype> types, std::string places, std::size_t random) {
    sweep_group g;
    g.types = std::move(types);
    g.places = std::move(places);
    g.random = random;
    add_rows(g);
    return g;
}

constexpr std::size_t patterns_of_bound = 20'000;

/// The number of random bit patterns beside the special values: as many as a bound needs, for some dtypes spread over
/// many runs.
std::size_t patterns(dtype t) {
    switch (detail::kind_of(t)) {
        case kind::floating:
            return detail::is_half(t) ? 4'000 : patterns_of_bound;
        case kind::complex:
            return 4'000;
        default:
            return 600;
    }
}

std::vector<sweep_group> list_groups() {
    std::vector<sweep_group> groups;
    const auto add = [&](sweep_group g) {
        if (!g.cases.empty()) groups.push_back(std::move(g));
    };
    const std::size_t n = std::size(all_dtypes);
    for (std::size_t i = 0; i < n; ++i) {
        const dtype t = all_dtypes[i];
        add(group_of({t}, "grid", patterns(t)));
        for (const dtype u : all_dtypes) add(group_of({t, u}, t == u ? "grid" : "few", t == u ? patterns(t) : 0));
        add(group_of({t, t, t}, "few", 600));
        if (t != dtype::b1) add(group_of({dtype::b1, t, t}, "few", 600));
        add(group_of({t, all_dtypes[(i + 4) % n], all_dtypes[(i + 9) % n]}, "few", 0));
        if (!is_floating(t)) continue;
        sweep_group scaled = group_of({t, dtype::i8}, "ldexp", 600);
        std::erase_if(scaled.cases, [](const sweep_case& c) { return c.row != op::ldexp; });
        add(std::move(scaled));
    }
    for (const dtype t : {dtype::f4, dtype::f8}) {
        sweep_group special;
        special.places = "special:";
        for (std::size_t i = 0; i < detail::op_count; ++i) {
            const op row = static_cast<op>(i);
            if (detail::facts(row).rule != rule::special && row != op::erfc) continue;
            special.places += (special.cases.empty() ? "" : ",") + std::string(detail::facts(row).name);
            special.types.push_back(t);
            const detail::operand_type operand{t};
            special.cases.push_back(make_case(row, {&t, 1}, detail::resolve(row, &operand)));
            special.cases.back().first_operand = special.cases.size() - 1;
        }
        groups.push_back(std::move(special));
    }
    return groups;
}

/// Keeps functions with a bound, over dtypes in which they compute.
void keep_inexact(std::vector<sweep_group>& groups) {
    for (sweep_group& g : groups)
        std::erase_if(g.cases, [&](const sweep_case& c) { return c.exact || g.promotes(c) || g.random < 1'000; });
    std::erase_if(groups, [](const sweep_group& g) { return g.cases.empty(); });
    for (sweep_group& g : groups) g.random = patterns_of_bound;
}

// ---- and answered -------------------------------------------------------------------------------------------------

/// The real float in which errors of a result are measured, in bytes.
std::size_t wide_size(dtype result) {
    return result == dtype::f8 || result == dtype::c16 ? sizeof(long double) : sizeof(double);
}

bytes read_bytes(std::ifstream& in, std::size_t n) {
    bytes to(n);
    in.read(reinterpret_cast<char*>(to.data()), static_cast<std::streamsize>(n));
    return to;
}

void read_answers(std::ifstream& in, std::vector<sweep_group>& groups) {
    for (sweep_group& g : groups) {
        const auto number = [&] {
            std::uint64_t n = 0;
            in.read(reinterpret_cast<char*>(&n), sizeof(n));
            return static_cast<std::size_t>(n);
        };
        g.count = number();
        for (std::size_t k = 0; k < g.types.size(); ++k) g.grid.push_back(number());
        if (std::ranges::count(g.grid, 0u) > 0) g.grid.clear();
        for (const dtype t : g.types) g.operands.push_back(read_bytes(in, g.count * detail::size_of(t)));
        for (sweep_case& c : g.cases) {
            if (c.exact) {
                c.answers = read_bytes(in, g.count * detail::size_of(c.result));
                continue;
            }
            const std::size_t wide = wide_size(c.result);
            c.answers = read_bytes(in, g.count * wide * (is_complex(c.result) ? 2 : 1));
            c.scales = read_bytes(in, g.count * wide);
            if (is_complex(c.result)) c.own = read_bytes(in, g.count * detail::size_of(c.result));
        }
    }
}

// ---- judging ------------------------------------------------------------------------------------------------------

template <class T>
T element(const bytes& values, std::size_t i) {
    T x;
    std::memcpy(&x, values.data() + i * sizeof(T), sizeof(T));
    return x;
}

/// f(a value of the dtype's type).
template <class F>
auto with_type(dtype t, F f) {
    switch (t) {
#define INGOT_TYPE(name) \
    case dtype::name:    \
        return f(detail::type_of<dtype::name>{});
        INGOT_TYPE(b1)
        INGOT_TYPE(i1)
        INGOT_TYPE(u1)
        INGOT_TYPE(i2)
        INGOT_TYPE(u2)
        INGOT_TYPE(i4)
        INGOT_TYPE(u4)
        INGOT_TYPE(i8)
        INGOT_TYPE(u8)
        INGOT_TYPE(f2)
        INGOT_TYPE(bf)
        INGOT_TYPE(f4)
        INGOT_TYPE(f8)
        INGOT_TYPE(c8)
#undef INGOT_TYPE
        default:
            return f(detail::type_of<dtype::c16>{});
    }
}

std::string print_element(dtype t, const bytes& values, std::size_t i) {
    std::ostringstream out;
    out.precision(17);
    with_type(t, [&](auto zero) {
        using T = decltype(zero);
        const T x = element<T>(values, i);
        if constexpr (sizeof(T) == 1)
            out << static_cast<int>(x);
        else
            out << x;
    });
    return out.str();
}

/// NumPy's own choice between two zeros depends on its build.
bool either_zero(op row) {
    return row == op::maximum || row == op::minimum || row == op::fmax || row == op::fmin || row == op::clip;
}

template <class T>
bool same_number(T got, T wanted, bool any_zero) {
    if (got != got || wanted != wanted) return got != got && wanted != wanted;
    const auto negative = [](T x) { return std::signbit(static_cast<double>(x)); };
    return got == wanted && (got != T(0) || any_zero || negative(got) == negative(wanted));
}
template <class P>
bool same_number(std::complex<P> got, std::complex<P> wanted, bool any_zero) {
    return same_number(got.real(), wanted.real(), any_zero) && same_number(got.imag(), wanted.imag(), any_zero);
}

template <class T, class Wide>
const Wide beyond_all = std::ldexp(Wide(1), std::numeric_limits<T>::max_exponent);

/// The distance in units of T's last place at `size`, and at no subnormal's. A scale may lie beyond T's numbers.
template <class T, class Wide>
double in_last_places(Wide off, Wide size) {
    using limits = std::numeric_limits<T>;
    int exponent = size == 0 ? limits::min_exponent : std::max(std::ilogb(size) + 1, limits::min_exponent);
    if (size == beyond_all<T, Wide>) exponent = limits::max_exponent;
    return static_cast<double>(std::abs(off) / std::ldexp(Wide(1), exponent - limits::digits));
}

/// Beyond the largest number, 2^max_exponent stands for infinity.
template <class T, class Wide>
double distance(T given, Wide wanted, Wide scale) {
    if (given != given || wanted != wanted)
        return (given != given) == (wanted != wanted) ? 0 : std::numeric_limits<double>::infinity();
    const Wide top = beyond_all<T, Wide>;
    const Wide got = std::clamp<Wide>(static_cast<Wide>(given), -top, top);
    wanted = std::clamp<Wide>(wanted, -top, top);
    if (wanted == 0 && got == 0) return std::signbit(got) == std::signbit(wanted) || scale != 0 ? 0 : 1e9;
    return in_last_places<T>(got - wanted, std::max(std::abs(wanted), scale));
}

/// Compares a part of a complex number. `open`: C leaves its sign open, because the other part is 0, infinite or NaN.
template <class P>
bool alike(P got, P wanted, bool open) {
    if (wanted != wanted) return got != got;
    if (wanted == 0) return got == 0 && (open || std::signbit(got) == std::signbit(wanted));
    if (std::isinf(wanted)) return std::isinf(got) && (open || std::signbit(got) == std::signbit(wanted));
    return std::abs(got - wanted) <= 8 * std::numeric_limits<P>::epsilon() * std::abs(wanted);
}
/// Where a part is NaN, or the argument infinite, C leaves signs open, and often which part is a number.
template <class P>
bool same_special(std::complex<P> got, std::complex<P> wanted, bool open) {
    open = open || std::isnan(wanted.real()) || std::isnan(wanted.imag());
    if (alike(got.real(), wanted.real(), open) && alike(got.imag(), wanted.imag(), open)) return true;
    const auto some_nan = [](auto z) { return std::isnan(z.real()) || std::isnan(z.imag()); };
    const auto some_infinity = [](auto z) { return std::isinf(z.real()) || std::isinf(z.imag()); };
    return open && some_nan(got) && some_infinity(got) == some_infinity(wanted);
}

/// The distance in last places of the absolute value. Special values are NumPy's own, in the result's dtype.
template <class P, class Wide>
double complex_distance(std::complex<P> got, std::complex<Wide> wanted, Wide scale, std::complex<P> own, bool open) {
    if (scale != scale) return 0;  // left open
    const Wide size = std::abs(wanted), top = beyond_all<P, Wide>;
    const auto within = [&](Wide part) { return std::clamp(part, -top, top); };
    double off = std::numeric_limits<double>::infinity();
    if (size > 0 && std::isfinite(size) && got.real() == got.real() && got.imag() == got.imag())
        off = in_last_places<P>(std::abs(std::complex<Wide>(within(got.real()) - within(wanted.real()),
                                                            within(got.imag()) - within(wanted.imag()))),
                                std::max(size, scale));
    if (size > 0 && size <= std::numeric_limits<P>::max() / 4 && std::isfinite(std::abs(got))) return off;
    const std::complex<P> rounded(static_cast<P>(wanted.real()), static_cast<P>(wanted.imag()));
    return same_special(got, own, open) || same_special(got, rounded, open) ? 0 : off;
}

bool is_open(const sweep_group& g, const sweep_case& c, std::size_t i) {
    for (std::size_t k = 0; k < g.types.size(); ++k)
        if (is_complex(g.types[k]) && with_type(g.types[k], [&](auto zero) {
                using T = decltype(zero);
                if constexpr (requires(T z) { z.imag(); })
                    return !std::isfinite(element<T>(g.operands[k], i).imag()) ||
                           (c.arity() > 1 && !std::isfinite(element<T>(g.operands[k], i).real()));
                else
                    return false;
            }))
            return true;
    return false;
}

template <class Wide>
double inexact_distance(const sweep_group& g, const sweep_case& c, const bytes& values, std::size_t i) {
    const Wide scale = element<Wide>(c.scales, i);
    return with_type(c.result, [&](auto zero) -> double {
        using T = decltype(zero);
        if constexpr (requires(T z) { z.imag(); })
            return complex_distance(element<T>(values, i), element<std::complex<Wide>>(c.answers, i), scale,
                                    element<T>(c.own, i), is_open(g, c, i));
        else if constexpr (std::is_floating_point_v<T> || detail::half_float<T>)
            return distance(element<T>(values, i), element<Wide>(c.answers, i), scale);
        else
            throw std::logic_error("a row that is no float has no bound");
    });
}

}  // namespace

double sweep_case::bound(detail::evaluator where) const {
    using detail::evaluator;
    if (row == op::astype) return 0;
    const dtype t = decides();
    if (is_complex(t)) return detail::complex_bound(row);
    if (!is_floating(t)) return 0;
    const dtype computed = detail::computed_in(t);
    const double ulp = static_cast<double>(detail::body_of(row, where, computed).ulp);
    if (computed == t || ulp == 0) return ulp;
    // float32's, rounded once more.
    const int less = t == dtype::f2 ? std::numeric_limits<float16>::digits : std::numeric_limits<bfloat16>::digits;
    return 0.5 + std::ldexp(ulp, less - std::numeric_limits<float>::digits);
}

bool sweep_group::promotes(const sweep_case& c) const {
    if (detail::facts(c.row).rule == rule::special) return false;
    for (int k = 0; k < c.arity(); ++k)
        if (types[c.first_operand + static_cast<std::size_t>(k)] != c.computes[static_cast<std::size_t>(k)])
            return true;
    return false;
}

std::size_t sweep_group::grid_size() const {
    if (grid.empty()) return 0;
    return std::accumulate(grid.begin(), grid.end(), std::size_t{1}, std::multiplies<>());
}

std::string sweep_group::name(const sweep_case& c) const {
    std::string text(detail::facts(c.row).name);
    for (int k = 0; k < c.arity(); ++k)
        text += ' ' + std::string(ingot::name(types[c.first_operand + static_cast<std::size_t>(k)]));
    return c.row == op::astype ? text + " to " + std::string(ingot::name(c.result)) : text;
}

unsigned draws() {
    if (const char* const wanted = std::getenv("INGOT_TEST_PATTERNS"))
        return static_cast<unsigned>(std::max(1ul, std::strtoul(wanted, nullptr, 10) / patterns_of_bound));
    const bool all = current_device().is_cuda() || std::getenv("INGOT_TEST_ALL") != nullptr;
    return all && std::getenv("INGOT_TEST_DRAWN") == nullptr ? 50 : 1;
}

void on_all_cores(std::size_t n, const std::function<void(std::size_t)>& f) {
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        for (std::size_t mine = next++; mine < n; mine = next++) f(mine);
    };
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < std::min<std::size_t>(n, std::thread::hardware_concurrency()); ++i)
        others.emplace_back(work);
    work();
}

std::vector<sweep_group> ask_numpy(const sweep_options& options) {
    namespace fs = std::filesystem;
    std::vector<sweep_group> groups = list_groups();
    if (options.only_inexact) keep_inexact(groups);
    const fs::path folder =
        fs::temp_directory_path() / ("ingot-rows-" + std::to_string(getpid()) + '-' + std::to_string(options.seed));
    fs::create_directories(folder);
    std::ofstream table(folder / "table");
    table << "seed " << options.seed << '\n';
    for (const sweep_group& g : groups) {
        table << "operands " << g.places << ' ' << g.random;
        for (const dtype t : g.types) table << ' ' << name(t);
        table << '\n';
        for (const sweep_case& c : g.cases) {
            table << "row " << detail::facts(c.row).name << (c.exact ? " exact " : " inexact ") << name(c.result);
            for (int k = 0; k < c.arity(); ++k) table << ' ' << name(c.computes[static_cast<std::size_t>(k)]);
            table << '\n';
        }
    }
    table.close();

    const char* chosen = std::getenv("INGOT_PYTHON");
    const std::string command = "'" + std::string(chosen != nullptr ? chosen : "python3") +
                                "' '" INGOT_TEST_SOURCES "/oracle/parity.py' '" + (folder / "table").string() + "' '" +
                                (folder / "results").string() + "'";
    const int status = std::system(command.c_str());
    std::ifstream results(folder / "results", std::ios::binary);
    read_answers(results, groups);
    const bool whole = status == 0 && results && results.peek() == std::ifstream::traits_type::eof();
    results.close();
    fs::remove_all(folder);
    if (!whole) throw std::runtime_error("no reference results from NumPy; the command was " + command);
    return groups;
}

const std::vector<sweep_group>& sweep_groups() {
    static const std::vector<sweep_group> groups = ask_numpy({});
    return groups;
}

verdict judge(const sweep_group& g, const sweep_case& c, const bytes& values, std::size_t count, double ulp) {
    const std::size_t size = detail::size_of(c.result);
    const bool narrow = wide_size(c.result) == sizeof(double);
    verdict v;
    for (std::size_t i = 0; i < count; ++i) {
        // Most results are equal bit for bit; the others are compared with the bound.
        if (c.exact && std::memcmp(values.data() + i * size, c.answers.data() + i * size, size) == 0) continue;
        bool right = false;
        double off = 0;
        if (c.exact) {
            right = with_type(c.result, [&](auto zero) {
                using T = decltype(zero);
                return !std::is_integral_v<T> &&
                       same_number(element<T>(values, i), element<T>(c.answers, i), either_zero(c.row));
            });
        } else {
            off = narrow ? inexact_distance<double>(g, c, values, i) : inexact_distance<long double>(g, c, values, i);
            right = off <= ulp;
            v.worst_ulp = std::max(v.worst_ulp, off);
        }
        if (right || v.wrong++ > 0) continue;
        std::ostringstream text;
        text << g.name(c) << ": (";
        for (int k = 0; k < c.arity(); ++k) {
            const std::size_t operand = c.first_operand + static_cast<std::size_t>(k);
            text << (k > 0 ? ", " : "") << print_element(g.types[operand], g.operands[operand], i);
        }
        text << ") gave " << print_element(c.result, values, i) << ", ";
        if (c.exact)
            text << "wanted " << print_element(c.result, c.answers, i);
        else
            text << off << " ulp off";
        v.first_wrong = text.str();
    }
    return v;
}

}  // namespace ingot::testing
