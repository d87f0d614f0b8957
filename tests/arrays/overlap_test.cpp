// Views of one memory: which of them share an element, which statements then need a second buffer, and which are
// errors.
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "expect.hpp"
#include "runtime/device/copy_view.hpp"
#include "runtime/front/overlap.hpp"

using namespace ingot;

namespace {

using detail::layout;

layout layout_of(const std::vector<index_t>& shape, const std::vector<index_t>& strides, index_t offset) {
    layout l(static_cast<int>(shape.size()));
    std::copy(shape.begin(), shape.end(), l.shape());
    std::copy(strides.begin(), strides.end(), l.strides());
    l.offset = offset;
    return l;
}

std::set<index_t> bytes_of(const layout& l, index_t each) {
    std::set<index_t> starts{l.offset}, bytes;
    for (int j = 0; j < l.rank(); ++j) {
        std::set<index_t> next;
        for (const index_t s : starts)
            for (index_t i = 0; i < l.shape()[j]; ++i) next.insert(s + i * l.strides()[j]);
        starts = next;
    }
    for (const index_t s : starts)
        for (index_t b = 0; b < each; ++b) bytes.insert(s * each + b);
    return bytes;
}

bool have_one_in_common(const std::set<index_t>& a, const std::set<index_t>& b) {
    return std::ranges::any_of(a, [&](index_t at) { return b.contains(at); });
}

/// Bytes that a statement allocates once it is warm.
std::uint64_t bytes_for(const std::function<void()>& statement) {
    statement();
    const std::uint64_t before = counters().bytes_allocated;
    statement();
    return counters().bytes_allocated - before;
}

array<float> grid() { return counted<float>({12, 12}); }

}  // namespace

TEST_CASE("whether two strided views share a byte is decided exactly") {
    std::mt19937 random(3);
    const auto below = [&](index_t n) { return static_cast<index_t>(random() % static_cast<std::uint64_t>(n)); };
    const dtype types[] = {dtype::i1, dtype::i2, dtype::f4, dtype::f8};
    const auto buffers = [&](index_t byte) {  // at any address, for nothing is read there
        return ingot::detail::unowned_buffer(
            reinterpret_cast<void*>(std::uintptr_t{4096} + static_cast<std::uintptr_t>(byte)), 1, device::host());
    };
    int shared = 0, apart = 0;
    for (int k = 0; k < 20000; ++k) {
        const auto any = [&](int rank) {
            std::vector<index_t> shape, strides;
            for (int j = 0; j < rank; ++j) {
                shape.push_back(1 + below(4));
                strides.push_back(below(25) - 12);
            }
            return layout_of(shape, strides, below(60));
        };
        const layout a = any(static_cast<int>(below(4))), b = any(static_cast<int>(below(4)));
        const dtype t = types[below(4)], u = types[below(4)];
        const index_t shift = below(3) == 0 ? below(16) : 0;
        std::set<index_t> of_b;
        for (const index_t at : bytes_of(b, static_cast<index_t>(detail::size_of(u)))) of_b.insert(at + shift);
        const bool wanted = have_one_in_common(bytes_of(a, static_cast<index_t>(detail::size_of(t))), of_b);
        ++(wanted ? shared : apart);
        REQUIRE(runtime::share_a_byte({*buffers(0), a, t}, {*buffers(shift), b, u}) == wanted);
    }
    CHECK(shared > 3000);
    CHECK(apart > 3000);
}

TEST_CASE("views of large arrays are found apart by few places, and the hardest are taken for overlapping") {
    const ingot::detail::buffer_ref memory = ingot::detail::unowned_buffer(nullptr, 1, device::host());
    const auto share = [&](const layout& a, const layout& b, int places) {
        return runtime::share_a_byte({*memory, a, dtype::f4}, {*memory, b, dtype::f4}, places);
    };
    const index_t far = index_t{1} << 40;
    CHECK_FALSE(share(layout_of({far}, {2}, 0), layout_of({far}, {2}, 1), 0));
    CHECK(share(layout_of({far}, {2}, 0), layout_of({far}, {3}, 1), 0));
    CHECK_FALSE(share(layout_of({far}, {-6}, 6 * far), layout_of({far}, {4}, 1), 0));
    CHECK_FALSE(
        share(layout_of({1 << 20, 1 << 9}, {1 << 10, 2}, 0), layout_of({1 << 20, 1 << 9}, {1 << 10, 2}, 1), 10));
    CHECK_FALSE(share(layout_of({100, 100, 50}, {10000, 100, 2}, 0), layout_of({100, 100}, {10000, 100}, 1), 20));
    const layout hard = layout_of({900, 900, 900}, {100003, 99991, 99989}, 0);
    CHECK(share(hard, layout_of({900, 900, 900}, {99971, 99961, 99929}, 1), 100));
}

