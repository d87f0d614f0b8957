// The records that a logger receives, and the output of INGOT_LOG.
#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/arrays/expect.hpp"
#include "tests/cache/fixture.hpp"
#include "tests/seeing/output.hpp"

using namespace ingot;
using namespace ingot::test;

namespace {

struct told {
    log_kind kind;
    std::string text, name, key;
    double milliseconds;
    std::size_t bytes, kernels;
    device where;
};

/// Collects records until its end.
class listening {
public:
    listening()
        : before_(set_logger([this](const log_record& r) {
              const std::lock_guard lock(mutex_);
              all_.push_back({r.kind, std::string(r.text), std::string(r.name), std::string(r.key), r.milliseconds,
                              r.bytes, r.kernels, r.device});
          })) {}
    listening(const listening&) = delete;
    ~listening() { set_logger(before_); }

    std::vector<told> of(log_kind kind) {
        const std::lock_guard lock(mutex_);
        std::vector<told> found;
        std::ranges::copy_if(all_, std::back_inserter(found), [kind](const told& t) { return t.kind == kind; });
        return found;
    }
    std::size_t size() {
        const std::lock_guard lock(mutex_);
        return all_.size();
    }

private:
    std::mutex mutex_;
    std::vector<told> all_;
    logger before_;
};

}  // namespace

TEST_CASE("a new expression is told of once, with its key, and again where another statement meets its kernel") {
    const array<double> x = arange<double>(7);
    listening to;
    array<double> y = x * 2.5 - 7 + x * x * x;
    std::vector<told> made = to.of(log_kind::compile);
    for (const told& t : to.of(log_kind::disk_hit)) made.push_back(t);  // from an earlier run of the tests
    // Tests make some of the kernels for GPUs that are not there, too.
    std::erase_if(made, [](const told& t) { return t.where.is_cuda() != current_device().is_cuda(); });
    REQUIRE(made.size() == 1);
    CHECK(made[0].key.size() == 32);
    CHECK(made[0].key.find_first_not_of("0123456789abcdef") == std::string::npos);
    CHECK(made[0].text.find(made[0].key) != std::string::npos);
    CHECK(made[0].text.find(made[0].name) != std::string::npos);
    if (made[0].kind == log_kind::compile) CHECK(made[0].milliseconds > 0);
    CHECK(to.of(log_kind::memory_hit).empty());

    const lazy<double> l(x);
    y = l * 2.5 - 7 + l * l * l;
    const std::vector<told> hits = to.of(log_kind::memory_hit);
    REQUIRE(hits.size() == 1);
    CHECK(hits[0].text == "loaded already: " + hits[0].name);
    CHECK(hits[0].name.find("x0") != std::string::npos);

    y = x * 2.5 - 7 + x * x * x;
    const std::size_t so_far = to.size();
    for (int k = 0; k < 3; ++k) y = x * 2.5 - 7 + x * x * x;
    CHECK(to.size() == so_far);
}

TEST_CASE("a statement that is cut is told of with its steps and why") {
    const array<float> x = reshape(arange<float>(600) + 1, {20, 30});
    listening to;
    const array<float> y = sum(x * sum(x * 1.75f, 0), 1);
    const std::vector<told> cuts = to.of(log_kind::cut);
    REQUIRE(cuts.size() == 1);
    CHECK(cuts[0].kernels == 2);
    CHECK(cuts[0].text.starts_with(cuts[0].name + ": 2 steps; "));
    CHECK(cuts[0].text.find("temporary") != std::string::npos);
    const array<float> whole = sqrt(x * 1.75f);
    CHECK(to.of(log_kind::cut).size() == 1);
    CHECK(y.size() == 20);
    CHECK(whole.size() == 600);
}

