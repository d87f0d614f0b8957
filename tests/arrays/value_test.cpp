#include "expect.hpp"

using namespace ingot;

TEST_CASE("a copy is a value: writing one leaves the other alone") {
    array<int> a{1, 2, 3};
    auto b = a;
    CHECK(b.data() == a.data());
    b += 1;
    CHECK(holds(a, {3}, {1, 2, 3}));
    CHECK(holds(b, {3}, {2, 3, 4}));
    auto c = a;
    c(0) = 9;
    CHECK(holds(a, {3}, {1, 2, 3}));
    CHECK(holds(c, {3}, {9, 2, 3}));
    auto d = a;
    d.fill(7);
    assign(d, array<int>{4, 5, 6});
    CHECK(holds(a, {3}, {1, 2, 3}));
    CHECK(holds(d, {3}, {4, 5, 6}));
}

TEST_CASE("an expression means what it meant when it was written") {
    array<int> x{1, 2, 3};
    auto e = x + 1;
    x(1) = 10;
    CHECK(holds(e, {3}, {2, 3, 4}));
    x += 5;
    CHECK(holds(e, {3}, {2, 3, 4}));
    x.fill(0);
    x = array<int>{7};
    CHECK(holds(e, {3}, {2, 3, 4}));
    auto view = x(slice(0));
    x(0) = 8;
    CHECK(view.item() == 7);
}

TEST_CASE("an expression outlives its arrays") {
    const auto e = [] {
        array<int> x{1, 2};
        return x * x;
    }();
    CHECK(holds(e, {2}, {1, 4}));
}

TEST_CASE("writers that are alone write in place") {
    array<float> u{1, 2, 3, 4}, v{1, 1};
    const float* memory = u.data();
    u(slice(0, 2)) += v;
    CHECK(u.data() == memory);
    u(slice(2)) = u(slice(0, 2)) + 1;
    CHECK(u.data() == memory);
    u(slice(1)) = u(slice(0, -1));  // overlap
    CHECK(u.data() == memory);
    CHECK(holds(u, {4}, {2, 2, 3, 3}));
    u += u;
    u += u * u;
    u = u - 1;
    CHECK(u.data() == memory);
    u(all) = u;
    u(all) += u;
    assign(u, u + 1);
    u.fill(3);
    CHECK(u.data() == memory);
    auto e = u + 1;
    u(all) = std::move(e);
    CHECK(u.data() == memory);
    CHECK(holds(u, {4}, {4, 4, 4, 4}));
}

TEST_CASE("a writer that is alone launches one kernel and takes no memory") {
    array<float> u{1, 2, 3, 4}, v{1, 1};
    const auto cost = [&](auto&& statement) {
        const counter_values before = counters();
        statement();
        const counter_values after = counters();
        CHECK(after.kernel_launches == before.kernel_launches + 1);
        return after.bytes_allocated - before.bytes_allocated;
    };
    CHECK(cost([&] { u(slice(0, 2)) += v; }) == 0);
    CHECK(cost([&] { u(slice(2)) = u(slice(0, 2)) + v; }) == 0);
    CHECK(cost([&] { u(1) = 5; }) == 0);
    CHECK(cost([&] { u += u; }) == 0);
    CHECK(cost([&] { u = u * 2 - u; }) == 0);
    CHECK(cost([&] { u.fill(1); }) == 0);
    const auto held = u;
    CHECK(cost([&] { u += v(0); }) > 0);
}

TEST_CASE("an update by a fold or scan of what is updated is one kernel, and leaves the array in other memory") {
    array<float> u = counted<float>({3, 2});
    const auto update = [](auto&& statement) {
        const auto before = counters().kernel_launches;
        statement();
        return counters().kernel_launches - before;
    };
    CHECK(update([&] { u -= mean(u, 1, keepdims); }) == 1);
    CHECK(holds(u, {3, 2}, {-0.5f, 0.5f, -0.5f, 0.5f, -0.5f, 0.5f}));
    CHECK(update([&] { u += cumsum(u, 0); }) == 1);
    CHECK(holds(u, {3, 2}, {-1, 1, -1.5f, 1.5f, -2, 2}));
    const float* memory = u.mutable_data();
    u -= max(u, 0);
    CHECK(u.data() == memory);
    u(ellipsis) = flip(u);
    assign(u, u + sum(u));
    CHECK(u.data() == memory);
    CHECK(holds(u, {3, 2}, {-3, -4, -3.5f, -3.5f, -4, -3}));
    array<int> i{1, 2, 3};
    const array<int> held = i;
    i *= sum(i);
    CHECK(holds(i, {3}, {6, 12, 18}));
    CHECK(holds(held, {3}, {1, 2, 3}));
}

