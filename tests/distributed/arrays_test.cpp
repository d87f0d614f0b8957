// Statements over arrays in parts, on one to four ranks, beside the same statements over ordinary arrays.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <vector>

#include <unistd.h>

#include <ingot/distributed.hpp>
#include <ingot/ingot.hpp>

#include "tests/distributed/ranks.hpp"

using namespace ingot;
namespace dist = ingot::distributed;
using test::check_equal;
using test::on_ranks;

TEST_CASE("elementwise statements compute each rank's part") {
    on_ranks([](dist::session& s) {
        const dist::mesh m(s);
        const array<float> plain = sin(arange<float>(7 * 5)).eval();
        const array<float> whole = reshape(plain, {7, 5});
        const array<float> x = dist::redistribute(whole, dist::split(m));
        CHECK(dist::is_distributed(x) == (s.size() > 1));
        array<float> y = where(x > 0, x * 2, x - 1);
        check_equal<float>(s, dist::gather(y), where(whole > 0, whole * 2, whole - 1));
        y += x;
        check_equal<float>(s, dist::gather(y), where(whole > 0, whole * 2, whole - 1) + whole);
        array<float> z = y;
        z(slice(1, -1), 2) = -1;
        array<float> z_whole = where(whole > 0, whole * 2, whole - 1) + whole;
        check_equal<float>(s, dist::gather(y), z_whole);
        z_whole(slice(1, -1), 2) = -1;
        check_equal<float>(s, dist::gather(z), z_whole);
        check_equal<float>(s, dist::gather(transpose(z) * 2), transpose(z_whole) * 2);
        check_equal<float>(s, dist::gather(flip(z, 0) + 1), flip(z_whole, 0) + 1);
        check_equal<float>(s, dist::gather(z(slice(none, none, 2))), z_whole(slice(none, none, 2)));
        array<float> row = dist::gather(z(3));
        check_equal<float>(s, row, z_whole(3));
    });
}

TEST_CASE("neighbours' elements are read from ghost layers") {
    on_ranks([](dist::session& s) {
        const dist::mesh m(s);
        const array<double> whole = reshape(arange<double>(11 * 6), {11, 6}) * 0.25;
        array<double> u = dist::redistribute(whole, dist::split(m, dist::ghost(1)));
        array<double> w = whole;
        const slice in(1, -1), up(0, -2), down(2, none);
        for (int k = 0; k < 4; ++k) {
            u(in, in) = 0.25 * (u(up, in) + u(down, in) + u(in, up) + u(in, down));
            w(in, in) = 0.25 * (w(up, in) + w(down, in) + w(in, up) + w(in, down));
            check_equal<double>(s, dist::gather(u), w);
        }
    });
}

TEST_CASE("a mesh of two axes splits two axes, corners included") {
    dist::run_local(4, [](dist::session& s) {
        const dist::mesh m(s, {"y", "x"}, {2, 2});
        const array<double> whole = reshape(arange<double>(9 * 7), {9, 7});
        array<double> u = dist::redistribute(whole, dist::split(m, {"y", "x"}, dist::ghost(2)));
        const slice in(2, -2), low(0, -4), high(4, none);
        array<double> v = u(low, low) + 10 * u(high, high) + 100 * u(low, high) + 1000 * u(in, in);
        check_equal<double>(s, dist::gather(v),
                            whole(low, low) + 10 * whole(high, high) + 100 * whole(low, high) + 1000 * whole(in, in));
        check_equal<double>(s, array<double>(sum(u)), sum(whole));
        check_equal<double>(s, dist::gather(array<double>(sum(u, 0))), sum(whole, 0));
        check_equal<double>(s, dist::gather(u / sum(u, 1, keepdims)), whole / sum(whole, 1, keepdims));
    });
}

