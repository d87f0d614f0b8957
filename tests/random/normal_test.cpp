// The host's own Box-Muller: how exact its functions are, and that a number's bits depend on nothing but its place.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/kernels/box_muller.hpp"
#include "tests/arrays/expect.hpp"
#include "tests/cache/fixture.hpp"
#include "tests/walls/count.hpp"

using namespace ingot;
namespace philox = ingot::detail::philox;
namespace box_muller = ingot::runtime::box_muller;

namespace {

/// |got - exact| in units of the last place of T at `exact`.
template <class T>
double ulps(T got, long double exact) {
    const T size = std::max(std::abs(static_cast<T>(exact)), std::numeric_limits<T>::min());
    const int exponent = std::ilogb(size) - std::numeric_limits<T>::digits + 1;
    return static_cast<double>(std::abs(std::ldexp(static_cast<long double>(got) - exact, -exponent)));
}

template <class T>
struct worst {
    double logarithm = 0, cosine = 0, sine = 0;
    void see_logarithm(T x) {
        logarithm = std::max(logarithm, ulps(box_muller::logarithm(x), std::log(static_cast<long double>(x))));
    }
    void see_circle(T x) {
        const auto at = box_muller::circle(x);
        const auto angle = static_cast<long double>(x);
        cosine = std::max(cosine, ulps(at.cosine, std::cos(angle)));
        sine = std::max(sine, ulps(at.sine, std::sin(angle)));
    }
};

template <class T>
worst<T> worst_of_draws() {
    using word = decltype(philox::word_of<T>(philox::block{}, 0));
    worst<T> w;
    for (std::uint64_t block = 0; block < 200'000; ++block) {
        const philox::block words = philox::words(5, 0, block);
        w.see_logarithm(philox::uniform_above_zero(philox::word_of<T>(words, 0)));
        w.see_circle(philox::two_pi<T> * philox::uniform(philox::word_of<T>(words, 1)));
    }
    // The ends, all powers of two, and the neighbours of the quarters of the circle.
    for (int shift = 0; shift < std::numeric_limits<word>::digits; ++shift)
        for (const word x : {word(word{1} << shift), word(~word{0} >> shift)}) {
            w.see_logarithm(philox::uniform_above_zero(x));
            w.see_circle(philox::two_pi<T> * philox::uniform(x));
            for (unsigned quarter = 0; quarter < 4; ++quarter)
                for (const word off : {x, word(~x + 1)})
                    w.see_circle(
                        philox::two_pi<T> *
                        philox::uniform(word(off + (word{quarter} << (std::numeric_limits<word>::digits - 2)))));
        }
    w.see_logarithm(philox::uniform_above_zero(word{0}));
    w.see_logarithm(1);
    w.see_circle(0);
    return w;
}

/// Equal bits: signs of zeros count.
template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

template <class T>
std::vector<T> normals(std::uint64_t seed, std::uint64_t first, std::uint64_t n) {
    std::vector<T> numbers;
    for (std::uint64_t i = first; i < first + n; ++i) {
        const philox::block w = philox::words(seed, 0, i / philox::per_block<T>);
        const std::uint64_t even = i % philox::per_block<T> & ~std::uint64_t{1};
        numbers.push_back(box_muller::normal<T>(philox::word_of<T>(w, even), philox::word_of<T>(w, even + 1), i % 2));
    }
    return numbers;
}

template <class T>
std::vector<T> uniforms(std::uint64_t seed, std::uint64_t first, std::uint64_t n) {
    std::vector<T> numbers;
    for (std::uint64_t i = first; i < first + n; ++i)
        numbers.push_back(philox::uniform(
            philox::word_of<T>(philox::words(seed, 0, i / philox::per_block<T>), i % philox::per_block<T>)));
    return numbers;
}

template <class T>
void check_bits_of_views() {
    constexpr std::uint64_t seed = 0xfedcba9876543210u;
    constexpr index_t rows = 301, columns = 7, size = rows * columns;
    const std::vector<T> wanted = normals<T>(seed, 0, size);
    random::generator g(seed);
    const auto x = g.normal<T>({rows, columns});
    CHECK(same_bits(x.to_host(), wanted));
    // Packed rows, views that begin between groups, a remainder's lanes, and one number at a time.
    CHECK(same_bits(eval(x * ones<T>({columns})).to_host(), wanted));
    const array<T> turned = transpose(x);
    CHECK(same_bits(eval(transpose(turned)).to_host(), wanted));
    random::generator again(seed);
    const auto flat = again.normal<T>({size});
    for (const index_t first : {1, 2, 3, 5, 63, 257, int(size) - 1})
        CHECK(same_bits(flat(slice(first, none)).to_host(), std::vector<T>(wanted.begin() + first, wanted.end())));
    std::vector<T> reversed(wanted.rbegin(), wanted.rend());
    CHECK(same_bits(flat(slice(none, none, -1)).to_host(), reversed));
    constexpr index_t many = index_t{1} << 40;
    random::generator far(seed);
    CHECK(same_bits(far.normal<T>({many})(slice(many - 77, none)).to_host(), normals<T>(seed, many - 77, 77)));
    random::generator plain(seed);
    const auto u = plain.uniform<T>({many})(slice((many >> 4) + 3, (many >> 4) + 203));
    CHECK(same_bits(u.to_host(), uniforms<T>(seed, (many >> 4) + 3, 200)));
}

}  // namespace