TEST_CASE("a statement whose sides share no element, or each element with itself, runs in place") {
    array<float> u = grid();
    CHECK(bytes_for([&] { u(all, 0) = u(all, 1); }) == 0);
    CHECK(bytes_for([&] { u(all, slice(0, none, 2)) = u(all, slice(1, none, 2)) * 2; }) == 0);
    CHECK(bytes_for([&] { u(slice(0, none, 2), slice(1, none, 2)) += u(slice(1, none, 2), slice(0, none, 2)); }) == 0);
    CHECK(bytes_for([&] { u(all, slice(0, 4)) = u(all, slice(5, 6)); }) == 0);  // one column into four
    CHECK(bytes_for([&] { u(slice(1, 4)) = u(0); }) == 0);
    CHECK(bytes_for([&] { u(slice(none, none, -2), 3) = u(slice(none, none, -2), 4); }) == 0);
    CHECK(bytes_for([&] { flip(u)(all) += 1; }) == 0);
    CHECK(bytes_for([&] { flip(u, 0)(all, slice(0, none, 2)) = flip(u, 0)(all, slice(1, none, 2)); }) == 0);
    CHECK(bytes_for([&] { u(all, slice(0, none, 3)) *= u(all, slice(0, none, 3)); }) == 0);
    CHECK(bytes_for([&] { u(all, 0) = sum(u(all, slice(1)), 1); }) == 0);
    CHECK(bytes_for([&] { u(newaxis, 0) = u(0) + 1; }) == 0);  // one row, beside an axis of one
    array<float> v = zeros<float>(24);
    CHECK(bytes_for([&] { v(slice(0, none, 2)) = flip(v(slice(1, none, 2))); }) == 0);

    // If elements are shared, the value is computed in other memory first.
    CHECK(bytes_for([&] { u(slice(1)) = u(slice(0, -1)); }) > 0);
    CHECK(bytes_for([&] { u(all, slice(0, none, 2)) = u(all, slice(0, 6)); }) > 0);
    CHECK(bytes_for([&] { u(slice(0, 3)) = u(0); }) > 0);
    CHECK(bytes_for([&] { v(slice(0, none, 2)) = v(slice(0, 12)); }) > 0);
    CHECK(bytes_for([&] { v(slice(0, none, 2)) = flip(v(slice(0, none, 2))); }) > 0);
}

TEST_CASE("interleaved sides give NumPy's answer") {
    array<int> x = counted({3, 4});
    x(all, 0) = x(all, 1) * 10;
    CHECK(holds(x, {3, 4}, {10, 1, 2, 3, 50, 5, 6, 7, 90, 9, 10, 11}));
    x(all, slice(0, none, 2)) = x(all, slice(1, none, 2)) + 1;
    CHECK(holds(x, {3, 4}, {2, 1, 4, 3, 6, 5, 8, 7, 10, 9, 12, 11}));
    x(slice(none, none, -1), slice(1, 3)) += x(slice(none, none, -1), slice(3));
    CHECK(holds(x, {3, 4}, {2, 4, 7, 3, 6, 12, 15, 7, 10, 20, 23, 11}));
    x(all, 3) = sum(x(all, slice(0, 3)), 1);
    CHECK(holds(x, {3, 4}, {2, 4, 7, 13, 6, 12, 15, 33, 10, 20, 23, 53}));
}

TEST_CASE("views of memory that is not Ingot's are judged by their bytes, whatever their dtypes' sizes") {
    with_device guard(device::host());
    alignas(16) std::array<std::int32_t, 16> values{};
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(i);
    array<std::int64_t> wide = asarray<std::int64_t>(unowned_memory(values.data(), 64), {4}, {16});
    array<std::int32_t> narrow = asarray<std::int32_t>(unowned_memory(values.data() + 2, 56), {4}, {16});
    array<std::int32_t> inside = asarray<std::int32_t>(unowned_memory(values.data() + 1, 60), {4}, {16});
    CHECK(bytes_for([&] { wide(all) = narrow; }) == 0);
    CHECK(values[4] == 6);
    CHECK(bytes_for([&] { wide(all) = inside; }) > 0);
    CHECK(bytes_for([&] { narrow(all) = flip(inside); }) == 0);
}

