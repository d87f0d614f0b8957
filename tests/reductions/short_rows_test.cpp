// Many short rows that lie one behind the other, which CUDA stages in shared memory: every length, blocks that are not
// full, arrays of several dtypes at once, and views that keep the rows apart.
#include <limits>
#include <random>

#include "tests/reductions/comparison.hpp"
#include "tests/untested.hpp"

using namespace ingot;
using testing::comparison;

namespace {

/// Small numbers that tie; of floats some NaN.
template <class T>
array<T> values(const shape_like& shape, unsigned seed, bool nans = false) {
    std::mt19937 random(seed);
    index_t n = 1;
    for (const index_t extent : shape) n *= extent;
    std::vector<T> v(static_cast<std::size_t>(n));
    for (T& element : v) {
        element = static_cast<T>(random() % 50);
        if constexpr (std::is_floating_point_v<T>) {
            element = (element - 20) / 8;
            if (nans && random() % 100 == 0) element = std::numeric_limits<T>::quiet_NaN();
        }
    }
    return asarray<T>(v, shape);
}

template <class E>
void fold_rows(comparison& c, const E& e) {
    c.add_all<E>({"sum", "max", "argmax", "argmin", "any"}, axes(-1), e, sum(e, -1), max(e, -1), argmax(e, -1),
                 argmin(e, -1), any(e, -1));
}

array<double> nan_as_zero(const array<double>& x) { return where(isnan(x), 0, x); }

template <class E>
std::string reason(const E& e) {
    return explain(e).kernels.back().reason;
}

}  // namespace

TEST_CASE("rows of every short length") {
    comparison c;
    for (index_t n = 1; n <= 130; ++n)
        fold_rows(c, values<float>({264 + 37 * (n % 7), n}, static_cast<unsigned>(n), n % 3 == 0));
    c.run();
}

TEST_CASE("short rows of narrow and of wide elements") {
    comparison c;
    for (const index_t n : {2, 7, 8, 16, 31, 48, 100, 128}) {
        const auto seed = static_cast<unsigned>(n);
        fold_rows(c, values<std::uint8_t>({1001, n}, seed));
        fold_rows(c, values<std::int16_t>({1001, n}, seed));
        fold_rows(c, values<double>({1001, n}, seed, true));
    }
    c.run();
}

TEST_CASE("short rows of several arrays, beside numbers of a row and of a column") {
    comparison c;
    for (const index_t n : {3, 4, 12, 16, 37, 64, 112}) {
        const auto seed = static_cast<unsigned>(n);
        const array<float> x = values<float>({20, 30, n}, seed), column = values<float>(n, seed + 1);
        const array<std::uint8_t> bytes = values<std::uint8_t>({20, 30, n}, seed + 2);
        const array<double> y = values<double>({20, 30, n}, seed + 3), row = values<double>({30, 1}, seed + 4);
        fold_rows(c, x * column + bytes);
        fold_rows(c, (y - row) * x + bytes);
    }
    c.run();
}

TEST_CASE("row programs of short rows are NumPy's") {
    comparison c;
    const auto add = [&](const auto& x) {
        c.add("softmax", axes(-1), x, eval(softmax(x)));
        c.add_all<std::decay_t<decltype(x)>>({"var", "std", "logsumexp"}, axes(-1), x, var(x, -1), stddev(x, -1),
                                             logsumexp(x, -1));
    };
    for (const index_t n : {2, 3, 4, 7, 8, 16, 17, 24, 31, 32, 36, 48, 63, 64, 65, 100, 112, 127, 128}) {
        const auto seed = static_cast<unsigned>(n);
        add(values<float>({300 + 31 * (n % 5), n}, seed));
        add(values<double>({300 + 31 * (n % 5), n}, seed, n % 2 == 0));
    }
    c.run();
}

TEST_CASE("a layer norm of short rows is what its parts are, in place too") {
    for (const index_t n : {5, 12, 16, 37, 128}) {
        const auto seed = static_cast<unsigned>(n);
        array<float> x = values<float>({20, 30, n}, seed);
        const array<float> gain = values<float>(n, seed + 1), shift = values<float>({30, 1}, seed + 2);
        const array<std::int8_t> mask = values<std::int8_t>({20, 30, n}, seed + 3);
        const auto centred = x - mean(x, -1, keepdims);
        const array<float> centre = mean(x, -1, keepdims), spread = sqrt(var(x, -1, keepdims) + 1e-5f);
        const array<float> wanted = (x - centre) / spread * gain + shift;
        const auto norm = centred / sqrt(mean(square(centred), -1, keepdims) + 1e-5f) * gain + shift;
        CHECK(allclose(eval(norm), wanted, 1e-5, 1e-5).item());
        const auto [masked, largest, whole] = eval(where(mask > 20, norm, 0), max(norm, -1), astype<double>(norm));
        CHECK(allclose(masked, where(mask > 20, wanted, 0), 1e-5, 1e-5).item());
        CHECK(allclose(largest, max(wanted, -1), 1e-5, 1e-5).item());
        CHECK(allclose(whole, wanted, 1e-5, 1e-5).item());
        assign(x, norm);
        CHECK(allclose(x, wanted, 1e-5, 1e-5).item());
    }
}

