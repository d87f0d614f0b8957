// Joins against NumPy 2: dtypes, ranks, axes, strides, empty parts; fusion with their neighbours into one kernel; and
// refused operands.
#include "tests/arrays/expect.hpp"
#include "tests/joins/numpy_cases.hpp"
#include "tests/walls/count.hpp"

using namespace ingot;
using testing::drawn;
using testing::numpy_cases;

namespace {

std::string along(const std::string& call, int axis) { return call + ", " + std::to_string(axis) + ")"; }

template <class T>
void join_dtype(numpy_cases& c, unsigned seed) {
    const array<T> a = drawn<T>({3, 4}, seed), b = drawn<T>({3, 4}, seed + 1);
    c.add_all(std::tie(a, b),
              {"np.concatenate([a[:1], b[1:]])", "np.concatenate([a[:, 1:], b.T[:3, :1]], -1)",
               "np.stack([a[0], b[1], b[2]])", "np.stack([a[0], a[1], b[2], a[0]], 1)[:3]"},
              concatenate({a(slice(0, 1)), b(slice(1, none))}),
              concatenate({a(all, slice(1, none)), transpose(b)(slice(0, 3), slice(0, 1))}, -1),
              stack({a(0), b(1), b(2)}), stack({a(0), a(1), b(2), a(0)}, 1)(slice(0, 3)));
}

}  // namespace

TEST_CASE("joins of every dtype are NumPy's") {
    numpy_cases c;
    join_dtype<bool>(c, 1);
    join_dtype<std::int8_t>(c, 2);
    join_dtype<std::uint16_t>(c, 3);
    join_dtype<std::int64_t>(c, 4);
    join_dtype<float16>(c, 5);
    join_dtype<float>(c, 6);
    join_dtype<double>(c, 7);
    join_dtype<std::complex<float>>(c, 8);
    c.run();
}

TEST_CASE("joins of arrays of every rank along every axis are NumPy's") {
    numpy_cases c;
    for (const shape_like& shape : {shape_like{5}, {1}, {0}, {2, 3}, {2, 0}, {2, 3, 4}, {2, 1, 3, 2}})
        for (int axis = 0; axis < shape.count(); ++axis) {
            std::vector<index_t> wide(shape.begin(), shape.end());
            wide[static_cast<std::size_t>(axis)] += 2;
            const array<float> a = drawn<float>(shape, 1), b = drawn<float>(shape, 2), d = drawn<float>(wide, 3);
            c.add_all(std::tie(a, b, d),
                      {along("np.stack([a, b, a * 2]", axis), along("np.concatenate([a, b, c, a]", axis),
                       along("np.append(a, c", axis), along("np.stack([b, a]", -1)},
                      stack(std::tuple{a, b, a * 2}, axis), concatenate({a, b, d, a}, axis), append(a, d, axis),
                      stack({b, a}, -1));
        }
    const array<float> v = drawn<float>({4}, 4), m = drawn<float>({4, 3}, 5), t = drawn<float>({4, 3, 2}, 6);
    c.add_all(std::tie(v, m, t),
              {"np.hstack([a, a])", "np.hstack([b, b])", "np.vstack([a, b.T])", "np.vstack([c, c])",
               "np.dstack([a, a])", "np.dstack([b, c])", "np.column_stack([a, b, a])", "np.append(a, b)"},
              hstack({v, v}), hstack({m, m}), vstack(std::tuple{v, transpose(m)}), vstack({t, t}), dstack({v, v}),
              dstack({m, t}), column_stack({v, m, v}), append(v, m));
    c.add("np.hstack([a.sum(), a.sum()])", eval(hstack(std::tuple{sum(v), sum(v)})), v);
    c.run();
}

