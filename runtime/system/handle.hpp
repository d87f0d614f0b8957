// An owner for any C handle. A traits class names the handle's type, its value for "none" and the call that closes it:
// struct file_traits { using type = int; static constexpr int none = -1; static void close(int); };  It can only be
// moved, closes once, and costs no more than the bare handle.
#pragma once

#include <utility>

namespace ingot::runtime {

template <typename Traits>
class unique_handle {
public:
    using type = typename Traits::type;

    unique_handle() noexcept = default;
    explicit unique_handle(type value) noexcept : value_(value) {}
    unique_handle(unique_handle&& other) noexcept : value_(other.release()) {}
    unique_handle& operator=(unique_handle&& other) noexcept {
        std::swap(value_, other.value_);
        return *this;
    }
    ~unique_handle() {
        if (value_ != Traits::none) Traits::close(value_);
    }

    explicit operator bool() const noexcept { return value_ != Traits::none; }
    type get() const noexcept { return value_; }
    type release() noexcept { return std::exchange(value_, Traits::none); }
    /// The address at which a C call stores a new handle; only for an empty one.
    type* out() noexcept { return &value_; }

private:
    type value_ = Traits::none;
};

}  // namespace ingot::runtime
