// Index arithmetic past 2^31 and 2^32 elements and bytes: maps, folds, scans, gathers, compactions, scatters, joins,
// transposed tiles and random leaves over 5 * 2^30 bytes and over more than 2^31 float32. Every value is a function of
// its element's number that differs from those 2^31 and 2^32 elements away; results are compared at chosen elements,
// and whole by folds whose results are known. Where no GPU has the room the same runs over as little as fits anywhere;
// INGOT_TEST_NARROW_REACH then makes the kernels those of far elements.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include <ingot/core/philox.hpp>

#include "tests/arrays/expect.hpp"
#include "tests/untested.hpp"

using namespace ingot;

namespace {

constexpr std::size_t wanted_bytes = std::size_t{40} << 30;

/// The extents of a case. Its constructor gives back the memory of earlier cases.
struct far_extents {
    bool far;
    index_t rows, width;              // of bytes: 5 * 2^30 elements
    index_t float_rows, float_width;  // of float32: 2^31 and some
    index_t bytes, floats;

    static far_extents of_case() {
        synchronize();
        default_memory_pool().free_all_blocks();
        const device here = current_device();
        const bool far = here.is_cuda() && properties_of(here).free_memory >= wanted_bytes;
        if (!far) ingot::test::untested_part("more than 2^31 elements take a GPU with 40 GiB free");
        return far ? far_extents(true, 5 << 10, 1 << 20, (1 << 16) + 1, (1 << 15) + 3)
                   : far_extents(false, 5 << 4, 1 << 6, (1 << 6) + 1, (1 << 5) + 3);
    }

private:
    far_extents(bool is_far, index_t r, index_t w, index_t fr, index_t fw)
        : far(is_far), rows(r), width(w), float_rows(fr), float_width(fw), bytes(r * w), floats(fr * fw) {}
};

// Primes, so that elements 2^31 or 2^32 away have other values.
constexpr index_t byte_period = 251, float_period = 16777213;
std::uint8_t byte_at(index_t i) { return static_cast<std::uint8_t>(i % byte_period); }
float float_at(index_t i) { return static_cast<float>(i % float_period); }

/// The number of each element, an expression: (rows, width).
auto numbers(index_t rows, index_t width) {
    return (arange<index_t>(rows) * width)(all, newaxis) + arange<index_t>(width);
}
array<std::uint8_t> bytes_of(const far_extents& x) {
    return astype<std::uint8_t>(numbers(x.rows, x.width) % byte_period);
}
array<float> floats_of(const far_extents& x) {
    return astype<float>(numbers(x.float_rows, x.float_width) % float_period);
}
/// The sum of byte_at of all numbers below n.
std::int64_t sum_of_bytes(index_t n) {
    const index_t rest = n % byte_period;
    return n / byte_period * (byte_period * (byte_period - 1) / 2) + rest * (rest - 1) / 2;
}

/// Numbers below n: the ends, both sides of 2^31 and 2^32 elements and of 2^31, 2^32 and 2^33 bytes of float32, others.
std::vector<index_t> chosen(index_t n) {
    std::vector<index_t> all{0, 1, n / 2, n - 2, n - 1};
    for (int power = 29; power < 33; ++power)
        for (index_t by = -2; by < 3; ++by) all.push_back((index_t{1} << power) + by);
    std::mt19937_64 random(static_cast<std::uint64_t>(n));
    while (all.size() < 200) all.push_back(static_cast<index_t>(random() % static_cast<std::uint64_t>(n)));
    std::erase_if(all, [=](index_t i) { return i < 0 || i >= n; });
    return all;
}

/// The number of chosen elements of e, in C order, that differ from wanted(number).
template <class E, class Wanted>
int wrong_in(const E& e, Wanted wanted) {
    using T = typename E::value_type;
    const array<T> x = ravel(e);
    const std::vector<index_t> places = chosen(x.size());
    const std::vector<T> got = eval(take(x, asarray(places))).to_host();
    int wrong = 0;
    for (std::size_t k = 0; k < places.size(); ++k) wrong += got[k] != static_cast<T>(wanted(places[k]));
    // Some also alone, from an address of their own.
    for (std::size_t k = 0; k < places.size(); k += 8) {
        const index_t i = places[k];
        wrong += x(slice(i, i + 1)).eval().to_host()[0] != static_cast<T>(wanted(i));
    }
    return wrong;
}

}  // namespace

