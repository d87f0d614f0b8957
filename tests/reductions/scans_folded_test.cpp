// Folds of scans that no kernel holds, and folds of short rows beneath others: how few rows and short rows are read.
#include <doctest/doctest.h>

#include <sstream>
#include <string>

#include <ingot/ingot.hpp>

using namespace ingot;

namespace {

template <class E>
std::string plan_of(const E& e) {
    std::ostringstream text;
    text << explain(e);
    return text.str();
}

}  // namespace

TEST_CASE("a fold of a scan of few long rows: tiles of a row look back") {
    const index_t n = 60000;
    const array<float> x = random::generator(9).uniform<float>({3, n});
    const array<float> prefixes = cumsum(x, 1), row = x(1), of_row = cumsum(row);
    const auto folded = max(cumsum(row) * row);
    const auto both = sum(cumsum(x, 1) * x);
    CHECK(folded.eval().item() == doctest::Approx(max(of_row * row).item()).epsilon(1e-5));
    CHECK(both.eval().item() == doctest::Approx(sum(prefixes * x).item()).epsilon(1e-5));
    if (!current_device().is_cuda()) return;
    CHECK(plan_of(folded).find("look-back rows") != std::string::npos);
    CHECK(plan_of(both).find("look-back rows") != std::string::npos);
}

TEST_CASE("row programs of short rows that a longer fold stands beside are staged, and so are their temporaries") {
    const array<float> x = random::generator(10).uniform<float>({4000, 3}),
                       y = random::generator(11).uniform<float>({4000, 3});
    const lazy<float> t = x * y + var(x * y, 1, keepdims);
    const auto w = var(t - sum(t, 0), 1);
    const array<float> held = x * y + var(x * y, 1, keepdims), centred = held - sum(held, 0);
    CHECK(allclose(w.eval(), var(centred, 1), 1e-3, 1e-4).item());
    if (current_device().is_cuda()) CHECK(plan_of(w).find("short_rows") != std::string::npos);
}
