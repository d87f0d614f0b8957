// Arrays that are transposed relative to the others of a fold, a row program or a scan: the values equal those of a
// copy that is not.
#include <doctest/doctest.h>

#include <sstream>
#include <string>

#include <ingot/ingot.hpp>

using namespace ingot;

namespace {

/// On a GPU the array is copied first, in a kernel of its own, if `turned`.
template <class E, class F>
void check_same(const E& crossing, const F& straight, bool turned = true) {
    std::ostringstream text;
    text << explain(crossing);
    CAPTURE(text.str());
    if (current_device().is_cuda())
        CHECK((text.str().find("it lies across what is read beside it") != std::string::npos) == turned);
    const auto got = crossing.eval(), wanted = straight.eval();
    CHECK(allclose(got, wanted, 1e-5, 1e-5).item());
}

}  // namespace

TEST_CASE("transposed operands of folds, row programs and scans") {
    random::generator draw(7);
    const array<float> a = draw.uniform<float>({300, 430}), b = draw.uniform<float>({430, 300}).eval();
    array<float> turned = empty<float>({300, 430});
    turned(all, all) = transpose(b);
    check_same(sum(a * transpose(b), 1), sum(a * turned, 1));
    check_same(max(a - transpose(b), 0), max(a - turned, 0));
    check_same(sum(a * transpose(b)), sum(a * turned));
    check_same(softmax(a + transpose(b), 1), softmax(a + turned, 1));
    check_same(a - transpose(b) - mean(a - transpose(b), 0), a - turned - mean(a - turned, 0));
    check_same(cumsum(a * transpose(b), 1), cumsum(a * turned, 1));
    check_same(cummax(a * transpose(b), 0), cummax(a * turned, 0));
    check_same(var(a - transpose(b), 1), var(a - turned, 1));
    // The output crosses the operands.
    check_same(transpose(b) / max(transpose(b), 1, keepdims), turned / max(turned, 1, keepdims));
    // No array crosses another.
    check_same(sum(transpose(b), 1), sum(turned, 1), false);
    // If rows are few, blocks read the same sectors at about the same time.
    check_same(sum(a(slice(0, 8)) * transpose(b)(slice(0, 8)), 1), sum(a(slice(0, 8)) * turned(slice(0, 8)), 1), false);
    check_same(transpose(b) - turned, zeros_like(turned), false);
}

TEST_CASE("windows of a transposed array are not copied, for they have more elements than it") {
    random::generator draw(6);
    const array<float> a = draw.uniform<float>({300, 310}), b = draw.uniform<float>({310, 300});
    array<float> turned = empty<float>({300, 310});
    turned(all, all) = transpose(b);
    const auto windows = [](const auto& x) { return sliding_window_view(x, {9}, {1}); };
    check_same(max(windows(a) * windows(transpose(b)), 2), max(windows(a) * windows(turned), 2), false);
}

TEST_CASE("several transposed operands beside several") {
    random::generator draw(5);
    const auto both = [&] { return draw.uniform<float>({300, 310}).eval(); };
    const array<float> a = both(), b = both(), c = both(), d = both(), e = both(), f = both();
    const auto copy = [](const array<float>& x) { return array<float>(transpose(x) + 0.0F); };
    const array<float> s = copy(d), t = copy(e), u = copy(f);
    check_same(sum(a * b * c * transpose(s) * transpose(t) * transpose(u), 1), sum(a * b * c * d * e * f, 1));
}

TEST_CASE("transposed operands in three dimensions, and of other types") {
    random::generator draw(8);
    const array<float> a = draw.uniform<float>({40, 50, 60}), b = draw.uniform<float>({60, 50, 40});
    array<float> turned = empty<float>({40, 50, 60});
    turned(all, all, all) = transpose(b);
    check_same(max(a * transpose(b), 1), max(a * turned, 1));
    check_same(sum(a * transpose(b), {0, 2}), sum(a * turned, {0, 2}));
    check_same(sum(astype<double>(a) * transpose(b), 2), sum(astype<double>(a) * turned, 2));
    const array<double> wide = astype<double>(a).eval();
    check_same(logsumexp(wide - transpose(b), 2), logsumexp(wide - turned, 2));
}