TEST_CASE("parts of unlike dtypes promote together as NumPy's do") {
    numpy_cases c;
    const array<std::int16_t> i = drawn<std::int16_t>({3}, 1);
    const array<std::uint16_t> u = drawn<std::uint16_t>({3}, 2);
    const array<float> f = drawn<float>({3}, 3);
    const array<bool> b = drawn<bool>({3}, 4);
    const array<std::int64_t> l = drawn<std::int64_t>({3}, 5);
    const array<std::uint64_t> w = drawn<std::uint64_t>({3}, 6);
    c.add_all(std::tie(i, u, f, b),
              {"np.concatenate([a, b, c])", "np.concatenate([c, b, a])", "np.concatenate([a, b, d])",
               "np.stack([a * 1j, c, d])"},
              concatenate(std::tuple{i, u, f}), concatenate(std::tuple{f, u, i}), concatenate(std::tuple{i, u, b}),
              stack(std::tuple{complex_of(zeros<double>(3), astype<double>(i)), f, b}));
    c.add_all(std::tie(l, w, f), {"np.concatenate([a, b])", "np.concatenate([b, c])", "np.append(c, a)"},
              concatenate(std::tuple{l, w}), concatenate(std::tuple{w, f}), append(f, l));
    c.run();
    CHECK(name(append(f, 2.5).eval().dtype()) == "float32");
    CHECK(name(append(i, 2.5).eval().dtype()) == "float64");
    CHECK(holds(append(array<int>{1, 2}, 3), {3}, {1, 2, 3}));
}

TEST_CASE("a map over a join is one kernel") {
    const array<float> a = drawn<float>({30, 40}, 1), b = drawn<float>({30, 40}, 2), d = drawn<float>({60, 40}, 3);
    const auto is_one = [](const auto& e) { return launches([&] { eval(e); }) == 1; };
    CHECK(is_one(sqrt(abs(concatenate({a, b}) * 2 + d))));
    CHECK(is_one(exp(concatenate(std::tuple{a + 1, b * b, transpose(transpose(d))}))));
    CHECK(is_one(concatenate({a, b}, 1) - 1));
    CHECK(is_one(stack({a, b, a, b}, 2) * stack({b, a, b, a}, 2)));
    CHECK(is_one(transpose(concatenate({a, b}, none)(slice(5, none, 3))) * 2));
    CHECK(is_one(reshape(concatenate({a, b}, 1), {-1, 8}) + 1));
    CHECK(is_one(concatenate(std::tuple{concatenate({a, b}), d, d(slice(3, 4))}) * 2));
    CHECK(is_one(concatenate({a, b, a, b, a, b, a, b}) + 1));
    CHECK(is_one(sum(stack({a, b}), 0)));
    CHECK(launches([&] { (void)concatenate({a, b}); }) == 0);
}

TEST_CASE("sizes and scalars are arguments of a join's kernel") {
    const auto joined = [](index_t n, index_t m) {
        eval(concatenate({zeros<float>({n, 7}), zeros<float>({m, 7})}) * 2);
    };
    joined(50, 60);
    CHECK(new_kernels([&] {
              for (index_t n = 40; n < 400; n += 17) joined(n, 3 * n % 101 + 2);
          }) == 0);
}

