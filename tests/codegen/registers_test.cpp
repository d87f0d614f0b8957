// The estimate of registers, which decides the elements a thread of a large map, against the number that ptxas reports.
#ifdef INGOT_HAS_CUDA_HEADERS
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "codegen/graph/graph.hpp"
#include "codegen/plan/schedule.hpp"
#include "codegen/text/body.hpp"
#include "runtime/kernels/nvrtc.hpp"
#include "tests/codegen/key_builder.hpp"
#include "tests/untested.hpp"

using namespace ingot;
using namespace ingot::codegen;

namespace {

/// A key with n arrays, each needed again once the product of all is known: n values live at once.
key held_arrays(std::uint16_t n, dtype t, bool vector) {
    key_builder b(detail::target::cuda);
    b.axes(1);
    const char* const strides = vector ? "1" : "s";
    for (std::uint16_t i = 0; i < n; ++i) {
        b.leaf(t, strides, vector);
        if (i > 0) b.map("multiply");
    }
    for (std::uint16_t i = 0; i < n; ++i) b.again(i).map(i % 2 == 0 ? "add" : "multiply");
    return b.output(t, strides, vector).done();
}

int number_before(const std::string& text, const std::string& words) {
    const std::size_t end = text.find(words);
    REQUIRE(end != text.npos);
    return std::atoi(text.c_str() + text.find_last_not_of("0123456789", end - 1) + 1);
}
int number_behind(const std::string& text, const std::string& words) {
    const std::size_t at = text.find(words);
    REQUIRE(at != text.npos);
    return std::atoi(text.c_str() + at + words.size());
}

struct registers_used {
    int estimated, by_ptxas, spilled_bytes;
};

registers_used compiled_for_sm_90(const key& k) {
    const plan p = make_plan(k);
    REQUIRE(p.steps.size() == 1);
    const runtime::nvrtc_api& api = *runtime::nvrtc();
    nvrtcProgram program = nullptr;
    api.nvrtcCreateProgram(&program, p.source.c_str(), "map.cu", 0, nullptr, nullptr);
    const char* const options[] = {"--gpu-architecture=sm_90", "-std=c++20", "-fmad=true", "--no-cache",
                                   "--ptxas-options=-v"};
    const nvrtcResult status = api.nvrtcCompileProgram(program, std::size(options), options);
    std::size_t bytes = 0;
    api.nvrtcGetProgramLogSize(program, &bytes);
    std::string log(bytes, ' ');
    api.nvrtcGetProgramLog(program, log.data());
    api.nvrtcDestroyProgram(&program);
    REQUIRE_MESSAGE(status == NVRTC_SUCCESS, log);
    // The number of elements a thread, from those of the result that it holds.
    const std::size_t held = p.source.find(" z0[");
    const int each = held == p.source.npos ? 1 : std::atoi(p.source.c_str() + held + 4);
    return {each * static_cast<int>(live_registers(lower(k))), number_behind(log, "Used "),
            number_before(log, " bytes spill stores")};
}

}  // namespace

TEST_CASE("registers are estimated as ptxas gives them, and nothing spills where they were few enough") {
    if (std::getenv("INGOT_TEST_ALL") == nullptr) return;
    if (!runtime::nvrtc_path()) return test::untested("NVRTC is not here");
    constexpr int beside = 24;  // addresses, numbers of loops, the arguments
    for (const dtype t : {dtype::f4, dtype::f8})
        for (const bool vector : {true, false})
            for (const int n : {33, 39, 47, 60, 75, 90, 110, 130, 150}) {
                if (t == dtype::f8 && n > 75) continue;  // more than a thread's 255
                const registers_used r = compiled_for_sm_90(held_arrays(static_cast<std::uint16_t>(n), t, vector));
                INFO(n, " arrays of ", name(t), vector ? "" : ", strided", ": estimated ", r.estimated, ", ptxas ",
                     r.by_ptxas);
                CHECK(r.spilled_bytes == 0);
                CHECK(r.by_ptxas <= r.estimated + beside);
                CHECK(r.by_ptxas >= r.estimated);
            }
}
#endif