TEST_CASE("writers split what someone else holds") {
    array<float> u{1, 2, 3};
    const float* memory = u.data();
    auto pending = u * 2;
    u(slice(1)) = u(slice(0, -1)) + 0;
    CHECK(u.data() != memory);
    CHECK(holds(u, {3}, {1, 1, 2}));
    CHECK(holds(pending, {3}, {2, 4, 6}));
    auto e = u + 1;
    u(slice(1)) = e(slice(1));
    CHECK(holds(e, {3}, {2, 2, 3}));
    CHECK(holds(u, {3}, {1, 2, 3}));
    const auto snapshot = u(slice(0, 2));
    u(slice(1)) = snapshot;
    CHECK(holds(snapshot, {2}, {1, 2}));
    CHECK(holds(u, {3}, {1, 1, 2}));
}

TEST_CASE("assignment to a whole array may change its shape and type of nothing") {
    array<float> x{1, 2, 3};
    const float* memory = x.data();
    x = x * 2;
    CHECK(x.data() == memory);
    x = x(newaxis) + array<float>{0, 10}(all, newaxis);
    CHECK(holds(x, {2, 3}, {2, 4, 6, 12, 14, 16}));
    x = transpose(x);
    CHECK(holds(x, {3, 2}, {2, 12, 4, 14, 6, 16}));
    x = array<int>{1, 2};
    CHECK(holds(x, {2}, {1, 2}));
    x = flip(x);
    CHECK(holds(x, {2}, {2, 1}));
}

TEST_CASE("an array that was moved from is empty and may be used") {
    array<int> x{1, 2, 3};
    array<int> y = std::move(x);
    CHECK(x.size() == 0);
    CHECK(x.shape() == shape_like{0});
    CHECK(holds(y, {3}, {1, 2, 3}));
    const auto e = std::move(y) + 1;
    CHECK(y.size() == 0);
    CHECK(holds(e, {3}, {2, 3, 4}));
    x = e;
    CHECK(holds(x, {3}, {2, 3, 4}));
    y = std::move(x);
    CHECK(holds(y, {3}, {2, 3, 4}));
    CHECK(array<float>().size() == 0);
    CHECK((array<float>() + 1).eval().size() == 0);
}

TEST_CASE("self-assignment keeps the values") {
    array<int> x{1, 2, 3};
    auto& same = x;
    x = same;
    CHECK(holds(x, {3}, {1, 2, 3}));
}

TEST_CASE("after mutable_data copies are deep") {
    array<int> a{1, 2, 3};
    const array<int> shared = a;
    int* p = a.mutable_data();
    CHECK(shared.data() != p);
    const array<int> later = a;
    CHECK(later.data() != p);
    if (a.device().is_host()) {
        p[0] = 9;
        CHECK(holds(a, {3}, {9, 2, 3}));
    }
    CHECK(holds(shared, {3}, {1, 2, 3}));
    CHECK(holds(later, {3}, {1, 2, 3}));
}

TEST_CASE("memory that is not Ingot's is always written in place") {
    with_device guard(device::host());
    std::vector<int> values{1, 2, 3, 4, 5, 6};
    array<int> x = asarray<int>(unowned_memory(values.data(), 24), {2, 3});
    CHECK(x.data() == values.data());
    auto pending = x + 1;
    x(0) = 0;
    x += 1;
    CHECK(values == std::vector{1, 1, 1, 5, 6, 7});
    CHECK(holds(pending, {2, 3}, {2, 2, 2, 6, 7, 8}));
    x = x * 2;
    CHECK(values == std::vector{2, 2, 2, 10, 12, 14});
    x = array<int>{{1, 2, 3}, {4, 5, 6}};
    CHECK(values == std::vector{1, 2, 3, 4, 5, 6});
    x.set(std::vector{6, 5, 4, 3, 2, 1});
    x.fill(8);
    CHECK(values == std::vector{8, 8, 8, 8, 8, 8});
    CHECK(x.mutable_data() == values.data());
}

