// Arrays and events that another process opens. It takes a GPU, if an emulated one.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "tests/arrays/expect.hpp"
#include "tests/cache/fixture.hpp"
#include "tests/untested.hpp"

using namespace ingot;

namespace {

struct both_handles {
    ipc_handle array;
    ipc_event_handle event;
};

/// A process that a test talks with.
class partner {
public:
    partner(const char* what, const std::string& file) {
        int to[2], from[2];
        REQUIRE(pipe(to) == 0);
        REQUIRE(pipe(from) == 0);
        process_ = fork();
        if (process_ == 0) {
            dup2(to[0], 0), dup2(from[1], 1);
            for (const int f : {to[0], to[1], from[0], from[1]}) close(f);
            execl(INGOT_TEST_PROGRAMS "/ipc_partner", "ipc_partner", what, file.c_str(), nullptr);
            _exit(1);
        }
        close(to[0]), close(from[1]);
        to_ = to[1];
        from_ = fdopen(from[0], "r");
    }
    partner(const partner&) = delete;
    ~partner() {
        close(to_);
        std::fclose(from_);
        if (process_ > 0) waitpid(process_, nullptr, 0);
    }
    std::string line() {
        char text[1000];
        if (std::fgets(text, sizeof text, from_) == nullptr) return "nothing";
        return {text, std::strcspn(text, "\n")};
    }
    void go_on() { CHECK(write(to_, "\n", 1) == 1); }
    void wait() {
        waitpid(process_, nullptr, 0);
        process_ = 0;
    }
    void kill() {
        ::kill(process_, SIGKILL);
        wait();
    }

private:
    pid_t process_ = 0;
    int to_ = -1;
    std::FILE* from_ = nullptr;
};

void put(const std::string& file, const both_handles& handles) {
    std::ofstream(file, std::ios::binary).write(reinterpret_cast<const char*>(&handles), sizeof handles);
}

bool no_gpu() {
    if (device::cuda_count() > 0) return false;
    test::untested("there is no GPU here");
    return true;
}

}  // namespace

TEST_CASE("handles are of GPUs, and other bytes are none") {
    const with_device on_the_host(device::host());
    array<float> x{1, 2, 3};
    CHECK(thrown<device_error>([&] { (void)to_ipc_handle(x); }) ==
          "[to_ipc_handle] the array is on host:0; handles are of memory of GPUs");
    CHECK_THROWS_AS((void)ipc_event(), device_error);
    CHECK(thrown<error>([] { (void)from_ipc_handle<float>(ipc_handle{}); }) ==
          "[from_ipc_handle] the bytes given are no handle of an array");
    CHECK(thrown<error>([] { ipc_event e(ipc_event_handle{}); }) ==
          "[ipc_event] the bytes given are no handle of an event");
}

TEST_CASE("another process opens an array and writes to it, and the memory lives until both have let go") {
    if (no_gpu()) return;
    const with_device on_the_gpu(device::cuda());
    const test::scratch_directory scratch;
    const std::string file = scratch.path() / "handles";
    memory_pool pool = default_memory_pool();
    pool.free_all_blocks();
    const std::size_t before = pool.used_bytes();
    ipc_event ready;
    {
        array<float> x = zeros<float>(3);
        x += arange<float>(3);
        ready.record();
        put(file, {to_ipc_handle(x), ready.handle()});
        partner other("open", file);
        CHECK(other.line() == "[0. 1. 2.]");
        CHECK(other.line() == "written");
        CHECK(holds(x, {3}, {1, 2, 3}));
        x *= 10;  // in place
        synchronize();
        other.go_on();
        CHECK(other.line() == "[10. 20. 30.]");
    }
    partner* late = nullptr;
    {
        array<float> x{4, 5, 6};
        put(file, {to_ipc_handle(x), ready.handle()});
        late = new partner("open", file);
        CHECK(late->line() == "[4. 5. 6.]");
        CHECK(late->line() == "written");
    }
    const array<float> more = full<float>(3, -1.0f), others = more + 1;  // not that memory
    synchronize();
    CHECK(pool.used_bytes() > before);
    late->go_on();
    CHECK(late->line() == "[5. 6. 7.]");
    late->wait();
    delete late;
    synchronize();
    const std::size_t held = pool.used_bytes();
    {
        array<float> x{7, 8, 9};
        put(file, {to_ipc_handle(x), ready.handle()});
        partner killed("open", file);
        CHECK(killed.line() == "[7. 8. 9.]");
        killed.kill();  // it lets go of nothing
    }
    synchronize();
    CHECK(pool.used_bytes() <= held);
}

