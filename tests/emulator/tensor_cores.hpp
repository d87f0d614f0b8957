// Numbers as tensor cores take them.
#pragma once

#include <complex>
#include <cstdint>
#include <cstring>

namespace emulator {

/// Ten bits of the fraction are left.
inline float in_tf32(float x) {
    std::uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x1000u) & ~0x1fffu;
    std::memcpy(&x, &bits, sizeof bits);
    return x;
}
inline std::complex<float> in_tf32(std::complex<float> x) { return {in_tf32(x.real()), in_tf32(x.imag())}; }

}  // namespace emulator
