// Reductions given as text: their results, fusion, that their whole text is in the key, and the error for a text that
// does not compile.
#include <cmath>
#include <cstdlib>

#include "codegen/plan/schedule.hpp"
#include "codegen/text/user_text.hpp"
#include "runtime/kernels/compile.hpp"
#include "runtime/kernels/nvrtc.hpp"
#include "tests/arrays/expect.hpp"
#include "tests/reductions/comparison.hpp"
#include "tests/untested.hpp"
#include "tests/walls/count.hpp"

using namespace ingot;

namespace {

const reduction_kernel<"T x", "T y"> l2("x * x", "a + b", "y = sqrt(a)", "0", "l2");

template <class E>
std::size_t steps(const E& e) {
    return explain(e).kernels.size();
}

}  // namespace

TEST_CASE("a reduction kernel is the reduction it says, over axes of every kind") {
    testing::comparison c;
    const array<double> x = reshape(sin(arange<double>(3 * 40 * 50) * 0.37), {3, 40, 50});
    const array<float> y = x, columns = x(0), line = reshape(x, {-1});
    c.add("norm", {}, x, eval(l2(x)));
    c.add("norm", axes(1), y, eval(l2(y, 1)));
    c.add("norm", axes(0), columns, eval(l2(columns, 0)));
    c.add("norm", axes{0, -1}, x, eval(l2(x, {0, -1})));
    testing::over kept(axes{-1, 1});
    kept.keep = true;
    c.add("norm", kept, y, eval(l2(y, {-1, 1}, keepdims)));
    c.add("norm", kept, y, eval(l2(y, axes{-1, 1}, keepdims)));
    const array<float> lines = broadcast_to(line, {2, 6000}) + 0.f;
    c.add("norm", {}, lines, eval(l2(lines)));
    c.run();
    const array<float> one{3}, nothing = zeros<float>({0, 4});
    CHECK(l2(one).item() == 3);
    CHECK(holds(eval(l2(nothing, 0)), {4}, {0, 0, 0, 0}));
    CHECK(l2(full<double>({}, -2.0)).item() == 2);
    CHECK(l2(transpose(y)(all, 2, slice(1, 3)), 0).shape() == shape_like{2});
}

TEST_CASE("it reduces integers of every size, along rows and columns of every length") {
    const auto check = [](auto zero) {
        using T = decltype(zero);
        const reduction_kernel<"T x", "T y"> total("x", "a + b", "y = a", "0", "total");
        for (const index_t n : {2, 20, 33, 257, 6000}) {
            const array<T> x = astype<T>(reshape(arange<int>(3 * n), {3, n}) % 5);
            CHECK(array_equal(total(x, 1), astype<T>(sum(x, 1))).item());
            CHECK(array_equal(total(transpose(x), 0), astype<T>(sum(x, 1))).item());
            CHECK(array_equal(x - total(x, 1, keepdims), x - astype<T>(sum(x, 1, keepdims))).item());
        }
    };
    check(std::int8_t{0});
    check(std::uint16_t{0});
    check(std::int32_t{0});
    check(std::uint32_t{0});
    check(std::int64_t{0});
}

TEST_CASE("it fuses with what is around it, and a lazy takes it") {
    const array<float> x = sin(arange<float>(9000)), m = reshape(x, {90, 100});
    const auto e = 2 * l2(x - 1) + 1;
    CHECK(steps(e) == 1);
    CHECK(launches([&] { (void)eval(e); }) == 1);
    CHECK(e.item() == doctest::Approx(2 * norm(x - 1).item() + 1));
    CHECK(steps(l2(m, 1) / sum(m * m, 1)) == 1);
    CHECK(allclose(eval(m / l2(m, 1, keepdims)), eval(m / norm(m, 1, keepdims))).item());
    const lazy<float> l = l2(m, 0) * 2;
    CHECK(allclose(eval(l + 1), eval(norm(m, 0) * 2 + 1)).item());
    const auto [a, b] = eval(l2(m, 1), max(m, 1));
    CHECK(allclose(a, norm(m, 1)).item());
    CHECK(array_equal(b, max(m, 1)).item());
}

