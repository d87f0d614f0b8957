// Many threads at once: the same statements, different ones, copies of one array, arrays that outlive their thread and
// stream, and a process that forks meanwhile.
#include <atomic>
#include <numeric>
#include <optional>
#include <thread>

#include "count.hpp"
#include "tests/arrays/expect.hpp"
#include "tests/cache/fixture.hpp"
#include "tests/untested.hpp"

using namespace ingot;

namespace {

constexpr int crowd = 64;

/// Runs f(t) in threads t = 0, 1, ... that begin together; returns how many of them it is false for, or throws in.
template <class F>
int failures(int threads, F f) {
    std::atomic<int> waiting{threads}, failed{0};
    std::vector<std::thread> team;
    for (int t = 0; t < threads; ++t)
        team.emplace_back([&, t] {
            --waiting;
            while (waiting > 0) std::this_thread::yield();
            try {
                failed += !f(t);
            } catch (const std::exception& e) {
                MESSAGE(e.what());
                ++failed;
            }
        });
    for (std::thread& member : team) member.join();
    return failed;
}

/// A tree of `length` steps, so that every length is a kernel of its own.
lazy<int> chain(const array<int>& x, int length) {
    lazy<int> l = x;
    for (int k = 0; k < length; ++k) l = l * 3 + x;
    return l;
}
bool is_chain(const array<int>& r, int length) {
    std::vector<int> wanted(100);
    for (int i = 0; i < 100; ++i) {
        auto v = static_cast<unsigned>(i);  // wraps, as the arrays do
        for (int k = 0; k < length; ++k) v = v * 3 + static_cast<unsigned>(i);
        wanted[static_cast<std::size_t>(i)] = static_cast<int>(v);
    }
    return r.to_host() == wanted;
}

}  // namespace

TEST_CASE("64 threads evaluate the same and different statements at once, and each kernel is made once") {
    const array<int> shared = counted(100);
    constexpr int first = 5, statements = 9;                   // chains that no other test makes
    const auto observer = runtime::observe_new_keys(nullptr);  // counts what statements compile, nothing beside
    const counter_values before = counters();
    const int wrong = failures(crowd, [&](int t) {
        const array<int> mine = t % 2 ? shared : counted(100);
        bool right = true;
        for (int k = 0; k < statements; ++k) {
            const int length = first + (t + k) % statements;
            right = right && is_chain(chain(mine, length), length);
        }
        return right;
    });
    const counter_values after = counters();
    runtime::observe_new_keys(observer);
    CHECK(wrong == 0);
    CHECK(after.compiles + after.disk_cache_hits - before.compiles - before.disk_cache_hits == statements);
    CHECK(after.kernel_launches - before.kernel_launches == crowd * statements);
}

TEST_CASE("threads meet a statement's slot at once, with more classes than it has places") {
    const auto triple = [](const auto& x) { return x + x + x; };
    const int wrong = failures(16, [&](int t) {
        bool right = true;
        for (int k = 0; k < 40; ++k) {
            const array<int> x = counted({8, 33});
            switch ((t + k) % 6) {
                case 0:
                    right = right && triple(x(all)).to_host()[40] == 120;
                    break;
                case 1:
                    right = right && triple(x.T()).to_host()[9] == 3 * (1 * 33 + 1);
                    break;
                case 2:
                    right = right && triple(x(all, slice(1))).to_host()[33] == 3 * 35;
                    break;
                case 3:
                    right = right && triple(x(all, slice(0, none, 2))).to_host()[17] == 3 * 33;
                    break;
                case 4:
                    right = right && triple(x(3, slice(4))).to_host()[0] == 3 * (99 + 4);
                    break;
                default:
                    right = right && triple(x(slice(none, none, -1), newaxis)).to_host()[0] == 3 * 7 * 33;
                    break;
            }
        }
        return right;
    });
    CHECK(wrong == 0);
}

