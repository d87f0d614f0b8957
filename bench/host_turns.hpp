// Times two runs on the host in turn, so that a slower phase of the machine slows both.
#pragma once

#include <chrono>
#include <functional>
#include <thread>
#include <vector>

namespace bench {

struct pair_of_times {
    std::vector<double> ingot, other;
};

inline double microseconds(const std::function<void()>& run) {
    // The other's threads spin for some milliseconds before they sleep, and would take this one's cores.
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    const auto from = std::chrono::steady_clock::now();
    run();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - from).count();
}

inline pair_of_times time_in_turn(const std::function<void()>& ingot, const std::function<void()>& other,
                                  int rounds = 21) {
    pair_of_times times;
    for (int round = -2; round < rounds; ++round) {
        const double a = microseconds(ingot), b = microseconds(other);
        if (round < 0) continue;  // pages and threads
        times.ingot.push_back(a);
        times.other.push_back(b);
    }
    return times;
}

}  // namespace bench
