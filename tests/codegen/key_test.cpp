// Keys between words and vectors, in this process and in another.
#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include <unistd.h>

#include "codegen/schedule.hpp"
#include "tests/codegen/trees.hpp"

using namespace ingot;
using namespace ingot::codegen;

namespace {

/// What programs/lower_key prints for these words.
std::string lowered_elsewhere(const std::vector<std::uint32_t>& words) {
    const auto file = std::filesystem::temp_directory_path() / ("ingot_key_" + std::to_string(getpid()));
    {
        std::ofstream out(file);
        for (const std::uint32_t w : words) out << w << '\n';
    }
    const std::string command = std::string(INGOT_TEST_PROGRAMS) + "/lower_key < '" + file.string() + "'";
    std::FILE* const pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string printed;
    char part[4096];
    for (std::size_t n; (n = std::fread(part, 1, sizeof part, pipe)) > 0;) printed.append(part, n);
    CHECK(pclose(pipe) == 0);
    std::filesystem::remove(file);
    return printed;
}

}  // namespace

TEST_CASE("a key survives its serialised form") {
    for (const named_tree& tree : golden_trees()) {
        const std::vector<std::uint32_t> words = encode(tree.on(detail::target::cuda));
        CHECK(encode(decode(words)) == words);
    }
}

TEST_CASE("a serialised key is lowered and scheduled alike in another process") {
    for (const named_tree& tree : golden_trees())
        for (const detail::target where : {detail::target::cuda, detail::target::host}) {
            INFO(tree.name);
            const key k = tree.on(where);
            const plan p = make_plan(k);
            CHECK(lowered_elsewhere(encode(k)) == describe(k) + '\n' + describe(p) + p.source);
        }
}

TEST_CASE("words that are no key are refused") {
    const std::vector<std::uint32_t> words = encode(golden_trees()[0].on(detail::target::host));
    CHECK_THROWS_AS(decode({}), error);
    for (std::size_t n = 0; n < words.size(); ++n) CHECK_THROWS_AS(decode(std::span(words).first(n)), error);
    std::vector<std::uint32_t> longer = words;
    longer.push_back(0);
    CHECK_THROWS_AS(decode(longer), error);
    std::vector<std::uint32_t> other = words;
    other[0] += 1;
    CHECK_THROWS_AS(decode(other), error);
}

TEST_CASE("keys with a bit flipped are refused or planned, and never read out of bounds") {
    std::mt19937 random(1);
    int planned = 0, refused = 0;
    for (const named_tree& tree : golden_trees())
        for (int i = 0; i < 200; ++i) {
            std::vector<std::uint32_t> words =
                encode(tree.on(i % 2 == 0 ? detail::target::host : detail::target::cuda));
            words[random() % words.size()] ^= 1u << random() % 32;
            try {
                make_plan(decode(words));
                ++planned;
            } catch (const error&) {
                ++refused;
            }
        }
    CHECK(planned > 0);
    CHECK(refused > 0);
}

TEST_CASE("a key describes itself in one line") {
    const key k = where_tree(detail::target::cuda, dtype::f4, 2, "s1", "01").output(dtype::f4, "s1").done();
    CHECK(describe(k) ==
          "sm_90 32-bit axes[out out] (float32[s1] vector, float32 scalar, float32[01] vector, =0, =2, =0, =2) -> "
          "(float32[s1] vector)");
}