TEST_CASE("memory that is taken from a device and given back is told of, with its bytes") {
    memory_pool pool = default_memory_pool();
    pool.free_all_blocks();
    listening to;
    {
        const array<float> x = empty<float>({3 << 20});
        const std::vector<told> taken = to.of(log_kind::allocation);
        REQUIRE(taken.size() == 1);
        CHECK(taken[0].bytes >= std::size_t{12} << 20);
        CHECK(taken[0].where == current_device());
        CHECK(taken[0].text == "took " + std::to_string(taken[0].bytes) + " bytes from " + to_string(current_device()));
    }
    const array<float> again = empty<float>({3 << 20});  // from the pool
    CHECK(to.of(log_kind::allocation).size() == 1);
    CHECK(to.of(log_kind::deallocation).empty());
    const std::size_t bytes = to.of(log_kind::allocation)[0].bytes;
    array<float> given_back = again;
    given_back = zeros<float>(1);
    CHECK(again.size() == 3 << 20);
    { const array<float> more = empty<float>({5 << 20}); }
    pool.free_all_blocks();
    const std::vector<told> back = to.of(log_kind::deallocation);
    CHECK(std::ranges::any_of(back, [](const told& t) { return t.bytes >= std::size_t{20} << 20; }));
    CHECK(std::ranges::none_of(back, [bytes](const told& t) { return t.bytes == bytes; }));
}

TEST_CASE("what a logger throws is dropped, and an empty one ends it") {
    const array<int> x = arange<int>(9);
    int calls = 0;
    const logger before = set_logger([&](const log_record&) {
        ++calls;
        throw std::runtime_error("a logger's own");
    });
    const array<int> y = x * 3 + 11 - x * x;
    CHECK(calls > 0);
    CHECK(y(1).item() == 13);
    CHECK(set_logger(before));
    const int so_far = calls;
    const array<int> z = x * 3 + 12 * x - 1;
    CHECK(calls == so_far);
    CHECK(z(1).item() == 14);
}

TEST_CASE("threads may be told of at once, while the logger changes") {
    std::vector<std::thread> threads;
    std::size_t told_of = 0;
    {
        listening to;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([] {
                for (int k = 0; k < 200; ++k) {
                    const array<float> x = empty<float>({(2 << 20) + k % 3});
                    if (k % 50 == 0) default_memory_pool().free_all_blocks();
                }
            });
        for (int k = 0; k < 100; ++k) {
            listening inner;
            std::this_thread::yield();
            told_of += inner.size();
        }
        for (std::thread& t : threads) t.join();
        told_of += to.size();
    }
    CHECK(told_of > 0);
}

TEST_CASE("INGOT_LOG prints the kinds that it names, a line each, and warns of what it does not know") {
    const scratch_directory cache;
    const std::string program =
        "INGOT_CACHE_DIR='" + cache.path().string() + "' '" INGOT_TEST_PROGRAMS "/profiled' 2>&1";
    const std::string cold = output_of("INGOT_LOG=compile,cut " + program);
    CHECK(lines_with(cold, "ingot: compiled ") == lines_with(cold, ", "));
    CHECK(lines_with(cold, "ingot: compiled ") >= 2);
    CHECK(lines_with(cold, " ms, ") == lines_with(cold, "ingot: compiled "));
    CHECK(lines_with(cold, "computed 6") == 1);
    const std::string warm = output_of("INGOT_LOG=cache,memory " + program);
    CHECK(lines_with(warm, "ingot: found on disk: ") >= 2);
    CHECK(lines_with(warm, "ingot: took ") >= 1);
    CHECK(lines_with(warm, "compiled") == 0);
    CHECK(lines_with(output_of("INGOT_LOG= " + program), "ingot:") == 0);
    const std::string wrong = output_of("INGOT_LOG=everything " + program);
    CHECK(lines_with(
              wrong,
              "ingot: INGOT_LOG: \"everything\" is unknown; known are compile, cache, cut, memory, session and all") ==
          1);
    CHECK(lines_with(wrong, "ingot:") == 1);
    CHECK(lines_with(output_of("INGOT_LOG=all " + program), "ingot: ") >= 3);
}
