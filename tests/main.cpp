// The tests' main, shared by the executables of all layers. It ends by saying what was not tested, and why. Of the
// kernels that tests make on the host a sixth, others in each run, is made for CUDA too, and compiled by NVRTC where
// there is one: for the architectures that INGOT_TEST_ARCHITECTURES lists; all where INGOT_TEST_ALL is set. Their
// arrays are to be registers.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/graph/key.hpp"
#include "codegen/plan/schedule.hpp"
#include "runtime/kernels/compile_cuda.hpp"
#include "runtime/kernels/executable.hpp"
#include "runtime/kernels/nvrtc.hpp"
#include "runtime/system/counters.hpp"
#include "runtime/system/per_thread.hpp"
#include "tests/drawn.hpp"
#include "tests/untested.hpp"

namespace {

using namespace ingot;

std::vector<std::string> architectures;  // sm_90; or compute_90, for which no more than PTX is made
std::atomic<int> host_keys{0}, cuda_kernels{0}, cuda_compiles{0}, in_memory{0};
std::atomic<long long> cuda_nanoseconds{0};

/// The finer classes that only a GPU's key has: of short rows, unless they are one run of memory, of rows across
/// memory, and of few places that one value is added to.
void add_subclasses(codegen::key& key) {
    std::size_t inner = 0;
    while (inner + 1 < key.axes.size() && key.axes[inner + 1].owner == 0) ++inner;
    const bool narrow = (key.axes[inner].flags & detail::axis_flags::short_inner) != 0;
    for (codegen::axis_class& row : key.axes) {
        if (row.owner == 0) continue;
        if (narrow && row.partner != 0) key.axes[inner].extent = 3;
        const std::size_t axis = static_cast<std::size_t>(&row - key.axes.data());
        const bool dense = std::ranges::any_of(key.operands, [axis](const codegen::operand_class& o) {
            return o.strides[axis] != detail::stride_class::broadcast && o.head.dense;
        });
        if (!dense && row.length_class == 1) row.subclass = 4;
    }
    if (detail::kind_of_word(key.program.back()) != detail::word_kind::scatter ||
        detail::code_of_word(key.program.back()) != static_cast<std::uint32_t>(detail::scatter_rule::add))
        return;
    for (codegen::operand_class& o : key.outputs)
        if (detail::kind_of(o.head.type) == detail::kind::integer && detail::size_of(o.head.type) >= 4)
            o.head.few_places = static_cast<std::uint8_t>(8 + 2 * (test::drawing_seed() % 4));
}

/// Whether PTX keeps an array in local memory, as it does where a loop over the array is not unrolled. Two kinds of
/// kernels may: functions of angles and Bessel functions have an array for large angles, row programs one for elements
/// that they compute again after a rare value.
bool keeps_arrays_in_memory(const std::vector<std::byte>& code, const codegen::plan& plan) {
    const std::string_view text(reinterpret_cast<const char*>(code.data()), code.size());
    return text.find("__local_depot") != text.npos &&
           std::ranges::none_of(codegen::launches_of(plan),
                                [](const codegen::launch& s) { return s.pattern == "row program"; }) &&
           std::ranges::none_of(std::array{"sin(", "cos(", "tan(", "sincos", "j0(", "j1(", "y0(", "y1("},
                                [&](const char* function) { return plan.source.find(function) != plan.source.npos; });
}

/// A line of words in a file of the process's own, in the folder that INGOT_KEEP_KEYS names
/// (tests/programs/corpus.cpp).
void keep(std::span<const std::uint32_t> words) {
    static const char* const folder = std::getenv("INGOT_KEEP_KEYS");
    if (folder == nullptr) return;
    std::ostringstream line;
    line << std::hex;
    for (const std::uint32_t w : words) line << w << ' ';
    static std::mutex one_by_one;
    const std::lock_guard lock(one_by_one);
    static std::ofstream file(std::string(folder) + '/' + std::to_string(getpid()));
    file << line.str() << std::endl;
}

/// The draw depends only on the words, not on the statement that first meets a key.
bool is_drawn(std::span<const std::uint32_t> words) {
    static const bool all = std::getenv("INGOT_TEST_ALL") != nullptr;
    if (all) return true;
    std::uint64_t hash = test::drawing_seed();
    for (const std::uint32_t w : words) hash = (hash ^ w) * 0x9e3779b97f4a7c15u;
    return (hash >> 33) % 6 == 0;
}

/// Returns the count of this thread, and of earlier threads that had its block. A case that counts compiles means those
/// of its own statements; whether kernels are compiled for CUDA beside them depends on the draw.
std::uint64_t counted(runtime::counter which) {
    return runtime::per_thread<runtime::counter_block>::own().values[static_cast<std::size_t>(which)].load();
}

/// CPU time of this thread, whatever else the machine does.
long long thread_nanoseconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1'000'000'000ll + now.tv_nsec;
}