TEST_CASE("targets of one statement that have elements in common throw and are named") {
    const auto u = [] { return counted({20}); };
    array<int> x = u();
    const int* const memory = x.data();
    const array<int> a = full<int>(12, 1), b = full<int>(12, 2);
    CHECK(thrown<shape_error>([&] { assign(std::tuple(x(slice(0, 12)), x(slice(8, 20))), a, b); }) ==
          "[assign] targets 0 (int32, shape (12,), strides (4,) from byte 0) and 1 (int32, shape (12,), strides (4,) "
          "from byte 32) have elements in common: targets of one statement must not overlap");
    CHECK_THROWS_AS(assign(std::forward_as_tuple(x, x(all)), x, x), shape_error);
    CHECK_THROWS_AS(assign(std::forward_as_tuple(x, x), x, x), shape_error);
    CHECK_THROWS_AS(assign(std::tuple(x(slice(0, none, 2)), x(slice(none, none, -2)), x(slice(10))), x(slice(10)),
                           x(slice(10)), x(slice(10))),
                    shape_error);
    CHECK(x.data() == memory);
    CHECK(array_equal(x, u()).item());

    array<int> m = counted({4, 4});
    CHECK_THROWS_AS(assign(std::tuple(m(1), m(all, 1)), m(0), m(0)), shape_error);
    CHECK_THROWS_AS(assign(std::tuple(diagonal(m), flip(m, 1)(1)), m(0), m(0)), shape_error);
    CHECK(array_equal(m, counted({4, 4})).item());
}

TEST_CASE("targets of one statement that interleave are written in one kernel, in place") {
    array<int> x = counted({8});
    const auto swap = [&] {
        assign(std::tuple(x(slice(0, none, 2)), x(slice(1, none, 2))), x(slice(1, none, 2)), x(slice(0, none, 2)));
    };
    swap();
    CHECK(holds(x, {8}, {1, 0, 3, 2, 5, 4, 7, 6}));
    const int* const memory = x.data();
    const auto before = counters();
    swap();
    CHECK(counters().kernel_launches - before.kernel_launches == 1);
    CHECK(counters().bytes_allocated == before.bytes_allocated);
    CHECK(x.data() == memory);
    CHECK(holds(x, {8}, {0, 1, 2, 3, 4, 5, 6, 7}));

    array<int> m = counted({2, 3});
    assign(std::tuple(m(all, 0), m(all, 2), m(all, 1)), m(all, 1), m(all, 0), m(all, 2));
    CHECK(holds(m, {2, 3}, {1, 2, 0, 4, 5, 3}));

    // Arrays that share a buffer are split, and once, however many parts of them are written.
    array<int> p = counted({6}), q = p;
    assign(std::forward_as_tuple(p, q), q + 10, p + 20);
    CHECK(holds(p, {6}, {10, 11, 12, 13, 14, 15}));
    CHECK(holds(q, {6}, {20, 21, 22, 23, 24, 25}));
    const array<int> kept = p;
    const auto bytes = counters().bytes_allocated;
    assign(std::tuple(p(slice(0, 3)), p(slice(3))), q(slice(3)), q(slice(0, 3)));
    CHECK(counters().bytes_allocated - bytes == 24);
    CHECK(holds(p, {6}, {23, 24, 25, 20, 21, 22}));
    CHECK(holds(kept, {6}, {10, 11, 12, 13, 14, 15}));
}

TEST_CASE("copies out of second buffers go on being found when their dtypes alternate") {
    const auto shift = [](auto& x) { x(slice(1)) = x(slice(0, -1)); };
    auto arrays = std::tuple(zeros<bool>(9), zeros<std::int8_t>(9), zeros<std::int16_t>(9), zeros<int>(9),
                             zeros<std::int64_t>(9), zeros<float>(9), zeros<double>(9));
    const auto round = [&] { std::apply([&](auto&... x) { (shift(x), ...); }, arrays); };
    const auto misses = [] {
        std::uint32_t n = 0;
        for (std::size_t t = 0; t < detail::dtype_count; ++t)
            n += runtime::slot_of_copies(static_cast<dtype>(t)).next.load();
        return n;
    };
    round();
    round();
    const std::uint32_t before = misses();
    const auto compiled = counters();
    for (int k = 0; k < 5; ++k) std::thread(round).join();  // which has met no statement before
    CHECK(misses() == before);
    CHECK(counters().compiles == compiled.compiles);
}
