// The kernels of bucketed_sums.cpp, which says how they add. `arguments` is laid out as there.

typedef long long int64;
typedef unsigned long long uint64;
struct alignas(8) pair {
    unsigned at;
    float weight;
};
struct arguments {
    const int64* at;
    const float* weights;
    double* sums;
    unsigned *counts, *cursors;
    int64* begins;
    unsigned *parts, *slots;
    pair* pairs;
    uint64* digits;
    int64 length, bins, part;
    int shift, buckets;
};
constexpr int tile = 8192, each = 16, bucket_bins = 2048, all_digits = 10;
constexpr unsigned middle = 0x80000000u;  // where digits begin, so that few are carried beyond the next

/// The bin of a number, or -1 where there is no such bin.
__device__ int bin_of(const arguments& a, int64 i) {
    const int64 at = i < a.length ? a.at[i] : -1;
    return at < 0 || at >= a.bins ? -1 : int(at);
}

/// How many numbers each bucket has.
extern "C" __global__ void __launch_bounds__(512) count_buckets(const __grid_constant__ arguments a) {
    __shared__ unsigned counts[2048];
    for (int b = threadIdx.x; b < a.buckets; b += 512) counts[b] = 0;
    __syncthreads();
    for (int64 begin = int64(blockIdx.x) * tile; begin < a.length; begin += int64(gridDim.x) * tile) {
        int at[each];
        #pragma unroll
        for (int j = 0; j < each; ++j) at[j] = bin_of(a, begin + j * 512 + threadIdx.x);
        #pragma unroll
        for (int j = 0; j < each; ++j)
            if (at[j] >= 0) atomicAdd(&counts[at[j] >> a.shift], 1u);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < a.buckets; b += 512)
        if (counts[b] != 0) atomicAdd(&a.counts[b], counts[b]);
}

template <class T>
__device__ T scan_of_warp(T n) {
    #pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const T lower = __shfl_up_sync(0xffffffffu, n, d);
        if (threadIdx.x % 32 >= d) n += lower;
    }
    return n;
}
/// The sum of the numbers of the threads before it.
template <int Threads, class T>
__device__ T sum_before(T n, T* room) {
    const T upto = scan_of_warp(n);
    if (threadIdx.x % 32 == 31) room[threadIdx.x / 32] = upto;
    __syncthreads();
    T before = upto - n;
    #pragma unroll
    for (int w = 0; w < Threads / 32 - 1; ++w) before += w < threadIdx.x / 32 ? room[w] : T(0);
    return before;
}

/// One block: where each bucket begins among the pairs, among the parts, and among those of several parts.
extern "C" __global__ void __launch_bounds__(1024) sum_counts(const __grid_constant__ arguments a) {
    __shared__ uint64 room[32], more_room[32];
    uint64 count[2], parts[2];  // of these the higher half are the buckets of several
    #pragma unroll
    for (int k = 0; k < 2; ++k) {
        const int b = 2 * threadIdx.x + k;
        count[k] = b >= a.buckets ? 0 : a.buckets == 1 ? a.length : a.counts[b];
        parts[k] = (count[k] + a.part - 1) / a.part;
        if (parts[k] > 1) parts[k] += 1ull << 32;
    }
    uint64 begin = sum_before<1024>(count[0] + count[1], room), part = sum_before<1024>(parts[0] + parts[1], more_room);
    #pragma unroll
    for (int k = 0; k < 2; ++k) {
        const int b = 2 * threadIdx.x + k;
        if (b >= a.buckets) break;
        a.begins[b] = begin, a.parts[b] = unsigned(part), a.slots[b] = unsigned(part >> 32);
        a.cursors[b] = unsigned(begin);
        begin += count[k], part += parts[k];
        if (b + 1 == a.buckets)
            a.begins[b + 1] = begin, a.parts[b + 1] = unsigned(part), a.slots[b + 1] = unsigned(part >> 32);
    }
}

