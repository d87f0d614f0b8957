// Whether results can be compared with SciPy's.
#pragma once

#include <cstdlib>
#include <string>

#include "tests/untested.hpp"

namespace ingot::testing {

/// Whether Python has SciPy; a case without it says that it tests nothing.
inline bool has_scipy() {
    static const bool found = [] {
        const char* const python = std::getenv("INGOT_PYTHON") != nullptr ? std::getenv("INGOT_PYTHON") : "python3";
        return std::system(("'" + std::string(python) + "' -c 'import scipy' 2>/dev/null").c_str()) == 0;
    }();
    if (!found) test::untested("INGOT_PYTHON names no Python with SciPy, as tests/run does");
    return found;
}

}  // namespace ingot::testing
