// The host compiler: accepted and rejected sources, and all cases in which there is no compiler.
#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <cmath>

#include "runtime/kernels/kernel_module.hpp"
#include "tests/cache/fixture.hpp"

using namespace ingot::runtime;
using namespace ingot::test;

namespace fs = std::filesystem;

namespace {

/// A compiler that is this shell script, in $INGOT_CXX until its end.
class scripted_compiler {
public:
    explicit scripted_compiler(const std::string& script)
        : path_((scratch_.path() / "compiler").string()), chosen_("INGOT_CXX", path_.c_str()) {
        std::ofstream(path_) << "#!/bin/sh\n" << script << '\n';
        fs::permissions(path_, fs::perms::owner_all);
    }
    const std::string& path() const { return path_; }

private:
    scratch_directory scratch_;
    std::string path_;
    environment_variable chosen_;
};

template <typename Function>
Function* function_of(const kernel_module& module, const char* name) {
    return reinterpret_cast<Function*>(module.host_function(name));
}

std::string message_of(const source_text& source) {
    try {
        compile(source);
    } catch (const ingot::error& caught) {
        return caught.what();
    }
    return "compiled";
}

}  // namespace

TEST_CASE("a host source becomes a function that runs") {
    const kernel_module module(target::host, "answer", compile(answering(42)));
    CHECK(function_of<int()>(module, "answer")() == 42);
    CHECK_THROWS_AS(module.host_function("question"), ingot::library_error);
}

TEST_CASE("modules loaded one after another are different modules") {
    // The loader knows libraries by path and descriptors are used again: the second must not be the first.
    const kernel_module one(target::host, "answer", compile(answering(1)));
    const kernel_module two(target::host, "answer", compile(answering(2)));
    const kernel_module three(target::host, "answer", compile(answering(3)));
    CHECK(function_of<int()>(one, "answer")() == 1);
    CHECK(function_of<int()>(two, "answer")() == 2);
    CHECK(function_of<int()>(three, "answer")() == 3);
}

TEST_CASE("the vector math library, libm and libgcc are there without a header") {
    source_text source = answering(0);
    source.kernels = {"sum_of_exp"};
    source.text = R"(
extern "C" __attribute__((simd("notinbranch"))) float expf(float) noexcept;
extern "C" double sum_of_exp(const float* x, long n) {
    float each[1024];
    for (long i = 0; i < n; ++i) each[i] = expf(x[i]);
    double sum = 0;
    for (long i = 0; i < n; ++i) sum += each[i];
    return sum;
}
extern "C" void multiply(_Complex float* x, _Complex float y) { *x *= y; }
)";
    const kernel_module module(target::host, "sum_of_exp", compile(source));
    const std::vector<float> ones(1000, 1.0f);
    const double sum = function_of<double(const float*, long)>(module, "sum_of_exp")(ones.data(), 1000);
    CHECK(sum == doctest::Approx(1000 * std::exp(1.0)).epsilon(1e-6));
    CHECK(module.host_function("multiply") != nullptr);
}

TEST_CASE("a source that the compiler rejects is a compile_error with log, numbered source and the saved file") {
    source_text source = answering(1);
    source.text = "extern \"C\" int answer() {\n    return nonsense;\n}\n";
    try {
        compile(source);
        FAIL("compiled");
    } catch (const ingot::compile_error& caught) {
        CHECK(caught.log().find("nonsense") != std::string::npos);
        CHECK(caught.log().find(":2:") != std::string::npos);
        CHECK(caught.source().find("   2      return nonsense;\n") != std::string::npos);
        const std::string what = caught.what();
        CHECK(what.find("[compile] the host compiler rejected the source of answer") == 0);
        const std::size_t from = what.find("saved in ") + 9;
        const fs::path saved = what.substr(from, what.find('\n') - from);
        REQUIRE(fs::exists(saved));
        std::ifstream file(saved);
        CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == source.text);
        fs::remove(saved);
    }
}

TEST_CASE("no compiler is compiler_unavailable") {
    const environment_variable chosen("INGOT_CXX", "/nowhere/c++");
    CHECK_THROWS_AS(compile(answering(1)), compiler_unavailable);
    CHECK(message_of(answering(1)) == "[compile] no host compiler: /nowhere/c++");
    CHECK(compiler_identity(target::host) == "none");
}

TEST_CASE("no compiler in PATH is compiler_unavailable") {
    const environment_variable chosen("INGOT_CXX", nullptr), path("PATH", "/nowhere");
    CHECK(message_of(answering(1)) == "[compile] no host compiler: none of c++, g++, clang++ is in PATH");
}

