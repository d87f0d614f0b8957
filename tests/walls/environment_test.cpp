// Statements in processes whose compiler or cache is missing, broken or hostile: the right result a little slower, or
// an error that says why.
#include <doctest/doctest.h>

#include <sys/mount.h>

#include <array>
#include <cstdio>

#include "tests/cache/fixture.hpp"
#include "tests/untested.hpp"

using namespace ingot::test;

namespace fs = std::filesystem;

namespace {

struct said {
    std::string out, warnings;
};

/// The output of the program `evaluate` with this environment.
said evaluate(const std::string& environment) {
    const scratch_directory scratch;
    const std::string errors = scratch.path() / "errors";
    const std::string command =
        "env INGOT_DEVICE=host " + environment + " '" INGOT_TEST_PROGRAMS "/evaluate' 2> '" + errors + "'";
    said s;
    FILE* pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::array<char, 4096> part;
    while (const std::size_t n = fread(part.data(), 1, part.size(), pipe)) s.out.append(part.data(), n);
    CHECK(pclose(pipe) == 0);
    std::ifstream file(errors);
    s.warnings.assign(std::istreambuf_iterator<char>(file), {});
    return s;
}

std::string cache_at(const fs::path& path) { return "INGOT_CACHE_DIR='" + path.string() + "'"; }

/// A program in the scratch directory that stands for the compiler.
std::string compiler_that(const scratch_directory& scratch, const std::string& does) {
    const fs::path path = scratch.path() / "compiler";
    std::ofstream(path) << "#!/bin/sh\n" << does << '\n';
    fs::permissions(path, fs::perms::owner_all);
    return "INGOT_CXX='" + path.string() + "'";
}

const std::string values = "3 18 7, 32; ";

/// Changes every kernel in a cache.
template <class F>
int damage(const fs::path& directory, F&& change) {
    int n = 0;
    for (const auto& item : fs::directory_iterator(directory))
        if (item.path().extension() == ".kernel") {
            change(item.path());
            ++n;
        }
    return n;
}

}  // namespace

TEST_CASE("a cold start compiles, a warm one does not") {
    const scratch_directory scratch;
    CHECK(evaluate(cache_at(scratch.path() / "cache")).out == values + "compiled 2, from disk 0, interpreted 0\n");
    const said warm = evaluate(cache_at(scratch.path() / "cache") + " INGOT_CXX=/bin/false");
    // Another compiler is another kernel; the same one is not asked.
    CHECK(warm.out.find(values) == 0);
    CHECK(evaluate(cache_at(scratch.path() / "cache")).out == values + "compiled 0, from disk 2, interpreted 0\n");
}

TEST_CASE("without a compiler statements are interpreted, with one warning") {
    const scratch_directory scratch;
    const said s = evaluate(cache_at(scratch.path() / "cache") + " INGOT_CXX=/nonexistent");
    CHECK(s.out == values + "compiled 0, from disk 0, interpreted 2\n");
    CHECK(s.warnings == "ingot: expressions are interpreted: [compile] no host compiler: /nonexistent\n");
}

TEST_CASE("a compiler that is killed, or breaks, leaves the right result") {
    for (const char* does : {"kill -9 $$", "echo 'internal compiler error: Killed' >&2; exit 4", "exit 0"}) {
        const scratch_directory scratch;
        const said s = evaluate(cache_at(scratch.path() / "cache") + " " + compiler_that(scratch, does));
        CHECK(s.out.find(values + "compiled 0") == 0);
        CHECK(s.out.find("interpreted 2\n") != s.out.npos);
        CHECK(s.warnings.find("ingot: expressions are interpreted: ") == 0);
    }
}

TEST_CASE("a compiler that rejects the source is a compile_error with log, source and the saved file") {
    const scratch_directory scratch;
    const said s = evaluate(cache_at(scratch.path() / "cache") + " TMPDIR='" + scratch.path().string() + "' " +
                            compiler_that(scratch, "echo '<stdin>:3:12: error: expected a fish' >&2; exit 1"));
    CHECK(s.out.find("compile_error: [compile] the host compiler rejected the source of ") == 0);
    CHECK(s.out.find("expected a fish") != s.out.npos);
    CHECK(s.out.find("it is saved in " + scratch.path().string()) != s.out.npos);
    CHECK(s.out.find("   1  ") != s.out.npos);
}

