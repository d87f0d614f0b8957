// From a source to a loaded kernel: warm starts, racing threads and processes, errors that reach every caller.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <thread>

#include "runtime/kernels/kernel_module.hpp"
#include "tests/cache/fixture.hpp"

using namespace ingot::runtime;
using namespace ingot::test;

namespace fs = std::filesystem;

namespace {

int answer_of(const kernel_module& module) { return reinterpret_cast<int (*)()>(module.host_function("answer"))(); }

std::uint64_t compiles() { return ingot::counters().compiles; }

bool is_mapped(const std::string& library) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        if (line.find(library) != line.npos) return true;
    }
    return false;
}

/// How often `threads` threads that load one source at once compile it; a larger number means that one of them got a
/// wrong kernel.
std::uint64_t compiles_of_race(kernel_store& store, int value, int threads) {
    const std::uint64_t before = compiles();
    std::atomic<int> wrong{0};
    std::vector<std::thread> team;
    for (int i = 0; i < threads; ++i) {
        team.emplace_back([&] { wrong += answer_of(*store.load(answering(value))) != value; });
    }
    for (std::thread& member : team) member.join();
    return compiles() - before + static_cast<std::uint64_t>(100 * wrong);
}

}  // namespace

TEST_CASE("a kernel is compiled once, loaded once, and comes from the disk in the next process") {
    const scratch_directory scratch;
    kernel_store first(cache_in(scratch.path()));
    const auto before = ingot::counters();
    const auto module = first.load(answering(11));
    CHECK(answer_of(*module) == 11);
    CHECK(first.load(answering(11)) == module);
    kernel_store second(cache_in(scratch.path()));
    CHECK(answer_of(*second.load(answering(11))) == 11);
    const auto after = ingot::counters();
    CHECK(after.compiles - before.compiles == 1);
    CHECK(after.disk_cache_hits - before.disk_cache_hits == 1);
}

TEST_CASE("without a disk cache everything still computes") {
    kernel_store store(std::nullopt);
    CHECK(answer_of(*store.load(answering(12))) == 12);
}

TEST_CASE("load() uses the directory of INGOT_CACHE_DIR; with a symlink in its place it compiles each time") {
    const scratch_directory scratch;
    fs::create_directory_symlink("real", scratch.path() / "link");
    fs::create_directory(scratch.path() / "real");
    const auto compiles_in_process = [&](const char* name) {
        return exit_status(start_child([&] {
            setenv("INGOT_CACHE_DIR", (scratch.path() / name).c_str(), 1);
            const std::uint64_t before = compiles();
            if (answer_of(*load(answering(22))) != 22 || load(answering(22)) != load(answering(22))) return 50;
            return static_cast<int>(compiles() - before);
        }));
    };
    CHECK(compiles_in_process("cache") == 1);
    CHECK(compiles_in_process("cache") == 0);
    CHECK(compiles_in_process("link") == 1);
    CHECK(compiles_in_process("link") == 1);
    CHECK(fs::is_empty(scratch.path() / "real"));
}

TEST_CASE("source, options, architecture and compiler each make a name of their own") {
    const scratch_directory scratch;
    kernel_store store(cache_in(scratch.path()));
    source_text options = answering(13), architecture = answering(13);
    options.options = {"-ffp-contract=off"};
    architecture.architecture = "-O3";
    const std::uint64_t before = compiles();
    for (const source_text& source : {answering(13), answering(14), options, architecture}) store.load(source);
    CHECK(compiles() - before == 4);

    const fs::path other = scratch.path() / "another-compiler";
    std::ofstream(other) << "#!/bin/sh\nexec " << host_compiler().string() << " \"$@\"\n";
    fs::permissions(other, fs::perms::owner_all);
    const environment_variable chosen("INGOT_CXX", other.c_str());
    store.load(answering(13));
    CHECK(compiles() - before == 5);
}

