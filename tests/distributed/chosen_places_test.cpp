// Sums at computed places, histograms, topk and user's reductions over arrays in parts, beside the same of ordinary
// arrays.
#include <limits>

#include "tests/distributed/ranks.hpp"

using namespace ingot;
namespace dist = ingot::distributed;
using test::check_close;
using test::check_equal;
using test::on_ranks;

namespace {

array<double> numbers(const shape_like& shape) {
    index_t n = 1;
    for (const index_t extent : shape) n *= extent;
    return eval(reshape(remainder(arange<double>(static_cast<double>(n)) * 37, 101.0), shape));
}

}  // namespace

TEST_CASE("reductions given as text join their parts") {
    const reduction_kernel<"T x", "T y"> length("x * x", "a + b", "y = sqrt(a)", "0", "length");
    const reduction_kernel<"T x", "float y", "double"> middle(
        "x", "a + b", "y = a / (_in_ind.size() / _out_ind.size())", "0", "middle");
    const reduction_kernel<"T x, T y", "T z"> farthest("fabs(x - y)", "a > b ? a : b", "z = a", "0", "farthest");
    on_ranks([&](dist::session& s) {
        const dist::mesh m(s);
        const array<double> whole = numbers({13, 6});
        for (const auto& p : {dist::split(m), dist::split(m, {"", "ranks"})}) {
            const array<double> x = dist::redistribute(whole, p);
            check_close<double>(s, array<double>(length(x)), length(whole), 1e-14);
            for (const int axis : {0, 1}) {
                check_close<double>(s, dist::gather(length(x, axis) + 1), length(whole, axis) + 1, 1e-14);
                check_close<float>(s, dist::gather(middle(x, axis)), middle(whole, axis), 1e-6);
                check_equal<double>(s, dist::gather(farthest(x, x * 2, axis)), farthest(whole, whole * 2, axis));
            }
            check_equal<double>(s, dist::gather(x - farthest(x, 3.0)), whole - farthest(whole, 3.0));
        }
    });
}

TEST_CASE("values in parts are added, or joined as extremes, at computed places of ordinary arrays") {
    on_ranks([](dist::session& s) {
        const dist::mesh m(s);
        const array<int> whole = astype<int>(remainder(arange<int>(57) * 7, 10));
        for (const auto& p : {dist::split(m), dist::replicated(m)}) {
            const array<int> x = dist::redistribute(whole, p);
            array<int> counts = full<int>(10, 2), wanted = full<int>(10, 2);
            scatter_add(counts(x), 1);
            scatter_add(wanted(whole), 1);
            check_equal<int>(s, counts, wanted);
            scatter_add(counts(x), x * 3);
            scatter_add(wanted(whole), whole * 3);
            check_equal<int>(s, counts, wanted);
            array<int> high = full<int>(10, 4), most = full<int>(10, 4);
            scatter_max(high(9 - x), x);
            scatter_max(most(9 - whole), whole);
            check_equal<int>(s, high, most);
            scatter_min(high(x), -x);
            scatter_min(most(whole), -whole);
            check_equal<int>(s, high, most);
            array<double> sums = ones<double>(10), right = ones<double>(10);
            scatter_add(sums(x), astype<double>(x) / 3);
            scatter_add(right(whole), astype<double>(whole) / 3);
            check_close<double>(s, sums, right, 1e-13);
            scatter_add(sums(slice(2, 6))(x % 4), 0.25, unordered);
            scatter_add(right(slice(2, 6))(whole % 4), 0.25, unordered);
            check_close<double>(s, sums, right, 1e-13);
            if (s.size() > 1 && dist::is_distributed(x)) {
                CHECK_THROWS_AS(counts(x) = x, distributed_error);
            }
        }
    });
}

