// The element and index types of sparse matrices, for functions of the host.
#pragma once

#include <complex>
#include <cstdint>

#include <ingot/core/dtype.hpp>

namespace ingot::runtime {

/// f<T, I>() for the types behind two dtypes.
template <class F>
void with_types(dtype type, dtype index_type, const F& f) {
    const auto with_index = [&]<class T>() {
        index_type == dtype::i4 ? f.template operator()<T, std::int32_t>() : f.template operator()<T, std::int64_t>();
    };
    switch (type) {
        case dtype::f4:
            return with_index.template operator()<float>();
        case dtype::f8:
            return with_index.template operator()<double>();
        case dtype::c8:
            return with_index.template operator()<std::complex<float>>();
        default:
            return with_index.template operator()<std::complex<double>>();
    }
}

/// The product without C++'s checks for infinities.
template <class T>
T times(T a, T b) {
    return a * b;
}
template <class T>
std::complex<T> times(std::complex<T> a, std::complex<T> b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

}  // namespace ingot::runtime