TEST_CASE("short columns of doubles, whose threads have one element more or less") {
    comparison c;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (const index_t n : {2, 5, 8, 9, 15, 16, 17, 31, 33, 47, 63, 64, 65, 95, 120})
        for (const index_t side : {2, 3, 5}) {
            if (n * side > 240) continue;
            const auto seed = static_cast<unsigned>(n * side);
            const array<double> x = values<double>({280, n, side}, seed, n % 2 == 0);
            c.add("softmax", axes(1), x, eval(softmax(x, 1)));
            c.add("standardise", axes(1), x, eval((x - mean(x, 1, keepdims)) / stddev(x, 1, keepdims)));
            c.add("log_softmax", axes(1), x, eval(log_softmax(x, 1)));
            array<double> far = eval(where(x > 3, x * 1e300, where(x < -2, -infinity, x * 500)));
            c.add("softmax", axes(1), far, eval(softmax(far, 1)));
            const array<double> gain = values<double>({n, 1}, seed + 1) + 30;
            const array<double> e = eval(exp(x - eval(max(x, 1, keepdims))));
            const auto [z, place] =
                eval(exp(x - max(x, 1, keepdims)) * gain / sum(exp(x - max(x, 1, keepdims)), 1, keepdims),
                     argmax(x * -gain, 1));
            const array<double> wanted = eval(e * gain / eval(sum(e, 1, keepdims)));
            CHECK(allclose(nan_as_zero(z), nan_as_zero(wanted), 1e-13, 1e-300).item());
            CHECK(array_equal(place, argmax(eval(x * -gain), 1)).item());
        }
    c.run();
    if (current_device().is_cuda())
        CHECK(reason(softmax(zeros<double>({3000, 63, 2}), 1)).find("staged") != std::string::npos);
}

TEST_CASE("rows that are apart, that begin anywhere, that are columns") {
    comparison c;
    for (const index_t n : {5, 16}) {
        const array<float> x = values<float>({600, n + 4}, 7);
        fold_rows(c, x(all, slice(4)));
        fold_rows(c, x(slice(none, none, 2)));
        fold_rows(c, x(slice(1)));
        fold_rows(c, x(slice(none, none, -1)));
        fold_rows(c, transpose(values<float>({n, 600}, 8)));
    }
    c.run();
}

#ifdef INGOT_HAS_CUDA_HEADERS
TEST_CASE("only rows without gaps between them are staged") {
    if (!current_device().is_cuda()) return ingot::test::untested("there is no GPU here");
    const auto is_staged = [](const std::string& why) { return why.find("staged") != std::string::npos; };
    const array<float> x = zeros<float>({1000, 17});
    CHECK(is_staged(reason(sum(x, 1))));
    CHECK(is_staged(reason(sum(exp(x) + x, 1))));
    CHECK(is_staged(reason(sum(x(slice(4)), 1))));
    CHECK_FALSE(is_staged(reason(sum(x(slice(1)), 1))));
    CHECK_FALSE(is_staged(reason(sum(x(all, slice(1)), 1))));
    CHECK_FALSE(is_staged(reason(sum(x(slice(0, 200)), 1))));
    CHECK_FALSE(is_staged(reason(sum(zeros<float>({1000, 129}), 1))));
    for (const auto& e : {explain(softmax(x)), explain(logsumexp(x, 1)), explain(x - mean(x, 1, keepdims))}) {
        CHECK(e.pattern == "row program");
        CHECK(e.kernels.size() == 1);
        CHECK(is_staged(e.kernels[0].reason));
        CHECK(e.bytes_read() == 4 * 17'000);
    }
}
#endif

TEST_CASE("a phase that leaves another value in the place of one that it reads") {
    for (const index_t n : {4, 7, 13, 16, 30}) {
        const array<double> x = reshape(sin(arange<double>(234.0 * static_cast<double>(n))) * 3, {234, n});
        const auto [shares, sizes] = eval(softmax(sin(x) * x, 1), abs(sin(x)));
        CHECK(allclose(shares, softmax(eval(sin(x) * x), 1)).item());
        CHECK(allclose(sizes, abs(sin(x))).item());
    }
}

TEST_CASE("random numbers beside the sums of short rows") {
    const array<float> m = ones<float>({5000, 8});
    const auto u = random::uniform<float>({5000});
    CHECK(array_equal(sum(m, 1) + u, u + 8).item());
}

TEST_CASE_TEMPLATE("float values that short rows of halves keep between phases", T, float16, bfloat16) {
    for (const index_t n : {8, 12, 16, 40, 64, 128}) {
        CAPTURE(n);
        const array<float> wide = sin(reshape(arange<float>(70 * n), {70, n})) * 3;
        const array<T> x = astype<T>(wide), found = softmax(x, 1);
        const array<float> wanted = softmax(astype<float>(x).eval(), 1);
        CHECK(allclose(astype<float>(found), wanted, 1e-2, 1e-3).item());
    }
    const array<std::int8_t> b = astype<std::int8_t>(reshape(arange<int>(70 * 48) % 200 - 100, {70, 48}));
    const auto shares = [](const auto& e) { return lazy<float>(e / max(e, 1, keepdims) * 100.0f); };
    const array<std::int8_t> found = astype<std::int8_t>(shares(exp(astype<float>(b) * 0.01f)));
    const array<float> wanted = shares(exp(astype<float>(b) * 0.01f).eval());
    CHECK(all(abs(astype<float>(found) - wanted) <= 1.0f).item());
}
