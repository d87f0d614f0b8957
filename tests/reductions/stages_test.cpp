// Reductions whose values are broadcast back along the row, or reduced again: their results, the number of steps, and
// that the bits are always the same.
#include <algorithm>
#include <limits>
#include <set>

#include "tests/arrays/expect.hpp"
#include "tests/reductions/comparison.hpp"
#include "tests/walls/count.hpp"

using namespace ingot;
using testing::comparison;
using testing::over;

namespace {

template <class E>
std::vector<std::string> patterns(const E& e) {
    std::vector<std::string> steps;
    for (const kernel_explanation& k : explain(e).kernels) steps.push_back(k.pattern);
    return steps;
}

array<double> wave(const shape_like& shape) {
    index_t n = 1;
    for (const index_t extent : shape) n *= extent;
    const array<double> line = arange<double>(static_cast<double>(n));
    return reshape(3 * sin(line * 0.7) + cos(line * 0.013), shape);
}

}  // namespace

TEST_CASE("softmax along any axis is NumPy's, in one kernel or, where none holds the rows, in three") {
    comparison c;
    for (const shape_like& shape : {shape_like{7, 13}, {3, 5000}, {400, 6}, {2, 3, 4}}) {
        const array<double> x = wave(shape);
        const array<float> narrow = x;
        for (const int axis : {0, -1}) {
            const auto [y, z] = eval(softmax(x, axis), softmax(narrow, axis));
            c.add("softmax", axes(axis), x, y);
            c.add("softmax", axes(axis), narrow, z);
        }
    }
    c.run();
    const array<float> x = wave({8, 200});
    CHECK(explain(softmax(x)).pattern == "row program");
    CHECK(patterns(softmax(x)) == std::vector<std::string>{"row program"});
    CHECK(launches([&] { (void)eval(softmax(x)); }) == 1);
}

TEST_CASE("the rows of a softmax sum to 1, and its logarithm is log_softmax") {
    const array<double> x = wave({20, 50}) * 100;
    CHECK(allclose(sum(softmax(x), -1), ones<double>(20)).item());
    CHECK(allclose(log(softmax(x / 50)), log_softmax(x / 50)).item());
}

TEST_CASE("standardising over everything, over rows, and over columns of what was centred by rows") {
    comparison c;
    const array<double> x = wave({30, 41});
    const auto centred = x - mean(x, 1, keepdims);
    c.add("standardise_twice", axes(1), x, eval(centred / stddev(centred, 0, keepdims)));
    c.run();
    const array<double> z = (x - mean(x)) / stddev(x);
    CHECK(std::abs(mean(z).item()) < 1e-12);
    CHECK(stddev(z).item() == doctest::Approx(1));
    CHECK(norm(eval(x / norm(x))).item() == doctest::Approx(1));
}