TEST_CASE("each part is added once where two ranks have it") {
    dist::run_local(4, [](dist::session& s) {
        const dist::mesh m(s, {"y", "x"}, {2, 2});
        const array<int> whole = astype<int>(remainder(arange<int>(30) * 7, 10));
        for (const auto& p : {dist::split(m, {"x"}), dist::split(m, {"y"})})
            check_equal<index_t>(s, bincount(dist::redistribute(whole, p)), bincount(whole));
        const array<int> square = eval(reshape(whole, {5, 6}));
        array<int> counts = zeros<int>(10), wanted = zeros<int>(10);
        scatter_add(counts(dist::redistribute(square, dist::split(m, {"y", "x"}))), 1);
        scatter_add(wanted(square), 1);
        check_equal<int>(s, counts, wanted);
    });
}

TEST_CASE("histograms of arrays in parts") {
    on_ranks([](dist::session& s) {
        const dist::mesh m(s);
        const array<double> whole = numbers({200});
        const array<double> x = dist::redistribute(whole, dist::split(m));
        check_equal<index_t>(s, bincount(astype<int>(x)), bincount(astype<int>(whole)));
        check_close<double>(s, bincount(astype<int>(x), x / 7), bincount(astype<int>(whole), whole / 7), 1e-13);
        const auto equal = [&]<class A, class B>(const std::tuple<array<A>, array<B>>& found,
                                                 const std::tuple<array<A>, array<B>>& wanted) {
            check_close<A>(s, std::get<0>(found), std::get<0>(wanted), 1e-13);
            check_equal<B>(s, std::get<1>(found), std::get<1>(wanted));
        };
        equal(histogram(x, 8), histogram(whole, 8));
        equal(histogram(x, 8, {10, 60}), histogram(whole, 8, {10, 60}));
        equal(histogram(x, array<double>{0, 5, 50}), histogram(whole, array<double>{0, 5, 50}));
        equal(histogram(x, 5, density), histogram(whole, 5, density));
        equal(histogram(x, 5, x * 0.1), histogram(whole, 5, whole * 0.1));
        const auto [h, ex, ey] = histogram2d(x, x * x, 4);
        const auto [wanted, wx, wy] = histogram2d(whole, whole * whole, 4);
        check_equal<double>(s, h, wanted);
        check_equal<double>(s, ey, wy);
    });
}

TEST_CASE("topk of arrays in parts takes the first of equal elements") {
    on_ranks([](dist::session& s) {
        const dist::mesh m(s);
        const array<double> whole = eval(remainder(numbers({7, 40}), 9.0));
        for (const auto& p : {dist::split(m), dist::split(m, {"", "ranks"})}) {
            const array<double> x = dist::redistribute(whole, p);
            for (const index_t axis : {0, 1})
                for (const index_t k : {0, 1, 3, 7}) {
                    CAPTURE(axis);
                    CAPTURE(k);
                    for (const bool largest : {true, false}) {
                        const auto [values, places] = topk(x, k, axis, largest);
                        const auto [wanted, at] = topk(whole, k, axis, largest);
                        check_equal<double>(s, dist::gather(values), wanted);
                        check_equal<index_t>(s, dist::gather(places), at);
                    }
                }
        }
        // The first part of a flipped view lies on the last rank.
        const array<double> one = zeros<double>(6), ones = dist::redistribute(one, dist::split(m));
        check_equal<index_t>(s, dist::gather(std::get<1>(topk(flip(ones), 3))), array<index_t>{0, 1, 2});
        const array<float> line = astype<float>(numbers({30000}));
        const array<float> x = dist::redistribute(line, dist::split(m));
        const auto [values, places] = topk(x, 12);
        const auto [wanted, at] = topk(line, 12);
        CHECK_FALSE(dist::is_distributed(values));
        check_equal<float>(s, values, wanted);
        check_equal<index_t>(s, places, at);
    });
}

