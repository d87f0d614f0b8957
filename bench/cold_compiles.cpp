// NVRTC's time for statements that were never compiled: the cubins for sm_90 of statements of all families, compared
// with `where`'s. The driver is a stub, so no GPU is needed. Times are CPU times, because clock time would include
// other programs; NVRTC's own cache is off (12.9 and newer have one).
//   cold_compiles RESULTS.jsonl [ROUNDS [NAME [FOLDER]]]
// NAME: only statements whose names contain it. FOLDER: where sources and cubins are left.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <ingot/ingot.hpp>

#include "codegen/plan/schedule.hpp"
#include "report.hpp"
#include "runtime/kernels/compile_cuda.hpp"
#include "runtime/kernels/executable.hpp"
#include "stub_driver.hpp"

namespace {

using namespace ingot;

struct statement {
    std::string name;
    std::function<void()> run;
};

struct inputs {
    array<float> x = empty<float>({1 << 20}), y = empty<float>({1 << 20});
    array<double> d = empty<double>({1 << 20});
    array<std::int8_t> b = empty<std::int8_t>({1 << 20});
    array<int> i = empty<int>({1 << 20}), j = empty<int>({1 << 20});
    array<float> m = empty<float>({8192, 4096}), n = empty<float>({4096, 8192});
    array<float> mu = empty<float>({8192, 1}), sd = empty<float>({8192, 1});
    array<float> narrow = empty<float>({1 << 20, 17}), long_rows = empty<float>({8, 1 << 22});
};

std::vector<statement> statements() {
    static const inputs in;
    const auto &x = in.x, &y = in.y;
    const auto &m = in.m, &n = in.n;
    const slice inside(1, -1), before(none, -2), after(2, none);
    return {
        {"where", [&] { eval(where(x - 2 > y, x * y, x + y)); }},
        {"b * 2 + 1, int8", [&] { eval(in.b * 2 + 1); }},
        {"gelu", [&] { eval(0.5f * x * (1 + tanh(0.7978846f * (x + 0.044715f * x * x * x)))); }},
        {"Black-Scholes",
         [&] {
             const auto d1 = (log(x / y) + 0.045f) * 4.f;
             const auto d2 = d1 - 0.3f;
             eval(x * ndtr(d1) - y * 0.98f * ndtr(d2));
         }},
        {"power(d, 1.5)", [&] { eval(power(in.d, 1.5)); }},
        {"floor_divide and remainder", [&] { eval(in.i / in.j + in.i % in.j); }},
        {"(m - mu) / sd", [&] { eval((m - in.mu) / in.sd); }},
        {"m + n transposed", [&] { eval(m + transpose(n)); }},
        {"5-point stencil",
         [&, inside, before, after] {
             eval(m(before, inside) + m(after, inside) + m(inside, before) + m(inside, after) - 4 * m(inside, inside));
         }},
        {"sum", [&] { eval(sum(x)); }},
        {"sum(m, 1)", [&] { eval(sum(m, 1)); }},
        {"sum(m, 0)", [&] { eval(sum(m, 0)); }},
        {"mean(square(m - 1), 0)", [&] { eval(mean(square(m - 1), 0)); }},
        {"max of short rows", [&] { eval(max(in.narrow, 1)); }},
        {"max of narrow columns", [&] { eval(max(in.narrow, 0)); }},
        {"argmax", [&] { eval(argmax(x)); }},
        {"argmax(m, 1)", [&] { eval(argmax(m, 1)); }},
        {"argmax(m, 0)", [&] { eval(argmax(m, 0)); }},
        {"var", [&] { eval(var(x)); }},
        {"var(m, 1)", [&] { eval(var(m, 1)); }},
        {"var(m, 0)", [&] { eval(var(m, 0)); }},
        {"var of narrow columns", [&] { eval(var(in.narrow, 0)); }},
        {"logsumexp(m, 1)", [&] { eval(logsumexp(m, 1)); }},
        {"softmax(m, 1)", [&] { eval(softmax(m, 1)); }},
        {"softmax(m, 0)", [&] { eval(softmax(m, 0)); }},
        {"softmax of very long rows", [&] { eval(softmax(in.long_rows, 1)); }},
        {"standardise rows", [&] { eval((m - mean(m, 1, keepdims)) / sqrt(var(m, 1, keepdims) + 1e-5f)); }},
        {"cumsum", [&] { eval(cumsum(x * x)); }},
        {"cumsum(m, 1)", [&] { eval(cumsum(m, 1)); }},
        {"cumsum(m, 0)", [&] { eval(cumsum(m, 0)); }},
        {"cumsum of narrow columns", [&] { eval(cumsum(in.narrow, 0)); }},
        {"uniform", [] { eval(random::uniform<float>({1 << 20}) * 2); }},
        {"normal", [] { eval(random::normal<float>({1 << 20}) * 2); }},
        {"normal, float64", [] { eval(random::normal<double>({1 << 20}) * 2); }},
        {"normal rows by a column", [&] { eval(random::normal<float>({8192, 4096}) * in.sd); }},
        {"pi by two uniform leaves",
         [] {
             const auto u = random::uniform<float>({1 << 20}), v = random::uniform<float>({1 << 20});
             eval(4 * mean(astype<float>(u * u + v * v < 1)));
         }},
        {"mean of rows of normals", [] { eval(mean(random::normal<float>({8192, 4096}), 1)); }},
        {"mean of columns of normals", [] { eval(mean(random::normal<float>({8192, 4096}), 0)); }},
        {"softmax of rows of normals", [] { eval(softmax(random::normal<float>({8192, 4096}), 1)); }},
        {"Asian option by cumsum of normals",
         [] {
             const auto path = 100.f * exp(cumsum(0.01f * random::normal<float>({1 << 16, 256}) - 5e-5f, 1));
             eval(mean(maximum(mean(path, 1) - 100, 0)));
         }},
    };
}

using words = std::vector<std::uint32_t>;
std::vector<words> new_keys;

double milliseconds_of_processor() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

runtime::source_text source_of(const words& key_words) {
    const codegen::key key = codegen::decode(key_words);
    runtime::source_text source = runtime::source_of(key, codegen::make_plan(key));
    source.options.push_back("--no-cache");
    return source;
}

/// The sources that a statement compiles, and the least time of their compilation.
struct measured {
    std::string name;
    std::vector<runtime::source_text> sources;
    double milliseconds = 1e300;
    std::size_t bytes = 0;

