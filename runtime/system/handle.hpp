// One owner for every C handle. A traits class names the handle's type, the value that means "none" and the call that
// gives it back:  struct file_traits { using type = int; static constexpr int none = -1; static void close(int); };
// Promises: moves only, closes once, costs what the bare handle costs.
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
    /// Where a C call writes a new handle; only for an empty one.
    type* out() noexcept { return &value_; }

private:
    type value_ = Traits::none;
};

}  // namespace ingot::runtime
