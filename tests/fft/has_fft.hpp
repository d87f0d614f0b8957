// Whether Fourier transforms have a library on the current device.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include <ingot/ingot.hpp>

#include "tests/untested.hpp"

namespace ingot::test {

/// Reports the missing library where there is none.
inline bool has_fft() {
    try {
        eval(fft::fft(ones<float>(8))), eval(fft::fft(ones<double>(8)));
        return true;
    } catch (const library_error& missing) {
        CHECK(std::string(missing.what()).find("[fft] ") == 0);
        untested(missing.what());
        return false;
    }
}

}  // namespace ingot::test
