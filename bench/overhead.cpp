// The host's share of a small statement: array<float> r = e; whole (build, key, pool, launch, release) against the bare
// launch of an empty kernel with as many bytes of arguments, and where the difference goes. With `stub` the driver does
// nothing and no GPU is needed.
//   overhead RESULTS.jsonl [stub] [CALLS]
#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <ingot/ingot.hpp>

#include "gpu.hpp"
#include "host_data.hpp"
#include "report.hpp"
#include "runtime/front/classify.hpp"
#include "runtime/front/dispatch_cache.hpp"
#include "runtime/front/evaluate.hpp"
#include "runtime/front/launch.hpp"
#include "runtime/kernels/executable.hpp"
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
    array<float> matrix;
    inputs() {
        for (std::size_t i = 0; i < a.size(); ++i) a[i] = asarray(bench::uniform<float>(elements, 50 + i, -4, 4));
        matrix = asarray(bench::uniform<float>(256 * elements, 60, -4, 4), {256, elements});
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

/// The norms of 256 rows.
auto row_norms(const inputs& in) { return sqrt(sum(in.matrix * in.matrix, -1)); }

using clock = std::chrono::steady_clock;

double nanoseconds(clock::time_point from, clock::time_point to) {
    return std::chrono::duration<double, std::nano>(to - from).count();
}

/// Appends the nanoseconds of each of a block of calls.
template <class F>
void time_block(std::vector<double>& times, F call) {
    for (std::size_t i = 0; i < calls_a_block; ++i) {
        const auto from = clock::now();
        call();
        times.push_back(nanoseconds(from, clock::now()));
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

/// Times several threads at once, each with its own stream and arrays.
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

/// The time of each step of a statement: the steps of the evaluator are repeated here, with a clock between them.
struct parts {
    double build, key, pool, launch, drop;
};

template <class F>
parts time_parts(const inputs& in, std::size_t blocks, F expression) {
    using node = decltype(expression(in));
    runtime::classifier classifier;
    runtime::dispatch_cache recent;
    const runtime::executable* program = nullptr;
    std::array<std::vector<double>, 7> steps;
    const auto statement = [&] {
        std::array<clock::time_point, 8> at;
        at[0] = clock::now();
        ingot::detail::buffer_ref memory;
        detail::layout where;
        {
            const node tree = expression(in);
            at[1] = clock::now();
            ingot::detail::operand operands[node::operands];
            detail::word attributes[node::binders + 1];
            detail::cursor c{operands, attributes};
            tree.gather(c);
            const ingot::detail::output result{node::type, &memory, &where};
            const runtime::statement s{node::program,
                                       operands,
                                       {attributes, static_cast<std::size_t>(node::binders)},
                                       {&result, 1},
                                       runtime::kinds_of(node::program)};
            at[2] = clock::now();
            const runtime::execution_context place = runtime::context_of(s);
            runtime::call_signature seen;
            const bool fits = node::binders != 0 && seen.take(detail::slot_of<float, node>::cache, s, place);
            runtime::dispatch_cache::entry* const known = fits ? recent.find(seen) : nullptr;
            const runtime::classified& classes = known ? known->classes : classifier.classify(s, place.environment);
            at[3] = clock::now();
            memory = ingot::detail::allocate_buffer(static_cast<std::size_t>(classes.size) * sizeof(float));
            where = detail::contiguous_layout(classes.shape);
            at[4] = clock::now();
            if (program == nullptr) {
                std::vector<std::uint32_t> key;
                runtime::classifier::full_key(classes, s.program, key);
                program = &runtime::executable_for(key);
            }
            runtime::order(s, *place.stream);
            runtime::run(*program, classes, s, *place.stream, known ? &known->launches : nullptr);
            if (fits && !known) recent.insert(seen, *program, classes);
            at[5] = clock::now();
        }
        at[6] = clock::now();
        memory = {};
        at[7] = clock::now();
        for (std::size_t i = 0; i < steps.size(); ++i) steps[i].push_back(nanoseconds(at[i], at[i + 1]));
    };
    for (std::size_t block = 0; block < blocks; ++block) {
        for (std::size_t i = 0; i < calls_a_block; ++i) statement();
        synchronize();
    }
    std::vector<double> looks;
    for (std::size_t i = 0; i < calls_a_block; ++i) {
        const auto from = clock::now();
        looks.push_back(nanoseconds(from, clock::now()));
    }
    std::array<double, 7> of;
    for (std::size_t i = 0; i < of.size(); ++i) of[i] = std::max(0.0, median(steps[i]) - median(looks));
    return {of[0], of[1] + of[2], of[3] + of[6], of[4], of[5]};
}

/// A row of the results: a statement against the bare launch, and, where it is split, its parts.
struct measurement {
    std::string name;
    double goal;
    std::function<pair_of_times()> time;
    std::function<parts()> split;
};

/// The least time of copying an array: one increment and decrement of a count that nobody else uses.
double reference_time() {
    const array<float> a = zeros<float>(elements);
    constexpr int times = 100000;
    const auto from = clock::now();
    // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): the copy is what is timed
    for (int i = 0; i < times; ++i) const array<float> copy = a;
    return nanoseconds(from, clock::now()) / times;
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

    const std::string section = stub ? "overhead, stub driver" : "overhead";
    const auto add_parts = [&](const std::string& name, const pair_of_times& times, const parts& of) {
        const double bare = median(times.bare), launch = of.launch - bare;
        const auto part = [&](const char* what, double time) {
            out.add({.section = section + ", parts", .name = name + ": " + what, .unit = "ns", .time = time});
        };
        part("the tree is built", of.build);
        part("key", of.key);
        part("memory", of.pool);
        part("ordering, arguments, launch over the bare one", launch);
        part("the tree is dropped", of.drop);
        part("the rest", median(times.statement) - bare - of.build - of.key - of.pool - launch - of.drop);
    };
    // Other work of the machine slows everything down for seconds. So each measurement takes turns, and the turn with
    // the fastest bare launch counts.
    const auto add_all = [&](const std::vector<measurement>& all, const std::string& suffix) {
        std::vector<pair_of_times> best(all.size());
        for (int turn = 0; turn < 3; ++turn)
            for (std::size_t i = 0; i < all.size(); ++i) {
                pair_of_times times = all[i].time();
                if (turn == 0 || median(times.bare) < median(best[i].bare)) best[i] = std::move(times);
            }
        for (std::size_t i = 0; i < all.size(); ++i) {
            out.add({.section = section,
                     .name = all[i].name + suffix,
                     .unit = "ns",
                     .time = median(best[i].statement),
                     .baseline = "bare launch",
                     .baseline_time = median(best[i].bare),
                     .kind = promise::excess,
                     .goal = all[i].goal});
            if (all[i].split && suffix.empty()) add_parts(all[i].name, best[i], all[i].split());
        }
    };
    const auto one = [&](const char* name, const bench::hand_kernel& bare, auto expression, double goal) {
        return measurement{
            name, goal,
            [&in, &bare, blocks, expression] {
                return time_against_bare(bare, blocks, [&] { const array<float> r = expression(in); });
            },
            [&in, blocks, expression] { return time_parts(in, std::max<std::size_t>(1, blocks / 4), expression); }};
    };
    out.add({.section = section, .name = "a reference taken and given back", .unit = "ns", .time = reference_time()});
    std::vector<measurement> all{one("where, 1024 elements", empty_48, choice, 500),
                                 one("30 nodes over 8 arrays", empty_96, thirty_nodes, 1000),
                                 one("sqrt(sum(a * a, -1)), (256, 1024)", empty_48, row_norms, 700)};
    all.push_back({"where, from 8 threads",
                   500,
                   [&] { return time_from_threads(8, empty_48, std::max<std::size_t>(1, blocks / 8), choice); },
                   {}});
    add_all(all, "");
    all.pop_back();
    const auto before = counters();
    const std::size_t kernels = stub ? 100 : 1000;
    load_kernels(kernels, in);
    if (counters().kernel_launches - before.kernel_launches < kernels) throw std::runtime_error("too few kernels ran");
    add_all(all, ", " + std::to_string(kernels) + " kernels loaded");
    return 0;
}

}  // namespace

int main(int argc, char** argv) try { return run(argc, argv); } catch (const std::exception& reason) {
    std::fprintf(stderr, "overhead: %s\n", reason.what());
    return 1;
}