void compile_for_cuda(std::span<const std::uint32_t> words) {
    keep(words);
    codegen::key key = codegen::decode(words);
    if (key.header.where != detail::target::host) return;
    ++host_keys;
    if (!is_drawn(words)) return;
    const long long start = thread_nanoseconds();
    constexpr std::array changed{runtime::counter::compiles, runtime::counter::disk_cache_hits};
    const std::array before{counted(changed[0]), counted(changed[1])};
    if (!key.axes.empty()) add_subclasses(key);
    for (const std::string& architecture : architectures) {
        key.header.where = detail::target::cuda;
        key.header.architecture =
            static_cast<std::uint32_t>(std::stoul(architecture.substr(architecture.find('_') + 1)));
        const codegen::plan plan = codegen::make_plan(key);
        if (!plan.missing.empty() || codegen::launches_of(plan).empty()) continue;
        runtime::source_text source = runtime::source_of(key, plan);
        source.architecture = architecture;
        const std::vector<std::byte> code = runtime::kernels().code(source);
        ++cuda_kernels;
        if (!keeps_arrays_in_memory(code, plan)) continue;
        ++in_memory;
        std::printf("a kernel keeps arrays in local memory: %s\n", plan.expression.c_str());
    }
    cuda_compiles += static_cast<int>(counted(changed[0]) - before[0]);
    for (std::size_t i = 0; i < changed.size(); ++i)
        runtime::add(changed[i], static_cast<std::int64_t>(before[i] - counted(changed[i])));
    cuda_nanoseconds += thread_nanoseconds() - start;
}

/// Lines that name a case and why it did not test, once each.
struct untested_cases {
    std::mutex mutex;
    std::set<std::string> lines;

    void add(const char* kind, std::string_view name, std::string_view why) {
        const std::lock_guard lock(mutex);
        lines.insert(std::string(kind) + " \"" + std::string(name) + "\": " + std::string(why));
    }
} all_untested;

std::string_view running_case() { return doctest::getContextOptions()->currentTest->m_name; }

}  // namespace

namespace ingot::test {

void untested(std::string_view why) { all_untested.add("not tested:", running_case(), why); }
void untested_part(std::string_view why) { all_untested.add("not tested in part:", running_case(), why); }

}  // namespace ingot::test

int main(int argc, char** argv) {
    std::istringstream list(std::getenv("INGOT_TEST_ARCHITECTURES") ? std::getenv("INGOT_TEST_ARCHITECTURES") : "");
    for (std::string architecture; list >> architecture;) architectures.push_back(architecture);
    if (!runtime::nvrtc_path() && !architectures.empty()) {
        architectures.clear();
        all_untested.add("not tested in part:", "every case", "NVRTC is not here, which would compile CUDA sources");
    }
    runtime::observe_new_keys(compile_for_cuda);
    // Layers of many kernels: vectors are left to --all, to the others and to benchmarks. g++ compiles such a kernel
    // with -Og in 28 ms, with -O1 in 40, with -O3 in 80.
    if (std::getenv("INGOT_TEST_MANY_KERNELS") != nullptr && std::getenv("INGOT_TEST_ALL") == nullptr)
        setenv("INGOT_CXXFLAGS", "-Og", 0);

    doctest::Context context(argc, argv);
    // So many cases, others in each run.
    if (const char* const some = std::getenv("INGOT_TEST_CASES"); some != nullptr && !std::getenv("INGOT_TEST_ALL")) {
        context.setOption("order-by", "rand");
        context.setOption("rand-seed", static_cast<int>(ingot::test::drawing_seed() % 1000000));
        context.setOption("last", std::atoi(some));
    }
    const int status = context.run();
    std::printf("%d keys; for CUDA %d kernels, %d of them compiled here, in %.1f s of CPU; INGOT_TEST_SEED=%lu\n",
                host_keys.load(), cuda_kernels.load(), cuda_compiles.load(),
                1e-9 * static_cast<double>(cuda_nanoseconds.load()), test::drawing_seed());
    for (const std::string& line : all_untested.lines) std::printf("%s\n", line.c_str());
    return status != 0 || in_memory == 0 ? status : 1;
}
