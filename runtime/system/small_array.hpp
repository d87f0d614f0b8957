// An array whose size is known when it is made and mostly small, so that a warm statement allocates nothing.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

namespace ingot::runtime {

/// Value-initialised elements: up to `room` of them in place, more on the heap.
template <class T, std::size_t room>
class small_array {
    static_assert(std::is_nothrow_default_constructible_v<T>);

public:
    explicit small_array(std::size_t size)
        : first_(static_cast<T*>(size <= room ? here_ : ::operator new(size * sizeof(T)))), size_(size) {
        std::uninitialized_value_construct_n(first_, size);
    }
    small_array(const small_array&) = delete;
    small_array& operator=(const small_array&) = delete;
    ~small_array() {
        std::destroy_n(first_, size_);
        if (size_ > room) ::operator delete(first_);
    }

    T* begin() noexcept { return first_; }
    T* end() noexcept { return first_ + size_; }
    std::size_t size() const noexcept { return size_; }
    T& operator[](std::size_t i) noexcept { return first_[i]; }
    std::span<T> all() noexcept { return {first_, size_}; }

private:
    alignas(T) std::byte here_[room * sizeof(T)];
    T* first_;
    std::size_t size_;
};

}  // namespace ingot::runtime