TEST_CASE("copies of one array are written in several threads at once, and none sees another's writes") {
    const array<int> original = counted({50, 20});
    const auto pending = original * 2;
    const int wrong = failures(16, [&](int t) {
        bool right = true;
        for (int k = 0; k < 30; ++k) {
            array<int> mine = original;
            const array<int> kept = mine;
            mine += t;
            mine(slice(0, none, 2)) = mine(slice(1, none, 2)) * 2;
            mine(7) = -t;
            std::vector<int> wanted(1000);
            for (int i = 0; i < 50; ++i)
                for (int j = 0; j < 20; ++j) {
                    const int odd = (i + 1) * 20 + j + t, own = i * 20 + j + t;
                    wanted[static_cast<std::size_t>(i * 20 + j)] = i == 7 ? -t : i % 2 == 0 ? 2 * odd : own;
                }
            right = right && mine.to_host() == wanted && kept.to_host()[999] == 999 && pending.to_host()[999] == 1998;
        }
        return right;
    });
    CHECK(wrong == 0);
    CHECK(original.to_host() == counted({50, 20}).to_host());
}

TEST_CASE("the first writer of many holders splits, and the last one writes in place") {
    for (int round = 0; round < 50; ++round) {
        std::vector<array<int>> copies(8, counted(1000));
        CHECK(failures(8, [&](int t) {
                  array<int>& mine = copies[static_cast<std::size_t>(t)];
                  mine(slice(t)) += 1;
                  mine(slice(0, t)) = 0;
                  const auto v = mine.to_host();
                  return v[999] == 1000 && (t == 0 || v[0] == 0) &&
                         std::accumulate(v.begin(), v.end(), 0) == 999 * 500 + (1000 - t) - t * (t - 1) / 2;
              }) == 0);
    }
}

TEST_CASE("arrays, trees and selections outlive their thread and its stream") {
    std::optional<array<float>> made;
    std::optional<lazy<float>> tree;
    std::thread([&] {
        const stream own;
        const with_stream g(own);
        const array<float> x = ones<float>(1000);
        made = x * 3;
        tree = *made + x;
    }).join();
    for (int k = 0; k < 3; ++k) {  // streams that are made now may be the old one again
        const stream other;
        const with_stream g(other);
        *made += 1;
    }
    CHECK(holds(*made, {1000}, std::vector<float>(1000, 6)));
    CHECK(holds(*tree, {1000}, std::vector<float>(1000, 4)));
}

TEST_CASE("threads on streams of their own read what others wrote, and write what others read") {
    array<int> x = counted(5000);
    for (int round = 0; round < 20; ++round) {
        const array<int> before = x;
        CHECK(failures(6, [&](int t) {
                  const stream own;
                  const with_stream g(own);
                  array<int> mine = before + t;
                  mine += before;
                  return mine.to_host()[4999] == 2 * (4999 + round) + t;
              }) == 0);
        x += 1;
    }
    CHECK(x.to_host()[0] == 20);
}

TEST_CASE("a process forked while threads evaluate goes on evaluating") {
    if (thread_sanitizer || address_sanitizer)
        return ingot::test::untested("not under sanitizers of threads or addresses");
    const with_device g(device::host());  // a GPU's context does not survive a fork
    const array<int> x = counted(100);
    std::atomic<bool> stop{false};
    std::vector<std::thread> busy;
    for (int t = 0; t < 4; ++t)
        busy.emplace_back([&, t] {
            const with_device host(device::host());
            for (int k = 0; !stop; ++k) {
                (void)eval(chain(x, 14 + (k + t) % 4));
                for (int text = 0; text < 100; ++text) (void)detail::keep_text({"same", "z = x;"});
            }
        });
    int well = 0;
    for (int child = 0; child < 30; ++child) {
        const int status = test::exit_status(test::start_child([&] {
            runtime::observe_new_keys(nullptr);
            const int wrong = failures(8, [&](int t) {
                const with_device host(device::host());
                (void)detail::keep_text({"same", "z = x;"});
                const int length = 14 + t;  // some are loaded, some being loaded, some new
                return is_chain(chain(x, length), length);
            });
            return wrong;
        }));
        well += status == 0;
    }
    stop = true;
    for (std::thread& t : busy) t.join();
    CHECK(well == 30);
    CHECK(is_chain(chain(x, 14), 14));
}