TEST_CASE("reductions over split axes are equal on all ranks") {
    on_ranks([](dist::session& s) {
        const dist::mesh m(s);
        const array<double> whole = reshape(arange<double>(6 * 4), {6, 4}) - 7;
        const array<double> x = dist::redistribute(whole, dist::split(m));
        check_equal<double>(s, array<double>(sum(x)), sum(whole));
        check_equal<double>(s, array<double>(max(x, 0)), max(whole, 0));
        check_equal<double>(s, dist::gather(array<double>(sum(x * x, 1))), sum(whole * whole, 1));
        check_equal<double>(s, array<double>(mean(x)), mean(whole));
        check_equal<std::int64_t>(s, array<std::int64_t>(count_nonzero(x)), count_nonzero(whole));
        check_equal<bool>(s, array<bool>(any(x > 15)), any(whole > 15));
        check_equal<double>(s, dist::gather((x - min(x)) / (max(x) - min(x))),
                            (whole - min(whole)) / (max(whole) - min(whole)));
        CHECK(allclose(array<double>(var(x, 0)), var(whole, 0)).item());
        CHECK(allclose(dist::gather(softmax(x, 0)), softmax(whole, 0)).item());
        CHECK(norm(x - 1).item() == doctest::Approx(norm(whole - 1).item()));
    });
}

TEST_CASE("argmin and argmax find the first of equal elements, and NaN") {
    on_ranks([](dist::session& s) {
        const dist::mesh m(s);
        array<double> whole{{3, 1, 2}, {3, 5, 0}, {1, 5, 0}, {3, 2, 2}, {0, 0, 2}};
        for (const bool with_nan : {false, true}) {
            if (with_nan) whole(slice(2, 4), 1) = std::numeric_limits<double>::quiet_NaN();
            for (const bool by_rows : {true, false}) {
                const auto p = by_rows ? dist::split(m) : dist::split(m, {"", "ranks"});
                const array<double> x = dist::redistribute(whole, p);
                check_equal<std::int64_t>(s, array<std::int64_t>(argmax(x)), argmax(whole));
                check_equal<std::int64_t>(s, array<std::int64_t>(argmin(x * 1.0)), argmin(whole));
                check_equal<std::int64_t>(s, dist::gather(array<std::int64_t>(argmax(x, 0))), argmax(whole, 0));
                check_equal<std::int64_t>(s, dist::gather(array<std::int64_t>(argmin(x, 1))), argmin(whole, 1));
            }
        }
        const array<int> few = dist::redistribute(array<int>{4, 4}, dist::split(m));
        check_equal<std::int64_t>(s, array<std::int64_t>(argmax(few)), argmax(array<int>{4, 4}));
    });
}

TEST_CASE("rank 0 prints, and large arrays are summarised") {
    on_ranks([](dist::session& s) {
        const dist::mesh m(s);
        for (const index_t n : {5, 100}) {
            const array<int> whole = reshape(arange<int>(n * n), {n, n});
            const array<int> x = dist::redistribute(whole, dist::split(m));
            std::ostringstream of_parts, of_whole;
            const with_print_options few({.threshold = 50});
            of_parts << x;
            of_whole << whole;
            const bool same = s.rank() == 0 ? of_parts.str() == of_whole.str() : s.size() > 1 && of_parts.str().empty();
            CHECK_MESSAGE(same, of_parts.str());
        }
    });
}

TEST_CASE("explain shows the exchanges of a statement, and makes none") {
    dist::run_local(3, [](dist::session& s) {
        const dist::mesh m(s);
        const array<double> u = dist::ones({9, 4}, dist::split(m, dist::ghost(1)));
        const std::uint64_t before = dist::counters(s).exchanges;
        const explanation shifted = explain(u(slice(0, -2), all) + u(slice(2, none), all)), total = explain(sum(u * u));
        CHECK(dist::counters(s).exchanges == before);
        REQUIRE(shifted.kernels.size() == 2);
        CHECK(shifted.kernels[0].kind == step_kind::exchange);
        CHECK(shifted.kernels[0].pattern ==
              "ghost layers of an array of shape (9, 4), axis 0 over ranks with ghost layers of 1");
        const std::uint64_t row = 4 * sizeof(double);
        CHECK(shifted.kernels[0].bytes_written == (s.rank() == 1 ? 2 : 1) * row);
        REQUIRE(total.kernels.size() >= 3);
        const auto exchange = std::ranges::find(total.kernels, step_kind::exchange, &kernel_explanation::kind);
        REQUIRE(exchange != total.kernels.end());
        CHECK(exchange->pattern == "all gather the 3 parts of a reduction");
        CHECK(exchange->bytes_read == 2 * sizeof(double));
    });
}

