// The operator table beside NumPy's list of its ufuncs, CuPy's of its elementwise functions and SciPy's of special
// ones: every name is a row, a function written in the language, or excluded with a reason; and dtypes go in and come
// out as NumPy has it.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <ingot/ingot.hpp>

#include "codegen/operator_bodies.hpp"

namespace {

using namespace ingot;
using detail::op;

constexpr dtype all_dtypes[] = {dtype::b1, dtype::i1, dtype::u1, dtype::i2, dtype::u2, dtype::i4, dtype::u4,
                                dtype::i8, dtype::u8, dtype::f2, dtype::f4, dtype::f8, dtype::c8, dtype::c16};

// Functions that are no rows: that each is declared is seen by the compiler.
#define WRITTEN_IN_THE_LANGUAGE(f) \
    f(around) f(divmod) f(frexp) f(isclose) f(isneginf) f(isposinf) f(modf) f(nan_to_num) f(round) f(rsqrt) f(unwrap)
namespace declared {
#define USING(name) using ingot::name;
WRITTEN_IN_THE_LANGUAGE(USING)
#undef USING
}  // namespace declared

const std::map<std::string, op>& rows() {
    static const std::map<std::string, op> named = [] {
        std::map<std::string, op> all;
        for (std::size_t i = 0; i < detail::op_count; ++i) all.emplace(detail::op_table[i].name, static_cast<op>(i));
        for (const detail::alias_facts& a : detail::alias_table) all.emplace(a.name, a.of);
        return all;
    }();
    return named;
}

const std::set<std::string>& composed() {
    static const std::set<std::string> names{
#define NAME(name) #name,
        WRITTEN_IN_THE_LANGUAGE(NAME)
#undef NAME
    };
    return names;
}

/// Lines of a file in this folder, without those that begin with '#'.
std::vector<std::string> lines_of(const std::string& file) {
    std::ifstream in(INGOT_TEST_SOURCES "/operators/" + file);
    REQUIRE(in.is_open());
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);)
        if (!line.empty() && line[0] != '#') lines.push_back(line);
    return lines;
}

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    return words;
}

std::map<std::string, std::string> exclusions() {
    std::map<std::string, std::string> reasons;
    for (const std::string& line : lines_of("excluded_ufuncs.txt")) {
        const std::size_t colon = line.find(": ");
        REQUIRE_MESSAGE(colon != line.npos, "no reason: ", line);
        CHECK_MESSAGE(reasons.emplace(line.substr(0, colon), line.substr(colon + 2)).second, line);
    }
    return reasons;
}

struct ufunc {
    std::string name;
    int arity;
    std::vector<std::string> results;
};

/// NumPy's answer, asked once.
const std::vector<ufunc>& numpy_ufuncs() {
    static const std::vector<ufunc> all = [] {
        const char* chosen = std::getenv("INGOT_PYTHON");
        std::string command =
            "'" + std::string(chosen != nullptr ? chosen : "python3") + "' '" INGOT_TEST_SOURCES "/oracle/ufuncs.py'";
        for (const dtype t : all_dtypes) command += ' ' + std::string(name(t));
        std::FILE* const pipe = popen(command.c_str(), "r");
        REQUIRE(pipe != nullptr);
        std::string text;
        for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
        REQUIRE_MESSAGE(pclose(pipe) == 0, command);
        std::vector<ufunc> found;
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            std::vector<std::string> words = words_of(line);
            const int arity = std::stoi(words[1]);
            found.push_back({words[0], arity, {words.begin() + 2, words.end()}});
        }
        return found;
    }();
    return all;
}

/// NumPy's float of a bool or an integer of 8 bits is float16; Ingot's is float32. Complex numbers are not asked which
/// is less, and the neighbour of a float16 is none of float32's.
std::string as_ingot_has_it(const std::string& result, op row, dtype first, dtype second) {
    constexpr op ordered[] = {op::less, op::less_equal, op::greater, op::greater_equal};
    const auto is_complex = [](dtype t) { return detail::kind_of(t) == detail::kind::complex; };
    if (std::ranges::count(ordered, row) > 0 && (is_complex(first) || is_complex(second))) return "none";
    if (result != "float16") return result;
    if (first != dtype::f2 && second != dtype::f2) return "float32";
    return row == op::nextafter || row == op::spacing ? "none" : result;
}

}  // namespace

TEST_CASE("every elementwise name of NumPy, CuPy and SciPy is a function or excluded with a reason") {
    const std::map<std::string, std::string> excluded = exclusions();
    std::set<std::string> names, unused;
    for (const ufunc& f : numpy_ufuncs()) names.insert(f.name);
    CHECK(names.size() > 100);
    for (const char* const file : {"cupy_elementwise.txt", "special_functions.txt"})
        for (const std::string& line : lines_of(file))
            for (const std::string& name : words_of(line)) names.insert(name);
    std::size_t there = 0;
    for (const std::string& name : names) {
        const bool known = rows().contains(name) || composed().contains(name);
        CHECK_MESSAGE(known != excluded.contains(name), name,
                      known ? " is a function, and excluded" : " is neither a function nor excluded");
        there += known;
    }
    for (const auto& exclusion : excluded)
        CHECK_MESSAGE(names.contains(exclusion.first), exclusion.first, " is on no list");
    if (std::getenv("INGOT_PRINT_ULP") != nullptr)
        MESSAGE(there, " of ", names.size(), " names, ", excluded.size(), " excluded");
}

TEST_CASE("rows take the dtypes that NumPy's ufuncs take, and give theirs") {
    for (const ufunc& f : numpy_ufuncs()) {
        const auto row = rows().find(f.name);
        if (row == rows().end() || f.results.empty()) continue;
        REQUIRE(detail::facts(row->second).arity == f.arity);
        std::size_t k = 0;
        for (const dtype first : all_dtypes)
            for (const dtype second : all_dtypes) {
                if (f.arity == 1 && second != dtype::b1) continue;
                const detail::operand_type operands[] = {{first}, {second}, {second}};
                const detail::signature s = detail::resolve(row->second, operands);
                const std::string wanted =
                    as_ingot_has_it(f.results[k++], row->second, first, f.arity > 1 ? second : first);
                CHECK_MESSAGE((s.legal ? std::string(name(s.result)) : "none") == wanted, f.name, " of ",
                              std::string(name(first)), f.arity > 1 ? " and " + std::string(name(second)) : "");
            }
    }
}

TEST_CASE("a bound above 4 last places has a reason, and no other has one") {
    std::set<std::string_view> wanted, given;
    for (std::size_t i = 0; i < detail::op_count; ++i) {
        const op row = static_cast<op>(i);
        float widest = row == op::power ? detail::complex_bound(row) : 0;  // complex rows share one bound
        for (const auto where : {detail::evaluator::host, detail::evaluator::cuda, detail::evaluator::interpreter})
            for (const dtype t : {dtype::f4, dtype::f8}) widest = std::max(widest, detail::body_of(row, where, t).ulp);
        if (widest > 4) wanted.insert(detail::facts(row).name);
    }
    for (const detail::wide_bound_facts& b : detail::wide_bound_table) given.insert(detail::facts(b.of).name);
    CHECK(wanted == given);
}
