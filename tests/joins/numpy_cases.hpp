// Results to compare with NumPy's, each with the expression that computes it there. They are collected with their
// operands, which the expression calls a, b, c, d, and compared in one process at the end.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <ingot/ingot.hpp>

#include "tests/elements.hpp"

namespace ingot::testing {

class numpy_cases {
public:
    /// From here on, results may differ by `ulps` units in the last place of the largest result.
    void forgive(int ulps) { ulps_ = ulps; }

    template <array_expression R, class... A>
    void add(const std::string& expression, const R& result, const A&... operands) {
        cases_ << sizeof...(A) << ' ' << ulps_ << '\n' << expression << '\n';
        (write(operands), ...);
        write(result);
        ++count_;
    }
    /// The results of one statement.
    template <class... A, array_expression... R>
    void add_all(const std::tuple<A...>& operands, const std::array<std::string, sizeof...(R)>& expressions,
                 const R&... results) {
        std::apply(
            [&](const auto&... made) {
                std::size_t i = 0;
                const auto add_one = [&](const auto& result) {
                    std::apply([&](const auto&... operand) { add(expressions[i++], result, operand...); }, operands);
                };
                (add_one(made), ...);
            },
            eval(results...));
    }

    /// Checks that every case is right, and none is missing.
    void run() const { CHECK(faults() == ""); }

    /// The faults, one a line; empty where all is right.
    std::string faults() const {
        const char* const python = std::getenv("INGOT_PYTHON") != nullptr ? std::getenv("INGOT_PYTHON") : "python3";
        const auto file = std::filesystem::temp_directory_path() / ("ingot_expressions_" + std::to_string(getpid()));
        std::ofstream(file, std::ios::binary) << cases_.str();
        const std::string command =
            "'" + std::string(python) + "' '" INGOT_TEST_SOURCES "/oracle/expressions.py' '" + file.string() + "'";
        std::FILE* const answer = popen(command.c_str(), "r");
        if (answer == nullptr) return "no answer of " + command;
        std::string said;
        for (int c; (c = std::fgetc(answer)) != EOF;) said += static_cast<char>(c);
        const bool ended = pclose(answer) == 0;
        std::filesystem::remove(file);
        return ended && said == std::to_string(count_) + '\n' ? "" : said + "of " + std::to_string(count_) + " cases";
    }

private:
    template <class E>
    void write(const E& e) {
        cases_ << name(E::type) << ' ';
        const shape_like shape = e.shape();
        for (int j = 0; j < shape.count(); ++j) cases_ << (j > 0 ? "," : "") << shape[j];
        cases_ << (shape.count() == 0 ? "-\n" : "\n");
        test::write_elements(cases_, e);
    }

    std::ostringstream cases_;
    int count_ = 0, ulps_ = 0;
};

/// Numbers that are exact in every dtype, both truths, some of them zero.
template <class T>
array<T> drawn(const shape_like& shape, unsigned seed) {
    std::mt19937 random(seed);
    index_t n = 1;
    for (const index_t extent : shape) n *= extent;
    std::vector<T> values(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto part = [&] { return static_cast<double>(random() % 9) - (std::is_unsigned_v<T> ? 0.0 : 4.0); };
        if constexpr (std::is_same_v<T, bool>)
            values[i] = part() > 0;
        else if constexpr (detail::complex_number<T>)
            values[i] = T(static_cast<typename T::value_type>(part()), static_cast<typename T::value_type>(part()));
        else
            values[i] = static_cast<T>(part());
    }
    return asarray<T>(values, shape);
}

}  // namespace ingot::testing