TEST_CASE("maps of more than 2^31 elements") {
    const far_extents n = far_extents::of_case();
    const array<std::uint8_t> x = bytes_of(n);
    CHECK(wrong_in(x, byte_at) == 0);
    CHECK(sum(x).item() == static_cast<std::uint64_t>(sum_of_bytes(n.bytes)));
    const array<std::uint8_t> z = maximum(x, 100) - x;
    CHECK(wrong_in(z, [](index_t i) { return std::max<int>(byte_at(i), 100) - byte_at(i); }) == 0);
}

TEST_CASE("maps of more than 2^32 bytes of float32, rows broadcast") {
    const far_extents n = far_extents::of_case();
    const array<float> y = floats_of(n);
    CHECK(wrong_in(y, float_at) == 0);
    CHECK(sum(y != astype<float>(numbers(n.float_rows, n.float_width) % float_period)).item() == 0);
    const array<float> row = astype<float>(arange<index_t>(n.float_width));
    array<float> z = y - row;
    CHECK(wrong_in(z, [&](index_t i) { return float_at(i) - static_cast<float>(i % n.float_width); }) == 0);
    z += reshape(astype<float>(arange<index_t>(n.float_rows)), {n.float_rows, index_t{1}});
    CHECK(wrong_in(z, [&](index_t i) {
              return float_at(i) - static_cast<float>(i % n.float_width) + static_cast<float>(i / n.float_width);
          }) == 0);
    // Neighbours, as many as 32 bits count.
    const index_t m = std::min<index_t>(n.floats - 2, INT32_MAX);
    const array<float> flat = reshape(y, {n.floats});
    z = flat(slice(1, m + 1)) + flat(slice(0, m)) + flat(slice(2, m + 2));
    CHECK(wrong_in(z, [](index_t i) { return float_at(i) + float_at(i + 1) + float_at(i + 2); }) == 0);
}

TEST_CASE("steps and reversals of a base of 5 * 2^30 bytes") {
    const far_extents n = far_extents::of_case();
    const array<std::uint8_t> x = ravel(bytes_of(n));
    const index_t last = n.bytes - 1;
    CHECK(wrong_in(array<std::uint8_t>(flip(x)), [=](index_t i) { return byte_at(last - i); }) == 0);
    CHECK(wrong_in(array<std::uint8_t>(x(slice(3, none, 2))), [](index_t i) { return byte_at(3 + 2 * i); }) == 0);
    CHECK(wrong_in(array<std::uint8_t>(x(slice(-2, 5, -3))), [=](index_t i) { return byte_at(last - 1 - 3 * i); }) ==
          0);
    // Both axes reversed, plus a view in the other direction: 2^32 elements apart.
    const array<std::uint8_t> m = reshape(x, {n.rows, n.width});
    const array<std::uint8_t> both =
        m(slice(none, none, -2), slice(none, none, -3)) + m(slice(0, n.rows / 2), slice(0, (n.width + 2) / 3));
    const index_t across = (n.width + 2) / 3;
    CHECK(wrong_in(both, [&](index_t i) {
              const index_t r = i / across, c = i % across;
              return byte_at((n.rows - 1 - 2 * r) * n.width + n.width - 1 - 3 * c) + byte_at(r * n.width + c);
          }) == 0);
    // A few elements, far apart.
    const index_t far = n.bytes / 4;
    CHECK(array<std::uint8_t>(x(slice(none, none, -far))).to_host() ==
          std::vector<std::uint8_t>{byte_at(last), byte_at(last - far), byte_at(last - 2 * far),
                                    byte_at(last - 3 * far)});
}

