// The order of values on the host. NaN come last; complex numbers are ordered as in NumPy, those with a NaN part last.
#pragma once

#include <complex>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <ingot/core/dtype.hpp>
#include <ingot/core/half.hpp>
#include <ingot/core/shape.hpp>

namespace ingot::runtime {

template <class T>
bool is_nan([[maybe_unused]] T x) {
    if constexpr (std::floating_point<T>)
        return x != x;
    else
        return false;
}

struct in_order {
    template <class T>
    bool operator()(T a, T b) const {
        return a < b || (is_nan(b) && !is_nan(a));
    }
    /// Complex numbers without NaN come first, then those with a NaN part: the imaginary one, the real one, both.
    /// Within each group they are ordered by real part, then by imaginary part.
    template <class T>
    bool operator()(const std::complex<T>& a, const std::complex<T>& b) const {
        if (nan_parts(a) != nan_parts(b)) return nan_parts(a) < nan_parts(b);
        if ((*this)(a.real(), b.real())) return true;
        if ((*this)(b.real(), a.real())) return false;
        return (*this)(a.imag(), b.imag());
    }
    bool operator()(float16 a, float16 b) const { return rank(a.bits(), 0x7c00) < rank(b.bits(), 0x7c00); }
    bool operator()(bfloat16 a, bfloat16 b) const { return rank(a.bits(), 0x7f80) < rank(b.bits(), 0x7f80); }
    /// A key and its index, which is unique: equal keys stay in order.
    template <class T>
    bool operator()(const std::pair<T, index_t>& a, const std::pair<T, index_t>& b) const {
        if ((*this)(a.first, b.first)) return true;
        return a.second < b.second && !(*this)(b.first, a.first);
    }

private:
    template <class T>
    static int nan_parts(const std::complex<T>& z) {
        return 2 * is_nan(z.real()) + is_nan(z.imag());
    }
    /// Halves as ordered integers: both zeros are 0, and NaN is the greatest.
    static int rank(int bits, int infinity) {
        const int magnitude = bits & 0x7fff;
        return magnitude > infinity ? 0x8000 : (bits & 0x8000) != 0 ? -magnitude : magnitude;
    }
};

/// Calls f(std::type_identity<T>) with the type of a dtype's elements; those of bool are ordered as bytes.
template <class F>
void in_ordered_type(dtype type, const F& f) {
    switch (type) {
        case dtype::b1:
        case dtype::u1:
            return f(std::type_identity<std::uint8_t>{});
        case dtype::i1:
            return f(std::type_identity<std::int8_t>{});
        case dtype::i2:
            return f(std::type_identity<std::int16_t>{});
        case dtype::u2:
            return f(std::type_identity<std::uint16_t>{});
        case dtype::i4:
            return f(std::type_identity<std::int32_t>{});
        case dtype::u4:
            return f(std::type_identity<std::uint32_t>{});
        case dtype::i8:
            return f(std::type_identity<std::int64_t>{});
        case dtype::u8:
            return f(std::type_identity<std::uint64_t>{});
        case dtype::f2:
            return f(std::type_identity<float16>{});
        case dtype::bf:
            return f(std::type_identity<bfloat16>{});
        case dtype::f4:
            return f(std::type_identity<float>{});
        case dtype::f8:
            return f(std::type_identity<double>{});
        case dtype::c8:
            return f(std::type_identity<std::complex<float>>{});
        case dtype::c16:
            return f(std::type_identity<std::complex<double>>{});
    }
}

}  // namespace ingot::runtime
