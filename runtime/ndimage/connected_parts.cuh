// Connected parts by union and find: each element names an element of its part with a lower index, or itself. Before it
// stand `number`, int or long long, `rank`, and `count`, the number of neighbours before an element.

struct arguments {
    const bool* inside;
    number* parents;
    const unsigned int* connects;  // a bit for each neighbour before an element, in C order
    number size;
    number extents[rank];
};

constexpr int left = count - 1;

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

__device__ bool is_connected(const arguments& a, int neighbour) {
    return a.connects[neighbour / 32] >> neighbour % 32 & 1;
}
/// The least index of the part, as far as it is known.
__device__ number root_of(const number* parents, number i) {
    for (number next = loaded(parents + i); next != i; next = loaded(parents + i)) i = next;
    return i;
}
/// Makes one part of two: the greater root names the lesser one. Where another thread changed that root, its new
/// parent is still to be joined.
__device__ void join(number* parents, number i, number j) {
    for (;;) {
        i = root_of(parents, i);
        j = root_of(parents, j);
        if (i == j) return;
        const number greater = i < j ? j : i, lesser = i < j ? i : j;
        const number before = atomicMin(parents + greater, lesser);
        if (before == greater) return;
        i = before;
        j = lesser;
    }
}

/// An element names the first one of its run, within the 32 elements of a warp.
extern "C" __global__ void __launch_bounds__(256) begin_parts(const __grid_constant__ arguments a) {
    const number i = number(blockIdx.x) * 256 + threadIdx.x;
    const int lane = threadIdx.x % 32;
    const bool is_inside = i < a.size && a.inside[i];
    const unsigned int inside = __ballot_sync(0xffffffffu, is_inside);
    const bool follows = lane > 0 && i % a.extents[rank - 1] != 0 && (inside >> (lane - 1) & 1) && is_connected(a, left);
    const unsigned int first = __ballot_sync(0xffffffffu, !follows) & (0xffffffffu >> (31 - lane));
    if (i < a.size) a.parents[i] = is_inside ? i - lane + 31 - __clz(first) : -1;
}

/// Joins each element with its neighbours before it.
extern "C" __global__ void __launch_bounds__(256) join_parts(const __grid_constant__ arguments a) {
    const number i = number(blockIdx.x) * 256 + threadIdx.x;
    if (i >= a.size || !a.inside[i]) return;
    number at[rank];
    number rest = i;
#pragma unroll
    for (int j = rank - 1; j >= 0; --j) {
        at[j] = rest % a.extents[j];
        rest /= a.extents[j];
    }
    const bool joins_left = is_connected(a, left);
    // A neighbour is joined through those on the left of both where these are inside.
    const bool left_is_inside = joins_left && at[rank - 1] > 0 && a.inside[i - 1];
#pragma unroll(rank <= 3 ? count : 1)
    for (int k = 0; k < count; ++k) {
        if (!is_connected(a, k) || (k == left && i % 32 != 0)) continue;
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
        join(a.parents, i, other);
    }
}

/// Each element names the least one of its part.
extern "C" __global__ void __launch_bounds__(256) end_parts(const __grid_constant__ arguments a) {
    const number i = number(blockIdx.x) * 256 + threadIdx.x;
    if (i >= a.size || !a.inside[i]) return;
    const number parent = loaded(a.parents + i), root = root_of(a.parents, parent);
    if (root != parent) store(a.parents + i, root);
}
