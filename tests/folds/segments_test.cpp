// Folds of segments against NumPy 2: add.reduceat, and folds of each slice between offsets.
#include <complex>
#include <vector>

#include "tests/arrays/expect.hpp"
#include "tests/joins/numpy_cases.hpp"
#include "tests/walls/count.hpp"

using namespace ingot;
using testing::drawn;
using testing::numpy_cases;

namespace {

std::string of_slices(const std::string& what) {
    return "np.array([" + what + " for s in [a[max(i, 0):max(j, 0)] for i, j in zip(b[:-1], b[1:])]])";
}

template <class E>
bool same(const E& e, const std::vector<typename E::value_type>& values) {
    return e.to_host() == values;
}

}  // namespace

TEST_CASE("add_reduceat is NumPy's, where indices fall too") {
    numpy_cases c;
    const array<int> x = arange<int>(8), at{0, 4, 1, 5}, falling{7, 3, 3, 0}, nothing = zeros<int>({0});
    const array<double> m = drawn<double>({5, 8}, 1);
    const array<std::int8_t> bytes{100, 100, 100};
    c.add_all(std::tie(x, at, falling, nothing),
              {"np.add.reduceat(a, b)", "np.add.reduceat(a, c)", "np.add.reduceat(a * 2, b[:1])",
               "np.add.reduceat(a, d)", "np.add.reduceat(a > 3, b)", "np.add.reduceat(a[::-1], c) + 1"},
              add_reduceat(x, at), add_reduceat(x, falling), add_reduceat(x * 2, at(slice(0, 1))),
              add_reduceat(x, nothing), add_reduceat(x > 3, at), add_reduceat(flip(x), falling) + 1);
    c.add("np.add.reduceat(a, [0, 2])", eval(add_reduceat(bytes, array<int>{0, 2})), bytes);
    c.forgive(4);
    c.add_all(std::tie(m, at, falling),
              {"np.add.reduceat(a, b, 1)", "np.add.reduceat(a, b[::2], 0)", "np.add.reduceat(a.T, c)",
               "np.add.reduceat(a[:, None], [0], -2)", "np.add.reduceat(a * 1j, c, -1)",
               "np.add.reduceat(a.astype('f4'), b, 1)"},
              add_reduceat(m, at, 1), add_reduceat(m, at(slice(none, none, 2)), 0), add_reduceat(transpose(m), falling),
              add_reduceat(expand_dims(m, 1), array<int>{0}, -2),
              add_reduceat(m * std::complex<double>(0, 1), falling, -1), add_reduceat(astype<float>(m), at, 1));
    c.run();
    const auto out_of_range = [&](const array<int>& i) {
        (void)add_reduceat(x, i).eval();
        synchronize();
    };
    CHECK_THROWS_AS(out_of_range({0, 8}), index_error);
    CHECK_THROWS_AS(out_of_range({-1, 2}), index_error);
    CHECK_THROWS_AS((void)add_reduceat(x, array<int>{{0, 1}}), shape_error);
    CHECK_THROWS_AS((void)add_reduceat(x, at, 1), shape_error);
}

TEST_CASE("segments between offsets: sums, extremes and means of each") {
    numpy_cases c;
    c.forgive(4);
    const array<std::int64_t> some{0, 3, 3, 4, 11, 20}, outside{-5, 2, 30, 50}, falling{0, 9, 4, 20}, one{7};
    const array<double> v = drawn<double>({20}, 1);
    const array<std::uint8_t> bytes = drawn<std::uint8_t>({20, 2}, 2);
    const array<float> t = drawn<float>({20, 3, 2}, 3);
    for (const array<std::int64_t>& offsets : {some, outside, falling})
        c.add_all(std::tie(v, offsets), {of_slices("s.sum()"), of_slices("s.sum() / np.float64(len(s))")},
                  segment_sum(v, offsets), segment_mean(v, offsets));
    c.add_all(std::tie(v, some),
              {of_slices("s.max(initial=-np.inf)"), of_slices("s.min(initial=np.inf)"), of_slices("(s > 0).sum()")},
              segment_max(v, some), segment_min(v, some), segment_sum(v > 0, some));
    c.add_all(std::tie(bytes, some),
              {of_slices("s.sum(0)"), of_slices("s.max(0, initial=0)"), of_slices("s.min(0, initial=255)"),
               of_slices("s.sum(0) / np.float64(len(s))")},
              segment_sum(bytes, some), segment_max(bytes, some), segment_min(bytes, some), segment_mean(bytes, some));
    c.add_all(std::tie(t, some),
              {of_slices("s.sum(0, dtype='f8').astype('f4')"),
               "np.array([s.max(0, initial=-np.inf) for s in [a[i:j] for i, j in zip(b[:-1], b[1:])]])",
               of_slices("(s.sum(0, dtype='f8') / len(s)).astype('f4')") + "*2"},
              segment_sum(t, some), segment_max(t, some), segment_mean(t, some) * 2);
    c.add(of_slices("(s * (1 + 2j)).astype('c8').sum(0)"), eval(segment_sum(t * std::complex<float>(1, 2), some)), t,
          some);
    c.run();
    CHECK(segment_sum(v, one).shape() == shape_like(0));
    CHECK(same(segment_sum(zeros({0}), array<int>{0, 0}), {0.0}));
    CHECK(same(segment_max(array<float16>{float16(2.5f), float16(1.5f)}, array<int>{0, 2}), {float16(2.5f)}));
    CHECK(thrown<shape_error>([&] { (void)segment_sum(v, zeros<int>({0})); }) ==
          "[segment_sum] offsets of shape (0,): a vector of one more than there are segments is wanted");
    CHECK_THROWS_AS((void)segment_sum(scalar(1.0), some), shape_error);
}

TEST_CASE("long segments, and many, are few kernels with the same bits in every run") {
    const index_t rows = 50'000;
    const array<double> v = drawn<double>({rows, 3}, 1);
    const array<index_t> offsets{0, 1, 700, 20'000, rows};
    array<double> sums, again;
    CHECK(launches([&] { sums = segment_sum(v, offsets); }) <= 2);
    for (int k = 0; k < 3; ++k) {
        again = segment_sum(v, offsets);
        CHECK(array_equal(sums, again).item());
    }
    const auto part = [&](index_t a, index_t b) { return sum(v(slice(a, b)), 0); };
    CHECK(allclose(sums, stack({part(0, 1), part(1, 700), part(700, 20'000), part(20'000, rows)}), 1e-12).item());
    CHECK(array_equal(segment_max(v, offsets)(3), max(v(slice(20'000, rows)), 0)).item());
    CHECK(launches([&] { (void)segment_max(v, offsets).eval(); }) <= 2);
    CHECK(launches([&] { (void)segment_sum(v, arange<index_t>(rows + 1)).eval(); }) <= 2);
    CHECK(launches([&] { (void)add_reduceat(v, arange<index_t>(rows)).eval(); }) <= 4);
    CHECK(array_equal(add_reduceat(v, arange<index_t>(rows)), v).item());
}