TEST_CASE("a large vector in parts is sorted among its ranks") {
    const bool is_on_host = current_device().is_host();  // a sort of an emulated GPU takes seconds
    const auto check_on = [&](dist::session& s) {
        const dist::mesh m(s);
        const auto check = [&]<class T>(const array<T>& whole) {
            const array<T> x = dist::redistribute(whole, dist::split(m));
            const array<T> sorted = sort(x);
            CHECK(dist::is_distributed(sorted));
            const array<T> found = dist::gather(sorted), wanted = sort(whole);
            // NaN equal each other here.
            CHECK(all(found == wanted || (found != found && wanted != wanted)).item());
            check_equal<index_t>(s, dist::gather(argsort(x, 0, descending) + 1), argsort(whole, 0, descending) + 1);
            if (is_on_host) check_equal<index_t>(s, dist::gather(argsort(x)), argsort(whole));
        };
        const array<double> n = arange<double>(9001), more = arange<double>(17001), most = arange<double>(34001);
        check(eval(where(remainder(n, 3.0) == 0, std::numeric_limits<double>::quiet_NaN(), remainder(n * 7919, 5.0))));
        if (!is_on_host) return;
        check(eval(astype<float>(remainder(more * 7919, 17001.0))));  // all different
        check(eval(n * 0));                                           // one value
        check(eval(-n));                                              // in reverse
        check(eval(astype<std::uint64_t>(n) * (std::uint64_t{1} << 50)));
        check(eval(astype<std::int16_t>(remainder(most * 31, 65000.0) - 32000)));
        check(eval(astype<float16>(where(most < 100, -0.0, remainder(most, 2.0) * 0.0))));
    };
    for (const int ranks : {3, 2, 4})
        if (is_on_host || ranks == 3) dist::run_local(ranks, check_on);
}

TEST_CASE("a vector in parts along one axis of a mesh is sorted among that axis' ranks") {
    dist::run_local(4, [](dist::session& s) {
        const dist::mesh m(s, {"y", "x"}, {2, 2});
        const array<float> whole = astype<float>(remainder(arange<double>(17001) * 7919, 911.0));
        for (const auto& p : {dist::split(m, {"x"}), dist::split(m, {"y"})}) {
            const array<float> x = dist::redistribute(whole, p);
            check_equal<float>(s, dist::gather(sort(x * 2)), sort(whole * 2));
            if (!s.device().is_host()) break;
            check_equal<index_t>(s, dist::gather(argsort(x)), argsort(whole));
        }
    });
}

TEST_CASE("large parts of sums and products are folded by slices") {
    on_ranks([](dist::session& s) {
        const dist::mesh m(s);
        const array<double> whole = numbers({9, 20001});
        const array<double> x = dist::redistribute(whole, dist::split(m));
        check_equal<double>(s, array<double>(sum(x, 0)), sum(whole, 0));
        check_equal<double>(s, array<double>(max(x, 0) - min(x, 0)), max(whole, 0) - min(whole, 0));
        check_equal<index_t>(s, array<index_t>(count_nonzero(x, 0)), count_nonzero(whole, 0));
        check_equal<index_t>(s, array<index_t>(argmax(x, 0)), argmax(whole, 0));
        check_equal<double>(s, dist::gather(x - mean(x, 0)), whole - mean(whole, 0));
        const array<double> a = numbers({130, 24}), b = numbers({24, 140});
        const array<double> c =
            matmul(dist::redistribute(a, dist::split(m, {"", "ranks"})), dist::redistribute(b, dist::split(m)));
        check_equal<double>(s, dist::gather(c), matmul(a, b));
    });
}

TEST_CASE("each rank of a grid computes a block of a product") {
    dist::run_local(4, [](dist::session& s) {
        const dist::mesh m(s, {"y", "x"}, {2, 2});
        const array<double> a = numbers({150, 101}), b = numbers({101, 133});
        const auto grid = dist::split(m, {"y", "x"});
        const array<double> x = dist::redistribute(a, grid), y = dist::redistribute(b, grid);
        const array<double> c = matmul(x, y) + 1;
        CHECK(dist::local(c).size() < 150 * 133 / 3);
        check_equal<double>(s, dist::gather(c), matmul(a, b) + 1);
        check_equal<double>(s, dist::gather(matmul(x, dist::redistribute(b, dist::split(m, {"", "x"})))), matmul(a, b));
    });
}