TEST_CASE("the logarithm and the circle of normal numbers are within 2 ulp") {
    const auto check = [](const auto& w) {
        CHECK(w.logarithm <= 1.0);
        CHECK(w.cosine <= 1.5);
        CHECK(w.sine <= 1.5);
    };
    check(worst_of_draws<float>());
    check(worst_of_draws<double>());
    CHECK(box_muller::logarithm(1.0) == 0);
    CHECK(box_muller::logarithm(1.0f) == 0);
}

TEST_CASE("a normal number of the host has its bits wherever a view begins or a lane falls") {
    const with_device host(device::host());
    check_bits_of_views<float>();
    check_bits_of_views<double>();
    const with_math strict_math(strict);  // no contraction: the same
    check_bits_of_views<double>();
}

TEST_CASE("normal numbers are Box-Muller's within few ulp, the largest and the smallest radius among them") {
    // 2^22 of them meet radii of words next to 0 and to 2^32.
    constexpr index_t size = (index_t{1} << 22) + 5;
    random::generator g(123);
    const auto given = eval(g.normal<float>({size})).to_host();
    double worst = 0, longest = 0, shortest = 10;
    for (std::size_t pair = 0; pair < given.size() / 2; ++pair) {
        const philox::block w = philox::words(123, 0, pair / 2);
        const std::uint32_t p = w[2 * (pair % 2)], q = w[2 * (pair % 2) + 1];
        const double radius = std::sqrt(-2 * std::log(double{philox::uniform_above_zero(p)}));
        const double angle = double{philox::two_pi<float> * philox::uniform(q)};
        for (const bool odd : {false, true})
            worst = std::max(worst, ulps(given[2 * pair + odd],
                                         static_cast<long double>(radius * (odd ? std::sin(angle) : std::cos(angle)))));
        longest = std::max(longest, radius), shortest = std::min(shortest, radius);
    }
    CHECK(worst <= 4);
    CHECK(longest > 5.2);
    CHECK(shortest < 1e-3);
}

TEST_CASE("the interpreter's normal numbers are those of the host's kernels") {
    const with_device host(device::host());
    const test::environment_variable no_compiler("INGOT_CXX", "/there/is/no/compiler");
    random::generator g(77), h(77);
    const auto before = counters().interpreter_runs;
    const array<double> a = sqrt(abs(g.normal<double>({9, 11}))) * 0 + random::generator(77).normal<double>({9, 11});
    CHECK(counters().interpreter_runs == before + 1);
    CHECK(same_bits(a.to_host(), normals<double>(77, 0, 99)));
    const array<float> b = floor(h.normal<float>({9, 11})) * 0 + random::generator(77).normal<float>({9, 11});
    CHECK(same_bits(b.to_host(), normals<float>(77, 0, 99)));
}
