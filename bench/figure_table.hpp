// The measurements of whole statements (whole_statements.cpp) and of indexing (indexing.cpp): each statement's goal,
// its time beside a roof or a hand-written kernel, its number of kernels, the time of its first call, and a comparison
// of rows.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ingot/ingot.hpp>

#include "gpu.hpp"
#include "host_data.hpp"
#include "report.hpp"
#include "session.hpp"

namespace bench {

/// A figure is met within a tenth of it.
inline constexpr double met_within = 1.1;
inline constexpr int timed_rounds = 11;

/// A statement's goal: a share of the roof for its bytes, a share of the hand-written kernels' rate, or a time in
/// microseconds, because an H100 and an H200 have the same arithmetic rate.
struct figure {
    promise kind;
    double goal;
};
constexpr figure share_of_roof(double roof, double wanted) { return {promise::share, roof / wanted / met_within}; }
constexpr figure times_by_hand(double ratio) { return {promise::share, 1 / ratio / met_within}; }
constexpr figure at_most(double microseconds) { return {promise::limit, microseconds * met_within}; }

struct job {
    std::string name;
    std::uint64_t read, written;  // bytes that it must move
    figure wanted;
    work by_hand = {};
};

/// The base class of all such tables. Extents are divided by 2^shrink where they may be; with any shrink, no goal
/// applies.
class figure_table {
public:
    figure_table(session& s, int shrink, const char* section = "statements")
        : s_(s), shrink_(shrink), section_(section) {}

protected:
    template <class F>
    void attempt(const std::string& name, F measure) {
        s_.attempt(name, measure);
    }

    /// An extent that may be made smaller, and is at least `least`.
    std::size_t shrunk(std::size_t extent, std::size_t least = 1) const { return std::max(extent >> shrink_, least); }

    /// Times `make`, which evaluates; `error` compares its result with the right one and throws where it is wrong.
    template <class Make, class Error>
    void measure(const job& j, Make make, Error error) {
        const auto before = ingot::counters();
        const auto start = std::chrono::steady_clock::now();
        auto result = make();
        ingot::synchronize();
        const std::chrono::duration<double, std::milli> first = std::chrono::steady_clock::now() - start;
        const auto kernels = static_cast<int>(ingot::counters().kernel_launches - before.kernel_launches);
        const double worst = error(result);
        std::vector<work> candidates{[&](int) { result = make(); }};
        if (j.by_hand) candidates.push_back(j.by_hand);
        const auto times = time_in_turn(candidates, timed_rounds);
        char text[96];
        std::snprintf(text, sizeof text, "%d kernel%s, error %.2g, first call %.0f ms", kernels,
                      kernels == 1 ? "" : "s", worst, first.count());
        std::string note = text;
        if (j.read + j.written > 0) {
            std::snprintf(text, sizeof text, ", %.2f of the %s", s_.roof.time_of(j.read, j.written) / median(times[0]),
                          s_.roof.name_of(j.read, j.written).c_str());
            note += text;
        }
        row r{.section = section_,
              .name = j.name,
              .unit = "us",
              .time = median(times[0]),
              .kind = shrink_ == 0 ? j.wanted.kind : promise::none,
              .goal = j.wanted.goal,
              .bytes = j.read + j.written,
              .note = note};
        if (j.by_hand) {
            r.baseline = "hand-written";
            r.baseline_time = median(times[1]);
            if (r.kind == promise::share) r.reached = paired_ratio(times[1], times[0]);
        } else if (j.read + j.written > 0) {
            r.baseline = s_.roof.name_of(j.read, j.written);
            r.baseline_time = s_.roof.time_of(j.read, j.written);
        }
        s_.out.add(r);
        std::printf("    %s\n", note.c_str());
    }

    /// The kernels that are written by hand are there on a GPU alone.
    work by_hand(work launch) const { return ingot::current_device().is_cuda() ? std::move(launch) : work{}; }
    const hand_kernel* kernel_by_hand(const char* name, const char* file = "whole_statements.cu") {
        if (!ingot::current_device().is_cuda()) return nullptr;
        return hand_.emplace_back(std::make_unique<hand_kernel>(file, name)).get();
    }

    /// `count` rows of a result, spread over it.
    template <class T, class Error>
    static double compare_rows(const ingot::array<T>& result, std::size_t count, double bound, Error error) {
        const auto rows = static_cast<std::size_t>(result.shape()[0]);
        count = std::min(count, rows);
        const std::vector<T> all = ravel(result).to_host();
        const std::size_t length = all.size() / rows;
        return require("a row", count, bound, [&](std::size_t k) {
            const std::size_t row = count == 1 ? 0 : k * (rows - 1) / (count - 1);
            return error(row, std::span(all).subspan(row * length, length));
        });
    }

    /// Hand-written: a kernel that sums by blocks of 256 threads, and one that adds the blocks' sums.
    template <class Launch>
    work with_finish(Launch launch, std::size_t blocks, double scale, ingot::array<double>& partial,
                     ingot::array<double>& to) {
        partial = ingot::empty<double>(blocks);
        to = ingot::empty<double>(1);
        const auto* const finish = kernel_by_hand("finish");
        return by_hand([=, p = partial.mutable_data(), z = to.mutable_data()](int) {
            launch(p);
            (*finish)(1, 256, static_cast<const double*>(p), static_cast<unsigned>(blocks), scale, z);
        });
    }

private:
    session& s_;
    int shrink_;
    const char* section_;
    std::vector<std::unique_ptr<hand_kernel>> hand_;
};

}  // namespace bench
