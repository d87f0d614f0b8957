// Grids, triangles, Vandermonde matrices and numbers of places against NumPy 2; that they cost no memory.
#include "tests/arrays/expect.hpp"
#include "tests/joins/numpy_cases.hpp"
#include "tests/walls/count.hpp"

using namespace ingot;
using testing::drawn;
using testing::numpy_cases;

TEST_CASE("grids are NumPy's") {
    numpy_cases c;
    const array<int> v = drawn<int>({3}, 1), w = drawn<int>({4}, 2), u = drawn<int>({2}, 3);
    c.add("np.indices((2, 3, 4))", eval(indices({2, 3, 4})));
    c.add("np.indices((3, 0))", eval(indices({3, 0})));
    c.add("np.indices(())", eval(indices({})).eval());
    c.add("np.indices((1,) * 9)", eval(indices({1, 1, 1, 1, 1, 1, 1, 1, 1})));
    c.add("np.mgrid[0:5]", mgrid(slice(0, 5)));
    c.add("np.mgrid[-1:3, 7:2:-2]", eval(mgrid(slice(-1, 3), slice(7, 2, -2))));
    c.add("np.mgrid[:2, 0:0]", eval(mgrid(slice(none, 2), slice(0, 0))));
    const auto [y, x] = ogrid(slice(0, 3), slice(1, 9, 3));
    c.add("np.ogrid[0:3, 1:9:3][0]", y);
    c.add("np.ogrid[0:3, 1:9:3][1]", x);
    c.add("np.ogrid[2:6]", ogrid(slice(2, 6)));
    const auto [rows, columns] = ix_(v, w);
    c.add("np.ix_(a, b)[0]", rows, v, w);
    c.add("np.ix_(a, b)[1]", columns, v, w);
    const auto grids = [&](const std::string& options, const auto& made) {
        std::apply(
            [&](const auto&... grid) {
                int k = 0;
                (c.add("np.meshgrid(a, b, c" + options + ")[" + std::to_string(k++) + "]", grid, v, w, u), ...);
            },
            made);
    };
    c.add("np.meshgrid(a)[0]", std::get<0>(meshgrid(v)), v);
    c.add("np.meshgrid(a, sparse=True)[0]", std::get<0>(meshgrid(v, sparse_grid)), v);
    grids("", meshgrid(v, w, u));
    grids(", indexing='ij'", meshgrid(v, w, u, ij_indexing));
    grids(", sparse=True", meshgrid(v, w, u, sparse_grid));
    grids(", sparse=True, indexing='ij'", meshgrid(v, w, u, ij_indexing, sparse_grid));
    c.add("np.fromfunction(lambda i, j: i * 3 + j, (3, 4))",
          eval(fromfunction([](const auto& i, const auto& j) { return i * 3 + j; }, {3, 4})));
    c.add("np.fromfunction(lambda i: i == 2, (5,), dtype='i4')",
          eval(fromfunction<int>([](const auto& i) { return i == 2; }, {5})));
    c.run();
}

TEST_CASE("grids of floats are NumPy's") {
    numpy_cases c;
    c.forgive(4);
    c.add("np.mgrid[0:1:0.25]", eval(mgrid(grid_steps(0, 1, 0.25))));
    c.add("np.mgrid[0.5:3.2]", eval(mgrid(grid_steps(0.5, 3.2))));
    c.add("np.mgrid[2:-1:-0.7]", eval(mgrid(grid_steps(2, -1, -0.7))));
    c.add("np.mgrid[-1:1:5j]", eval(mgrid(grid_points(-1, 1, 5))));
    c.add("np.mgrid[-1:1:1j]", eval(mgrid(grid_points(-1, 1, 1))));
    c.add("np.mgrid[0:1:0.3, 2:5]", eval(mgrid(grid_steps(0, 1, 0.3), slice(2, 5))));
    c.add("np.mgrid[-1:1:4j, 3:1:-0.5, 1:9:4]",
          eval(mgrid(grid_points(-1, 1, 4), grid_steps(3, 1, -0.5), slice(1, 9, 4))));
    const auto [y, x] = ogrid(grid_points(0, 1, 3), slice(0, 4));
    c.add("np.ogrid[0:1:3j, 0:4][0]", eval(y));
    c.add("np.ogrid[0:1:3j, 0:4][1]", eval(x));
    c.add("np.ogrid[1:0:0.5]", eval(ogrid(grid_steps(1, 0, 0.5))));
    c.run();
    CHECK(launches([&] { eval(sqrt(mgrid(grid_points(0, 1, 30), grid_steps(0, 1, 0.1)))); }) == 1);
    CHECK_THROWS_AS((void)mgrid(grid_steps(0, 1, 0)), shape_error);
    CHECK_THROWS_AS((void)mgrid(grid_steps(0, std::numeric_limits<double>::infinity(), 1)), shape_error);
    CHECK(thrown<shape_error>([] { (void)mgrid(grid_points(0, 1, -2)); }) ==
          "[mgrid] -2 points: a number that is not negative is wanted");
    CHECK_THROWS_AS((void)ogrid(grid_points(0, 1, 2), slice(0, none)), index_error);
}

