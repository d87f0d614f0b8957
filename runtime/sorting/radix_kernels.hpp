// What the radix sort's kernels (radix_kernels.cu) and their launches agree on. Both read this file: no header of the
// standard library may be wanted here.
#pragma once

namespace ingot::radix {

/// The version of CUB whose internals the kernels are made of, as CUB_VERSION has it.
inline constexpr int cub_version = 300001;
inline constexpr int digit_bits = 8, digits = 1 << digit_bits;

/// Threads of a block that scatters keys by a digit, and keys of a thread: CUB's own choice for these GPUs, which the
/// kernels' source compares with.
struct tile_shape {
    int threads, items;
    constexpr int size() const { return threads * items; }
};
/// Of keys of so many bytes with values of so many (0: none), and offsets of so many.
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

/// How keys become unsigned integers in their order, and those the keys again; what a key's size has no room for is
/// cut off. Floating-point numbers: -0 is before 0, and what is not a number last.
struct key_order {
    bits flip;      // the sign of what has one
    bits negative;  // of floating-point numbers all bits but the sign
    bits least;     // what minus infinity would become, taken from all: negative NaN wrap around to the end
    bits infinity;  // above it NaN
    bits reverse;   // all bits for descending order
    int merges;     // both zeros become one key, and all NaN: for indices, whose order then shows that they are equal
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
    void* sorted_keys;   // null: wanted no more
    const void* values;  // null: the index of a key in its row
    void* sorted_values;
    long long key_stride, sorted_key_stride, value_stride, sorted_value_stride;
    int *lookback, *counters;  // zeroed; of each row
    const void* bins;          // where the digits begin, in each row
    void* next_bins;           // for the next portion of the rows; null: this is the last
    long long lookback_stride, bins_stride;
    int counters_stride;
    long long first;  // the portion's place in its row
    int length;       // and its keys
    int bit, bits;
    int maps_in, maps_out;  // the first pass, and the last
    int wide;               // sorted values are written as int64
    key_order order;
};

}  // namespace ingot::radix
