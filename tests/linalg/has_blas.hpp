// Whether products of matrices and solvers have a library on the current device.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include <ingot/ingot.hpp>

#include "tests/untested.hpp"

namespace ingot::test {

/// Reports the missing library where there is none.
inline bool has_blas() {
    try {
        return sum(matmul(ones<float>({8, 8}), ones<float>({8, 8}))).item() == 512;
    } catch (const library_error& missing) {
        CHECK(std::string(missing.what()).find("[matmul] ") == 0);
        untested(missing.what());
        return false;
    }
}

/// Reports a missing library of solvers.
inline bool has_lapack() {
    try {
        return has_blas() && linalg::det(ones<float>({1, 1})).item() == 1;
    } catch (const library_error& missing) {
        untested(missing.what());
        return false;
    }
}

}  // namespace ingot::test
