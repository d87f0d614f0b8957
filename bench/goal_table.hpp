// Statements of a GPU with the times that are wanted of them: the time beside the goal, the kernels, and the time to
// the first result.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <ingot/ingot.hpp>

#include "report.hpp"

namespace bench {

using ingot::index_t;

class goal_table {
public:
    /// `shrink` divides the first extent of every shape by 2^shrink, for trials without goals.
    goal_table(const char* section, const char* path, int shrink) : out_(path), shrink_(shrink), section_(section) {}

protected:
    index_t first(index_t extent) const { return std::max<index_t>(extent >> shrink_, 4); }

    /// `goal`: microseconds, of the whole size.
    void measure(const std::string& name, double goal, const std::function<void()>& f) {
        auto start = clock_type::now();
        f();
        ingot::synchronize();
        const double cold = microseconds_since(start);
        const auto before = ingot::counters().kernel_launches;
        f();
        const auto kernels = ingot::counters().kernel_launches - before;
        ingot::synchronize();
        std::vector<double> times;
        for (int round = 0; round < 7; ++round) {
            constexpr int calls = 5;
            start = clock_type::now();
            for (int i = 0; i < calls; ++i) f();
            ingot::synchronize();
            times.push_back(microseconds_since(start) / calls);
        }
        out_.add({.section = section_,
                  .name = name,
                  .unit = "us",
                  .time = median(times),
                  .kind = shrink_ == 0 ? promise::limit : promise::none,
                  .goal = goal,
                  .note = std::to_string(kernels) + " kernels, first result after " +
                          std::to_string(static_cast<int>(cold / 1e3)) + " ms"});
    }

    using clock_type = std::chrono::steady_clock;

    static double microseconds_since(clock_type::time_point start) {
        return std::chrono::duration<double, std::micro>(clock_type::now() - start).count();
    }

    report out_;
    const int shrink_;

private:
    const char* section_;
};

}  // namespace bench
