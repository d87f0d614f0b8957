// What compilers print of common mistakes: what was written, of which dtypes, and the line that says what to write.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/untested.hpp"

namespace {

struct mistake {
    const char* code;
    const char* hint;  // stands in what is printed, by clang++ too if there is no other
    const char* of_clang = hint;
};

constexpr mistake mistakes[] = {
    {"if (x > y) return;", "a condition is one truth: all(e).item()"},
    {"assert(x == y);", "a condition is one truth: all(e).item()"},
    {"auto z = x > y ? x : y;", "elements: where(e, x, y)"},
    {"x = 5;", "every element: x.fill(value), or x(all) = value"},
    {"x[1];", "an element or a view is x(i)"},
    {"x(1.5);", "indices are integers, slice(), all"},
    {"for (auto v : x) (void)v;", "for (auto v : x.values())"},
    {"bool t = any(x); (void)t;", "a number of the host is waited for: e.item()"},
    {"double s = sum(x); (void)s;", "a number of the host is waited for: e.item()"},
    {"takes_double(sum(x));", "a number of the host is waited for: e.item()"},
    {"x + v;", "values_of_the_host_want_asarray"},
    {"array<float> a = w; (void)a;", "values of the host are copied: asarray(values)"},
    {"c(0) = 3;", "no expression is written, nor a const array"},
    {"reshape(x, {2, 2})(0) = 5;", "no expression is written, nor a const array"},
    {"auto row = x(0); row = 7;", "what is selected is written in the same statement"},
    {"max(x, y);", "max(A", "deleted function 'max'"},
    {"~x;", "operator~(A", "deleted operator '~'"},
    {"b - b;", "operator-(A", "deleted operator '-'"},
    {"gcd(x, i);", "gcd(A", "deleted function 'gcd'"},
    {"ldexp(x, y);", "ldexp(A", "deleted function 'ldexp'"},
    {"bitwise_count(x);", "bitwise_count(A", "deleted function 'bitwise_count'"},
};

std::string printed(const std::string& compiler, const char* code) {
    const std::string command =
        "printf '%s\\n' '#include <cassert>' '#include <ingot/ingot.hpp>' "
        "'#include <vector>' 'using namespace ingot;' 'void takes_double(double);' 'void f(array<float> x, "
        "array<float> y, array<int> i, "
        "array<bool> b, const array<float> c, std::vector<float> v, std::vector<int> w) {' '" +
        std::string(code) + "' '}' | " + compiler + (compiler == "clang++" ? " -ferror-limit=0" : "") +
        " -std=c++20 -fsyntax-only -x c++ -I'" + INGOT_TEST_SOURCES "/../include' - 2>&1";
    std::FILE* const pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string text;
    for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
    CHECK(pclose(pipe) != 0);
    return text;
}

bool is_there(const std::string& compiler) {
    return std::system((compiler + " --version > /dev/null 2>&1").c_str()) == 0;
}

void check_hints(const std::string& compiler) {
    if (!is_there(compiler)) return ingot::test::untested(compiler + " is not here");
    std::string all;
    for (const mistake& m : mistakes) all += std::string(m.code) + "\n";
    const std::string text = printed(compiler, all.c_str());
    for (const mistake& m : mistakes) {
        const std::string hint = compiler == "clang++" ? m.of_clang : m.hint;
        CHECK_MESSAGE(text.find(hint) != text.npos, compiler, " of ", std::string(m.code));
    }
    // Functions that are not for a dtype are named with what they were given.
    CHECK(text.find("array<float>") != text.npos);
    CHECK(text.find("deleted") != text.npos);
    CHECK_MESSAGE(text.find("error: no matching function") == text.npos, text);
}

}  // namespace

TEST_CASE("g++ says what to write for common mistakes") { check_hints("g++"); }
TEST_CASE("clang++ says what to write for common mistakes") { check_hints("clang++"); }