    void compile(const std::string& folder) {
        bytes = 0;
        const double start = milliseconds_of_processor();
        std::vector<runtime::compilation> compiled;
        for (const runtime::source_text& s : sources) compiled.push_back(runtime::compile_cuda(s));
        milliseconds = std::min(milliseconds, milliseconds_of_processor() - start);
        for (std::size_t i = 0; i < sources.size(); ++i) {
            if (!compiled[i].accepted) throw std::runtime_error(name + ": " + compiled[i].log);
            bytes += compiled[i].code.size();
            if (!folder.empty()) keep(folder, i, compiled[i].code);
        }
    }

private:
    void keep(const std::string& folder, std::size_t i, const std::vector<std::byte>& code) const {
        std::string file = name + (i == 0 ? "" : " " + std::to_string(i));
        std::ranges::replace(file, '/', ':');
        const std::filesystem::path path = std::filesystem::path(folder) / file;
        std::ofstream(path.string() + ".cu") << sources[i].text;
        std::ofstream(path.string() + ".cubin")
            .write(reinterpret_cast<const char*>(code.data()), static_cast<std::streamsize>(code.size()));
    }
};

int run(int argc, char** argv) {
    if (argc < 2) return std::fprintf(stderr, "usage: cold_compiles RESULTS.jsonl [ROUNDS [NAME [FOLDER]]]\n"), 2;
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 3;
    const std::string only = argc > 3 ? argv[3] : "", folder = argc > 4 ? argv[4] : "";

    static const runtime::driver_api nothing = bench::stub_driver();
    const runtime::driver_replacement in_place(nothing);
    const with_device on_gpu(device::cuda(0));
    runtime::observe_new_keys(
        [](std::span<const std::uint32_t> key) { new_keys.emplace_back(key.begin(), key.end()); });
    std::vector<measured> all;
    for (const statement& s : statements()) {
        if (s.name != "where" && s.name.find(only) == s.name.npos) continue;
        new_keys.clear();
        s.run();
        measured& m = all.emplace_back();
        m.name = s.name;
        for (const words& key : new_keys) m.sources.push_back(source_of(key));
    }
    for (int round = 0; round < rounds; ++round)
        for (measured& m : all) m.compile(round == 0 ? folder : "");

    bench::report out(argv[1]);
    const double where = all.front().milliseconds;
    std::vector<double> ratios;
    for (const measured& m : all) {
        ratios.push_back(m.milliseconds / where);
        out.add({.section = "cold compiles",
                 .name = m.name,
                 .unit = "ms",
                 .time = m.milliseconds,
                 .baseline = "where",
                 .baseline_time = where,
                 .note = std::to_string(m.bytes) + " bytes of code, " + std::to_string(m.sources.size()) +
                         " sources, " + std::to_string(ratios.back()).substr(0, 5) + " times where's"});
    }
    const auto add = [&](const char* name, double ratio, double goal) {
        out.add({.section = "cold compiles",
                 .name = name,
                 .unit = "times",
                 .time = ratio,
                 .kind = bench::promise::limit,
                 .goal = goal});
    };
    add("the median, against where", bench::median(ratios), 3);
    add("the slowest, against where", *std::ranges::max_element(ratios), 5);
    return 0;
}

}  // namespace

int main(int argc, char** argv) try { return run(argc, argv); } catch (const std::exception& e) {
    std::fprintf(stderr, "cold_compiles: %s\n", e.what());
    return 1;
}
