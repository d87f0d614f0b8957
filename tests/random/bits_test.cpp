// The generator's words: Random123's known answers, and philox.hpp's numbers bit for bit however they are seen.
#include <ingot/core/philox.hpp>

#include "tests/arrays/expect.hpp"
#include "tests/cache/fixture.hpp"
#include "tests/walls/count.hpp"

using namespace ingot;

namespace {

/// Element i of the words of this seed and call.
template <class T>
T word_at(std::uint64_t seed, std::uint64_t call, std::uint64_t i) {
    namespace philox = detail::philox;
    return philox::word_of<T>(philox::words(seed, call, i / philox::per_block<T>), i % philox::per_block<T>);
}

template <class T>
std::vector<T> words_from(std::uint64_t seed, std::uint64_t call, std::uint64_t first, std::uint64_t n) {
    std::vector<T> words;
    for (std::uint64_t i = 0; i < n; ++i) words.push_back(word_at<T>(seed, call, first + i));
    return words;
}

}  // namespace

TEST_CASE("the first words are the known answers of Philox4x32-10") {
    random::generator g(0);
    const auto zeros = g.bits<std::uint32_t>({4});
    CHECK(holds(zeros, {4}, {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}));
    g.seed(0);
    CHECK(holds(g.bits<std::uint64_t>({2}), {2}, {0xe169c58d6627e8d5u, 0x9b00dbd8bc57ac4cu}));
    // The reference is compared with the known answers too: for a counter of ones, and for one of pi's digits.
    using detail::philox::block;
    using detail::philox::words;
    CHECK(words(~0ull, ~0ull, ~0ull) == block{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu});
    CHECK(words(0x299f31d0a4093822u, 0x0370734413198a2eu, 0x85a308d3243f6a88u) ==
          block{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u});
}

TEST_CASE("words are philox.hpp's, in rows, transposed, in reverse, and far out") {
    constexpr std::uint64_t seed = 0x0123456789abcdefu;
    random::generator g(seed);
    const auto few = g.bits<std::uint32_t>({5, 7});
    const auto wide = g.bits<std::uint64_t>({5, 7});
    const auto [a, b] = eval(few, wide);
    CHECK(a.to_host() == words_from<std::uint32_t>(seed, 0, 0, 35));
    CHECK(b.to_host() == words_from<std::uint64_t>(seed, 1, 0, 35));
    const array<std::uint32_t> turned = transpose(few)(all, slice(none, none, -2));
    const array<std::uint64_t> column = wide(all, 3);
    for (index_t i = 0; i < 7; ++i)
        for (index_t j = 0; j < 3; ++j)
            CHECK(turned(i, j).item() ==
                  word_at<std::uint32_t>(seed, 0, static_cast<std::uint64_t>(7 * (4 - 2 * j) + i)));
    for (index_t i = 0; i < 5; ++i)
        CHECK(column(i).item() == word_at<std::uint64_t>(seed, 1, static_cast<std::uint64_t>(7 * i + 3)));
    constexpr index_t many = index_t{1} << 40;
    const auto far = g.bits<std::uint32_t>({many})(slice(many - 6, none));
    CHECK(far.to_host() == words_from<std::uint32_t>(seed, 2, static_cast<std::uint64_t>(many - 6), 6));
}

TEST_CASE("words are drawn again by every evaluation, and take part in what is around them") {
    random::generator g(3);
    const auto words = g.bits<std::uint32_t>({1000});
    CHECK(array_equal(words, words).item());
    const array<std::uint64_t> total = sum(astype<std::uint64_t>(words & 0xffffu));
    std::uint64_t wanted = 0;
    for (const std::uint32_t w : words_from<std::uint32_t>(3, 0, 0, 1000)) wanted += w & 0xffffu;
    CHECK(total.item() == wanted);
    CHECK(launches([&] { (void)eval(sum(astype<std::uint64_t>(words & 0xffffu))); }) == 1);
}

TEST_CASE("the interpreter has the same words, and so has a lazy") {
    random::generator g(31);
    (void)g.bits<std::uint32_t>({1});
    const auto wide = g.bits<std::uint64_t>({6, 11});
    const lazy<std::uint64_t> kept = wide;
    CHECK(eval(kept).to_host() == words_from<std::uint64_t>(31, 1, 0, 66));
    const with_device host(device::host());
    const test::environment_variable no_compiler("INGOT_CXX", "/there/is/no/compiler");
    random::generator here(31);
    const auto before = counters().interpreter_runs;
    const auto narrow = here.bits<std::uint32_t>({6, 11});  // one after the other: arguments have no order
    const auto again = here.bits<std::uint64_t>({6, 11});
    const auto [a, b] = eval(transpose(narrow), transpose(again));
    CHECK(counters().interpreter_runs == before + 1);
    CHECK(transpose(a).to_host() == words_from<std::uint32_t>(31, 0, 0, 66));
    CHECK(transpose(b).to_host() == words_from<std::uint64_t>(31, 1, 0, 66));
}

TEST_CASE("a negative extent is refused") {
    random::generator g(3);
    CHECK(thrown<shape_error>([&] { (void)g.bits<std::uint32_t>({2, -1}); }).find("bits") != std::string::npos);
    CHECK_THROWS_AS((void)random::bits<std::uint64_t>({-1}), shape_error);
}