TEST_CASE("a warm start opens neither NVRTC nor the compiler") {
    const scratch_directory scratch;
    const fs::path wrapper = scratch.path() / "compiler";
    std::ofstream(wrapper) << "#!/bin/sh\necho ran >> \"$0.runs\"\nexec " << host_compiler().string() << " \"$@\"\n";
    fs::permissions(wrapper, fs::perms::owner_all);
    const environment_variable chosen("INGOT_CXX", wrapper.c_str());

    source_text cuda;
    cuda.where = target::cuda;
    cuda.architecture = "sm_90";
    cuda.text = "extern \"C\" __global__ void nothing() {}";
    const auto round = [&](bool warm) {
        const pid_t child = start_child([&] {
            kernel_store store(cache_in(scratch.path() / "cache"));
            const bool mapped_before = is_mapped("libnvrtc");
            const std::uint64_t compiled_before = compiles();
            if (answer_of(*store.load(answering(15))) != 15) return 1;
#ifdef INGOT_HAS_CUDA_HEADERS
            if (store.code(cuda).empty()) return 2;
#endif
            if (warm && !mapped_before && is_mapped("libnvrtc")) return 3;
            return warm && compiles() != compiled_before ? 4 : 0;
        });
        return exit_status(child);
    };
    const auto runs = [&] {
        std::ifstream log(wrapper.string() + ".runs");
        return std::count(std::istreambuf_iterator<char>(log), {}, '\n');
    };
    CHECK(round(false) == 0);
    CHECK(runs() == 1);
    CHECK(round(true) == 0);
    CHECK(runs() == 1);
}

TEST_CASE("64 threads in one process compile one key once") {
    kernel_store store(std::nullopt);
    CHECK(compiles_of_race(store, 16, 64) == 1);
}

TEST_CASE("64 threads in 4 processes racing on one key compile it at most 4 times in all") {
    const scratch_directory scratch;
    std::vector<pid_t> racers;
    for (int process = 0; process < 4; ++process) {
        racers.push_back(start_child([&] {
            kernel_store store(cache_in(scratch.path()));
            return static_cast<int>(compiles_of_race(store, 17, 16));
        }));
    }
    int total = 0;
    for (const pid_t racer : racers) {
        const int compiled = exit_status(racer);
        REQUIRE(compiled >= 0);
        total += compiled;
    }
    CHECK(total >= 1);
    CHECK(total <= 4);
    CHECK(total == 1);  // the lock does better than was asked for
    CHECK_FALSE(only_entry(scratch.path()).empty());
}

TEST_CASE("a rejected source is an error for every waiting thread, and the next caller tries again") {
    kernel_store store(std::nullopt);
    const scratch_directory scratch;
    const environment_variable temporary("TMPDIR", scratch.path().c_str());
    source_text source = answering(18);
    source.text = "int answer( {";
    std::atomic<int> errors{0};
    std::vector<std::thread> team;
    for (int i = 0; i < 8; ++i) {
        team.emplace_back([&] {
            try {
                store.load(source);
            } catch (const ingot::compile_error&) {
                ++errors;
            }
        });
    }
    for (std::thread& member : team) member.join();
    CHECK(errors == 8);

    const environment_variable chosen("INGOT_CXX", "/nowhere/c++");
    CHECK_THROWS_AS(store.load(answering(19)), compiler_unavailable);
    CHECK_THROWS_AS(store.load(answering(19)), compiler_unavailable);
}

TEST_CASE("a compile that failed for want of a compiler succeeds once there is one") {
    kernel_store store(std::nullopt);
    {
        const environment_variable chosen("INGOT_CXX", "/nowhere/c++");
        CHECK_THROWS_AS(store.load(answering(20)), compiler_unavailable);
    }
    CHECK(answer_of(*store.load(answering(20))) == 20);
}

TEST_CASE("a child of fork loads what another thread of its parent was loading") {
    const scratch_directory scratch;
    const fs::path slow = scratch.path() / "slow";
    std::ofstream(slow) << "#!/bin/sh\nsleep 0.3\nexec " << host_compiler().string() << " \"$@\"\n";
    fs::permissions(slow, fs::perms::owner_all);
    const environment_variable chosen("INGOT_CXX", slow.c_str());
    kernel_store store(std::nullopt);
    std::thread other([&] { store.load(answering(21)); });
    usleep(100'000);
    const pid_t child = start_child([&] { return answer_of(*store.load(answering(21))); });
    CHECK(exit_status(child) == 21);
    other.join();
}

TEST_CASE("counters add up over threads") {
    const auto before = ingot::counters();
    std::vector<std::thread> team;
    for (int i = 0; i < 8; ++i) {
        team.emplace_back([] {
            for (int n = 0; n < 1000; ++n) add(counter::kernel_launches);
            add(counter::bytes_in_use, 100);
        });
    }
    for (std::thread& member : team) member.join();
    add(counter::bytes_in_use, -800);
    const auto after = ingot::counters();
    CHECK(after.kernel_launches - before.kernel_launches == 8000);
    CHECK(after.bytes_in_use == before.bytes_in_use);
}