TEST_CASE("copies of an array over memory that is not Ingot's are values, of const ones and of eval too") {
    with_device guard(device::host());
    std::vector<int> values{1, 2, 3, 4, 5, 6};
    array<int> over = asarray<int>(unowned_memory(values.data(), 24), {2, 3});
    const array<int> constant = asarray<int>(unowned_memory(values.data(), 24), {3}, {8});
    const auto increment = [](array<int> by_value) { by_value += 100; };
    array<int> copy = over, of_const = constant, evaluated = eval(over), member = over.eval(), assigned;
    assigned = over;
    for (array<int>* x : {&copy, &evaluated, &member, &assigned}) {
        CHECK(holds(*x, {2, 3}, {1, 2, 3, 4, 5, 6}));
        *x += 10;
        (*x)(0) = 0;
        x->fill(9);
        x->mutable_data()[0] = 7;
        *x = *x * 2;
    }
    CHECK(holds(of_const, {3}, {1, 3, 5}));
    CHECK(of_const.strides() == shape_like{4});
    of_const(all) = -1;
    increment(over);
    increment(constant);
    array<int> here = over.to(device::host());
    here(0) = 5;
    CHECK(values == std::vector{1, 2, 3, 4, 5, 6});
    CHECK(holds(constant.to(device::host(1)), {3}, {1, 3, 5}));

    over(0) = 0;  // and is not seen in the copies
    CHECK(values == std::vector{0, 0, 0, 4, 5, 6});
    CHECK(holds(of_const, {3}, {-1, -1, -1}));
    const array<int> before = over, shared = before;
    CHECK(shared.data() == before.data());  // a copy is an array like any other
    const array<int> empty = asarray<int>(unowned_memory(values.data(), 24), {0, 3});
    CHECK(array<int>(empty).shape() == shape_like{0, 3});
}

TEST_CASE("moving and returning an array over memory that is not Ingot's move the handle") {
    with_device guard(device::host());
    std::vector<int> values{1, 2, 3};
    const auto make = [&] {
        array<int> x = asarray<int>(unowned_memory(values.data(), 12), {3});
        return x;
    };
    array<int> x = make();
    CHECK(x.data() == values.data());
    array<int> y = std::move(x), z;
    z = std::move(y);
    z += 1;
    CHECK(values == std::vector{2, 3, 4});
    std::vector<array<int>> some;
    some.push_back(std::move(z));
    some.reserve(100);
    some[0] *= 2;
    CHECK(values == std::vector{4, 6, 8});
}

TEST_CASE("an array over memory that is not Ingot's takes no other shape and no other device") {
    with_device guard(device::host());
    std::vector<int> values{1, 2, 3};
    array<int> over = asarray<int>(unowned_memory(values.data(), 12), {3});
    const array<int> two{1, 2}, there = array<int>{7, 8, 9}.to(device::host(1));
    CHECK(thrown<shape_error>([&] { over = two; }) ==
          "[assign] shape (2,) to an array of shape (3,) over memory that is not Ingot's, which cannot be replaced");
    CHECK_THROWS_AS((over = array<int>{1, 2}), shape_error);
    CHECK_THROWS_AS(over = two + 1, shape_error);
    CHECK_THROWS_AS(over = array<int>(), shape_error);
    CHECK_THROWS_AS(over = ones<int>({1, 3}) * 2, shape_error);
    CHECK_THROWS_AS(over = there, device_error);
    CHECK_THROWS_AS((over = array<int>(there)), device_error);
    CHECK_THROWS_AS(over = there + 1, device_error);
    CHECK_THROWS_AS(over = lazy<int>(there) + 1, device_error);
    CHECK(over.data() == values.data());
    CHECK(values == std::vector{1, 2, 3});
    over = over(slice(none, none, -1)) * 10;
    CHECK(values == std::vector{30, 20, 10});
}

TEST_CASE("a pending expression over memory that is not Ingot's reads what is there when it is evaluated") {
    with_device guard(device::host());
    std::vector<int> values{1, 2, 3};
    array<int> over = asarray<int>(unowned_memory(values.data(), 12), {3});
    const auto pending = over + 1;
    const lazy<int> later = lazy<int>(over) * 2;
    values = {4, 5, 6};
    CHECK(holds(pending, {3}, {5, 6, 7}));
    over = array<int>{7, 8, 9};
    CHECK(holds(pending, {3}, {8, 9, 10}));
    CHECK(holds(later, {3}, {14, 16, 18}));
}

TEST_CASE("an array that must split is not copied where all of it is written") {
    array<int> x = counted({2, 3});
    const array<int> shared = x;
    transpose(x) = array<int>{{1, 2}, {3, 4}, {5, 6}} + flip(transpose(x));
    CHECK(holds(x, {2, 3}, {6, 7, 8, 4, 5, 6}));
    CHECK(holds(shared, {2, 3}, {0, 1, 2, 3, 4, 5}));
    const array<int> again = x;
    const auto before = counters().bytes_allocated;
    x(all) = again * 2;
    CHECK(counters().bytes_allocated - before == 24);
    CHECK(holds(x, {2, 3}, {12, 14, 16, 8, 10, 12}));
    CHECK(holds(again, {2, 3}, {6, 7, 8, 4, 5, 6}));
}

