// The host's compiler vectorises the innermost loop of generated code, according to its own report. A loop that it does
// not vectorise takes ten times as long, and no result shows it.
#include <doctest/doctest.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <ingot/ingot.hpp>

#include "runtime/kernels/compile_host.hpp"
#include "tests/untested.hpp"

using namespace ingot;
using namespace ingot::runtime;

namespace {

std::string printed_by(const std::string& command) {
    std::FILE* const pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string text;
    std::array<char, 4096> piece;
    while (const std::size_t n = std::fread(piece.data(), 1, piece.size(), pipe)) text.append(piece.data(), n);
    CHECK(pclose(pipe) == 0);
    return text;
}

/// Number of the line behind the first `independent`, from 1.
int first_independent_loop(const std::string& text) {
    std::istringstream lines(text);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number)
        if (line.ends_with(" independent") && !line.starts_with("#")) return number + 1;
    return 0;
}

bool is_clang() {
    static const bool is = printed_by(host_compiler().string() + " --version").find("clang") != std::string::npos;
    return is;
}

/// The compiler's report on the loop: "vectorised", or its whole text about vectors.
template <class E>
std::string report_on(const E& expression) {
    static const std::string compiler = host_compiler().string();
    source_text source;
    source.where = target::host;
    source.architecture = "-march=x86-64-v3";
    source.text = ingot::source(expression);
    source.options = {"-ffp-contract=off"};
    std::string name = "/tmp/ingot_vectors_XXXXXX";
    const int made = mkstemp(name.data());
    REQUIRE(made >= 0);
    std::ofstream(name) << source.text;
    std::string command = compiler;
    for (const std::string& option : host_options(source))
        if (!option.starts_with("-fsanitize")) command += ' ' + option;
    command += is_clang() ? " -Rpass=loop-vectorize" : " -fopt-info-vec-optimized";
    const std::string report = printed_by(command + " -o /dev/null < " + name + " 2>&1");
    close(made);
    std::remove(name.c_str());
    const std::string line = ':' + std::to_string(first_independent_loop(source.text)) + ':';
    for (std::size_t at = report.find(line); at != std::string::npos; at = report.find(line, at + 1))
        if (const std::string said = report.substr(at, report.find('\n', at) - at);
            said.find("vectorized") != std::string::npos)
            return "vectorised";
    return "loop" + line + '\n' + report + source.text;
}

}  // namespace

#if defined(__x86_64__)
TEST_CASE("loops over masks, places and mixed widths are vectorised") {
    const with_device on_host(device::host());
    const array<float> x = zeros<float>({600, 4096}), y = x;
    const array<double> d = zeros<double>({600, 4096});
    const array<bool> b = x > 1, c = x < 2;
    const array<std::int8_t> i = zeros<std::int8_t>({600, 4096});
#define INGOT_CHECK_VECTORS(...) CHECK(report_on(__VA_ARGS__) == "vectorised")
    INGOT_CHECK_VECTORS(where(x - 2 > y, x * y, x + y));
    INGOT_CHECK_VECTORS(where(b, x, y));
    INGOT_CHECK_VECTORS(where(b && (x > 2), x, d));
    INGOT_CHECK_VECTORS(!b || (x > y));
    INGOT_CHECK_VECTORS(b ^ c);
    INGOT_CHECK_VECTORS(b * x);
    INGOT_CHECK_VECTORS(astype<bool>(i));
    INGOT_CHECK_VECTORS(any(b, 1));
    INGOT_CHECK_VECTORS(all(x > 2));
    INGOT_CHECK_VECTORS(any(b && (x > 2), 0));
    INGOT_CHECK_VECTORS(all(isfinite(d)));
    INGOT_CHECK_VECTORS(count_nonzero(b));
    INGOT_CHECK_VECTORS(mean(b));
    INGOT_CHECK_VECTORS(sum(where(b, x, 0.f), 0));
    INGOT_CHECK_VECTORS(max(x));
    INGOT_CHECK_VECTORS(min(d, 1));
    INGOT_CHECK_VECTORS(nanmax(x));
    INGOT_CHECK_VECTORS(nanmin(d, 0));
    INGOT_CHECK_VECTORS(argmax(x, 0));
    INGOT_CHECK_VECTORS(argmin(d, 1));
    INGOT_CHECK_VECTORS(argmax(i, 0));
    INGOT_CHECK_VECTORS(nanargmax(x, 0));
    INGOT_CHECK_VECTORS(nanargmin(d));
    if (!is_clang())  // which has no vector logarithm to call
        for (const index_t n : {2, 40}) {
            const array<double> m = zeros<double>({600, n}), v = zeros<double>({n});
            INGOT_CHECK_VECTORS(log(m + v));
            INGOT_CHECK_VECTORS(where(m > v, log(m), v));
            INGOT_CHECK_VECTORS(sum(log(m + v)));
            INGOT_CHECK_VECTORS(sum(log(m + v), 1));
        }
#undef INGOT_CHECK_VECTORS
}
#else
TEST_CASE("loops over masks, places and mixed widths are vectorised") {
    ingot::test::untested("what a compiler vectorises is known for x86-64 alone");
}
#endif