TEST_CASE("writes through steps and reversals of big bases") {
    const far_extents n = far_extents::of_case();
    array<std::uint8_t> x = ravel(bytes_of(n));
    const index_t last = n.bytes - 1;
    x(slice(none, none, -2)) += 3;
    const auto added = [=](index_t i) { return (last - i) % 2 == 0 ? byte_at(i) + 3 : byte_at(i); };
    CHECK(wrong_in(x, added) == 0);
    x(slice(1, none)) = x(slice(0, -1));  // shares all elements with itself
    CHECK(wrong_in(x, [&](index_t i) { return added(std::max<index_t>(i - 1, 0)); }) == 0);
    x = array<std::uint8_t>();
    array<float> y = floats_of(n);
    y(slice(none, none, -1), slice(0, 5)) =
        reshape(astype<float>(arange<index_t>(n.float_rows)), {n.float_rows, index_t{1}});
    CHECK(wrong_in(y, [&](index_t i) {
              const index_t r = i / n.float_width;
              return i % n.float_width < 5 ? static_cast<float>(n.float_rows - 1 - r) : float_at(i);
          }) == 0);
}

TEST_CASE("folds along both axes and of everything past 2^31 elements") {
    const far_extents n = far_extents::of_case();
    array<std::uint8_t> x = bytes_of(n);
    const auto [along_rows, along_columns, of_all] = eval(sum(x, 1), sum(x, 0), sum(x));
    CHECK(of_all.item() == static_cast<std::uint64_t>(sum_of_bytes(n.bytes)));
    CHECK(wrong_in(along_rows,
                   [&](index_t r) { return sum_of_bytes((r + 1) * n.width) - sum_of_bytes(r * n.width); }) == 0);
    CHECK(wrong_in(along_columns, [&](index_t c) {
              std::uint64_t sum_of_column = 0;
              for (index_t r = 0; r < n.rows; ++r) sum_of_column += byte_at(r * n.width + c);
              return sum_of_column;
          }) == 0);
    const index_t greatest = n.bytes - 7;
    x(n.rows - 1, n.width - 7) = 255;
    CHECK(argmax(x).item() == greatest);
    CHECK(max(x).item() == 255);
    CHECK(sum(flip(ravel(x))(slice(0, none, 2)) == 255).item() == 1);
    x = array<std::uint8_t>();

    array<float> y = floats_of(n);
    y(n.float_rows - 1, 3) = -1;
    CHECK(argmin(y).item() == (n.float_rows - 1) * n.float_width + 3);
    const auto [least_of_row, greatest_of_column] = eval(min(y, 1), argmax(y, 0));
    CHECK(wrong_in(greatest_of_column, [&](index_t c) {
              index_t found = 0;
              float most = -1;
              for (index_t r = 0; r < n.float_rows; ++r) {
                  const bool is_least = r == n.float_rows - 1 && c == 3;
                  const float v = is_least ? -1 : float_at(r * n.float_width + c);
                  if (v > most) most = v, found = r;
              }
              return found;
          }) == 0);
    CHECK(wrong_in(least_of_row, [&](index_t r) {
              if (r == n.float_rows - 1) return -1.0f;
              float least = float_at(r * n.float_width);
              for (index_t c = 0; c < n.float_width; ++c) least = std::min(least, float_at(r * n.float_width + c));
              return least;
          }) == 0);
}

TEST_CASE("scans of more than 2^31 elements") {
    const far_extents n = far_extents::of_case();
    // 1 at every 1024th: sums are exact in float32.
    const auto ones_of = [&] { return astype<float>(numbers(n.float_rows, n.float_width) % 1024 == 0); };
    array<float> ones_there = ravel(array<float>(ones_of()));
    CHECK(wrong_in(array<float>(cumsum(ones_there)), [](index_t i) { return i / 1024 + 1; }) == 0);
    CHECK(wrong_in(array<float>(cumsum(flip(ones_there))), [&](index_t i) {
              return (n.floats - 1) / 1024 - (n.floats - 2 - i < 0 ? -1 : (n.floats - 2 - i) / 1024);
          }) == 0);
    ones_there = array<float>();
    const array<float> down = cumsum(broadcast_to(array<float>{1}, {n.float_rows, n.float_width}) * 1, 0);
    CHECK(wrong_in(down, [&](index_t i) { return i / n.float_width + 1; }) == 0);
    array<std::uint8_t> steps = zeros<std::uint8_t>(n.bytes);
    steps(n.bytes / 5 * 4 + 7) = 9;  // past 2^32
    steps(n.bytes - 3) = 200;
    CHECK(wrong_in(array<std::uint8_t>(cummax(steps, 0)), [&](index_t i) {
              return i >= n.bytes - 3 ? 200 : i >= n.bytes / 5 * 4 + 7 ? 9 : 0;
          }) == 0);
}

