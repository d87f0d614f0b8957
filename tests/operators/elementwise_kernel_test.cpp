// Elementwise functions that a user gives as text.
#include <doctest/doctest.h>

#include "tests/arrays/expect.hpp"
#include "tests/walls/count.hpp"

using namespace ingot;

namespace {

void check_has(const std::string& log, const char* part) {
    CHECK_MESSAGE(log.find(part) != std::string::npos, part, " is not in:\n", log);
}

}  // namespace

TEST_CASE("a call of an elementwise kernel fuses with what is around it, and with other calls") {
    const elementwise_kernel<"T x, T y", "T z"> k("if (x - 2 > y) z = x * y; else z = x + y;", "pick");
    const array<float> x = arange<float>(1000), y = x % 7;
    array<float> r;
    CHECK(launches([&] { r = k(k(x, y) + 1, 2) - x; }) == 1);
    const auto pick = [](const auto& a, const auto& b) { return where(a - 2 > b, a * b, a + b); };
    CHECK(all(r == pick(pick(x, y) + 1, 2.0f) - x).item());
    CHECK(sum(k(x, y)).item() == sum(pick(x, y)).item());
    CHECK(holds(k(x, reshape(arange<float>(2), {2, 1}))(all, 3), {2}, {0, 4}));
}

TEST_CASE("types are told by letters or by name, and several outputs are a tuple") {
    const elementwise_kernel<"T x, U y, int32 n", "U z, int64 w, T v"> k(
        "z = x + y * n; w = i + 100 * _ind.size(); v = x;  // all three", "three");
    const array<int> x{1, 2, 3};
    const array<double> y{0.5, 1.5, 2.5};
    auto [z, w, v] = eval(k(x, y, 2));
    CHECK(holds(z, {3}, {2, 5, 8}));
    CHECK(holds(w, {3}, {300, 301, 302}));
    CHECK(holds(v, {3}, {1, 2, 3}));
    static_assert(!std::is_invocable_v<decltype(k), array<int>, array<double>, array<float>>);
    static_assert(!std::is_invocable_v<decltype(k), int, double, int>);
}

TEST_CASE("a raw array is read anywhere, takes no part in broadcasting, and may be what is written") {
    const elementwise_kernel<"T x, raw T y", "T z"> backwards("z = x + y[_ind.size() - i - 1];", "add_reversed");
    const array<double> x = arange<double>(2000), small{1, 2};
    CHECK(all(backwards(x, x) == 1999).item());
    CHECK(all(sqrt(backwards(x, x * 1.0) - 1998) == 1).item());  // beside what vectors compute
    CHECK(sum(backwards(x, x)).item() == 1999.0 * 2000);
    CHECK(holds(backwards(small, x(slice(none, none, 3))), {2}, {4, 2}));
    CHECK(holds(backwards(small, small)(slice(none, none, -1)), {2}, {3, 3}));
    const elementwise_kernel<"raw T table, int64 at", "T z"> look_up("z = at < table.size() ? table[at] : -1;",
                                                                     "look_up");
    CHECK(holds(look_up(small, array<std::int64_t>{{1, 0}, {5, 1}}), {2, 2}, {2, 1, -1, 2}));
    CHECK(holds(look_up(zeros<double>(0), array<std::int64_t>{0}), {1}, {-1}));
    array<double> own{1, 2, 3};
    own = backwards(own, own);
    CHECK(holds(own, {3}, {4, 4, 4}));
    CHECK(holds(lazy<double>(backwards(small, small)) + 1, {2}, {4, 4}));
    own = array<double>{1, 2, 4};
    own = lazy<double>(backwards(own, own));
    CHECK(holds(own, {3}, {5, 4, 5}));
}

