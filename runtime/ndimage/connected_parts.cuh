// Connected parts by union and find: each element names an element of its part with a lower index, or itself. Before it
// stand `number`, int or long long, `rank`, `count`, the number of neighbours before an element, and `tiled`: whether
// parts begin as those of tiles of the last two axes, in shared memory, or as runs of the last axis.

struct arguments {
    const bool* inside;
    number* parents;
    const unsigned int* connects;  // a bit for each neighbour before an element, in C order
    number size;
    number extents[rank];
};

constexpr int left = count - 1, above = count - 3;
constexpr int wide = 32, high = 64;  // a tile

// Other threads write the numbers that these functions read and write.
__device__ int loaded(const int* from) {
    int n;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(n) : "l"(from) : "memory");
    return n;
}
__device__ long long loaded(const long long* from) {
    long long n;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(n) : "l"(from) : "memory");
    return n;
}
__device__ void store(int* to, int n) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(to), "r"(n) : "memory");
}
__device__ void store(long long* to, long long n) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(n) : "memory");
}

struct device_memory {
    template <class index>
    static __device__ index load(const index* from) { return loaded(from); }
};
struct block_memory {
    static __device__ int load(const int* from) { return *const_cast<const volatile int*>(from); }
};

__device__ bool is_connected(const arguments& a, int neighbour) {
    return a.connects[neighbour / 32] >> neighbour % 32 & 1;
}
/// The least index of the part, as far as it is known.
template <class memory, class index>
__device__ index root_of(const index* parents, index i) {
    for (index next = memory::load(parents + i); next != i; next = memory::load(parents + i)) i = next;
    return i;
}
/// Makes one part of two: the greater root names the lesser one. Where another thread changed that root, its new
/// parent is still to be joined.
template <class memory, class index>
__device__ void join(index* parents, index i, index j) {
    for (;;) {
        i = root_of<memory>(parents, i);
        j = root_of<memory>(parents, j);
        if (i == j) return;
        const index greater = i < j ? j : i, lesser = i < j ? i : j;
        const index before = atomicMin(parents + greater, lesser);
        if (before == greater) return;
        i = before;
        j = lesser;
    }
}

/// Joins each element with its neighbours before it that are in another tile or run.
extern "C" __global__ void __launch_bounds__(256) join_parts(const __grid_constant__ arguments a) {
    const number i = number(blockIdx.x) * 256 + threadIdx.x;
    if (i >= a.size || (!tiled && !a.inside[i])) return;
    number at[rank];
    number rest = i;
#pragma unroll
    for (int j = rank - 1; j >= 0; --j) {
        at[j] = rest % a.extents[j];
        rest /= a.extents[j];
    }
    const int in_tile = tiled ? int(at[rank - 1] % wide) : int(i % 32);
    const bool is_below = tiled && at[rank >= 2 ? rank - 2 : 0] % high == 0;  // the tile above
    if (tiled && ((rank == 2 && !is_below && in_tile != 0 && in_tile != wide - 1) || !a.inside[i])) return;
    const bool joins_left = is_connected(a, left);
    // A neighbour is joined through those on the left of both where these are inside.
    const bool left_is_inside = joins_left && at[rank - 1] > 0 && a.inside[i - 1];
#pragma unroll(rank <= 3 ? count : 1)
    for (int k = 0; k < count; ++k) {
        if (!is_connected(a, k) || (k == left && in_tile != 0)) continue;
        if (tiled && k < left && k > above - 2 && !is_below && in_tile + k - above >= 0 && in_tile + k - above < wide)
            continue;
        number other = i, stride = 1;
        bool exists = true;
        int digits = k;
#pragma unroll
        for (int j = rank - 1; j >= 0; --j) {
            const int step = digits % 3 - 1;
            digits /= 3;
            exists = exists && at[j] + step >= 0 && at[j] + step < a.extents[j];
            other += step * stride;
            stride *= a.extents[j];
        }
        if (!exists || !a.inside[other]) continue;
        const bool other_is_first = at[rank - 1] + k % 3 - 1 == 0;
        if (k != left && left_is_inside && !other_is_first && a.inside[other - 1]) continue;
        join<device_memory>(a.parents, i, other);
    }
}

/// Each element names the least one of its part.
extern "C" __global__ void __launch_bounds__(256) end_parts(const __grid_constant__ arguments a) {
    const number i = number(blockIdx.x) * 256 + threadIdx.x;
    if (i >= a.size || !a.inside[i]) return;
    const number parent = loaded(a.parents + i), root = root_of<device_memory>(a.parents, parent);
    if (root != parent) store(a.parents + i, root);
}
