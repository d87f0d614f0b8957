// Values of an expression as a range of the host: for (const float v : x.values()).
#pragma once

#include <cstddef>
#include <utility>

#include <ingot/core/array.hpp>
#include <ingot/core/host.hpp>
#include <ingot/core/host_values.hpp>

namespace ingot {
namespace detail {

/// Waits for contiguous elements. Returns their address where the host may read them in place while the buffer is held,
/// whatever is written to arrays that share it; else null.
INGOT_API const void* place_on_host(const buffer_ref& memory, const layout& where, std::size_t bytes_each);

}  // namespace detail

/// The result of `values()`: all values in C order, as they were at the call. It copies nothing for an array of a host
/// in C order, whose memory it holds. A std::span can be made from it, and the standard library's algorithms and views
/// take it.
///
///     array<int> x{{1, 2, 3}, {4, 5, 6}};
///     const host_range<int> before = x.values();
///     x += 10;
///     for (const int v : before) std::cout << v << ' ';
///     std::cout << before.size() << ' ' << before.empty() << ' ' << before[2] << ' ' << *before.data() << ' '
///               << (before.end() - before.begin());
///     // prints: 1 2 3 4 5 6 6 0 3 1 6
template <class T>
class host_range {
public:
    using value_type = T;
    using const_iterator = const T*;
    using iterator = const T*;

    // Inner: of elements side by side in C order.
    explicit host_range(detail::leaf<T> values) : size_(static_cast<std::size_t>(values.where().size())) {
        data_ = static_cast<const T*>(detail::place_on_host(values.memory(), values.where(), sizeof(T)));
        if (data_ != nullptr || size_ == 0) {
            held_ = values.memory();
        } else {
            copied_ = detail::value_room<T>(size_);
            detail::read_values(values.memory(), values.where(), sizeof(T), copied_.get());
            data_ = copied_.get();
        }
    }

    // Inner: what is moved from is empty.
    host_range(host_range&& other) noexcept
        : held_(std::move(other.held_)),
          copied_(std::move(other.copied_)),
          data_(std::exchange(other.data_, nullptr)),
          size_(std::exchange(other.size_, 0)) {}
    host_range& operator=(host_range&& other) noexcept {
        held_ = std::move(other.held_);
        copied_ = std::move(other.copied_);
        data_ = std::exchange(other.data_, nullptr);
        size_ = std::exchange(other.size_, 0);
        return *this;
    }

    /// The first value.
    const T* begin() const noexcept { return data_; }
    /// The end of the values.
    const T* end() const noexcept { return data_ + size_; }
    /// The contiguous values.
    const T* data() const noexcept { return data_; }
    /// The number of values.
    std::size_t size() const noexcept { return size_; }
    /// Whether there are none.
    bool empty() const noexcept { return size_ == 0; }
    /// A value by its index in C order, which is not checked.
    const T& operator[](std::size_t i) const noexcept { return data_[i]; }

private:
    detail::buffer_ref held_;
    detail::value_room<T> copied_;
    const T* data_ = nullptr;
    std::size_t size_ = 0;
};

namespace detail {

template <class E>
auto expression_members<E>::values(const source_place& at) const {
    const in_statement of_the_user(at);
    using T = typename E::value_type;
    return host_range<T>(contiguous_values_as<T>(self()));
}

}  // namespace detail
}  // namespace ingot