TEST_CASE("ranks compile what one device compiles, and a repeated statement plans nothing") {
    const auto run = [](const array<float>& x, const array<float>& y) {
        return array<float>(where(x - 2 > y, x * y * 1.25F, x + y));
    };
    const array<float> plain = ones<float>({64, 8});
    run(plain, plain);
    const std::uint64_t compiles = counters().compiles;
    dist::run_local(4, [&](dist::session& s) {
        const auto p = dist::split(dist::mesh(s));
        const array<float> x = dist::ones<float>({64, 8}, p);
        const array<float> y = run(x, x);
        CHECK(dist::local(y).shape()[0] == 16);
    });
    CHECK(counters().compiles == compiles);
}

TEST_CASE("random numbers are those of one device") {
    on_ranks([](dist::session& s) {
        const dist::mesh m(s);
        random::default_generator().seed(7);
        const array<float> x = dist::redistribute(random::uniform<float>({13, 3}), dist::split(m));
        random::default_generator().seed(7);
        const array<float> whole = random::uniform<float>({13, 3});
        check_equal<float>(s, dist::gather(x), whole);
        random::default_generator().seed(9);
        const array<float> y = x + random::normal<float>({13, 3});
        random::default_generator().seed(9);
        check_equal<float>(s, dist::gather(y), whole + random::normal<float>({13, 3}));
    });
}

TEST_CASE("partitions change by redistribute; local and wrap are the ways out and in") {
    on_ranks([](dist::session& s) {
        const dist::mesh m(s);
        const array<int> whole = reshape(arange<int>(5 * 9), {5, 9});
        const array<int> rows = dist::redistribute(whole, dist::split(m));
        const array<int> columns = dist::redistribute(rows, dist::split(m, {"", "ranks"}, dist::ghost(1)));
        CHECK(dist::local(rows).shape()[1] == 9);
        CHECK(dist::local(columns).shape()[0] == 5);
        check_equal<int>(s, dist::gather(columns), whole);
        check_equal<int>(s, dist::redistribute(columns, dist::replicated(m)), whole);
        const array<int> again = dist::wrap(dist::local(columns), {5, 9}, dist::split(m, {"", "ranks"}));
        check_equal<int>(s, dist::gather(again), whole);
    });
}

TEST_CASE("an expression is computed in the parts that other ranks want") {
    on_ranks([](dist::session& s) {
        const dist::mesh m(s);
        const array<double> a = sin(reshape(arange<double>(7 * 9 * 2), {7, 9, 2})),
                            b = cos(reshape(arange<double>(9), {9, 1}));
        const dist::partition rows = dist::split(m, dist::ghost(1)), columns = dist::split(m, {"", "ranks"}),
                              last = dist::split(m, {"", "", "ranks"});
        const array<double> x = dist::redistribute(a, rows);
        const auto check = [&](const auto& e, const auto& of_whole) {
            using T = typename std::decay_t<decltype(e)>::value_type;
            for (const dist::partition& p : {columns, last, rows, dist::replicated(m)})
                check_equal<T>(s, dist::gather(dist::redistribute(e, p)), of_whole);
        };
        check(x * 2 + b, a * 2 + b);
        check(x(slice(1, none)) - x(slice(0, -1)), a(slice(1, none)) - a(slice(0, -1)));  // reads ghost layers
        check(x(all, slice(none, none, -1)), a(all, slice(none, none, -1)));
        check(astype<int>(x * 10), astype<int>(a * 10));
        check(x + x(0), a + a(0));  // a row of rank 0
        check(roll(x, 1, 0) + x, roll(a, 1, 0) + a);
        check(cumsum(round(x * 16), 1) * x, cumsum(round(a * 16), 1) * a);  // whole numbers: exact in any order
        check(x - max(x, 0, keepdims), a - max(a, 0, keepdims));            // a step before
        // One message to each other rank, and nothing packed or unpacked: the rows of a rank lie together.
        if (s.size() == 1) return;
        array<double> warm = dist::redistribute(x * 3, columns);
        const dist::traffic before = dist::counters(s);
        array<double> moved = dist::redistribute(x * 3, columns);
        CHECK(dist::counters(s).messages - before.messages <= static_cast<std::uint64_t>(s.size() - 1));
        check_equal<double>(s, dist::gather(moved), a * 3);
    });
}

