// Random rows that begin anywhere in a call of the generator: their folds, and functions of each row, equal those of
// the same numbers in memory.
#include "tests/arrays/expect.hpp"

using namespace ingot;

namespace {

template <class Drawn>
void check(const Drawn& drawn) {
    const auto kept = eval(drawn);
    using T = typename std::remove_cvref_t<decltype(kept)>::value_type;
    const auto values = [](const auto& of) {
        return eval(sum(of, 1), max(of, 1), argmin(of, 1), logsumexp(of, 1), softmax(of, 1),
                    of - mean(of, 1, keepdims));
    };
    const auto [sums, greatest, places, logarithms, shares, centred] = values(drawn);
    const auto [sums_kept, greatest_kept, places_kept, logarithms_kept, shares_kept, centred_kept] = values(kept);
    CHECK(allclose(sums, sums_kept).item());
    CHECK(array_equal(greatest, greatest_kept).item());
    CHECK(array_equal(places, places_kept).item());
    CHECK(allclose(logarithms, logarithms_kept).item());
    CHECK(allclose(shares, shares_kept).item());
    CHECK(allclose(centred, centred_kept).item());
    CHECK(allclose(eval(cumsum(drawn, 1)), cumsum(kept, 1)).item());
    // The first row begins within a vector, so a thread also holds elements before the first number.
    array<T> into = zeros<T>({kept.shape()[0], kept.shape()[1] + 1});
    into(all, slice(1, none)) = softmax(drawn, 1);
    CHECK(allclose(into(all, slice(1, none)), shares_kept).item());
}

}  // namespace

TEST_CASE("folds and row programs of random rows that begin anywhere") {
    random::generator g(41);
    check(random::standard_normal<float>({5, 365}, g));
    check(random::uniform<double>(0, 1, {6, 131}, g));
    check(random::standard_normal<float>({7, 40}, g)(all, slice(3, none)));
    const array<double> wave = reshape(sin(arange<double>(6 * 131.0)), {6, 131});
    check(wave * random::standard_normal<float>({6, 131}, g));
}