TEST_CASE("a text calls functions of the C library, which the library's own functions may call too") {
    const elementwise_kernel<"T x", "T y"> all_of_them(
        "y = acos(x) + acosh(x + 1) + asin(x) + asinh(x) + atan(x) + atanh(x) + cbrt(x) + cosh(x) + sinh(x) + "
        "lgamma(x) + tgamma(x) + fabs(x) + fmax(x, 0) + fmin(x, 0) + round(x) + trunc(x) + nearbyint(x) + cbrtf(x);",
        "all_of_them");
    const array<double> x{0.25, 0.75};
    const auto by_rows = arccos(x) + arccosh(x + 1) + arcsin(x) + arcsinh(x) + arctan(x) + arctanh(x) + 2 * cbrt(x) +
                         cosh(x) + sinh(x) + lgamma(x) + tgamma(x) + 2 * x + 2 * rint(x);
    CHECK(allclose(all_of_them(x), by_rows, 1e-6).item());
    CHECK(allclose(all_of_them(x) + lgamma(x) + cosh(x), by_rows + lgamma(x) + cosh(x), 1e-6).item());
}

TEST_CASE("a text that is no C++ says so with its log, and a call that does not fit at once") {
    const elementwise_kernel<"T x", "T z"> bad("z = x +;", "bad");
    CHECK_THROWS_AS((void)eval(bad(array<float>{1})), compile_error);
    const elementwise_kernel<"T x, T y", "T z"> add("z = x + y", "add");
    CHECK_THROWS_AS((void)add(array<float>{1, 2}, array<float>{1, 2, 3}), shape_error);
    CHECK(holds(add(array<float>{1, 2}, 3), {2}, {4, 5}));
    CHECK_THROWS_AS((elementwise_kernel<"T x", "T z">("z = x", "not a name")), error);
}

TEST_CASE("a text that does not set its outputs is refused when the kernel is made, and one with a zero byte") {
    using namespace std::string_view_literals;
    using one = elementwise_kernel<"T x", "T z">;
    const std::string unset =
        "[kernel] the text of 'kernel' does not set the output 'z': statements that set (T z) are wanted, \"z = ...\"";
    for (const std::string_view text : {""sv, " ;\n"sv, "x * x"sv, "zz = x"sv})
        CHECK_THROWS_WITH_AS((void)one(text), unset.c_str(), error);
    using two = elementwise_kernel<"T x", "T y, T z">;
    CHECK_THROWS_WITH_AS((void)two("z = x"), doctest::Contains("does not set the output 'y'"), error);
    CHECK_THROWS_WITH_AS((void)one("z = x;\0 z = 2 * x;"sv, "cut"),
                         "[kernel] a text of 'cut' has a zero byte behind 6 characters", error);
}

TEST_CASE("what a compiler does not like in a text is told by the text's own line") {
    const auto log_of = [](const auto& e) -> std::string {
        try {
            (void)eval(e);
        } catch (const compile_error& reason) {
            CHECK(std::string(reason.what()).find(reason.log()) != std::string::npos);
            return reason.log();
        }
        return "it compiled";
    };
    const array<float> x{1, 2, 3};
    const elementwise_kernel<"T x", "T z"> bad("T a = x;\nT b = a;\nz = nonsense;", "third_line");
    check_has(log_of(bad(x)), "line 3 of the text of third_line: ");
    check_has(log_of(bad(x) + 1), "line 3 of the text of third_line: ");
    const elementwise_kernel<"T x", "T z"> directive("#define A x\nz = A + nonsense;", "directive");
    check_has(log_of(directive(x)), "line 2 of the text of directive: ");
    const elementwise_kernel<"T x", "T y, T z"> both("y = x;\nz = nonsense;", "both");
    check_has(log_of(std::get<1>(both(x))), "line 2 of the text of both: ");
    using reduction = reduction_kernel<"T x", "T y">;
    check_has(log_of(reduction("x * nonsense", "a + b", "y = a", "0", "in_map")(x)), "line 1 of the map of in_map: ");
    check_has(log_of(reduction("x", "a +\nnonsense", "y = a", "0", "in_join")(x)), "line 2 of the join of in_join: ");
    check_has(log_of(reduction("x", "a + b", "y = a;\n\ny = nonsense", "0", "in_post")(x)),
              "line 3 of the post of in_post: ");
    // Another text of the same name is not meant.
    const elementwise_kernel<"T x", "T z"> first("z =\nx;", "same"), second("z =\n\nnonsense;", "same");
    check_has(log_of(second(first(x))), "line 3 of the text of same: ");
}