TEST_CASE("it reduces what another reduction was broadcast into, of up to eight operands") {
    const reduction_kernel<"T a, T b, T c, T d, T e, T f, T g, T h", "T y"> sum_of_eight(
        "a + b + c + d + e + f + g + h", "a + b", "y = a", "0", "sum_of_eight");
    const array<double> m = reshape(sin(arange<double>(90 * 100)), {90, 100}), line = sum(m, 1);
    const array<double> far = m - eval(mean(m, 1, keepdims)), least = min(line);
    CHECK(allclose(eval(l2(m - mean(m, 1, keepdims), 1)), norm(far, 1)).item());
    CHECK(steps(l2(m - mean(m, 1, keepdims), 1)) == 1);
    CHECK(allclose(eval(l2(m - mean(m, 1, keepdims))), norm(far)).item());
    const auto s = sum(m, 1);
    CHECK(allclose(eval(l2(where(min(s) < s, s, 0), {})), abs(where(least < line, line, 0))).item());
    const auto u = mean(m);
    CHECK(sum_of_eight(m, u, 1, u, m, u, max(m), u).item() ==
          doctest::Approx(eval(sum(2 * m + eval(4 * u + 1 + max(m)))).item()));
}

TEST_CASE("several inputs, letters that the arguments bind, types with names, numbers") {
    const reduction_kernel<"T x, T y, float w", "T z"> distance("w * (x - y) * (x - y)", "a + b", "z = a", "0",
                                                                "distance");
    const array<double> x{{1, 2, 3}, {4, 5, 6}}, y{1, 1, 1};
    const array<float> w = reshape(array<float>{1, 10}, {2, 1});
    CHECK(holds(eval(distance(x, y, w, 1)), {2}, {5, 500}));
    CHECK(distance(x, 1, 2).item() == 2 * 55);
    static_assert(std::is_same_v<decltype(distance(x, y, w))::value_type, double>);
    static_assert(!std::is_invocable_v<decltype(distance), array<double>, array<float>, array<float>>);
    static_assert(!std::is_invocable_v<decltype(distance), array<double>, array<double>, array<double>>);
    static_assert(!std::is_invocable_v<decltype(distance), array<double>, array<double>>);

    const reduction_kernel<"T x, U m", "U n"> marked("m ? U(x * 2) : U(0)", "max(a, b)", "n = a", "-5", "marked");
    const array<int> i{7, 9, 2, 8};
    const array<std::int64_t> m{1, 0, 1, 1};
    CHECK(marked(i, m).item() == 16);

    const reduction_kernel<"float32 x", "int64 n"> positive("x > 0", "a + b", "n = a", "0", "positive");
    CHECK(positive(array<float>{1, -1, 2}).item() == 2);
}

TEST_CASE("texts call the functions of the mathematical library, in every precision") {
    const reduction_kernel<"T x", "T y"> extreme("fmin(x, T(3))", "fmax(a, b)", "y = max(a, T(-1))", "-INFINITY");
    CHECK(extreme(array<float>{-7, 2.5f, 8}).item() == 3);
    CHECK(extreme(array<double>{-7, -2}).item() == -1);
    const reduction_kernel<"T x", "T y"> mean_log("log(x) + expm1(T(0))", "a + b", "y = exp(a / 3) + floor(T(0.5))",
                                                  "0");
    CHECK(mean_log(array<double>{1, 2, 4}).item() == doctest::Approx(2));
    const reduction_kernel<"float x", "float y"> single("sqrtf(fabsf(x)) + cosf(0) - 1", "a + b",
                                                        "y = atanf(a) / cbrtf(8)", "0");
    CHECK(single(array<float>{1, -4}).item() == doctest::Approx(std::atan(3.0) / 2));
}