TEST_CASE("offsets of a join have 32 bits while its places do") {
    const array<float> a = zeros<float>({70'000});  // squared beyond 2^31
    CHECK(source(concatenate({a, a}) * 2).find("nearest(int32") != std::string::npos);
}

TEST_CASE("a join is a value, and of many parts an array") {
    array<int> a{1, 2}, b{3};
    const auto joined = concatenate({a, b});
    a += 10;
    b = array<int>{7, 8, 9};
    CHECK(holds(joined, {3}, {1, 2, 3}));

    std::vector<array<int>> many;
    std::vector<int> expected;
    for (int k = 0; k < 1000; ++k) {
        many.push_back(full({k % 3, 2}, k));
        expected.insert(expected.end(), static_cast<std::size_t>(k % 3) * 2, k);
    }
    CHECK(holds(concatenate(many), {999, 2}, expected));
    CHECK(holds(concatenate(std::vector<array<int>>(many.begin(), many.begin() + 5)) + 1, {4, 2},
                {2, 2, 3, 3, 3, 3, 5, 5}));
    const std::vector<lazy<int>> lazies{lazy<int>(b + 1), lazy<int>(b * 2)};
    CHECK(holds(stack(lazies, 1), {3, 2}, {8, 14, 9, 16, 10, 18}));
    CHECK(holds(hstack(split(b, 3)), {3}, {7, 8, 9}));
    const std::vector<array<int>> planes(20, array<int>{1, 2});
    CHECK(sum(stack(planes, 1) * 2).item() == 120);
}

TEST_CASE("a value that parts of several shapes read is computed once, in a join and in several outputs") {
    const array<double> x = drawn<double>({8}, 1);
    const lazy<double> once = lazy<double>(x * 3 + 1).kept();
    const array<double> wanted = x * 3 + 1;
    const auto launches = [](const auto& f) {
        const std::uint64_t before = counters().kernel_launches;
        f();
        return counters().kernel_launches - before;
    };
    array<double> joined;
    std::vector<array<double>> made;
    // A GPU's kernel chooses for each element.
    CHECK(launches([&] { joined = concatenate({lazy(once(slice(0, 5)) + 1), lazy(-once(slice(0, 3)))}); }) <= 3);
    CHECK(array_equal(joined, concatenate({array(wanted(slice(0, 5)) + 1), array(-wanted(slice(0, 3)))})).item());
    CHECK(launches([&] {
              const auto [a, b] = eval(once(slice(0, 5)) + 1, -once(slice(1, 4)));
              made = {a, b};
          }) <= 3);
    CHECK(array_equal(made[0], wanted(slice(0, 5)) + 1).item());
    CHECK(array_equal(made[1], -wanted(slice(1, 4))).item());
    // A join that something reads is a piece of its own: its parts are copied.
    const array<double> y =
        lazy<double>(concatenate({x(slice(0, none, 2)), x(slice(none, none, -2))})).kept() * 2 + flip(x);
    CHECK(array_equal(y, concatenate({x(slice(0, none, 2)), x(slice(none, none, -2))}) * 2 + flip(x)).item());
}

TEST_CASE("joins of scalars, random numbers and memory of the host's") {
    CHECK(holds(concatenate(std::tuple{broadcast_to(scalar(1), {2}), broadcast_to(scalar(2), {3})}), {5},
                {1, 1, 2, 2, 2}));
    random::generator g(3);
    const auto draws = g.uniform<float>({4});
    CHECK(all(concatenate(std::tuple{draws, draws})(slice(4, none)) == draws).item());
    int mine[] = {1, 2, 3};
    const with_device on_the_host(device::host());
    const array<int> over = asarray<int>(unowned_memory(mine, sizeof mine), {3});
    const auto joined = concatenate(std::tie(over, over));
    mine[0] = 9;  // a pending expression sees it
    CHECK(holds(joined, {6}, {9, 2, 3, 9, 2, 3}));
}

TEST_CASE("what cannot be joined throws and says why") {
    const array<int> m = counted({2, 3}), v = counted({3});
    const auto says = [](auto f) { return thrown<shape_error>(f); };
    CHECK(says([&] { (void)concatenate({m, v}); }) ==
          "[concatenate] shapes (2, 3) and (3,) differ in their number of axes");
    CHECK(says([&] { (void)concatenate({m, counted({2, 4})}); }) ==
          "[concatenate] shapes (2, 3) and (2, 4) differ on axis 1, and are joined along axis 0");
    CHECK(says([&] { (void)concatenate({m, m}, 2); }) == "[concatenate] axis 2 is out of range for rank 2");
    CHECK(says([&] { (void)concatenate(std::tuple{sum(m), sum(m)}); }) ==
          "[concatenate] an array without axes, of shape (): expand_dims(e, 0) has one");
    CHECK(says([&] { (void)concatenate(std::vector<array<int>>()); }) ==
          "[concatenate] of nothing: one array or more are wanted");
    CHECK(says([&] { (void)stack({m, v}); }) == "[stack] shapes (2, 3) and (3,) differ");
    CHECK(says([&] { (void)stack({m, m}, 3); }) == "[stack] axis 3 is out of range for rank 3");
    CHECK(says([&] { (void)stack(std::vector<array<int>>()); }) == "[stack] of nothing: one array or more are wanted");
    CHECK(says([&] { (void)vstack({m, counted({4})}); }) ==
          "[vstack] shapes (2, 3) and (1, 4) differ on axis 1, and are joined along axis 0");
    CHECK(says([&] { (void)append(m, v, 0); }) == "[append] shapes (2, 3) and (3,) differ in their number of axes");
    const array<int> here = v.to(device::host()), there = v.to(device::host(1));
    CHECK(thrown<device_error>([&] { (void)concatenate({here, there}); }) ==
          "[concatenate] operands on host:0 and host:1; move one with .to(device)");
    CHECK_THROWS_AS((void)append(array<std::int8_t>{1}, 1000), dtype_error);
}
