// pad against NumPy 2: every mode, widths beyond the axis, every dtype; that a map over it is one kernel.
#include "tests/arrays/expect.hpp"
#include "tests/joins/numpy_cases.hpp"
#include "tests/walls/count.hpp"

using namespace ingot;
using testing::drawn;
using testing::numpy_cases;

namespace {

/// The modes that read places alone, in one statement.
template <class T>
void pad_at_places(numpy_cases& c, const array<T>& x, const detail::pad_widths& widths, const std::string& as_text) {
    const auto text = [&](const char* mode) { return "np.pad(a, " + as_text + ", '" + mode + "')"; };
    c.add_all(std::tie(x),
              {text("constant"), text("edge"), text("reflect"), text("symmetric"), text("wrap"), text("linear_ramp")},
              pad(x, widths), pad(x, widths, pad_mode::edge), pad(x, widths, pad_mode::reflect),
              pad(x, widths, pad_mode::symmetric), pad(x, widths, pad_mode::wrap),
              pad(x, widths, pad_mode::linear_ramp));
}
/// The modes that fold an axis.
template <class T>
void pad_with_folds(numpy_cases& c, const array<T>& x, const detail::pad_widths& widths, const std::string& as_text) {
    const auto text = [&](const char* mode) { return "np.pad(a, " + as_text + ", '" + mode + "')"; };
    c.add_all(std::tie(x), {text("mean"), text("maximum"), text("minimum"), text("median")},
              pad(x, widths, pad_mode::mean), pad(x, widths, pad_mode::maximum), pad(x, widths, pad_mode::minimum),
              pad(x, widths, pad_mode::median));
}
template <class T>
array<T> pad_dtype(numpy_cases& c, unsigned seed) {
    const array<T> x = drawn<T>({3, 4}, seed);
    pad_at_places(c, x, {{1, 2}, {3, 1}}, "((1, 2), (3, 1))");
    c.add("np.pad(a, 1, constant_values=3)", eval(pad(x, 1, 3)), x);
    return x;
}

}  // namespace

TEST_CASE("every mode of pad is NumPy's, however wide") {
    numpy_cases c;
    c.forgive(2);
    for (const shape_like& shape : {shape_like{5}, {1}, {2}}) {
        const array<double> x = drawn<double>(shape, 1) / 2;
        pad_at_places(c, x, 2, "2");
        pad_at_places(c, x, {0, 3}, "(0, 3)");
        pad_at_places(c, x, {4, 0}, "(4, 0)");
        pad_at_places(c, x, {13, 17}, "(13, 17)");
        pad_with_folds(c, x, {0, 3}, "(0, 3)");
    }
    const array<double> m = drawn<double>({3, 1, 4}, 2), none_there = zeros({0, 3});
    pad_at_places(c, m, {{1, 0}, {2, 2}, {0, 5}}, "((1, 0), (2, 2), (0, 5))");
    pad_with_folds(c, m, {{1, 0}, {2, 2}, {0, 5}}, "((1, 0), (2, 2), (0, 5))");
    pad_at_places(c, none_there, {{0, 0}, {1, 1}}, "((0, 0), (1, 1))");
    pad_with_folds(c, none_there, {{0, 0}, {1, 1}}, "((0, 0), (1, 1))");
    const array<double> v = drawn<double>({4}, 3), s = full({}, 2.5);
    c.add_all(
        std::tie(v, none_there, s),
        {"np.pad(a, 2, 'linear_ramp', end_values=-3)", "np.pad(a, (1, 2), constant_values=2.5)",
         "np.pad(b, 1, constant_values=2)", "np.pad(c, 2)", "np.pad(a, 0, 'edge')", "np.pad(a[::-1] * 2, 1, 'wrap')"},
        pad(v, 2, pad_mode::linear_ramp, -3), pad(v, {1, 2}, 2.5), pad(none_there, 1, 2), pad(s, 2),
        pad(v, 0, pad_mode::edge), pad(flip(v) * 2, 1, pad_mode::wrap));
    c.run();
}

TEST_CASE("pads of every dtype are NumPy's") {
    numpy_cases c;
    c.forgive(2);
    pad_with_folds(c, pad_dtype<bool>(c, 1), 2, "2");
    pad_with_folds(c, pad_dtype<std::int8_t>(c, 2), 2, "2");
    pad_dtype<std::uint32_t>(c, 3);
    pad_dtype<std::int64_t>(c, 4);
    pad_dtype<float16>(c, 5);
    pad_dtype<float>(c, 6);
    const auto z = pad_dtype<std::complex<double>>(c, 7);
    c.add("np.pad(a, 1, 'mean')", eval(pad(z, 1, pad_mode::mean)), z);
    c.run();
}

TEST_CASE("what an empty pad puts around is anything, and what it has inside is there") {
    const array<int> m = counted({2, 3});
    const array<int> p = pad(m, {{1, 0}, {2, 1}}, pad_mode::empty);
    CHECK(p.shape() == shape_like{3, 6});
    CHECK(array_equal(p(slice(1, none), slice(2, 5)), m).item());
    CHECK(eval(pad(zeros<int>({0, 2}), 1, pad_mode::empty)).shape() == shape_like{2, 4});
}

