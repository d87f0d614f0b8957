// Keys between words and vectors, in this process and in another.
#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include <unistd.h>

#include "codegen/plan/schedule.hpp"
#include "tests/codegen/trees.hpp"

using namespace ingot;
using namespace ingot::codegen;

namespace {

/// Sorted rows and their places behind a map, products of matrices, a transform of complex rows.
std::vector<named_tree> library_trees() {
    using detail::library_function, detail::target;
    return {
        {"sort",
         [](target t) {
             key_builder b(t);
             b.axes(2).bound_axis(0, 0).leaf(dtype::f4, "s01").as_library_has_it();
             return b.library(library_function::sort_rows, dtype::f4, "01").output(dtype::f4, "s1").done();
         }},
        {"argsort",
         [](target t) {
             key_builder b(t);
             b.axes(2).bound_axis(0, 0).leaf(dtype::f8, "s01").scalar(dtype::f8).map("multiply");
             b.library(library_function::argsort_rows, dtype::i8, "01").leaf(dtype::i8, "01").map("add");
             return b.output(dtype::i8, "s1").done();
         }},
        {"matrix product",
         [](target t) {
             key_builder b(t);
             b.axes(2).bound_axis(0, 0).bound_axis(0, 0).bound_axis(0, 0);
             b.leaf(dtype::f4, "00s1").as_library_has_it().leaf(dtype::f4, "000s1").map("exp");
             b.library(library_function::matrix_product, dtype::f4, "s1").map("negative");
             return b.output(dtype::f4, "s1").done();
         }},
        {"transform",
         [](target t) {
             key_builder b(t);
             b.axes(2).bound_axis(0, 0).leaf(dtype::c16, "s01").map("exp");
             b.library(library_function::fft1d, dtype::c16, "01").map("absolute");
             return b.output(dtype::f8, "s1").done();
         }},
    };
}

/// The output of programs/lower_key for these words.
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

TEST_CASE("each field of an axis has bits of its own") {
    using detail::axis_class;
    const axis_class alone[] = {{.owner = 0xffff},  {.partner = 0xff}, {.length_class = 0xff},
                                {.subclass = 0xff}, {.extent = 0xff},  {.flags = 0xffff}};
    std::uint64_t taken = 0;
    for (const axis_class& a : alone) {
        std::uint32_t words[detail::axis_words];
        a.write(words);
        CHECK(axis_class::read(words) == a);
        const std::uint64_t bits = words[0] | std::uint64_t{words[1]} << 32;
        CHECK((taken & bits) == 0);
        taken |= bits;
    }
}

TEST_CASE("an axis that has what only another kind of axis can have is refused") {
    const auto decoded = [](axis_class inner, axis_class bound) {
        key k = softmax_tree(detail::target::cuda, dtype::f4, 3);
        bound.owner = k.axes[2].owner, bound.partner = k.axes[2].partner;
        k.axes[1] = inner, k.axes[2] = bound;
        return decode(encode(k)).axes[2] == bound;
    };
    CHECK(decoded({.extent = 31, .flags = detail::axis_flags::all}, {.length_class = 1, .subclass = 6}));
    CHECK_THROWS_AS(decoded({.length_class = 1}, {.length_class = 1}), error);
    CHECK_THROWS_AS(decoded({.subclass = 1}, {.length_class = 1}), error);
    CHECK_THROWS_AS(decoded({.extent = 32}, {.length_class = 1}), error);
    CHECK_THROWS_AS(decoded({}, {.length_class = 1, .flags = 1}), error);
    CHECK_THROWS_AS(decoded({}, {.length_class = 1, .extent = 3}), error);
    CHECK_THROWS_AS(decoded({}, {.length_class = 2, .subclass = 3}), error);
}

TEST_CASE("each field of a head has bits of its own, and a dtype has eight") {
    using detail::operand_head;
    operand_head full[9];
    full[0].kind = static_cast<detail::operand_kind>(0xff), full[1].type = static_cast<dtype>(0xff);
    full[2].exponent = static_cast<detail::exponent_class>(0xff), full[3].same_as = 0xffff;
    full[4].vector = full[5].wide = full[6].aliased = full[7].dense = true;
    full[8].index = detail::index_use::unchecked;
    std::uint64_t taken = 0;
    for (const operand_head& h : full) {
        CHECK(operand_head::decode(h.encode()) == h);
        CHECK((taken & h.encode()) == 0);
        taken |= h.encode();
    }
    const detail::word w = detail::make_word(detail::word_kind::user, static_cast<dtype>(0xff), detail::most_codes - 1);
    CHECK(detail::kind_of_word(w) == detail::word_kind::user);
    CHECK(detail::dtype_of_word(w) == static_cast<dtype>(0xff));
    CHECK(detail::code_of_word(w) == detail::most_codes - 1);
}

TEST_CASE("relations and indices survive their serialised form, and others than the rules allow are refused") {
    const auto related = [](view_relation r, std::string_view strides = "s1") {
        key_builder b(detail::target::host);
        b.axes(2).leaf(dtype::f4, "s1").leaf(dtype::f4, strides).map("add").output(dtype::f4, "s1");
        key k = b.done();
        k.relations = {std::move(r)};
        return decode(encode(k)).relations == k.relations;
    };
    CHECK(related({1, 0, {-4, 16}}));
    CHECK_THROWS_AS(related({0, 1, {0, 1}}), error);
    CHECK_THROWS_AS(related({2, 0, {0, 1}}), error);
    CHECK_THROWS_AS(related({1, 0, {0, 17}}), error);
    CHECK_THROWS_AS(related({1, 0, {0, 1}}, "01"), error);
    const auto indexed = [](dtype t) {
        key_builder b(detail::target::host);
        b.axes(1).leaf(t, "1").output(t, "1");
        key k = b.done();
        k.operands[0].head.index = detail::index_use::clip;
        return decode(encode(k)).operands[0].head.index == detail::index_use::clip;
    };
    CHECK(indexed(dtype::i8));
    CHECK_THROWS_AS(indexed(dtype::f4), error);
}

TEST_CASE("a text's placeholders are bound in its section, eight of them at most, and not in its program word") {
    const auto bound = [](std::uint64_t binding) {
        key_builder b(detail::target::host);
        b.axes(1).leaf(dtype::f8, "1");
        const std::string_view text(
            "l2\0T x\0T y\0x * x\0a + b\0y = a\0"
            "0",
            33);
        b.user(text, detail::user_part::map, dtype::f8, 1).output(dtype::f8, "1");
        key k = b.done();
        k.operands[1].binding = binding;
        return decode(encode(k)).operands[1].binding;
    };
    CHECK(bound(0x0c0b0a0908070605) == 0x0c0b0a0908070605);
    CHECK_THROWS_AS(bound(0xff), error);
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

TEST_CASE("what is read elsewhere keeps its dtype, and is read at integers along an axis") {
    const auto gathered = [](dtype index, int axes) {
        key_builder b(detail::target::cuda);
        b.axes(1);
        if (axes != 0) b.bound_axis(0, 0);
        b.leaf(dtype::f4, axes != 0 ? "01" : "1").leaf(index, "1").gather();
        return make_plan(b.output(dtype::f4, "1").done()).steps.size();
    };
    CHECK(gathered(dtype::u1, 1) == 1);
    CHECK_THROWS_AS(gathered(dtype::c8, 1), error);
    CHECK_THROWS_AS(gathered(dtype::i8, 0), error);
    const auto reshaped = [](dtype as) {
        key_builder b(detail::target::host);
        key k = b.axes(1).bound_axis(0, 0).bound_axis(0, 1).leaf(dtype::f8, "0s1").unravel("1").output(as, "1").done();
        k.program.back() = detail::make_word(detail::word_kind::unravel, as);
        return make_plan(decode(encode(k))).steps.size();
    };
    CHECK(reshaped(dtype::f8) == 1);
    CHECK_THROWS_AS(reshaped(dtype::c16), error);
    CHECK_THROWS_AS(reshaped(dtype::f4), error);
    key_builder b(detail::target::host);
    key k = b.axes(1).bound_axis(0, 0).leaf(dtype::f8, "01").unravel("1").output(dtype::f8, "1").done();
    k.program.back() = detail::make_word(detail::word_kind::unravel, dtype::f8, 5);
    CHECK_THROWS_AS(decode(encode(k)), error);
}

TEST_CASE("keys with a bit flipped are refused or planned, and never read out of bounds") {
    std::mt19937 random(1);
    int planned = 0, refused = 0;
    std::vector<named_tree> trees = golden_trees();
    for (const named_tree& tree : library_trees()) trees.insert(trees.end(), 5, tree);
    for (const named_tree& tree : trees)
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
