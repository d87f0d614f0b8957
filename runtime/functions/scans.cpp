// Scans with options. A reversed scan is the flip of the scan of the flip; an exclusive scan scans elements that are
// shifted by one, behind the fold's identity.
#include <ingot/core/scans.hpp>

#include <string>

#include "runtime/kernels/folds.hpp"

namespace ingot::detail {

namespace {

template <class T>
lazy<T> scanned_by(const char* operation, fold f, const lazy<T>& e, index_t axis) {
    if constexpr (!std::same_as<T, bool>) {
        if (f == fold::sum) return scanned<fold::sum>(operation, e, axis);
        if (f == fold::prod) return scanned<fold::prod>(operation, e, axis);
    }
    if constexpr (!complex_number<T>) {
        if (f == fold::max) return scanned<fold::max>(operation, e, axis);
        if (f == fold::min) return scanned<fold::min>(operation, e, axis);
    }
    if constexpr (kind_of(dtype_of<T>) == kind::floating)
        if (f == fold::logaddexp) return scanned<fold::logaddexp>(operation, e, axis);
    throw error("[" + std::string(operation) + "] there is no such scan of " + std::string(name(dtype_of<T>)));
}

}  // namespace

template <class T>
lazy<T> scanned_with(const char* operation, fold f, const lazy<T>& e, index_t axis, unsigned options) {
    const int at = checked_axis(operation, axis, e.ndim());
    const bool from_the_right = (options & reversed.bits()) != 0;
    lazy<T> x = from_the_right ? lazy<T>(flip(e, at)) : e;
    if ((options & exclusive.bits()) != 0) {
        const auto i = position_along<T>(e.shape()[at], e.ndim() - 1 - at);
        x = where(i == index_t{0}, scalar(runtime::folds::identity_of<T>(facts(f).start)),
                  nearest(operation, x, at, -1));
    }
    x = scanned_by(operation, f, x, at);
    return from_the_right ? lazy<T>(flip(x, at)) : x;
}

#define INGOT_DTYPE(T) template INGOT_API lazy<T> scanned_with(const char*, fold, const lazy<T>&, index_t, unsigned);
INGOT_DTYPE(bool)
INGOT_DTYPE(std::int8_t)
INGOT_DTYPE(std::uint8_t)
INGOT_DTYPE(std::int16_t)
INGOT_DTYPE(std::uint16_t)
INGOT_DTYPE(std::int32_t)
INGOT_DTYPE(std::uint32_t)
INGOT_DTYPE(std::int64_t)
INGOT_DTYPE(std::uint64_t)
INGOT_DTYPE(float16)
INGOT_DTYPE(bfloat16)
INGOT_DTYPE(float)
INGOT_DTYPE(double)
INGOT_DTYPE(std::complex<float>)
INGOT_DTYPE(std::complex<double>)

}  // namespace ingot::detail
