// Row programs of rows of every length class, along and across memory: their results, and that each is one kernel.
#include <array>
#include <cmath>
#include <limits>

#include "runtime/device/device_facts.hpp"
#include "tests/drawn.hpp"
#include "tests/reductions/comparison.hpp"
#include "tests/untested.hpp"
#include "tests/walls/count.hpp"

using namespace ingot;
using testing::comparison;

namespace {

template <class T>
array<T> wave(const shape_like& shape) {
    index_t n = 1;
    for (const index_t extent : shape) n *= extent;
    const array<double> line = arange<double>(static_cast<double>(n));
    return astype<T>(reshape(20 * sin(line * 0.7) + cos(line * 0.013), shape));
}

/// GPUs before 9.0 have no clusters, and read a row twice that a block cannot hold.
bool has_room_for_long_rows() {
    return !current_device().is_cuda() || runtime::architecture_of(current_device()) >= 90;
}

bool has_large_clusters() {
    if (!current_device().is_cuda()) return false;
    const std::uint32_t architecture = runtime::architecture_of(current_device());
    return architecture == 90 || architecture == 100;
}

template <class E>
auto standardise(const E& x, index_t axis) {
    return (x - mean(x, axis, keepdims)) / stddev(x, axis, keepdims);
}

template <class E>
void add_rows(comparison& c, const E& x, index_t axis, bool held = true) {
    c.add("softmax", axes(axis), x, eval(softmax(x, axis)));
    c.add("log_softmax", axes(axis), x, eval(log_softmax(x, axis)));
    c.add("logsumexp", axes(axis), x, eval(logsumexp(x, axis)));
    c.add("standardise", axes(axis), x, eval(standardise(x, axis)));
    if (!held) return;
    if (!has_room_for_long_rows()) return ingot::test::untested_part("how rows are read on a GPU with clusters");
    CHECK(explain(softmax(x, axis)).kernels.size() == 1);
    CHECK(explain(standardise(x, axis)).kernels.size() == 1);
    CHECK(launches([&] { (void)eval(standardise(x, axis)); }) == 1);
}

}  // namespace

