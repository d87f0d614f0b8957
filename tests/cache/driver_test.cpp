// The driver's table against a library that stands for libcuda.so.1. A process finds its driver once, so each case runs
// in a process of its own: this executable again, asked for the one test that is skipped otherwise.
#ifdef INGOT_HAS_CUDA_HEADERS
#include <doctest/doctest.h>

#include "runtime/device/driver.hpp"
#include "runtime/kernels/nvrtc.hpp"
#include "tests/cache/fixture.hpp"

using namespace ingot::runtime;
using namespace ingot::test;

namespace fs = std::filesystem;

namespace {

// Functions give the tests' answers; all others are `nothing`. FAKE_DRIVER selects the driver's defect.
constexpr char fake_driver[] = R"(
extern "C" char* getenv(const char*);
extern "C" int strcmp(const char*, const char*);
static bool fake_is(const char* what) { const char* v = getenv("FAKE_DRIVER"); return v && strcmp(v, what) == 0; }
static int nothing() { return 0; }
static int init(unsigned) { return fake_is("no device") ? 100 : 0; }
static int version(int* v) { *v = 12040; return 0; }
static int count(int* n) { *n = 1; return 0; }
static int name(int e, const char** s) { *s = e == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_NO_DEVICE"; return 0; }
static int text(int, const char** s) { *s = "so it says"; return 0; }
static int old_allocate(unsigned*, unsigned) { return 1; }
static int allocate(unsigned long*, unsigned long) { return 2; }
struct entry { const char* name; int since; void* function; };
static const entry entries[] = {
    {"cuInit", 2000, (void*)init},             {"cuDriverGetVersion", 2020, (void*)version},
    {"cuDeviceGetCount", 2000, (void*)count},  {"cuGetErrorName", 6000, (void*)name},
    {"cuGetErrorString", 6000, (void*)text},   {"cuMemAlloc", 3020, (void*)allocate},
    {"cuMemAlloc", 2000, (void*)old_allocate},
};
extern "C" int ENTRY(const char* name, void** function, int version, unsigned long, int*) {
    if (fake_is("lacks cuLaunchKernelEx") && strcmp(name, "cuLaunchKernelEx") == 0) return 500;
    *function = (void*)nothing;
    for (const entry& e : entries) {
        if (strcmp(e.name, name) == 0 && version >= e.since) { *function = e.function; return 0; }
    }
    return 0;
}
)";

/// Runs the skipped test with the fake driver on the loader's path.
int run_with_fake(const char* fault, const char* entry_point) {
    const scratch_directory scratch;
    source_text source = answering(0);
    source.text = std::string("#define ENTRY ") + entry_point + "\n" + fake_driver;
    source.options = {"-Wl,-soname,libcuda.so.1"};
    const auto library = compile(source);
    std::ofstream(scratch.path() / "libcuda.so.1")
        .write(reinterpret_cast<const char*>(library.data()), static_cast<std::streamsize>(library.size()));
    std::ofstream(scratch.path() / "libnvrtc.so.12") << "not opened";
    return exit_status(start_child([&] {
        setenv("FAKE_DRIVER", fault, 1);
        setenv("LD_LIBRARY_PATH", scratch.path().c_str(), 1);
        execl("/proc/self/exe", "test", "--no-skip", "--minimal", "--test-case=beside a fake driver", nullptr);
        return 98;
    }));
}

}  // namespace

TEST_CASE("an error of a driver that has shut down says so") {
    try {
        throw_driver_error(CUDA_ERROR_DEINITIALIZED, "making a GPU's context current");
    } catch (const ingot::device_error& e) {
        const std::string text = e.what();
        CHECK_MESSAGE(text.starts_with("[making a GPU's context current] the CUDA driver has shut down"), text);
    }
}

TEST_CASE("beside a fake driver" * doctest::skip()) {
    const char* const variable = std::getenv("FAKE_DRIVER");
    REQUIRE(variable != nullptr);
    const std::string fault = variable;
    if (fault == "none") {
        REQUIRE(has_driver());
        CUdeviceptr pointer = 0;
        const CUresult status = driver()->cuMemAlloc(&pointer, 1);
        CHECK(status == CUDA_ERROR_OUT_OF_MEMORY);  // the old ABI's entry answers otherwise
        CHECK_THROWS_WITH_AS(check(status, "allocate"), "[allocate] CUDA_ERROR_OUT_OF_MEMORY: so it says",
                             ingot::out_of_memory);
        CHECK_THROWS_WITH_AS(check(CUDA_ERROR_NO_DEVICE, "open"), "[open] CUDA_ERROR_NO_DEVICE: so it says",
                             ingot::device_error);
        check(CUDA_SUCCESS, "nothing");
        // A driver of 12.4 knows no NVRTC 13: the newest of its own major is taken, and not opened.
        REQUIRE(nvrtc_path());
        CHECK(nvrtc_path()->filename() == "libnvrtc.so.12");
        CHECK(compiler_identity(target::cuda).find("libnvrtc.so.12") != std::string::npos);
        source_text source;
        source.where = target::cuda;
        source.architecture = "sm_90";
        CHECK_THROWS_WITH_AS(compile(source), doctest::Contains("CUDA_HOME"), ingot::library_error);
    } else {
        CHECK_FALSE(has_driver());
        const std::string expected = fault == "no device" ? "cuInit: CUDA_ERROR_NO_DEVICE"
                                     : fault == "too old" ? "the driver is older than 12.0"
                                                          : "the driver has no cuLaunchKernelEx of version 11060";
        CHECK(why_no_driver() == expected);
        CHECK_THROWS_WITH_AS(need_driver("launch"), ("[launch] there is no CUDA device: " + expected).c_str(),
                             ingot::device_error);
    }
}

TEST_CASE("driver entries are those of the versions that are asked for") {
    CHECK(run_with_fake("none", "cuGetProcAddress_v2") == 0);
}

TEST_CASE("a driver without a GPU, of before 12.0 or with a function missing is no driver, and says why") {
    CHECK(run_with_fake("no device", "cuGetProcAddress_v2") == 0);
    CHECK(run_with_fake("too old", "cuGetProcAddress") == 0);
    CHECK(run_with_fake("lacks cuLaunchKernelEx", "cuGetProcAddress_v2") == 0);
}
#else
#include <doctest/doctest.h>

#include "tests/untested.hpp"

TEST_CASE("the driver's table") { ingot::test::untested("built without CUDA's headers"); }
#endif
