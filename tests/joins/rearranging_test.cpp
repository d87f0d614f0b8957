// tile, repeat, roll, insert, delete_elements and trim_zeros against NumPy 2.
#include "tests/arrays/expect.hpp"
#include "tests/joins/numpy_cases.hpp"
#include "tests/walls/count.hpp"

using namespace ingot;
using testing::drawn;
using testing::numpy_cases;

TEST_CASE("tiles and repeats are NumPy's") {
    numpy_cases c;
    const array<int> v = drawn<int>({3}, 1), m = drawn<int>({2, 3}, 2), one = drawn<int>({1, 3, 1}, 3);
    const array<int> none_there = zeros<int>({2, 0});
    c.add_all(std::tie(v, m, one, none_there),
              {"np.tile(a, 4)", "np.tile(a, (2, 3))", "np.tile(b, (2, 3))", "np.tile(b, (2, 1, 1, 3))",
               "np.tile(c, (2, 2, 2))", "np.tile(c, 5)", "np.tile(b.T, (1, 2))", "np.tile(d, (2, 2))",
               "np.tile(b, (0, 2))", "np.tile(b, ())"},
              tile(v, 4), tile(v, {2, 3}), tile(m, {2, 3}), tile(m, {2, 1, 1, 3}), tile(one, {2, 2, 2}), tile(one, 5),
              tile(transpose(m), {1, 2}), tile(none_there, {2, 2}), tile(m, {0, 2}), tile(m, {}));
    c.add_all(std::tie(v, m, one, none_there),
              {"np.repeat(a, 3)", "np.repeat(b, 2)", "np.repeat(b, 2, 0)", "np.repeat(b.T, 3, -2)",
               "np.repeat(c, 4, 2)", "np.repeat(b, 0, 1)", "np.repeat(d, 3, 1)", "np.repeat(c, 1, 0)"},
              repeat(v, 3), repeat(m, 2), repeat(m, 2, 0), repeat(transpose(m), 3, -2), repeat(one, 4, 2),
              repeat(m, 0, 1), repeat(none_there, 3, 1), repeat(one, 1, 0));
    c.add("np.tile(np.int32(3), (2, 2))", eval(tile(scalar(3), {2, 2})));
    c.add("np.repeat(a, [0, 2, 1])", eval(repeat(v, {0, 2, 1})), v);
    c.add("np.repeat(a, [3, 1], 0)", eval(repeat(m, {3, 1}, 0)), m);
    c.add("np.repeat(a + 1, [2], 1)", eval(repeat(m + 1, {2}, 1)), m);
    c.add("np.repeat(a, np.arange(6))", eval(repeat(m, std::vector<int>{0, 1, 2, 3, 4, 5})), m);
    c.add("np.repeat(a, [0, 0], 0)", eval(repeat(m, {0, 0}, 0)), m);
    const array<int> counts{0, 3, 1}, nothing = zeros<int>({0});
    c.add_all(std::tie(v, m, counts, nothing),
              {"np.repeat(a, c)", "np.repeat(b, c, 1)", "np.repeat(b, c[1:], -2)", "np.repeat(a * 2, c[::-1])",
               "np.repeat(b, c[2:])", "np.repeat(b, np.int64(2), 0)", "np.repeat(d, d)", "np.repeat(d, c[:1])"},
              repeat(v, counts), repeat(m, counts, 1), repeat(m, counts(slice(1, none)), -2),
              repeat(v * 2, flip(counts)), repeat(m, counts(slice(2, none))), repeat(m, scalar<index_t>(2), 0),
              repeat(nothing, nothing), repeat(nothing, counts(slice(0, 1))));
    c.add("np.repeat(a, np.array([3, 1, 200], 'u1'))", eval(repeat(v, array<std::uint8_t>{3, 1, 200})), v);
    c.run();
}

