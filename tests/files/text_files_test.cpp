// Files of text and of raw bytes: those that NumPy writes and reads for the same arrays, and files that are no table.
#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <cstdlib>
#include <fstream>

#include <ingot/ingot.hpp>

#include "tests/arrays/expect.hpp"
#include "tests/cache/fixture.hpp"
#include "tests/untested.hpp"

using namespace ingot;
using namespace ingot::test;

namespace {

struct folder {
    scratch_directory scratch;
    std::string path(const char* name) const { return scratch.path() / name; }
    std::string with(const char* name, const std::string& text) const {
        std::ofstream(path(name), std::ios::binary) << text;
        return path(name);
    }
    std::string text(const char* name) const {
        std::ifstream file(path(name), std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
};

}  // namespace

TEST_CASE("a table is read as NumPy reads it") {
    const folder f;
    const std::string table = f.with("table", "# a b c\n1 2 3\n\n 4\t5 +6  # the second\n");
    CHECK(holds(loadtxt(table), {2, 3}, {1, 2, 3, 4, 5, 6}));
    CHECK(holds(loadtxt<int>(table, {.usecols = {2, 0}}), {2, 2}, {3, 1, 6, 4}));
    CHECK(holds(loadtxt<int>(table, {.usecols = {-1}}), {2}, {3, 6}));
    CHECK(holds(loadtxt<int>(table, {.unpack = true}), {3, 2}, {1, 4, 2, 5, 3, 6}));
    CHECK(holds(loadtxt<int>(table, {.skiprows = 2}), {3}, {4, 5, 6}));
    CHECK(holds(loadtxt<int>(table, {.max_rows = 1}), {3}, {1, 2, 3}));
    CHECK(holds(loadtxt<int>(table, {.max_rows = 1, .ndmin = 2}), {1, 3}, {1, 2, 3}));
    CHECK(holds(loadtxt<bool>(table, {.usecols = {0}}), {2}, {true, true}));
    const auto z = loadtxt<std::complex<double>>(f.with("complex", "(1+2j) 2j 3 1-1e2j"));
    CHECK(z.to_host() == std::vector<std::complex<double>>{{1, 2}, {0, 2}, {3, 0}, {1, -100}});
    CHECK(holds(loadtxt<float>(f.with("one", "7")), {}, {7}));
    CHECK(holds(loadtxt(f.with("none", "# nothing\n")), {0}, {}));
    const array<double> special = loadtxt(f.with("special", "nan;-inf;1e400;1e-400\r\n"), {.delimiter = ";"});
    CHECK(std::isnan(special(0).item()));
    CHECK(special(1).item() == -INFINITY);
    CHECK(special(2).item() == INFINITY);
    CHECK(special(3).item() == 0);
}

TEST_CASE("what is no table says the line") {
    const folder f;
    const auto what = [&](const std::string& text, const loadtxt_options& options = {}) {
        const std::string path = f.with("bad", text);
        const std::string message = thrown<file_error>([&] { loadtxt<int>(path, options); });
        return message.substr(message.find(path) + path.size());
    };
    CHECK(what("1 2\n3\n") == ": line 2: has 1 columns, and the first one has 2");
    CHECK(what("1\n2.5\n") == ": line 2: '2.5' is no int32");
    CHECK(what("99999999999") == ": line 1: '99999999999' is no int32");
    CHECK(what("1 2", {.usecols = {2}}) == ": line 1: has no column 2, but 2");
    CHECK_THROWS_AS(loadtxt(f.path("nowhere")), file_error);
}

TEST_CASE("a table is written as NumPy writes it") {
    const folder f;
    savetxt(f.path("x"), array<double>{{1, -2.5}, {1e100, 0}});
    CHECK(f.text("x") ==
          "1.000000000000000000e+00 -2.500000000000000000e+00\n"
          "1.000000000000000016e+100 0.000000000000000000e+00\n");
    savetxt(f.path("x"), array<int>{1, -2}, {.fmt = "%4d|", .newline = ";", .header = "one\ntwo", .footer = "end"});
    CHECK(f.text("x") == "# one\n# two;   1|;  -2|;# end;");
    savetxt(f.path("x"), complex_of(array<double>{{1, 2}}, array<double>{{0, -3}}), {.fmt = "%.1f", .delimiter = ","});
    CHECK(f.text("x") == " (1.0+0.0j), (2.0-3.0j)\n");
    savetxt(f.path("x"), array<float16>{0.5, 1}, {.fmt = "%g"});
    CHECK(f.text("x") == "0.5\n1\n");
    CHECK(thrown<dtype_error>([&] { savetxt(f.path("x"), array<int>{1}, {.fmt = "%s"}); }) ==
          "[savetxt] '%s' is no format of one number, as %.18e or %d is");
    CHECK_THROWS_AS(savetxt(f.path("x"), array<int>{1}, {.fmt = "%d %d"}), dtype_error);
    CHECK_THROWS_AS(savetxt(f.path("x"), array<int>{1}, {.fmt = "one"}), dtype_error);
    CHECK_THROWS_AS(savetxt(f.path("x"), zeros({1, 1, 1})), shape_error);
    CHECK(f.text("x") == "0.5\n1\n");
}

TEST_CASE("bytes and lists of numbers are written and read") {
    const folder f;
    const array<float> x = reshape(arange<float>(6), {2, 3}) / 4;
    tofile(f.path("x"), transpose(x));
    CHECK(f.text("x").size() == 24);
    CHECK(holds(fromfile<float>(f.path("x")), {6}, {0, 0.75, 0.25, 1, 0.5, 1.25}));
    CHECK(holds(fromfile<float>(f.path("x"), {.count = 2, .offset = 4}), {2}, {0.75, 0.25}));
    CHECK(holds(fromfile<float>(f.path("x"), {.count = 0}), {0}, {}));
    CHECK_THROWS_AS(fromfile<float>(f.path("x"), {.count = 7}), file_error);
    CHECK_THROWS_AS(fromfile<double>(f.path("x"), {.offset = 4}), file_error);
    CHECK_THROWS_AS(fromfile<float>(f.path("x"), {.offset = 25}), file_error);
    tofile(f.path("x"), array<double>{1, 0.1, -1e20}, ",");
    CHECK(f.text("x") == "1.0,0.1,-1e+20");
    CHECK(holds(fromfile(f.path("x"), {.sep = ","}), {3}, {1, 0.1, -1e20}));
    CHECK(holds(fromfile<int>(f.with("n", " 1 2\n3 "), {.count = 2, .sep = " "}), {2}, {1, 2}));
    CHECK_THROWS_AS(fromfile<int>(f.with("n", "1, x"), {.sep = ","}), file_error);
    tofile(f.path("b"), array<bool>{true, false});
    CHECK(f.text("b") == std::string("\1\0", 2));
}

TEST_CASE("NumPy reads what is written, and writes the same") {
    const char* const python = std::getenv("INGOT_PYTHON");
    if (!python) return untested("INGOT_PYTHON names no Python with NumPy, as tests/run does");
    const folder f;
    const array<double> x =
        sin(reshape(arange<double>(12), {4, 3})) * power(10.0, reshape(arange<double>(12) - 6, {4, 3}));
    savetxt(f.path("x"), x, {.delimiter = ",", .header = "h"});
    tofile(f.path("raw"), x);
    tofile(f.path("list"), x, " ");
    const std::string command =
        "'" + std::string(python) + "' -c \"import numpy as np; f='" + f.scratch.path().string() +
        "/'; x=np.fromfile(f+'raw').reshape(4, 3); assert (np.loadtxt(f+'x', delimiter=',') == x).all(); "
        "assert (np.fromfile(f+'list', sep=' ').reshape(4, 3) == x).all(); "
        "np.savetxt(f+'theirs', x, delimiter=',', header='h'); x.tofile(f+'their_list', sep=' '); "
        "np.savetxt(f+'z', x + 1j * x[::-1])\"";
    REQUIRE(std::system(command.c_str()) == 0);
    CHECK(f.text("theirs") == f.text("x"));
    CHECK(f.text("their_list") == f.text("list"));
    savetxt(f.path("own_z"), complex_of(x, flip(x, 0)));
    CHECK(f.text("z") == f.text("own_z"));
    CHECK(array_equal(loadtxt<std::complex<double>>(f.path("z")), complex_of(x, flip(x, 0))).item());
}
