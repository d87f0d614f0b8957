// The common part of the benchmarks of drawn statements (statements.cpp, rearrangements.cpp, and of reductions.cpp the
// draws): their options, the check of all statements, and the summary of their shares of the roof.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <ingot/core/device.hpp>

#include "report.hpp"

namespace bench {

struct drawing_options {
    const char* path = nullptr;
    std::uint64_t seed = 1, count = 200;
    std::optional<std::uint64_t> only;
    int shrink = 0;
    std::optional<std::uint64_t> check = {};
    std::chrono::seconds checking{90};
};

inline drawing_options drawing_options_of(const std::string& program, int argc, char** argv) {
    drawing_options o;
    if (ingot::current_device().is_host()) o.shrink = 10;
    for (int i = 1; i < argc; ++i) {
        const std::string_view name = argv[i];
        if (!name.starts_with("--")) {
            o.path = argv[i];
            continue;
        }
        if (i + 1 == argc) throw std::runtime_error(std::string(name) + " wants a number");
        const std::uint64_t value = std::strtoull(argv[++i], nullptr, 10);
        if (name == "--seed")
            o.seed = value;
        else if (name == "--count")
            o.count = value;
        else if (name == "--only")
            o.only = value;
        else if (name == "--shrink")
            o.shrink = static_cast<int>(std::min<std::uint64_t>(value, 12));
        else if (name == "--check")
            o.check = value;
        else if (name == "--seconds")
            o.checking = std::chrono::seconds(value);
        else
            throw std::runtime_error("there is no option " + std::string(name));
    }
    if (o.path == nullptr)
        throw std::runtime_error("usage: " + program +
                                 " RESULTS.jsonl [--seed N] [--count N] [--only K] [--shrink N] [--seconds N] "
                                 "[--check LEVEL]");
    return o;
}

/// Compiles kernels and checks results of all statements with that many threads, in the given order, until the time is
/// over. An exception from `check` becomes the statement's `failure`.
template <class D, class Check>
void check_all(std::vector<D>& all, std::chrono::seconds most, unsigned threads, Check check) {
    const auto end = std::chrono::steady_clock::now() + most;
    std::atomic<std::size_t> next{0};
    const auto check_on_a_thread = [&] {
        for (std::size_t i; (i = next.fetch_add(1)) < all.size() && std::chrono::steady_clock::now() < end;) {
            all[i].checked = true;
            try {
                check(all[i]);
            } catch (const std::exception& reason) {
                all[i].failure = reason.what();
            }
        }
    };
    std::vector<std::jthread> workers;
    for (unsigned i = 0; i < std::clamp(std::thread::hardware_concurrency(), 1u, threads); ++i)
        workers.emplace_back(check_on_a_thread);
}

/// The median share, the twentieth, the least, and how many statements they are of. `goals` are the shares promised for
/// these, or 0.
inline void summarise(report& out, const std::string& section, const std::string& what, std::vector<double> shares,
                      std::array<double, 3> goals) {
    if (shares.empty()) return;
    std::ranges::sort(shares);
    const auto add = [&](const char* name, double share, double goal) {
        out.add({.section = section,
                 .name = std::to_string(shares.size()) + ' ' + what + ": " + name,
                 .unit = "of the roof",
                 .time = share,
                 .kind = goal > 0 ? promise::share : promise::none,
                 .reached = share,
                 .goal = goal});
    };
    add("median", shares[shares.size() / 2], goals[0]);
    add("5th percentile", shares[shares.size() / 20], goals[1]);
    add("least", shares[0], goals[2]);
}

}  // namespace bench
