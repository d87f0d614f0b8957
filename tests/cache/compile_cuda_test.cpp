// NVRTC without a GPU: cubin for the exact architecture, PTX for an unknown newer one, errors.
#ifdef INGOT_HAS_CUDA_HEADERS
#include <doctest/doctest.h>

#include <cstring>

#include "runtime/kernels/compile_cuda.hpp"
#include "runtime/kernels/kernel_module.hpp"
#include "runtime/kernels/nvrtc.hpp"
#include "tests/cache/fixture.hpp"
#include "tests/untested.hpp"

using namespace ingot::runtime;
using namespace ingot::test;

namespace {

source_text doubling(const std::string& architecture) {
    source_text source;
    source.where = target::cuda;
    source.architecture = architecture;
    source.text = "extern \"C\" __global__ void twice(float* x) { x[threadIdx.x] *= 2; }\n";
    source.options = {"-fmad=true"};
    source.kernels = {"twice"};
    return source;
}

bool is_elf(const std::vector<std::byte>& code) {
    return code.size() > 4 && std::memcmp(code.data(), "\177ELF", 4) == 0;
}

}  // namespace

TEST_CASE("a CUDA source becomes a cubin of the exact architecture, with no GPU") {
    for (const char* const architecture : {"sm_80", "sm_90", "sm_90a", "sm_100"}) {
        CHECK(is_elf(compile(doubling(architecture))));
    }
    CHECK(compile(doubling("sm_80")) != compile(doubling("sm_90")));
}

TEST_CASE("what generated sources do without changes no code") {
    source_text source = doubling("sm_90");
    source.text =
        "extern \"C\" __global__ void twice(uint4* x) {\n    __stcs(x + threadIdx.x, __ldg(x + "
        "__popc(__ballot_sync(~0u, threadIdx.x > 2))));\n}\n";
    const std::vector<std::byte> with_all = compile(source);
    source.is_generated = true;
    CHECK(compile(source) == with_all);
    source.text = "extern \"C\" __global__ void twice(cudaTextureObject_t* x) {}\n";
    CHECK_THROWS_AS((void)compile(source), ingot::compile_error);  // a user's text may have it
    source.is_generated = false;
    CHECK(is_elf(compile(source)));
}

TEST_CASE("a GPU newer than NVRTC gets PTX") {
    const auto code = compile(doubling("sm_999"));
    REQUIRE_FALSE(is_elf(code));
    CHECK(code.back() == std::byte{0});
    CHECK(std::string(reinterpret_cast<const char*>(code.data())).find(".entry twice") != std::string::npos);
}

TEST_CASE("a GPU older than NVRTC serves is a library_error that names it") {
    CHECK_THROWS_WITH_AS(compile(doubling("sm_20")), doctest::Contains("as old as sm_20"), ingot::library_error);
}

TEST_CASE("an option that NVRTC does not know is a library_error that names it") {
    source_text source = doubling("sm_90");
    source.options = {"--no-such-option"};
    CHECK_THROWS_WITH_AS(compile(source), doctest::Contains("no-such-option"), ingot::library_error);
}

TEST_CASE("a CUDA source that NVRTC rejects is a compile_error with log and numbered source") {
    source_text source = doubling("sm_90");
    source.text = "extern \"C\" __global__ void twice(float* x) {\n    x[0] = nonsense;\n}\n";
    try {
        compile(source);
        FAIL("compiled");
    } catch (const ingot::compile_error& caught) {
        CHECK(caught.log().find("identifier \"nonsense\" is undefined") != std::string::npos);
        CHECK(caught.log().back() != '\0');
        CHECK(caught.source().find("   2      x[0] = nonsense;\n") != std::string::npos);
        const std::string what = caught.what();
        CHECK(what.find("[compile] NVRTC rejected the source of twice; it is saved in ") == 0);
        const std::size_t from = what.find("saved in ") + 9;
        CHECK(std::filesystem::remove(what.substr(from, what.find('\n') - from)));
    }
}

TEST_CASE("a CUDA kernel comes from the disk cache the second time") {
    const scratch_directory scratch;
    kernel_store first(cache_in(scratch.path())), second(cache_in(scratch.path()));
    const auto before = ingot::counters();
    const auto code = first.code(doubling("sm_90"));
    CHECK(second.code(doubling("sm_90")) == code);
    CHECK(second.code(doubling("sm_80")) != code);
    const auto after = ingot::counters();
    CHECK(after.compiles - before.compiles == 2);
    CHECK(after.disk_cache_hits - before.disk_cache_hits == 1);
}

TEST_CASE("without a driver, loading a CUDA kernel is a device_error that says why") {
    if (has_driver()) return ingot::test::untested("there is a driver here");
    CHECK_THROWS_WITH_AS(kernel_module(target::cuda, "twice", compile(doubling("sm_90"))),
                         doctest::Contains(why_no_driver().c_str()), ingot::device_error);
    CHECK(driver() == nullptr);
    CHECK_FALSE(why_no_driver().empty());
}
#else
#include <doctest/doctest.h>

#include "tests/untested.hpp"

TEST_CASE("NVRTC without a GPU") { ingot::test::untested("built without CUDA's headers"); }
#endif