TEST_CASE("reductions that do not need each other come from one pass, though a map reads one of them alone") {
    const auto fit = [](const array<float>& x, const axes& over) {
        const auto least = min(x, over, keepdims);
        const auto most = max(x, over, keepdims);
        const auto first = (x - least) / (most - least);
        const auto second = (x - least) / (sum(x, over, keepdims) - least);
        const auto third = x * least + most * (sum(x, over, keepdims) + least);
        const array<float> low = least, high = most, total = sum(x, over, keepdims);
        CHECK(allclose(first, (x - low) / (high - low)).item());
        CHECK(allclose(second, (x - low) / (total - low), 1e-4).item());
        CHECK(allclose(third, x * low + high * (total + low), 1e-4).item());
        CHECK(patterns(first).size() <= 2);
        CHECK(patterns((x - least) / ptp(x, over, keepdims)).size() <= 2);
        CHECK(patterns(second).size() <= 2);
        CHECK(patterns(third).size() <= 2);
    };
    fit(wave({1'200'000}), axes(0));
    fit(wave({3, 400'000}), axes(1));
    fit(wave({200'000, 6}), axes(0));
    fit(wave({70, 90}), axes(1));
}

TEST_CASE("what is made along rows and then along columns is two kernels") {
    const array<double> x = wave({112, 32}), centred = x - eval(mean(x, 1, keepdims)), spread = stddev(x, 1, keepdims);
    const auto e = x - mean(x, 1, keepdims);
    const auto z = e / stddev(x, 1, keepdims);
    CHECK(allclose(softmax(e, 0), softmax(centred, 0)).item());
    CHECK(allclose(softmax(z, 0), softmax(eval(centred / spread), 0)).item());
    CHECK(allclose(softmax(softmax(x, 1), 0), softmax(eval(softmax(x, 1)), 0)).item());
    CHECK(patterns(softmax(e, 0)).size() == 2);
    CHECK(patterns(softmax(z, 0)).size() == 2);  // of more than 64 nodes
    CHECK(patterns(softmax(softmax(x, 1), 0)).size() == 2);
    CHECK(patterns(logsumexp(x / (norm(x, 1, keepdims) + 1), 0)).size() == 2);
}

TEST_CASE("a sum times a sum along another axis") {
    const array<int> x = counted({3, 4}), y = counted({5, 4});
    const auto e = sum(x * sum(y, 0), 1);
    std::vector<std::int64_t> expected(3);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 4; ++j)
            for (int k = 0; k < 5; ++k) expected[static_cast<std::size_t>(i)] += std::int64_t{4 * i + j} * (4 * k + j);
    CHECK(holds(eval(e), {3}, expected));
    CHECK(explain(e).pattern == "reduction");
    CHECK(patterns(e).size() == 2);
}

TEST_CASE("reductions of reductions, nested as deep as one likes") {
    const array<int> x = counted({4, 5, 6});
    CHECK(sum(sum(sum(x, 2), 1), 0).item() == 7140);
    CHECK(holds(eval(max(sum(x, 2), 1)), {4}, {159, 339, 519, 699}));
    CHECK(holds(eval(argmax(sum(x % 7, 2), 1)), {4}, [&] {
        std::vector<std::int64_t> best;
        const std::vector<int> v = eval(x % 7).to_host();
        for (std::size_t i = 0; i < 4; ++i) {
            std::int64_t at = 0, top = -1;
            for (std::size_t j = 0; j < 5; ++j) {
                std::int64_t s = 0;
                for (std::size_t k = 0; k < 6; ++k) s += v[i * 30 + j * 6 + k];
                if (s > top) top = s, at = static_cast<std::int64_t>(j);
            }
            best.push_back(at);
        }
        return best;
    }()));
    // Three levels broadcast back into each other, over whole numbers.
    const auto a = x - min(x, 2, keepdims);
    const auto b = a * max(a, {0, 1}, keepdims);
    CHECK(holds(eval(sum(b - min(b), {0, 2})), {5}, {220, 220, 220, 220, 220}));
}

TEST_CASE("reductions of reductions over axes of one extent do not share a loop") {
    constexpr std::size_t n = 5;
    const array<int> m = eval(counted({n, n}) * 7 % 11), x = eval(counted({n}) * 3 % 5), y = eval(counted({n}) * 2 % 5);
    const std::vector<int> v = m.to_host(), a = x.to_host(), b = y.to_host();
    std::int64_t of_rows = 0, of_columns = 0, of_pairs = 0;
    for (std::size_t i = 0; i < n; ++i) {
        int row = v[i * n], column = v[i], pair = a[0] * b[i];
        for (std::size_t k = 1; k < n; ++k) {
            row = std::max(row, v[i * n + k]);
            column = std::max(column, v[k * n + i]);
            pair = std::max(pair, a[k] * b[i]);
        }
        of_rows += row, of_columns += column, of_pairs += pair;
    }
    CHECK(sum(max(m, 1)).item() == of_rows);
    CHECK(sum(max(m, 0)).item() == of_columns);
    CHECK(sum(max(reshape(x, {n, 1}) * y, 0)).item() == of_pairs);
}

TEST_CASE("reductions over axes of one element are maps, and may be of each other") {
    array<double> x = reshape(wave(300), {300, 1});
    x(7, 0) = std::numeric_limits<double>::quiet_NaN();
    const auto count = [](const auto& e) { return count_nonzero(e > 2, 1, keepdims); };
    const array<std::int64_t> counted = astype<std::int64_t>(x > 2);
    CHECK(any(counted == 1).item());
    CHECK(array_equal(count(x), counted).item());
    CHECK(array_equal(count(count(x) * 3), counted).item());
    CHECK(array_equal(sum(count(count(x) * 3)), sum(counted)).item());
    CHECK_FALSE(any(count(count(x))).item());
    CHECK(array_equal(any(x, 1), ones<bool>(300)).item());
    CHECK(array_equal(all(x > 2, 1, keepdims), x > 2).item());
    const auto [greatest, least, sums] = eval(argmax(x, 1), argmin(x, 1, keepdims), sum(x, 1, keepdims));
    CHECK(array_equal(greatest, zeros<std::int64_t>(300)).item());
    CHECK(array_equal(least, zeros<std::int64_t>({300, 1})).item());
    CHECK(array_equal(isnan(sums), isnan(x)).item());
    const array<double> y = wave(300), z = y + 1;
    const auto [equal, smaller] = eval(argmax(max(y, 0, keepdims), 0, keepdims) == minimum(y, y), minimum(z, y));
    CHECK(array_equal(equal, y == 0).item());
    CHECK(array_equal(smaller, y).item());
    for (const auto& steps :
         {patterns(count(x)), patterns(count(count(x))), patterns(any(x, 1)), patterns(argmax(x, 1))})
        CHECK(steps == std::vector<std::string>{"map"});
}

TEST_CASE("scans that several outputs read, whole and folded") {
    const array<double> x = wave({31, 129}), y = eval(cummax(x, 1));
    const auto told = [](const auto& e) { return astype<double>(any(e > 2, axes{0, 1}, keepdims)); };
    const auto both = [&](const auto& e) { return minimum(told(e) + e, told(e)); };
    const auto [first, second] = eval(both(cummax(x, 1)), both(cummax(x, 1)) * 2);
    CHECK(array_equal(first, both(y)).item());
    CHECK(array_equal(second, both(y) * 2).item());

    const auto logs = logsumexp(x / (norm(x, 1, keepdims) + 1), 0);
    const auto [sums, copy, of_columns] = eval(sum(cummax(x, 1), 1), x, logs);
    CHECK(allclose(sums, sum(y, 1)).item());
    CHECK(array_equal(copy, x).item());
    CHECK(allclose(of_columns, eval(logs)).item());
    const array<double> z = eval(cummax(x, 0));
    const auto [norms, again, of_them] = eval(norm(cummax(x, 0), 0), x, logs);
    CHECK(allclose(norms, norm(z, 0)).item());
    CHECK(array_equal(again, x).item());
    CHECK(allclose(of_them, eval(logs)).item());
    CHECK(patterns(max(cumsum(x, 1), 1) - min(cumsum(x, 1), 1)) == std::vector<std::string>{"row program"});
}

TEST_CASE("rows and columns of one sum in one statement, several outputs, an assignment that broadcasts") {
    const array<int> m = counted({3, 4});
    CHECK(holds(eval(sum(m, 1, keepdims) + sum(m, 0)), {3, 4}, {18, 21, 24, 27, 34, 37, 40, 43, 50, 53, 56, 59}));
    const auto [share, total] = eval(m * 10 / sum(m, 1, keepdims), sum(m, 1));
    CHECK(holds(total, {3}, {6, 22, 38}));
    CHECK(share.to_host()[3] == 5.0);
    array<std::int64_t> target = zeros<std::int64_t>({2, 3});
    assign(target, sum(m, 1));
    CHECK(holds(target, {2, 3}, {6, 22, 38, 6, 22, 38}));
    target(all, slice(1)) = sum(m) - max(m(slice(0, 2), slice(0, 2)), 0);
    CHECK(holds(target, {2, 3}, {6, 62, 61, 6, 62, 61}));
}

TEST_CASE("temporaries of 0 elements, and reductions of 0 elements broadcast back") {
    const array<double> x = zeros<double>({3, 0});
    CHECK(eval(x - sum(x, 1, keepdims)).size() == 0);
    CHECK(holds(eval(sum(x * sum(zeros<double>({2, 0}), 0), 1)), {3}, {0, 0, 0}));
    CHECK(holds(eval(ones<double>({2, 2}) + sum(zeros<double>({0, 2}), 0)), {2, 2}, {1, 1, 1, 1}));
}

TEST_CASE("random leaves are the same numbers before and after a reduction") {
    const auto u = random::uniform<double>({40, 30});
    const array<double> kept = u;
    // Not bit for bit, because random numbers and an array are folded by different kernels.
    CHECK(allclose(eval(u - mean(u, 1, keepdims)), eval(kept - mean(kept, 1, keepdims)), 1e-12, 1e-14).item());
}

TEST_CASE("bits are the same every time") {
    const array<float> x = wave({3, 100'000}), y = wave({200'000, 3});
    const auto e = softmax(x);
    const std::vector<float> first = eval(e).to_host(), sums = eval(sum(y, 0)).to_host();
    for (int i = 0; i < 20; ++i) {
        CHECK(eval(e).to_host() == first);
        CHECK(eval(sum(y, 0)).to_host() == sums);
    }
}

TEST_CASE("rows of 1 to 10^6 elements take at most 24 kernels' worth of keys") {
    const auto lengths = {1,    3,    31,   33,   65,     129,    255,    257,     513,
                          1025, 2049, 4097, 8193, 16'385, 32'769, 65'537, 131'073, 999'999};
    CHECK(new_kernels([&] {
              for (const int n : lengths) {
                  const array<float> x = ones<float>({2, n});
                  const std::vector<float> v = eval(x / sum(x, 1, keepdims)).to_host();
                  CHECK(v.back() == 1 / static_cast<float>(n));
              }
          }) <= 24 + 2);  // and what makes `ones`
}

TEST_CASE("prefixes that are wanted beneath two folds are made once") {
    const array<double> x = wave({20, 30});
    const auto prefixes = cumsum(x, 1);
    const array<double> made = prefixes;
    const auto shares = prefixes / max(prefixes, 1, keepdims);
    const array<double> wanted = made / max(made, 1, keepdims);
    // One kernel computes the row's maximum and the prefixes, the next one reads both.
    CHECK(patterns(sum(shares)) == std::vector<std::string>{"row program", "row reduction"});
    CHECK(patterns(sum(shares, 0)) == std::vector<std::string>{"row program", "column reduction"});
    CHECK(allclose(eval(sum(shares)), sum(wanted)).item());
    CHECK(allclose(eval(sum(shares, 0)), sum(wanted, 0)).item());
    lazy<double> same = cumsum(x, 1);
    same = same / max(same, 1, keepdims);
    CHECK(patterns(sum(same, 0)).size() == 2);
    CHECK(allclose(eval(sum(same, 0)), sum(wanted, 0)).item());
}

TEST_CASE("places found in an array and in its transpose are told apart") {
    array<double> x = zeros<double>({3, 5});
    x(1, 2) = 1;
    const auto [rows, columns, between] = eval(argmax(x), argmax(transpose(x)), argmax(x) - argmax(transpose(x)));
    CHECK(rows.item() == 7);
    CHECK(columns.item() == 7);
    CHECK(between.item() == 0);
    x(2, 1) = 2;
    CHECK(eval(argmax(x) - argmax(transpose(x))).item() == 11 - 5);
    CHECK(eval(sum(x) + argmax(transpose(x)) - argmax(x)).item() == 3 + 5 - 11);
}

TEST_CASE("lazies of more folds than one statement has room for") {
    array<double> x = wave({6, 9});
    lazy<double> many = x;
    for (int i = 0; i < 60; ++i) {
        many = many / norm(many) + 0.01;
        x = x / norm(x) + 0.01;
    }
    CHECK(allclose(eval(many), x).item());
    lazy<double> prefixes = x, other = transpose(x);
    array<double> wanted = x, wanted_of_other = transpose(x);
    for (int i = 0; i < 70; ++i) prefixes = cumsum(prefixes, i % 2) * 0.2, wanted = cumsum(wanted, i % 2) * 0.2;
    CHECK(allclose(eval(prefixes), wanted).item());
    for (int i = 0; i < 40; ++i) {
        other = other - mean(other, 1, keepdims) + sum(other, 0);
        wanted_of_other = wanted_of_other - mean(wanted_of_other, 1, keepdims) + sum(wanted_of_other, 0);
    }
    CHECK(allclose(eval(transpose(other) + many), transpose(wanted_of_other) + x).item());
    const auto [one, two] = eval(transpose(other) + many, sum(other));
    CHECK(allclose(one, transpose(wanted_of_other) + x).item());
    CHECK(allclose(two, sum(wanted_of_other)).item());
}

TEST_CASE("scans along several axes, wanted along other loops, too") {
    const array<double> x = wave({6, 6}), across = transpose(array<double>(cumsum(x, 1)));
    const auto all_ways = cumsum(x, 1) + transpose(cumsum(x, 1)) * 2.0 + cumsum(x, 0);
    const array<double> made = array<double>(cumsum(x, 1)) + across * 2.0 + array<double>(cumsum(x, 0));
    CHECK(allclose(eval(max(all_ways, 1) + sum(all_ways, 0)), max(made, 1) + sum(made, 0)).item());
}

TEST_CASE("values that are equal to a third along other loops, and not to each other") {
    const array<double> x = wave({3, 7, 7}), prefixes = cumsum(x, -1);
    const auto rows = cumsum(x, -1);
    const auto least = min(rows + swapaxes(rows, 1, 2), 2);
    const array<double> wanted = min(prefixes + swapaxes(prefixes, 1, 2), 2);
    const auto [sums, values] = eval(remainder(cumsum(least, 0), 97.0), least);
    CHECK(allclose(sums, remainder(cumsum(wanted, 0), 97.0)).item());
    CHECK(allclose(values, wanted).item());
}

TEST_CASE("the greatest of short columns that are scanned, read from behind") {
    const array<double> x = wave({7, 5}), greatest = max(x, 0), prefixes = cumsum(x - greatest, 0);
    CHECK(allclose(eval(flip(cumsum(x - max(x, 0), 0), 0)), flip(prefixes, 0)).item());
}

TEST_CASE("functions of what is found at places, the same all along short rows") {
    const array<double> x = wave({20}), y = wave({6}), taken = take(x, array<std::int64_t>{3, 1, 2});
    const array<double> prefixes = cumsum(x);
    const auto [of_taken, of_prefixes] =
        eval(exp(take(x, array<std::int64_t>{3, 1, 2}))(all, newaxis) + y, exp(flip(cumsum(x)))(all, newaxis) + y);
    CHECK(allclose(of_taken, exp(taken)(all, newaxis) + y).item());
    CHECK(allclose(of_prefixes, exp(flip(prefixes))(all, newaxis) + y).item());
}

TEST_CASE("prefixes of functions along rows and columns, beside functions of the same") {
    const array<double> x = wave({8, 3}), centred = x - max(x, 0), prefixes = cumsum(exp(centred), 0);
    CHECK(allclose(eval(cumsum(exp(x - max(x, 0)), 0) * sin(x)), prefixes * sin(x)).item());
}
