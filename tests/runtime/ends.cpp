// Ends of threads and of the process: evaluations at that time still find everything that they need.
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "runtime/system/per_thread.hpp"

namespace {

using ingot::runtime::per_thread;

template <int>
struct room {
    int value = 0;
    int left = 0;
    void leave() noexcept { ++left; }
};

std::string output_of(const std::string& command) {
    FILE* const pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string text;
    std::array<char, 4096> part;
    while (const std::size_t n = fread(part.data(), 1, part.size(), pipe)) text.append(part.data(), n);
    CHECK(pclose(pipe) == 0);
    return text;
}

}  // namespace

TEST_CASE("a thread that ends hands its room to a later one, as it is") {
    using mine = per_thread<room<0>>;
    const room<0>* seen = nullptr;
    for (int i = 0; i < 5; ++i)
        std::thread([&] {
            CHECK(mine::own_if_any() == nullptr);
            room<0>& own = mine::own();
            CHECK(&own == &mine::own());
            if (seen != nullptr) CHECK(&own == seen);
            CHECK(own.value++ == i);
            CHECK(own.left == i);
            seen = &own;
        }).join();
    CHECK(seen->left == 5);
}

TEST_CASE("threads at one time have rooms of their own, and no more rooms than threads are made") {
    using mine = per_thread<room<1>>;
    for (int round = 0; round < 3; ++round) {
        constexpr std::size_t n = 8;
        std::array<const room<1>*, n> rooms{};
        std::atomic<std::size_t> here{0};
        std::vector<std::thread> threads;
        for (std::size_t t = 0; t < n; ++t)
            threads.emplace_back([&, t] {
                rooms[t] = &mine::own();
                ++here;
                while (here < n) std::this_thread::yield();
            });
        for (std::thread& t : threads) t.join();
        CHECK(std::set(rooms.begin(), rooms.end()).size() == n);
        std::size_t all = 0;
        mine::for_each([&](const room<1>&) { ++all; });
        CHECK(all == n);
    }
}

TEST_CASE("a destructor of a thread_local object finds its thread's room, and one that is late another") {
    using mine = per_thread<room<2>>;
    struct at_end {
        const room<2>* before = nullptr;
        bool* same;
        ~at_end() { *same = before == &mine::own(); }
    };
    bool same = false;
    std::thread([&] {
        thread_local at_end first{nullptr, &same};
        first.before = &mine::own();
    }).join();
    CHECK(same);
    std::size_t all = 0, left = 0;
    mine::for_each([&](const room<2>& r) {
        ++all;
        left += static_cast<std::size_t>(r.left);
    });
    CHECK(all == 1);
    CHECK(left == 1);
}

TEST_CASE("destructors of static and thread_local objects evaluate, whenever the objects were made") {
    std::string thread = "a thread\na thread_local object, made late\na thread_local object\nthread-specific data\n";
    CHECK(output_of("env INGOT_DEVICE=host '" INGOT_TEST_PROGRAMS "/evaluate_at_end'") ==
          "a thread\n" + thread + thread +
              "a thread_local object of main, made late\na thread_local object of main\na static object made late\n"
              "a static object made before all evaluations\n");
}

TEST_CASE("a process that ends tells the owners of memory that streams still use, after their work") {
    CHECK(output_of("'" INGOT_TEST_PROGRAMS "/unowned_at_end'") ==
          "ended, after 100 of the works\nended, after 100 of the works\n");
}