TEST_CASE("of a const array others read what it was") {
    if (no_gpu()) return;
    const with_device on_the_gpu(device::cuda());
    const test::scratch_directory scratch;
    const std::string file = scratch.path() / "handles";
    array<float> x{1, 2, 3};
    const ipc_event ready;
    put(file, {to_ipc_handle(std::as_const(x)), ready.handle()});
    partner other("open", file);
    CHECK(other.line() == "[1. 2. 3.]");
    CHECK(other.line() == "read alone");
    x.fill(8);
    synchronize();
    other.go_on();
    CHECK(other.line() == "[1. 2. 3.]");
    CHECK(holds(x, {3}, {8, 8, 8}));
}

TEST_CASE("an array that is given to be written and to be read alone ends with its last holder") {
    if (no_gpu()) return;
    const with_device on_the_gpu(device::cuda());
    memory_pool pool = default_memory_pool();
    synchronize();
    const std::size_t before = pool.used_bytes();
    for (const bool writable_first : {true, false}) {
        array<float> x = zeros<float>(1 << 20);
        if (writable_first) (void)to_ipc_handle(x);
        (void)to_ipc_handle(std::as_const(x));
        if (!writable_first) (void)to_ipc_handle(x);
    }
    synchronize();
    CHECK(pool.used_bytes() <= before);
}

TEST_CASE("the pages of processes that were killed go when the next array is given") {
    if (no_gpu()) return;
    const with_device on_the_gpu(device::cuda());
    const test::scratch_directory scratch;
    const std::string file = scratch.path() / "handles";
    const auto pages = [] {
        std::set<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
            if (entry.path().filename().string().starts_with("ingot-")) names.insert(entry.path());
        return names;
    };
    const std::set<std::string> pages_before = pages();
    {
        partner killed("keep", file);
        CHECK(killed.line() == "given");
        killed.kill();
    }
    std::vector<std::string> orphans;
    std::ranges::set_difference(pages(), pages_before, std::back_inserter(orphans));
    REQUIRE(orphans.size() == 1);
    array<float> x{1, 2, 3};
    (void)to_ipc_handle(x);
    CHECK(!std::filesystem::exists(orphans[0]));
    partner reader("keep", file);  // its page belongs to a living process
    CHECK(reader.line() == "given");
    const std::set<std::string> living = pages();
    array<float> y{1, 2, 3};
    (void)to_ipc_handle(y);
    for (const std::string& page : living) CHECK(std::filesystem::exists(page));
}

TEST_CASE("a handle of a process that is gone, of an array that is gone, of one's own, of another dtype") {
    if (no_gpu()) return;
    const with_device on_the_gpu(device::cuda());
    const test::scratch_directory scratch;
    const std::string file = scratch.path() / "handles";
    {
        partner giver("give", file);
        giver.wait();
    }
    both_handles handles;
    std::ifstream(file, std::ios::binary).read(reinterpret_cast<char*>(&handles), sizeof handles);
    CHECK(thrown<device_error>([&] { (void)from_ipc_handle<float>(handles.array); }) ==
          "[from_ipc_handle] the process that gave the handle is gone");
    CHECK(thrown<device_error>([&] { ipc_event e(handles.event); }) ==
          "[ipc_event] the process that gave the handle is gone");
    CHECK(thrown<dtype_error>([&] { (void)from_ipc_handle<int>(handles.array); }) ==
          "[from_ipc_handle] the array holds float32, and int32 is wanted");
    const ipc_event ready;
    {
        array<float> x{1, 2, 3};
        handles = {to_ipc_handle(x), ready.handle()};
        CHECK_THROWS_AS((void)from_ipc_handle<float>(handles.array), device_error);
        both_handles broken = handles;
        broken.array.bytes[100] ^= std::byte{1};
        CHECK_THROWS_AS((void)from_ipc_handle<float>(broken.array), error);
        put(file, handles);
    }
    synchronize();
    partner late("open", file);
    CHECK(late.line() == "error: [from_ipc_handle] the array that the handle is of is gone");
    array<float> nothing;
    CHECK_THROWS_AS((void)to_ipc_handle(nothing), shape_error);
}