TEST_CASE("kernels of one name and of other texts, and one kernel of two dtypes, in one statement") {
    const reduction_kernel<"T x", "T y"> sums("x", "a + b", "y = a", "0", "k"),
        products("x", "a * b", "y = a", "1", "k");
    const array<float> x{1, 2, 3, 4};
    const array<double> y = x;
    const auto [a, b, c] = eval(sums(x), products(x), products(y));
    CHECK(a.item() == 10);
    CHECK(b.item() == 24);
    CHECK(c.item() == 24);
}

TEST_CASE("a text is compared in full, and equal texts are one kernel") {
    const array<float> x = arange<float>(500);
    CHECK(new_kernels([&] { (void)eval(reduction_kernel<"T x", "T y">("x", "a + b", "y = a + 1", "0", "s")(x)); }) ==
          1);
    CHECK(new_kernels([&] { (void)eval(reduction_kernel<"T x", "T y">("x", "a + b", "y = a + 1", "0", "s")(x)); }) ==
          0);
    CHECK(new_kernels([&] { (void)eval(reduction_kernel<"T x", "T y">("x", "a + b", "y = a + 2", "0", "s")(x)); }) ==
          1);
    CHECK(new_kernels([&] { (void)eval(reduction_kernel<"T v", "T y">("v", "a + b", "y = a + 2", "0", "s")(x)); }) ==
          1);
}

TEST_CASE("a key says all of a text: it is lowered again from its words alone") {
    static std::vector<std::uint32_t> words;
    const auto before =
        runtime::observe_new_keys([](std::span<const std::uint32_t> k) { words.assign(k.begin(), k.end()); });
    const reduction_kernel<"T x, T y", "T z"> k("x - y /* \"quoted\" */", "a + b", "z = a;\n    z += 1", "0",
                                                "from_words");
    const array<float> x = arange<float>(70), y = x / 2;
    const auto e = k(x, y);
    const float value = e.item();
    runtime::observe_new_keys(before);
    REQUIRE(!words.empty());
    const codegen::key decoded = codegen::decode(words);
    CHECK(codegen::encode(decoded) == words);
    CHECK(codegen::make_plan(decoded).source == source(e));
    CHECK(value == doctest::Approx(70 * 69 / 4.0 + 1));
    for (std::size_t n = 0; n < words.size(); ++n)
        CHECK_THROWS_AS((void)codegen::make_plan(codegen::decode({words.data(), n})), error);
}

TEST_CASE("a text that does not compile: the compiler's words, and the source with its lines numbered") {
    const reduction_kernel<"T x", "T y"> wrong("x * nonsense", "a + b", "y = a", "0", "wrong");
    const array<float> x = arange<float>(100);
    static std::vector<std::uint32_t> words;
    const auto before =
        runtime::observe_new_keys([](std::span<const std::uint32_t> k) { words.assign(k.begin(), k.end()); });
    const auto says_it_all = [](const auto& attempt) {
        try {
            attempt();
            FAIL("it compiled");
        } catch (const compile_error& e) {
            CHECK(e.log().find("nonsense") != std::string::npos);
            CHECK(e.log().find("line 1 of the map of wrong: ") != std::string::npos);
            CHECK(e.source().find("x * nonsense") != std::string::npos);
            CHECK(e.source().find("   1  // ") == 0);
            CHECK(std::string(e.what()).find("it is saved in") != std::string::npos);
        }
    };
    says_it_all([&] { (void)eval(wrong(x)); });
    runtime::observe_new_keys(before);
    if (runtime::nvrtc_path() && !words.empty()) {
        codegen::key k = codegen::decode(words);
        k.header.where = detail::target::cuda;
        k.header.architecture = 90;
        says_it_all([&] { (void)runtime::compile(runtime::source_of(k, codegen::make_plan(k))); });
    }
    CHECK(eval(x + 1).size() == 100);  // and nothing is broken
}

TEST_CASE("the interpreter cannot compile, and says so") {
    if (!runtime::current().device.is_host())
        return ingot::test::untested("the device is a GPU, and has no interpreter");
    setenv("INGOT_CXX", "/no/such/compiler", 1);
    const reduction_kernel<"T x", "T y"> k("x", "a + b", "y = a", "0", "interpreted");
    CHECK_THROWS_WITH_AS((void)eval(k(arange<float>(10))),
                         "[interpreted] is given as text, which only a compiler can make code of, and none was found",
                         library_error);
    unsetenv("INGOT_CXX");
}