TEST_CASE("a grid of parts moves to another grid as it is computed") {
    dist::run_local(4, [](dist::session& s) {
        const dist::mesh square(s, {"y", "x"}, {2, 2}), line(s);
        const array<float> a = sin(reshape(arange<float>(30), {6, 5}));
        const array<float> x = dist::redistribute(a, dist::split(square, {"y", "x"}));
        const array<float> half = dist::redistribute(a, dist::split(square, {"y", ""}));  // two copies of each part
        for (const dist::partition& p :
             {dist::split(square, {"x", "y"}), dist::split(line), dist::split(line, {"", "ranks"}),
              dist::split(square, {"", "x"}), dist::replicated(line)}) {
            check_equal<float>(s, dist::gather(dist::redistribute(x * x, p)), a * a);
            check_equal<float>(s, dist::gather(dist::redistribute(half * 2, p)), a * 2);
        }
    });
}

TEST_CASE("more ranks than rows leave some ranks without elements") {
    dist::run_local(4, [](dist::session& s) {
        const dist::mesh m(s);
        const array<double> whole{{1, 2, 3}, {4, 5, 6}};
        const array<double> x = dist::redistribute(whole, dist::split(m, dist::ghost(1)));
        check_equal<double>(s, dist::gather(x * 2), whole * 2);
        check_equal<double>(s, array<double>(sum(x)), sum(whole));
        check_equal<double>(s, array<double>(max(x, 0)), max(whole, 0));
        check_equal<double>(s, dist::gather(x(slice(1, none)) - x(slice(0, -1))),
                            whole(slice(1, none)) - whole(slice(0, -1)));
    });
}

TEST_CASE("products of matrices in parts: rows, columns, the summed axis, blocks") {
    on_ranks([](dist::session& s) {
        const dist::mesh m(s),
            grid(s, {"y", "x"}, {s.size() % 2 == 0 ? s.size() / 2 : s.size(), s.size() % 2 == 0 ? 2 : 1});
        for (const index_t n : {3, 90}) {
            const array<double> a = reshape(arange<double>(n * 70) / 64, {n, 70}), b = cos(arange<double>(70 * 80)),
                                c = reshape(b, {70, 80}), whole = matmul(a, c);
            const auto same = [&](const array<double>& found, const array<double>& wanted) {
                const bool good = found.shape() == wanted.shape() && allclose(found, wanted).item();
                CHECK(good);
            };
            const auto rows = dist::split(m), columns = dist::split(m, {"", "ranks"});
            const array<double> of_rows = matmul(dist::redistribute(a, rows), c);
            CHECK(dist::is_distributed(of_rows) == (s.size() > 1));
            same(dist::gather(of_rows), whole);
            same(dist::gather(matmul(a, dist::redistribute(c, columns))), whole);
            const array<double> summed = matmul(dist::redistribute(a, columns), dist::redistribute(c, rows));
            CHECK(!dist::is_distributed(summed));
            same(summed, whole);
            const auto blocks = [&](std::initializer_list<const char*> names) { return dist::split(grid, names); };
            same(dist::gather(
                     matmul(dist::redistribute(a, blocks({"y", ""})), dist::redistribute(c, blocks({"", "x"})))),
                 whole);
            same(dist::gather(transpose(matmul(dist::redistribute(a, rows), c)) * 2 + 1), transpose(whole) * 2 + 1);
            same(dist::gather(matmul(dist::redistribute(a, rows), b(slice(0, 70)))), matmul(a, b(slice(0, 70))));
            same(array<double>(sum(matmul(dist::redistribute(a, rows), c), 0)), sum(whole, 0));
        }
    });
}

