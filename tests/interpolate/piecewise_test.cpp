// interp and regular_grid_interpolator compared with SciPy's: kinds, axes, values beyond the ends.
#include "tests/arrays/expect.hpp"
#include "tests/interpolate/scipy.hpp"

using namespace ingot;
using interpolate::method;
using testing::increasing;
using testing::numpy_cases;
using testing::places_among;
using testing::values_of;

namespace {

const char* name_of(method m) {
    static const char* const names[] = {"linear", "nearest", "nearest-up", "previous", "next"};
    return names[static_cast<int>(m)];
}

}  // namespace

TEST_CASE("interp is SciPy's interp1d, for every kind, axis and value beyond the ends") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    c.forgive(64);
    unsigned seed = static_cast<unsigned>(test::drawing_seed() % 1000);
    struct fill_case {
        const char* python;
        interpolate::fill fill;
    };
    const fill_case fills[] = {{"np.nan, bounds_error=False", {}},
                               {"(7.5, -2), bounds_error=False", {7.5, -2}},
                               {"'extrapolate'", interpolate::extrapolate}};
    for (const method kind :
         test::drawn({method::linear, method::nearest, method::nearest_up, method::previous, method::next}))
        for (const fill_case& f : fills) {
            ++seed;
            const index_t n = 2 + static_cast<index_t>(seed % 7);
            const array<double> xp = increasing(n, seed), at = places_among(xp, {3, 5}, seed);
            // SciPy's rules that choose a point give that of the last one for NaN.
            const array<double> x = kind == method::linear ? at : array<double>(where(isnan(at), 0.0, at));
            const std::string how = std::string(", kind='") + name_of(kind) + "', fill_value=" + f.python;
            const array<double> fp = values_of<double>({n}, seed), wide = values_of<double>({2, n, 3}, seed);
            c.add("interpolate.interp1d(a, b" + how + ")(c)",
                  interpolate::interp(x, xp, fp, {.kind = kind, .fill_value = f.fill}), xp, fp, x);
            c.add("interpolate.interp1d(a, b, axis=1" + how + ")(c)",
                  interpolate::interp(x, xp, wide, {.kind = kind, .axis = 1, .fill_value = f.fill}), xp, wide, x);
        }
    const array<double> xp{3, 1, 2}, x{1.5, 2.25, 3};
    const auto z = values_of<std::complex<float>>({3}, 4);
    c.add("interpolate.interp1d(a, b.astype('c16'))(c)", interpolate::interp(x, xp, z), xp, z, x);
    const array<int> whole{4, 8, 0};
    c.add("interpolate.interp1d(a, b, kind='nearest')(c).astype('f8')",
          interpolate::interp(x, xp, whole, {.kind = method::nearest}), xp, whole, x);
    const array<double> nothing = zeros(0), no_values = zeros({3, 0});
    c.add("np.zeros(0)", interpolate::interp(nothing, xp, whole));
    c.add("np.zeros((3, 0))", interpolate::interp(x, xp, no_values, {.axis = 0}));
    c.run();
    CHECK(std::isnan(interpolate::interp(array<double>{std::nan("")}, xp, whole, {.kind = method::next}).to_host()[0]));
    CHECK(holds(interpolate::interp(array<double>{0, 1, 2}, array<double>{1}, array<double>{5}, {.fill_value = 9}), {3},
                {9, 5, 9}));
}

TEST_CASE("interp at a point is its value where a neighbour's is infinite, as NumPy's") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    constexpr double inf = std::numeric_limits<double>::infinity();
    const array<double> even{0, 1, 2, 3, 4}, uneven{0, 1, 4, 5, 9}, fp{-inf, 2, inf, inf, 3};
    for (const array<double>& xp : {even, uneven}) {
        const array<double> x = concatenate({xp, array<double>{xp(2).item() + 0.5}});
        c.add("np.interp(c, a, b)", interpolate::interp(x, xp, fp), xp, fp, x);
    }
    c.run();
}

