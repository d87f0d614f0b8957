#include "host_loops.hpp"

#include <cmath>

namespace bench {

void copy_loop(const float* x, float* z, std::ptrdiff_t n) {
#pragma omp parallel for simd schedule(static)
    for (std::ptrdiff_t i = 0; i < n; ++i) z[i] = x[i];
}

void where_loop(const float* x, const float* y, float* z, std::ptrdiff_t n) {
#pragma omp parallel for simd schedule(static)
    for (std::ptrdiff_t i = 0; i < n; ++i) z[i] = x[i] - 2 > y[i] ? x[i] * y[i] : x[i] + y[i];
}

void black_scholes_loop(const float* spot, const float* strike, const float* time, float* call, float* put, float rate,
                        float volatility, std::ptrdiff_t n) {
    const float drift = rate + volatility * volatility / 2;
#pragma omp parallel for simd schedule(static)
    for (std::ptrdiff_t i = 0; i < n; ++i) {
        const float deviation = volatility * std::sqrt(time[i]);
        const float d1 = (std::log(spot[i] / strike[i]) + drift * time[i]) / deviation;
        const float d2 = d1 - deviation;
        const float discounted = strike[i] * std::exp(-rate * time[i]);
        const float n1 = 0.5f * std::erfc(d1 * -0.70710678f), n2 = 0.5f * std::erfc(d2 * -0.70710678f);
        call[i] = spot[i] * n1 - discounted * n2;
        put[i] = call[i] - spot[i] + discounted;
    }
}

#define FUNCTION_LOOP(name)                                                                             \
    void name##_loop(const float* x, float* z, std::ptrdiff_t n) {                                      \
        _Pragma("omp parallel for simd schedule(static)") for (std::ptrdiff_t i = 0; i < n; ++i) z[i] = \
            std::name(x[i]);                                                                            \
    }
FUNCTION_LOOP(exp)
FUNCTION_LOOP(log)
FUNCTION_LOOP(sin)
FUNCTION_LOOP(tanh)
FUNCTION_LOOP(erf)
#undef FUNCTION_LOOP

}  // namespace bench
