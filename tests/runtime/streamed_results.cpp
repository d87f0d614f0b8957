// Results of 64 MiB and more, which host kernels write past the caches: the bits equal those of small pieces, at every
// alignment of the result and of its rows, and no byte beside them changes.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <ingot/ingot.hpp>

namespace {

using namespace ingot;

constexpr index_t large = 64 << 20;  // bytes

array<std::uint8_t> bytes_of(index_t n, int factor) { return astype<std::uint8_t>(arange<index_t>(n) * factor); }

/// Whether the large array holds what the expression gives in pieces of a million elements.
template <class T, class Part>
bool holds_pieces(const array<T>& whole, Part part) {
    constexpr index_t piece = 1000003;
    for (index_t at = 0; at < whole.size(); at += piece) {
        const auto range = slice(at, std::min<index_t>(at + piece, whole.size()));
        const auto wanted = eval(part(range)).to_host(), found = eval(whole(range)).to_host();
        if (std::memcmp(wanted.data(), found.data(), wanted.size() * sizeof(T)) != 0) return false;
    }
    return true;
}

TEST_CASE("a large result is that of its pieces, wherever it begins") {
    const with_device host(device::host());
    const index_t n = large + 64 + 5;
    const array<std::uint8_t> x = bytes_of(n, 3), y = bytes_of(n, 7);
    const array<std::uint8_t> u = bytes_of(100, 3), v = bytes_of(100, 7);
    const auto made = [] { return counters().compiles + counters().disk_cache_hits; };
    const auto made_before = made();
    const array<std::uint8_t> small = where(u > v, u * v, u + v);
    CHECK(made() == made_before + 1);
    const array<std::uint8_t> whole = where(x > y, x * y, x + y);
    CHECK(made() == made_before + 2);  // large results have a kernel of their own
    const array<std::uint8_t> again = where(x > y, x * y, x + y);
    CHECK(made() == made_before + 2);
    CHECK(array_equal(again, whole).item());
    CHECK(holds_pieces(
        whole, [&](auto range) { return where(x(range) > y(range), x(range) * y(range), x(range) + y(range)); }));

    for (const index_t first : {1, 64}) {
        const auto middle = slice(first, -1);
        array<std::uint8_t> to = full<std::uint8_t>({n}, 9);
        to(middle) = x(middle) - y(middle);
        CHECK(holds_pieces(eval(to(middle)), [&](auto range) { return x(middle)(range) - y(middle)(range); }));
        CHECK(to(first - 1).item() == 9);
        CHECK(to(-1).item() == 9);
    }
}

TEST_CASE("rows of a large result need not begin where a line does") {
    const with_device host(device::host());
    const array<std::uint8_t> column = bytes_of(1 << 16, 5);
    for (const index_t length : {1024, 1025, 1088}) {
        const array<std::uint8_t> row = bytes_of(length, 11);
        const array<std::uint8_t> table = reshape(column, {-1, 1}) ^ row;
        CHECK(table.size() >= large);
        bool right = true;
        for (const index_t i : {0, 1, 2, 777, 65534, 65535})
            right = right && eval(table(i)).to_host() == eval(row ^ column(i)).to_host();
        CHECK(right);
        CHECK(sum(astype<index_t>(table)).item() == sum(astype<index_t>(reshape(column, {-1, 1}) ^ row)).item());
    }
}

TEST_CASE("several large results, and functions that round, keep their bits") {
    const with_device host(device::host());
    const array<float> x = astype<float>(arange<index_t>(large / 4 + 77)) * 1e-6f;
    const auto [e, s] = eval(exp(x), x * x + x);
    CHECK(holds_pieces(e, [&](auto range) { return exp(x(range)); }));
    CHECK(holds_pieces(s, [&](auto range) { return x(range) * x(range) + x(range); }));
}

}  // namespace
