// The host's share of a small statement: array<float> r = e; whole (build, key, pool, launch, release) against the bare
// launch of an empty kernel with as many bytes of arguments. With `stub` the driver does nothing, no GPU is needed, and
// the parts are timed one by one.
//   overhead RESULTS.jsonl [stub] [CALLS]
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <thread>

#include <ingot/ingot.hpp>

#include "gpu.hpp"
#include "host_data.hpp"
#include "report.hpp"
#include "runtime/classify.hpp"
#include "runtime/evaluate.hpp"
#include "runtime/executable.hpp"
#include "runtime/launch.hpp"
#include "stub_driver.hpp"

namespace {

using namespace ingot;
using bench::median;
using bench::promise;

constexpr std::size_t elements = 1024;
constexpr std::size_t calls_a_block = 500;  // fewer than the launches that a driver queues: nobody waits for the GPU

/// Arrays that the statements are over.
struct inputs {
    std::array<array<float>, 8> a;
    inputs() {
        for (std::size_t i = 0; i < a.size(); ++i) a[i] = asarray(bench::uniform<float>(elements, 50 + i, -4, 4));
    }
};

auto choice(const inputs& in) {
    const auto &x = in.a[0], &y = in.a[1];
    return where(x - 2 > y, x * y, x + y);
}

/// 30 operators over 8 arrays.
auto thirty_nodes(const inputs& in) {
    const auto& [a, b, c, d, e, f, g, h] = in.a;
    return (((a * b + c * d) - (e * f + g * h)) * ((a + c) * (b + d) - (e + g) * (f + h)) +
            ((a - b) * (c - d) + (e - f) * (g - h)) + a * e - b * f + c * g) *
           h;
}

template <class T>
void keep(const T& value) {
    asm volatile("" : : "g"(&value) : "memory");
}

double nanoseconds_since(std::chrono::steady_clock::time_point from) {
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - from).count();
}

/// Appends the nanoseconds of each of a block of calls.
template <class F>
void time_block(std::vector<double>& times, F call) {
    for (std::size_t i = 0; i < calls_a_block; ++i) {
        const auto from = std::chrono::steady_clock::now();
        call();
        times.push_back(nanoseconds_since(from));
    }
    synchronize();
}

struct pair_of_times {
    std::vector<double> statement, bare;
};

/// Alternates blocks of statements and of bare launches.
template <class F>
pair_of_times time_against_bare(const bench::hand_kernel& empty, std::size_t blocks, F statement) {
    const CUstream stream = bench::native_stream();
    const auto& api = *runtime::driver();
    char argument[128] = {};
    void* arguments[] = {argument};
    pair_of_times times;
    for (int i = 0; i < 50; ++i) statement();
    for (std::size_t block = 0; block < blocks; ++block) {
        time_block(times.statement, statement);
        time_block(times.bare, [&] {
            runtime::check(api.cuLaunchKernel(empty.function(), 1, 1, 1, 256, 1, 1, 0, stream, arguments, nullptr),
                           "launching an empty kernel");
        });
    }
    return times;
}

/// The same from several threads at once, each on a stream and over arrays of its own.
template <class F>
pair_of_times time_from_threads(std::size_t threads, const bench::hand_kernel& empty, std::size_t blocks,
                                F expression) {
    std::vector<pair_of_times> each(threads);
    std::vector<std::thread> team;
    std::barrier start(static_cast<std::ptrdiff_t>(threads));
    for (std::size_t t = 0; t < threads; ++t)
        team.emplace_back([&, t] {
            const with_stream own{stream()};
            const inputs in;
            synchronize();
            start.arrive_and_wait();
            each[t] = time_against_bare(empty, blocks, [&] { const array<float> r = expression(in); });
        });
    for (std::thread& member : team) member.join();
    pair_of_times all;
    for (const pair_of_times& one : each) {
        all.statement.insert(all.statement.end(), one.statement.begin(), one.statement.end());
        all.bare.insert(all.bare.end(), one.bare.begin(), one.bare.end());
    }
    return all;
}

/// Evaluates as many different programs of five operators, so that as many kernels are loaded.
void load_kernels(std::size_t count, const inputs& in) {
    using namespace ingot::detail;
    static constexpr op operators[] = {op::add, op::subtract, op::multiply, op::maximum};
    static std::vector<slot> slots(count);
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        for (std::size_t i; (i = next++) < count;) {
            std::vector<word> program{make_word(word_kind::leaf, dtype::f4)};
            std::vector<operand> operands(6);
            for (std::size_t k = 0; k < operands.size(); ++k) {
                const leaf<float>& l = in.a[k].as_leaf();
                operands[k].type = dtype::f4;
                operands[k].where = &l.where();
                operands[k].memory = l.memory().get();
                if (k == 0) continue;
                program.push_back(make_word(word_kind::leaf, dtype::f4));
                program.push_back(make_word(word_kind::map, dtype::f4,
                                            static_cast<std::uint32_t>(operators[(i >> 2 * (k - 1)) % 4])));
            }
            buffer_ref memory;
            layout where;
            const output out{dtype::f4, &memory, &where};
            evaluate(slots[i], program, operands, {}, {&out, 1});
        }
    };
    std::vector<std::thread> team;
    for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t) team.emplace_back(work);
    for (std::thread& member : team) member.join();
}