TEST_CASE("CuPy's documented examples run, their text unchanged") {
    const array<float> x = reshape(arange<float>(10), {2, 5}), y = arange<float>(5);
    const auto expected = (x - y) * (x - y);
    const elementwise_kernel<"float32 x, float32 y", "float32 z"> squared_diff("z = (x - y) * (x - y)", "squared_diff");
    const elementwise_kernel<"T x, T y", "T z"> squared_diff_generic(R"(
        T diff = x - y;
        z = diff * diff;
    )",
                                                                     "squared_diff_generic");
    const elementwise_kernel<"X x, Y y", "Z z"> squared_diff_super_generic("z = (x - y) * (x - y)",
                                                                           "squared_diff_super_generic");
    const elementwise_kernel<"T x, raw T y", "T z"> add_reverse("z = x + y[_ind.size() - i - 1]", "add_reverse");
    const reduction_kernel<"T x", "T y"> l2norm_kernel("x * x", "a + b", "y = sqrt(a)", "0", "l2norm");
    CHECK(all(squared_diff(x, y) == expected).item());
    CHECK(all(squared_diff(x, 5) == (x - 5) * (x - 5)).item());
    CHECK(all(squared_diff_generic(x, y) == expected).item());
    CHECK(all(squared_diff_generic(astype<double>(x), 5) == (astype<double>(x) - 5) * (astype<double>(x) - 5)).item());
    array<double> z = empty({2, 5});
    CHECK(launches([&] { squared_diff_super_generic(x, astype<int>(y), out(z)); }) == 1);
    CHECK(all(z == expected).item());
    CHECK(all(add_reverse(y, y) == 4).item());
    CHECK(allclose(l2norm_kernel(x, 1), sqrt(sum(x * x, 1))).item());
    // The type of Z only an output decides.
    static_assert(!std::is_invocable_v<decltype(squared_diff_super_generic), array<float>, array<float>>);
}

TEST_CASE("where all arrays are raw a size says how many elements there are") {
    const elementwise_kernel<"raw T x, raw T y, T by", "T z, int64 w"> pairs(
        "z = x[2 * i] + by * y[i]; w = _ind.size();", "pairs");
    const array<double> x = arange<double>(12), y = ones<double>(6);
    auto [z, w] = eval(pairs(x, y, 3, of_size(5)));
    CHECK(holds(z, {5}, {3, 5, 7, 9, 11}));
    CHECK(holds(w, {5}, {5, 5, 5, 5, 5}));
    array<double> to = zeros<double>(6);
    array<float> narrow = zeros<float>(6);
    pairs(x, y, 0, out(to), out(narrow), of_size(6));
    CHECK(all(to == 2 * arange<double>(6)).item());
    CHECK(all(narrow == 6).item());
    using kernel = decltype(pairs);
    static_assert(!std::is_invocable_v<kernel, array<double>, array<double>, int>);  // no size
    const elementwise_kernel<"T x, raw T y", "T z"> mixed("z = x + y[i]", "mixed");
    static_assert(!std::is_invocable_v<decltype(mixed), array<double>, array<double>, of_size>);
    CHECK_THROWS_AS(of_size(-1), shape_error);
    CHECK(eval(std::get<0>(pairs(x, y, 3, of_size(0)))).size() == 0);
}

