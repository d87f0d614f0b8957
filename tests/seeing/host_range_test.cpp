// Values as ranges of the host: snapshots, copied only where they have to be.
#include <doctest/doctest.h>

#include <algorithm>
#include <complex>
#include <iterator>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include "tests/arrays/expect.hpp"

using namespace ingot;

namespace {

template <class T>
std::vector<T> listed(const host_range<T>& r) {
    return std::vector<T>(r.begin(), r.end());
}

template <class T>
void check_dtype() {
    const array<T> x = astype<T>(arange<int>(5) % 2);
    CHECK(listed(x.values()) == std::vector<T>{T(0), T(1), T(0), T(1), T(0)});
}

}  // namespace

static_assert(std::contiguous_iterator<host_range<float>::iterator>);
static_assert(!std::is_copy_constructible_v<host_range<float>> &&
              std::is_nothrow_move_constructible_v<host_range<float>>);

TEST_CASE("a loop goes through the values of any expression, in C order") {
    const array<int> m{{1, 2, 3}, {4, 5, 6}};
    std::vector<int> seen;
    for (const int v : m.values()) seen.push_back(v);
    for (const int v : (m.T() * 10).values()) seen.push_back(v);
    for (const int v : m(all, 1).values()) seen.push_back(v);
    for (const int v : lazy<int>(m(1)).values()) seen.push_back(v);
    CHECK(seen == std::vector<int>{1, 2, 3, 4, 5, 6, 10, 40, 20, 50, 30, 60, 2, 5, 4, 5, 6});
    CHECK(full<int>({}, 7).values()[0] == 7);
    check_dtype<bool>();
    check_dtype<std::uint8_t>();
    check_dtype<std::int64_t>();
    check_dtype<double>();
    check_dtype<std::complex<float>>();
}

TEST_CASE("the library's algorithms and spans take a range") {
    const array<double> x{3, 1, 2};
    const host_range<double> v = x.values();
    CHECK(std::accumulate(v.begin(), v.end(), 0.0) == 6);
    CHECK(*std::max_element(v.begin(), v.end()) == 3);
    const std::span<const double> s = v;
    CHECK(s.size() == 3);
    CHECK(s[2] == 2);
    CHECK(std::vector<double>(v.begin(), v.end()) == x.to_host());
}

TEST_CASE("nothing has no values") {
    const array<float> nothing = zeros<float>({2, 0, 3});
    const host_range<float> v = nothing.values();
    CHECK(v.empty());
    CHECK(v.size() == 0);
    CHECK(v.begin() == v.end());
}

TEST_CASE("a range is a snapshot: what is written later it does not have") {
    array<double> x{1, 2, 3};
    host_range<double> before = x.values();
    x += 10;
    x(0) = -1.0;
    CHECK(listed(before) == std::vector<double>{1, 2, 3});
    x.mutable_data();
    const host_range<double> later = x.values();
    x.fill(0);
    CHECK(listed(later) == std::vector<double>{-1, 12, 13});

    const host_range<double> moved = std::move(before);
    CHECK(moved.size() == 3);
    before = x.values();
    CHECK(listed(before) == std::vector<double>{0, 0, 0});
    CHECK(listed(moved) == std::vector<double>{1, 2, 3});

    double mine[] = {1, 2};
    const with_device on_the_host(device::host());
    const array<double> over = asarray<double>(unowned_memory(mine, sizeof mine, device::host()), {2});
    const host_range<double> of_mine = over.values();
    mine[0] = 5;
    CHECK(listed(of_mine) == std::vector<double>{1, 2});

    array<double> shared{1, 2};  // whoever has the tensor may write there
    auto* const tensor = to_dlpack(shared);
    array<double> theirs = from_dlpack<double>(tensor);
    const host_range<double> of_shared = shared.values();
    theirs *= 3;
    CHECK(shared.to_host() == std::vector<double>{3, 6});
    CHECK(listed(of_shared) == std::vector<double>{1, 2});
}

TEST_CASE("a range outlives its array, and on a host copies no array in C order") {
    host_range<int> kept = arange<int>(4).eval().values();
    const array<int> other = arange<int>(4) + 100;  // would have its memory
    CHECK(listed(kept) == std::vector<int>{0, 1, 2, 3});
    CHECK(other(0).item() == 100);

    const with_device on_the_host(device::host());
    const array<float> x = ones<float>({100, 100});
    CHECK(x.values().data() == x.data());
    CHECK(x(slice(2, 5)).values().data() == x.data() + 200);
    CHECK(x.T().values().data() != x.data());
    CHECK(x(all, slice(1, none)).values().size() == 9900);
}

TEST_CASE("a bad index is thrown to who asks for the values") {
    const array<int> x{1, 2, 3}, outside{0, 7};
    CHECK_THROWS_AS(x(outside).values(), index_error);
    CHECK(listed(x.values()) == std::vector<int>{1, 2, 3});
}