TEST_CASE("many numbers of repetitions, insertions and deletions are one kernel") {
    const index_t n = 1000;
    std::vector<index_t> counts(n), expected, odd, even;
    for (index_t i = 0; i < n; ++i) {
        counts[static_cast<std::size_t>(i)] = i % 4;
        expected.insert(expected.end(), static_cast<std::size_t>(i % 4), i);
        (i % 2 == 0 ? even : odd).push_back(i);
    }
    const array<index_t> x = arange<index_t>(n), several = asarray(counts);
    array<index_t> made;
    CHECK(launches([&] { made = repeat(x, counts); }) == 1);
    CHECK(array_equal(made, asarray(expected)).item());
    const int scan_and_search = current_device().is_host() ? 1 : 3;  // counts on the host are added up there
    CHECK(launches([&] { made = repeat(x, several); }) <= scan_and_search);
    CHECK(array_equal(made, asarray(expected)).item());
    CHECK(launches([&] { made = delete_elements(x, odd); }) == 1);
    CHECK(array_equal(made, asarray(even)).item());
    std::vector<index_t> before;
    for (index_t i = 0; i < n / 2; ++i) before.push_back(i + 1);
    const array<index_t> evens = asarray(even), odds = asarray(odd);
    CHECK(launches([&] { made = insert(evens, before, odds); }) == 1);
    CHECK(array_equal(made, x).item());
}

TEST_CASE("rolls are NumPy's") {
    numpy_cases c;
    const array<std::int16_t> v = drawn<std::int16_t>({5}, 1), m = drawn<std::int16_t>({3, 4}, 2);
    const array<std::int16_t> t = drawn<std::int16_t>({2, 3, 1, 4}, 3), empty_one = zeros<std::int16_t>({0, 3});
    c.add_all(std::tie(v, m, t, empty_one),
              {"np.roll(a, 2)", "np.roll(a, -7)", "np.roll(b, 5)", "np.roll(b, 1, 0)", "np.roll(b, -1, 1)",
               "np.roll(b, (1, 2), (0, 1))", "np.roll(b, 2, (0, 1))", "np.roll(b, (1, 1), 0)",
               "np.roll(c, (1, 1, 1, 3), (0, 1, 2, 3))", "np.roll(b.T, 1)", "np.roll(d, 1, 0)", "np.roll(d, 2)",
               "np.roll(b * 2, 4, 1)"},
              roll(v, 2), roll(v, -7), roll(m, 5), roll(m, 1, 0), roll(m, -1, 1), roll(m, {1, 2}, {0, 1}),
              roll(m, 2, {0, 1}), roll(m, {1, 1}, 0), roll(t, {1, 1, 1, 3}, {0, 1, 2, 3}), roll(transpose(m), 1),
              roll(empty_one, 1, 0), roll(empty_one, 2), roll(m * 2, 4, 1));
    c.add("np.roll(np.roll(a, 1, 0), 2, 1)[1:, ::-1]",
          eval(roll(roll(m, 1, 0), 2, 1)(slice(1, none), slice(none, none, -1))), m);
    c.add("np.roll(np.roll(a, 1), 1) * 2 + a", eval(roll(roll(v, 1), 1) * 2 + v), v);
    c.add("np.roll(np.cumsum(a), 1) + np.roll(a.sum(), 1)", eval(roll(cumsum(v), 1) + roll(sum(v), 1)), v);
    c.add("np.roll(a, 3, 1).sum(0) + np.tile(a, 2)[:, 4:].sum(0)",
          eval(sum(roll(m, 3, 1), 0) + sum(tile(m, 2)(all, slice(4, none)), 0)), m);
    c.run();
}

TEST_CASE("a map over a roll, a tile or repeats is one kernel") {
    const array<float> m = drawn<float>({30, 40}, 1);
    const auto is_one = [](const auto& e) { return launches([&] { eval(e); }) == 1; };
    CHECK(is_one((roll(m, 1, 0) + roll(m, -1, 0) + roll(m, 1, 1) + roll(m, -1, 1) - 4 * m) * 0.25));
    CHECK(is_one(roll(m * m, 100) - m));
    CHECK(is_one(roll(m, {3, 5}, {0, 1})(slice(2, none), all) + 1));
    CHECK(is_one(tile(m(0) * 2, {30, 1}) + tile(m, {2, 1})(slice(0, 30))));
    CHECK(is_one(sqrt(repeat(abs(m), 3, 1))));
    CHECK(is_one(roll(repeat(tile(m, 2), 2), 7) + 1));
    CHECK(is_one(insert(m, 3, m(0), 0) * 2));
    CHECK(is_one(delete_elements(m, {1, 5}, 1) * 2));
    CHECK(is_one(repeat(m(slice(0, 3)), {1, 2, 3}, 0) * 2));
}