TEST_CASE("a kernel has no arguments, or numbers alone, where a size says how many elements there are") {
    const elementwise_kernel<"", "int64 y, float z"> numbered("y = i * i; z = _ind.size();", "numbered");
    auto [y, z] = eval(numbered(of_size(4)));
    CHECK(holds(y, {4}, {0, 1, 4, 9}));
    CHECK(holds(z, {4}, {4, 4, 4, 4}));
    CHECK(holds(std::get<0>(numbered(of_size(3))) + array<std::int64_t>{{10}, {20}}, {2, 3}, {10, 11, 14, 20, 21, 24}));
    const elementwise_kernel<"T by", "T y"> multiples("y = i * by", "multiples");
    CHECK(holds(multiples(0.5, of_size(3)), {3}, {0, 0.5, 1}));
    array<double> to = zeros<double>(3);
    multiples(2.0, out(to), of_size(3));
    CHECK(holds(to, {3}, {0, 2, 4}));
    static_assert(!std::is_invocable_v<decltype(numbered)>);
    static_assert(!std::is_invocable_v<decltype(multiples), double>);
    CHECK(eval(multiples(1.0, of_size(0))).size() == 0);
}

TEST_CASE("a raw array has its shape, its strides and elements at several indices") {
    const elementwise_kernel<"raw T x", "T y, int64 of_shape"> by_columns(
        "const long long rows = x.shape()[0], ij[] = {i % rows, i / rows};\n"
        "y = x[ij] + 100 * x(ij[0], ij[1]);\n"
        "of_shape = x.ndim * 10000 + x.shape()[1] * 1000 + x.strides()[0];",
        "by_columns");
    const array<int> m{{1, 2, 3}, {4, 5, 6}};
    auto [y, of_shape] = eval(by_columns(m, of_size(6)));
    CHECK(holds(y, {6}, {101, 404, 202, 505, 303, 606}));
    CHECK(all(of_shape == 23012).item());
    auto [turned, of_turned] = eval(by_columns(transpose(m), of_size(6)));  // becomes C order
    CHECK(holds(turned, {6}, {101, 202, 303, 404, 505, 606}));
    CHECK(all(of_turned == 22008).item());
    auto [part, of_part] = eval(by_columns(m(slice(1, none), slice(1, none)), of_size(2)));
    CHECK(holds(part, {2}, {505, 606}));
    CHECK(all(of_part == 22008).item());
    const elementwise_kernel<"raw T a, raw T b", "int64 y"> of_two("y = a.ndim * 100 + b.ndim * 10 + b(5)", "of_two");
    CHECK(holds(of_two(m, reshape(m, {6}), of_size(1)), {1}, {216}));  // one buffer, two shapes
    CHECK_THROWS_WITH_AS((void)by_columns(zeros<int>({1, 1, 1, 1, 1, 1, 1, 1, 1}), of_size(1)),
                         "[by_columns] a raw array has up to 8 axes, got 9: reshape(x, {-1}) has one", shape_error);
}

