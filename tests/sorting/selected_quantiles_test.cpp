// Quantiles of rows that are long enough for selecting, against NumPy's; their operands stay unchanged. On a GPU only
// rows longer than any here are sampled, so the tests lower the limit.
#include "runtime/sorting/sampled_filter.hpp"
#include "tests/arrays/expect.hpp"
#include "tests/joins/numpy_cases.hpp"

using namespace ingot;

TEST_CASE("quantiles of long rows are NumPy's, with ties and without, and the operand stays as it was") {
    testing::numpy_cases c;
    c.forgive(2);
    random::generator g(6);
    const array<double> a = g.normal<double>({3, 5001}), flat = floor(g.uniform<double>({4096}) * 5);
    array<double> holes = g.uniform<double>({3, 2000});
    holes(1, 77) = std::numeric_limits<double>::quiet_NaN();
    const array<float> f = g.normal<float>({2, 1024});
    const array<double> before = a * 1;
    c.add("np.median(a, 1)", median(a, 1), a);
    c.add("np.median(a, 0)", median(a, 0), a);
    c.add("np.median(a)", median(a), a);
    c.add("np.median(a)", median(flat), flat);
    c.add("np.median(a, 1)", median(holes, 1), holes);
    c.add("np.nanmedian(a, 1)", nanmedian(holes, 1), holes);
    c.add("np.median(a, 1)", median(f, 1), f);
    c.add("np.quantile(a, [0.9, 0.9, 0, 1, 0.9001, 0.1], axis=1)", quantile(a, {0.9, 0.9, 0, 1, 0.9001, 0.1}, 1), a);
    c.add("np.percentile(a, [99.9, 50], axis=1)", percentile(holes, {99.9, 50}, 1), holes);
    const std::pair<quantile_method, const char*> methods[] = {
        {quantile_method::linear, "linear"},
        {quantile_method::lower, "lower"},
        {quantile_method::higher, "higher"},
        {quantile_method::midpoint, "midpoint"},
        {quantile_method::nearest, "nearest"},
        {quantile_method::inverted_cdf, "inverted_cdf"},
        {quantile_method::averaged_inverted_cdf, "averaged_inverted_cdf"},
        {quantile_method::closest_observation, "closest_observation"},
        {quantile_method::interpolated_inverted_cdf, "interpolated_inverted_cdf"},
        {quantile_method::hazen, "hazen"},
        {quantile_method::weibull, "weibull"},
        {quantile_method::median_unbiased, "median_unbiased"},
        {quantile_method::normal_unbiased, "normal_unbiased"}};
    for (const auto& [method, name] : methods)
        c.add("np.quantile(a, [0, 0.37, 0.75, 1], axis=1, method='" + std::string(name) + "')",
              quantile(a, {0, 0.37, 0.75, 1}, 1, method), a);
    c.run();
    CHECK(array_equal(a, before).item());
}

TEST_CASE("quantiles of very long rows are selected among what a sample leaves") {
    const runtime::selection_limits limits = runtime::limits_of_selection();
    runtime::limits_of_selection().least_length_of_quantiles = 1 << 15;
    testing::numpy_cases c;
    c.forgive(2);
    random::generator g(9);
    const array<double> a = g.normal<double>({2, 40'003}), sorted = sort(ravel(a));
    const array<float> f = g.normal<float>({40'000}), few = floor(g.uniform<float>({33'000}) * 7),
                       same = full<float>({33'000}, 2.5f);
    array<float> hole = f;
    hole(777) = std::numeric_limits<float>::quiet_NaN();
    const array<double> before = a * 1;
    c.add("np.median(a, 1)", median(a, 1), a);
    c.add("np.median(a)", median(sorted), sorted);
    c.add("np.quantile(a, [0, 0.0001, 0.37, 1], axis=1)", quantile(a, {0, 0.0001, 0.37, 1}, 1), a);
    c.add("np.quantile(a, [0.05, 0.95], method='hazen').astype('f4')",
          quantile(f, {0.05, 0.95}, {}, quantile_method::hazen), f);
    c.add("np.median(a)", median(f), f);
    c.add("np.median(a)", median(few), few);
    c.add("np.median(a)", median(same), same);
    c.add("np.median(a)", median(hole), hole);
    c.run();
    CHECK(array_equal(a, before).item());
    runtime::limits_of_selection() = limits;
}