/// Nanoseconds of one of many calls.
template <class F>
double average(F call) {
    std::vector<double> runs;
    for (int run = 0; run < 51; ++run) {
        const auto from = std::chrono::steady_clock::now();
        for (int i = 0; i < 1000; ++i) call();
        runs.push_back(nanoseconds_since(from) / 1000);
    }
    return median(std::move(runs));
}

/// Where a statement's time goes, against the budget of each part.
template <class F>
void time_parts(bench::report& out, const std::string& name, const inputs& in, F expression,
                std::array<double, 6> budget) {
    const auto tree = expression(in);
    using node = std::remove_cvref_t<decltype(tree)>;
    operand operands[node::operands];
    detail::word attributes[node::binders + 1];
    buffer_ref memory;
    detail::layout where;
    const output result{node::type, &memory, &where};
    const auto gather = [&] {
        detail::cursor c{operands, attributes};
        tree.gather(c);
    };
    gather();
    const runtime::statement s{node::program, operands, {}, {&result, 1}};
    const runtime::place place = runtime::place_of(s);
    runtime::classifier classifier;
    evaluate(detail::slot_of<float, node>::cache, node::program, operands, {}, {&result, 1});  // allocates the result
    std::vector<std::uint32_t> key;
    const runtime::classified& classes = classifier.classify(s, place.environment);
    runtime::classifier::full_key(classes, s.program, key);
    const runtime::executable& program = runtime::executable_for(key);

    const double whole = average([&] { const array<float> r = expression(in); });
    const double build = average([&] { keep(expression(in)); });
    const double words = average([&] {
        gather();
        keep(classifier.classify(s, place.environment));
    });
    const double pool = average([&] { keep(allocate_buffer(elements * sizeof(float))); });
    const double launch = average([&] { runtime::run(program, classes, s, *place.stream); });
    const auto part = [&](const char* what, double time, double goal) {
        out.add({.section = "parts",
                 .name = name + ": " + what,
                 .unit = "ns",
                 .time = time,
                 .kind = promise::limit,
                 .goal = goal});
    };
    part("build and drop the tree", build, budget[0]);
    part("gather and key", words, budget[1]);
    part("pool", pool, budget[2]);
    part("ordering, arguments, launch", launch, budget[3]);
    part("rest", whole - build - words - pool - launch, budget[4]);
    part("whole", whole, budget[5]);
}

int run(int argc, char** argv) {
    if (argc < 2) return std::fprintf(stderr, "usage: overhead RESULTS.jsonl [stub] [CALLS]\n"), 2;
    const bool stub = argc > 2 && std::strcmp(argv[2], "stub") == 0;
    const std::size_t calls = argc > (stub ? 3 : 2) ? std::strtoul(argv[stub ? 3 : 2], nullptr, 10) : 100000;
    const std::size_t blocks = std::max<std::size_t>(1, calls / calls_a_block);

    static const runtime::driver_api nothing = bench::stub_driver();
    std::optional<runtime::driver_replacement> in_place;
    if (stub) in_place.emplace(nothing);
    const with_device on_gpu(device::cuda(0));
    bench::report out(argv[1]);
    const inputs in;
    const bench::hand_kernel empty_48("empty.cu", "empty", {"-DARGUMENT_BYTES=48"});
    const bench::hand_kernel empty_96("empty.cu", "empty", {"-DARGUMENT_BYTES=96"});

    const auto add = [&](const std::string& name, const pair_of_times& times, double goal) {
        out.add({.section = stub ? "overhead, stub driver" : "overhead",
                 .name = name,
                 .unit = "ns",
                 .time = median(times.statement),
                 .baseline = "bare launch",
                 .baseline_time = median(times.bare),
                 .kind = promise::excess,
                 .goal = goal});
    };
    const auto both = [&](const std::string& suffix) {
        add("where, 1024 elements" + suffix,
            time_against_bare(empty_48, blocks, [&] { const array<float> r = choice(in); }), 500);
        add("30 nodes over 8 arrays" + suffix,
            time_against_bare(empty_96, blocks, [&] { const array<float> r = thirty_nodes(in); }), 1000);
    };
    both("");
    const array<float> small = asarray(bench::uniform<float>(256 * 1024, 60, -4, 4), {256, 1024});
    add("sqrt(sum(a * a, -1)), (256, 1024)",
        time_against_bare(empty_48, blocks, [&] { const array<float> r = sqrt(sum(small * small, -1)); }), 700);
    add("where, from 8 threads", time_from_threads(8, empty_48, std::max<std::size_t>(1, blocks / 8), choice), 500);
    if (stub) {
        time_parts(out, "where", in, choice, {120, 80, 80, 70, 100, 450});
        time_parts(out, "30 nodes", in, thirty_nodes, {450, 250, 80, 120, 100, 1000});
    }
    const auto before = counters();
    const std::size_t kernels = stub ? 100 : 1000;
    load_kernels(kernels, in);
    if (counters().kernel_launches - before.kernel_launches < kernels) throw std::runtime_error("too few kernels ran");
    both(", " + std::to_string(kernels) + " kernels loaded");
    return 0;
}

}  // namespace

int main(int argc, char** argv) try { return run(argc, argv); } catch (const std::exception& reason) {
    std::fprintf(stderr, "overhead: %s\n", reason.what());
    return 1;
}
