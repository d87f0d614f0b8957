// The error of long sums, and that their bits are always the same, whatever else runs. At full size on a GPU, at a
// sixteenth of it on the host.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <ingot/ingot.hpp>

using namespace ingot;

namespace {

bool on_gpu() { return current_device().is_cuda(); }
index_t terms() { return index_t{1} << (on_gpu() ? 28 : 24); }

/// The sum of a float array's elements in double, added here, in another order than any kernel's.
double added_up(const array<float>& x) {
    double total = 0;
    for (index_t from = 0; from < x.size(); from += 1 << 22)
        for (const float v : x(slice(from, from + (1 << 22))).to_host()) total += v;
    return total;
}

/// Keeps the device busy on streams of its own until its end.
class busy_streams {
public:
    explicit busy_streams(int threads) {
        for (int t = 0; t < threads; ++t)
            threads_.emplace_back([this, t] {
                stream own;
                with_stream in(own);
                const array<float> x = random::generator(static_cast<std::uint64_t>(t)).uniform<float>({300'000});
                while (!stop_) {
                    for (int i = 0; i < 20; ++i) (void)eval(sum(exp(x) * x), max(x - sqrt(x)));
                    own.synchronize();
                    ++rounds;
                }
            });
    }
    busy_streams(const busy_streams&) = delete;
    ~busy_streams() {
        stop_ = true;
        for (std::thread& t : threads_) t.join();
    }

    std::atomic<int> rounds = 0;

private:
    std::atomic<bool> stop_ = false;
    std::vector<std::thread> threads_;
};

/// How many runs of f differ in some bit from the first one.
template <class F>
int differing(int runs, F f) {
    const auto first = eval(f()).to_host();
    int different = 0;
    for (int i = 0; i < runs; ++i) {
        const auto again = eval(f()).to_host();
        different += std::memcmp(again.data(), first.data(), first.size() * sizeof first[0]) != 0;
    }
    return different;
}

}  // namespace

TEST_CASE("a float sum of uniform numbers is within 4 ulp") {
    const array<float> x = random::generator(1).uniform<float>({terms()});
    const double exact = added_up(x);
    const float rounded = static_cast<float>(exact);
    const double ulp = static_cast<double>(std::nextafter(rounded, std::numeric_limits<float>::infinity())) - rounded;
    CHECK(std::abs(sum(x).item() - exact) <= 4 * ulp);
    CHECK(std::abs(sum(reshape(x, {-1, 4})).item() - exact) <= 4 * ulp);
    CHECK(sum(astype<double>(x)).item() == doctest::Approx(exact).epsilon(1e-12));
}

TEST_CASE("a float sum of alternating signs is right to a millionth of what was added") {
    const array<float> x = random::generator(2).uniform<float>({terms()});
    array<float> signs = ones<float>({terms()});
    signs(slice(1, none, 2)) = -1.0f;
    const array<float> alternating = x * signs;
    CHECK(std::abs(sum(x * signs).item() - added_up(alternating)) <= 1e-6 * added_up(x));
}

TEST_CASE("a float variance about a large mean is right to five digits") {
    const array<float> x = 10'000 + random::generator(3).normal<float>({terms()});
    const double mean_of_x = added_up(x) / static_cast<double>(terms());
    double squares = 0;
    for (index_t from = 0; from < x.size(); from += 1 << 22)
        for (const float v : x(slice(from, from + (1 << 22))).to_host()) squares += (v - mean_of_x) * (v - mean_of_x);
    CHECK(std::abs(var(x).item() / (squares / static_cast<double>(terms())) - 1) <= 1e-5);
    CHECK(std::abs(var(reshape(x, {4, -1}), 1).to_host()[0] - 1) < 1e-2);
}

TEST_CASE("bits are the same in every run, while other streams keep the device busy") {
    const int runs = on_gpu() ? 1000 : 10;
    const array<float> long_one = random::generator(4).uniform<float>({3'000'001});
    const array<float> rows = random::generator(5).normal<float>({24, 20'000});
    const array<float> columns = random::generator(6).normal<float>({20'000, 24});
    const reduction_kernel<"T x", "T y"> l2("x * x", "a + b", "y = sqrt(a)", "0", "l2");
    busy_streams beside(on_gpu() ? 1 : 2);
    CHECK(differing(runs, [&] { return sum(long_one); }) == 0);
    CHECK(differing(runs, [&] { return sum(columns, 0); }) == 0);
    CHECK(differing(runs, [&] { return var(reshape(long_one(slice(1, none)), {3, -1}), 1); }) == 0);
    CHECK(differing(runs, [&] { return var(reshape(long_one(slice(1, none)), {-1, 60}), 0); }) == 0);
    CHECK(differing(runs, [&] { return softmax(rows, 1); }) == 0);
    CHECK(differing(runs, [&] { return softmax(columns, 0); }) == 0);
    CHECK(differing(runs, [&] { return l2(long_one); }) == 0);
    CHECK(differing(runs, [&] { return l2(rows, 1); }) == 0);
    CHECK(differing(runs, [&] { return cumsum(long_one); }) == 0);
    CHECK(differing(runs, [&] { return cumsum(rows, 1); }) == 0);
    CHECK(differing(runs, [&] { return cumsum(columns, 0); }) == 0);
    CHECK(differing(runs, [&] { return cumsum(reshape(long_one(slice(1, none)), {-1, 3}), 0); }) == 0);
    CHECK(differing(runs, [&] { return cumsum(reshape(long_one(slice(1, none)), {-1, 60}), 0); }) == 0);
    CHECK(beside.rounds > 0);
}

TEST_CASE("a kernel sees all that the ones before it wrote") {
    constexpr index_t n = 100'000, steps = 100;
    array<float> x = zeros<float>(n);
    std::vector<array<float>> sums;
    for (index_t i = 0; i < steps; ++i) {
        x(slice(1, none)) = x(slice(0, -1)) + 1;
        sums.push_back(eval(sum(x)));
    }
    for (index_t i = 0; i < steps; ++i) {
        const index_t most = i + 1;  // x is 0, 1, 2, ... up to so many
        CHECK(sums[static_cast<std::size_t>(i)].item() ==
              static_cast<float>(most * (most - 1) / 2 + (n - most) * most));
    }
    const std::vector<float> got = x.to_host();
    for (index_t k = 0; k < n; k += 997)
        CHECK(got[static_cast<std::size_t>(k)] == static_cast<float>(std::min(k, steps)));
}