TEST_CASE("gathers and compactions past 2^32 elements, by int64 indices") {
    const far_extents n = far_extents::of_case();
    const array<std::uint8_t> m = bytes_of(n), x = ravel(m);
    // Indices from the end: all are negative.
    std::vector<index_t> places = chosen(n.bytes);
    const array<index_t> from_end = asarray(places) - n.bytes;
    const auto got = eval(x(from_end)).to_host();
    std::vector<std::uint8_t> wanted;
    for (const index_t i : places) wanted.push_back(byte_at(i));
    CHECK(got == wanted);
    // All elements in reverse, by computed indices.
    const array<std::uint8_t> all_back = take(m, n.rows - 1 - arange<index_t>(n.rows), 0);
    CHECK(wrong_in(all_back, [&](index_t i) { return byte_at((n.rows - 1 - i / n.width) * n.width + i % n.width); }) ==
          0);
    const array<std::uint8_t> some_columns = take(m, array<index_t>{n.width - 1, 0, -2}, 1);
    CHECK(wrong_in(some_columns, [&](index_t i) {
              const index_t c = i % 3 == 0 ? n.width - 1 : i % 3 == 1 ? 0 : n.width - 2;
              return byte_at(i / 3 * n.width + c);
          }) == 0);
    // More than 2^31 indices: each takes an element of the other half.
    const index_t half = n.floats / 2;
    const array<std::uint8_t> turned = take(x, (ravel(numbers(n.float_rows, n.float_width)) + half) % n.floats);
    CHECK(wrong_in(turned, [&](index_t i) { return byte_at((i + half) % n.floats); }) == 0);

    const array<std::uint8_t> kept = x(ravel(numbers(n.rows, n.width) % 1021 == 5));
    CHECK(kept.size() == (n.bytes - 6) / 1021 + 1);
    CHECK(wrong_in(kept, [](index_t k) { return byte_at(1021 * k + 5); }) == 0);
    CHECK(wrong_in(flatnonzero(numbers(n.rows, n.width) % 1021 == 5), [](index_t k) { return 1021 * k + 5; }) == 0);
    const std::string outside = thrown<index_error>([&] { (void)eval(take(x, array<index_t>{0, n.bytes})).to_host(); });
    CHECK(outside.find(std::to_string(n.bytes)) != std::string::npos);
}

TEST_CASE("scatters past 2^32 elements") {
    const far_extents n = far_extents::of_case();
    array<std::uint8_t> x = ravel(bytes_of(n));
    std::vector<index_t> places = chosen(n.bytes);
    std::ranges::sort(places);
    places.erase(std::unique(places.begin(), places.end()), places.end());
    const auto is_chosen = [&](index_t i) { return std::ranges::binary_search(places, i); };
    std::int64_t sum_after = sum_of_bytes(n.bytes);
    for (const index_t i : places) sum_after += 255 - byte_at(i);
    x(asarray(places)) = 255;
    CHECK(wrong_in(x, [&](index_t i) { return is_chosen(i) ? 255 : byte_at(i); }) == 0);
    CHECK(sum(x).item() == static_cast<std::uint64_t>(sum_after));
    x(ravel(numbers(n.rows, n.width) % 1021 == 5)) = 254;
    CHECK(wrong_in(x, [&](index_t i) { return i % 1021 == 5 ? 254 : is_chosen(i) ? 255 : byte_at(i); }) == 0);
    x = array<std::uint8_t>();

    array<float> y = zeros<float>(n.floats);
    const std::vector<index_t> of_floats = chosen(n.floats);
    const array<index_t> twice = concatenate(std::tuple(asarray(of_floats), asarray(of_floats) - n.floats));
    scatter_add(y(twice), 0.5f);
    scatter_add(y(twice), 0.25f, unordered);
    const auto times = [&](index_t i) { return static_cast<float>(std::ranges::count(of_floats, i)); };
    CHECK(wrong_in(y, [&](index_t i) { return 1.5f * times(i); }) == 0);
    CHECK(sum(y).item() == 1.5f * static_cast<float>(of_floats.size()));
}

