// The table of reductions: every name of it over no axis, one, several, in any order, negative, kept, and of every
// dtype, against NumPy's of that name. It prints itself.
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <random>

#include "tests/reductions/comparison.hpp"

using namespace ingot;
using testing::comparison;
using testing::over;

namespace {

template <class F>
struct row {
    const char *name, *numpys;
    F of;
};
template <class F>
row(const char*, const char*, F) -> row<F>;
#define ROW(name, numpys)                                          \
    row {                                                          \
        #name, numpys, [](const auto&... a) { return name(a...); } \
    }

const std::tuple folds{ROW(sum, "sum"),
                       ROW(prod, "prod"),
                       ROW(min, "min"),
                       ROW(max, "max"),
                       ROW(any, "any"),
                       ROW(all, "all"),
                       ROW(count_nonzero, "count_nonzero")};
const std::tuple made_of_folds{ROW(mean, "mean"),  ROW(average, "average"), ROW(var, "var"),
                               ROW(stddev, "std"), ROW(norm, "norm"),       ROW(logsumexp, "logsumexp")};
const std::tuple without_nan{ROW(nansum, "nansum"), ROW(nanprod, "nanprod"),  ROW(nanmean, "nanmean"),
                             ROW(nanvar, "nanvar"), ROW(nanstddev, "nanstd"), ROW(nanmin, "nanmin"),
                             ROW(nanmax, "nanmax")};
// Functions along one axis or over everything.
const std::tuple places{ROW(argmin, "argmin"), ROW(argmax, "argmax"), ROW(nanargmin, "nanargmin"),
                        ROW(nanargmax, "nanargmax")};
// Functions of two operands or of a diagonal are compared by value in folds_test.cpp.
constexpr const char* by_value[] = {"dot", "vdot", "inner", "trace", "allclose", "array_equal"};

std::map<std::string, int>& counts() {
    static std::map<std::string, int> cases;
    return cases;
}

/// Compares all rows of a table in one statement.
template <class E, class... R>
void compare(comparison& c, const E& x, const over& how, const std::tuple<R...>& table) {
    std::apply(
        [&](const R&... r) {
            c.add_all<E>({r.numpys...}, how, x, called(how, [&](const auto&... a) { return r.of(x, a...); })...);
            (++counts()[r.name], ...);
        },
        table);
}

template <class E>
void compare_reductions(comparison& c, const E& x, const over& how) {
    compare(c, x, how, folds);
    compare(c, x, how, made_of_folds);
    compare(c, x, how, without_nan);
}
/// bool has no difference.
template <class E>
void compare_differences(comparison& c, const E& x, const over& how) {
    c.add("ptp", how, x, eval(called(how, [&](const auto&... a) { return ptp(x, a...); })));
    ++counts()["ptp"];
}

/// Some floats are NaN: all of the first along axis 1, and all of the last along axis 2.
template <class T>
array<T> values() {
    std::mt19937 random(sizeof(T));
    std::vector<T> v;
    for (int i = 0; i < 3 * 5 * 4; ++i) {
        const auto n = static_cast<int>(random() % 7) - 3;
        if constexpr (std::is_floating_point_v<T>)
            v.push_back(random() % 6 == 0 || i % 20 == 0 || i / 4 == 14 ? std::numeric_limits<T>::quiet_NaN()
                                                                        : static_cast<T>(n) / 4);
        else
            v.push_back(static_cast<T>(std::is_same_v<T, bool> ? n > 0 : n));
    }
    return asarray<T>(v, {3, 5, 4});
}

template <class T>
void along_an_axis(comparison& c) {
    const array<T> x = values<T>();
    compare_reductions(c, x, axes(1));
    compare(c, x, axes(1), places);
    if constexpr (!std::is_same_v<T, bool>) compare_differences(c, x, axes(1));
}

template <class T>
void along_all_kinds_of_axes(comparison& c) {
    const array<T> x = values<T>();
    over kept(axes{2, 0, 1});
    kept.keep = true;
    over all_kept;
    all_kept.keep = true;
    for (const over& how : {over(), over(axes{-1, 0}), kept, all_kept, over(axes{})}) {
        compare_reductions(c, x, how);
        compare_differences(c, x, how);
    }
    over last(axes(-1));
    last.keep = true;
    for (const over& how : {over(), last}) compare(c, x, how, places);
}

}  // namespace

TEST_CASE("NaN and infinity wherever they can be, on every evaluator") {
    const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    const array<double> x{{1, nan, 3, 2},      {nan, inf, 1, -inf}, {nan, nan, nan, nan}, {-inf, -inf, -inf, -inf},
                          {inf, inf, 1, -0.0}, {-inf, 2, 3, nan},   {inf, 1, -inf, 2},    {0.0, -0.0, 0.0, -0.0}};
    const array<float> narrow = x;
    const bool host = current_device().is_host();
    for (const bool interpreted : {false, true}) {
        if (interpreted && !host) continue;
        // Own keys: kernels that were compiled before stay compiled.
        with_math own_keys(interpreted ? math_mode::strict : math_mode::standard);
        if (interpreted) setenv("INGOT_CXX", "/no/such/compiler", 1);
        comparison c;
        const auto before = counters().interpreter_runs;
        for (const over& how : {over(axes(1)), over(axes(0)), over()}) {
            compare_reductions(c, x, how);
            compare(c, x, how, places);
            compare_differences(c, x, how);
            if (how.everything) continue;
            c.add("softmax", how, x, eval(softmax(x, how.which)));
            c.add("log_softmax", how, x, eval(log_softmax(x, how.which)));
            compare(c, narrow, how, folds);
        }
        CHECK((counters().interpreter_runs > before) == interpreted);
        if (interpreted) unsetenv("INGOT_CXX");
        c.run();
    }
}

TEST_CASE("the table of reductions: every name is NumPy's") {
    comparison c;
    along_an_axis<bool>(c);
    along_an_axis<std::int8_t>(c);
    along_an_axis<std::uint8_t>(c);
    along_an_axis<std::int16_t>(c);
    along_an_axis<std::uint16_t>(c);
    along_an_axis<std::int32_t>(c);
    along_an_axis<std::uint32_t>(c);
    along_an_axis<std::int64_t>(c);
    along_an_axis<std::uint64_t>(c);
    along_an_axis<float>(c);
    along_an_axis<double>(c);
    along_all_kinds_of_axes<float>(c);
    along_all_kinds_of_axes<std::int16_t>(c);
    c.run();
    std::printf("reductions:");
    for (const auto& [name, cases] : counts()) std::printf(" %s (%d)", name.c_str(), cases);
    std::printf("; by value");
    for (const char* const name : by_value) std::printf(" %s", name);
    std::printf("; none missing\n");
}
