// Folds and scans with options against NumPy 2: the type they are computed in, initial values, and scans that are
// exclusive or reversed.
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "tests/arrays/expect.hpp"
#include "tests/joins/numpy_cases.hpp"
#include "tests/walls/count.hpp"

using namespace ingot;
using testing::drawn;
using testing::numpy_cases;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <class E, class V>
concept takes_initial = requires(const E& e, V v) { max(e, initial(v)); };

const array<double> with_nan{{1.75, nan, -3.5, 2}, {nan, 5.25, 0.5, nan}};

template <class E>
bool same(const E& e, const std::vector<typename E::value_type>& values) {
    return e.to_host() == values;
}

}  // namespace

TEST_CASE("a fold in a type that is named is what NumPy's dtype= gives") {
    numpy_cases c;
    const array<std::int8_t> bytes{{100, 27, -3, 90}, {-128, 90, 100, 1}};
    const array<double> x{{1.75, 2.5, -3.5, 1e9}, {0.25, -2.75, 4, 3}};
    const array<bool> b{true, false, true, true};
    c.add_all(std::tie(bytes, x, b, with_nan),
              {"a.sum(dtype='i1')", "a.sum(1, 'f4')", "b.sum(0, 'i4')", "b.sum(1, 'f4', keepdims=True)",
               "a.sum((0, 1), '?')", "c.sum(dtype='i2')", "a.prod(0, 'i2')", "a.prod(1, 'u1')", "c.prod(dtype='?')",
               "b.prod(1, 'c16')", "a.sum(dtype='c8')", "b[:, :3].prod(dtype='i8')"},
              sum<std::int8_t>(bytes), sum<float>(bytes, 1), sum<int>(x, 0), sum<float>(x, 1, keepdims),
              sum<bool>(bytes, {0, 1}), sum<std::int16_t>(b), prod<std::int16_t>(bytes, 0),
              prod<std::uint8_t>(bytes, 1), prod<bool>(b), prod<std::complex<double>>(x, 1),
              sum<std::complex<float>>(bytes), prod<index_t>(x(all, slice(0, 3))));
    c.add_all(std::tie(bytes, x, b, with_nan),
              {"np.mean(a, dtype='i4')", "np.mean(a, 0, 'f4')", "np.mean(b[:, :3], 1, 'i8', keepdims=True)",
               "np.mean(a, (0, 1), 'c16')", "np.mean(c, dtype='f4')", "np.mean(b[:0], 0)"},
              mean<int>(bytes), mean<float>(bytes, 0), mean<index_t>(x(all, slice(0, 3)), 1, keepdims),
              mean<std::complex<double>>(bytes, {0, 1}), mean<float>(b), mean<double>(x(slice(0, 0)), 0));
    c.add_all(std::tie(bytes, x, b, with_nan),
              {"np.nansum(d, dtype='f4')", "np.nansum(d, 0, 'i4')", "np.nansum(a, 1, 'i2')", "np.nanprod(d, 1, 'f4')",
               "np.nanprod(d, (0, 1), 'i8', keepdims=True)", "np.nanmean(d, dtype='f4')", "np.nanmean(d, 1, 'f4')",
               "np.nanmean(a, 1, 'f4')", "np.nanmean(a, dtype='i4')"},
              nansum<float>(with_nan), nansum<int>(with_nan, 0), nansum<std::int16_t>(bytes, 1),
              nanprod<float>(with_nan, 1), nanprod<index_t>(with_nan, {0, 1}, keepdims), nanmean<float>(with_nan),
              nanmean<float>(with_nan, 1), nanmean<float>(bytes, 1), nanmean<int>(bytes));
    c.add_all(std::tie(bytes, x, b, with_nan),
              {"np.cumsum(a, dtype='i1')", "np.cumsum(a, 1, 'f4')", "np.cumsum(b, 0, 'i4')", "np.cumprod(a, 1, 'i1')",
               "np.cumsum(c, dtype='?')", "np.nancumsum(d, 1, 'f4')", "np.nancumsum(d, dtype='i4')",
               "np.nancumprod(d, 0, 'f4')", "np.nancumprod(d, dtype='c8')"},
              cumsum<std::int8_t>(bytes), cumsum<float>(bytes, 1), cumsum<int>(x, 0), cumprod<std::int8_t>(bytes, 1),
              cumsum<bool>(b), nancumsum<float>(with_nan, 1), nancumsum<int>(with_nan), nancumprod<float>(with_nan, 0),
              astype<std::complex<float>>(nancumprod<float>(with_nan)));
    c.run();
    // A wider sum has more digits, and fuses with its neighbours into one kernel.
    const array<float> many = full<float>({3'000'000}, 0.1f);
    CHECK(std::abs(sum<double>(many).item() - 3e6 * static_cast<double>(0.1f)) < 1e-6);
    CHECK(launches([&] { (void)(sum<double>(many) * 2).eval(); }) == 1);
    CHECK(array_equal(mean<float16>(full<float16>({70'000}, float16(1.0f))), array<float16>{float16(1.0f)}(0)).item());
}

TEST_CASE("an initial value is one element more, and extremes of nothing are that") {
    numpy_cases c;
    const array<float> x = drawn<float>({3, 4}, 1), nothing = zeros<float>({0, 4});
    const array<int> i = drawn<int>({3, 4}, 2);
    const array<bool> b{true, false};
    c.add_all(std::tie(x, i, nothing, b),
              {"a.max(initial=1e30)", "a.max(0, initial=0)", "a.min(1, initial=-2.5, keepdims=True)",
               "b.max((0, 1), initial=3)", "b.min(initial=True)", "c.max(0, initial=-np.inf)", "c.min(initial=2)",
               "c.max(1, initial=2)", "d.max(initial=False)", "d[:0].min(initial=True)"},
              max(x, initial(1e30)), max(x, 0, initial(0)), min(x, 1, keepdims, initial(-2.5)),
              max(i, {0, 1}, initial(3)), min(i, initial(true)),
              max(nothing, 0, initial(-std::numeric_limits<double>::infinity())), min(nothing, initial(2)),
              max(nothing, 1, initial(2)), max(b, initial(false)), min(b(slice(0, 0)), initial(true)));
    c.add_all(std::tie(x, i, nothing, with_nan),
              {"b.sum(initial=7)", "b.sum(1, initial=True)", "b.prod(0, initial=-3)", "c.sum(1, initial=2)",
               "c.sum(0, initial=0.5)", "c.prod(initial=0.5)", "np.nanmax(d, initial=4)", "np.nanmin(d, 0, initial=4)",
               "np.nansum(d, 1, initial=1)", "np.nanprod(d, initial=2)", "b.sum(dtype='f8', initial=0.25)",
               "d.max(1, initial=9)"},
              sum(i, initial(7)), sum(i, 1, initial(true)), prod(i, 0, initial(-3)), sum(nothing, 1, initial(2)),
              sum(nothing, 0, initial(0.5)), prod(nothing, initial(0.5)), nanmax(with_nan, initial(4)),
              nanmin(with_nan, 0, initial(4)), nansum(with_nan, 1, initial(1)), nanprod(with_nan, initial(2)),
              sum<double>(i, initial(0.25)), max(with_nan, 1, initial(9)));
    c.run();
    CHECK(launches([&] { (void)max(x, 1, initial(0)).eval(); }) == 1);
    CHECK_THROWS_AS((void)max(array<std::int8_t>{1}, initial(300)), dtype_error);
    CHECK_THROWS_AS((void)max(nothing), shape_error);
    static_assert(takes_initial<array<int>, int> && !takes_initial<array<int>, double>);
}

TEST_CASE("scans that are exclusive or reversed") {
    numpy_cases c;
    const array<int> i = drawn<int>({3, 4}, 1);
    const array<double> x = drawn<double>({2, 3, 5}, 2);
    const array<double> nothing = zeros({0, 3});
    c.add_all(std::tie(i, x, nothing, with_nan),
              {"np.cumsum(a[:, ::-1], 1)[:, ::-1]", "np.cumsum(a.ravel()[::-1])[::-1]",
               "np.cumsum(b[:, ::-1], 1)[:, ::-1] * 2", "np.cumprod(a[::-1], 0)[::-1]",
               "np.maximum.accumulate(b[..., ::-1], 2)[..., ::-1]", "np.minimum.accumulate(d[:, ::-1], 1)[:, ::-1]",
               "np.nancumsum(d[::-1], 0)[::-1]", "np.cumsum(c[::-1], 0)", "np.nancumprod(d[:, ::-1], 1)[:, ::-1]"},
              cumsum(i, 1, reversed), cumsum(i, reversed), cumsum(x, 1, reversed) * 2, cumprod(i, 0, reversed),
              cummax(x, 2, reversed), cummin(with_nan, 1, reversed), nancumsum(with_nan, 0, reversed),
              cumsum(nothing, 0, reversed), nancumprod(with_nan, 1, reversed));
    c.add_all(std::tie(i, x, nothing, with_nan),
              {"np.pad(np.cumsum(a, 1), ((0, 0), (1, 0)))[:, :-1]", "np.pad(np.cumsum(a), (1, 0))[:-1]",
               "np.pad(np.cumprod(a, 0), ((1, 0), (0, 0)), constant_values=1)[:-1]",
               "np.pad(np.cumsum(b, 1), ((0, 0), (1, 0), (0, 0)))[:, :-1]",
               "np.pad(np.maximum.accumulate(b, 2), ((0, 0), (0, 0), (1, 0)), constant_values=-np.inf)[..., :-1]",
               "np.pad(np.minimum.accumulate(a, 1), ((0, 0), (1, 0)), constant_values=2**31 - 1)[:, :-1]",
               "np.pad(np.cumsum(a[:, ::-1], 1), ((0, 0), (1, 0)))[:, -2::-1]", "np.cumsum(c, 0)",
               "np.pad(np.nancumsum(d, 1, 'f4'), ((0, 0), (1, 0)))[:, :-1]"},
              cumsum(i, 1, exclusive), cumsum(i, exclusive), cumprod(i, 0, exclusive), cumsum(x, 1, exclusive),
              cummax(x, 2, exclusive), cummin(i, 1, exclusive), cumsum(i, 1, exclusive, reversed),
              cumsum(nothing, 0, exclusive, reversed), nancumsum<float>(with_nan, 1, exclusive));
    c.run();
    CHECK(same(logcumsumexp(array<double>{1000, 1000, 1000}, exclusive)(slice(0, 2)),
               {-std::numeric_limits<double>::infinity(), 1000}));
    CHECK(launches([&] { (void)cumsum(x, 1, exclusive).eval(); }) <= 2);
    CHECK_THROWS_AS((void)cumsum(i, 2, reversed), shape_error);
}

TEST_CASE("a reversed scan is one kernel, wherever it is written") {
    const array<int> i = drawn<int>({40, 30}, 1);
    const array<int> down = flip(eval(cumsum(flip(i, 0), 0)), 0), left = flip(eval(cumsum(flip(i, 1), 1)), 1);
    array<index_t> wide = zeros<index_t>({40, 30}), whole = zeros<index_t>({50, 60});
    CHECK(launches([&] { (void)cumsum(i, 1, reversed).eval(); }) == 1);
    CHECK(explain(cumsum(i, 1, reversed)).kernels.size() == 1);
    CHECK(array_equal(cumsum(i, 0, reversed).eval(), down).item());
    CHECK(array_equal(array<double>(cumsum(i, 1, reversed)), left).item());
    CHECK(launches([&] { wide(all) = cumsum(i, 0, reversed); }) == 1);
    CHECK(array_equal(wide, down).item());
    CHECK(launches([&] { whole(slice(49, 9, -1), slice(none, none, 2)) = cumsum(i * 2, 1, reversed); }) == 1);
    CHECK(array_equal(whole(slice(49, 9, -1), slice(none, none, 2)), left * 2).item());
    CHECK(sum(whole).item() == sum(left * 2).item());
    wide = astype<index_t>(i);
    wide = cumsum(wide, 0, reversed);
    CHECK(array_equal(wide, down).item());
    wide(all) = cumsum(wide, 1, reversed);  // in place
    CHECK(array_equal(wide, flip(eval(cumsum(flip(down, 1), 1)), 1)).item());
    wide(all, all) = cumsum(i(0), reversed);  // broadcast
    CHECK(array_equal(wide(39), left(0)).item());
    CHECK(array_equal(transpose(cumsum(i, 1, reversed)).eval(), transpose(left)).item());
    CHECK(array_equal(cumsum(i, 1, reversed)(all, slice(3, 20)).eval(), left(all, slice(3, 20))).item());
    CHECK(array_equal(flip(cumsum(i, 1, reversed)).eval(), flip(left)).item());
    const auto [a, b] = eval(cumsum(i, 0, reversed), cumsum(i, 1, reversed) + 1);
    CHECK(array_equal(a, down).item());
    CHECK(array_equal(b, left + 1).item());
}
