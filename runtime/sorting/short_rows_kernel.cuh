// The kernel of short_rows.cpp, which prints before it: `block`, the threads of a block; the types `value`, `key`,
// `element` and `result`; and the functions `before`, element_of, result_of, `last` and `exchange`. `arguments` is laid
// out as there.

typedef long long int64;
struct arguments {
    const value* from;
    result* to;
    int64 length, from_stride, to_stride, rows, count;
    int threads_of_row;
};

__device__ void order(element& low, element& high) {
    if (!before(high, low)) return;
    const element former = low;
    low = high;
    high = former;
}
__device__ void keep(element& mine, const element& other, bool lower) {
    if (before(other, mine) == lower) mine = other;
}

extern "C" __global__ void __launch_bounds__(block) sort_short_rows(const __grid_constant__ arguments a) {
    __shared__ element room[block * 9];
    const int self = threadIdx.x, threads = a.threads_of_row, t = self & (threads - 1);
    const int64 row = int64(blockIdx.x) * (block / threads) + self / threads;
    element e[8];
    #pragma unroll
    for (int r = 0; r < 8; ++r) {
        const int i = r * threads + t;
        e[r] = last();
        if (row < a.rows && i < a.length) e[r] = element_of(a.from[row * a.from_stride + i], i);
    }
    #pragma unroll
    for (int size = 2; size <= 8; size *= 2) {
        #pragma unroll
        for (int r = 0; r < 8; ++r)
            if ((r & (size / 2)) == 0) order(e[r], e[r ^ (size - 1)]);
        #pragma unroll
        for (int distance = size / 4; distance > 0; distance /= 2) {
            #pragma unroll
            for (int r = 0; r < 8; ++r)
                if ((r & distance) == 0) order(e[r], e[r + distance]);
        }
    }
    #pragma unroll 1
    for (int merged = 2; merged <= threads; merged *= 2) {
        // A step that compares mirrors, then steps over ever smaller distances.
        #pragma unroll 1
        for (int half = merged / 2; half > 0; half /= 2) {
            const bool mirrored = half == merged / 2, lower = (t & half) == 0;
            const int mask = mirrored ? merged - 1 : half;
            element other[8];
            if (mask < 32) {
                #pragma unroll
                for (int r = 0; r < 8; ++r) other[r] = exchange(e[r], mask);
            } else {
                __syncthreads();
                #pragma unroll
                for (int r = 0; r < 8; ++r) room[r * block + self] = e[r];
                __syncthreads();
                #pragma unroll
                for (int r = 0; r < 8; ++r) other[r] = room[r * block + (self ^ mask)];
            }
            if (mirrored) {
                #pragma unroll
                for (int r = 0; r < 8; ++r) keep(e[r], other[7 - r], lower);
            } else {
                #pragma unroll
                for (int r = 0; r < 8; ++r) keep(e[r], other[r], lower);
            }
        }
        #pragma unroll
        for (int distance = 4; distance > 0; distance /= 2) {
            #pragma unroll
            for (int r = 0; r < 8; ++r)
                if ((r & distance) == 0) order(e[r], e[r + distance]);
        }
    }
    // Through shared memory, so that neighbours write neighbours; nine apart, which are other banks.
    __syncthreads();
    #pragma unroll
    for (int r = 0; r < 8; ++r) room[self * 9 + r] = e[r];
    __syncthreads();
    #pragma unroll
    for (int r = 0; r < 8; ++r) {
        const int i = r * threads + t, at = (self - t) * 8 + i;
        if (row < a.rows && i < a.count) a.to[row * a.to_stride + i] = result_of(room[at + at / 8]);
    }
}