TEST_CASE("what is made of an array is written to it as if it had been computed first") {
    const array<int> before = arange<int>(100'000), rolled = roll(before, 1);
    const auto written = [&](auto write) {
        array<int> x = before + 0;
        write(x);
        return x;
    };
    CHECK(array_equal(written([](auto& x) { x = roll(x, 1); }), rolled).item());
    CHECK(array_equal(written([](auto& x) { assign(x, roll(x, 1)); }), rolled).item());
    CHECK(array_equal(written([](auto& x) { x += roll(x, 1); }), before + rolled).item());
    CHECK(array_equal(written([](auto& x) { x(slice(1, none)) = pad(x(slice(0, -2)), {1, 0}); })(slice(2, none)),
                      before(slice(0, -2)))
              .item());
    CHECK(array_equal(written([](auto& x) { x = concatenate({x(slice(9, none)), x(slice(0, 9))}); }), roll(before, -9))
              .item());
    CHECK(array_equal(written([](auto& x) { x = repeat(x, 2)(slice(0, 100'000)); }), floor_divide(before, 2)).item());
}

TEST_CASE("insertions and deletions are NumPy's") {
    numpy_cases c;
    const array<int> v = drawn<int>({5}, 1), m = drawn<int>({2, 3}, 2), w = drawn<int>({3}, 3), u = drawn<int>({2}, 4);
    c.add_all(std::tie(v, m, w, u),
              {"np.insert(a, 2, 7)", "np.insert(a, 5, c)", "np.insert(a, -1, c)", "np.insert(b, 1, 9)",
               "np.insert(b, 1, d, 1)", "np.insert(b, 1, c, 0)", "np.insert(b, 0, 2.75, -1)"},
              insert(v, 2, 7), insert(v, 5, w), insert(v, -1, w), insert(m, 1, 9), insert(m, 1, u, 1),
              insert(m, 1, w, 0), insert(m, 0, 2.75, -1));
    c.add_all(std::tie(v, m, w, u),
              {"np.insert(a, [1, 1, -1], c)", "np.insert(a, [4, 0], d)", "np.insert(a, [1], c)",
               "np.insert(b, [1], d[:, None], 1)", "np.insert(b, [0, 2], d[:, None] * 2, 1)",
               "np.insert(a, slice(0, 4, 2), d)", "np.insert(a, [], c[:0])"},
              insert(v, {1, 1, -1}, w), insert(v, {4, 0}, u), insert(v, {1}, w), insert(m, {1}, u(all, newaxis), 1),
              insert(m, {0, 2}, u(all, newaxis) * 2, 1), insert(v, slice(0, 4, 2), u),
              insert(v, std::vector<int>(), w(slice(0, 0))));
    c.add("np.insert(a, np.arange(5), 1)", eval(insert(v, {0, 1, 2, 3, 4}, 1)), v);
    const array<int> tall = counted({3, 6}), few = counted({3});
    c.add_all(std::tie(m, tall, few, v),
              {"np.insert(b, [6, 0, 0, 2, -1], d, 1)", "np.insert(b, [3, 0, 1, 0, 1, -1], np.repeat(c, 2)[:, None], 0)",
               "np.insert(b[:, :0], [0, 0, 0, 0, 0], d, 1)", "np.insert(b, [1, 1, 1, 1, 1], c[:, None], 1)"},
              insert(tall, {6, 0, 0, 2, -1}, v, 1), insert(tall, {3, 0, 1, 0, 1, -1}, repeat(few, 2)(all, newaxis), 0),
              insert(tall(all, slice(0, 0)), {0, 0, 0, 0, 0}, v, 1),
              insert(tall, {1, 1, 1, 1, 1}, few(all, newaxis), 1));
    c.add("np.delete(a, np.arange(0, 40, 2), 1)", eval(delete_elements(counted({2, 40}), slice(0, none, 2), 1)),
          counted({2, 40}));
    c.add_all(std::tie(v, m),
              {"np.delete(a, 1)", "np.delete(a, [1, 1, -1])", "np.delete(b, 4)", "np.delete(b, -1, 1)",
               "np.delete(b, [0, 2], 1)", "np.delete(b, slice(None, None, -2), 1)", "np.delete(a, slice(1, 3))",
               "np.delete(a, [0, 1, 2, 3, 4])", "np.delete(a, [])"},
              delete_elements(v, 1), delete_elements(v, {1, 1, -1}), delete_elements(m, 4), delete_elements(m, -1, 1),
              delete_elements(m, {0, 2}, 1), delete_elements(m, slice(none, none, -2), 1),
              delete_elements(v, slice(1, 3)), delete_elements(v, {0, 1, 2, 3, 4}),
              delete_elements(v, std::vector<index_t>()));
    c.run();
}

TEST_CASE("zeros are trimmed as NumPy trims them") {
    numpy_cases c;
    const array<double> v{0, 0, 1, 0, 2, 0}, nothing = zeros(3), empty_one = zeros(0);
    array<int> m = zeros<int>({4, 5});
    m(1, 2) = 1;
    m(2, 3) = 2;
    for (const array<double>& x : {v, nothing, empty_one}) {
        c.add("np.trim_zeros(a)", trim_zeros(x), x);
        c.add("np.trim_zeros(a, 'f')", trim_zeros(x, trim_ends::front), x);
        c.add("np.trim_zeros(a * 2, 'b')", trim_zeros(x * 2, trim_ends::back), x);
    }
    c.add("a[1:3, 2:4]", trim_zeros(m), m);
    c.add("a[1:3]", trim_zeros(m, trim_ends::both, 0), m);
    c.add("a[:, 2:]", trim_zeros(m, trim_ends::front, {1}), m);
    c.add("np.zeros((0, 0), 'i4')", trim_zeros(m * 0), m);
    c.add("np.trim_zeros(a[:, :0])", trim_zeros(m(all, slice(0, 0))), m);
    c.add("a[:0, :0]", trim_zeros(m(all, slice(0, 0)), trim_ends::both, 0), m);
    c.run();
}

TEST_CASE("bad numbers, lists and places throw and say which") {
    const array<int> m = counted({2, 3}), v = counted({3});
    CHECK(thrown<shape_error>([&] { (void)tile(m, {2, -1}); }) ==
          "[tile] -1 times: a number that is not negative is wanted");
    CHECK(thrown<shape_error>([&] { (void)repeat(m, -1); }) ==
          "[repeat] -1 times: a number that is not negative is wanted");
    CHECK(thrown<shape_error>([&] { (void)repeat(m, {1, 2}); }) == "[repeat] 2 numbers for 6 elements");
    CHECK(thrown<shape_error>([&] { (void)repeat(m, array<int>{2, -1}, 0); }) ==
          "[repeat] -1 times: a number that is not negative is wanted");
    CHECK(thrown<shape_error>([&] { (void)repeat(m, array<int>{1, 2}); }) == "[repeat] 2 numbers for 6 elements");
    CHECK(thrown<shape_error>([&] { (void)repeat(m, array<int>{{1, 2}}, 0); }) ==
          "[repeat] numbers of shape (1, 2): a vector is wanted");
    CHECK(thrown<shape_error>([&] { (void)repeat(m, 2, 2); }) == "[repeat] axis 2 is out of range for rank 2");
    CHECK(thrown<shape_error>([&] { (void)roll(m, {1, 2}, {0, 1, 0}); }) == "[roll] 2 numbers for 3 axes");
    CHECK(thrown<shape_error>([&] { (void)roll(m, 1, 2); }) == "[roll] axis 2 is out of range for rank 2");
    CHECK(thrown<index_error>([&] { (void)insert(v, 4, 1); }) == "[insert] 4 is out of range for axis 0 of extent 3");
    CHECK(thrown<index_error>([&] { (void)delete_elements(m, {0, 3}, 1); }) ==
          "[delete_elements] 3 is out of range for axis 1 of extent 3");
    CHECK(thrown<shape_error>([&] { (void)insert(m, {0, 1}, v, 1); }) ==
          "[insert] shape (1, 3) does not broadcast to (2, 2)");
    CHECK_THROWS_AS((void)insert(v, 0, m), shape_error);
    CHECK_THROWS_AS((void)insert(array<std::int8_t>{1}, 0, 1000), dtype_error);
    CHECK_THROWS_AS((void)tile(m, {index_t{1} << 62, 4}), shape_error);
    CHECK_THROWS_AS((void)trim_zeros(m, trim_ends::both, 2), shape_error);
}

TEST_CASE("rolls in one expression are one kernel, in rows of every length") {
    for (const index_t n : {3, 70, 1000}) {
        CAPTURE(n);
        const array<float> u = reshape(sin(arange<float>(20 * n)), {20, n}).eval();
        const auto before = counters().kernel_launches;
        const array<float> lazily = roll(u, 1, 0) + roll(u, -2, 1) * u + roll(roll(u, 5, 1), {-3, n - 1}, {0, 1});
        CHECK(counters().kernel_launches - before == 1);
        const array<float> a = roll(u, 1, 0), b = roll(u, -2, 1), c = roll(u, 5, 1), d = roll(c, {-3, n - 1}, {0, 1});
        CHECK(array_equal(lazily, a + b * u + d).item());
        CHECK(array_equal(eval(exp(roll(u, 2, 1))), exp(array<float>(roll(u, 2, 1)))).item());
        CHECK(array_equal(eval(flip(roll(u, 2, 1), 1)(all, slice(0, n, 2))),
                          array<float>(roll(u, 2, 1))(all, slice(none, none, -2)))
                  .item());
    }
}

TEST_CASE("rolls along several axes move each element, in rows of every length and layout") {
    const std::vector<index_t> shapes[] = {{5, 3}, {6, 70}, {9, 33}, {2, 3, 40}, {1, 65}, {65, 1}, {4, 1, 2, 50}};
    for (const std::vector<index_t>& shape : shapes) {
        const array<int> x = counted(shape);
        std::vector<index_t> by, back, along;
        for (std::size_t j = 0; j < shape.size(); ++j) {
            along.push_back(static_cast<index_t>(j));
            by.push_back(shape[j] / 2 + 1);
            back.push_back(-by[j]);
        }
        array<int> wanted = x;
        for (std::size_t j = 0; j < shape.size(); ++j) {
            const array<index_t> from = (arange<index_t>(shape[j]) - by[j] + 2 * shape[j]) % shape[j];
            wanted = eval(take(wanted, from, along[j]));
        }
        const array<int> rolled = roll(x, by, along), written = zeros<int>(shape) + 1;
        CHECK(array_equal(rolled, wanted).item());
        CHECK(array_equal(eval(roll(rolled, back, along)), x).item());
        CHECK(array_equal(eval(roll(flip(x, -1), by, along) + roll(x, by[0], 0)),
                          array<int>(roll(array<int>(flip(x, -1)), by, along)) + array<int>(roll(x, by[0], 0)))
                  .item());
        CHECK(array_equal(eval(fft::ifftshift(fft::fftshift(x)) * written), x).item());
        CHECK(array_equal(eval(take(roll(x, by, along), arange<int>(shape[0]), 0)), rolled).item());
        const array<int> turned = transpose(x);
        CHECK(array_equal(eval(roll(transpose(turned), by, along)), wanted).item());
    }
}

TEST_CASE("a roll of a roll along one axis, and a take of one, read at places of places") {
    for (const index_t n : {5, 43, 300}) {
        CAPTURE(n);
        const array<double> x = sin(arange<double>(n)).eval(), once = roll(x, -3);
        CHECK(array_equal(eval(roll(roll(x, -3), 4)), roll(once, 4)).item());
        CHECK(array_equal(eval(roll(roll(roll(x, 2), 1) + x, -1)), roll(array<double>(roll(x, 3) + x), -1)).item());
        const array<int> i = arange<int>(n) % 4;
        CHECK(array_equal(eval(take(roll(x, 2), i, 0) + roll(x, 1)),
                          take(array<double>(roll(x, 2)), i, 0) + array<double>(roll(x, 1)))
                  .item());
        const array<double> m = reshape(sin(arange<double>(7 * n)), {7, n}).eval(), turned = roll(m, 1, 0);
        CHECK(array_equal(eval(roll(transpose(roll(m, 1, 0)), 1)), roll(array<double>(transpose(turned)), 1)).item());
    }
}

TEST_CASE("many parts of one shape are joined by one kernel") {
    const array<float> f = reshape(arange<float>(12 * 30), {12, 5, 6}).eval();
    std::vector<lazy<float>> parts;
    const lazy<float> shared = exp(f(0) / 100.0f);
    for (int k = 0; k < 12; ++k) parts.push_back(roll(f(k), k, 1) * shared);
    for (const index_t axis : {0, 1, 2}) {
        CAPTURE(axis);
        array<float> assigned = zeros<float>({2});
        const auto before = counters().kernel_launches;
        const lazy<float> joined = stack(parts, axis);
        CHECK(counters().kernel_launches - before == 1);
        assigned = joined;  // shares the memory until one of them is written
        CHECK(counters().kernel_launches - before == 1);
        assigned += 1.0f;
        const array<float> together = joined, along = concatenate(parts, std::min<index_t>(axis, 1));
        for (int k = 0; k < 12; ++k) {
            const array<float> part = parts[static_cast<std::size_t>(k)];
            CHECK(array_equal(eval(moveaxis(together, axis, 0)(k)), part).item());
            CHECK(array_equal(eval(moveaxis(assigned, axis, 0)(k)), part + 1.0f).item());
            const slice own = axis == 0 ? slice(5 * k, 5 * k + 5) : slice(6 * k, 6 * k + 6);
            CHECK(array_equal(axis == 0 ? eval(along(own)) : eval(along(all, own)), part).item());
        }
    }
}

TEST_CASE("a costly value that a broadcast repeats is computed once") {
    const array<double> x = sin(arange<double>(300)).eval(), t = cos(arange<double>(200)).eval();
    const array<double> row = exp(cos(exp(sin(x)))), wanted = row * t(all, newaxis);
    const auto before = counters().kernel_launches;
    const array<double> z = exp(cos(exp(sin(x)))) * t(all, newaxis);
    CHECK(counters().kernel_launches - before == 2);
    CHECK(allclose(z, wanted, 1e-15, 0.0).item());
    CHECK(allclose(array<double>(exp(cos(exp(sin(x(all, newaxis))))) * t), array<double>(row(all, newaxis) * t), 1e-15,
                   0.0)
              .item());
}

TEST_CASE("a join that is a statement's value is written part by part, parts of one shape by one kernel") {
    const array<float> x = reshape(sin(arange<float>(6 * 5 * 8)), {6, 5, 8}).eval(), c = cos(arange<float>(8)).eval();
    const array<float> low = x * c - 1.0f, high = x + c;
    for (const index_t axis : {0, 1, 2}) {
        CAPTURE(axis);
        const index_t n = x.shape()[static_cast<int>(axis)];
        const auto half = [&](const array<float>& whole, index_t part) {
            return eval(moveaxis(whole, axis, 0)(slice(part * n, (part + 1) * n)));
        };
        const auto is_joined = [&](const array<float>& z) {
            CHECK(array_equal(half(z, 0), moveaxis(low, axis, 0)).item());
            CHECK(array_equal(half(z, 1), moveaxis(high, axis, 0)).item());
        };
        const auto both = concatenate({lazy<float>(x * c - 1.0f), lazy<float>(x + c)}, axis);
        CHECK(explain(both).expression.find("; ") != std::string::npos);  // two outputs
        const auto before = counters().kernel_launches;
        array<float> z = both;
        CHECK(counters().kernel_launches - before == 1);
        is_joined(z);
        z = both;  // into the array's own memory
        is_joined(z);
        std::vector<index_t> wide{6, 5, 8};
        wide[static_cast<std::size_t>(axis)] *= 4;
        array<float> apart = zeros<float>(wide);  // every second element along the axis
        if (axis == 0)
            apart(slice(none, none, 2)) = both;
        else if (axis == 1)
            apart(all, slice(none, none, 2)) = both;
        else
            apart(all, all, slice(none, none, 2)) = both;
        is_joined(moveaxis(array<float>(moveaxis(apart, axis, 0)(slice(none, none, 2))), 0, axis));
        CHECK(array_equal(eval(both * 2.0f), z * 2.0f).item());  // within an expression elements choose their part
        CHECK(allclose(eval(sum(both, axis)), sum(low, axis) + sum(high, axis), 1e-5, 1e-5).item());
    }
    // Parts that are read where others are written.
    array<int> v = arange<int>(10);
    v(all) = concatenate({lazy<int>(v(slice(5, none)) * 2), lazy<int>(v(slice(0, 5)) + 1)});
    CHECK(array_equal(v, array<int>{10, 12, 14, 16, 18, 1, 2, 3, 4, 5}).item());
    v = concatenate({lazy<int>(v(slice(1, none)) * 1), lazy<int>(v(slice(0, 1)) * 1)});
    CHECK(array_equal(v, array<int>{12, 14, 16, 18, 1, 2, 3, 4, 5, 10}).item());
    // Parts of several shapes, and of one element.
    const array<int> several =
        concatenate({lazy<int>(v(slice(0, 3)) + 1), lazy<int>(v(slice(0, 1)) * 2), lazy<int>(v)});
    CHECK(array_equal(several, array<int>{13, 15, 17, 24, 12, 14, 16, 18, 1, 2, 3, 4, 5, 10}).item());
    const array<float> none_there =
        concatenate({lazy<float>(x(all, slice(0, 0)) * 2.0f), lazy<float>(x(all, slice(0, 0)) + c)}, 0);
    CHECK(none_there.shape() == shape_like{12, 0, 8});
}

TEST_CASE("a join that is seen along several axes at once is none that is written part by part") {
    const array<int> a = reshape(arange<int>(16), {8, 2}).eval();
    CHECK(array_equal(eval(diagonal(concatenate({lazy<int>(a), lazy<int>(a)}, 1))), array<int>{0, 3, 4, 7}).item());
    const array<int> m = reshape(arange<int>(24), {3, 8}).eval(), n = m + 100;
    const auto turned = concatenate({lazy<int>(flip(m, 1)), lazy<int>(flip(n, 1))}, 0);
    CHECK(array_equal(eval(diagonal(turned, 1)), diagonal(array<int>(turned), 1)).item());
    const array<int> c = reshape(arange<int>(12), {4, 3}).eval(), d = reshape(arange<int>(9), {3, 3}).eval() + 100;
    const auto down = pad(d, {{4, 0}, {0, 0}}, pad_mode::edge), up = pad(c, {{0, 3}, {0, 0}}, pad_mode::edge);
    const auto positions = sliding_window_view(ogrid(slice(0, 9)), 3);  // move along both axes
    CHECK(array_equal(eval(where(positions < 4, up, down)),
                      eval(where(array<index_t>(positions) < 4, array<int>(up), array<int>(down))))
              .item());
    const array<int> u{1, 2, 3, 4}, v{7, 8, 9};
    const auto left = sliding_window_view(pad(u, {{0, 5}}, pad_mode::edge), 3),
               right = sliding_window_view(pad(v, {{4, 2}}, pad_mode::edge), 3);
    const auto rows = std::get<0>(ogrid(slice(0, 7), slice(0, 3)));
    CHECK(array_equal(eval(where(rows < 4, left, right)), where(rows < 4, array<int>(left), array<int>(right))).item());
}