TEST_CASE("softmax over a split axis reads its rows twice, and takes parts without a finite maximum") {
    on_ranks([](dist::session& s) {
        const dist::partition p = dist::split(dist::mesh(s), {"", "ranks"});
        const double inf = std::numeric_limits<double>::infinity();
        array<double> whole = sin(arange<double>(60) * 3).eval();
        whole = reshape(whole, {5, 12});
        whole(0, slice(0, 7)) = -inf;  // some ranks' parts, all of a row, a greatest element, and no number
        whole(1, all) = -inf;
        whole(2, 4) = inf;
        whole(3, 9) = std::numeric_limits<double>::quiet_NaN();
        const array<double> x = dist::redistribute(whole, p), y = softmax(x, 1);
        const bool is_close = allclose(dist::gather(y), softmax(whole, 1), 1e-12, 1e-12, true).item(),
                   is_close_too = allclose(array<double>(logsumexp(x * 2, 1)), array<double>(logsumexp(whole * 2, 1)),
                                           1e-12, 1e-12, true)
                                      .item();
        const dist::traffic before = dist::counters(s);
        array<double> again = softmax(x, 1);
        const dist::traffic after = dist::counters(s);
        if (s.rank() == 0) {
            CHECK(is_close);
            CHECK(is_close_too);
            CHECK(after.exchanges - before.exchanges == (s.size() > 1 ? 2 : 0));
        }
    });
}

TEST_CASE("a product of large matrices reads its rows, however many elements its loops have") {
    dist::run_local(2, [](dist::session& s) {
        // 2^64 elements over the rows, columns and summed indices, and over the rows and columns again.
        const array<float> x = dist::empty<float>({8192, 4096}, dist::split(dist::mesh(s))),
                           y = empty<float>({4096, 8192});
        const explanation product = explain(matmul(x, y));
        std::ostringstream text;
        text << product;
        if (s.rank() == 0) CHECK(text.str().find("exchange") == std::string::npos);
    });
}

TEST_CASE("shifted views of large parts need no ghost layers where few elements are others'") {
    on_ranks([](dist::session& s) {
        const array<double> whole = numbers({40001}), x = dist::redistribute(whole, dist::split(dist::mesh(s)));
        check_equal<double>(s, dist::gather(x(slice(1, none)) - x(slice(0, -1))),
                            whole(slice(1, none)) - whole(slice(0, -1)));
        check_equal<double>(s, dist::gather(sort(x)(slice(1, none)) - sort(x)(slice(0, -1))),
                            sort(whole)(slice(1, none)) - sort(whole)(slice(0, -1)));
    });
}

TEST_CASE("a rank that keeps an array makes no other statement") {
    on_ranks([](dist::session& s) {
        array<double> x = dist::redistribute(numbers({12}), dist::split(dist::mesh(s))), kept;
        if (s.rank() == 0) kept = x;
        x = x * 2;
        check_equal<double>(s, dist::gather(x), numbers({12}) * 2);
    });
}

TEST_CASE("calls that differ between ranks throw") {
    const auto throws = [](const std::function<void(dist::session&, const array<double>&)>& f) {
        CHECK_THROWS_WITH_AS(
            dist::run_local(3,
                            [&](dist::session& s) { f(s, dist::ones<double>({30, 40}, dist::split(dist::mesh(s)))); }),
            doctest::Contains("every rank must evaluate the same statements in the same order"), distributed_error);
    };
    throws([](dist::session& s, const array<double>& x) {
        if (s.rank() == 0)
            dist::gather(x);
        else
            sum(x).item();
    });
    throws([](dist::session& s, const array<double>& x) {
        if (s.rank() == 1)
            topk(x, 3, 0);
        else
            sum(x, 0).eval();
    });
}
