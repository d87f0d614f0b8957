// See short_row_sums.hpp.
#include "runtime/sparse/short_row_sums.hpp"

#include <algorithm>
#include <type_traits>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

namespace ingot::runtime {

#if defined(__x86_64__) && defined(__GNUC__)

namespace {

constexpr index_t most_rows = 64, most_products = 4096;

/// Lanes before the middle are all ones.
alignas(32) constexpr std::int32_t ones_and_zeros[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
alignas(32) constexpr std::int64_t wide_ones_and_zeros[8] = {-1, -1, -1, -1, 0, 0, 0, 0};

/// Vectors of float, and of double: eight lanes or four.
struct floats {
    using vector = __m256;
    static constexpr int lanes = 8;
    [[gnu::target("avx2")]] static vector loaded(const float* from) { return _mm256_loadu_ps(from); }
    [[gnu::target("avx2")]] static vector gathered(const float* x, const std::int32_t* at) {
        return _mm256_i32gather_ps(x, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)), 4);
    }
    [[gnu::target("avx2")]] static void store(float* to, vector v) { _mm256_storeu_ps(to, v); }
    /// The first n lanes; all others are 0.
    [[gnu::target("avx2")]] static vector first(vector v, int n) {
        return _mm256_and_ps(v, _mm256_loadu_ps(reinterpret_cast<const float*>(ones_and_zeros + lanes - n)));
    }
    [[gnu::target("avx2")]] static float sum(vector v) {
        const __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
        const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
        return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
    }
};
struct doubles {
    using vector = __m256d;
    static constexpr int lanes = 4;
    [[gnu::target("avx2")]] static vector loaded(const double* from) { return _mm256_loadu_pd(from); }
    [[gnu::target("avx2")]] static vector gathered(const double* x, const std::int32_t* at) {
        return _mm256_i32gather_pd(x, _mm_loadu_si128(reinterpret_cast<const __m128i*>(at)), 8);
    }
    [[gnu::target("avx2")]] static void store(double* to, vector v) { _mm256_storeu_pd(to, v); }
    [[gnu::target("avx2")]] static vector first(vector v, int n) {
        return _mm256_and_pd(v, _mm256_loadu_pd(reinterpret_cast<const double*>(wide_ones_and_zeros + lanes - n)));
    }
    [[gnu::target("avx2")]] static double sum(vector v) {
        const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
        return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
    }
};

template <class V, class T>
[[gnu::target("avx2")]] void sum_rows(const csr_times_vector<T>& p, index_t row, index_t end) {
    constexpr int lanes = V::lanes, unbranched = 16;
    alignas(32) T products[most_products + 2 * unbranched] = {};
    while (row < end) {
        const index_t first = p.indptr[row];
        index_t rows = std::min(most_rows, end - row);
        while (rows > 0 && p.indptr[row + rows] - first > most_products) rows /= 2;
        if (rows == 0) {  // a long row
            auto sum = V::first(V::loaded(products), 0);
            index_t e = first;
            for (; e + lanes <= p.indptr[row + 1]; e += lanes)
                sum += V::loaded(p.values + e) * V::gathered(p.x, p.indices + e);
            T rest = 0;
            for (; e < p.indptr[row + 1]; ++e) rest += p.values[e] * p.x[p.indices[e]];
            p.y[row++] = V::sum(sum) + rest;
            continue;
        }
        const index_t count = p.indptr[row + rows] - first;
        index_t e = 0;
        for (; e + lanes <= count; e += lanes)
            V::store(products + e, V::loaded(p.values + first + e) * V::gathered(p.x, p.indices + first + e));
        for (; e < count; ++e) products[e] = p.values[first + e] * p.x[p.indices[first + e]];
        const T* from = products;
        for (const index_t stop = row + rows; row < stop; ++row) {
            const int length = p.indptr[row + 1] - p.indptr[row];
            auto sum = V::first(V::loaded(from), std::min(length, lanes));
            for (int k = lanes; k < unbranched; k += lanes)
                sum += V::first(V::loaded(from + k), std::clamp(length - k, 0, lanes));
            for (int k = unbranched; k < length; k += lanes)
                sum += V::first(V::loaded(from + k), std::min(length - k, lanes));
            p.y[row] = V::sum(sum);
            from += length;
        }
    }
}

template <class T>
using vectors_of = std::conditional_t<sizeof(T) == 4, floats, doubles>;

}  // namespace

template <class T>
bool sum_short_rows(const csr_times_vector<T>& p, index_t begin, index_t end) {
    if (!__builtin_cpu_supports("avx2")) return false;
    sum_rows<vectors_of<T>>(p, begin, end);
    return true;
}

#else

template <class T>
bool sum_short_rows(const csr_times_vector<T>&, index_t, index_t) {
    return false;
}

#endif

template bool sum_short_rows(const csr_times_vector<float>&, index_t, index_t);
template bool sum_short_rows(const csr_times_vector<double>&, index_t, index_t);

}  // namespace ingot::runtime
