// Rolls, pads, joins, tiles, scans, transforms and sorts over split axes, beside the same of ordinary arrays.
#include "tests/distributed/ranks.hpp"

using namespace ingot;
namespace dist = ingot::distributed;
using test::check_equal;
using test::on_ranks;

namespace {

array<float> numbers(const shape_like& shape) {
    index_t n = 1;
    for (const index_t extent : shape) n *= extent;
    return eval(reshape(remainder(arange<float>(static_cast<float>(n)) * 7, 31.0f), shape));
}

}  // namespace

TEST_CASE("rolls of split axes read their neighbours' elements") {
    on_ranks([](dist::session& s) {
        const dist::mesh m(s);
        const array<float> whole = numbers({11, 6});
        for (const auto& p : {dist::split(m), dist::split(m, {"", "ranks"}), dist::split(m, dist::ghost(1))}) {
            const array<float> x = dist::redistribute(whole, p);
            for (const index_t by : {1, -1, 4, -13, 11})
                for (const index_t axis : {0, 1}) {
                    const array<float> y = roll(x, by, axis) * 2 + x;
                    CHECK((dist::is_distributed(y) || s.size() == 1));
                    check_equal<float>(s, dist::gather(y), roll(whole, by, axis) * 2 + whole);
                }
            check_equal<float>(s, dist::gather(roll(x, 2, 0)), roll(whole, 2, 0));
            check_equal<float>(s, dist::gather(roll(x + 1, {3, -2}, {0, 1}) - x),
                               roll(whole + 1, {3, -2}, {0, 1}) - whole);
            check_equal<float>(s, dist::gather(roll(roll(x, 1, 0), 2, 1)), roll(roll(whole, 1, 0), 2, 1));
            check_equal<float>(s, array<float>(sum(roll(x, 1, 0) * x)), sum(roll(whole, 1, 0) * whole));
            array<float> z = x;
            z = roll(z, 1, 0);
            check_equal<float>(s, dist::gather(z), roll(whole, 1, 0));
        }
        const array<float> line = numbers({23});
        const array<float> x = dist::redistribute(line, dist::split(m));
        check_equal<float>(s, dist::gather(roll(x, 5) + flip(x, 0)), roll(line, 5) + flip(line, 0));
    });
}

TEST_CASE("rolls over two split axes") {
    dist::run_local(4, [](dist::session& s) {
        const dist::mesh m(s, {"y", "x"}, {2, 2});
        const array<float> whole = numbers({9, 7});
        const array<float> x = dist::redistribute(whole, dist::split(m, {"y", "x"}));
        check_equal<float>(s, dist::gather(roll(x, {1, -2}, {0, 1}) + x), roll(whole, {1, -2}, {0, 1}) + whole);
        check_equal<float>(s, dist::gather(roll(roll(x, 1, 0), 3, 1) + roll(x, 1, 1)),
                           roll(roll(whole, 1, 0), 3, 1) + roll(whole, 1, 1));
    });
}

TEST_CASE("pads and joins of split axes") {
    on_ranks([](dist::session& s) {
        const dist::mesh m(s);
        const array<float> whole = numbers({9, 5}), other = numbers({4, 5}) + 50;
        for (const auto& p : {dist::split(m), dist::split(m, {"", "ranks"})}) {
            const array<float> x = dist::redistribute(whole, p), y = dist::redistribute(other, p);
            for (const pad_mode mode :
                 {pad_mode::constant, pad_mode::edge, pad_mode::reflect, pad_mode::symmetric, pad_mode::wrap}) {
                CAPTURE(static_cast<int>(mode));
                check_equal<float>(s, dist::gather(array<float>(pad(x, 2, mode))), pad(whole, 2, mode));
            }
            check_equal<float>(s, dist::gather(array<float>(concatenate({x, y}, 0))), concatenate({whole, other}, 0));
            check_equal<float>(s, dist::gather(array<float>(concatenate({x, x}, 1) * 2)),
                               concatenate({whole, whole}, 1) * 2);
            check_equal<float>(s, dist::gather(array<float>(stack({x, x}, 0) + 1)), stack({whole, whole}, 0) + 1);
            check_equal<float>(s, dist::gather(array<float>(tile(x, {2, 3}))), tile(whole, {2, 3}));
            check_equal<float>(s, dist::gather(array<float>(repeat(x, 3, 0))), repeat(whole, 3, 0));
        }
    });
}

TEST_CASE("joins of many parts") {
    on_ranks([](dist::session& s) {
        const array<float> whole = numbers({6, 4}), x = dist::redistribute(whole, dist::split(dist::mesh(s)));
        std::vector<lazy<float>> in_parts, ordinary;
        for (int k = 0; k < 10; ++k) in_parts.push_back(x * float(k)), ordinary.push_back(whole * float(k));
        check_equal<float>(s, dist::gather(concatenate(in_parts, 1)), concatenate(ordinary, 1));
        check_equal<float>(s, dist::gather(stack(in_parts, 2)), stack(ordinary, 2));
    });
}

