// Several results of different shapes in one statement: what they are, in how many kernels, and what those read.
#include "tests/arrays/expect.hpp"
#include "tests/reductions/comparison.hpp"
#include "tests/walls/count.hpp"

using namespace ingot;

namespace {

/// How many kernels f() launches.
template <class F>
std::uint64_t launches(F f) {
    const std::uint64_t before = counters().kernel_launches;
    f();
    return counters().kernel_launches - before;
}

template <class T>
array<T> sevenths(const shape_like& shape) {
    index_t n = 1;
    for (const index_t extent : shape) n *= extent;
    return reshape(astype<T>(arange<double>(static_cast<double>(n)) * 5 % 7), shape);
}

}  // namespace

TEST_CASE("a map beside the sum of everything") {
    for (const index_t n : {1, 5, 300, 5000, 100'003}) {
        const array<int> x = sevenths<int>({n});
        const auto [y, total] = eval(x + 1, sum(x));
        CHECK(array_equal(y, x + 1).item());
        CHECK(total.ndim() == 0);
        CHECK(total.item() == sum(x).item());
    }
}
