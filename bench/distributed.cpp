// Statements over arrays in parts on all GPUs of a host, one rank a thread, as ratios to one GPU in the same run.
//   distributed RESULTS.jsonl [LOG2 OF ELEMENTS [RANKS]]
//   distributed model: times on one GPU, and what they and the messages of a few ranks say of many GPUs
#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <ingot/distributed.hpp>
#include <ingot/ingot.hpp>

#include "report.hpp"
#include "runtime/distributed/session.hpp"
#include "runtime/front/evaluate.hpp"

using namespace ingot;
namespace dist = ingot::distributed;

namespace {

using clock_type = std::chrono::steady_clock;

double seconds_since(clock_type::time_point start) {
    return std::chrono::duration<double>(clock_type::now() - start).count();
}

/// The calls of a round that takes some 50 ms.
int calls_of(double microseconds) { return std::clamp(static_cast<int>(5e4 / microseconds), 3, 200); }

/// Microseconds of a call on the current stream: the median of rounds of as many calls, equal on all ranks.
double timed(const std::function<void()>& f, int calls, const std::function<void()>& meet = [] {}) {
    for (int i = 0; i < 3; ++i) f();
    std::vector<double> rounds;
    for (int round = 0; round < 7; ++round) {
        synchronize();
        meet();
        const auto begin = clock_type::now();
        for (int i = 0; i < calls; ++i) f();
        synchronize();
        rounds.push_back(1e6 * seconds_since(begin) / calls);
    }
    std::ranges::sort(rounds);
    return rounds[rounds.size() / 2];
}
double timed(const std::function<void()>& f) { return timed(f, calls_of(timed(f, 3))); }

/// A statement over arrays that `p` splits, or that lie on one GPU where it is null.
using measured = std::function<std::function<void()>(const dist::partition* p)>;

array<float> filled(const shape_like& shape, const dist::partition* p) {
    const auto values = random::uniform<float>(shape);
    return p != nullptr ? dist::redistribute(values, *p) : array<float>(values);
}

struct row {
    std::string name;
    double goal;
    std::function<dist::partition(const dist::mesh&)> partition;
    measured statement;
};

/// The time on all ranks is that of the slowest.
double on_all(int ranks, const row& r, int calls, dist::traffic& moved) {
    std::mutex mutex;
    double worst = 0;
    dist::run_local(ranks, [&](dist::session& s) {
        const dist::mesh m(s);
        const dist::partition p = r.partition(m);
        const std::function<void()> f = r.statement(&p);
        f();
        const dist::traffic before = dist::counters(s);
        f();
        const dist::traffic after = dist::counters(s);
        const double own = timed(f, calls, [&] { s.barrier(); });
        const std::lock_guard lock(mutex);
        worst = std::max(worst, own);
        if (s.rank() == 0)
            moved = {after.exchanges - before.exchanges, after.messages - before.messages, after.bytes - before.bytes};
    });
    return worst;
}

dist::partition rows_with_ghosts(const dist::mesh& m) { return dist::split(m, dist::ghost(1)); }
dist::partition rows(const dist::mesh& m) { return dist::split(m); }

auto five_points(const array<float>& u) {
    const slice in(1, -1), low(0, -2), high(2, none);
    return u(in, in) + 0.1F * (u(low, in) + u(high, in) + u(in, low) + u(in, high) - 4 * u(in, in));
}

/// Conjugate gradients for the five-point Laplacian with zeros around it: 20 iterations a call.
std::function<void()> conjugate_gradients(index_t n, const dist::partition* p) {
    const array<float> b = filled({n, n}, p);
    return [b] {
        const slice in(1, -1), low(0, -2), high(2, none);
        array<float> x = b * 0, r = b * 1, d = b * 1, q = b * 0;
        array<float> rr = sum(r * r);
        for (int k = 0; k < 20; ++k) {
            q(in, in) = 4 * d(in, in) - d(low, in) - d(high, in) - d(in, low) - d(in, high);
            array<float> alpha = rr / sum(d * q);
            x += alpha * d;
            r -= alpha * q;
            array<float> next = sum(r * r);
            d = r + next / rr * d;
            rr = next;
        }
    };
}

/// The statements over 2^log2 elements, or as many as a square or cube of about that size has.
std::vector<row> statements_over(int log2) {
    const index_t n = index_t{1} << log2, side = index_t{1} << (log2 / 2),
                  cube = log2 == 28 ? 640 : index_t{1} << (log2 / 3);
    const slice in(1, -1), low(0, -2), high(2, none);
    return {
        {"where(x - 2 > y, x * y, x + y)", 1.95, rows,
         [=](const dist::partition* p) -> std::function<void()> {
             return [x = filled({n}, p), y = filled({n}, p), z = array<float>()]() mutable {
                 z = where(x - 2 > y, x * y, x + y);
             };
         }},
        {"sum(square(x - y))", 1.9, rows,
         [=](const dist::partition* p) -> std::function<void()> {
             return [x = filled({n}, p), y = filled({n}, p), z = array<float>()]() mutable { z = sum(square(x - y)); };
         }},
        {"5 points, " + std::to_string(side) + "^2", 1.9, rows_with_ghosts,
         [=](const dist::partition* p) -> std::function<void()> {
             return [=, u = filled({side, side}, p), v = filled({side, side}, p)]() mutable {
                 v(in, in) = five_points(u);
                 std::swap(u, v);
             };
         }},
        {"7 points, " + std::to_string(cube) + "^3", 1.9, rows_with_ghosts,
         [=](const dist::partition* p) -> std::function<void()> {
             return [=, u = filled({cube, cube, cube}, p), v = filled({cube, cube, cube}, p)]() mutable {
                 v(in, in, in) =
                     u(in, in, in) + 0.1F * (u(low, in, in) + u(high, in, in) + u(in, low, in) + u(in, high, in) +
                                             u(in, in, low) + u(in, in, high) - 6 * u(in, in, in));
                 std::swap(u, v);
             };
         }},
        {"softmax over the split axis, (" + std::to_string(side / 4) + ", " + std::to_string(side * 4) + ")", 1.8,
         [](const dist::mesh& m) { return dist::split(m, {"", "ranks"}); },
         [=](const dist::partition* p) -> std::function<void()> {
             return [x = filled({side / 4, side * 4}, p), y = array<float>()]() mutable { y = softmax(x, 1); };
         }},
        {"iterate(8) of 5 points, " + std::to_string(side) + "^2", 1.9,
         [](const dist::mesh& m) { return dist::split(m, dist::ghost(8)); },
         [=](const dist::partition* p) -> std::function<void()> {
             return [u = filled({side, side}, p)]() mutable { u = iterate(8, u, five_points); };
         }},
        {"fft2, " + std::to_string(side) + "^2 complex64", 1.5, rows,
         [=](const dist::partition* p) -> std::function<void()> {
             return [x = array<std::complex<float>>(astype<std::complex<float>>(filled({side, side}, p))),
                     y = array<std::complex<float>>()]() mutable { y = fft::fft2(x); };
         }},
        {"matmul, " + std::to_string(side) + "^2 float32", 1.8, rows,
         [=](const dist::partition* p) -> std::function<void()> {
             return [x = filled({side, side}, p), y = filled({side, side}, nullptr), z = array<float>()]() mutable {
                 z = matmul(x, y);
             };
         }},
        {"matmul, " + std::to_string(side) + "^2 bfloat16", 1.8, rows,
         [=](const dist::partition* p) -> std::function<void()> {
             return [x = array<bfloat16>(astype<bfloat16>(filled({side, side}, p))),
                     y = array<bfloat16>(astype<bfloat16>(filled({side, side}, nullptr))),
                     z = array<bfloat16>()]() mutable { z = matmul(x, y); };
         }},
        {"conjugate gradients, 20 iterations, " + std::to_string(side / 4) + "^2", 1.8, rows_with_ghosts,
         [=](const dist::partition* p) { return conjugate_gradients(side / 4, p); }},
    };
}

// ---- many GPUs by a model ----------------------------------------------------------------------------------------

/// Measured with two H200 of one host, NCCL 2.28.9: an exchange of 64 KiB each way took 9.5 us, one of 512 MiB had a
/// rate of 354 GB/s. Between hosts: a port of 400 Gb/s for each GPU, of which 90% are reached. Messages of an exchange
/// beyond two begin one after the other. An all-gather takes the time of log2(ranks) exchanges.
constexpr double exchange_time = 9.5, own_host_rate = 354e3, exchange_time_of_hosts = 20, host_rate = 45e3,
                 message_time = 0.5;  // us, bytes/us
constexpr int gpus_of_host = 8;

dist::traffic traffic_of(const row& r, int ranks) {
    dist::traffic moved;
    dist::run_local(ranks, [&](dist::session& s) {
        const dist::partition p = r.partition(dist::mesh(s));
        const std::function<void()> f = r.statement(&p);
        f();
        const dist::traffic before = dist::counters(s);
        f();
        const dist::traffic after = dist::counters(s);
        if (s.rank() == 1)  // rank 0 has one neighbour
            moved = {after.exchanges - before.exchanges, after.messages - before.messages, after.bytes - before.bytes};
    });
    return moved;
}

/// The exponent with which a count grows.
double growth(std::uint64_t from, std::uint64_t to, double times) {
    return from == 0 ? 0 : std::log(static_cast<double>(to) / static_cast<double>(from)) / std::log(times);
}

/// For each statement: the time on one GPU, and by the model that of strong and weak scaling, as ratios to one GPU. A
/// rank's kernels take the time of one GPU for as many elements, and exchanges are not hidden behind them. Messages and
/// bytes are counted on 4 and 8 ranks of the host with 2^12 and 2^18 elements; they grow as powers of elements and
/// ranks.
int print_model(int log2) {
    constexpr int few = 12, more = 18;
    const std::vector<row> at_size = statements_over(log2), small = statements_over(few), large = statements_over(more);
    std::printf("%-50s %10s  ratio to one GPU by GPUs\n%-50s %10s", "", "one GPU", "", "us");
    const std::vector<int> gpus{2, 4, 8, 64, 512, 4096};
    for (const int g : gpus) std::printf(" %8d", g);
    std::printf("\n");
    for (std::size_t k = 0; k < at_size.size(); ++k) {
        const double one = timed(at_size[k].statement(nullptr));
        const dist::traffic a = traffic_of(small[k], 8), b = traffic_of(large[k], 8), c = traffic_of(large[k], 4);
        const double by_size = growth(a.bytes, b.bytes, std::exp2(more - few)), by_ranks = growth(c.bytes, b.bytes, 2),
                     messages_by_ranks = growth(c.messages, b.messages, 2);
        for (const bool is_weak : {false, true}) {
            std::printf("%-50s %10.1f", is_weak ? "  as many elements on each GPU" : at_size[k].name.c_str(), one);
            for (const int g : gpus) {
                const double elements = std::exp2(log2 - more) * (is_weak ? g : 1);
                const double bytes =
                    static_cast<double>(b.bytes) * std::pow(elements, by_size) * std::pow(g / 8.0, by_ranks);
                const double messages = static_cast<double>(b.messages) * std::pow(g / 8.0, messages_by_ranks);
                const bool is_one_host = g <= gpus_of_host;
                // More bytes on more ranks: parts of sums, which all gather.
                const bool gathers = by_ranks > 0.01 && messages_by_ranks > 0.01;
                const auto exchanges = static_cast<double>(b.exchanges);
                const double latency = (is_one_host ? exchange_time : exchange_time_of_hosts) *
                                       (gathers ? std::max(std::log2(g), 1.0) : 1.0);
                const double moving = exchanges * latency +
                                      (gathers ? 0 : message_time * std::max(messages - 2 * exchanges, 0.0)) +
                                      bytes / (is_one_host ? own_host_rate : host_rate);
                const double computing = is_weak ? one : one / g;
                std::printf(" %8.1f", one * (is_weak ? g : 1) / (computing + moving));
            }
            std::printf("\n");
        }
    }
    std::printf(
        "Measured: an exchange within a host takes %.1f us and moves %.0f GB/s for a GPU. Assumed: %d GPUs a host; "
        "between hosts %.0f us and %.0f GB/s for a GPU; %.1f us for each message of an exchange beyond two; the time "
        "of log2(GPUs) exchanges for an all-gather.\n",
        exchange_time, own_host_rate / 1e3, gpus_of_host, exchange_time_of_hosts, host_rate / 1e3, message_time);
    return 0;
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): an error ends the program with its text
int main(int argc, char** argv) {
    if (argc < 2) return std::fprintf(stderr, "usage: distributed RESULTS.jsonl [LOG2 [RANKS]] | model [LOG2]\n"), 2;
    if (argv[1] == std::string_view("model")) return print_model(argc > 2 ? std::atoi(argv[2]) : 28);
    const int log2 = argc > 2 ? std::atoi(argv[2]) : 28;
    const int ranks = argc > 3 ? std::atoi(argv[3]) : std::max(device::cuda_count(), 2);
    bench::report out(argv[1]);
    const index_t side = index_t{1} << (log2 / 2);

    for (const row& r : statements_over(log2)) {
        const double one = timed(r.statement(nullptr));
        dist::traffic moved;
        const double several = on_all(ranks, r, calls_of(one), moved);
        out.add({.section = "distributed",
                 .name = r.name + ", " + std::to_string(ranks) + " ranks",
                 .unit = "us",
                 .time = several,
                 .baseline = "one GPU",
                 .baseline_time = one,
                 .kind = bench::promise::share,
                 .goal = r.goal * ranks / 2,
                 .note = std::to_string(moved.exchanges) + " exchanges, " + std::to_string(moved.messages) +
                         " messages, " + std::to_string(moved.bytes) + " bytes sent by rank 0"});
    }

    // Rows to columns, beside an exchange of as many bytes from and to contiguous memory.
    double own = 0, bare = 0, of_expression = 0, alone_of_expression = 0;
    dist::run_local(ranks, [&](dist::session& s) {
        const dist::mesh m(s);
        const dist::partition by_rows = dist::split(m), by_columns = dist::split(m, {"", "ranks"});
        const array<float> x = filled({side, side}, &by_rows);
        const auto time_of = [&](const auto& f) { return timed(f, 10, [&] { s.barrier(); }); };
        const auto expression = where(x > 0.5F, x * x, x + 1);
        const double moving = time_of([&] { array<float> y = dist::redistribute(x, by_columns); });
        const double moving_expression = time_of([&] { array<float> y = dist::redistribute(expression, by_columns); });
        const double computing = time_of([&] { array<float> y = expression; });
        const std::size_t bytes = static_cast<std::size_t>(side * side) * 4 / static_cast<std::size_t>(ranks * ranks);
        array<float> from = empty<float>({side * side / ranks}), to = empty<float>({side * side / ranks});
        std::vector<runtime::message> messages;
        for (int other = 0; other < ranks; ++other) {
            if (other == s.rank()) continue;
            const auto at = static_cast<std::size_t>(other) * bytes / 4;
            messages.push_back({other, from.mutable_data() + at, bytes, true});
            messages.push_back({other, to.mutable_data() + at, bytes, false});
        }
        const double exchanging = time_of([&] { s.state()->exchange(messages); });
        if (s.rank() != 0) return;
        own = moving, bare = exchanging, of_expression = moving_expression;
        alone_of_expression = computing + exchanging;
    });
    out.add({.section = "distributed",
             .name = "redistribute " + std::to_string(side) + "^2 from rows to columns, " + std::to_string(ranks) +
                     " ranks",
             .unit = "us",
             .time = own,
             .baseline = "the exchange of the bytes alone",
             .baseline_time = bare,
             .kind = bench::promise::share,
             .goal = 0.9});

    out.add(
        {.section = "distributed",
         .name = "redistribute of an expression, " + std::to_string(side) + "^2, " + std::to_string(ranks) + " ranks",
         .unit = "us",
         .time = of_expression,
         .baseline = "the expression, and the exchange of the bytes",
         .baseline_time = alone_of_expression,
         .kind = bench::promise::share,
         .goal = 0.9});

    // The host's time of a statement over arrays in parts, beside one over ordinary arrays of the part's size.
    double in_parts = 0, alone = 0;
    dist::run_local(ranks, [&](dist::session& s) {
        const dist::partition p = dist::split(dist::mesh(s));
        const auto nanoseconds = [&](const array<float>& x, const array<float>& y) {
            array<float> z;
            const auto run = [&] { z = where(x - 2 > y, x * y, x + y); };
            for (int i = 0; i < 100; ++i) run();
            synchronize();
            s.barrier();
            double best = 1e9;
            for (int round = 0; round < 20; ++round) {
                const auto first = clock_type::now();
                for (int i = 0; i < 200; ++i) run();
                best = std::min(best, 1e9 * seconds_since(first) / 200);
                synchronize();
            }
            return best;
        };
        const array<float> x = filled({1024 * ranks}, &p), y = filled({1024 * ranks}, &p);
        const double parts = nanoseconds(x, y), local = nanoseconds(dist::local(x), dist::local(y));
        if (s.rank() == 0) in_parts = parts, alone = local;
    });
    out.add({.section = "distributed",
             .name = "where over 1024 elements a rank, " + std::to_string(ranks) + " ranks, the host's time",
             .unit = "ns",
             .time = in_parts,
             .baseline = "an ordinary array",
             .baseline_time = alone,
             .kind = bench::promise::excess,
             .goal = 1000});

    const auto begin = clock_type::now();
    dist::run_local(ranks, [](dist::session& s) {
        array<float> x = dist::ones<float>({1024}, dist::split(dist::mesh(s)));
        sum(x).item();
    });
    out.add({.section = "distributed",
             .name = "start of " + std::to_string(ranks) + " ranks and a sum",
             .unit = "us",
             .time = 1e6 * seconds_since(begin),
             .baseline_time = 2e6,
             .kind = bench::promise::limit,
             .goal = 2e6});
}
