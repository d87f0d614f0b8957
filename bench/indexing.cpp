// Views, gathers, compactions, joins, scatters and counts. Each is timed and compared with the roof for the bytes that
// it must move and with its goal, most often another library's time on an H100; its result is checked once against a
// simple computation. indexing.py times the same statements in torch and CuPy, cub_indexing.cu in CUB.
//   indexing [RESULTS.jsonl [PART_OF_A_NAME [SHRINK]]]
// SHRINK divides the sizes by 2^SHRINK, for trials without goals.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <ingot/ingot.hpp>

#include "figure_table.hpp"
#include "gpu.hpp"
#include "host_data.hpp"
#include "report.hpp"
#include "roofs.hpp"
#include "session.hpp"

namespace {

using namespace ingot;
using bench::figure;
using bench::promise;
using bench::require;
using bench::uniform;

/// The time on an H100 that is to be reached; and a share of the roof.
constexpr figure microseconds(double most) { return {promise::limit, most}; }
constexpr figure roof_share(double least) { return {promise::share, least}; }

std::size_t at(index_t i) { return static_cast<std::size_t>(i); }
double unless(bool holds) { return holds ? 0 : 1; }

class table : bench::figure_table {
public:
    table(bench::session& s, const char* only, int shrink) : figure_table(s, shrink, "indexing"), only_(only) {}

    void run() {
        attempt("(A - mu) / sd", [&](auto& n) { measure_broadcast_rows(n); });
        attempt("A + transpose(B)", [&](auto& n) { measure_transposed(n); });
        attempt("reversed axes copied", [&](auto& n) { measure_reversed_axes(n); });
        attempt("take at random indices", [&](auto& n) { measure_take(n, false, 4595); });
        attempt("take at sorted indices", [&](auto& n) { measure_take(n, true, 1530); });
        attempt("take of rows of 128", [&](auto& n) { measure_take_of_rows(n); });
        attempt("x(mask)", [&](auto& n) { measure_masked(n); });
        attempt("x(mask) = 0", [&](auto& n) { measure_masked_write(n); });
        attempt("nonzero(mask)", [&](auto& n) { measure_nonzero(n); });
        attempt("scatter_add", [&](auto& n) { measure_scatter(n, 2.0 * 852); });
        attempt("scatter_add, unordered", [&](auto& n) { measure_scatter(n, 1.05 * 852, unordered); });
        attempt("exp of a concatenate", [&](auto& n) { measure_concatenate(n); });
        attempt("roll + x", [&](auto& n) { measure_roll(n); });
        attempt("pad", [&](auto& n) { measure_pad(n); });
        attempt("flip", [&](auto& n) { measure_flip(n); });
        attempt("histogram of 256 bins", [&](auto& n) { measure_histogram(n); });
        attempt("bincount to 1024", [&](auto& n) { measure_bincount(n); });
        attempt("searchsorted in 2^16", [&](auto& n) { measure_searchsorted(n); });
    }

private:
    template <class Measure>
    void attempt(const std::string& name, Measure measure) {
        if (name.find(only_) != std::string::npos) figure_table::attempt(name, [&] { measure(name); });
    }

    void measure_broadcast_rows(const std::string& name) {
        const std::size_t length = 1 << 14, rows = shrunk(length), n = rows * length;
        const auto a_host = uniform<float>(n, 301, -4, 4), mu_host = uniform<float>(length, 302, -1, 1),
                   sd_host = uniform<float>(length, 303, 0.5, 2);
        const array<float> a = asarray(a_host, {rows, length}), mu = asarray(mu_host), sd = asarray(sd_host);
        measure(
            {name, 4 * n + 8 * length, 4 * n, microseconds(715)}, [&] { return eval((a - mu) / sd); },
            [&](const array<float>& r) {
                const auto got = r.to_host();
                return require(name, n, 1e-5, [&](std::size_t i) {
                    const std::size_t j = i % length;
                    return std::abs(got[i] - (double{a_host[i]} - mu_host[j]) / sd_host[j]);
                });
            });
    }