/// A tile's numbers go side by side by buckets in shared memory, and from there behind those of other tiles.
extern "C" __global__ void __launch_bounds__(512, 2) partition(const __grid_constant__ arguments a) {
    extern __shared__ uint64 shared[];
    __shared__ unsigned room[16], total;
    pair* const staged = (pair*)shared;
    unsigned* const begins = (unsigned*)(shared + tile);  // counts before that
    unsigned* const far = begins + 2048;                  // from there to memory
    for (int b = threadIdx.x; b < a.buckets; b += 512) begins[b] = 0;
    __syncthreads();
    const int64 first = int64(blockIdx.x) * tile + threadIdx.x;
    int at[each];
    float weights[each];
    #pragma unroll
    for (int j = 0; j < each; ++j) at[j] = bin_of(a, first + j * 512);
    #pragma unroll
    for (int j = 0; j < each; ++j) weights[j] = at[j] >= 0 ? a.weights[first + j * 512] : 0.0f;
    unsigned ranks[each];
    #pragma unroll
    for (int j = 0; j < each; ++j) ranks[j] = at[j] >= 0 ? atomicAdd(&begins[at[j] >> a.shift], 1u) : 0;
    __syncthreads();
    unsigned counts[4], sum = 0;
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
        const int b = 4 * threadIdx.x + k;
        counts[k] = b < a.buckets ? begins[b] : 0;
        sum += counts[k];
    }
    unsigned begin = sum_before<512>(sum, room);
    if (threadIdx.x == 511) total = begin + sum;
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
        const int b = 4 * threadIdx.x + k;
        if (b >= a.buckets) break;
        begins[b] = begin;
        far[b] = counts[k] != 0 ? atomicAdd(&a.cursors[b], counts[k]) - begin : 0;
        begin += counts[k];
    }
    __syncthreads();
    #pragma unroll
    for (int j = 0; j < each; ++j)
        if (at[j] >= 0) staged[begins[at[j] >> a.shift] + ranks[j]] = {unsigned(at[j]), weights[j]};
    __syncthreads();
    #pragma unroll 4
    for (unsigned i = threadIdx.x; i < total; i += 512) {
        const pair p = staged[i];
        a.pairs[i + far[p.at >> a.shift]] = p;
    }
}

/// Adds a number to that of 320 bits of a bin, whose digits lie 2048 apart: 2^-149 is its first bit.
__device__ void add(unsigned* digits, float weight) {
    const unsigned bits = __float_as_uint(weight), exponent = bits >> 23 & 255u;
    if (exponent == 255) {
        atomicOr(digits + all_digits * bucket_bins, (bits & 0x7fffffu) != 0 ? 4u : bits >> 31 != 0 ? 2u : 1u);
        return;
    }
    const unsigned mantissa = bits & 0x7fffffu | (exponent != 0 ? 0x800000u : 0u);
    if (mantissa == 0) return;
    const unsigned bit = exponent != 0 ? exponent - 1 : 0;
    const uint64 two = uint64(mantissa) << bit % 32;
    unsigned part = unsigned(two), next = unsigned(two >> 32);
    digits += bit / 32 * bucket_bins;
    for (;;) {
        const bool negative = bits >> 31 != 0;
        const unsigned old = atomicAdd(digits, negative ? 0u - part : part);
        part = next + (negative ? old < part : old + part < part);
        if (part == 0) return;
        next = 0;
        digits += bucket_bins;
    }
}

/// The number that sums of digits are, rounded once.
__device__ double value_of(const int64 (&sums)[all_digits], unsigned not_finite) {
    if (not_finite != 0)
        return __longlong_as_double(not_finite > 2 ? 0x7ff8000000000000ll
                                                   : not_finite == 2 ? (int64)0xfff0000000000000ull : 0x7ff0000000000000ll);
    unsigned digits[all_digits];
    int64 carried = 0;
    #pragma unroll
    for (int j = 0; j < all_digits; ++j) {
        const int64 sum = sums[j] + carried;
        digits[j] = unsigned(sum);
        carried = sum >> 32;
    }
    const bool negative = carried < 0;
    bool one = negative;
    #pragma unroll
    for (int j = 0; j < all_digits; ++j) {
        if (negative) digits[j] = ~digits[j] + one;
        one = one && digits[j] == 0;
    }
    // Its 64 highest bits, of which the last says whether there is more.
    unsigned high = 0, next = 0, third = 0, rest = 0;
    int top = -1;
    #pragma unroll
    for (int j = all_digits - 1; j >= 0; --j) {
        if (top < 0 && digits[j] != 0) top = j, high = digits[j];
        else if (top == j + 1) next = digits[j];
        else if (top == j + 2) third = digits[j];
        else rest |= digits[j];
    }
    if (top < 0) return 0;
    const int spare = __clz(high);
    const uint64 upper = uint64(high) << 32 | next;
    uint64 bits = upper << spare | uint64(third) << spare >> 32;
    if ((third << spare | rest) != 0) bits |= 1;
    const double scale = __longlong_as_double(int64(1023 + 32 * (top - 1) - spare - 149) << 52);
    return (negative ? -double(bits) : double(bits)) * scale;
}

