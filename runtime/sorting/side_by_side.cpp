// See side_by_side.hpp.
#include "runtime/sorting/side_by_side.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <ingot/core/half.hpp>

namespace ingot::runtime {

#if defined(__x86_64__) && defined(__GNUC__)

namespace {

template <class T>
using signed_bits = std::conditional_t<
    sizeof(T) == 1, std::int8_t,
    std::conditional_t<sizeof(T) == 2, std::int16_t, std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>>>;
template <class T>
using unsigned_bits = std::make_unsigned_t<signed_bits<T>>;

/// The number of NaN of one sign.
template <class T>
constexpr unsigned_bits<T> nans_of_a_sign() {
    if constexpr (std::same_as<T, float16>)
        return 0x3ff;
    else if constexpr (std::same_as<T, bfloat16>)
        return 0x7f;
    else
        return (unsigned_bits<T>{1} << (std::numeric_limits<T>::digits - 1)) - 1;
}

/// A number's bits as a signed integer of the same order, and back. NaN of both signs come last, and keep their bits.
template <class T>
[[gnu::always_inline]] inline signed_bits<T> key_of(T value) {
    using S = signed_bits<T>;
    using U = unsigned_bits<T>;
    const auto bits = std::bit_cast<U>(value);
    constexpr U sign = static_cast<U>(U{1} << (8 * sizeof(U) - 1));
    if constexpr (std::is_integral_v<T>) {
        return static_cast<S>(std::is_signed_v<T> ? bits : static_cast<U>(bits ^ sign));
    } else {
        const auto below = static_cast<U>(static_cast<S>(bits) < 0 ? sign - 1 : 0);
        return static_cast<S>(static_cast<U>((bits ^ below) - nans_of_a_sign<T>()));
    }
}
template <class T>
[[gnu::always_inline]] inline T value_of(signed_bits<T> key) {
    using S = signed_bits<T>;
    using U = unsigned_bits<T>;
    constexpr U sign = static_cast<U>(U{1} << (8 * sizeof(U) - 1));
    if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(std::is_signed_v<T> ? static_cast<U>(key) : static_cast<U>(static_cast<U>(key) ^ sign));
    } else {
        const auto bits = static_cast<U>(static_cast<U>(key) + nans_of_a_sign<T>());
        const auto below = static_cast<U>(static_cast<S>(bits) < 0 ? sign - 1 : 0);
        return std::bit_cast<T>(static_cast<U>(bits ^ below));
    }
}

constexpr std::size_t vector_bytes = 32;
template <class S>
constexpr std::size_t lanes = vector_bytes / sizeof(S);

/// Batcher's merge exchange (Knuth, volume 3, 5.2.2, algorithm M) of n vectors.
template <class S>
[[gnu::always_inline]] inline void sort_lanes(S* keys, std::size_t n) {
    using vector [[gnu::vector_size(vector_bytes), gnu::may_alias]] = S;
    auto* const all = reinterpret_cast<vector*>(keys);
    const std::size_t top = std::bit_ceil(n) / 2;
    for (std::size_t p = top; p > 0; p /= 2)
        for (std::size_t q = top, r = 0, d = p;; d = q - p, q /= 2, r = p) {
            for (std::size_t i = 0; i + d < n; ++i) {
                if ((i & p) != r) continue;
                const vector a = all[i], b = all[i + d];
                all[i] = b < a ? b : a;
                all[i + d] = b < a ? a : b;
            }
            if (q == p) break;
        }
}

/// The last rows of a vector that has fewer are all row `end - 1`.
template <class T>
[[gnu::target("avx2")]] void sort_by_avx2(const sorted_rows& rows, std::size_t begin, std::size_t end) {
    using S = signed_bits<T>;
    const auto n = static_cast<std::size_t>(rows.length);
    alignas(vector_bytes) std::array<S, lanes<S> * longest_side_by_side<T>> keys;
    for (; begin < end; begin += lanes<S>) {
        const auto row = [&](std::size_t lane) { return static_cast<index_t>(std::min(begin + lane, end - 1)); };
        for (std::size_t lane = 0; lane < lanes<S>; ++lane) {
            const T* const from = reinterpret_cast<const T*>(rows.from) + row(lane) * rows.from_stride;
            for (std::size_t j = 0; j < n; ++j) keys[j * lanes<S> + lane] = key_of(from[j]);
        }
        sort_lanes(keys.data(), n);
        for (std::size_t lane = 0; lane < lanes<S>; ++lane) {
            T* const to = reinterpret_cast<T*>(rows.to) + row(lane) * rows.to_stride;
            for (std::size_t j = 0; j < n; ++j) to[j] = value_of<T>(keys[j * lanes<S> + lane]);
        }
    }
}

}  // namespace

template <class T>
bool sort_side_by_side(const sorted_rows& r, std::size_t begin, std::size_t end) {
    if (r.length < 2 || r.length > longest_side_by_side<T> || end - begin < 2 || !__builtin_cpu_supports("avx2"))
        return false;
    sort_by_avx2<T>(r, begin, end);
    return true;
}

#else

template <class T>
bool sort_side_by_side(const sorted_rows&, std::size_t, std::size_t) {
    return false;
}

#endif

template bool sort_side_by_side<std::int8_t>(const sorted_rows&, std::size_t, std::size_t);
template bool sort_side_by_side<std::uint8_t>(const sorted_rows&, std::size_t, std::size_t);
template bool sort_side_by_side<std::int16_t>(const sorted_rows&, std::size_t, std::size_t);
template bool sort_side_by_side<std::uint16_t>(const sorted_rows&, std::size_t, std::size_t);
template bool sort_side_by_side<std::int32_t>(const sorted_rows&, std::size_t, std::size_t);
template bool sort_side_by_side<std::uint32_t>(const sorted_rows&, std::size_t, std::size_t);
template bool sort_side_by_side<std::int64_t>(const sorted_rows&, std::size_t, std::size_t);
template bool sort_side_by_side<std::uint64_t>(const sorted_rows&, std::size_t, std::size_t);
template bool sort_side_by_side<float16>(const sorted_rows&, std::size_t, std::size_t);
template bool sort_side_by_side<bfloat16>(const sorted_rows&, std::size_t, std::size_t);
template bool sort_side_by_side<float>(const sorted_rows&, std::size_t, std::size_t);
template bool sort_side_by_side<double>(const sorted_rows&, std::size_t, std::size_t);

}  // namespace ingot::runtime
