// Indexed writes whose values or indices read the array that is written: NumPy's answer, by one copy.
#include <doctest/doctest.h>

#include <functional>

#include "tests/arrays/expect.hpp"

using namespace ingot;

namespace {

const array<int> order{2, 0, 1};

/// The values of an array of 0, 1, 2, ... after a write.
std::vector<double> left_by(std::vector<index_t> shape, const std::function<void(array<double>&)>& write) {
    index_t size = 1;
    for (const index_t n : shape) size *= n;
    array<double> x(reshape(arange<double>(static_cast<int>(size)), shape));
    write(x);
    return array<double>(ravel(x)).to_host();
}

index_t bytes_allocated_by(const std::function<void()>& f) {
    const auto before = counters().bytes_allocated;
    f();
    return static_cast<index_t>(counters().bytes_allocated - before);
}

}  // namespace

TEST_CASE("an indexed write of the array itself is written as if its values had been computed first") {
    using values = std::vector<double>;
    CHECK(left_by({3}, [](auto& v) { v(order) = v; }) == values{1, 2, 0});
    CHECK(left_by({3}, [](auto& v) { v(order) = v * 2 + v; }) == values{3, 6, 0});
    CHECK(left_by({3}, [](auto& v) { v(order) = lazy<double>(v); }) == values{1, 2, 0});
    CHECK(left_by({3}, [](auto& v) { v(ix_(order)) = v; }) == values{1, 2, 0});
    CHECK(left_by({3}, [](auto& v) { v(array<bool>{true, true, true}) = v; }) == values{0, 1, 2});
    CHECK(left_by({2, 3}, [](auto& x) { x(all, order) = x; }) == values{1, 2, 0, 4, 5, 3});
    CHECK(left_by({2, 3}, [](auto& x) { x(x >= 0) = ravel(flip(x)); }) == values{5, 4, 3, 2, 1, 0});
    CHECK(left_by({5}, [](auto& x) { x(slice(1, 4))(order) = x(slice(1, 4)); }) == values{0, 2, 3, 1, 4});
    CHECK(left_by({3}, [](auto& v) { put(v, order, v); }) == values{1, 2, 0});
    CHECK(left_by({3}, [](auto& v) { put_along_axis(v, order, v, 0); }) == values{1, 2, 0});
    CHECK(left_by({3}, [](auto& v) { scatter_add(v(order), v); }) == values{1, 3, 2});
    CHECK(left_by({3}, [](auto& v) { scatter_max(v(order), v); }) == values{1, 2, 2});
    CHECK(left_by({3}, [](auto& v) { scatter_min(v(order), v); }) == values{0, 1, 0});
}

TEST_CASE("an array of indices is written at the places that it names itself") {
    array<int> v{2, 0, 1};
    v(v) = v * 7;
    CHECK(v.to_host() == std::vector<int>{0, 7, 14});
    array<int> w{1, 1, 0};
    scatter_add(w(w), w);
    CHECK(w.to_host() == std::vector<int>{1, 3, 0});
}

TEST_CASE("an indexed write of an array that others hold leaves theirs as it was") {
    array<double> v{1, 2, 3}, old = v;
    v(order) = old;
    CHECK(v.to_host() == std::vector<double>{2, 3, 1});
    CHECK(old.to_host() == std::vector<double>{1, 2, 3});
    const auto later = v + 1;
    v(order) = v;
    CHECK(v.to_host() == std::vector<double>{3, 1, 2});
    CHECK(later.to_host() == std::vector<double>{3, 4, 2});
}

TEST_CASE("memory of a user's own is written in place by what reads it") {
    const with_device on_the_host(device::host());
    std::vector<double> memory{1, 2, 3};
    array<double> over = asarray<double>(unowned_memory(memory.data(), 24), {3});
    over(array<int>{2, 0, 1}) = over;
    synchronize();
    CHECK(memory == std::vector<double>{2, 3, 1});
}

TEST_CASE("an indexed write of the array itself takes one copy of its size") {
    const with_device on_the_host(device::host());
    array<double> v = arange<double>(3000);
    const array<index_t> i(2999 - arange<index_t>(3000));
    v(i) = v;  // compiled
    CHECK(bytes_allocated_by([&] { v(i) = v; }) == v.nbytes());
    const array<double> old = v;
    CHECK(bytes_allocated_by([&] { v(i) = old; }) == v.nbytes());
    array<index_t> places(2999 - arange<index_t>(3000));
    places(places) = places * 2;
    places = 2999 - arange<index_t>(3000);
    CHECK(bytes_allocated_by([&] { places(places) = places * 2; }) == 2 * v.nbytes());
}