    void measure_transposed(const std::string& name) {
        const std::size_t columns = 1 << 14, rows = shrunk(columns, 64), n = rows * columns;
        const auto a_host = uniform<float>(n, 304, -4, 4), b_host = uniform<float>(n, 305, -4, 4);
        const array<float> a = asarray(a_host, {rows, columns}), b = asarray(b_host, {columns, rows});
        const auto error = [&](const array<float>& r) {
            const auto got = r.to_host();
            return require(name, n, 0, [&](std::size_t i) {
                return std::abs(got[i] - (a_host[i] + b_host[i % columns * rows + i / columns]));
            });
        };
        array<float> to = empty<float>({rows, columns});
        const auto* const add_transposed = kernel_by_hand("add_transposed", "indexing.cu");
        const auto hand = by_hand([=, p = a.data(), q = b.data(), z = to.mutable_data()](int) {
            (*add_transposed)(n / 4096, 256, p, q, z, static_cast<unsigned>(rows), static_cast<unsigned>(columns));
        });
        if (hand) {
            hand(0);
            error(to);
        }
        measure({name, 8 * n, 4 * n, microseconds(1075), hand}, [&] { return eval(a + transpose(b)); }, error);
    }

    void measure_reversed_axes(const std::string& name) {
        const std::size_t p = shrunk(512), q = 512, r = 1024, n = p * q * r;
        const auto host = uniform<float>(n, 306, -4, 4);
        const array<float> x = asarray(host, {p, q, r});
        measure(
            {name, 4 * n, 4 * n, microseconds(750)}, [&] { return eval(permute_dims(x, {2, 1, 0})); },
            [&](const array<float>& result) {
                const auto got = result.to_host();
                return require(name, n, 0, [&](std::size_t i) {
                    const std::size_t k = i % p, j = i / p % q, first = i / p / q;
                    return unless(got[i] == host[(k * q + j) * r + first]);
                });
            });
    }

    /// Takes as many elements as there are. If they are scattered, each one loads its sector of 32 bytes: the roof then
    /// counts these, not the bytes that must move.
    void measure_take(const std::string& name, bool sorted, double wanted) {
        const std::size_t n = shrunk(1 << 27);
        const auto host = uniform<float>(n, 307, -4, 4);
        const array<float> x = asarray(host);
        array<index_t> indices = asarray(uniform<index_t>(n, sorted ? 309 : 308, 0, static_cast<double>(n)));
        if (sorted) indices = sort(indices);
        const auto places = indices.to_host();
        measure(
            {name, 12 * n, 4 * n, microseconds(wanted)}, [&] { return eval(take(x, indices)); },
            [&](const array<float>& r) {
                const auto got = r.to_host();
                return require(name, n, 0, [&](std::size_t i) { return unless(got[i] == host[at(places[i])]); });
            });
    }

    void measure_take_of_rows(const std::string& name) {
        const std::size_t rows = shrunk(1 << 20), length = 128, n = rows * length;
        const auto host = uniform<float>(n, 310, -4, 4);
        const auto places = uniform<index_t>(rows, 311, 0, static_cast<double>(rows));
        const array<float> x = asarray(host, {rows, length});
        const array<index_t> indices = asarray(places);
        measure(
            {name, 8 * rows + 4 * n, 4 * n, microseconds(646)}, [&] { return eval(take(x, indices, 0)); },
            [&](const array<float>& r) {
                const auto got = r.to_host();
                return require(name, n, 0, [&](std::size_t i) {
                    return unless(got[i] == host[at(places[i / length]) * length + i % length]);
                });
            });
    }

