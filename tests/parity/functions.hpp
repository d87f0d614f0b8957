// The helpers of the test generated from functions.txt: its operands in every arrangement, and its results for NumPy,
// which computes the other column from the same operands.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <ingot/ingot.hpp>

#include "tests/elements.hpp"

namespace ingot::testing {

enum class arranged { contiguous, misaligned, apart, backwards, transposed };
constexpr arranged all_arranged[] = {arranged::contiguous, arranged::misaligned, arranged::apart, arranged::backwards,
                                     arranged::transposed};

/// These values seen in that shape, of one type whatever the arrangement: axes of a larger array in steps, permuted.
template <class T>
auto operand(const std::vector<T>& values, const shape_like& shape, arranged how) {
    const auto rank = static_cast<std::size_t>(shape.count());
    std::vector<index_t> order(rank), extents(rank), wanted(rank);
    std::vector<slice> steps(rank, slice(none));
    for (std::size_t j = 0; j < rank; ++j) {
        order[j] = static_cast<index_t>(how == arranged::transposed ? rank - 1 - j : j);
        const index_t n = shape.begin()[order[j]];
        const bool last = j + 1 == rank;
        extents[j] = how == arranged::apart ? 2 * n : n + (how == arranged::misaligned && last ? 1 : 0);
        if (how == arranged::apart) steps[j] = slice(none, none, 2);
        if (how == arranged::backwards) steps[j] = slice(none, none, -1);
        if (how == arranged::misaligned && last) steps[j] = slice(1);
    }
    array<T> room = zeros<T>(shape_like(extents));
    const auto view = [&](auto& of) {
        switch (rank) {
            case 0:
                return transpose(of(ellipsis), axes(order));
            case 1:
                return transpose(of(steps[0]), axes(order));
            case 2:
                return transpose(of(steps[0], steps[1]), axes(order));
            default:
                return transpose(of(steps[0], steps[1], steps[2]), axes(order));
        }
    };
    view(room) = asarray(values, shape);
    return view(std::as_const(room));
}

/// Bytes that parity's script reads: a dtype, extents, elements.
class recorder {
public:
    explicit recorder(const char* table) : table_(table) {}

    /// An operand by its name in the table.
    template <array_expression E>
    void name(const char* as, const E& e) {
        write("operand " + std::string(as), e);
    }
    template <array_expression E>
    void record(int line, const E& e) {
        const array<typename E::value_type> values = e;
        write("result " + std::to_string(line), values);
    }
    template <class... E>
    void record(int line, const std::tuple<E...>& several) {
        std::apply([&](const auto&... e) { (record(line, e), ...); }, several);
    }
    void record(int line, const detail::integer_list& values) {
        record(line, asarray(std::vector<index_t>(values.begin(), values.end())));
    }
    template <class T>
        requires element_type<T>
    void record(int line, T value) {
        record(line, full<T>({}, value));
    }
    template <class T>
    void record(int line, const std::vector<T>& values) {
        record(line, asarray(values));
    }
    /// Operands and results from here on are another arrangement's.
    void next(arranged how) { cases_ << "arrangement " << static_cast<int>(how) << '\n'; }

    /// Checks every result against NumPy's.
    void compare() const {
        const char* const python = std::getenv("INGOT_PYTHON") != nullptr ? std::getenv("INGOT_PYTHON") : "python3";
        const auto file = std::filesystem::temp_directory_path() / ("ingot_functions_" + std::to_string(getpid()));
        std::ofstream(file, std::ios::binary) << cases_.str();
        const std::string command = "'" + std::string(python) +
                                    "' '" INGOT_TEST_SOURCES "/oracle/functions.py' --compare '" + table_ + "' '" +
                                    file.string() + "'";
        std::FILE* const answer = popen(command.c_str(), "r");
        REQUIRE(answer != nullptr);
        std::string said;
        for (int c; (c = std::fgetc(answer)) != EOF;) said += static_cast<char>(c);
        CHECK_MESSAGE(pclose(answer) == 0, said);
        std::filesystem::remove(file);
        MESSAGE(said);
    }

private:
    template <class E>
    void write(const std::string& what, const E& e) {
        cases_ << what << ' ' << ingot::name(E::type);
        for (const index_t n : shape_like(e.shape())) cases_ << ' ' << n;
        cases_ << '\n';
        test::write_elements(cases_, e);
    }

    std::string table_;
    std::ostringstream cases_;
};

}  // namespace ingot::testing