TEST_CASE("rows along memory, of all lengths") {
    comparison c;
    for (const index_t n :
         test::drawn<index_t>({1,    2,    31,   33,     65,     129,    192,    257,    500,    1025,   2049,
                               4099, 6144, 8192, 10'000, 16'385, 17'883, 40'000, 65'537, 70'001, 131'072}))
        add_rows(c, wave<float>({3, n}), -1);
    for (const index_t n : test::drawn<index_t>({132, 2052, 3328, 4096})) add_rows(c, wave<float>({3, n}), -1);
    for (const index_t n : test::drawn<index_t>({130, 1026, 1600, 2048})) add_rows(c, wave<double>({3, n}), -1);
    add_rows(c, wave<float>({2, 140'001}), -1, false);
    add_rows(c, wave<float>({2, 262'141}), -1, false);
    add_rows(c, wave<float>({2, 524'289}), -1, false);
    c.run();
}

TEST_CASE("rows along memory that registers do not hold lie in shared memory too") {
    comparison c;
    const array<float> x = wave<float>({1, 270'000});
    const array<double> y = wave<double>({1, 131'073});
    c.add("softmax", axes(1), x, eval(softmax(x, 1)));
    c.add("softmax", axes(1), y, eval(softmax(y, 1)));
    CHECK((explain(softmax(x, 1)).kernels.size() == 1 || !has_large_clusters()));
    CHECK((explain(softmax(y, 1)).kernels.size() == 1 || !has_large_clusters()));
    c.run();
}

TEST_CASE("rows along memory of up to 2 MiB are read once where a cluster holds them") {
    comparison c;
    const auto add = [&]<class T>(const array<T>& x, std::size_t readings) {
        CAPTURE(x.shape());
        c.add("softmax", axes(1), x, eval(softmax(x, 1)));
        c.add("standardise", axes(1), x, eval(standardise(x, 1)));
        if (!has_large_clusters()) return ingot::test::untested_part("how rows are read on a GPU with large clusters");
        CHECK(explain(softmax(x, 1)).kernels.size() == readings);
        CHECK(explain(softmax(x, 1)).bytes_read() / static_cast<std::size_t>(x.nbytes()) == readings);
    };
    for (const index_t n : {262'145, 524'288}) add(wave<float>({2, n}), 1);
    for (const index_t n : test::drawn<index_t>({190'001, 200'000, 262'144})) add(wave<double>({2, n}), 1);
    add(wave<float>({2, 524'289}), 2);
    add(wave<double>({2, 262'145}), 2);
    c.run();
}

TEST_CASE("what a large cluster holds of long rows may be several arrays, small elements or random numbers") {
    const auto are_close = [](const array<float>& a, const auto& e) { return max(abs(a - e)).item() < 1e-9f; };
    const auto is_one = [](const auto& e) { return explain(e).kernels.size() == 1 || !has_large_clusters(); };
    const array<float> x = wave<float>({2, 200'000}), y = flip(wave<float>({2, 200'000}), 1);
    CHECK(are_close(eval(softmax(x + y, 1)), softmax(eval(x + y), 1)));
    CHECK(is_one(softmax(x + y, 1)));
    const array<std::int16_t> small = wave<std::int16_t>({2, 270'000});
    CHECK(are_close(eval(softmax(astype<float>(small), 1)), softmax(eval(astype<float>(small)), 1)));
    CHECK(is_one(softmax(astype<float>(small), 1)));
    const auto drawn = random::uniform<float>({2, 300'000});
    CHECK(are_close(eval(softmax(drawn, 1)), softmax(eval(drawn), 1)));
    CHECK(is_one(softmax(drawn, 1)));
}

TEST_CASE("rows across memory, of all lengths") {
    comparison c;
    for (const index_t n : test::drawn<index_t>({1, 2, 31, 33, 129, 500, 1025, 2049}))
        add_rows(c, wave<float>({n, 37}), 0);
    for (const index_t n : {4096, 5000}) add_rows(c, wave<float>({n, 40}), 0);
    add_rows(c, wave<float>({4096, 37}), 0, false);
    for (const index_t n : {5000, 40'000}) add_rows(c, wave<float>({n, 5}), 0, false);
    for (const index_t n : test::drawn<index_t>({3, 70, 600})) add_rows(c, wave<double>({4, n, 8}), 1);
    const array<float> pairs = wave<float>({5, 2, 333});  // the last rows fill no block
    c.add("softmax", axes(1), pairs, eval(softmax(pairs, 1)));
    for (const index_t n : test::drawn<index_t>({4, 9, 190, 400})) add_rows(c, wave<float>({5, n, 333}), 1);
    for (const index_t side : {2, 3, 7}) add_rows(c, wave<float>({3, 1400, side}), 1);
    c.run();
}

TEST_CASE("rows across memory that blocks and clusters share") {
    comparison c;
    const auto add = [&]<class T>(const array<T>& x) { c.add("softmax", axes(1), x, eval(softmax(x, 1))); };
    add(wave<float>({2, 272, 169}));
    add(wave<float>({2, 1647, 45}));
    add(wave<float>({2, 9065, 33}));
    for (const index_t n : test::drawn<index_t>({3908, 20'000, 41'986})) add(wave<float>({2, n, 5}));
    add(wave<double>({2, 258, 101}));
    add(wave<double>({2, 9000, 20}));
    for (const index_t n : {8000, 31'333}) add(wave<double>({2, n, 4}));
    add(wave<float>({2, 16'508, 11}));
    add(wave<float>({2, 8234, 24}));
    add(wave<double>({3, 644, 7}));
    add(wave<double>({2, 5472, 3}));
    for (const auto& [n, side] : {std::array<index_t, 2>{58, 9}, {81, 8}, {127, 2}, {165, 3}, {33, 5}})
        add(wave<float>({41, n, side}));
    add(wave<float>({2, 9001, 501}));  // so few are adjacent that they are read twice
    add(wave<double>({2, 5001, 333}));
    add(wave<float>({2, 12'810, 20}));
    add_rows(c, wave<float>({2, 2500, 70}), 1);
    const array<float> x = wave<float>({2, 3000, 67});
    const auto far = x - min(x, 1, keepdims);  // a struct of a value and its place goes from block to block
    const auto [largest, place] = eval(max(far, 1), argmax(far, 1));
    CHECK(array_equal(largest, eval(max(eval(far), 1))).item());
    CHECK(array_equal(place, argmax(x, 1)).item());
    c.run();
}

TEST_CASE("long columns are read once where their rows are whole sectors, a part of them into shared memory") {
    comparison c;
    const auto readings = [&](index_t n, index_t side) {
        const array<float> x = wave<float>({2, n, side});
        c.add("softmax", axes(1), x, eval(softmax(x, 1)));
        return explain(softmax(x, 1)).bytes_read() / (sizeof(float) * static_cast<std::size_t>(x.size()));
    };
    const bool clusters = has_large_clusters();
    for (const auto& [n, side] : {std::array<index_t, 2>{4097, 64}, {6145, 40}, {8000, 200}, {8193, 40}, {10'698, 64}})
        CHECK((readings(n, side) == 1 || !clusters));
    for (const auto& [n, side] : {std::array<index_t, 2>{9000, 68}, {12'289, 64}})
        CHECK((readings(n, side) == 2 || !clusters));
    c.run();
}

TEST_CASE("an array is one view of itself where axes have one extent too") {
    const auto expressions = [](const shape_like& shape) {
        std::vector<std::string> found;
        const array<float> x = wave<float>(shape);
        for (index_t axis = 0; axis < static_cast<index_t>(x.shape().size()); ++axis) {
            found.push_back(explain(softmax(x, axis)).expression);
            found.push_back(explain(standardise(x, axis)).expression);
        }
        return found;
    };
    CHECK(expressions({6, 6}) == expressions({6, 7}));
    CHECK(expressions({6, 6, 6}) == expressions({6, 7, 8}));
    CHECK(expressions({6, 6, 9}) == expressions({6, 7, 9}));
    CHECK(expressions({6, 6, 6, 6}) == expressions({6, 7, 8, 9}));
    CHECK(expressions({6, 6, 6, 6})[2] == "exp(x0 - max(x0)) / sum(exp(x0 - max(x0)))");
    comparison c;
    for (const shape_like& shape : {shape_like{40, 40}, shape_like{40, 40, 40}, shape_like{40, 40, 7}})
        for (const index_t axis : {0, 1}) {
            const array<float> x = wave<float>(shape), across = eval(swapaxes(x, 0, 1) * 1);
            add_rows(c, x, axis);
            // Its transpose is another view, whatever their extents.
            const auto both = [axis](const auto& a, const auto& b) {
                return softmax(a - 2 * max(b, axis, keepdims), axis);
            };
            CHECK(allclose(eval(both(x, swapaxes(x, 0, 1))), eval(both(x, across)), 1e-6, 1e-30).item());
        }
    c.run();
}

TEST_CASE("rows in place are read before they are written") {
    const auto check = [](const auto& x, index_t axis) {
        auto softened = eval(x * 1), centred = eval(x * 1);
        const auto memory = softened.data();
        softened(ellipsis) = softmax(softened, axis);
        CHECK(softened.data() == memory);
        CHECK(allclose(softened, eval(softmax(x, axis)), 1e-6, 1e-30).item());
        centred -= mean(centred, axis, keepdims);
        CHECK(allclose(centred, eval(x - mean(x, axis, keepdims)), 1e-6, 1e-5).item());
    };
    for (const index_t n : test::drawn<index_t>({3, 20, 33, 100, 257, 1001, 9000})) {
        check(wave<float>({n}), 0);
        check(wave<double>({1, n}), 1);
        check(wave<float>({5, n}), 1);
        check(wave<double>({n, 7}), 0);
        check(wave<float>({2, n, 3}), 1);
        check(wave<float>({n, 129}), 0);
    }
}

TEST_CASE("a vector along what is folded leaves it to the arrays how memory is walked") {
    const auto across = [](const auto& e) {
        const kernel_explanation k = explain(e).kernels.back();
        return k.reason.find("neighbours read neighbour") != std::string::npos ||
               k.reason.find("neighbouring columns") != std::string::npos ||
               k.reason.find("beside") != std::string::npos;
    };
    for (const auto& [n, side] : {std::array<index_t, 2>{2048, 256}, {300, 1000}, {5000, 40}, {20, 600}}) {
        const array<float> x = wave<float>({n, side}), gain = eval(wave<float>({n, 1}) + 30);
        const array<float> gains = eval(gain + zeros<float>({n, side}));
        CHECK(across(sum(x * gain, 0)) == across(sum(x, 0)));
        CHECK(across(max(x - gain, 0)) == across(max(x, 0)));
        CHECK(across(softmax(x, 0) * gain) == across(softmax(x, 0)));
        CHECK(allclose(sum(x * gain, 0), sum(x * gains, 0), 1e-5, 1e-3).item());
        CHECK(array_equal(max(x - gain, 0), max(x - gains, 0)).item());
        CHECK(allclose(softmax(x + gain, 0) * gain, eval(softmax(x + gains, 0) * gains), 1e-5, 1e-8).item());
        CHECK(allclose(average(x, 0, reshape(gain, {n})), eval(sum(x * gains, 0) / sum(gains, 0)), 1e-4, 1e-5).item());
    }
}

TEST_CASE("runs of which threads hold a part in shared memory") {
    comparison c;
    for (const auto& [n, side] : {std::array<index_t, 2>{3105, 18}, {1000, 24}, {2500, 15}, {40'000, 3}})
        add_rows(c, wave<float>({2, n, side}), 1);
    add_rows(c, wave<double>({3, 700, 8}), 1);
    c.run();
    const std::string reason = explain(softmax(wave<float>({2, 1000, 24}), 1)).kernels[0].reason;
    CHECK((reason.find("in shared memory") != std::string::npos) ==
          (current_device().is_cuda() && has_room_for_long_rows()));
    for (const index_t n : {1000, 2600}) {
        const array<float> x = wave<float>({3, n, 24}), y = eval(cos(x)), gain = eval(wave<float>({n, 1}) + 30);
        const auto weighted = exp(x - max(x, 1, keepdims)) / gain;
        const array<float> e = eval(exp(x - eval(max(x, 1, keepdims)))), w = eval(e / gain);
        const array<float> total = sum(w, 1, keepdims);
        const auto [z, sums] = eval(weighted / sum(weighted, 1, keepdims) * y, sum(weighted * y, 1));
        CHECK(allclose(z, eval(w / total * y), 1e-5, 1e-6).item());
        CHECK(allclose(sums, sum(eval(w * y), 1), 1e-5, 1e-4).item());
    }
}

TEST_CASE("quotients of rows that are zero or subnormal are divided as any") {
    for (const auto& shape : {shape_like{2, 1000, 24}, shape_like{2, 1000, 64}, shape_like{3, 40, 333}}) {
        const array<float> far = wave<float>(shape) * 3, x = where(far > 40, -far * 1e30f, far * 2);
        const array<float> e = eval(exp(x - eval(max(x, 1, keepdims)))), total = eval(sum(e, 1, keepdims));
        const array<float> held = softmax(x, 1), wanted = eval(e / total);
        CHECK(any(wanted == 0).item());
        CHECK(allclose(held, wanted, 1e-6, 1e-44).item());  // subnormals are rounded to multiples of 1.4e-45
    }
}

template <class T>
void check_signs_of_zeros() {
    for (const auto& shape :
         test::drawn<shape_like>({{300, 7}, {40, 500}, {2, 1000, 24}, {2, 9000}, {3, 40, 333}, {2, 70'000}})) {
        const array<T> w = wave<T>(shape), x = eval(where(w > 5, T(0), where(w < -5, -T(0), w)));
        CHECK(any((x == 0) & signbit(x)).item());
        for (const T sign : {T(1), T(-1)}) {
            const array<T> z = x / (sign * sum(w * w, 1, keepdims)), by = sign * sum(w * w, 1, keepdims);
            CHECK(all((z == 0) == (x == 0)).item());
            CHECK(array_equal(signbit(z), signbit(x) != (sign < 0)).item());
            CHECK(array_equal(signbit(x / by), signbit(z)).item());
        }
    }
}

TEST_CASE("rows over two axes, and rows apart in memory, beside what is the same for all of them") {
    const array<double> x = wave<double>({32, 31, 97}), y = wave<double>({32, 1, 97}) * 2;
    const auto both = x + y;
    const array<double> apart = x + y, most = max(apart, {0, 2}, keepdims);
    const auto [below, twice] = eval(both - max(both, {0, 2}, keepdims), both * 2);
    CHECK(array_equal(below, apart - most).item());
    CHECK(array_equal(twice, apart * 2).item());
    const array<float> wide = wave<float>({30, 6000}), gain = wave<float>({3000});
    const auto rows = wide(all, slice(none, none, 2)) * gain;
    const array<float> computed = rows, least = min(computed, 1, keepdims);
    CHECK(allclose(rows - min(rows, 1, keepdims), computed - least, 1e-5, 1e-4).item());
}

TEST_CASE("zeros of rows keep their signs when they are divided") {
    check_signs_of_zeros<float>();
    check_signs_of_zeros<double>();
}

TEST_CASE("what a mask leaves of rows, and rows of which it leaves nothing") {
    constexpr float nothing = -std::numeric_limits<float>::infinity();
    for (const auto& shape : {shape_like{300, 7}, shape_like{40, 500}, shape_like{2, 1000, 24}, shape_like{2, 9000}}) {
        const array<float> x = wave<float>(shape);
        const array<bool> left = x > 0;
        const array<float> e = eval(where(left, exp(x), 0)), z = softmax(where(left, x, nothing), 1);
        CHECK(allclose(z, eval(e / eval(sum(e, 1, keepdims))), 1e-5).item());
        CHECK(all((z == 0) == !left).item());
        CHECK(all(isnan(softmax(where(x > 30, x, nothing), 1))).item());
    }
}

TEST_CASE("a map after a fold across memory, wherever rows and results begin") {
    comparison c;
    const auto add = [&](const array<float>& x) { c.add("softmax", axes(1), x, eval(softmax(x, 1))); };
    for (const auto& [n, side] : {std::array<index_t, 2>{3203, 37}, {3136, 37}, {3202, 45}, {3456, 50}}) {
        const index_t size = 2 * n * side;
        add(wave<float>({2, n, side}));
        const array<float> x = wave<float>(size + 3);
        for (const index_t from : {1, 2, 3}) add(reshape(x(slice(from, from + size)), {2, n, side}));
    }
    const array<float> x = wave<float>({2, 3136, 37}), wanted = softmax(x, 1);
    for (const index_t from : {0, 1, 2, 3}) {
        array<float> line = full<float>(x.size() + 4, -1.0f);
        array<float> z = reshape(line(slice(from, from + x.size())), x.shape());
        assign(z, softmax(x, 1));
        CHECK(array_equal(z, wanted).item());
        array<float> wide = full<float>({2, 3136, 41}, -1.0f);
        wide(all, all, slice(from, from + 37)) = softmax(x, 1);
        CHECK(array_equal(wide(all, all, slice(from, from + 37)), wanted).item());
        CHECK(all(wide(all, all, slice(37 + from, none)) == -1).item());
        array<float> same = x;
        assign(same, softmax(same, 1));
        CHECK(array_equal(same, wanted).item());
    }
    c.run();
}

TEST_CASE("rows of doubles and integers, that begin anywhere, backwards, apart") {
    comparison c;
    for (const index_t n : test::drawn<index_t>({33, 300, 3000, 30'000})) {
        add_rows(c, wave<double>({3, n}), 1);
        add_rows(c, wave<int>({3, n}), 1);
        const array<float> x = wave<float>({5, n + 8});
        add_rows(c, x(all, slice(1, -7)), 1);
        add_rows(c, x(all, slice(4, -1)), 1);
        add_rows(c, x(slice(none, none, 2), slice(none, none, -1)), 1);
        add_rows(c, x(all, slice(none, none, 3)), 1);
    }
    for (const index_t n : test::drawn<index_t>({1, 2, 3, 5}))
        add_rows(c, wave<float>({6, 11})(all, slice(1, 1 + n)), 1);  // within a vector
    c.run();
}

TEST_CASE("NaN and infinity stay in their rows") {
    constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    comparison c;
    const auto spoiled = [&](index_t n) {
        array<float> x = wave<float>({7, n});
        x(0, n / 2) = nan;
        x(1, n - 1) = infinity;
        x(2, 3) = -infinity;
        x(3) = -infinity;
        x(4, slice(1, 3)) = infinity;
        x(5, 0) = infinity;
        x(5, n - 2) = -infinity;
        return x;
    };
    for (const index_t n : test::drawn<index_t>({4, 16, 33, 130, 1000, 5000, 70'000})) add_rows(c, spoiled(n), -1);
    for (const index_t n : test::drawn<index_t>({5, 40, 700, 9000})) {
        const array<float> x = spoiled(n), columns = transpose(x);
        add_rows(c, columns, 0, false);
        CHECK(explain(log_softmax(x)).kernels.size() == explain(softmax(x)).kernels.size());
    }
    for (const index_t n : {5, 700}) add_rows(c, array<double>(spoiled(n)), -1);
    c.run();
    const auto row = log_softmax(array<float>{infinity, 0}).to_host();
    CHECK(std::isnan(row[0]));
    CHECK(row[1] == -infinity);
}

TEST_CASE("outputs along rows and outputs of rows come from one kernel") {
    for (const index_t n : test::drawn<index_t>({200, 5000, 66'000})) {
        const array<float> x = wave<float>({4, n}), gain = wave<float>(n), shift = wave<float>({4, 1});
        const auto centred = x - mean(x, -1, keepdims);
        const auto spread = sqrt(mean(square(centred), -1, keepdims) + 1e-5f);
        const auto norm = centred / spread * gain + shift;
        const auto before = counters().kernel_launches;
        const auto [y, largest, place] = eval(norm, max(norm, -1), argmax(norm, -1));
        CHECK(counters().kernel_launches - before == (n < 60'000 || has_room_for_long_rows() ? 1 : 2));
        const array<float> c = x - eval(mean(x, -1, keepdims));
        const array<float> wanted = c / eval(sqrt(mean(c * c, -1, keepdims) + 1e-5f)) * gain + shift;
        CHECK(allclose(y, wanted, 1e-4, 1e-4).item());
        CHECK(array_equal(largest, max(y, -1)).item());
        CHECK(array_equal(place, argmax(y, -1)).item());
        array<float> same = x;
        assign(same, norm);
        CHECK(array_equal(same, y).item());
    }
}

TEST_CASE("similarity, weighting and norms of rows are one kernel") {
    const array<float> a = wave<float>({6, 700}), b = eval(cos(wave<float>({6, 700})));
    CHECK(launches([&] { (void)eval(sum(a * b, -1) / (norm(a, -1) * norm(b, -1))); }) == 1);
    CHECK(launches([&] { (void)eval(sum(softmax(a) * b, -1)); }) == 1);
    CHECK(launches([&] { (void)eval(a / norm(a, -1, keepdims)); }) == 1);
    CHECK(launches([&] { (void)eval(a / sqrt(mean(square(a), -1, keepdims) + 1e-6f)); }) == 1);
    const array<float> weights = softmax(a), weighted = sum(softmax(a) * b, -1);
    CHECK(allclose(weighted, sum(weights * b, -1), 1e-5, 1e-5).item());
}

TEST_CASE("rows of rows and columns: each where it can be") {
    const array<double> x = wave<double>({40, 60}), y = wave<double>({40, 60, 7});
    const array<double> by_row = softmax(x, 1), by_column = softmax(x, 0);
    CHECK(allclose(eval(softmax(x, 1) * softmax(x, 0)), by_row * by_column).item());
    CHECK(allclose(eval(sum(expand_dims(softmax(x, 1), -1) * y, 1)), sum(expand_dims(by_row, -1) * y, 1)).item());
    CHECK(allclose(eval(softmax(softmax(x, 1), 0)), softmax(by_row, 0)).item());
    const array<double> square = wave<double>({50, 50}), sums = sum(square, 1);
    CHECK(allclose(eval(square - sum(square, 1)), square - sums).item());
    CHECK(allclose(eval(square + sum(square, 1, keepdims) + transpose(square)),
                   square + reshape(sums, {50, 1}) + transpose(square))
              .item());
}

TEST_CASE("what a row program wants in the end waits beside the row, which is read once") {
    const bool room = current_device().is_cuda() && runtime::architecture_of(current_device()) == 90;
    const auto weigh = [&]<class T>(const shape_like& shape, index_t axis, T) {
        const array<T> x = eval(wave<T>(shape) / T(4)), y = eval(cos(x) + T(2));
        const array<T> shares = softmax(x, axis);
        const double close = sizeof(T) == 4 ? 1e-5 : 1e-13;
        CHECK(allclose(sum(softmax(x, axis) * y, axis), sum(eval(shares * y), axis), close, 0).item());
        CHECK(allclose(softmax(x, axis) * y + x, eval(shares * y + x), close, close).item());
        CHECK(allclose(softmax(x, axis) * y / (x + T(9)), eval(shares * y / (x + T(9))), close, close).item());
        if (!room) return ingot::test::untested_part("how rows are read on a GPU of architecture 9.0");
        CHECK(explain(sum(softmax(x, axis) * y, axis)).kernels.size() == 1);
        CHECK(explain(sum(softmax(x, axis) * y, axis)).bytes_read() ==
              2 * sizeof(T) * static_cast<std::size_t>(x.size()));
    };
    for (const index_t n :
         test::drawn<index_t>({4096, 4099, 16'384, 33'001, 65'536, 131'072, 140'000, 140'001, 200'003, 262'144}))
        weigh({2, n}, 1, 0.0f);
    for (const index_t n : test::drawn<index_t>({3000, 20'001, 70'000, 131'071})) weigh({2, n}, 1, 0.0);
    for (const auto& [n, side] : {std::array<index_t, 2>{1500, 3}, {2100, 3}, {1500, 37}, {4096, 64}, {4000, 200}})
        weigh({n, side}, 0, 0.0f);
    weigh({2100, 48}, 0, 0.0);
    weigh({3, 3000, 132}, 1, 0.0f);
}

TEST_CASE("few columns are read once, in however small pieces") {
    comparison c;
    for (const auto& [n, side] :
         {std::array<index_t, 2>{4096, 37}, {10'000, 64}, {5001, 128}, {3000, 255}, {4096, 333}, {8000, 511}}) {
        const array<float> x = wave<float>({n, side});
        c.add("softmax", axes(0), x, eval(softmax(x, 0)));
        c.add("standardise", axes(0), x, eval(standardise(x, 0)));
        if (!current_device().is_cuda() || runtime::architecture_of(current_device()) != 90) {
            ingot::test::untested_part("how columns are read on a GPU of architecture 9.0");
            continue;
        }
        CHECK(explain(softmax(x, 0)).kernels.size() == 1);
        CHECK(explain(standardise(x, 0)).kernels.size() == 1);
    }
    c.run();
}
