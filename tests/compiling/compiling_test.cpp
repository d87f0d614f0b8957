// Compiling ahead: kernels in the background, and in a file that ships with a program.
#include <doctest/doctest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <ingot/ingot.hpp>

#include "runtime/kernels/cache_bundle.hpp"
#include "runtime/kernels/kernel_module.hpp"
#include "runtime/kernels/nvrtc.hpp"
#include "tests/arrays/expect.hpp"
#include "tests/cache/fixture.hpp"
#include "tests/untested.hpp"

using namespace ingot;
using namespace ingot::test;

namespace {

std::string output_of(const std::string& command) {
    FILE* const pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string text;
    std::array<char, 4096> part;
    while (const std::size_t n = fread(part.data(), 1, part.size(), pipe)) text.append(part.data(), n);
    CHECK(pclose(pipe) == 0);
    return text;
}

}  // namespace

TEST_CASE("what was precompiled is compiled once, and not again when it is evaluated") {
    const array<float> x = arange<float>(100), y = x + 3;
    const auto first = sin(x) * 3 - cos(y);
    const auto second = x * y - 17;
    const auto third = sum(x * x * 5 + y);
    const auto before = counters();
    const precompiled kernels = precompile(first, second, third, second);
    kernels.wait();
    CHECK(kernels.done());
    const auto compiled = counters();
    CHECK(compiled.compiles + compiled.disk_cache_hits - before.compiles - before.disk_cache_hits == 3);
    CHECK(compiled.kernel_launches == before.kernel_launches);
    const array<float> a = first, b = second;
    CHECK(third.item() == 5 * 328350 + 4950 + 300);
    CHECK(b(2).item() == 2 * 5 - 17);
    CHECK(a.size() == 100);
    CHECK(counters().compiles == compiled.compiles);
    CHECK(precompile(first).done());  // there is nothing to do
}

TEST_CASE("an evaluation waits for its kernel, and threads precompile side by side") {
    const array<double> x = arange<double>(50);
    const auto before = counters();
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&] {
            precompile(sqrt(x) / 7 + x * x, exp(x * 0.0) - 0.25);
            CHECK(eval(exp(x * 0.0) - 0.25)(7).item() == 0.75);
        });
    for (std::thread& t : threads) t.join();
    precompile(sqrt(x) / 7 + x * x).wait();
    const auto after = counters();
    CHECK(after.compiles + after.disk_cache_hits - before.compiles - before.disk_cache_hits <= 3);  // an index too
}

TEST_CASE("a text that does not compile is told by who waits, and by the evaluation") {
    const elementwise_kernel<"T x", "T y"> bad("y = not_there;", "bad");
    const array<float> x{1};
    const precompiled kernels = precompile(bad(x));
    CHECK_THROWS_AS(kernels.wait(), compile_error);
    CHECK_THROWS_AS((void)eval(bad(x)), compile_error);
}

TEST_CASE("a program with a bundle starts without a compiler, with nothing in its disk cache") {
    const scratch_directory scratch;
    const std::string program = " '" INGOT_TEST_PROGRAMS "/bundled' " + (scratch.path() / "bundle").string();
    const auto run = [&](const char* cache, const char* more) {
        return output_of("env INGOT_CACHE_DIR=" + (scratch.path() / cache).string() + " " + more + program);
    };
    const std::string first = run("one", "");
    CHECK(first.starts_with("18 1 12; compiled "));
    CHECK(first.find("compiled 0,") == std::string::npos);
    if (current_device().is_host()) {
        CHECK(run("two", "INGOT_CXX=/no/compiler") == "18 1 12; compiled 0, from disk 0, interpreted 0\n");
    } else {
        CHECK(run("two", "") == "18 1 12; compiled 0, from disk 0, interpreted 0\n");
    }
    // Kernels taken from the disk cache are put into a bundle too.
    std::filesystem::remove(scratch.path() / "bundle");
    CHECK(run("one", "").find("compiled 0, from disk ") != std::string::npos);
    CHECK(run("three", "").find("compiled 0, from disk 0") != std::string::npos);
}

TEST_CASE("NVRTC is not asked for what a bundle has, and another GPU's kernels are told by name") {
    if (!runtime::nvrtc_path()) return untested("NVRTC is not here");
    const scratch_directory scratch;
    runtime::source_text source;
    source.where = runtime::target::cuda;
    source.architecture = "sm_90";
    source.text = "extern \"C\" __global__ void once(float* x) { x[threadIdx.x] += 1; }\n";
    source.kernels = {"once"};
    const std::string path = scratch.path() / "bundle";
    runtime::kernel_store store(std::nullopt);
    std::vector<std::byte> made;
    {
        const with_cache_bundle bundle(path);
        made = store.code(source);
        CHECK(bundle.size() == 1);
    }
    const with_cache_bundle bundle(path);
    CHECK(bundle.size() == 1);
    const auto compiles = counters().compiles;
    CHECK(runtime::kernel_store(std::nullopt).code(source) == made);
    CHECK(counters().compiles == compiles);
    CHECK(runtime::kernels_of_bundles("sm_80") ==
          "\nThe bundle " + path + " has not this kernel for sm_80; its 1 kernels are for sm_90");
}

TEST_CASE("bundles that are damaged, cut short, of another version or none are refused, and stay as they are") {
    const scratch_directory scratch;
    const std::string path = scratch.path() / "bundle";
    runtime::write_bundle(path, runtime::cache_version(), {{"one\narchitecture a\n", std::vector<std::byte>(100)}});
    std::string whole;
    {
        std::ifstream in(path, std::ios::binary);
        whole.assign(std::istreambuf_iterator<char>(in), {});
    }
    const auto refused = [&](const std::string& content) {
        std::ofstream(path, std::ios::binary) << content;
        return thrown<file_error>([&] { const with_cache_bundle bundle(path); });
    };
    CHECK(with_cache_bundle(path).size() == 1);
    CHECK(refused(whole.substr(0, 60)) == "[bundle] " + path + " is cut short");
    CHECK(refused("no such thing, at all") == "[bundle] " + path + " is no bundle of kernels");
    CHECK(refused("") == "[bundle] " + path + " is no bundle of kernels");
    std::string damaged = whole;
    damaged[80] = static_cast<char>(damaged[80] ^ 1);
    CHECK(refused(damaged) == "[bundle] " + path + " is damaged");
    runtime::write_bundle(path, "0", {});
    CHECK(thrown<file_error>([&] { const with_cache_bundle bundle(path); }) ==
          "[bundle] " + path + " was made by version 0, and this is " + runtime::cache_version());
    CHECK(thrown<file_error>([&] {
              const with_cache_bundle bundle(scratch.path().string());
          }).starts_with("[bundle] " + scratch.path().string() + ": "));
    const with_cache_bundle nowhere("/no/such/folder/bundle");
    runtime::add_to_bundle("one", {});
    CHECK_THROWS_AS(nowhere.save(), file_error);
}