TEST_CASE("a name that is none is refused when the kernel is made") {
    using kernel = reduction_kernel<"T x", "T y">;
    CHECK_THROWS_WITH_AS(kernel("x", "a + b", "y = a", "0", "two words"),
                         "[kernel] a kernel cannot be called 'two words'", error);
    CHECK_THROWS_AS(l2(zeros<float>({2, 3}), 2), shape_error);
    CHECK_THROWS_WITH_AS(l2(zeros<float>({2, 3}), {1, 1}), doctest::Contains("[l2]"), shape_error);
    const reduction_kernel<"T x, T y", "T z"> two("x + y", "a + b", "z = a", "0", "two");
    CHECK_THROWS_WITH_AS(two(zeros<float>({2, 3}), zeros<float>({4})),
                         doctest::Contains("[two] shapes (2, 3) and (4,) do not broadcast"), shape_error);
    CHECK_THROWS_WITH_AS(two(zeros<std::int8_t>({2}), 300), doctest::Contains("[two]"), dtype_error);
}

TEST_CASE("a reduction whose output nothing sets is an error") {
    using kernel = reduction_kernel<"T x", "T y">;
    CHECK_THROWS_WITH_AS(kernel("x", "a + b", "", "0", "total"),
                         "[kernel] the post of 'total' does not set the output 'y': statements that set (T y) are "
                         "wanted, \"y = a\"",
                         error);
    CHECK_THROWS_AS(kernel("x", "a + b", " ; ", "0"), error);
}

TEST_CASE("a text may end in a comment, a backslash or a directive, and begin with one") {
    using kernel = reduction_kernel<"T x", "T y">;
    const array<float> x{1, 2, 3};
    CHECK(kernel("x * x // squared", "a + b // added", "y = a // so", "0 // nothing", "comments")(x).item() == 14);
    CHECK(kernel("x * x // squared \\", "a + b \\", "y = a; // so \\\n more \\ ", "0", "backslashes")(x).item() == 14);
    CHECK(kernel("#ifdef NONE\n-\n#endif\nx", "a +\n#ifndef NONE\nb\n#endif", "#define ONE 1\ny = a + ONE\n#undef ONE",
                 "0", "directives")(x)
              .item() == 7);
    CHECK(source(kernel("x // twice", "a + b", "y = a", "0", "lines")(x)).find("return x // twice\n") !=
          std::string::npos);
}

TEST_CASE("where a text ends is read past literals and comments in one another") {
    using codegen::end_of_text;
    using enum codegen::text_end;
    for (const char* text : {"", "x / 2", "a /* // */", "x // y\n", "'\\'' + '/*'", "\"// /*\"", "1'000 + 2"})
        CHECK(end_of_text(text) == code);
    for (const char* text : {"x //", "/* \" */ y // /*", "x // y \\\n z", "1'0 // '"})
        CHECK(end_of_text(text) == line_comment);
    for (const char* text : {"/*", "/*/", "x // y\n/* z", "'\"' /* '"}) CHECK(end_of_text(text) == block_comment);
}

TEST_CASE("a comment that does not end is refused when the kernel is made") {
    using kernel = reduction_kernel<"T x", "T y">;
    CHECK_THROWS_WITH_AS(kernel("x", "a + b /* of two", "y = a", "0", "open"),
                         "[kernel] a text of 'open' has a comment /* without an end */", compile_error);
    CHECK_THROWS_AS(kernel("x", "a + b", "y = a; /*/", "0"), compile_error);
    CHECK_THROWS_AS(kernel("x", "a + b", "y = a; // /*\n/*", "0"), compile_error);
    try {
        const kernel open("x /*", "a + b", "y = a", "0");
        FAIL("it was made");
    } catch (const compile_error& e) {
        CHECK(e.source() == "x /*");
    }
}
