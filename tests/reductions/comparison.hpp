// Results of reductions and scans on their way to NumPy: collected with their operands, compared in one process at the
// end.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <tuple>

#include <ingot/ingot.hpp>

#include "tests/elements.hpp"

namespace ingot::testing {

/// Over which axes, and how.
struct over {
    bool everything = true;
    axes which{};
    bool keep = false;
    int delta = 0;

    over() = default;
    over(axes a) : everything(false), which(a) {}
    std::string text() const {
        return (everything ? "all" : list(which.values())) + ' ' + (keep ? '1' : '0') + ' ' + std::to_string(delta);
    }
    static std::string list(std::span<const index_t> values) {
        std::string out;
        for (const index_t v : values) out += (out.empty() ? "" : ",") + std::to_string(v);
        return out.empty() ? "-" : out;
    }
};

/// f(tags and axes as `how` says).
template <class F>
auto called(const over& how, F f) {
    if (how.everything) return how.keep ? f(keepdims) : f();
    return how.keep ? f(how.which, keepdims) : f(how.which);
}

class comparison {
public:
    explicit comparison(const char* oracle = "reductions.py") : oracle_(oracle) {}

    /// Evaluates the results in one statement, and adds each.
    template <class E, class... R>
    void add_all(const std::array<const char*, sizeof...(R)>& operations, const over& how, const E& of,
                 const R&... results) {
        std::apply(
            [&](const auto&... made) {
                std::size_t i = 0;
                (add(operations[i++], how, of, made), ...);
            },
            eval(results...));
    }
    template <array_expression E, class R>
    void add(const char* operation, const over& how, const E& of, const array<R>& result) {
        cases_ << operation << ' ' << how.text() << ' ';
        const shape_like given = of.shape(), made = result.shape();
        cases_ << name(E::type) << ' ' << over::list(given.values()) << ' ' << name(array<R>::type) << ' '
               << over::list(made.values()) << '\n';
        test::write_elements(cases_, of);
        test::write_elements(cases_, result);
        ++count_;
    }

    /// Checks that every case is right, and none is missing.
    void run() const {
        const char* const python = std::getenv("INGOT_PYTHON") != nullptr ? std::getenv("INGOT_PYTHON") : "python3";
        const auto file = std::filesystem::temp_directory_path() / ("ingot_reductions_" + std::to_string(getpid()));
        std::ofstream(file, std::ios::binary) << cases_.str();
        const std::string command =
            "'" + std::string(python) + "' '" INGOT_TEST_SOURCES "/oracle/" + oracle_ + "' '" + file.string() + "'";
        std::FILE* const answer = popen(command.c_str(), "r");
        REQUIRE(answer != nullptr);
        std::string said;
        for (int c; (c = std::fgetc(answer)) != EOF;) said += static_cast<char>(c);
        CHECK(pclose(answer) == 0);
        std::filesystem::remove(file);
        CHECK(said == std::to_string(count_) + '\n');
    }

private:
    std::string oracle_;
    std::ostringstream cases_;
    int count_ = 0;
};

}  // namespace ingot::testing