TEST_CASE("ranks write and read a file together, byte for byte as one does") {
    const std::string folder =
        std::filesystem::temp_directory_path().string() + "/ingot_parts_" + std::to_string(::getpid());
    std::filesystem::create_directory(folder);
    on_ranks([&](dist::session& s) {
        const dist::mesh m(s);
        const array<float> whole = sin(reshape(arange<float>(7 * 5 * 3), {7, 5, 3}));
        if (s.rank() == 0) save(folder + "/whole.npy", whole);
        s.barrier();
        for (const auto& p : {dist::split(m, dist::ghost(1)), dist::split(m, {"", "ranks"}), dist::replicated(m)}) {
            const array<float> x = dist::load<float>(folder + "/whole.npy", p);
            check_equal<float>(s, dist::gather(x), whole);
            const std::string name =
                folder + "/parts" + (dist::is_distributed(x) ? "" : std::to_string(s.rank())) + ".npy";
            save(name, x);
            const auto bytes_of = [](const std::string& path) {
                std::ifstream in(path, std::ios::binary);
                return std::string(std::istreambuf_iterator<char>(in), {});
            };
            const bool same = bytes_of(name) == bytes_of(folder + "/whole.npy");
            CHECK(same);
            s.barrier();
        }
        const array<float> x = dist::load<float>(folder + "/whole.npy", dist::split(m));
        CHECK_THROWS_AS(dist::load<int>(folder + "/whole.npy", dist::split(m)), dtype_error);
        if (s.size() > 1) CHECK_THROWS_AS(save(folder + "/no/such/folder.npy", x), file_error);
    });
    std::filesystem::remove_all(folder);
}

TEST_CASE("expressions at run time have kernels of their own") {
    on_ranks([](dist::session& s) {
        const array<double> whole = reshape(arange<double>(24), {8, 3});
        const array<double> x = dist::redistribute(whole, dist::split(dist::mesh(s)));
        const lazy<double> a = x + 1, b = x * 2;
        const array<double> sums = a, products = b;
        check_equal<double>(s, dist::gather(sums), whole + 1);
        check_equal<double>(s, dist::gather(products), whole * 2);
        const lazy<double> c = whole * 3;
        check_equal<double>(s, array<double>(c), whole * 3);
    });
}

TEST_CASE("a reduction's value repeats along axes on which it does not move") {
    on_ranks([](dist::session& s) {
        const array<double> whole = reshape(arange<double>(24), {8, 3});
        const array<double> x = dist::redistribute(whole, dist::split(dist::mesh(s)));
        check_equal<double>(s, array<double>(sum(broadcast_to(max(x), {5}))), sum(broadcast_to(max(whole), {5})));
        check_equal<double>(s, array<double>(broadcast_to(sum(x), {3, 4})), broadcast_to(sum(whole), {3, 4}));
        check_equal<double>(s, dist::gather(x - broadcast_to(mean(x, 0), {8, 3})), whole - mean(whole, 0));
        const lazy<double> kept = broadcast_to(sum(x, 0), {4, 3});
        check_equal<double>(s, array<double>(kept * 2), broadcast_to(sum(whole, 0), {4, 3}) * 2);
    });
}

TEST_CASE("views that keep the number of elements have their own shape") {
    on_ranks([](dist::session& s) {
        const array<int> whole = reshape(arange<int>(24), {8, 3});
        const array<int> x = dist::redistribute(whole, dist::split(dist::mesh(s)));
        const array<int> flat = reshape(x, {24});
        check_equal<int>(s, dist::gather(flat), reshape(whole, {24}));
        check_equal<int>(s, dist::gather(x(newaxis, all)), whole(newaxis, all));
        check_equal<int>(s, dist::gather(transpose(x)), transpose(whole));
        std::ostringstream of_parts, of_whole;
        of_parts << transpose(x) << x(slice(1, -1), all);
        of_whole << transpose(whole) << whole(slice(1, -1), all);
        if (s.rank() == 0) CHECK(of_parts.str() == of_whole.str());
        const array<int> nothing = x(slice(8, none), all);
        CHECK(nothing.size() == 0);
    });
}