TEST_CASE("regular_grid_interpolator is SciPy's, of one to three axes, in both orders of points") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    c.forgive(64);
    unsigned seed = static_cast<unsigned>(test::drawing_seed() % 1000);
    for (const method m : {method::linear, method::nearest}) {
        const std::string how = std::string(", method='") + name_of(m) + "', bounds_error=False";
        const array<double> x = increasing(5, ++seed), y = increasing(4, ++seed), z = increasing(1, ++seed);
        const array<double> down = -y;
        const auto places = [&](const array<double>& a, const array<double>& b, index_t n) {
            return array<double>(
                stack({array<double>(places_among(a, {n}, ++seed)), array<double>(places_among(b, {n}, ++seed))}, 1));
        };
        const array<double> xy = places(x, down, 40);
        const array<double> flat = values_of<double>({5, 4}, ++seed), deep = values_of<double>({5, 4, 2}, seed);
        c.add("interpolate.RegularGridInterpolator((a, b), c" + how + ", fill_value=3)(d)",
              interpolate::regular_grid_interpolator({x, down}, flat,
                                                     {.method = m, .bounds_error = false, .fill_value = 3})(xy),
              x, down, flat, xy);
        c.add("interpolate.RegularGridInterpolator((a, b), c" + how + ", fill_value=None)(d.reshape(4, 10, 2))",
              interpolate::regular_grid_interpolator(
                  {x, down}, deep, {.method = m, .bounds_error = false, .fill_value = interpolate::extrapolate})(
                  reshape(xy, {4, 10, 2})),
              x, down, deep, xy);
        const array<double> line = places_among(x, {12, 1}, ++seed);
        const auto complex = values_of<std::complex<double>>({5}, ++seed);
        c.add("interpolate.RegularGridInterpolator((a,), b" + how + ")(c)",
              interpolate::regular_grid_interpolator({x}, complex, {.method = m, .bounds_error = false})(line), x,
              complex, line);
        const array<double> four = values_of<double>({5, 4, 4, 4}, ++seed), many = values_of<double>({30, 4}, ++seed);
        c.add(
            "interpolate.RegularGridInterpolator((a, b, b, b), c" + how + ", fill_value=None)(d)",
            interpolate::regular_grid_interpolator(
                {x, y, y, y}, four, {.method = m, .bounds_error = false, .fill_value = interpolate::extrapolate})(many),
            x, y, four, many);
        const array<double> cube = values_of<double>({5, 4, 4, 2}, ++seed),
                            some = array<double>(many(all, slice(0, 3)));
        c.add("interpolate.RegularGridInterpolator((a, b, b), c" + how + ")(d)",
              interpolate::regular_grid_interpolator({x, y, y}, cube, {.method = m, .bounds_error = false})(some), x, y,
              cube, some);
        const array<double> one = values_of<double>({5, 1, 4}, ++seed);
        const array<double> inside{{0.1, z.to_host()[0], -0.5}};
        c.add("interpolate.RegularGridInterpolator((a, [d[0, 1]], b), c" + how + ", fill_value=None)(d)",
              interpolate::regular_grid_interpolator(
                  {x, z, y}, one, {.method = m, .bounds_error = false, .fill_value = interpolate::extrapolate})(inside),
              x, y, one, inside);
    }
    c.run();
}

TEST_CASE("an interpolation is one kernel with the expressions around it") {
    const array<double> xp{0, 1, 3, 4}, fp{1, 5, 2, 3}, even = arange<double>(4), x = linspace(0.0, 3.0, 50);
    const array<double> table = values_of<double>({4, 4}, 1), at = values_of<double>({50, 2}, 2);
    const interpolate::regular_grid_interpolator grid({even, even * 2}, table, {.bounds_error = false}),
        uneven({xp, even}, table, {.bounds_error = false});
    array<double> result;
    const auto kernels = [&](const auto& e) {
        const auto before = counters().kernel_launches;
        result = e;
        return counters().kernel_launches - before;
    };
    CHECK(kernels(interpolate::interp(x * 2 - 1, xp, fp) + 1) == 1);
    CHECK(kernels(interpolate::interp(x * 2 - 1, even, fp, {.kind = method::nearest}) + 1) == 1);
    CHECK(kernels(sqrt(grid(at * 0.5))) == 1);
    CHECK(kernels(sqrt(uneven(at * 0.5))) == 1);
}

TEST_CASE("points and places that do not fit are said") {
    const array<double> three = zeros(3), x{0, 1, 2};
    CHECK_THROWS_WITH_AS(interpolate::interp(three, zeros({2, 2}), three),
                         "[interp] points of shape (2, 2); a vector of at least 1 is wanted", shape_error);
    CHECK_THROWS_WITH_AS(interpolate::interp(three, x, zeros(4)),
                         "[interp] values of shape (4,) for 3 points; as many are wanted along axis 0", shape_error);
    const interpolate::regular_grid_interpolator grid({x, x}, zeros({3, 3}));
    CHECK_THROWS_WITH_AS(grid(zeros({4, 3})),
                         "[regular_grid_interpolator] places of shape (4, 3); a last axis of 2 is wanted, one for each "
                         "axis of the grid",
                         shape_error);
    CHECK_THROWS_WITH_AS(grid(array<double>{{1, 1}, {0, 2.5}}),
                         "[regular_grid_interpolator] place 2.5 along axis 1; the grid goes from 0 to 2", index_error);
    CHECK_THROWS_AS(interpolate::regular_grid_interpolator({three}, zeros(3)), error);
    CHECK_THROWS_AS(interpolate::regular_grid_interpolator({x}, zeros(4)), shape_error);
    CHECK_THROWS_AS(interpolate::regular_grid_interpolator({x}, x, {.method = method::next}), error);
    CHECK_THROWS_AS(interpolate::regular_grid_interpolator({x}, x, {.fill_value = {-1, 1}}), error);
}
