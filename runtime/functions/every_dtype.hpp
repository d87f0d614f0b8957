// INGOT_FOR_EVERY_DTYPE(M): M(T) for the element type of each dtype, to instantiate a template in the library once;
// INGOT_FOR_EVERY_REAL_DTYPE(M) leaves complex ones out.
#pragma once

#include <complex>
#include <cstdint>

#include <ingot/core/half.hpp>

// clang-format off
#define INGOT_FOR_EVERY_REAL_DTYPE(M) \
    M(bool) M(std::int8_t) M(std::uint8_t) M(std::int16_t) M(std::uint16_t) M(std::int32_t) M(std::uint32_t) \
    M(std::int64_t) M(std::uint64_t) M(float16) M(bfloat16) M(float) M(double)
#define INGOT_FOR_EVERY_DTYPE(M) \
    INGOT_FOR_EVERY_REAL_DTYPE(M) M(std::complex<float>) M(std::complex<double>)
// clang-format on
