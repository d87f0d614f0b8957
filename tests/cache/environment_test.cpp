// The cache's directory and size, the search for files, and the hash in their names.
#include <doctest/doctest.h>

#include "runtime/system/dynamic_library.hpp"
#include "runtime/system/environment.hpp"
#include "runtime/system/hash.hpp"
#include "tests/cache/fixture.hpp"

using namespace ingot::runtime;
using namespace ingot::test;

namespace fs = std::filesystem;

TEST_CASE("the cache lies under INGOT_CACHE_DIR, else XDG_CACHE_HOME/ingot, else ~/.cache/ingot") {
    const environment_variable home("HOME", "/home/ada"), xdg("XDG_CACHE_HOME", "/xdg"), own("INGOT_CACHE_DIR", "/own");
    CHECK(cache_directory() == "/own");
    const environment_variable no_own("INGOT_CACHE_DIR", "");
    CHECK(cache_directory() == "/xdg/ingot");
    const environment_variable no_xdg("XDG_CACHE_HOME", nullptr);
    CHECK(cache_directory() == "/home/ada/.cache/ingot");
    const environment_variable no_home("HOME", nullptr);
    CHECK_FALSE(cache_directory());
}

TEST_CASE("sizes have units, and nonsense is the default") {
    CHECK(parse_size("4096") == 4096u);
    CHECK(parse_size("64K") == 65536u);
    CHECK(parse_size("512M") == 536870912u);
    CHECK(parse_size("2G") == 2147483648u);
    for (const char* const wrong : {"", "M", "-1", "12X", "12MB", "1e6", "99999999999999999999", "17179869184G"}) {
        CHECK_FALSE(parse_size(wrong));
    }
    const environment_variable unset("INGOT_CACHE_SIZE", nullptr);
    CHECK(cache_size_cap() == std::size_t{1} << 30);
    const environment_variable wrong("INGOT_CACHE_SIZE", "much");
    CHECK(cache_size_cap() == std::size_t{1} << 30);
    const environment_variable right("INGOT_CACHE_SIZE", "10M");
    CHECK(cache_size_cap() == std::size_t{10} << 20);
}

TEST_CASE("a library is found along LD_LIBRARY_PATH, then under CUDA_HOME, the newest major first") {
    const scratch_directory scratch;
    const fs::path near = scratch.path() / "near", far = scratch.path() / "far" / "lib64";
    fs::create_directories(near);
    fs::create_directories(far);
    const environment_variable path("LD_LIBRARY_PATH", (near.string() + "::/nowhere").c_str());
    const environment_variable home("CUDA_HOME", far.parent_path().c_str());
    CHECK_FALSE(find_cuda_library("ingot_test", {13, 12}));
    std::ofstream(far / "libingot_test.so.12") << "";
    CHECK(find_cuda_library("ingot_test", {13, 12}) == far / "libingot_test.so.12");
    std::ofstream(near / "libingot_test.so.12") << "";
    CHECK(find_cuda_library("ingot_test", {13, 12}) == near / "libingot_test.so.12");
    std::ofstream(far / "libingot_test.so.13") << "";
    CHECK(find_cuda_library("ingot_test", {13, 12}) == far / "libingot_test.so.13");
}

TEST_CASE("a library without a function, or none at all, is a library_error that names it") {
    void (*function)() = nullptr;
    CHECK_THROWS_WITH_AS(dynamic_library("libc.so.6").get(function, "no_such_function"),
                         "[open library] libc.so.6 has no function no_such_function", ingot::library_error);
    CHECK_THROWS_WITH_AS(dynamic_library("libno_such.so"), doctest::Contains("libno_such.so"), ingot::library_error);
}

TEST_CASE("the hash is MurmurHash3 for x64") {
    CHECK(to_hex(hash_of("")) == "00000000000000000000000000000000");
    const hash128 fox = hash_of("The quick brown fox jumps over the lazy dog");
    CHECK(fox.low == 0xe34bbc7bbc071b6cu);
    CHECK(fox.high == 0x7a433ca9c49a9347u);
    CHECK(to_hex(fox) == "7a433ca9c49a9347e34bbc7bbc071b6c");
}
