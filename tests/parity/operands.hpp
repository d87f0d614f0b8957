// The operands of functions.txt, and the loop over how they lie in memory.
#pragma once

#include <cstdlib>

#include "tests/parity/functions.hpp"

namespace ingot::testing {

template <class T>
using leaf_of = decltype(operand(std::vector<T>(), shape_like(), arranged::contiguous));

struct operands {
    leaf_of<float> x, y, m, v;
    leaf_of<double> w, d;
    leaf_of<std::int32_t> i, j;
    leaf_of<std::int64_t> k;
    leaf_of<std::int16_t> t;
    leaf_of<std::uint8_t> u;
    leaf_of<bool> b;
    leaf_of<float16> h;
    leaf_of<std::complex<float>> z;
    leaf_of<float> e;
    leaf_of<double> s;
};

/// n values: multiples of an eighth between -4 and 4, zeros of both signs among floats.
template <class T>
std::vector<T> numbers(std::size_t n, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<T> values;
    for (std::size_t k = 0; k < n; ++k) {
        const int eighths = static_cast<int>(random() % 65) - 32;
        if constexpr (std::is_same_v<T, std::complex<float>>)
            values.emplace_back(static_cast<float>(eighths) / 8, static_cast<float>(random() % 32) / 8 - 2);
        else if constexpr (std::is_integral_v<T>)
            values.push_back(static_cast<T>(eighths));
        else
            values.push_back(k % 7 == 3 ? static_cast<T>(-0.0f) : static_cast<T>(static_cast<float>(eighths) / 8));
    }
    return values;
}

inline operands operands_in(arranged how) {
    constexpr double infinite = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> d = numbers<double>(12, 6);
    d[1] = nan, d[5] = infinite, d[8] = -infinite, d[10] = 2.675;
    return {operand(numbers<float>(12, 1), {3, 4}, how),
            operand(numbers<float>(12, 2), {3, 4}, how),
            operand(numbers<float>(16, 3), {4, 4}, how),
            operand(numbers<float>(4, 4), {4}, how),
            operand(numbers<double>(5, 5), {5}, how),
            operand(d, {3, 4}, how),
            operand(numbers<std::int32_t>(12, 7), {3, 4}, how),
            operand(std::vector<std::int32_t>{3, -3, 1, 7, -1, 2, 5, -2, 4, 9, -7, 6}, {3, 4}, how),
            operand(std::vector<std::int64_t>{2, 0, -1, 1}, {4}, how),
            operand(numbers<std::int16_t>(24, 8), {2, 3, 4}, how),
            operand(numbers<std::uint8_t>(12, 9), {3, 4}, how),
            operand(std::vector<bool>{true, false, false, true, true, true, false, true, false, false, true, false},
                    {3, 4}, how),
            operand(numbers<float16>(12, 10), {3, 4}, how),
            operand(numbers<std::complex<float>>(12, 11), {3, 4}, how),
            operand(std::vector<float>(), {0, 4}, how),
            operand(std::vector<double>{2.5}, {}, how)};
}

/// A run of a table's lines. On the host a line is compiled in one arrangement, for one line of five, and interpreted
/// in the others; on a GPU all lines are compiled in one; where INGOT_TEST_ALL is set in all of them.
class run : public recorder {
public:
    explicit run(const char* table) : recorder(table) {
        const char* const given = std::getenv("INGOT_TEST_SEED");
        seed_ = given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : std::random_device()();
        MESSAGE("INGOT_TEST_SEED=", seed_);
    }

    template <class F>
    void in_every_arrangement(F evaluate) {
        const with_math math(strict);
        for (const arranged how : all_arranged) {
            const bool drawn = static_cast<unsigned>(how) == seed_ % std::size(all_arranged);
            compiles_ = tests_all_ || drawn;
            if (current_device().is_cuda() && !compiles_) continue;
            const operands o = operands_in(how);
            next(how);
            const auto& [x, y, m, v, w, d, i, j, k, t, u, b, h, z, e, s] = o;
            name("x", x), name("y", y), name("m", m), name("v", v), name("w", w), name("d", d), name("i", i);
            name("j", j), name("k", k), name("t", t), name("u", u), name("b", b), name("h", h), name("z", z);
            name("e", e), name("s", s);
            evaluate(o);
        }
        set_compiler(true);
    }
    /// A line, with a compiler or without.
    void begins(unsigned line) {
        if (current_device().is_host()) set_compiler(compiles_ && (tests_all_ || (line + seed_ / 5) % 5 == 0));
    }

private:
    void set_compiler(bool there) {
        if (there == there_) return;
        there_ = there;
        if (there && given_.empty())
            unsetenv("INGOT_CXX");
        else
            setenv("INGOT_CXX", there ? given_.c_str() : "/no/such/compiler", 1);
    }

    unsigned seed_;
    bool tests_all_ = std::getenv("INGOT_TEST_ALL") != nullptr, compiles_ = true, there_ = true;
    std::string given_ = std::getenv("INGOT_CXX") != nullptr ? std::getenv("INGOT_CXX") : "";
};

}  // namespace ingot::testing