TEST_CASE("a damaged cache is compiled again, and whole afterwards") {
    const auto truncate = [](const fs::path& p) { fs::resize_file(p, fs::file_size(p) / 2); };
    const auto flip_a_bit = [](const fs::path& p) {
        std::fstream file(p, std::ios::in | std::ios::out | std::ios::binary);
        const auto middle = static_cast<std::streamoff>(fs::file_size(p) / 2);
        file.seekg(middle);
        const char c = static_cast<char>(file.get() ^ 1);
        file.seekp(middle);
        file.put(c);
    };
    const auto replace = [](const fs::path& p) { std::ofstream(p) << "somebody else's file\n"; };
    const auto empty = [](const fs::path& p) { fs::resize_file(p, 0); };
    const auto each_time = [&](auto change) {
        const scratch_directory scratch;
        const fs::path cache = scratch.path() / "cache";
        evaluate(cache_at(cache));
        CHECK(damage(cache, change) == 2);
        CHECK(evaluate(cache_at(cache)).out == values + "compiled 2, from disk 0, interpreted 0\n");
        CHECK(evaluate(cache_at(cache)).out == values + "compiled 0, from disk 2, interpreted 0\n");
    };
    each_time(truncate);
    each_time(flip_a_bit);
    each_time(replace);
    each_time(empty);
}

TEST_CASE("a cache that cannot be used only costs speed") {
    const scratch_directory scratch;
    const std::string compiled = values + "compiled 2, from disk 0, interpreted 0\n";
    fs::create_directory(scratch.path() / "real");
    fs::create_directory_symlink("real", scratch.path() / "link");
    std::ofstream(scratch.path() / "file") << "not a directory";
    fs::create_directory(scratch.path() / "shared");
    fs::permissions(scratch.path() / "shared", fs::perms::all);
    for (const char* name : {"link", "file", "shared", "file/below", "no\nname/below/below"})
        CHECK(evaluate(cache_at(scratch.path() / name)).out == compiled);
    CHECK(evaluate("INGOT_CACHE_DIR=/proc/self/cache").out == compiled);
    CHECK(evaluate("INGOT_CACHE_DIR= XDG_CACHE_HOME= HOME=").out == compiled);
    CHECK(fs::is_empty(scratch.path() / "real"));
}

TEST_CASE("a full disk only costs speed") {
    const scratch_directory scratch;
    if (geteuid() != 0 || mount("ingot", scratch.path().c_str(), "tmpfs", 0, "size=4k,mode=0700") != 0)
        return ingot::test::untested("a disk of 4 KiB cannot be mounted here: that takes root's rights");
    const std::string compiled = values + "compiled 2, from disk 0, interpreted 0\n";
    CHECK(evaluate(cache_at(scratch.path())).out == compiled);
    CHECK(evaluate(cache_at(scratch.path())).out == compiled);
    umount2(scratch.path().c_str(), MNT_DETACH);
}

TEST_CASE("a limit on the size of files only costs speed") {
    if (std::system("prlimit --version > /dev/null 2>&1") != 0) return ingot::test::untested("prlimit is not here");
    const scratch_directory scratch;
    const said s = evaluate(cache_at(scratch.path() / "cache") + " prlimit --fsize=1000");
    CHECK(s.out == values + "compiled 0, from disk 0, interpreted 2\n");
    CHECK(s.warnings.find("File too large") != s.warnings.npos);
}

TEST_CASE("an INGOT_DEVICE that is not there is an error that names it") {
    const said s = evaluate("INGOT_DEVICE=abacus");
    CHECK(s.out.find("error: ") == 0);
    CHECK(s.out.find("abacus") != s.out.npos);
}
