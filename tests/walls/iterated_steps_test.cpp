// Several steps of a stencil in one kernel: the bits equal those of as many statements; and the reasons for separate
// steps.
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <ingot/ingot.hpp>

#include "codegen/plan/schedule.hpp"

using namespace ingot;

namespace {

const slice low(0, -2), middle(1, -1), high(2, none);

/// Numbers such that no two neighbours are equal.
template <class T>
array<T> noise(const shape_like& shape) {
    index_t n = 1;
    for (const index_t extent : shape) n *= extent;
    std::vector<T> values(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(static_cast<float>(i * i * 7 % 61));
    return asarray(values, shape);
}

/// The result of n separate statements that write `inside` of an array.
template <class T, class F, class... Inside>
array<T> by_statements(int n, const array<T>& x, F step, Inside... inside) {
    array<T> u = x;
    for (int i = 0; i < n; ++i) {
        const array<T> made = step(u);
        u(inside...) = made;
    }
    return u;
}

template <class T>
bool same_bits(const array<T>& a, const array<T>& b) {
    return a.shape() == b.shape() && a.to_host() == b.to_host();
}

std::uint64_t launches() { return counters().kernel_launches; }
bool steps_are_joined() { return !current_device().is_host(); }

const auto heat = [](const auto& u) {
    return u(middle, middle) + 0.1F * (0.5F * u(low, middle) + 0.25F * u(high, middle) + 0.75F * u(middle, low) +
                                       0.3F * u(middle, high) - 1.8F * u(middle, middle));
};

}  // namespace

TEST_CASE("iterated steps have the bits of statements, for every count, width and height") {
    for (const auto& [rows, columns] : std::vector<std::array<index_t, 2>>{
             {3, 34}, {4, 35}, {17, 36}, {18, 37}, {40, 130}, {21, 131}, {19, 258}, {150, 67}}) {
        const array<float> x = noise<float>({rows, columns}) / 61;
        for (int n = 1; n <= 9; ++n) CHECK(same_bits(iterate(n, x, heat), by_statements(n, x, heat, middle, middle)));
        CHECK(same_bits(x, array<float>(noise<float>({rows, columns}) / 61)));
    }
}

TEST_CASE("iterated steps of every dtype") {
    const auto check = [](auto type) {
        using T = decltype(type);
        const auto step = [](const auto& u) {
            return astype<T>(u(low, middle) + u(middle, high) * u(middle, middle) - u(middle, low));
        };
        for (const index_t columns : {70, 133, 300}) {
            const array<T> x = noise<T>({23, columns});
            for (const int n : {2, 4, 7})
                CHECK(same_bits(iterate(n, x, step), by_statements(n, x, step, middle, middle)));
        }
    };
    check(double());
    check(std::int32_t());
    check(std::int64_t());
    check(std::uint8_t());
    check(std::int16_t());
    const auto halves = [](auto type) {
        using T = decltype(type);
        const auto step = [](const auto& u) {
            return astype<T>(u(low, middle) * T(0.25F) + u(middle, high) * T(0.5F) - u(middle, low));
        };
        const array<T> x = noise<T>({23, 133});
        CHECK(same_bits(iterate(6, x, step), by_statements(6, x, step, middle, middle)));
    };
    halves(float16());
    halves(bfloat16());
    const auto life = [](const auto& u) {
        const auto near = u(low, low) + u(low, middle) + u(low, high) + u(middle, low) + u(middle, high) +
                          u(high, low) + u(high, middle) + u(high, high);
        return astype<std::uint8_t>(near == 3 || (near == 2 && u(middle, middle) == 1));
    };
    const array<std::uint8_t> world = astype<std::uint8_t>(noise<int>({60, 90}) % 3 == 0);
    CHECK(same_bits(iterate(9, world, life), by_statements(9, world, life, middle, middle)));
}

TEST_CASE("iterated steps by bodies that are quick but for rare values, and of NaN and infinities") {
    const array<float> x = noise<float>({23, 70}) / 61;
    const auto check = [](const array<float>& from, auto step) {
        CHECK(same_bits(iterate(5, from, step), by_statements(5, from, step, middle, middle)));
    };
    check(x, [](const auto& u) { return u(low, middle) / (1 + u(middle, low)) + u(middle, high); });
    check(x, [](const auto& u) { return sqrt(abs(u(low, middle))) - u(middle, high) * 0.5F; });
    check(x, [](const auto& u) { return minimum(exp(u(low, middle)), 80.0F) * 0.1F - u(middle, high); });
    array<float> few = zeros<float>({40, 90});
    few(20, 45) = std::numeric_limits<float>::infinity();
    few(3, 7) = -0.0F;
    const auto spread = [](const auto& u) { return maximum(u(low, middle), u(middle, high)) * 2; };
    check(few, spread);
    few(30, 20) = std::numeric_limits<float>::quiet_NaN();
    const auto is_nan = [](const auto& u) { return astype<int>(isnan(u)); };
    CHECK(same_bits<int>(is_nan(iterate(5, few, spread)), is_nan(by_statements(5, few, spread, middle, middle))));
}

TEST_CASE("iterated steps may reach far, to one side, along one axis, and leave a wide border") {
    const auto check = [](const array<float>& x, auto step, auto rows, auto columns) {
        for (const int n : {2, 3, 4, 5})
            CHECK(same_bits(iterate(n, x, step), by_statements(n, x, step, rows, columns)));
    };
    const array<float> x = noise<float>({37, 91}) / 61;
    const auto at = [](index_t border, index_t by) {
        return by == border ? slice(2 * border, none) : slice(border + by, by - border);
    };
    check(x, [](const auto& u) { return u(low, all) * 0.5F + u(high, all); }, middle, all);
    check(x, [](const auto& u) { return u(all, low) * 0.5F - u(all, high); }, all, middle);
    check(x, [](const auto& u) { return u(low, middle) - u(low, high) * 0.5F; }, middle, middle);
    check(x, [](const auto& u) { return u(high, low) - u(middle, low) * 0.5F; }, middle, middle);
    check(x, [&](const auto& u) { return u(at(3, 0), at(4, 1)) - u(at(3, 1), at(4, -1)) * 0.5F; }, at(3, 0), at(4, 0));
    check(x, [&](const auto& u) { return u(at(2, -2), at(2, 2)) - u(at(2, 2), at(2, -2)) * 0.5F; }, at(2, 0), at(2, 0));
    check(x, [&](const auto& u) { return u(at(3, -3), at(6, 6)) - u(at(3, 1), at(6, -6)) * 0.5F; }, at(3, 0), at(6, 0));
    check(x, [&](const auto& u) { return u(at(2, 0), at(5, 5)) - u(at(2, 0), at(5, -3)) * 0.5F; }, at(2, 0), at(5, 0));
}

TEST_CASE("iterated steps of views, transposed arrays and batches") {
    const array<float> whole = noise<float>({50, 121}) / 61;
    const array<float> part = whole(slice(3, 44), slice(5, 118)), turned = transpose(whole);
    CHECK(same_bits(iterate(5, part, heat), by_statements(5, part, heat, middle, middle)));
    CHECK(same_bits(iterate(5, turned, heat), by_statements(5, turned, heat, middle, middle)));
    const array<float> images = noise<float>({3, 21, 70}) / 61;
    const auto each = [](const auto& u) {
        return u(all, low, middle) - u(all, middle, high) * 0.5F + u(all, high, middle);
    };
    CHECK(same_bits(iterate(6, images, each), by_statements(6, images, each, all, middle, middle)));
    const auto across = [](const auto& u) { return u(low, all, middle) - u(high, all, low) * 0.5F; };
    CHECK(same_bits(iterate(6, images, across), by_statements(6, images, across, middle, all, middle)));
    const auto solid = [](const auto& u) {
        return u(low, middle, middle) + u(middle, low, middle) - u(middle, middle, high) * 0.5F;
    };
    CHECK(same_bits(iterate(6, images, solid), by_statements(6, images, solid, middle, middle, middle)));
}

TEST_CASE("iterated steps may read other arrays, and the first one") {
    static const array<float> x = noise<float>({30, 75}) / 61;
    static const array<float> source = noise<float>({28, 73}) / 7, across = noise<float>({73}),
                              down = noise<float>({28, 1});
    static const array<std::int16_t> wide = noise<std::int16_t>({28, 146});
    const auto check = [&](auto step) {
        CHECK(same_bits(iterate(9, x, step), by_statements(9, x, step, middle, middle)));
    };
    check([](const auto& u) { return heat(u) + source * 0.125F; });
    check([](const auto& u) { return heat(u) * across - down; });
    check([](const auto& u) { return heat(u) + wide(all, slice(0, none, 2)); });
    check([](const auto& u) { return (heat(u) + source * 0.125F) * source; });
    check([](const auto& u) { return heat(u) * 0.5F + x(middle, middle) * 0.5F; });
    // Once the arrays take turns it is no stencil of one any more.
    check([](const auto& u) { return u(middle, middle) + 0.5F * (x(low, middle) + x(high, middle)); });
    check([](const auto& u) { return where(x(low, high) > 0.5F, u(low, middle), u(middle, high)); });
}

TEST_CASE("a step with a state of its own sees and keeps every array as its loop does") {
    const array<float> x = noise<float>({30, 75}) / 61;
    const auto seen = [&](auto loop) {
        std::vector<array<float>> kept;
        std::vector<float> largest;
        int calls = 0;
        const array<float> u = loop([&](const auto& now) {
            if (++calls % 2 == 0) kept.push_back(now);
            if (calls % 3 == 0) largest.push_back(max(now).item());
            return heat(now);
        });
        for (const array<float>& k : kept) largest.push_back(sum(k).item());
        largest.push_back(sum(u).item());
        return largest;
    };
    CHECK(seen([&](auto step) { return iterate(7, x, step); }) ==
          seen([&](auto step) { return by_statements(7, x, step, middle, middle); }));
}

TEST_CASE("a step that becomes smaller leaves the latest border") {
    const array<double> x{1, 1, 1, 1, 1, 1, 1};
    const array<double> u = iterate(2, x, [s = 0](const auto& now) mutable {
        ++s;
        return 2.0 * now(slice(s, -s));
    });
    CHECK(u.to_host() == std::vector<double>{1, 2, 4, 4, 4, 2, 1});
}

TEST_CASE("iterated steps of many images of few rows") {
    for (const index_t rows : {4, 5, 8}) {
        const array<float> x = noise<float>({8, rows, 100}) / 61;
        const auto step = [](const auto& u) { return u(all, low) * 0.5F + u(all, high); };
        for (const int n : {2, 4}) CHECK(same_bits(iterate(n, x, step), by_statements(n, x, step, all, middle)));
    }
}

TEST_CASE("eight steps of a stencil are two kernels on a GPU") {
    const auto of = [](int n, const auto& x, auto step) {
        const std::uint64_t before = launches();
        (void)iterate(n, x, step);
        return launches() - before;
    };
    const array<float> x = noise<float>({48, 96});
    CHECK(of(8, x, heat) == (steps_are_joined() ? 2 : 8));
    CHECK(of(9, x, heat) == (steps_are_joined() ? 3 : 9));
    CHECK(of(1, x, heat) == 1);
    // With five rows, three steps fit.
    const auto far = [](const auto& u) { return u(slice(0, -4), slice(2, -2)) - u(slice(4, none), slice(2, -2)); };
    CHECK(of(6, x, far) == (steps_are_joined() ? 2 : 6));
    // Three dimensions, costly bodies, and statements other than stencils take a kernel for each step.
    const array<float> solid = noise<float>({8, 20, 40});
    CHECK(of(4, solid, [](const auto& u) { return u(low, low, middle) + u(high, middle, high); }) == 4);
    CHECK(of(4, x, [](const auto& u) { return tgamma(exp(u(low, middle))) + pow(u(high, middle), u(middle, low)); }) ==
          4);
    CHECK(of(4, x, [](const auto& u) { return u * 0.5F; }) == 4);
    // Other sizes compile nothing.
    const array<float> other = noise<float>({57, 212});
    const std::uint64_t compiled = counters().compiles;
    (void)iterate(8, other, heat);
    CHECK(counters().compiles == compiled);
}

namespace {

/// The key of u(low, middle) - u(middle, high), repeated `steps` times.
codegen::key key_of_difference(std::uint32_t steps) {
    using namespace detail;
    codegen::key k;
    k.header.where = target::cuda;
    k.header.architecture = 90;
    k.program = {make_word(word_kind::leaf, dtype::f4), make_word(word_kind::leaf, dtype::f4),
                 make_word(word_kind::map, dtype::f4, static_cast<std::uint32_t>(op::subtract))};
    k.axes.resize(2);
    codegen::operand_class view;
    view.head.type = dtype::f4;
    view.strides = {stride_class::strided, stride_class::unit};
    k.operands = {view, view};
    k.operands[1].head.same_as = 1;
    k.outputs = {view};
    k.relations = {{1, 0, {1, 1}}};
    k.iteration = {steps, 0, {1, 0}};
    return k;
}

}  // namespace

TEST_CASE("a key says how often a statement is done, and its plan how many steps a kernel has") {
    const codegen::key k = key_of_difference(3), read = codegen::decode(codegen::encode(k));
    CHECK(read.iteration == k.iteration);
    CHECK(codegen::describe(read).ends_with(" relations 1=0+[1 1] stepped 3 times 0+[1 0]"));
    CHECK(codegen::describe(codegen::make_plan(read)).find("(3 steps a kernel: ") != std::string::npos);
    CHECK(codegen::decode(codegen::encode(key_of_difference(1))).iteration == codegen::iteration{});
    CHECK_THROWS_AS(codegen::decode(codegen::encode(key_of_difference(5))), error);
    codegen::key other = k;
    other.iteration.base = 2;
    CHECK_THROWS_AS(codegen::decode(codegen::encode(other)), error);
    other = k;
    other.outputs[0].head.type = dtype::f8;
    CHECK_THROWS_AS(codegen::decode(codegen::encode(other)), error);
    std::vector<std::uint32_t> words = codegen::encode(k);
    words.push_back(0);
    CHECK_THROWS_AS(codegen::decode(words), error);
}

TEST_CASE("a step is called once for each step, and may change from one to the next") {
    const array<float> x = noise<float>({30, 75}) / 61;
    for (const int n : {1, 2, 5, 9, 12}) {
        int calls = 0;
        (void)iterate(n, x, [&](const auto& u) { return ++calls, heat(u); });
        CHECK(calls == n);
        // At every step, and at every third one.
        for (const int every : {1, 3}) {
            const auto check = [&](auto make) {
                auto step = make(), again = make();
                CHECK(same_bits(iterate(n, x, step), by_statements(n, x, again, middle, middle)));
            };
            check([&] { return [every, t = 0](const auto& u) mutable { return heat(u) + float(t++ / every); }; });
            check([&] {
                return [every, t = 0](const auto& u) mutable {
                    return ++t % every == 0 ? lazy<float>(heat(u)) : lazy<float>(u(low, middle) - u(middle, high));
                };
            });
            check([&] {
                return [every, t = 0](const auto& u) mutable {
                    const slice from = ++t % (every + 1) == 0 ? low : high;
                    return u(from, middle) - u(middle, low);
                };
            });
        }
        random::generator first(3), second(3);
        CHECK(same_bits(
            iterate(n, x, [&](const auto& u) { return heat(u) + first.uniform<float>({28, 73}); }),
            by_statements(
                n, x, [&](const auto& u) { return heat(u) + second.uniform<float>({28, 73}); }, middle, middle)));
    }
}

TEST_CASE("iterated steps are recorded in a graph") {
    array<float> x = noise<float>({30, 75}) / 61, y = zeros<float>({30, 75}), z = y;
    const auto by_flux = [](const auto& u) {
        const array<float> flux = u(all, slice(1, none)) - u(all, slice(0, -1));
        return flux(middle, slice(1, none)) - flux(middle, slice(0, -1)) + u(low, middle);
    };
    const graph g = capture([&] {
        y = iterate(6, x, heat);
        z = iterate(6, x, by_flux);
    });
    for (int launch = 0; launch < 2; ++launch) {
        g.launch();
        CHECK(same_bits(y, by_statements(6, x, heat, middle, middle)));
        CHECK(same_bits(z, by_statements(6, x, by_flux, middle, middle)));
        x.fill(0.5F);
    }
}

TEST_CASE("a step may compute and read values of the array, and keep it") {
    const array<float> x = noise<float>({30, 75}) / 61;
    const auto check = [&](auto step) {
        CHECK(same_bits(iterate(6, x, step), by_statements(6, x, step, middle, middle)));
    };
    check([](const auto& u) { return heat(u) / (1 + max(u).item()); });
    check([](const auto& u) { return heat(u) + u(3, 4).item(); });
    check([](const auto& u) {
        const array<float> flux = u(all, slice(1, none)) - u(all, slice(0, -1));
        return flux(middle, slice(1, none)) - flux(middle, slice(0, -1)) + u(low, middle);
    });
    std::vector<array<float>> kept, wanted;
    (void)iterate(6, x, [&](const auto& u) { return kept.push_back(u), heat(u); });
    (void)by_statements(6, x, [&](const auto& u) { return wanted.push_back(u), heat(u); }, middle, middle);
    REQUIRE(kept.size() == wanted.size());
    for (std::size_t i = 0; i < kept.size(); ++i) CHECK(same_bits(kept[i], wanted[i]));
}
