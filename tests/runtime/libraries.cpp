// Libraries are opened once, by any thread, in a forked child too; an error is kept.
#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "runtime/system/opened_library.hpp"
#include "tests/untested.hpp"

namespace {

using namespace ingot;
using namespace ingot::runtime;

/// The C library's mathematics, counted when they are looked for.
template <int number>
struct mathematics : api_table {
    using api_table::api_table;
    static library_files files() {
        ++searches;
        return {{"libnothing.so.7", "libm.so.6"}, "libm.so.6 was not found"};
    }
    static inline std::atomic<int> searches{0};

    double (*square_root)(double) = function("sqrt");
    double (*missing)(double) = optional_function("no_such_function");
};

struct incomplete : api_table {
    using api_table::api_table;
    static library_files files() {
        ++searches;
        return {{"libm.so.6"}, {}};
    }
    static inline int searches = 0;

    double (*missing)(double) = function("no_such_function");
};

struct absent : api_table {
    using api_table::api_table;
    static library_files files() {
        ++searches;
        return {{"libnothing.so.7"}, "libnothing.so.7 was not found (Debian: libnothing7)"};
    }
    static inline int searches = 0;
};

template <class Api>
std::string error_of(const char* operation) {
    try {
        opened_library<Api>::get(operation);
        return "";
    } catch (const library_error& e) {
        return e.what();
    }
}

template <int number>
bool opens_in_child() {
    const pid_t child = fork();
    if (child == 0) {
        alarm(10);
        _exit(opened_library<mathematics<number>>::get("test").square_root(4.0) == 2.0 ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

TEST_CASE("all threads open a library once, from the first of its files that is there") {
    std::vector<std::thread> threads;
    std::atomic<int> right{0};
    for (int t = 0; t < 8; ++t)
        threads.emplace_back([&] { right += opened_library<mathematics<0>>::get("test").square_root(9.0) == 3.0; });
    for (std::thread& t : threads) t.join();
    CHECK(right == 8);
    CHECK(mathematics<0>::searches == 1);
    const bool is_missing = opened_library<mathematics<0>>::find()->missing == nullptr;
    CHECK(is_missing);
}

TEST_CASE("a library that is absent is looked for once, and its error names each operation and the package") {
    CHECK(error_of<absent>("fft") == "[fft] libnothing.so.7 was not found (Debian: libnothing7)");
    CHECK(error_of<absent>("matmul") == "[matmul] libnothing.so.7 was not found (Debian: libnothing7)");
    CHECK(opened_library<absent>::find() == nullptr);
    CHECK(absent::searches == 1);
}

TEST_CASE("a library that lacks a function gives the loader's reason each time") {
    for (const char* operation : {"fft", "matmul"})
        CHECK(error_of<incomplete>(operation) == "[open library] libm.so.6 has no function no_such_function");
    CHECK(incomplete::searches == 1);
}

TEST_CASE("a forked child opens a library while a thread of its parent is opening one") {
    std::atomic<bool> stop{false};
    std::thread busy([&] {
        while (!stop) const std::lock_guard lock(opening_mutex());
    });
    bool well = opens_in_child<1>();
    for (int i = 0; i < 20; ++i) well = opens_in_child<1>() && well;
    stop = true;
    busy.join();
    CHECK(well);
    CHECK(mathematics<1>::searches == 0);
}