TEST_CASE("joins, rolls and padding past 2^32 elements") {
    const far_extents n = far_extents::of_case();
    array<std::uint8_t> x = ravel(bytes_of(n));
    const index_t cut = n.bytes / 5 * 3 + 1;
    CHECK(wrong_in(array<std::uint8_t>(concatenate({x(slice(cut, none)), x(slice(0, cut))})),
                   [&](index_t i) { return byte_at((i + cut) % n.bytes); }) == 0);
    CHECK(wrong_in(array<std::uint8_t>(roll(x, cut)),
                   [&](index_t i) { return byte_at((i - cut + n.bytes) % n.bytes); }) == 0);
    CHECK(wrong_in(array<std::uint8_t>(pad(x, {3, 6}, 77)),
                   [&](index_t i) { return i < 3 || i >= n.bytes + 3 ? 77 : byte_at(i - 3); }) == 0);
    x = array<std::uint8_t>();
    const array<float> y = floats_of(n), column = zeros<float>({n.float_rows, index_t{1}});
    const array<float> wider = concatenate({column, y}, 1);
    CHECK(wrong_in(wider, [&](index_t i) {
              const index_t r = i / (n.float_width + 1), c = i % (n.float_width + 1);
              return c == 0 ? 0 : float_at(r * n.float_width + c - 1);
          }) == 0);
}

TEST_CASE("transposed tiles past 2^31 elements") {
    const far_extents n = far_extents::of_case();
    array<std::uint8_t> x = bytes_of(n);
    CHECK(wrong_in(array<std::uint8_t>(transpose(x)),
                   [&](index_t i) { return byte_at(i % n.rows * n.width + i / n.rows); }) == 0);
    x = array<std::uint8_t>();
    const array<float> y = floats_of(n), other = reshape(y, {n.float_width, n.float_rows});
    const auto by_hand = [&](index_t i) {
        return float_at(i) + float_at(i % n.float_width * n.float_rows + i / n.float_width);
    };
    CHECK(wrong_in(array<float>(y + transpose(other)), by_hand) == 0);
    const auto backwards = transpose(other)(slice(none, none, -1), slice(none, none, -1));
    CHECK(wrong_in(array<float>(y + backwards), [&](index_t i) {
              const index_t r = n.float_rows - 1 - i / n.float_width, c = n.float_width - 1 - i % n.float_width;
              return float_at(i) + float_at(c * n.float_rows + r);
          }) == 0);
}

TEST_CASE("random leaves at element numbers past 2^32") {
    const far_extents n = far_extents::of_case();
    constexpr std::uint64_t seed = 17;
    random::generator g(seed);
    const auto u = g.uniform<float>({n.rows, n.width});
    const auto number = [](index_t i) {
        using namespace ingot::detail::philox;
        const auto k = static_cast<std::uint64_t>(i);
        return ingot::detail::philox::uniform(words(seed, 0, k / 4)[k % 4]);
    };
    // Some rows, across 2^32 elements, and backwards.
    const index_t first = n.rows / 5 * 4 - 3;
    const array<float> part = u(slice(first, first + 6)),
                       back = u(slice(none, none, -(n.rows / 5)), slice(none, none, -1));
    CHECK(wrong_in(part, [&](index_t i) { return number(first * n.width + i); }) == 0);
    CHECK(wrong_in(back, [&](index_t i) {
              const index_t r = n.rows - 1 - i / n.width * (n.rows / 5);
              return number(r * n.width + n.width - 1 - i % n.width);
          }) == 0);
    const auto flat = g.uniform<float>(n.floats);
    const array<float> all_of_them = flat;
    const auto of_second = [](index_t i) {
        using namespace ingot::detail::philox;
        const auto k = static_cast<std::uint64_t>(i);
        return ingot::detail::philox::uniform(words(seed, 1, k / 4)[k % 4]);
    };
    CHECK(wrong_in(all_of_them, of_second) == 0);
    CHECK(std::abs(mean(astype<double>(u)).item() - 0.5) < 3.0 / std::sqrt(12.0 * static_cast<double>(n.bytes)));
}
