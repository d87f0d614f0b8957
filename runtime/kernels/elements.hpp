// Elements whose dtype is known at run time: their C++ type, copies by index, and random ones.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include <ingot/core/error.hpp>
#include <ingot/core/philox.hpp>
#include <ingot/core/program.hpp>

#include "runtime/kernels/box_muller.hpp"
#include "runtime/kernels/index_block.hpp"

namespace ingot::runtime::interpreter {

/// Calls `f` with a value of the C++ type of `t`.
template <class F>
void with_type(dtype t, F f) {
    switch (t) {
        case dtype::b1:
            return f(bool{});
        case dtype::i1:
            return f(std::int8_t{});
        case dtype::u1:
            return f(std::uint8_t{});
        case dtype::i2:
            return f(std::int16_t{});
        case dtype::u2:
            return f(std::uint16_t{});
        case dtype::i4:
            return f(std::int32_t{});
        case dtype::u4:
            return f(std::uint32_t{});
        case dtype::i8:
            return f(std::int64_t{});
        case dtype::u8:
            return f(std::uint64_t{});
        case dtype::f4:
            return f(float{});
        case dtype::f8:
            return f(double{});
        default:
            throw dtype_error("[interpreter] cannot compute in " + std::string(name(t)));
    }
}

/// A value of 16 bytes.
struct word_pair {
    std::uint64_t first, second;
};

/// Calls `f` with a trivial value of the size of an element of `t`, which is all that copying needs.
template <class F>
void with_size(dtype t, F f) {
    switch (detail::size_of(t)) {
        case 1:
            return f(std::uint8_t{});
        case 2:
            return f(std::uint16_t{});
        case 4:
            return f(std::uint32_t{});
        case 8:
            return f(std::uint64_t{});
        default:
            return f(word_pair{});
    }
}

template <class T>
T* elements(void* p) {
    return static_cast<T*>(p);
}
template <class T>
const T* elements(const void* p) {
    return static_cast<const T*>(p);
}

inline void load(dtype t, const void* from, const indices& at, std::size_t n, void* to) {
    with_size(t, [&](auto word) {
        using W = decltype(word);
        for (std::size_t i = 0; i < n; ++i) elements<W>(to)[i] = elements<W>(from)[at[i]];
    });
}

inline void store(dtype t, const void* from, const indices& at, std::size_t n, void* to) {
    with_size(t, [&](auto word) {
        using W = decltype(word);
        for (std::size_t i = 0; i < n; ++i) elements<W>(to)[at[i]] = elements<W>(from)[i];
    });
}

/// The uniform or normal number of element i, from a block of the generator.
template <class T>
T transform(detail::generator_kind kind, const detail::philox::block& w, std::uint64_t i) {
    namespace philox = detail::philox;
    if (kind == detail::generator_kind::uniform) return philox::uniform(philox::word_of<T>(w, i));
    const std::uint64_t even = i & ~std::uint64_t{1};
    return box_muller::normal<T>(philox::word_of<T>(w, even), philox::word_of<T>(w, even + 1), i != even);
}

template <class T>
void random_numbers(std::uint16_t kind, std::uint64_t seed, std::uint64_t call, const indices& at, std::size_t n,
                    T* to) {
    namespace philox = detail::philox;
    for (std::size_t i = 0; i < n; ++i) {
        const auto element = static_cast<std::uint64_t>(at[i]);
        const std::uint64_t in_block = element % philox::per_block<T>;
        const philox::block w = philox::words(seed, call, element / philox::per_block<T>);
        if constexpr (std::is_integral_v<T>)
            to[i] = philox::word_of<T>(w, in_block);
        else
            to[i] = transform<T>(static_cast<detail::generator_kind>(kind), w, in_block);
    }
}

inline void random_integers(std::uint64_t seed, std::uint64_t call, std::uint32_t last, const indices& at,
                            std::size_t n, std::uint32_t* to) {
    namespace philox = detail::philox;
    for (std::size_t i = 0; i < n; ++i) {
        const auto element = static_cast<std::uint64_t>(at[i]), block = element / 4, in_block = element % 4;
        const std::uint32_t upper = philox::words(seed, call, block)[in_block];
        const std::uint32_t lower =
            philox::may_carry(upper, last) ? philox::words(seed, call, block + philox::lower_half_block)[in_block] : 0;
        to[i] = philox::integer(upper, lower, last);
    }
}

}  // namespace ingot::runtime::interpreter