TEST_CASE("INGOT_CXX may be a name in PATH") {
    const environment_variable chosen("INGOT_CXX", "g++");
    CHECK(host_compiler().filename() == "g++");
}

TEST_CASE("INGOT_CXXFLAGS come after the options of Ingot, and are another kernel to the cache") {
    const environment_variable chosen("INGOT_CXXFLAGS", nullptr);
    const source_text source = answering(1);
    const std::vector<std::string> own = compiler_options(source);
    const environment_variable more("INGOT_CXXFLAGS", "-O1  -fno-inline");
    const std::vector<std::string> options = compiler_options(source);
    const auto optimised = std::ranges::find(options, "-O3"), less = std::ranges::find(options, "-O1");
    CHECK(optimised < less);
    CHECK(less != options.end());
    CHECK(options.size() == own.size() + 2);
    const environment_variable wrong("INGOT_CXXFLAGS", "-no-such-option");
    CHECK_THROWS_AS(compile(source), compiler_unavailable);
}

TEST_CASE("a file that cannot be executed as a program is compiler_unavailable") {
    const scripted_compiler compiler("");
    std::ofstream(compiler.path()) << "neither a script nor a program";
    CHECK_THROWS_AS(compile(answering(1)), compiler_unavailable);
}

TEST_CASE("a compiler that is killed is compiler_unavailable") {
    const scripted_compiler compiler("kill -9 $$");
    CHECK(message_of(answering(1)).find("was killed by signal 9") != std::string::npos);
    CHECK_THROWS_AS(compile(answering(1)), compiler_unavailable);
}

TEST_CASE("a compiler whose own child is killed, or that has no room for its files, is compiler_unavailable") {
    for (const char* const says : {"c++: fatal error: Killed signal terminated program cc1plus",
                                   "<stdin>:1:1: internal compiler error: Segmentation fault",
                                   "clang-14: error: unable to execute command: Killed",
                                   "/usr/bin/ld: final link failed: No space left on device",
                                   "c++: error: unrecognized command-line option '-std=c++20'"}) {
        const scripted_compiler compiler("echo \"" + std::string(says) + "\" >&2; exit 1");
        CHECK_THROWS_AS(compile(answering(1)), compiler_unavailable);
    }
}

TEST_CASE("a compiler that fails with a diagnosis of the source is a compile_error") {
    const scratch_directory scratch;
    const environment_variable temporary("TMPDIR", scratch.path().c_str());
    for (const char* const says : {"<stdin>:3:12: error: expected ';'", "<stdin>:3: fatal error: no such file"}) {
        const scripted_compiler compiler("echo \"" + std::string(says) + "\" >&2; exit 1");
        CHECK_THROWS_AS(compile(answering(1)), ingot::compile_error);
    }
}

TEST_CASE("a compiler that succeeds and writes nothing is compiler_unavailable") {
    const scripted_compiler compiler("exit 0");
    CHECK_THROWS_AS(compile(answering(1)), compiler_unavailable);
}

TEST_CASE("a process that ignores its children still compiles") {
    const auto before = signal(SIGCHLD, SIG_IGN);
    const kernel_module module(target::host, "answer", compile(answering(5)));
    signal(SIGCHLD, before);
    CHECK(function_of<int()>(module, "answer")() == 5);
}

TEST_CASE("messages are read in English whatever the user's language") {
    const scratch_directory scratch;
    const environment_variable language("LC_ALL", "de_DE.UTF-8"), temporary("TMPDIR", scratch.path().c_str());
    source_text source = answering(1);
    source.text = "int x = ;";
    CHECK_THROWS_AS(compile(source), ingot::compile_error);
}

TEST_CASE("the architecture is spelled out, never native") {
    CHECK(host_architecture().find("native") == std::string::npos);
    CHECK(host_architecture().find("-march=") == 0);
}

TEST_CASE("the compiler's identity is its real path, size and time of change, found without running it") {
    const scripted_compiler compiler("echo ran > \"$0.ran\"; exit 1");
    const std::string before = compiler_identity(target::host);
    CHECK(before.find(fs::canonical(compiler.path()).string() + " ") == 0);
    CHECK_FALSE(fs::exists(compiler.path() + ".ran"));
    std::ofstream(compiler.path(), std::ios::app) << "# newer";
    CHECK(compiler_identity(target::host) != before);
}
