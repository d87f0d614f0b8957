// Folds inside folds and maps, which on a GPU the thread that wants the value makes by a loop of its own.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <ingot/ingot.hpp>

using namespace ingot;

namespace {

/// Numbers as float on the current device and as double on the host.
struct numbers {
    array<float> here;
    array<double> there;

    numbers(const shape_like& shape, double scale) {
        const auto n = static_cast<std::size_t>(zeros<bool>(shape).size());
        std::vector<float> values(n);
        for (std::size_t i = 0; i < n; ++i)
            values[i] = static_cast<float>(scale * std::sin(0.7 + 1.37 * static_cast<double>(i % 8191) + 0.1 * scale));
        here = asarray(values, shape);
        const with_device host(device::host());
        there = asarray(std::vector<double>(values.begin(), values.end()), shape);
    }
};

/// So many results that a GPU computes each in a thread; the emulated GPU counts fewer as many.
index_t many() { return std::getenv("INGOT_TEST_MANY_RESULTS") != nullptr ? 1501 : 40'001; }

/// Just enough results for that, where each result has `beside` adjacent ones.
index_t enough(index_t beside = 1) {
    return (std::getenv("INGOT_TEST_MANY_RESULTS") != nullptr ? 301 : 33'000) / beside + 1;
}

/// Compares f of the numbers with f of doubles on the host. On a GPU it must take that many kernels, for a reason that
/// contains these words.
template <class F, class... N>
void check_chosen(const char* words, F f, int kernels, double tolerance, const N&... of) {
    const auto e = f(of.here...);
    const auto before = counters().kernel_launches;
    const auto found = eval(e);
    if (current_device().is_cuda()) {
        CHECK(counters().kernel_launches - before == kernels);
        const auto how = explain(e);
        CAPTURE(how.expression);
        CAPTURE(how.kernels.back().reason);
        CHECK(how.kernels.size() == static_cast<std::size_t>(kernels));
        CHECK(how.kernels.back().reason.find(words) != std::string::npos);
    }
    const auto seen = found.to_host();
    const with_device host(device::host());
    const auto wanted = f(of.there...).to_host();
    REQUIRE(seen.size() == wanted.size());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < seen.size(); ++i) {
        const double a = static_cast<double>(seen[i]), b = static_cast<double>(wanted[i]);
        if (!(std::abs(a - b) <= tolerance * (1 + std::abs(b)))) ++wrong;
    }
    CHECK(wrong == 0);
}

template <class F, class... N>
void check(F f, int kernels, double tolerance, const N&... of) {
    check_chosen("", f, kernels, tolerance, of...);
}

numbers whole(numbers of) {
    of.here = floor(of.here);
    const with_device host(device::host());
    of.there = array<double>(floor(of.there));
    return of;
}

/// Numbers that lie in memory as a part of others do, which begin where no vector does.
numbers inside(numbers whole, const slice& rows, const slice& columns) {
    whole.here = whole.here(rows, columns);
    const with_device host(device::host());
    whole.there = array<double>(whole.there(rows, columns));
    return whole;
}

}  // namespace

TEST_CASE("a fold over a short axis of what is broadcast together is a loop of each result's thread") {
    const numbers v({many()}, 3), mean_of({16}, 2), spread({16}, 0.3);
    const auto likelihood = [](const auto& x, const auto& mu, const auto& s) {
        const auto z = (x(all, newaxis) - mu) * exp(-s);
        return logsumexp(-0.5f * z * z - s, 1);
    };
    // The exponential of the spreads is the same for all results: a kernel makes it once.
    check(likelihood, 2, 1e-5, v, mean_of, spread);
    check([](const auto& x, const auto& mu) { return var(x(all, newaxis) * mu, 1) + x; }, 1, 1e-5, v, mean_of);
    check([](const auto& x, const auto& mu) { return argmax(x(all, newaxis) * mu - mu * mu, 1); }, 1, 0, v, mean_of);
    check([](const auto& x, const auto& mu) { return min(abs(mu(all, newaxis) - x), 0) < 0.5f; }, 1, 0, v, mean_of);
}

TEST_CASE("the nearest of some centres is one kernel") {
    const numbers points({many(), 5}, 1), centres({11, 5}, 0.8);
    const auto nearest = [](const auto& x, const auto& c) {
        return argmin(sum(square(x(all, newaxis, all) - c), -1), 1);
    };
    check(nearest, 1, 0, points, centres);
    const auto distance = [](const auto& x, const auto& c) {
        return sqrt(min(sum(square(x(all, newaxis, all) - c), -1), 1));
    };
    check(distance, 1, 1e-5, points, centres);
}

TEST_CASE("forces between bodies are one kernel, whose sums are made of parts") {
    const numbers p({190, 3}, 5);
    const auto forces = [](const auto& x) {
        const auto d = x(newaxis) - x(all, newaxis);
        return sum(d * power(sum(d * d, -1) + 1e-3f, -1.5f)(all, all, newaxis), 1);
    };
    check(forces, std::getenv("INGOT_TEST_MANY_RESULTS") != nullptr ? 1 : 2, 1e-4, p);  // few: two kernels
}

TEST_CASE("what does not move along a short axis of the results is made once for all of them") {
    const auto forces = [](const auto& x, const auto& y) {
        const auto d = y(newaxis) - x(all, newaxis);
        return sum(d * exp(-0.01f * sum(d * d, -1))(all, all, newaxis), 1);
    };
    const std::pair<index_t, index_t> sizes[] = {{2, 7}, {3, 33}, {3, 70}, {5, 150}, {8, 300}, {3, 700}};
    for (const auto& [components, bodies] : sizes)
        check_chosen("elements of a short axis", forces, 1, 1e-4, numbers({enough(components), components}, 3),
                     numbers({bodies, components}, 2));
    check_chosen("a block apart", forces, 1, 1e-4, numbers({enough(9), 9}, 3), numbers({50, 9}, 2));  // 9 are too many
    // Maps after the folds, and operands that move along the results' axis.
    const auto moved = [&](const auto& x, const auto& y) { return x + 0.1f * sqrt(abs(forces(x, y))); };
    check_chosen("elements of a short axis", moved, 1, 1e-4, numbers({enough(3), 3}, 3), numbers({300, 3}, 2));
    const auto spread = [&](const auto& x, const auto& y) {
        const auto w = sum(square(x(all, newaxis) - y), -1)(all, all, newaxis) * y;
        return max(w, 1) - min(w, 1) + astype<float>(argmax(w + exp(0.1f * x)(all, newaxis), 1));
    };
    check_chosen("elements of a short axis", spread, 1, 1e-4, numbers({enough(3), 3}, 3), numbers({40, 3}, 2));
}

TEST_CASE("results beside each other read what shares the results' buffer, and more arrays than registers hold") {
    const index_t n = enough(3);
    const numbers d({n, 4, 3}, 1.0), start({2, n, 3}, 0.5);
    array<float> s = start.here;
    s(0) = s(1) + sum(d.here * sum(d.here * d.here, -1)(all, all, newaxis), 1);
    array<double> wanted = start.there;
    {
        const with_device host(device::host());
        wanted(0) = wanted(1) + sum(d.there * sum(d.there * d.there, -1)(all, all, newaxis), 1);
    }
    const std::vector<float> got = s.to_host();
    const std::vector<double> right = wanted.to_host();
    double worst = 0;
    for (std::size_t i = 0; i < got.size(); ++i)
        worst = std::max(worst, std::abs(static_cast<double>(got[i]) - right[i]));
    CHECK(worst < 1e-4);
}

TEST_CASE("lanes share the turns of long loops") {
    const auto nearest = [](const auto& x, const auto& c) {
        return argmin(sum(square(x(all, newaxis, all) - c), -1), 1);
    };
    const auto crowding = [](const auto& x, const auto& c) {
        return log(sum(exp(-sum(square(x(all, newaxis, all) - c), -1)), 1) + 1);
    };
    for (const index_t centres : {129, 257, 600, 1100}) {
        const numbers x = whole(numbers({enough(), 5}, 4)), c = whole(numbers({centres, 5}, 3));
        check_chosen("lanes share", nearest, 1, 0, x, c);
        if (centres > 500)
            check_chosen("lanes share", crowding, 1, 1e-5, numbers({enough(), 5}, 1), numbers({centres, 5}, 0.8));
    }
    const auto far = [](const auto& x, const auto& c) {
        return max(astype<std::int32_t>(sum(abs(x(all, newaxis, all) - c), -1)), 1) +
               any(sum(x(all, newaxis, all) * c, -1) > 4, 1);
    };
    check_chosen("lanes share", far, 1, 0, whole(numbers({enough(), 4}, 2)), whole(numbers({1100, 4}, 8)));
    // The first of places that are alike, whichever lane has it; NaN before all others.
    const index_t n = enough();
    array<float> x = zeros<float>({n, 2});
    const array<float> c = astype<float>(reshape(arange<std::int32_t>(600), {300, 2}) % 14) - 4;
    const auto found = eval(argmin(sum(abs(x(all, newaxis, all) - c), -1), 1));
    CHECK(count_nonzero(found != 2).item() == 0);
    x(3, 1) = std::nanf("");
    CHECK(eval(argmin(sum(abs(x(all, newaxis, all) - c), -1), 1)).to_host()[3] == 0);
}

TEST_CASE("rows of arrays lie in registers, wherever they begin") {
    const auto nearest = [](const auto& x, const auto& c) {
        return argmin(sum(square(x(all, newaxis, all) - c), -1), 1);
    };
    for (const index_t width : {4, 6, 16})
        for (const index_t centres : {23, 70})  // two results a thread, or one
            check_chosen("in registers", nearest, 1, 0, whole(numbers({enough(), width}, 4)),
                         whole(numbers({centres, width}, 3)));
    check(nearest, 1, 0, whole(numbers({enough(), 17}, 4)), whole(numbers({23, 17}, 3)));
    const numbers x = inside(whole(numbers({enough() + 2, 20}, 4)), slice(1, enough() + 1), slice(1, 17)),
                  c = inside(whole(numbers({30, 21}, 3)), slice(1, 24), slice(2, 18));
    check_chosen("in registers", nearest, 1, 0, x, c);
    const auto transposed = [](const auto& a, const auto& b) {
        return min(sum(abs(a(all, newaxis, all) - transpose(b)), -1), 1);
    };
    check(transposed, 1, 1e-5, numbers({enough(), 8}, 1), numbers({8, 23}, 0.8));
    check(transposed, 1, 1e-5, inside(numbers({enough(), 8}, 1), slice(none, none, -1), slice(none, none, -1)),
          numbers({8, 23}, 0.8));
}

TEST_CASE("few short rows that lie one behind the other are loaded at once; flipped ones are read backwards") {
    const auto distance = [](const auto& x, const auto& c) { return sum(square(x(all, newaxis, all) - c), -1); };
    for (const auto& [rows, width] : {std::pair<index_t, index_t>{7, 4}, {4, 3}, {8, 7}, {5, 8}})
        check(distance, 1, 0, whole(numbers({enough(rows), width}, 4)), whole(numbers({rows, width}, 3)));
    const array<float> x = reshape(arange<float>(enough(12) * 4) % 7.0f, {-1, 4});
    const array<float> y = reshape(arange<float>(48) % 5.0f, {12, 4});
    const auto greatest = [&](const auto& c) {
        return array<float>(max(maximum(x(all, newaxis, all), c), 2) * max(c, 1));
    };
    for (const axes& flipped : {axes{0}, axes{1}, axes{0, 1}})
        CHECK(array_equal(greatest(flip(y, flipped)), greatest(array<float>(flip(y, flipped)))).item());
}

TEST_CASE("what a fold of a fold makes is wanted elsewhere as well") {
    const numbers v({many()}, 3), w({9}, 2);
    check([](const auto& x, const auto& y) { return sum(square(sum(x(all, newaxis) * y, 1))); }, 2, 1e-4, v, w);
    const auto both = [](const auto& x, const auto& y) {
        const auto r = sum(exp(x(all, newaxis) * y * 0.1f), 1);
        return r(all, newaxis) * y;
    };
    check(both, 1, 1e-5, v, w);
}

TEST_CASE("paths of random numbers are folded as they are drawn") {
    const auto paths = random::generator(7).normal<float>({many(), 20});
    const auto payoff = maximum(mean(100 * exp(cumsum(0.01f * paths - 5e-5f, 1)), 1) - 100, 0);
    const auto launched = counters().kernel_launches;
    const float price = mean(payoff).item();
    if (current_device().is_cuda()) CHECK(counters().kernel_launches - launched == 2);
    const array<float> drawn = paths;
    const array<float> steps = cumsum(0.01f * drawn - 5e-5f, 1);
    const float again = mean(maximum(mean(100 * exp(steps), 1) - 100, 0)).item();
    CHECK(price == doctest::Approx(again).epsilon(1e-5));
}

namespace {

/// Whole numbers from -4 to 4.
template <class T>
lazy<T> whole_numbers(std::mt19937& random, const std::vector<index_t>& shape) {
    index_t n = 1;
    for (const index_t extent : shape) n *= extent;
    std::vector<T> values(static_cast<std::size_t>(n));
    for (T& v : values) v = static_cast<T>(static_cast<int>(random() % 9) - 4);
    return asarray(values, shape);
}

template <class T>
lazy<T> folded(unsigned which, const lazy<T>& e, const axes& over) {
    switch (which % 6) {
        case 0:
            return astype<T>(sum(e, over));
        case 1:
            return max(e, over);
        case 2:
            return min(e, over);
        case 3:
            return astype<T>(count_nonzero(e > 1, over));
        case 4:
            return astype<T>(any(e == 2, over));
        default:
            if (over.size() == 1) return astype<T>(argmax(e, over.begin()[0]));
            return astype<T>(sum(e * e, over));
    }
}

/// A fold over j of a map of a fold over k of x(i, k), y(j, k) and w(j), evaluated at the end or after each step.
/// `launches` counts those of the evaluation at the end.
template <class T>
void check_drawn(unsigned seed, std::uint64_t& launches) {
    std::mt19937 random(seed);
    const index_t i = 100 + static_cast<index_t>(random() % 200), j = 1 + static_cast<index_t>(random() % 70),
                  k = 1 + static_cast<index_t>(random() % 40);
    const auto inner = static_cast<unsigned>(random()), outer = static_cast<unsigned>(random()),
               shape = static_cast<unsigned>(random());
    const lazy<T> x = whole_numbers<T>(random, {i, 1, k}), y = whole_numbers<T>(random, {j, k}),
                  w = whole_numbers<T>(random, {j});
    const auto statement = [&](auto keep) {
        const lazy<T> product = keep(shape % 2 == 0 ? lazy<T>(x * y - x) : lazy<T>(abs(x - y) + y));
        const lazy<T> within = keep(folded<T>(inner, product, shape % 7 == 0 ? axes{1, 2} : axes{2}));
        if (shape % 7 == 0) return keep(within * 2 + lazy<T>(x(all, 0, 0)));
        const lazy<T> again = shape % 5 == 0 ? lazy<T>(within - folded<T>(0, y, 1)) : within;
        return keep(folded<T>(outer, lazy<T>(again * w), 1));
    };
    const lazy<T> whole = statement([](const lazy<T>& e) { return e; });
    const auto before = counters().kernel_launches;
    const array<T> found = whole;
    launches += counters().kernel_launches - before;
    const array<T> wanted = statement([](const lazy<T>& e) { return lazy<T>(eval(e)); });
    CAPTURE(seed);
    CAPTURE(explain(whole).expression);
    CHECK(found.to_host() == wanted.to_host());
}

}  // namespace

namespace {

/// A fold over j, for c adjacent results that share a fold over k.
template <class T>
void check_drawn_beside(unsigned seed) {
    std::mt19937 random(seed);
    const auto drawn = [&](index_t from, index_t to) {
        return from + static_cast<index_t>(random() % static_cast<unsigned>(to - from + 1));
    };
    const index_t i = drawn(50, 150), j = drawn(1, 2) == 1 ? drawn(1, 300) : drawn(1, 33), k = drawn(1, 20),
                  c = drawn(1, 9);
    const auto inner = static_cast<unsigned>(random()), outer = static_cast<unsigned>(random()),
               shape = static_cast<unsigned>(random());
    const lazy<T> x = whole_numbers<T>(random, {i, 1, k}), y = whole_numbers<T>(random, {j, k}),
                  w = whole_numbers<T>(random, {j, c}), v = whole_numbers<T>(random, {i, c});
    const auto statement = [&](auto keep) {
        const lazy<T> within = keep(folded<T>(inner, keep(lazy<T>(x * y - x)), axes{2}));
        const lazy<T> beside = shape % 3 == 0   ? lazy<T>(within(all, all, newaxis) * w)
                               : shape % 3 == 1 ? lazy<T>(within(all, all, newaxis) + abs(w - v(all, newaxis)))
                                                : lazy<T>(maximum(within(all, all, newaxis), w) - v(all, newaxis) * w);
        const lazy<T> result = keep(folded<T>(outer, keep(beside), axes{1}));
        return shape % 5 == 0 ? keep(lazy<T>(result + v)) : result;
    };
    const array<T> found = statement([](const lazy<T>& e) { return e; });
    const array<T> wanted = statement([](const lazy<T>& e) { return lazy<T>(eval(e)); });
    CAPTURE(seed);
    CAPTURE(explain(statement([](const lazy<T>& e) { return e; })).kernels.back().reason);
    CHECK(found.to_host() == wanted.to_host());
}

}  // namespace

TEST_CASE("drawn folds of results beside each other are what they are one by one") {
    for (unsigned seed = 0; seed < 3; ++seed) {
        check_drawn_beside<float>(4 * seed);
        check_drawn_beside<std::int32_t>(4 * seed + 1);
        check_drawn_beside<double>(4 * seed + 2);
        check_drawn_beside<std::int16_t>(4 * seed + 3);
    }
}

TEST_CASE("drawn folds of folds are what they are one by one") {
    std::uint64_t launches = 0;
    for (unsigned seed = 0; seed < 6; ++seed) {
        check_drawn<float>(3 * seed, launches);
        check_drawn<std::int32_t>(3 * seed + 1, launches);
        check_drawn<double>(3 * seed + 2, launches);
    }
    // The emulated GPU's results count as many from 100 on; then most of the 18 are one kernel.
    if (std::getenv("INGOT_TEST_MANY_RESULTS") != nullptr && current_device().is_cuda()) CHECK(launches <= 25);
}