TEST_CASE("a raw output is written at any index, and keeps what is not written") {
    const elementwise_kernel<"int32 at, T value", "raw T to"> put_at("to[at] = value", "put_at");
    array<float> to{1, 2, 3, 4}, before = to;
    const array<int> at{3, 0};
    const array<float> values{8, 9};
    CHECK(launches([&] { put_at(at, values, out(to)); }) == 1);
    CHECK(holds(to, {4}, {9, 2, 3, 8}));
    CHECK(holds(before, {4}, {1, 2, 3, 4}));
    put_at(array<int>{{1}, {2}}, array<float>{4} + 1, out(to));  // evaluated first
    CHECK(holds(to, {4}, {9, 5, 5, 8}));

    // The values are those before the statement, though they are the array's own.
    const elementwise_kernel<"raw T from", "raw T to"> reversed_into("to[_ind.size() - 1 - i] = from[i]",
                                                                     "reversed_into");
    reversed_into(to, out(to), of_size(4));
    CHECK(holds(to, {4}, {8, 5, 5, 9}));
    array<float> m{{1, 2}, {3, 4}};
    const elementwise_kernel<"T x", "raw T m"> to_diagonal("m(i, i) = x", "to_diagonal");
    to_diagonal(m(0), out(m));
    CHECK(holds(m, {2, 2}, {1, 2, 3, 2}));
    array<float> turned = transpose(m);
    to_diagonal(array<float>{8, 9}, out(turned));
    CHECK(holds(turned, {2, 2}, {8, 3, 2, 9}));
    CHECK(holds(m, {2, 2}, {1, 2, 3, 2}));

    // Several elements write one place; a text that does not use `i` still runs once for each.
    const elementwise_kernel<"T x", "raw T sums, raw int64 counts"> gather_up(
        "const int bin = int(x); atomicAdd(&sums[bin], x); atomicAdd((unsigned long long*)&counts[bin], 1ull);",
        "gather_up");
    const array<double> x = eval(arange<double>(300000) % 3 + 0.25);
    array<double> sums = zeros<double>(3);
    array<std::int64_t> counts = zeros<std::int64_t>(3);
    CHECK(launches([&] { gather_up(x, out(sums), out(counts)); }) == 1);
    CHECK(holds(sums, {3}, {25000, 125000, 225000}));
    CHECK(holds(counts, {3}, {100000, 100000, 100000}));
    array<int> calls = zeros<int>(1);
    const elementwise_kernel<"", "raw int32 n"> counted_calls("atomicAdd(&n[0], 1)", "counted_calls");
    counted_calls(out(calls),
                  of_size(1234567));  // by several threads, if they were not one after the other on the host
    CHECK(calls(0).item() == 1234567);
    array<int> more = zeros<int>(1);
    const elementwise_kernel<"int32 by", "raw int32 n, raw int32 m"> counted_twice("n[0] += by; m[0] -= by;",
                                                                                   "counted_twice");
    counted_twice(2, out(calls), out(more), of_size(1));
    CHECK(calls(0).item() == 1234569);
    CHECK(more(0).item() == -2);
    const elementwise_kernel<"int32 by", "raw int32 n, raw int32 m"> added_twice(
        "atomicAdd(&n[0], by); atomicSub(&m[0], by);", "added_twice");
    added_twice(2, out(calls), out(more), of_size(1000));
    CHECK(calls(0).item() == 1236569);
    CHECK(more(0).item() == -2002);

    // Beside a raw output another one is written as ever.
    const elementwise_kernel<"T x, raw T table", "T y, raw int64 used"> used("y = table[int(x)]; used[int(x)] = i + 1;",
                                                                             "used");
    array<double> y = zeros<double>({1, 2});
    array<std::int64_t> seen = zeros<std::int64_t>(4);
    used(array<double>{{2, 0}}, array<double>{10, 20, 30, 40}, out(y), out(seen));
    CHECK(holds(y, {1, 2}, {30, 10}));
    CHECK(holds(seen, {4}, {2, 0, 1, 0}));
    put_at(zeros<int>(0), 1, out(to));
    CHECK(holds(to, {4}, {8, 5, 5, 9}));
    CHECK_THROWS_AS(used(array<double>{{2, 0}}, array<double>{10, 20, 30}, out(sums), out(seen)), shape_error);
    CHECK(holds(seen, {4}, {2, 0, 1, 0}));  // not written
    array<float> narrow = zeros<float>({1, 2});
    used(array<double>{{1, 0}}, array<double>{10, 20}, out(narrow), out(seen));
    CHECK(holds(narrow, {1, 2}, {20, 10}));

    // Neither rare values nor random numbers run the text more often.
    array<int> runs = zeros<int>(1);
    const elementwise_kernel<"T x", "raw int32 n"> count_runs("if (x == x || x != x) atomicAdd(&n[0], 1)",
                                                              "count_runs");
    const array<double> zero = arange<double>(5) * 0;
    count_runs(zero / zero, out(runs));
    count_runs(random::uniform<double>({7}), out(runs));
    CHECK(runs(0).item() == 12);

    // Memory that is not Ingot's is written where it is, and read before.
    std::vector<float> mine{1, 2, 3, 4, 5, 6, 7, 8};
    array<float> over = asarray<float>(unowned_memory(mine.data(), 16), {4});
    const elementwise_kernel<"T x", "raw T to"> reverse("to[_ind.size() - 1 - i] = x", "reverse");
    reverse(over, out(over));
    CHECK(mine == std::vector<float>{4, 3, 2, 1, 5, 6, 7, 8});
    array<float> strided = asarray<float>(unowned_memory(mine.data(), 32), {4}, {8});
    CHECK_THROWS_AS(put_at(array<int>{1}, 9, out(strided)), shape_error);
    array<float> nothing;
    CHECK_THROWS_WITH_AS(put_at(array<int>{0}, 1, out(nothing)), "[put_at] a raw output has no elements to write",
                         shape_error);
    static_assert(!std::is_invocable_v<decltype(put_at), array<int>, array<float>>);
    static_assert(!std::is_invocable_v<decltype(put_at), array<int>, array<float>, decltype(out(sums))>);  // a double
    static_assert(!std::is_invocable_v<decltype(put_at), array<int>, array<float16>,
                                       decltype(out(std::declval<array<float16>&>()))>);
}