/// The bucket before which there are at most as many.
__device__ int bucket_of(const unsigned* before, int buckets, unsigned number) {
    __shared__ int found;
    if (threadIdx.x == 0) found = -1;
    __syncthreads();
    for (int b = threadIdx.x; b < buckets; b += blockDim.x)
        if (before[b] <= number && number < before[b + 1]) found = b;
    __syncthreads();
    return found;
}

extern "C" __global__ void __launch_bounds__(512, 2) sum_parts(const __grid_constant__ arguments a) {
    extern __shared__ uint64 shared[];
    unsigned* const digits = (unsigned*)shared;
    const int bucket = bucket_of(a.parts, a.buckets, blockIdx.x);
    if (bucket < 0) return;
    const unsigned first_part = a.parts[bucket], slot = a.slots[bucket];
    const bool is_whole = slot == a.slots[bucket + 1];
    const int64 begin = a.begins[bucket] + (blockIdx.x - first_part) * a.part;
    const int64 behind = a.begins[bucket + 1], end = begin + a.part < behind ? begin + a.part : behind;
    for (int i = threadIdx.x; i < all_digits * bucket_bins; i += 512) digits[i] = middle;
    for (int i = threadIdx.x; i < bucket_bins; i += 512) digits[all_digits * bucket_bins + i] = 0;
    __syncthreads();
    const int first = bucket << a.shift;
    for (int64 i = begin + threadIdx.x; i < end; i += 512 * 4) {
        int at[4];
        float weights[4];
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int64 k = i + j * 512;
            at[j] = -1;
            if (k < end && a.pairs != nullptr) {
                const pair p = a.pairs[k];
                at[j] = int(p.at) - first, weights[j] = p.weight;
            } else if (k < end) {
                at[j] = bin_of(a, k), weights[j] = a.weights[k];
            }
        }
        #pragma unroll
        for (int j = 0; j < 4; ++j)
            if (at[j] >= 0) add(digits + at[j], weights[j]);
    }
    __syncthreads();
    const int64 left = a.bins - first;
    const int n = left < 1 << a.shift ? int(left) : 1 << a.shift;
    for (int p = threadIdx.x; p < n; p += 512) {
        int64 sums[all_digits];
        #pragma unroll
        for (int j = 0; j < all_digits; ++j) sums[j] = int64(digits[j * bucket_bins + p]) - int64(middle);
        const unsigned not_finite = digits[all_digits * bucket_bins + p];
        if (is_whole) {
            a.sums[first + p] = value_of(sums, not_finite);
        } else {
            uint64* const to = a.digits + int64(slot) * (all_digits + 1) * bucket_bins + p;
            #pragma unroll
            for (int j = 0; j < all_digits; ++j)
                if (sums[j] != 0) atomicAdd(to + j * bucket_bins, uint64(sums[j]));
            if (not_finite != 0) atomicOr((unsigned*)(to + all_digits * bucket_bins), not_finite);
        }
    }
}

/// The sums of buckets that had several parts.
extern "C" __global__ void __launch_bounds__(256) finish_sums(const __grid_constant__ arguments a) {
    const int bucket = bucket_of(a.slots, a.buckets, blockIdx.y), p = blockIdx.x * 256 + threadIdx.x;
    if (bucket < 0) return;
    const int64 to = (int64(bucket) << a.shift) + p;
    if (p >= 1 << a.shift || to >= a.bins) return;
    const uint64* const from = a.digits + int64(blockIdx.y) * (all_digits + 1) * bucket_bins + p;
    int64 sums[all_digits];
    #pragma unroll
    for (int j = 0; j < all_digits; ++j) sums[j] = int64(from[j * bucket_bins]);
    a.sums[to] = value_of(sums, unsigned(from[all_digits * bucket_bins]));
}
