// Hand-written loops for a CPU: over all threads, compiled for this machine with vector mathematics.
#pragma once

#include <cstddef>

namespace bench {

void copy_loop(const float* x, float* z, std::ptrdiff_t n);

void where_loop(const float* x, const float* y, float* z, std::ptrdiff_t n);

void black_scholes_loop(const float* spot, const float* strike, const float* time, float* call, float* put, float rate,
                        float volatility, std::ptrdiff_t n);

// A function of each element.
void exp_loop(const float* x, float* z, std::ptrdiff_t n);
void log_loop(const float* x, float* z, std::ptrdiff_t n);
void sin_loop(const float* x, float* z, std::ptrdiff_t n);
void tanh_loop(const float* x, float* z, std::ptrdiff_t n);
void erf_loop(const float* x, float* z, std::ptrdiff_t n);

}  // namespace bench