    struct masked {
        std::vector<float> values;
        std::vector<std::uint8_t> kept;
        array<float> x;
        array<bool> mask;
        std::size_t count;
    };
    masked half_of(std::size_t n, std::uint64_t seed) const {
        masked m{uniform<float>(n, seed, 1, 2), uniform<std::uint8_t>(n, seed + 1, 0, 2), {}, {}, 0};
        m.x = asarray(m.values);
        m.mask = asarray(m.kept) != 0;
        m.count = static_cast<std::size_t>(std::count(m.kept.begin(), m.kept.end(), 1));
        return m;
    }
    void measure_masked(const std::string& name) {
        const std::size_t n = shrunk(1 << 28);
        const masked m = half_of(n, 312);
        measure(
            {name, 5 * n, 4 * m.count, microseconds(876 / 0.95)}, [&] { return eval(m.x(m.mask)); },
            [&](const array<float>& r) {
                std::vector<float> wanted;
                for (std::size_t i = 0; i < n; ++i)
                    if (m.kept[i] != 0) wanted.push_back(m.values[i]);
                const auto got = r.to_host();
                return require(name, 1, 0, [&](std::size_t) { return unless(got == wanted); });
            });
    }
    /// One sector of 32 bytes in 256 has nothing to write, so the roof counts all as read and written.
    void measure_masked_write(const std::string& name) {
        const std::size_t n = shrunk(1 << 28);
        masked m = half_of(n, 314);
        measure(
            {name, 5 * n, 4 * n, roof_share(0.9)},
            [&] {
                m.x(m.mask) = 0;
                return 0;
            },
            [&](int) {
                const auto got = m.x.to_host();
                return require(name, n, 0,
                               [&](std::size_t i) { return unless(got[i] == (m.kept[i] != 0 ? 0 : m.values[i])); });
            });
    }
    void measure_nonzero(const std::string& name) {
        const std::size_t n = shrunk(1 << 28);
        const masked m = half_of(n, 316);
        measure(
            {name, n, 8 * m.count, microseconds(908)}, [&] { return nonzero(m.mask)[0]; },
            [&](const array<index_t>& r) {
                std::vector<index_t> wanted;
                for (std::size_t i = 0; i < n; ++i)
                    if (m.kept[i] != 0) wanted.push_back(static_cast<index_t>(i));
                const auto got = r.to_host();
                return require(name, 1, 0, [&](std::size_t) { return unless(got == wanted); });
            });
    }

    template <class... Mode>
    void measure_scatter(const std::string& name, double wanted, Mode... mode) {
        const std::size_t n = shrunk(1 << 26), places = shrunk(1 << 20);
        const auto values_host = uniform<float>(n, 318, 0, 1);
        const auto where_host = uniform<index_t>(n, 319, 0, static_cast<double>(places));
        const array<float> values = asarray(values_host);
        const array<index_t> where = asarray(where_host);
        array<float> sums = zeros<float>(places);
        measure(
            {name, 12 * n + 4 * places, 4 * places, microseconds(wanted)},
            [&] {
                scatter_add(sums(where), values, mode...);
                return 0;
            },
            [&](int) {
                std::vector<double> exact(places, 0);
                for (std::size_t i = 0; i < n; ++i) exact[at(where_host[i])] += values_host[i];
                const auto got = sums.to_host();
                // On the host, sums use float32 throughout.
                const double bound = sizeof...(Mode) == 0 && current_device().is_cuda() ? 1e-7 : 1e-5;
                return require(name, places, bound,
                               [&](std::size_t i) { return std::abs(got[i] - exact[i]) / std::max(exact[i], 1.0); });
            });
    }

    void measure_concatenate(const std::string& name) {
        const std::size_t half = shrunk(1 << 27), n = 2 * half;
        const auto host = uniform<float>(n, 320, -4, 4);
        const array<float> whole = asarray(host);
        const array<float> a = eval(whole(slice(0, half)) + 0), b = eval(whole(slice(half, n)) + 0);
        measure(
            {name, 4 * n, 4 * n, roof_share(0.95)}, [&] { return eval(exp(concatenate({a, b}))); },
            [&](const array<float>& r) {
                const auto got = r.to_host();
                return require(name, n, 1e-6, [&](std::size_t i) {
                    const double wanted = std::exp(double{host[i]});
                    return std::abs(got[i] - wanted) / wanted;
                });
            });
    }

