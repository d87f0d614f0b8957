// The benchmarks' output: one JSON object a line, written as soon as it is measured, so that an interrupted run keeps
// its results. Times are compared with a baseline of the same run; bench/report.py gathers the lines of all programs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

inline double median(std::vector<double> values) {
    if (values.empty()) return std::nan("");
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// Median of a[i] / b[i], of pairs from one round, so that a slow round slows both.
inline double paired_ratio(std::span<const double> a, std::span<const double> b) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < a.size(); ++i) ratios.push_back(a[i] / b[i]);
    return median(std::move(ratios));
}

/// The promise of a row. `share`: baseline / time is at least the goal. `excess`: time - baseline is at most the goal.
/// `limit`: the time is at most the goal.
enum class promise : std::uint8_t { none, share, excess, limit };

struct row {
    std::string section = {};
    std::string name = {};
    std::string unit = {};  // of all times: "us", "ns", "ms", "s"
    double time = 0;
    std::string baseline = {};  // the baseline's name; empty for none
    double baseline_time = 0;
    promise kind = promise::none;
    double reached = 0;  // the share or the excess; 0: from the two times
    double goal = 0;
    std::uint64_t elements = 0;
    std::uint64_t bytes = 0;  // read and written; 0 where the rate does not matter
    std::string note = {};
};

class report {
public:
    /// Appends to the file; prints to the standard output too.
    explicit report(const char* path) : file_(std::fopen(path, "a"), &std::fclose) {
        if (!file_) throw std::runtime_error(std::string("cannot write ") + path);
    }

    void add(row r) {
        if (r.kind == promise::share && r.reached == 0) r.reached = r.baseline_time / r.time;
        if (r.kind == promise::excess && r.reached == 0) r.reached = r.time - r.baseline_time;
        if (r.kind == promise::limit) r.reached = r.time;
        const bool met = r.kind == promise::share ? r.reached >= r.goal : r.reached <= r.goal;

        std::string line = "{" + text("section", r.section) + ", " + text("name", r.name) + ", " +
                           text("unit", r.unit) + ", " + number("time", r.time);
        if (!r.baseline.empty())
            line += ", " + text("baseline", r.baseline) + ", " + number("baseline_time", r.baseline_time);
        if (r.elements != 0) line += ", \"elements\": " + std::to_string(r.elements);
        if (r.bytes != 0) {
            const double microseconds = r.time * (r.unit == "us"   ? 1
                                                  : r.unit == "ms" ? 1e3
                                                  : r.unit == "s"  ? 1e6
                                                                   : 1e-3);
            line += ", \"bytes\": " + std::to_string(r.bytes) + ", " +
                    number("gigabytes_per_second", static_cast<double>(r.bytes) / microseconds / 1e3);
        }
        if (r.kind != promise::none) {
            static constexpr const char* names[] = {"none", "share", "excess", "limit"};
            line += ", " + text("promise", names[static_cast<int>(r.kind)]) + ", " + number("reached", r.reached) +
                    ", " + number("goal", r.goal) + ", \"met\": " + (met ? "true" : "false");
        }
        if (!r.note.empty()) line += ", " + text("note", r.note);
        line += "}\n";
        std::fputs(line.c_str(), file_.get());
        std::fflush(file_.get());
        std::printf("%-14s %-58s %12.4g %s", r.section.c_str(), r.name.c_str(), r.time, r.unit.c_str());
        if (r.kind != promise::none)
            std::printf("  %s %.4g, goal %.4g%s", r.kind == promise::share ? "share" : "excess", r.reached, r.goal,
                        met ? "" : "  MISSED");
        std::printf("\n");
        std::fflush(stdout);
    }

private:
    static std::string text(std::string_view key, std::string_view value) {
        std::string out = "\"" + std::string(key) + "\": \"";
        for (const char c : value) {
            if (c == '"' || c == '\\') out += '\\';
            out += c < ' ' ? ' ' : c;
        }
        return out + "\"";
    }
    static std::string number(std::string_view key, double value) {
        char digits[32];
        std::snprintf(digits, sizeof digits, "%.6g", value);
        return "\"" + std::string(key) + "\": " + (std::isfinite(value) ? digits : "null");
    }

    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

}  // namespace bench