TEST_CASE("a map over a pad is one kernel") {
    const array<float> m = drawn<float>({30, 40}, 1);
    const auto is_one = [](const auto& e) { return launches([&] { eval(e); }) == 1; };
    CHECK(is_one(pad(m, 2, pad_mode::linear_ramp) + 1));
    for (const pad_mode mode :
         {pad_mode::constant, pad_mode::edge, pad_mode::reflect, pad_mode::symmetric, pad_mode::wrap}) {
        CAPTURE(static_cast<int>(mode));
        CHECK(is_one(pad(m * 2, {{1, 2}, {3, 4}}, mode) + 1));
        const auto p = pad(m, 1, mode);
        CHECK(is_one(p(slice(0, -2), slice(1, -1)) + p(slice(2, none), slice(1, -1)) - 2 * m));
    }
    CHECK(launches([&] { (void)pad(m, 3, pad_mode::symmetric); }) == 0);
    CHECK(launches([&] { eval(pad(m, 3, pad_mode::mean) * 2); }) <= 4);
}

TEST_CASE("rolls and pads of folds are evaluated once, in the order of memory") {
    const array<float> m = drawn<float>({300, 200}, 1);
    const auto centred = m - mean(m, 1, keepdims);
    const auto kernels = [](const auto& e) { return explain(e).kernels.size(); };
    const std::size_t fold = kernels(centred);
    CHECK(kernels(roll(roll(roll(centred, 29, 0), 23, 1), 17, 1)) == fold + 1);
    CHECK(kernels(pad(cumsum(m, 1), 1, pad_mode::edge) * 2) == kernels(cumsum(m, 1)) + 1);
    CHECK(kernels(roll(centred, 29, 0) - max(roll(centred, 29, 0), 1, keepdims)) <= 2 * fold + 1);
    const array<float> whole = centred, rolled = roll(whole, 29, 0);
    CHECK(array_equal(roll(centred, 29, 0), rolled).item());
    CHECK(array_equal(roll(centred, 29, 0) - max(roll(centred, 29, 0), 1, keepdims), rolled - max(rolled, 1, keepdims))
              .item());
}

TEST_CASE("a join that is read again along another axis is itself") {
    for (const index_t columns : {5, 40}) {
        const array<double> a = drawn<double>({7, columns}, 1), b = drawn<double>({7, columns}, 2);
        for (const int axis : {0, 1}) {
            const auto joined = concatenate({lazy<double>(a(slice(0, 3))), lazy<double>(b(slice(3, none)))}, 0);
            const array<double> whole = joined, wanted = whole - mean(whole, axis, keepdims);
            for (int again = 0; again < 2; ++again)
                CHECK(allclose(joined - mean(joined, axis, keepdims), wanted).item());
        }
    }
}

TEST_CASE("an element of several windows of a pad is computed once") {
    const array<float> m = drawn<float>({300, 200}, 1);
    const std::uint64_t bytes = 4 * 300 * 200;
    for (const int axis : {0, 1}) {
        const auto padded = pad(m, {{axis == 0 ? 6 : 0, 0}, {axis == 1 ? 6 : 0, 0}}, pad_mode::edge);
        const auto means = mean(sliding_window_view(padded, 7, axis), -1);
        CHECK(explain(means).bytes_written() < 5 * bytes / 2);
        const array<float> evaluated = padded;
        CHECK(allclose(means, mean(sliding_window_view(evaluated, 7, axis), -1), 1e-6, 1e-6).item());
        // Windows with gaps, and windows of windows.
        const auto apart = sliding_window_view(padded, 7, axis)(all, all, slice(0, none, 3));
        CHECK(allclose(sum(apart, -1), sum(sliding_window_view(evaluated, 7, axis)(all, all, slice(0, none, 3)), -1))
                  .item());
        CHECK(allclose(sum(sliding_window_view(sliding_window_view(padded, 3, axis), 3, axis), axes{-2, -1}),
                       sum(sliding_window_view(sliding_window_view(evaluated, 3, axis), 3, axis), axes{-2, -1}))
                  .item());
    }
}

TEST_CASE("pads that there are not throw and say why") {
    const array<int> m = counted({2, 3});
    const auto says = [](auto f) { return thrown<shape_error>(f); };
    CHECK(says([&] { (void)pad(m, {{1, 1}, {2, 2}, {3, 3}}); }) == "[pad] 3 pairs of widths for shape (2, 3)");
    CHECK(says([&] { (void)pad(m, {1, 2, 3}); }) ==
          "[pad] 3 widths: one, {before, after}, or such a pair for each axis");
    CHECK(says([&] { (void)pad(m, {{0, 0}, {1, -1}}); }) == "[pad] widths 1 and -1 on axis 1: a width is not negative");
    CHECK(says([&] { (void)pad(zeros<int>({2, 0}), {{0, 0}, {1, 0}}, pad_mode::edge); }) ==
          "[pad] axis 1 of shape (2, 0) has no elements to pad with; pad_mode::constant wants none");
    CHECK(thrown<dtype_error>([&] { (void)pad(zeros<std::complex<float>>(3), 1, pad_mode::maximum); }) ==
          "[pad] complex64 has no order, and so no greatest or least element");
    CHECK_THROWS_AS((void)pad(zeros<std::complex<float>>(3), 1, pad_mode::median), dtype_error);
    CHECK_THROWS_AS((void)pad(array<std::int8_t>{1}, 1, 1000), dtype_error);
    CHECK_THROWS_AS((void)pad(m, index_t{1} << 62), shape_error);
}