TEST_CASE("writes reach the ranks that own the elements") {
    on_ranks([](dist::session& s) {
        const dist::mesh m(s);
        array<double> whole = reshape(arange<double>(40), {8, 5});
        array<double> x = dist::redistribute(whole, dist::split(m, dist::ghost(1)));
        const array<double> before = x;
        x(3, all) = -1.0;
        x(all, 2) = 7.0;
        x(slice(none, none, -2), 0) += 100;
        whole(3, all) = -1.0;
        whole(all, 2) = 7.0;
        whole(slice(none, none, -2), 0) += 100;
        check_equal<double>(s, dist::gather(x), whole);
        check_equal<double>(s, dist::gather(x(slice(0, -1), all) + x(slice(1, none), all)),
                            whole(slice(0, -1), all) + whole(slice(1, none), all));
        check_equal<double>(s, dist::gather(before), reshape(arange<double>(40), {8, 5}));
        array<double> small = dist::redistribute(whole(slice(0, 2), all), dist::split(m, dist::ghost(1)));
        const array<double> steps = small(slice(1, none), all) - small(slice(0, -1), all);
        check_equal<double>(s, dist::gather(steps), whole(slice(1, 2), all) - whole(slice(0, 1), all));
        check_equal<double>(s, array<double>(sum(x)), sum(whole));
        array<double> ordinary = zeros<double>({5});
        ordinary(array<int>{4, 3, 2, 1, 0}) = sum(x, 0);
        check_equal<double>(s, ordinary, flip(array<double>(sum(whole, 0)), 0));
    });
}

TEST_CASE("what no rank can compute from its part says so") {
    CHECK_THROWS_WITH_AS(dist::run_local(2,
                                         [](dist::session& s) {
                                             const dist::mesh m(s);
                                             auto x = dist::zeros<double>({300, 300}, dist::split(m));
                                             array<double> y = x + transpose(x);
                                         }),
                         doctest::Contains("is read in parts that other ranks hold"), distributed_error);
    CHECK_THROWS_WITH_AS(dist::run_local(2,
                                         [](dist::session& s) {
                                             auto x = dist::zeros<double>({30000}, dist::split(dist::mesh(s)));
                                             fft::fft(x).eval();
                                         }),
                         doctest::Contains("distributed::gather"), distributed_error);
    const auto refused = [](const std::function<void(dist::session&, array<double>&)>& f, const char* text) {
        CHECK_THROWS_WITH_AS(dist::run_local(4,
                                             [&](dist::session& s) {
                                                 const dist::mesh m(s, {"y", "x"}, {2, 2});
                                                 auto u = dist::zeros({300, 300}, dist::split(m, {"y", "x"}));
                                                 f(s, u);
                                             }),
                             doctest::Contains(text), error);
    };
    refused([](dist::session&, array<double>& u) { fill_diagonal(u, 1.0); }, "diagonal");
    refused(
        [](dist::session&, array<double>& u) {
            const array<double> row = ones({300});
            assign(std::forward_as_tuple(u(0, all), u(299, all)), row, row);
        },
        "rows of two ranks");
    refused([](dist::session&, array<double>& u) { u.mutable_data(); }, "distributed::local");
    refused([](dist::session&, array<double>& u) { u.to(device::host(9)); }, "distributed::local");
    refused([](dist::session&, array<double>& u) { linalg::solve(u, array<double>(eye(300))); }, "distributed");
    refused([](dist::session&, array<double>& u) { capture([&] { u += 1; }); }, "graph");
    // With NCCL a rank that waits for one that has left is not freed yet.
    if (device::cuda_count() < 4)
        refused(
            [](dist::session& s, array<double>& u) {
                if (s.rank() == 0) sum(u).item();
            },
            "has ended");
    refused([](dist::session&, array<double>& u) { u.values(); }, "distributed::local");
    refused([](dist::session&, array<double>& u) { u(u > 0).eval(); }, "distributed");
    refused([](dist::session&, array<double>& u) { u(array<int>{1}) = 3; }, "distributed");
    refused([](dist::session&, array<double>& u) { linalg::inv(u); }, "distributed");
    refused([](dist::session&, array<double>& u) { unique(u); }, "distributed");
    CHECK_THROWS_WITH_AS(dist::run_local(3,
                                         [](dist::session& s) {
                                             const dist::mesh m(s);
                                             auto x = dist::ones<double>({30}, dist::split(m));
                                             if (s.rank() == 1) throw shape_error("mine");
                                             sum(x).item();
                                         }),
                         "mine", shape_error);
}
