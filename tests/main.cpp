// The tests' main, shared by the executables of all layers. Every kernel that a test makes on the host is made for CUDA
// too, and compiled by NVRTC where there is one: for the architectures that INGOT_TEST_ARCHITECTURES lists. Its arrays
// are to be registers.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/key.hpp"
#include "codegen/schedule.hpp"
#include "runtime/compile_cuda.hpp"
#include "runtime/executable.hpp"
#include "runtime/nvrtc.hpp"

namespace {

using namespace ingot;

std::vector<std::string> architectures;  // sm_90; or compute_90, for which no more than PTX is made
std::atomic<int> host_keys{0}, cuda_kernels{0}, in_memory{0};
std::atomic<long long> cuda_nanoseconds{0};

/// The finer classes that only a GPU's key has: some of rows across memory.
void add_fine_classes(codegen::key& key) {
    std::size_t inner = 0;
    while (inner + 1 < key.axes.size() && key.axes[inner + 1].owner == 0) ++inner;
    const bool narrow = (key.axes[inner].bucket & detail::bucket::short_inner) != 0;
    for (codegen::axis_class& row : key.axes) {
        if (row.owner == 0) continue;
        if (narrow && row.partner != 0) key.axes[inner].fine = 3;
        const std::size_t axis = static_cast<std::size_t>(&row - key.axes.data());
        const bool along = std::ranges::any_of(key.operands, [axis](const codegen::operand_class& o) {
            return o.strides[axis] == detail::stride_class::unit;
        });
        if (!narrow && !along && row.bucket == 1) row.fine = 4;
    }
}

/// Of PTX. An array whose loop is not unrolled lies in local memory, and so does every use of it. Functions of angles
/// have one for large angles, row programs for what they compute once more where a value was rare.
bool keeps_arrays_in_memory(const std::vector<std::byte>& code, const codegen::plan& plan) {
    const std::string_view text(reinterpret_cast<const char*>(code.data()), code.size());
    return text.find("__local_depot") != text.npos &&
           std::ranges::none_of(plan.steps, [](const codegen::launch& s) { return s.pattern == "row program"; }) &&
           std::ranges::none_of(std::array{"sin(", "cos(", "tan(", "sincos"},
                                [&](const char* function) { return plan.source.find(function) != plan.source.npos; });
}

void compile_for_cuda(std::span<const std::uint32_t> words) {
    codegen::key key = codegen::decode(words);
    if (key.header.where != detail::target::host) return;
    ++host_keys;
    const auto start = std::chrono::steady_clock::now();
    if (!key.axes.empty()) add_fine_classes(key);
    for (const std::string& architecture : architectures) {
        key.header.where = detail::target::cuda;
        key.header.architecture =
            static_cast<std::uint32_t>(std::stoul(architecture.substr(architecture.find('_') + 1)));
        const codegen::plan plan = codegen::make_plan(key);
        if (!plan.missing.empty()) continue;
        runtime::source_text source = runtime::source_of(key, plan);
        source.architecture = architecture;
        const std::vector<std::byte> code = runtime::kernels().code(source);
        ++cuda_kernels;
        if (!keeps_arrays_in_memory(code, plan)) continue;
        ++in_memory;
        std::printf("a kernel keeps arrays in local memory: %s\n", plan.expression.c_str());
    }
    cuda_nanoseconds += (std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
    std::istringstream list(std::getenv("INGOT_TEST_ARCHITECTURES") ? std::getenv("INGOT_TEST_ARCHITECTURES") : "");
    for (std::string architecture; list >> architecture;) architectures.push_back(architecture);
    if (!runtime::nvrtc_path()) architectures.clear();
    runtime::observe_new_keys(compile_for_cuda);

    doctest::Context context(argc, argv);
    const int status = context.run();
    std::printf("%d keys; for CUDA %d kernels in %.1f s\n", host_keys.load(), cuda_kernels.load(),
                1e-9 * static_cast<double>(cuda_nanoseconds.load()));
    return status != 0 || in_memory == 0 ? status : 1;
}
