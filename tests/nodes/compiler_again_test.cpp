// A compiler that cannot be had for a while: statements are interpreted meanwhile, and compiled once it is back.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include <ingot/ingot.hpp>

#include "tests/cache/fixture.hpp"

using namespace ingot;
using namespace ingot::test;

namespace fs = std::filesystem;

namespace {

using clock = std::chrono::steady_clock;

/// The compiler of this process until its end: a script that counts its calls.
class changing_compiler {
public:
    explicit changing_compiler(const std::string& does)
        : path_(scratch_.path() / "compiler"), chosen_("INGOT_CXX", path_.c_str()) {
        become(does);
    }
    /// Replaces the compiler atomically, so that no call sees half of it.
    void become(const std::string& does) const {
        const fs::path fresh = scratch_.path() / "fresh";
        std::ofstream(fresh) << "#!/bin/sh\necho >> '" << (scratch_.path() / "calls").string() << "'\n" << does << '\n';
        fs::permissions(fresh, fs::perms::owner_all);
        fs::rename(fresh, path_);
    }
    std::size_t calls() const {
        std::error_code none;
        const std::uintmax_t bytes = fs::file_size(scratch_.path() / "calls", none);
        return none ? 0 : static_cast<std::size_t>(bytes);
    }

private:
    scratch_directory scratch_;
    fs::path path_;
    environment_variable chosen_;
};

const char* const killed = "kill -9 $$";
const char* const good = "exec c++ \"$@\"";

const array<float>& numbers() {
    static const array<float>& x = *new array<float>{1, 2, 3, 4};
    return x;
}

bool interprets(const auto& statement) {
    const std::uint64_t before = counters().interpreter_runs;
    statement();
    return counters().interpreter_runs != before;
}

/// Whether a turn of the statement is compiled before half a minute is over.
bool is_compiled_in_time(const auto& statement) {
    const auto start = clock::now();
    while (interprets(statement))
        if (clock::now() - start > std::chrono::seconds(30)) return false;
    return true;
}

}  // namespace

TEST_CASE("what was interpreted for want of a compiler is compiled once there is one") {
    const with_device host(device::host());
    const changing_compiler compiler(killed);
    const auto map = [] {
        const array<float> r = square(numbers()) - rint(numbers() * 0);
        CHECK(r.to_host() == std::vector<float>{1, 4, 9, 16});
    };
    const auto row = [] {
        const array<float> r = numbers() * sum(square(numbers()) - rint(numbers() * 0));
        CHECK(r.to_host() == std::vector<float>{30, 60, 90, 120});
    };
    const auto view = [] {
        const array<float> r = square(numbers()(slice(none, none, -1))) - rint(numbers() * 0);
        CHECK(r.to_host() == std::vector<float>{16, 9, 4, 1});
    };
    for (int turn = 0; turn < 3; ++turn) {
        CHECK(interprets(map));
        CHECK(interprets(row));
        CHECK(interprets(view));
    }
    compiler.become(good);
    CHECK(is_compiled_in_time(map));
    CHECK(is_compiled_in_time(row));
    CHECK(is_compiled_in_time(view));
    const std::size_t calls = compiler.calls();
    for (int turn = 0; turn < 3; ++turn) {
        CHECK_FALSE(interprets(map));
        CHECK_FALSE(interprets(row));
        CHECK_FALSE(interprets(view));
    }
    CHECK(compiler.calls() == calls);
}

TEST_CASE("a compiler that cannot be had is tried again after pauses that grow") {
    const with_device host(device::host());
    const changing_compiler compiler(killed);
    const auto start = clock::now();
    while (compiler.calls() < 4 && clock::now() - start < std::chrono::seconds(30))
        CHECK(array<float>(square(numbers()) + rint(numbers() * 0)).to_host() == std::vector<float>{1, 4, 9, 16});
    CHECK(compiler.calls() == 4);
    CHECK(clock::now() - start >= std::chrono::milliseconds(50 + 100 + 200));
}

TEST_CASE("a source that a compiler rejects once there is one is a compile_error, and not tried again") {
    const with_device host(device::host());
    const scratch_directory scratch;
    const environment_variable temporary("TMPDIR", scratch.path().c_str());
    const changing_compiler compiler(killed);
    const auto statement = [] { array<float>(square(numbers()) * rint(numbers())).to_host(); };
    CHECK(interprets(statement));
    compiler.become("echo '<stdin>:3:12: error: expected a fish' >&2; exit 1");
    CHECK_THROWS_AS(is_compiled_in_time(statement), compile_error);
    const std::size_t calls = compiler.calls();
    for (int turn = 0; turn < 3; ++turn) CHECK_THROWS_AS(statement(), compile_error);
    CHECK(compiler.calls() == calls);
}

TEST_CASE("threads go on while one of them finds the compiler again") {
    const with_device host(device::host());
    const changing_compiler compiler(killed);
    std::atomic<bool> over{false};
    std::atomic<int> wrong{0};
    const auto statement = [] { return array<float>(square(numbers()) / (rint(numbers() * 0) + 1)).to_host(); };
    CHECK(interprets(statement));
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            const with_device here(device::host());
            while (!over)
                if (statement() != std::vector<float>{1, 4, 9, 16}) ++wrong;
        });
    compiler.become(good);
    CHECK(is_compiled_in_time(statement));
    over = true;
    for (std::thread& t : threads) t.join();
    CHECK(wrong == 0);
    CHECK_FALSE(interprets(statement));
}
