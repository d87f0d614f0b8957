// The layout of a leaf's elements: shape, strides and offset, inline up to rank 6, on the heap beyond. A layout is an
// affine index map: element index = offset + sum(stride[j] * index on result axis j). Leaves in memory, random leaves
// (over their counter) and the position at which a scan or a reshape reads all have one, so a view of a tree is the
// same composition on every layout in it.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include <ingot/core/export.hpp>

namespace ingot::detail {

using index_t = std::int64_t;
inline constexpr int inline_rank = 6;
inline constexpr int max_rank = 64;

/// Shape, strides (in elements, not bytes) and offset (in elements) of a strided leaf. The numbers of a low rank are at
/// the front, so that little is copied.
class layout {
public:
    layout() noexcept : rank_(0) {}
    /// A layout of this rank with uninitialised shape and strides.
    explicit layout(int rank) : rank_(rank) {
        if (rank > inline_rank) heap_ = allocate(rank);
    }
    layout(const layout& other) : offset(other.offset), rank_(other.rank_) {
        if (rank_ > inline_rank) heap_ = allocate(rank_);
        copy_numbers(other);
    }
    layout(layout&& other) noexcept : offset(other.offset), rank_(other.rank_) { take_numbers(other); }
    layout& operator=(layout other) noexcept {
        if (rank_ > inline_rank) delete[] heap_;
        offset = other.offset;
        rank_ = other.rank_;
        take_numbers(other);
        return *this;
    }
    ~layout() {
        if (rank_ > inline_rank) delete[] heap_;
    }

    int rank() const noexcept { return rank_; }
    index_t* shape() noexcept { return rank_ > inline_rank ? heap_ : inline_; }
    index_t* strides() noexcept { return shape() + rank_; }
    const index_t* shape() const noexcept { return rank_ > inline_rank ? heap_ : inline_; }
    const index_t* strides() const noexcept { return shape() + rank_; }
    std::span<const index_t> extents() const noexcept { return {shape(), static_cast<std::size_t>(rank_)}; }
    /// Number of elements: 0 only where an extent is 0. A layout that repeats elements may have more than index_t
    /// holds, and then the greatest number.
    index_t size() const noexcept {
        index_t n = 1;
        bool fits = true;
        for (int j = 0; j < rank_; ++j) {
            if (shape()[j] == 0) return 0;
            fits = !__builtin_mul_overflow(n, shape()[j], &n) && fits;
        }
        return fits ? n : INT64_MAX;
    }

    index_t offset = 0;

    /// The number of bytes, from an object's start, that a rank uses.
    static constexpr std::size_t bytes_of_rank(int rank) noexcept {
        return sizeof(layout) - sizeof(inline_) + 2 * static_cast<std::size_t>(rank) * sizeof(index_t);
    }

private:
    static index_t* allocate(int rank) { return new index_t[2 * static_cast<std::size_t>(rank)]; }
    void copy_numbers(const layout& other) noexcept {
        const index_t* from = other.shape();
        index_t* to = shape();
        // Numbers are copied in pairs: for one run compilers emit a string instruction, which takes longer to begin
        // than this.
        for (int j = 0; j < rank_; ++j) {
            const index_t first = from[2 * j], second = from[2 * j + 1];
            to[2 * j] = first;
            to[2 * j + 1] = second;
        }
    }
    void take_numbers(layout& other) noexcept {
        if (rank_ > inline_rank) {
            heap_ = std::exchange(other.heap_, nullptr);
            other.rank_ = 0;
        } else {
            copy_numbers(other);
        }
    }

    int rank_;
    union {
        index_t inline_[2 * inline_rank];
        index_t* heap_ = nullptr;
    };
};

inline bool same_shape(const layout& a, const layout& b) noexcept {
    if (a.rank() != b.rank()) return false;
    for (int j = 0; j < a.rank(); ++j)
        if (a.shape()[j] != b.shape()[j]) return false;
    return true;
}

/// A C-contiguous layout; shape extents must not be negative.
inline layout contiguous_layout(std::span<const index_t> shape) {
    layout l(static_cast<int>(shape.size()));
    index_t stride = 1;
    for (int j = l.rank() - 1; j >= 0; --j) {
        l.shape()[j] = shape[static_cast<std::size_t>(j)];
        l.strides()[j] = stride;
        if (l.shape()[j] > 1) stride *= l.shape()[j];  // axes beside an empty one still have strides
    }
    return l;
}

/// Whether the elements are contiguous in C order from the offset on.
INGOT_API bool is_in_c_order(const layout&) noexcept;

/// An affine view of a result: for each old axis a start, for each new axis an extent and the old axes it steps over. A
/// new axis over no old axis is a newaxis or a broadcast, over two a diagonal; two new axes over one old axis are a
/// sliding window.
struct axis_view {
    struct step {
        int new_axis;
        int old_axis;
        index_t by;
    };
    int old_rank = 0;
    int new_rank = 0;
    const index_t* new_shape = nullptr;  // new_rank extents
    const index_t* start = nullptr;      // old_rank indices at which the view begins
    const step* steps = nullptr;
    int step_count = 0;
};

/// The layout of a leaf under a view of the result, whose axes it is right-aligned with. Axes on which the leaf is
/// broadcast stay broadcast (stride 0). The binder's own trailing axes (`bound` of them) pass through unchanged.
INGOT_API layout compose(const layout& leaf, const axis_view& view, int bound);

/// Gives the axes of `l` but its last `bound` ones a new shape of equal size, without moving an element. Returns false,
/// and leaves `l` unchanged, where no strides can do that.
INGOT_API bool try_reshape(layout& l, std::span<const index_t> new_shape, int bound);

}  // namespace ingot::detail
