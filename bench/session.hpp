// A run of measurements: the report for their rows, the roofs for comparison, and the promise that a measurement that
// fails does not stop the others.
#pragma once

#include <cmath>
#include <cstdio>
#include <exception>

#include "report.hpp"
#include "roofs.hpp"

namespace bench {

struct session {
    report& out;
    const roofs& roof;
    int failures = 0;

    /// Runs one measurement; a failing one is reported as a row of its own.
    template <class F>
    void attempt(const std::string& name, F measure) {
        try {
            measure();
        } catch (const std::exception& reason) {
            ++failures;
            std::fprintf(stderr, "%s FAILED: %s\n", name.c_str(), reason.what());
            out.add({.section = "failed", .name = name, .unit = "us", .time = std::nan(""), .note = reason.what()});
        }
    }
};

}  // namespace bench
