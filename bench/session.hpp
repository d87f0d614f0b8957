// A run of measurements beside each other: where their rows go, the roofs that they are compared with, and a promise
// that one that fails does not keep the others from running.
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