TEST_CASE("a preamble has functions and types that the text uses, and its lines are told apart") {
    constexpr const char* functions =
        "struct pair { double a, b; };\n"
        "template <class T> __device__ T cube(T v) { return v * v * fabs(v); }\n"
        "__device__ __forceinline__ double total(pair p) { return p.a + p.b; }";
    const elementwise_kernel<"T x", "T y"> k("y = total(pair{cube(x), 1})", "cubes", functions);
    const array<double> x{1, 2, -3};
    CHECK(holds(k(x) + k(x + 0), {3}, {4, 18, 56}));
    const elementwise_kernel<"T x", "T y"> plain("y = x", "cubes");
    CHECK(holds(plain(x) + k(x), {3}, {3, 11, 25}));
    const reduction_kernel<"T x", "T y"> largest("size_of(x)", "a > b ? a : b", "y = a", "0", "largest",
                                                 "__device__ double size_of(double v) { return v < 0 ? -v : v; }");
    CHECK(largest(x).item() == 3);
    const elementwise_kernel<"T x", "T y"> bad("y = twice(x)", "bad_preamble",
                                               "// doubles\n__device__ double twice(double v) { return v *; }");
    try {
        (void)eval(bad(x));
        CHECK(false);
    } catch (const compile_error& e) {
        check_has(e.what(), "line 2 of the preamble of bad_preamble");
    }
}

TEST_CASE("a reduction's partial results have a type of their own, and its post knows the counts") {
    const reduction_kernel<"T x", "float y", "double"> middle(
        "x", "a + b", "y = a / (_in_ind.size() / _out_ind.size())", "0", "middle");
    const array<float> m{{3, 4}, {6, 8}};
    CHECK(holds(middle(m, 1), {2}, {3.5, 7}));
    CHECK(holds(middle(m, 0) + 1, {2}, {5.5, 7}));
    CHECK(middle(m).item() == 5.25f);
    const array<float> small = full<float>({1 << 20}, 0.1f);  // summed in float64
    CHECK(middle(small).item() == 0.1f);
    const reduction_kernel<"T x, U y", "int64 z", "U"> product("x * y", "a + b", "z = a * 2", "0", "doubled_product");
    CHECK(product(array<float>{1, 2}, array<double>{3, 4.25}).item() == 23);
    const reduction_kernel<"T x", "T y"> plain("x", "a + b", "y = a", "0", "plain");
    CHECK(holds(plain(m, 1) + middle(m, 1), {2}, {10.5, 21}));
}
