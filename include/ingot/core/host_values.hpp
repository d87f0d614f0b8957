// Values of the host: ranges of them, and uninitialised memory for some. It replaces <ranges>, <iterator> and <memory>,
// which take a third of the compile time of a user's file.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>  // std::begin, std::data and the others
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <ingot/core/export.hpp>

namespace ingot::detail {

/// A range that may be read more than once.
template <class R>
concept values_of_host = requires(const R& r) {
    *std::begin(r);
    std::begin(r) != std::end(r);
};
template <class R>
using value_of = std::remove_cvref_t<decltype(*std::begin(std::declval<const R&>()))>;

/// A range whose values are contiguous.
template <class R>
concept contiguous_values = values_of_host<R> && requires(const R& r) {
    { *std::data(r) } -> std::convertible_to<const value_of<R>&>;
    std::size(r);
};

template <class R>
std::size_t count_of_values(const R& r) {
    if constexpr (requires { std::size(r); }) {
        return static_cast<std::size_t>(std::size(r));
    } else {
        std::size_t n = 0;
        for (auto it = std::begin(r), end = std::end(r); it != end; ++it) ++n;
        return n;
    }
}

/// Throws out_of_memory with the size that was requested of the host.
[[noreturn]] INGOT_API void throw_no_host_memory(std::size_t count, std::size_t bytes_each);

/// Calls `allocate` for `count` values, and turns its errors for want of memory into Ingot's.
template <class F>
auto reserve_on_host(std::size_t count, std::size_t bytes_each, const F& allocate) {
    if (count > PTRDIFF_MAX / bytes_each) throw_no_host_memory(count, bytes_each);
    try {
        return allocate();
    } catch (const std::bad_alloc&) {
        throw_no_host_memory(count, bytes_each);
    } catch (const std::length_error&) {
        throw_no_host_memory(count, bytes_each);
    }
}

/// Uninitialised memory for n values, bool included. Throws out_of_memory.
template <class T>
class value_room {
public:
    value_room() = default;
    explicit value_room(std::size_t n) : values_(reserve_on_host(n, sizeof(T), [n] { return new T[n]; })) {}
    value_room(value_room&& other) noexcept : values_(std::exchange(other.values_, nullptr)) {}
    value_room& operator=(value_room other) noexcept {
        std::swap(values_, other.values_);
        return *this;
    }
    ~value_room() { delete[] values_; }

    T* get() const noexcept { return values_; }
    T& operator[](std::size_t i) const noexcept { return values_[i]; }

private:
    T* values_ = nullptr;
};

}  // namespace ingot::detail
