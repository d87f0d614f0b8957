// Results that several blocks share. CUDA leaves open in which order blocks start: neither the bits of a result nor its
// completion may depend on it. The emulated GPU tries one order after the other.
#include <doctest/doctest.h>

#include <ingot/ingot.hpp>

#include "tests/untested.hpp"

using namespace ingot;

namespace {

template <class E>
void check_any_order(const E& e, const char* pattern) {
    const auto how = explain(e);
    CAPTURE(how.kernels[0].reason);
    CHECK(how.kernels[0].pattern == pattern);
    const std::vector<float> first = eval(e).to_host();
    for (int run = 0; run < 12; ++run) CHECK(eval(e).to_host() == first);
}

array<float> wave(const shape_like& shape) {
    return sin(reshape(arange<float>(zeros<float>(shape).size()), shape) * 0.37f) + 0.1f;
}

}  // namespace

TEST_CASE("a result that blocks share has the same bits in whatever order they begin") {
    if (!current_device().is_cuda()) return ingot::test::untested("there is no GPU here");
    const char* const rows = "split reduction";
    const char* const columns = "split column reduction";
    check_any_order(sum(wave({300'001})), rows);
    check_any_order(sum(wave({2, 150'001}), 1), rows);
    check_any_order(sum(wave({3, 400'000}), 1), rows);
    check_any_order(var(wave({3, 400'000}), 1), rows);
    check_any_order(mean(wave({40'000, 5}), 0), columns);
    check_any_order(sum(wave({8000, 70}), 0), columns);
    check_any_order(sum(wave({8000, 71}), 0), columns);
    check_any_order(sum(wave({2, 5000, 12}), 1), columns);
}

TEST_CASE("no piece of a long row is folded twice or left to the next kernel, whichever block finishes") {
    if (!current_device().is_cuda()) return ingot::test::untested("there is no GPU here");
    // Long enough for the last rounds to be dealt on a GPU of few multiprocessors, the emulated one.
    array<std::int8_t> x = zeros<std::int8_t>(7 * 2048 * 16 * 16 + 5);
    x.fill(1);
    CHECK(explain(sum(x)).kernels[0].reason.find("the last of it dealt") != std::string::npos);
    for (int turn = 0; turn < 30; ++turn) {
        CHECK(max(x).item() == 1);  // leaves its scratch to the sum
        CHECK(sum(x).item() == x.size());
    }
}
