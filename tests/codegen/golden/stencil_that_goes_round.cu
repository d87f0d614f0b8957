// reshape(x0) + reshape(x1)
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

/// Division by multiplication: n / d is the high word of 2 n * multiplier, shifted.
struct divisor { uint32 multiplier, shift; };
__device__ __forceinline__ uint32 quotient(uint32 n, divisor d) {
    return __umulhi(n << 1, d.multiplier) >> d.shift;
}

/// Maps an index at most n beyond the ends of an axis into [0, n), wrapping around.
__device__ __forceinline__ int32 wrapped(int32 at, int32 n) {
    return at < 0 ? at + n : at < n ? at : at - n;
}

/// Loads the aligned vector at `from` into to[first], ..., with `left` elements before it and `right`
/// after it.
template <class word, int each, int left, int right, int first, class type, int n>
__device__ __forceinline__ void load_aligned_row(type (&to)[n], const type* from) {
    alignas(sizeof(word)) type vector[each];
    reinterpret_cast<word&>(vector) = __ldg(reinterpret_cast<const word*>(from));
#pragma unroll
    for (int e = 0; e < each; ++e) to[first + e] = vector[e];
#pragma unroll
    for (int e = -left; e < 0; ++e) to[first + e] = __ldg(from + e);
#pragma unroll
    for (int e = each; e < each + right; ++e) to[first + e] = __ldg(from + e);
}

/// Loads the elements whose columns lie in [low, high); `column` is the column of to[0].
template <class type, int n>
__device__ __forceinline__ void load_ends(type (&to)[n], const type* from, int32 column, int32 low, int32 high) {
#pragma unroll
    for (int e = 0; e < n; ++e)
        if (column + e >= low && column + e < high) to[e] = __ldg(from + e);
}

/// Stores elements [begin, end) of each lane: by one access per lane if all vectors are whole and aligned,
/// else transposed in `room`, so that adjacent lanes store adjacent elements.
template <class word, class type, int n>
__device__ __forceinline__ void store_row(type* to, const type (&from)[n], int begin, int end, unsigned char* room) {
    const bool aligned = end <= begin || (begin == 0 && end == n && reinterpret_cast<uint64>(to) % sizeof(word) == 0);
    if (__all_sync(~0u, aligned)) {
        if (begin < end) __stcs(reinterpret_cast<word*>(to), reinterpret_cast<const word&>(from));
        return;
    }
    type* const turned = reinterpret_cast<type*>(room);
    const int lane = int(threadIdx.x % 32);
    __syncwarp();
    reinterpret_cast<word&>(turned[lane * n]) = reinterpret_cast<const word&>(from);
    __syncwarp();
#pragma unroll
    for (int i = 0; i < n; ++i) {
        const int k = i * 32 + lane, owner = k / n, e = k % n;
        type* const at = reinterpret_cast<type*>(__shfl_sync(~0u, reinterpret_cast<uint64>(to), owner));
        const int range = __shfl_sync(~0u, begin | (end << 8), owner);
        if (e >= (range & 255) && e < range >> 8) __stcs(at + e, turned[k]);
    }
}

struct arguments {
    const float* x0;
    const float* x1;
    float* z0;
    uint32 vectors;
    divisor by_row;
    uint32 row_vectors;
    uint32 n1;
    uint32 n0;
    int32 x0_stride3;
    int32 z0_stride0;
};

extern "C" __global__ void __launch_bounds__(256)
map(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 index = blockIdx.x * 256u + threadIdx.x, q = min(index, p.vectors - 1);
    const uint32 line = quotient(q, p.by_row);
    const int32 row = int32(line) * 8;
    const float* const x0_at = p.x0;
    // Vectors of columns start at aligned addresses; the first vector may start before the row.
    const int32 column = int32(q - line * p.row_vectors) * 4 - int32(reinterpret_cast<uint64>(x0_at) / 4 % 4);
    const bool here = index < p.vectors && column < int32(p.n1);
    const int32 rows = here ? min(int32(8), int32(p.n0) - row) : 0;
    const bool inside = here && column >= 0 && column + 4 <= int32(p.n1);
    float x0_rows[1][4][5] = {};
    int32 x0_rows_ends[1];
#pragma unroll
    for (int e = 0; e < 1; ++e) x0_rows_ends[e] = wrapped(column - int32(0) + int32(e < 0 ? e : e + 4), int32(p.n1));
    const auto load_x0_rows = [&](float (&to)[5], int r) {
        const float* const from = x0_at + int64(wrapped(row + min(int32(r), rows + (-1)), int32(p.n0))) * p.x0_stride3;
        if (inside) {
            load_aligned_row<uint4, 4, 0, 0, 0>(to, from + column);
#pragma unroll
            for (int e = 4; e < 5; ++e) to[e] = __ldg(from + x0_rows_ends[e - 4]);
            return;
        }
        if (!here) return;
#pragma unroll
        for (int e = 0; e < 5; ++e) {
            const int32 at = column + int32(e) - 0;
            if (at >= -0 && at < int32(p.n1) + 1) to[e] = __ldg(from + wrapped(at, int32(p.n1)));
        }
    };
    __shared__ alignas(16) unsigned char turned[4096];
#pragma unroll 1
    for (int j = -3; __any_sync(~0u, j < rows); ++j) {
#pragma unroll
        for (int l = 0; l < 1; ++l)
#pragma unroll
            for (int r = 0; r < 3; ++r)
#pragma unroll
                for (int k = 0; k < 5; ++k) x0_rows[l][r][k] = x0_rows[l][r + 1][k];
        if (j + 2 < rows) load_x0_rows(x0_rows[0][3], j + 2);
        if (j < 0) continue;
        const int32 i0 = row + j;
        alignas(16) float z0[1][4];
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            z0[0][e] = x0_rows[0][0][e + 0] + x0_rows[0][1][e + 1];
        }
        {
            const int32 i1 = column;
            const int begin = int(max(-column, int32(0))), end = j < rows ? int(min(int32(p.n1) - column, int32(4))) : 0;
            store_row<uint4>(p.z0 + (i0 * p.z0_stride0 + i1), z0[0], begin, end, turned + threadIdx.x / 32 * 512);
        }
    }
}