TEST_CASE("scans of split axes") {
    on_ranks([](dist::session& s) {
        const dist::mesh m(s);
        const array<float> whole = numbers({11, 6}) - 9;
        for (const auto& p : {dist::split(m), dist::split(m, {"", "ranks"})}) {
            const array<float> x = dist::redistribute(whole, p);
            for (const index_t axis : {0, 1}) {
                check_equal<float>(s, dist::gather(cumsum(x, axis) + x), cumsum(whole, axis) + whole);
                check_equal<float>(s, dist::gather(cummax(x + 1, axis)), cummax(whole + 1, axis));
                check_equal<float>(s, dist::gather(flip(cumsum(x, axis), axis)), flip(cumsum(whole, axis), axis));
            }
            check_equal<float>(s, array<float>(max(cumsum(x, 0))), max(cumsum(whole, 0)));
            check_equal<float>(s, dist::gather(cumsum(roll(x, 1, 0), 0)), cumsum(roll(whole, 1, 0), 0));
        }
        const array<float> line = numbers({100'003});
        const array<float> x = dist::redistribute(line, dist::split(m));
        check_equal<float>(s, dist::gather(cumsum(x)), cumsum(line));
        const array<float> few = dist::redistribute(numbers({3}), dist::split(m));
        check_equal<float>(s, dist::gather(cumsum(few) * 2), cumsum(numbers({3})) * 2);
    });
}

TEST_CASE("Fourier transforms of split axes") {
    on_ranks([](dist::session& s) {
        const dist::mesh m(s);
        using complex = std::complex<float>;
        const array<complex> whole = numbers({12, 10, 8}) + complex(0, 1) * roll(numbers({12, 10, 8}), 3, 1);
        const auto check = [&](const array<complex>& found, const array<complex>& wanted) {
            test::check_close<complex>(s, found, wanted, 1e-4);
        };
        for (const auto& p : {dist::split(m), dist::split(m, {"", "ranks"})}) {
            const array<complex> x = dist::redistribute(whole, p);
            const array<complex> plane = dist::redistribute(array<complex>(whole(all, all, 2)), p);
            for (const index_t axis : {0, 1, 2})
                check(dist::gather(fft::fft(x, none, axis)), fft::fft(whole, none, axis));
            check(dist::gather(fft::fft2(plane * 2)), fft::fft2(whole(all, all, 2) * 2));
            check(dist::gather(fft::ifft2(fft::fft2(plane))), array<complex>(whole(all, all, 2)));
            // The transform's elements lie in another order than the plane's.
            array<complex> turned = fft::fft2(plane), copy = turned;
            copy += 1;
            turned(2, all) = turned(1, all) * 2;
            array<complex> wanted = fft::fft2(whole(all, all, 2));
            check(dist::gather(copy), wanted + 1);
            wanted(2, all) = wanted(1, all) * 2;
            check(dist::gather(turned), wanted);
            check(dist::gather(turned * copy), wanted * (fft::fft2(whole(all, all, 2)) + 1));
            check(dist::gather(fft::fftn(x)), fft::fftn(whole));
            check(dist::gather(fft::rfft(real(x), none, 0)), fft::rfft(real(whole), none, 0));
            check(dist::gather(fft::rfft(real(x), none, 1)), fft::rfft(real(whole), none, 1));
        }
    });
}

TEST_CASE("sorts along split axes") {
    on_ranks([](dist::session& s) {
        const dist::mesh m(s);
        const array<float> whole = numbers({13, 6});
        for (const auto& p : {dist::split(m), dist::split(m, {"", "ranks"})}) {
            const array<float> x = dist::redistribute(whole, p);
            for (const index_t axis : {0, 1}) {
                check_equal<float>(s, dist::gather(array<float>(sort(x * 2, axis))), sort(whole * 2, axis));
                check_equal<std::int64_t>(s, dist::gather(array<std::int64_t>(argsort(x, axis))), argsort(whole, axis));
            }
        }
    });
}

TEST_CASE("iterate does as many steps an exchange as the ghost layers are wide") {
    constexpr auto step = [](const auto& u) {
        const slice in(1, -1), low(0, -2), high(2, none);
        return 0.25 * (u(low, in) + u(high, in) + u(in, low) + u(in, high));
    };
    on_ranks([&](dist::session& s) {
        const dist::mesh m(s);
        const array<double> whole = astype<double>(numbers({26, 9})), wanted = iterate(11, whole, step);
        for (const index_t ghosts : {1, 2, 4, 5}) {
            const array<double> x = dist::redistribute(whole, dist::split(m, dist::ghost(ghosts)));
            const array<double> y = iterate(11, x, step);
            check_equal<double>(s, dist::gather(y), wanted);
            check_equal<double>(s, dist::gather(x), whole);
            check_equal<double>(s, dist::gather(iterate(3, y, step)), iterate(3, wanted, step));
        }
        const array<float> wide = reshape(sin(arange<float>(64 * 80)), {64, 80}).eval();  // several steps a kernel
        constexpr auto heat = [](const auto& u) {
            const slice in(1, -1), low(0, -2), high(2, none);
            return u(in, in) + 0.2f * (u(low, in) + u(high, in) + u(in, low) + u(in, high) - 4 * u(in, in));
        };
        test::check_close<float>(
            s, dist::gather(iterate(17, dist::redistribute(wide, dist::split(m, dist::ghost(8))), heat)),
            iterate(17, wide, heat), 1e-5);
        const array<double> x = dist::redistribute(whole, dist::split(m, dist::ghost(4)));
        (void)iterate(4, x, step);
        const auto before = dist::counters(s).messages;
        (void)iterate(8, x, step);
        if (s.size() == 2 && s.rank() == 0)
            CHECK(dist::counters(s).messages - before == 1);  // the first four steps find them valid
    });
}

TEST_CASE("a roll moves the rows that leave their rank, and no more") {
    dist::run_local(2, [](dist::session& s) {
        const dist::mesh m(s);
        const array<float> x = dist::redistribute(numbers({4096, 64}), dist::split(m));
        const auto before = dist::counters(s).bytes;
        const array<float> y = roll(x, 3, 0);
        if (s.rank() == 0) CHECK(dist::counters(s).bytes - before == 3 * 64 * sizeof(float));
        check_equal<float>(s, dist::gather(y), roll(numbers({4096, 64}), 3, 0));
    });
}

TEST_CASE("scans, rolls and products meet views of other ranks' elements") {
    on_ranks([](dist::session& s) {
        const dist::mesh m(s);
        const array<float> line = numbers({12}), whole = numbers({11, 6});
        const array<float> x = dist::redistribute(line, dist::split(m));
        const array<float> x2 = dist::redistribute(whole, dist::split(m));
        const array<float> y2 = dist::redistribute(whole, dist::split(m, {"", "ranks"}));
        const auto check = [&](const array<float>& found, const array<float>& wanted) {
            check_equal<float>(s, dist::gather(found), wanted);
        };
        const slice behind(1, none), before(0, -1);
        // Scans, of which another rank reads elements.
        check(cumsum(x)(behind) - x(before), cumsum(line)(behind) - line(before));
        check(array<float>(cumsum(x)(11)), cumsum(line)(11));
        check(x + flip(cumsum(x), 0), line + flip(cumsum(line), 0));
        check(cumsum(x2, 0) + cumsum(y2, 1), cumsum(whole, 0) + cumsum(whole, 1));
        check(reshape(cumsum(x), {3, 4}) * 1, reshape(cumsum(line), {3, 4}));
        array<float> o = zeros<float>({11, 6}), q = y2;
        o(all, all) = cumsum(x2, 0);
        check_equal<float>(s, o, cumsum(whole, 0));
        q(all, all) = cumsum(x2, 0);
        check(q, cumsum(whole, 0));
        // The last rank holds the first part of a flipped array.
        check(cumsum(flip(x, 0)), cumsum(flip(line, 0)));
        check(flip(cummax(flip(x2, 0) - 1, 0), 0), flip(cummax(flip(whole, 0) - 1, 0), 0));
        // A roll of a slice begins again at the slice's first element.
        for (const index_t ghosts : {0, 1, 3}) {
            const array<float> g = dist::redistribute(line, dist::split(m, dist::ghost(ghosts)));
            for (const index_t by : {-3, -1, 1, 2})
                for (const index_t end : {8, 9, 11})
                    check(roll(g(slice(1, end)), by) * 1, roll(line(slice(1, end)), by));
            check(tile(g(slice(2, 10)), {2}) * 1, tile(line(slice(2, 10)), {2}));
        }
        // Operands of products that bind axes.
        check(matmul(transpose(roll(x2, 1, 0)), x2), matmul(transpose(roll(whole, 1, 0)), whole));
        check(matmul(roll(x2, 1, 0), transpose(whole)), matmul(roll(whole, 1, 0), transpose(whole)));
        check(matmul(transpose(cumsum(x2, 0)), x2), matmul(transpose(cumsum(whole, 0)), whole));
        check(matmul(transpose(x2 - sum(x2, 0)), x2), matmul(transpose(whole - sum(whole, 0)), whole));
        // An operand that is not an array in parts is computed before it is rolled.
        const array<float> large = numbers({300, 301}), in_parts = dist::redistribute(large, dist::split(m));
        check(roll(flip(in_parts, 0), 7, 0) * 1, roll(flip(large, 0), 7, 0));
        check(roll(in_parts + large, 7, 0), roll(large + large, 7, 0));
        check(concatenate({in_parts, in_parts}, 0), concatenate({large, large}, 0));
    });
    dist::run_local(4, [](dist::session& s) {
        const dist::mesh m(s, {"y", "x"}, {2, 2});
        const array<float> x = dist::redistribute(numbers({3, 10'000}), dist::split(m, {"y", "x"}));
        bool is_refused = false;
        try {
            const array<float> sorted = sort(x, 1);
        } catch (const distributed_error&) {
            is_refused = true;
        }
        if (s.rank() == 0) CHECK(is_refused);
        s.barrier();
    });
}