    /// Times make(x), whose element i must be `wanted(host, i)`; it writes `more` elements than it reads.
    template <class Make, class Wanted>
    void measure_moved(const std::string& name, std::uint64_t seed, std::size_t more, Make make, Wanted wanted) {
        const std::size_t n = shrunk(1 << 28);
        const auto host = uniform<float>(n, seed, -4, 4);
        const array<float> x = asarray(host);
        measure(
            {name, 4 * n, 4 * (n + more), roof_share(0.95)}, [&] { return make(x); },
            [&](const array<float>& r) {
                const auto got = r.to_host();
                require(name, 1, 0, [&](std::size_t) { return unless(got.size() == n + more); });
                return require(name, n + more, 0, [&](std::size_t i) { return unless(got[i] == wanted(host, i)); });
            });
    }
    void measure_roll(const std::string& name) {
        const std::size_t by = 100;
        measure_moved(
            name, 321, 0, [](const array<float>& x) { return eval(roll(x, 100) + x); },
            [](const std::vector<float>& v, std::size_t i) { return v[(i + v.size() - by) % v.size()] + v[i]; });
    }
    void measure_pad(const std::string& name) {
        const std::size_t by = 100;
        measure_moved(
            name, 322, 2 * by, [](const array<float>& x) { return eval(pad(x, 100)); },
            [](const std::vector<float>& v, std::size_t i) { return i < by || i >= v.size() + by ? 0 : v[i - by]; });
    }
    void measure_flip(const std::string& name) {
        measure_moved(
            name, 323, 0, [](const array<float>& x) { return eval(flip(x)); },
            [](const std::vector<float>& v, std::size_t i) { return v[v.size() - 1 - i]; });
    }

    void measure_histogram(const std::string& name) {
        const std::size_t n = shrunk(1 << 28);
        const auto host = uniform<float>(n, 324, 0, 1);
        const array<float> x = asarray(host);
        measure(
            {name, 4 * n, 0, microseconds(1.1 * 363)}, [&] { return std::get<0>(histogram(x, 256, {0.0, 1.0})); },
            [&](const array<index_t>& r) {
                // 256 is a power of two, so a value's bin is exact. Rounding turns the largest value below 1 into 1, in
                // the last bin.
                std::vector<index_t> wanted(256, 0);
                for (const float v : host) ++wanted[std::min<std::size_t>(static_cast<std::size_t>(v * 256), 255)];
                const auto got = r.to_host();
                return require(name, 256, 0, [&](std::size_t i) { return unless(got[i] == wanted[i]); });
            });
    }
    void measure_bincount(const std::string& name) {
        const std::size_t n = shrunk(1 << 26);
        const auto host = uniform<std::int32_t>(n, 325, 0, 1024);
        const array<std::int32_t> x = asarray(host);
        measure(
            {name, 4 * n, 0, microseconds(400)}, [&] { return bincount(x, 1024); },
            [&](const array<index_t>& r) {
                std::vector<index_t> wanted(1024, 0);
                for (const std::int32_t v : host) ++wanted[static_cast<std::size_t>(v)];
                const auto got = r.to_host();
                return require(name, 1024, 0, [&](std::size_t i) { return unless(got[i] == wanted[i]); });
            });
    }
    void measure_searchsorted(const std::string& name) {
        const std::size_t n = shrunk(1 << 26), length = 1 << 16;
        auto sorted_host = uniform<float>(length, 326, 0, 1);
        std::ranges::sort(sorted_host);
        const auto host = uniform<float>(n, 327, 0, 1);
        const array<float> sorted = asarray(sorted_host), x = asarray(host);
        measure(
            {name, 4 * n + 4 * length, 8 * n, microseconds(2312)}, [&] { return eval(searchsorted(sorted, x)); },
            [&](const array<index_t>& r) {
                const auto got = r.to_host();
                return require(name, n, 0, [&](std::size_t i) {
                    const auto place = std::ranges::lower_bound(sorted_host, host[i]) - sorted_host.begin();
                    return unless(got[i] == place);
                });
            });
    }

    const char* only_;
};

int run(int argc, char** argv) {
    const int shrink = argc > 3 ? std::atoi(argv[3]) : 0;
    if (shrink < 0 || shrink > 18)
        return std::fprintf(stderr, "usage: indexing [RESULTS.jsonl [PART_OF_A_NAME [SHRINK, 0 to 18]]]\n"), 2;
    const std::size_t n = std::size_t{1} << (28 - shrink);
    bench::report out(argc > 1 ? argv[1] : "/dev/null");
    const bench::roofs roof = [&] {
        const auto x_host = uniform<float>(n, 399, 1, 4), y_host = uniform<float>(n, 400, 1, 4);
        return bench::roofs(out, asarray(x_host), asarray(y_host));
    }();
    bench::session s{out, roof};
    table(s, argc > 2 ? argv[2] : "", shrink).run();
    return s.failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try { return run(argc, argv); } catch (const std::exception& reason) {
    std::fprintf(stderr, "indexing: %s\n", reason.what());
    return 1;
}
