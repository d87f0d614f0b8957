#include "tests/operators/sweep.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>

namespace ingot::testing {

namespace {

using detail::op;
using detail::rule;

constexpr dtype swept[] = {dtype::b1, dtype::i1, dtype::u1, dtype::i2, dtype::u2, dtype::i4,
                           dtype::u4, dtype::i8, dtype::u8, dtype::f4, dtype::f8};

/// The largest bound that any evaluator claims for a row: where it is 0, all of them are exact.
bool is_exact(op row, dtype t) {
    if (detail::kind_of(t) != detail::kind::floating || detail::facts(row).ulp == 0) return true;
    return false;
}

sweep_case make_case(op row, dtype first, dtype others, dtype result, bool exact) {
    sweep_case c{};
    c.row = row;
    c.first = first;
    c.others = others;
    c.result = result;
    c.exact = exact;
    return c;
}

std::vector<sweep_case> list_cases() {
    std::vector<sweep_case> cases;
    for (std::size_t i = 0; i < detail::op_count; ++i) {
        const op row = static_cast<op>(i);
        const rule r = detail::facts(row).rule;
        if (r == rule::part) continue;  // no function: complex ones are, and have tests of their own
        for (const dtype t : swept) {
            if (row == op::astype) {
                for (const dtype to : swept)
                    if (to != t) cases.push_back(make_case(row, t, t, to, true));
                continue;
            }
            const dtype first = r == rule::selection ? dtype::b1 : t, others = r == rule::scaling ? dtype::i8 : t;
            const detail::operand_type operands[] = {{first}, {others}, {others}};
            const detail::signature s = detail::resolve(row, operands);
            // What a cast would come before is the case of another dtype, but for the rows that compute in a wider one.
            const bool as_given = s.computes[0] == first || r == rule::special;
            if (s.legal && as_given && (r != rule::special || detail::kind_of(t) == detail::kind::floating))
                cases.push_back(make_case(row, first, others, s.result, is_exact(row, t)));
        }
        if (r != rule::comparison) continue;
        cases.push_back(make_case(row, dtype::i8, dtype::u8, dtype::b1, true));
        cases.push_back(make_case(row, dtype::u8, dtype::i8, dtype::b1, true));
    }
    return cases;
}

void read_bytes(std::ifstream& in, std::vector<std::byte>& to, std::size_t n) {
    to.resize(n);
    in.read(reinterpret_cast<char*>(to.data()), static_cast<std::streamsize>(n));
}

std::vector<sweep_case> ask_numpy() {
    namespace fs = std::filesystem;
    std::vector<sweep_case> cases = list_cases();
    const fs::path folder = fs::temp_directory_path() / ("ingot-rows-" + std::to_string(getpid()));
    fs::create_directories(folder);
    std::ofstream table(folder / "table");
    for (const sweep_case& c : cases)
        table << detail::facts(c.row).name << ' ' << c.arity() << ' ' << name(c.first) << ' ' << name(c.others) << ' '
              << name(c.result) << ' ' << (c.exact ? "exact" : "inexact") << '\n';
    table.close();

    const char* chosen = std::getenv("INGOT_PYTHON");
    const std::string command = "'" + std::string(chosen != nullptr ? chosen : "python3") +
                                "' '" INGOT_TEST_SOURCES "/oracle/rows.py' '" + (folder / "table").string() + "' '" +
                                (folder / "results").string() + "'";
    const int status = std::system(command.c_str());
    std::ifstream results(folder / "results", std::ios::binary);
    for (sweep_case& c : cases) {
        std::uint64_t n = 0;
        results.read(reinterpret_cast<char*>(&n), sizeof(n));
        c.count = n;
        for (int i = 0; i < c.arity(); ++i)
            read_bytes(results, c.operands[i], n * detail::size_of(c.type_of_operand(i)));
        const std::size_t wide = c.result == dtype::f4 ? sizeof(double) : sizeof(long double);
        read_bytes(results, c.answers, n * (c.exact ? detail::size_of(c.result) : wide));
        if (!c.exact) read_bytes(results, c.scales, n * wide);
    }
    const bool whole = status == 0 && results && results.peek() == std::ifstream::traits_type::eof();
    results.close();
    fs::remove_all(folder);
    if (!whole) throw std::runtime_error("no reference results from NumPy; the command was " + command);
    return cases;
}

template <class T>
T element(const void* p, std::size_t i) {
    T x;
    std::memcpy(&x, static_cast<const std::byte*>(p) + i * sizeof(T), sizeof(T));
    return x;
}

std::string print_element(dtype t, const void* p, std::size_t i) {
    std::ostringstream out;
    switch (t) {
        case dtype::f4:
            out.precision(9), out << element<float>(p, i);
            break;
        case dtype::f8:
            out.precision(17), out << element<double>(p, i);
            break;
        case dtype::u8:
            out << element<std::uint64_t>(p, i);
            break;
        case dtype::i8:
            out << element<std::int64_t>(p, i);
            break;
        case dtype::u4:
            out << element<std::uint32_t>(p, i);
            break;
        case dtype::i4:
            out << element<std::int32_t>(p, i);
            break;
        case dtype::u2:
            out << element<std::uint16_t>(p, i);
            break;
        case dtype::i2:
            out << element<std::int16_t>(p, i);
            break;
        case dtype::i1:
            out << static_cast<int>(element<std::int8_t>(p, i));
            break;
        default:
            out << static_cast<int>(element<std::uint8_t>(p, i));
            break;
    }
    return out.str();
}

/// NumPy's own choice between two zeros depends on its build.
bool either_zero(op row) {
    return row == op::maximum || row == op::minimum || row == op::fmax || row == op::fmin || row == op::clip;
}

template <class T>
bool same_float(op row, T got, T wanted) {
    if (got != got || wanted != wanted) return got != got && wanted != wanted;
    return got == wanted && (got != 0 || either_zero(row) || std::signbit(got) == std::signbit(wanted));
}

/// The distance in units of T's last place at `wanted` or at `scale`; beyond the largest number comes 2^max_exponent in
/// infinity's stead.
template <class T, class Wide>
double distance(T given, Wide wanted, Wide scale) {
    if (given != given || wanted != wanted)
        return (given != given) == (wanted != wanted) ? 0 : std::numeric_limits<double>::infinity();
    using limits = std::numeric_limits<T>;
    const Wide top = std::ldexp(Wide(1), limits::max_exponent);
    const Wide got = std::clamp<Wide>(given, -top, top);
    wanted = std::clamp<Wide>(wanted, -top, top);
    if (wanted == 0 && got == 0) return std::signbit(got) == std::signbit(wanted) || scale != 0 ? 0 : 1e9;
    const Wide size = std::max(std::abs(wanted), scale);
    const int exponent = size == 0 ? limits::min_exponent : std::max(std::ilogb(size) + 1, limits::min_exponent);
    const Wide last_place = std::ldexp(Wide(1), std::min(exponent, limits::max_exponent) - limits::digits);
    return static_cast<double>(std::abs(got - wanted) / last_place);
}

}  // namespace

std::string sweep_case::name() const {
    std::string text(detail::facts(row).name);
    text += ' ';
    text += ingot::name(first);
    if (row == op::astype)
        text += " to " + std::string(ingot::name(result));
    else if (others != first)
        text += " with " + std::string(ingot::name(others));
    return text;
}

const std::vector<sweep_case>& sweep_cases() {
    static const std::vector<sweep_case> cases = ask_numpy();
    return cases;
}

verdict judge(const sweep_case& c, const row_evaluator& evaluate, double ulp) {
    const std::size_t size = detail::size_of(c.result);
    std::vector<std::byte> out(c.count * size, std::byte{0xa5});
    evaluate(c, out.data());
    verdict v;
    for (std::size_t i = 0; i < c.count; ++i) {
        bool right = false;
        double off = 0;
        if (!c.exact) {
            off = c.result == dtype::f4
                      ? distance(element<float>(out.data(), i), element<double>(c.answers.data(), i),
                                 element<double>(c.scales.data(), i))
                      : distance(element<double>(out.data(), i), element<long double>(c.answers.data(), i),
                                 element<long double>(c.scales.data(), i));
            right = off <= ulp;
            v.worst_ulp = std::max(v.worst_ulp, off);
        } else if (c.result == dtype::f4) {
            right = same_float(c.row, element<float>(out.data(), i), element<float>(c.answers.data(), i));
        } else if (c.result == dtype::f8) {
            right = same_float(c.row, element<double>(out.data(), i), element<double>(c.answers.data(), i));
        } else {
            right = std::memcmp(out.data() + i * size, c.answers.data() + i * size, size) == 0;
        }
        if (right || v.wrong++ > 0) continue;
        std::ostringstream text;
        text << c.name() << ": (";
        for (int k = 0; k < c.arity(); ++k)
            text << (k > 0 ? ", " : "") << print_element(c.type_of_operand(k), c.operands[k].data(), i);
        text << ") gave " << print_element(c.result, out.data(), i) << ", ";
        if (c.exact)
            text << "wanted " << print_element(c.result, c.answers.data(), i);
        else
            text << off << " ulp off";
        v.first_wrong = text.str();
    }
    return v;
}

}  // namespace ingot::testing