TEST_CASE("of a large array that must split only what is not written is copied") {
    const index_t rows = 1100, columns = 2000;
    const auto numbers = reshape(arange<int>(rows * columns), {rows, columns});
    const auto split = [&](auto write, std::uint64_t kernels) {
        array<int> x = numbers, alone = numbers + 0;
        const array<int> shared = x;
        const auto before = counters();
        write(x);
        CHECK(counters().kernel_launches - before.kernel_launches == kernels);
        write(alone);
        CHECK(array_equal(x, alone).item());
        CHECK(array_equal(shared, numbers).item());
    };
    split([](array<int>& x) { x(slice(1, -1), slice(2, -3)) = -1; }, 5);
    split([](array<int>& x) { x(slice(none, 500)) *= 2; }, 2);
    split([](array<int>& x) { x(all, slice(1)) = x(all, slice(0, -1)) + 1; }, 2);
    split([](array<int>& x) { transpose(flip(x))(slice(3, 90), 7) = -1; }, 5);
    split([](array<int>& x) { flip(x)(all) += 1; }, 1);
}

TEST_CASE("two memories over the same bytes are seen to overlap") {
    with_device guard(device::host());
    std::vector<int> values{1, 2, 3, 4, 5, 6};
    array<int> x = asarray<int>(unowned_memory(values.data(), 24), {6});
    const array<int> y = asarray<int>(unowned_memory(values.data(), 20), {5});
    x(slice(1)) = y;
    CHECK(values == std::vector{1, 1, 2, 3, 4, 5});
    x(slice(0, 5)) = flip(y) * 10;
    CHECK(values == std::vector{40, 30, 20, 10, 10, 5});
    x(slice(0, 5)) += y;  // element for element
    CHECK(values == std::vector{80, 60, 40, 20, 20, 5});

    array<int> own = counted({6});
    const array<int> window = asarray<int>(unowned_memory(own.mutable_data(), 24), {6});
    own(slice(1)) = window(slice(0, 5));
    CHECK(holds(own, {6}, {0, 0, 1, 2, 3, 4}));
}

TEST_CASE("strides of memory that is not Ingot's are in bytes") {
    with_device guard(device::host());
    std::vector<int> values{1, 2, 3, 4, 5, 6};
    const unowned_memory memory(values.data(), 24);
    array<int> odd = asarray<int>(memory, {3}, {8});
    CHECK(holds(odd, {3}, {1, 3, 5}));
    CHECK(odd.strides() == shape_like{8});
    odd.set(std::vector{7, 8, 9});
    CHECK(values == std::vector{7, 2, 8, 4, 9, 6});
    odd += 1;
    CHECK(values == std::vector{8, 2, 9, 4, 10, 6});
    CHECK(holds(array<int>(odd), {3}, {8, 9, 10}));
    CHECK_THROWS_AS(asarray<int>(memory, {7}), shape_error);
    CHECK_THROWS_AS(asarray<int>(memory, {4}, {8}), shape_error);
    CHECK_THROWS_AS(asarray<int>(memory, {2}, {-4}), shape_error);
    CHECK_THROWS_AS(asarray<int>(memory, {2}, {3}), shape_error);
    CHECK_THROWS_AS(asarray<int>(memory, {2}, {4, 4}), shape_error);
}

TEST_CASE("a view that is its whole buffer is shared, any other is copied") {
    const array<int> x = counted({2, 3});
    CHECK(array<int>(x(newaxis)).data() == x.data());
    CHECK(array<int>(x(slice(1))).data() != x.data());
    CHECK(array<int>(transpose(x)).strides() == shape_like{8, 4});
    array<int> y = x(newaxis);
    y(0, 0, 0) = 5;
    CHECK(x(0, 0).item() == 0);
}

TEST_CASE("eval of several expressions") {
    const array<int> x{1, 2, 3};
    auto [a, b] = eval(x + 1, x > 2);
    CHECK(holds(a, {3}, {2, 3, 4}));
    CHECK(holds(b, {3}, {false, false, true}));
    auto [c, d, e] = eval(x * 2, x(0), x);
    CHECK(holds(c, {3}, {2, 4, 6}));
    CHECK(d.item() == 1);
    CHECK(holds(e, {3}, {1, 2, 3}));
    CHECK(eval(x).data() == x.data());
    const auto before = counters().kernel_launches;
    auto [p, q] = eval(x + 1, x - 1);
    CHECK(counters().kernel_launches == before + 1);
    CHECK(holds(q, {3}, {0, 1, 2}));
}