TEST_CASE("grids cost no memory") {
    const auto allocated = [](const auto& e) {
        const auto before = counters().bytes_allocated;
        const auto total = sum(e).eval();
        return counters().bytes_allocated - before;
    };
    CHECK(allocated(ogrid(slice(0, 1 << 20)) * 2) < 1 << 16);
    const auto grid = meshgrid(arange(3), arange(4), sparse_grid);
    CHECK(launches([&] { eval(std::get<0>(grid) * 10 + std::get<1>(grid)); }) == 1);
    CHECK(launches([&] { eval(indices({30, 40}) * 2); }) == 1);
    CHECK(launches([&] { (void)mgrid(slice(0, 30), slice(0, 40)); }) == 0);
    CHECK(launches([&] { eval(fromfunction([](const auto& i, const auto& j) { return sqrt(i * j); }, {30, 40})); }) ==
          1);
}

TEST_CASE("triangles are NumPy's") {
    numpy_cases c;
    const array<double> m = drawn<double>({4, 5}, 1), t = drawn<double>({2, 3, 3}, 2), v = drawn<double>({3}, 3);
    const array<bool> b = drawn<bool>({3, 4}, 4);
    for (const index_t k : {-9, -1, 0, 2, 9}) {
        const std::string at = ", " + std::to_string(k) + ")";
        c.add_all(std::tie(m, t, v, b),
                  {"np.tril(a" + at, "np.triu(a" + at, "np.tril(b" + at, "np.triu(c" + at, "np.triu(d" + at},
                  tril(m, k), triu(m, k), tril(t, k), triu(v, k), triu(b, k));
    }
    c.add("np.tril(a * 2) + np.triu(a.T[:4])[:, :1]",
          eval(tril(m * 2) + triu(transpose(m)(slice(0, 4)))(all, slice(0, 1))), m);
    c.add("np.diagflat(a, 2)", diagflat(b, 2), b);
    c.add("np.diagflat(a * 2, -1)", diagflat(v * 2, -1), v);
    c.run();
    CHECK(launches([&] { eval(tril(m * 2) + 1); }) == 1);
}

TEST_CASE("Vandermonde matrices are NumPy's") {
    numpy_cases c;
    const array<int> i = drawn<int>({4}, 1);
    const array<float> f = drawn<float>({3}, 2) / 4;
    const array<std::uint8_t> u{2, 255};
    c.add_all(std::tie(i, f, u),
              {"np.vander(a)", "np.vander(a, 6, True)", "np.vander(b)", "np.vander(b * 1.1, 4)", "np.vander(a, 0)",
               "np.vander(c, 40)", "np.vander(a, 1)"},
              vander(i), vander(i, 6, true), vander(f), vander(f * 1.1, 4), vander(i, 0), vander(u, 40), vander(i, 1));
    c.forgive(8);
    const array<std::complex<double>> z = drawn<std::complex<double>>({4}, 3);
    c.add("np.vander(a)", eval(vander(z)), z);
    c.run();
}

TEST_CASE("numbers of places are NumPy's") {
    numpy_cases c;
    const array<int> places{{0, 5, 23}, {7, 11, 12}};
    const auto [i, j, k] = unravel_index(places, {2, 3, 4});
    c.add("np.unravel_index(a, (2, 3, 4))[0]", eval(i), places);
    c.add("np.unravel_index(a, (2, 3, 4))[1]", eval(j), places);
    c.add("np.unravel_index(a, (2, 3, 4))[2]", eval(k), places);
    const array<int> y{1, 0, 1}, x{2, 2, 0}, far{-5, 9, 4};
    c.add_all(std::tie(y, x, far),
              {"np.ravel_multi_index((a, b), (2, 3))", "np.ravel_multi_index((a, c), (2, 3), mode='wrap')",
               "np.ravel_multi_index((a, c), (2, 3), mode='clip')", "np.ravel_multi_index((a[:, None], b), (2, 3))"},
              ravel_multi_index(std::tuple{y, x}, {2, 3}),
              ravel_multi_index<index_mode::wrap>(std::tuple{y, far}, {2, 3}),
              ravel_multi_index<index_mode::clip>(std::tuple{y, far}, {2, 3}),
              ravel_multi_index(std::tuple{y(all, newaxis), x}, {2, 3}));
    const array<double> m = drawn<double>({3, 4}, 5);
    const auto found = unravel_index(argmax(m), m.shape());
    REQUIRE(found.size() == 2);
    c.add("np.unravel_index(a.argmax(), a.shape)[0]", eval(found[0]), m);
    c.add("np.unravel_index(a.argmax(), a.shape)[1]", eval(found[1]), m);
    c.run();
    CHECK(unravel_index(17, {2, 3, 4}) == std::array<index_t, 3>{1, 1, 1});
}

TEST_CASE("grids and places that there are not throw and say why") {
    const array<int> m = counted({2, 3}), v = counted({3});
    CHECK(thrown<index_error>([] { (void)mgrid(slice(1)); }) ==
          "[mgrid] a slice without an end: slice(start, stop, step)");
    CHECK_THROWS_AS((void)ogrid(slice(0, 5, 0), slice(0, 2)), shape_error);
    CHECK_THROWS_AS((void)indices({2, -1}), shape_error);
    CHECK(thrown<shape_error>([&] { (void)ix_(m, v); }) == "[ix_] wants an operand of rank 1, given one of rank 2");
    CHECK_THROWS_AS((void)tril(scalar(1)), shape_error);
    CHECK_THROWS_AS((void)vander(m), shape_error);
    CHECK_THROWS_AS((void)vander(v, -1), shape_error);
    CHECK(thrown<index_error>([] { (void)unravel_index(24, {2, 3, 4}); }) ==
          "[unravel_index] index 24 is outside shape (2, 3, 4)");
    CHECK(thrown<shape_error>([&] { (void)ravel_multi_index(std::tuple{v, v}, {2, 3, 4}); }) ==
          "[ravel_multi_index] 2 indices for shape (2, 3, 4)");
}
