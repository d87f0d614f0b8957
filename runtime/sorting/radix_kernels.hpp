// The interface between the radix sort's kernels (radix_kernels.cu) and their launches. Both include this file, so it
// must not include the standard library.
#pragma once

namespace ingot::radix {

/// The version of CUB whose internals the kernels use, as CUB_VERSION has it.
inline constexpr int cub_version = 300001;
inline constexpr int digit_bits = 8, digits = 1 << digit_bits;

/// Threads of a block that scatters keys by a digit, and keys of a thread: CUB's own choice for these GPUs, which the
/// kernels' source compares with it.
struct tile_shape {
    int threads, items;
    constexpr int size() const { return threads * items; }
};
/// The shape for keys, values (0: none) and offsets of these sizes in bytes.
constexpr tile_shape tile_of(int architecture, int key, int value, int offset) {
    if (key == 1) {
        if (value == 8) return {384, 9};
        if (value == 4) return {512, architecture >= 100 ? 18 : 17};
        return {512, 19};
    }
    if (key == 2) {
        if (value == 8) return {512, 11};
        if (value == 4) return {512, 17};
        if (architecture >= 100) return {offset == 8 ? 384 : 512, 20};
        return {512, 19};
    }
    if (key == 4) {
        if (architecture < 90) return {384, value == 8 ? 8 : 21};
        if (value == 8) return {384, 14};
        if (value == 4) return {384, 23};
        return {384, offset == 8 ? 19 : 20};
    }
    if (architecture < 90) return {384, 10};
    return {384, value == 8 ? 12 : 15};
}
inline constexpr int histogram_threads = 128, histogram_items = 16;

using bits = unsigned long long;

/// Maps keys to unsigned integers of the same order, and back; bits beyond a key's size are cut off. For floating-point
/// numbers, -0 is before 0, and NaN are last.
struct key_order {
    bits flip;      // the sign bit of signed and floating-point keys
    bits negative;  // for floating-point numbers, all bits but the sign
    bits least;     // the value of minus infinity, subtracted from all: negative NaN wrap around to the end
    bits infinity;  // keys above it are NaN
    bits reverse;   // all bits for descending order
    int merges;     // both zeros have one key, and all NaN have one: for indices, whose order shows that they are equal
};

/// All rows have one length; strides are in elements.
struct histogram_arguments {
    const void* keys;
    void* bins;  // for each row and digit of the keys
    long long stride, length;
    int bits;
    key_order order;
};
struct pass_arguments {
    const void* keys;
    void* sorted_keys;   // null: not needed
    const void* values;  // null: the index of a key in its row
    void* sorted_values;
    long long key_stride, sorted_key_stride, value_stride, sorted_value_stride;
    int *lookback, *counters;  // zeroed; for each row
    const void* bins;          // the start of each digit, in each row
    void* next_bins;           // for the rows' next portion; null: this is the last
    long long lookback_stride, bins_stride;
    int counters_stride;
    long long first;  // the portion's start in its row
    int length;       // number of its keys
    int bit, bits;
    int maps_in, maps_out;  // this is the first pass, or the last
    int wide;               // sorted values are written as int64
    key_order order;
};

}  // namespace ingot::radix
