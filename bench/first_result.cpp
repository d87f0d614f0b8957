// The program that bench/processes.py starts repeatedly, with an empty cache or a warm one.
//   first_result result         computes a where and prints its first element: from start to first result
//   first_result compile FOLDER the milliseconds until the first kernel has run, and a similar second one, without the
//                               device's context; leaves both sources in FOLDER
//   first_result bundled FILE   like result, with a bundle of kernels and without a compiler: the exit status is 3 if
//                               NVRTC is opened all the same. `bundle` makes the file
//   first_result precompile       the milliseconds in which 30 different statements are compiled, by precompile
//   first_result in_turn        the same statements, one after another
//   first_result nvrtc FOLDER   the milliseconds of bare NVRTC, load and first launch on these sources
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <ingot/ingot.hpp>

#include "host_data.hpp"
#ifdef INGOT_HAS_CUDA_HEADERS
#include "gpu.hpp"
#include "runtime/kernels/compile_cuda.hpp"
#endif

namespace {

using namespace ingot;

constexpr std::size_t elements = std::size_t{1} << 20;

auto first(const array<float>& x, const array<float>& y) { return where(x - 2 > y, x * y, x + y); }
auto second(const array<float>& x, const array<float>& y) { return where(x + 2 < y, x - y, x * y); }

template <class F>
double milliseconds(F run) {
    const auto from = std::chrono::steady_clock::now();
    run();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - from).count();
}

struct inputs {
    std::vector<float> x_host = bench::uniform<float>(elements, 1, -4, 4);
    std::vector<float> y_host = bench::uniform<float>(elements, 2, -4, 4);
    array<float> x = asarray(x_host), y = asarray(y_host);
    float expected() const { return x_host[0] - 2 > y_host[0] ? x_host[0] * y_host[0] : x_host[0] + y_host[0]; }
};

int print_result() {
    const inputs in;
    const array<float> r = first(in.x, in.y);
    const float value = r.to_host()[0];
    std::printf("%.9g\n", static_cast<double>(value));
    std::fflush(stdout);
    return value == in.expected() ? 0 : 1;
}

/// Whether a library of that name is in the process.
bool is_open(const std::string& library) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
        if (line.find(library) != std::string::npos) return true;
    return false;
}

int print_bundled_result(const std::string& file, bool may_compile) {
    const with_cache_bundle kernels(file);
    if (const int status = print_result()) return status;
    return !may_compile && (counters().compiles != 0 || is_open("libnvrtc")) ? 3 : 0;
}

/// 30 statements of about one cost, each a kernel of its own.
std::vector<lazy<float>> different_statements(const array<float>& x, const array<float>& y) {
    std::vector<lazy<float>> all;
    for (unsigned i = 0; i < 30; ++i) {
        lazy<float> e = x;
        const lazy<float> other = y;
        for (unsigned level = 0; level < 5; ++level) {
            e = (i >> level & 1) != 0 ? lazy<float>(e * other + 1.5F) : lazy<float>(maximum(e - other, -2.5F));
            if (level % 2 == 0) e = exp(e * 0.25F);
        }
        all.push_back(e);
    }
    return all;
}

int time_thirty(bool together) {
    const inputs in;
    synchronize();
    const auto all = different_statements(in.x, in.y);
    const auto before = counters();
    const double taken = milliseconds([&] {
        if (together)
            [&]<std::size_t... I>(std::index_sequence<I...>) {
                precompile(all[I]...).wait();
            }(std::make_index_sequence<30>{});
        else
            for (const lazy<float>& e : all) precompile(e).wait();
    });
    if (counters().compiles - before.compiles != all.size())
        return std::fprintf(stderr, "%llu kernels were compiled\n",
                            static_cast<unsigned long long>(counters().compiles - before.compiles)),
               1;
    std::printf("{\"all\": %.3f}\n", taken);
    return 0;
}

void print_times(double one, double two) { std::printf("{\"first\": %.3f, \"second\": %.3f}\n", one, two); }

int time_kernels(const std::string& folder) {
    const inputs in;
    synchronize();
    const auto before = counters();
    array<float> r;
    const double one = milliseconds([&] {
        r = first(in.x, in.y);
        synchronize();
    });
    if (r.to_host()[0] != in.expected()) return 1;
    const double two = milliseconds([&] {
        r = second(in.x, in.y);
        synchronize();
    });
    if (counters().compiles - before.compiles != 2) return std::fprintf(stderr, "the cache was not empty\n"), 1;
    std::ofstream(folder + "/first.cu") << source(first(in.x, in.y));
    std::ofstream(folder + "/second.cu") << source(second(in.x, in.y));
    print_times(one, two);
    return 0;
}

#ifdef INGOT_HAS_CUDA_HEADERS
std::string text_of(const std::string& path) { return (std::ostringstream() << std::ifstream(path).rdbuf()).str(); }

/// Compiles and loads the source and finds its kernel, as a program that uses NVRTC directly does.
double time_bare(const std::string& path) {
    const auto source = bench::cuda_source(text_of(path), "", {});
    const auto name_at = source.text.find("__global__");
    const auto open = source.text.find("(const __grid_constant__", name_at);
    const auto begin = source.text.find_last_of(" \n", open) + 1;
    const std::string name = source.text.substr(begin, open - begin);
    return milliseconds([&] {
        const runtime::compilation compiled = runtime::compile_cuda(source);
        if (!compiled.accepted) throw std::runtime_error(compiled.log);
        const runtime::kernel_module loaded(runtime::target::cuda, name, compiled.code);
        CUfunction function = nullptr;
        runtime::check(runtime::driver()->cuKernelGetFunction(&function, loaded.kernel(name)), "loading a kernel");
    });
}

int time_nvrtc(const std::string& folder) {
    const inputs in;
    synchronize();
    const double one = time_bare(folder + "/first.cu");
    print_times(one, time_bare(folder + "/second.cu"));
    return 0;
}
#endif

}  // namespace

int main(int argc, char** argv) try {
    const std::string mode = argc > 1 ? argv[1] : "";
    if (argc == 2 && mode == "result") return print_result();
    if (argc == 3 && (mode == "bundle" || mode == "bundled")) return print_bundled_result(argv[2], mode == "bundle");
    if (argc == 2 && (mode == "precompile" || mode == "in_turn")) return time_thirty(mode == "precompile");
    if (argc == 3 && mode == "compile") return time_kernels(argv[2]);
#ifdef INGOT_HAS_CUDA_HEADERS
    if (argc == 3 && mode == "nvrtc") return time_nvrtc(argv[2]);
#endif
    return std::fprintf(stderr,
                        "usage: first_result result | bundle FILE | bundled FILE | precompile | in_turn | "
                        "compile FOLDER | nvrtc FOLDER\n"),
           2;
} catch (const std::exception& reason) {
    std::fprintf(stderr, "first_result: %s\n", reason.what());
    return 1;
}
