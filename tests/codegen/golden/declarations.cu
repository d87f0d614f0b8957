// The declarations that the sources in this folder share, each below its name.

//// stream
template <class word>
__device__ word stream(const word* from);

//// stream.2
template <>
__device__ __forceinline__ uint4 stream(const uint4* from) {
    uint4 w;
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(w.x), "=r"(w.y), "=r"(w.z), "=r"(w.w) : "l"(from));
    return w;
}

//// load_stream
/// Loads elements that are read only once, without allocating lines in the first-level cache.
template <class word, class type, int n>
__device__ __forceinline__ void load_stream(type (&to)[n], const type* from) {
    reinterpret_cast<word&>(to) = stream(reinterpret_cast<const word*>(from));
}

//// store
/// Stores elements that are not read soon; the caches evict them first.
template <class word, class type, int n>
__device__ __forceinline__ void store(type* to, const type (&from)[n]) {
    __stcs(reinterpret_cast<word*>(to), reinterpret_cast<const word&>(from));
}

//// divisor
/// Division by multiplication: n / d is the high word of 2 n * multiplier, shifted.
struct divisor { uint32 multiplier, shift; };
__device__ __forceinline__ uint32 quotient(uint32 n, divisor d) {
    return __umulhi(n << 1, d.multiplier) >> d.shift;
}

//// load_cached
/// Loads elements that other threads also read.
template <class word, class type, int n>
__device__ __forceinline__ void load_cached(type (&to)[n], const type* from) {
    reinterpret_cast<word&>(to) = __ldg(reinterpret_cast<const word*>(from));
}

//// load_row
/// Loads `each` elements into to[first], ..., by one access if `from` is aligned, with `left` elements
/// before them and `right` after them.
template <class word, int each, int left, int right, int first, class type, int n>
__device__ __forceinline__ void load_row(type (&to)[n], const type* from) {
    if (reinterpret_cast<uint64>(from) % sizeof(word) == 0) {
        alignas(sizeof(word)) type vector[each];
        reinterpret_cast<word&>(vector) = __ldg(reinterpret_cast<const word*>(from));
#pragma unroll
        for (int e = 0; e < each; ++e) to[first + e] = vector[e];
    } else {
#pragma unroll
        for (int e = 0; e < each; ++e) to[first + e] = __ldg(from + e);
    }
#pragma unroll
    for (int e = -left; e < 0; ++e) to[first + e] = __ldg(from + e);
#pragma unroll
    for (int e = each; e < each + right; ++e) to[first + e] = __ldg(from + e);
}

//// load_ends
/// Loads the elements whose columns lie in [low, high); `column` is the column of to[0].
template <class type, int n>
__device__ __forceinline__ void load_ends(type (&to)[n], const type* from, int32 column, int32 low, int32 high) {
#pragma unroll
    for (int e = 0; e < n; ++e)
        if (column + e >= low && column + e < high) to[e] = __ldg(from + e);
}

//// store_run
/// Stores a run of memory, of which each lane of the warp has one vector. A lane stores the aligned vector that begins
/// among its elements; the ends of the run go element by element.
template <class word, class type, int n>
__device__ __forceinline__ void store_run(type* to, const type (&from)[n]) {
    constexpr int words = sizeof(word) / 4;
    const unsigned int skipped = -(unsigned int)reinterpret_cast<unsigned long long>(to) % sizeof(word);  // bytes
    alignas(sizeof(word)) unsigned int vector[2 * words];  // the lane's, and the next one's
    reinterpret_cast<word&>(vector) = reinterpret_cast<const word&>(from);
#pragma unroll
    for (int i = 0; i < words; ++i) vector[words + i] = __shfl_down_sync(~0u, vector[i], 1);
#pragma unroll
    for (int by = words / 2; by > 0; by /= 2) {
        if ((skipped / 4 & by) == 0) continue;
#pragma unroll
        for (int i = 0; i < 2 * words - by; ++i) vector[i] = vector[i + by];
    }
    if constexpr (sizeof(type) < 4) {
#pragma unroll
        for (int i = 0; i < words; ++i) vector[i] = __funnelshift_r(vector[i], vector[i + 1], skipped % 4 * 8);
    }
    const unsigned int lane = threadIdx.x % 32, first = skipped / sizeof(type);
    if (lane < 31) __stcs(reinterpret_cast<word*>(to + first), reinterpret_cast<const word&>(vector));
    if (lane != 0 && lane != 31) return;
#pragma unroll
    for (unsigned int e = 0; e < n; ++e)
        if ((e < first) == (lane == 0)) to[e] = from[e];
}

//// store_row
/// Stores elements [begin, end) of each lane: by one access per lane if all vectors are whole and aligned
/// or the warp has one run of memory, else transposed in `room`, so that adjacent lanes store adjacent elements.
template <class word, class type, int n>
__device__ __forceinline__ void store_row(type* to, const type (&from)[n], int begin, int end, unsigned char* room) {
    const int lane = int(threadIdx.x % 32);
    const bool whole = begin == 0 && end == n, aligned = end <= begin || (whole && reinterpret_cast<uint64>(to) % sizeof(word) == 0);
    if (__all_sync(~0u, aligned)) {
        if (begin < end) __stcs(reinterpret_cast<word*>(to), reinterpret_cast<const word&>(from));
        return;
    }
    if constexpr (sizeof(word) % 4 == 0) {
        const uint64 first = __shfl_sync(~0u, reinterpret_cast<uint64>(to), 0);
        if (__all_sync(~0u, whole && reinterpret_cast<uint64>(to) == first + lane * sizeof(word))) return store_run<word>(to, from);
    }
    type* const turned = reinterpret_cast<type*>(room);
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

//// load_row_own
/// Loads `each` elements into to[first], ..., by one access if `from` is aligned, with `left` elements
/// before them and `right` after them.
template <class word, int each, int left, int right, int first, class type, int n>
__device__ __forceinline__ void load_row_own(type (&to)[n], const type* from) {
    if (reinterpret_cast<uint64>(from) % sizeof(word) == 0) {
        alignas(sizeof(word)) type vector[each];
        reinterpret_cast<word&>(vector) = *(reinterpret_cast<const word*>(from));
#pragma unroll
        for (int e = 0; e < each; ++e) to[first + e] = vector[e];
    } else {
#pragma unroll
        for (int e = 0; e < each; ++e) to[first + e] = *(from + e);
    }
#pragma unroll
    for (int e = -left; e < 0; ++e) to[first + e] = *(from + e);
#pragma unroll
    for (int e = each; e < each + right; ++e) to[first + e] = *(from + e);
}

//// load_ends_own
/// Loads the elements whose columns lie in [low, high); `column` is the column of to[0].
template <class type, int n>
__device__ __forceinline__ void load_ends_own(type (&to)[n], const type* from, int32 column, int32 low, int32 high) {
#pragma unroll
    for (int e = 0; e < n; ++e)
        if (column + e >= low && column + e < high) to[e] = *(from + e);
}

//// load_aligned_row
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

//// store_row_plain
/// Stores elements [begin, end) of each lane: by one access per lane if all vectors are whole and aligned
/// or the warp has one run of memory, else transposed in `room`, so that adjacent lanes store adjacent elements.
template <class word, class type, int n>
__device__ __forceinline__ void store_row_plain(type* to, const type (&from)[n], int begin, int end, unsigned char* room) {
    const int lane = int(threadIdx.x % 32);
    const bool whole = begin == 0 && end == n, aligned = end <= begin || (whole && reinterpret_cast<uint64>(to) % sizeof(word) == 0);
    if (__all_sync(~0u, aligned)) {
        if (begin < end) __stcs(reinterpret_cast<word*>(to), reinterpret_cast<const word&>(from));
        return;
    }
    if constexpr (sizeof(word) % 4 == 0) {
        const uint64 first = __shfl_sync(~0u, reinterpret_cast<uint64>(to), 0);
        if (__all_sync(~0u, whole && reinterpret_cast<uint64>(to) == first + lane * sizeof(word))) return store_run<word>(to, from);
    }
    type* const turned = reinterpret_cast<type*>(room);
    __syncwarp();
    reinterpret_cast<word&>(turned[lane * n]) = reinterpret_cast<const word&>(from);
    __syncwarp();
#pragma unroll
    for (int i = 0; i < n; ++i) {
        const int k = i * 32 + lane, owner = k / n, e = k % n;
        type* const at = reinterpret_cast<type*>(__shfl_sync(~0u, reinterpret_cast<uint64>(to), owner));
        const int range = __shfl_sync(~0u, begin | (end << 8), owner);
        if (e >= (range & 255) && e < range >> 8) at[e] = turned[k];
    }
}

//// wrapped
/// Maps an index at most n beyond the ends of an axis into [0, n), wrapping around.
__device__ __forceinline__ int32 wrapped(int32 at, int32 n) {
    return at < 0 ? at + n : at < n ? at : at - n;
}

//// complex64
struct alignas(8) complex64 {
    float re, im;
    complex64() = default;
    __device__ __forceinline__ complex64(float a, float b) : re(a), im(b) {}
};
__device__ __forceinline__ float real(const complex64& z) { return z.re; }
__device__ __forceinline__ float imag(const complex64& z) { return z.im; }

//// load_beside_plain
/// Loads `count` elements before `from` (way -1) or from it on (way 1), which is aligned for `step` elements, by the
/// widest accesses: to[at - 1] is the one before it, to[at] its own.
template <int way, int step, int count, int at, class type, int n>
__device__ __forceinline__ void load_beside_plain(type (&to)[n], const type* from) {
    if constexpr (step > count && count > 0) {
        load_beside_plain<way, step / 2, count, at>(to, from);
    } else if constexpr (count > 0) {
        using word = typename word_type<step * int(sizeof(type))>::type;
        constexpr int first = way < 0 ? -step : 0;
        alignas(sizeof(word)) type vector[step];
        reinterpret_cast<word&>(vector) = __ldg(reinterpret_cast<const word*>(from + first));
#pragma unroll
        for (int e = 0; e < step; ++e) to[at + first + e] = vector[e];
        load_beside_plain<way, step, count - step, at + way * step>(to, from + way * step);
    }
}

//// load_row_wide_plain
/// Loads `each` elements into to[first], ..., by one access if `from` is aligned, with `left` elements
/// before them and `right` after them.
template <class word, int each, int left, int right, int first, class type, int n>
__device__ __forceinline__ void load_row_wide_plain(type (&to)[n], const type* from) {
    if (reinterpret_cast<uint64>(from) % sizeof(word) == 0) {
        alignas(sizeof(word)) type vector[each];
        reinterpret_cast<word&>(vector) = __ldg(reinterpret_cast<const word*>(from));
#pragma unroll
        for (int e = 0; e < each; ++e) to[first + e] = vector[e];
        load_beside_plain<-1, each, left, first>(to, from);
        load_beside_plain<1, each, right, first + each>(to, from + each);
    } else {
#pragma unroll
        for (int e = 0; e < each; ++e) to[first + e] = *(from + e);
#pragma unroll
        for (int e = -left; e < 0; ++e) to[first + e] = *(from + e);
#pragma unroll
        for (int e = each; e < each + right; ++e) to[first + e] = *(from + e);
    }
}

//// load_ends_plain
/// Loads the elements whose columns lie in [low, high); `column` is the column of to[0].
template <class type, int n>
__device__ __forceinline__ void load_ends_plain(type (&to)[n], const type* from, int32 column, int32 low, int32 high) {
#pragma unroll
    for (int e = 0; e < n; ++e)
        if (column + e >= low && column + e < high) to[e] = *(from + e);
}

//// divisor.2
/// Division by multiplication: n / d is the high word of 2 n * multiplier, shifted.
struct divisor { uint64 multiplier, shift; };
__device__ __forceinline__ uint64 quotient(uint64 n, divisor d) {
    return __umul64hi(n << 1, d.multiplier) >> d.shift;
}

//// load_own
/// Loads elements of an array that this kernel also writes.
template <class word, class type, int n>
__device__ __forceinline__ void load_own(type (&to)[n], const type* from) {
    reinterpret_cast<word&>(to) = __ldcs(reinterpret_cast<const word*>(from));
}

//// stream.3
template <>
__device__ __forceinline__ uint2 stream(const uint2* from) {
    uint2 w;
    asm volatile("ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];" : "=r"(w.x), "=r"(w.y) : "l"(from));
    return w;
}

//// to_int16
/// Converts with saturation; NaN gives 0.
__device__ __forceinline__ int16 to_int16(float a) {
    int32 y;
    asm("cvt.rzi.s16.f32 %0, %1;" : "=r"(y) : "f"(a));
    return int16(y);
}

//// bits_of
__device__ __forceinline__ uint64 bits_of(double a) { return uint64(__double_as_longlong(a)); }

//// from_bits
__device__ __forceinline__ double from_bits(uint64 a) { return __longlong_as_double((long long)a); }

//// quick_exp_double
__device__ __forceinline__ double quick_exp_double(double a, bool& rare) {
    double shifted = fma(a, 1.4426950408889634, 6755399441055744.0);
    double n = shifted - 6755399441055744.0;
    double r = fma(n, -0.6931471805599453, a);
    r = fma(n, -2.3190468138462996e-17, r);
    double p = 2.502232253650299e-08;
    p = fma(p, r, 2.763090348817311e-07);
    p = fma(p, r, 2.755751454588244e-06);
    p = fma(p, r, 2.4801491039099165e-05);
    p = fma(p, r, 0.00019841269589115497);
    p = fma(p, r, 0.001388888894591638);
    p = fma(p, r, 0.008333333333455043);
    p = fma(p, r, 0.041666666666519754);
    p = fma(p, r, 0.16666666666666477);
    p = fma(p, r, 0.5000000000000012);
    p = fma(p, r, 1.0);
    p = fma(p, r, 1.0);
    rare |= uint64(bits_of(a) >> 32 & 0x7fffffff) >= 0x40862000;
    return from_bits(bits_of(p) + (bits_of(shifted) << 52));
}

//// exp_double
__device__ __forceinline__ double exp_double(double a) {
    double y = ::exp(a);
    return bits_of(a) - uint64(0xc087480000000000) <= uint64(0x110d52d3051) ? from_bits(uint64(1)) : y;
}

//// exp_float
__device__ __forceinline__ float exp_float(float a) {
    float h = __fmul_rz(a, 1.44269502f);
    float l = fma(h, 1.90465421e-9f, fma(h, -0.693147182f, a));
    float y = exp2(h);
    return fma(y, fminf(l, 1.0f), y);
}

//// floor_divide_int32
__device__ __forceinline__ int32 floor_divide_int32(int32 a, int32 b) {
    if (b == 0) return int32(0);
    if (int32(-1) < 0 && b == int32(-1)) return int32(uint32(0) - uint32(a));
    return a % b != 0 && (a < 0) != (b < 0) ? int32(a / b - 1) : int32(a / b);
}

//// remainder_int32
__device__ __forceinline__ int32 remainder_int32(int32 a, int32 b) {
    if (b == 0 || (int32(-1) < 0 && b == int32(-1))) return int32(0);
    int32 m = int32(a % b);
    return m != 0 && (m < 0) != (b < 0) ? int32(m + b) : m;
}

//// generator_key
/// The call's number, and the two words that each Philox round mixes in, derived from the seed.
struct generator_key { uint64 call; uint32 rounds[20]; };

//// philox_words
struct philox_words { uint32 w[4]; };

//// wide_product
/// Multiplies 32-bit words. For 64-bit operands ptxas would add the products of the zero upper halves.
__device__ __forceinline__ uint64 wide_product(uint32 a, uint32 b) { return uint64(__umulhi(a, b)) << 32 | a * b; }

//// philox
/// Philox4x32-10.
__device__ __forceinline__ philox_words philox(const generator_key& key, uint64 counter) {
    uint32 c0 = uint32(counter), c1 = uint32(counter >> 32), c2 = uint32(key.call), c3 = uint32(key.call >> 32);
    for (int round = 0; round < 10; ++round) {
        const uint64 a = wide_product(c0, 0xd2511f53u), b = wide_product(c2, 0xcd9e8d57u);
        c0 = uint32(b >> 32) ^ c1 ^ key.rounds[2 * round];
        c2 = uint32(a >> 32) ^ c3 ^ key.rounds[2 * round + 1];
        c1 = uint32(b);
        c3 = uint32(a);
    }
    return {{c0, c1, c2, c3}};
}

//// uniform_float
__device__ __forceinline__ void uniform_float(float* to, const generator_key& key, uint64 group) {
    const philox_words r = philox(key, group);
    to[0] = float(r.w[0] >> 8) * 0x1p-24f;
    to[1] = float(r.w[1] >> 8) * 0x1p-24f;
    to[2] = float(r.w[2] >> 8) * 0x1p-24f;
    to[3] = float(r.w[3] >> 8) * 0x1p-24f;
}

//// uniform_float.2
__device__ __forceinline__ float uniform_float(const generator_key& key, uint64 i) {
    float group[4];
    uniform_float(group, key, i / 4);
    return i & 2 ? (i & 1 ? group[3] : group[2]) : i & 1 ? group[1] : group[0];
}

//// ranged_key
/// A generator of integers from 0 to `last`.
struct ranged_key { generator_key of; uint64 last; };

//// scaled
/// word * (last + 1).
__device__ __forceinline__ uint64 scaled(uint32 word, uint32 last) { return uint64(word) * last + word; }

//// integers_uint32
/// Multiplies 64-bit words by the range and divides by 2^64. The lower halves of the words add at most `last`
/// to the products of the upper halves, so they are drawn only if a product may carry.
__device__ __forceinline__ void integers_uint32(uint32* to, const ranged_key& key, uint64 group) {
    const philox_words upper = philox(key.of, group);
    const uint32 last = uint32(key.last);
    bool may_carry = false;
    for (int j = 0; j < 4; ++j) {
        const uint64 product = scaled(upper.w[j], last);
        to[j] = uint32(product >> 32);
        may_carry |= uint32(product) > ~last;
    }
    if (!may_carry) return;
    const philox_words lower = philox(key.of, group + (1ull << 60));
    for (int j = 0; j < 4; ++j)
        to[j] = uint32((scaled(upper.w[j], last) + (scaled(lower.w[j], last) >> 32)) >> 32);
}

//// integers_uint32.2
__device__ __forceinline__ uint32 integers_uint32(const ranged_key& key, uint64 i) {
    uint32 group[4];
    integers_uint32(group, key, i / 4);
    return i & 2 ? (i & 1 ? group[3] : group[2]) : i & 1 ? group[1] : group[0];
}

//// polar
/// Box-Muller: word p gives the radius, word q the angle.
__device__ __forceinline__ void polar(double* to, uint64 p, uint64 q) {
    const double radius = sqrt(-2.0 * log(double(p >> 11) * 0x1p-53 + 0x1p-54));
    const double angle = 6.28318530717958647692 * (double(q >> 11) * 0x1p-53);
    to[0] = radius * cos(angle);
    to[1] = radius * sin(angle);
}

//// normal_double
__device__ __forceinline__ void normal_double(double* to, const generator_key& key, uint64 group) {
    const philox_words r = philox(key, group);
    polar(to, uint64(r.w[1]) << 32 | r.w[0], uint64(r.w[3]) << 32 | r.w[2]);
}

//// normal_double.2
__device__ __forceinline__ double normal_double(const generator_key& key, uint64 i) {
    double group[2];
    normal_double(group, key, i / 2);
    return i & 1 ? group[1] : group[0];
}

//// rsqrt_approx
__device__ __forceinline__ float rsqrt_approx(float a) {
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a));
    return y;
}

//// quick_sqrt_float
__device__ __forceinline__ float quick_sqrt_float(float a, bool& rare) {
    float r = rsqrt_approx(a);
    float s = a * r;
    s = fma(fma(-s, s, a), 0.5f * abs(r), s);
    rare |= !(s >= 8.88178420e-16f);
    return s;
}

//// error_record
/// The first error on a stream that has not been thrown yet.
struct error_record {
    unsigned long long statement;
    unsigned int kind;
    int axis;
    long long index, extent;
};
__device__ __noinline__ void report_error(error_record* record, unsigned long long statement, unsigned int kind, int axis,
                  long long index, long long extent) {
    if (atomicCAS(&record->statement, 0ull, statement) != 0) return;
    record->axis = axis;
    record->index = index;
    record->extent = extent;
    __threadfence_system();
    *(volatile unsigned int*)&record->kind = kind;
}

//// outside_index
/// An index that was out of range, and whether the most recent index was.
struct outside_index { bool found, last; int64 index; };

//// checked_index
/// Converts an index, which may be negative, for an axis of n. One out of range gives 0 and is recorded.
__device__ __forceinline__ int32 checked_index(int32 at, int32 n, outside_index& outside) {
    const int32 index = at < 0 ? at + n : at;
    if (index >= 0 && index < n) return int32(index);
    outside = {true, true, at};
    return 0;
}

//// scatter_add_float32
/// Combines a value with the element at its address.
__device__ __forceinline__ void scatter_add_float32(float* at, float value) {
    asm volatile("red.relaxed.gpu.global.add.f32 [%0], %1;" : : "l"(at), "f"((float)value) : "memory");
}

//// scatter_add_int64
/// Combines a value with the element at its address.
__device__ __forceinline__ void scatter_add_int64(int64* at, int64 value) {
    asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" : : "l"(at), "l"((unsigned long long)value) : "memory");
}

//// sum_float
struct sum_float {
    static __device__ __forceinline__ float join(float a, float b) { return a + b; }
};

//// join_pairs
/// Combines n values as a balanced tree, so that the rounding error of a sum grows with log(n).
template <class fold, int n, class type>
__device__ __forceinline__ type join_pairs(const type* v) {
    if constexpr (n == 1) return v[0];
    else return fold::join(join_pairs<fold, n - n / 2>(v), join_pairs<fold, n / 2>(v + n - n / 2));
}

//// from_lane
/// Returns the value of the lane whose index is this lane's XOR `far`.
template <class type>
__device__ __forceinline__ type from_lane(type v, int far) {
    return __shfl_xor_sync(0xffffffffu, v, far);
}

//// join_lanes
/// Combines the values of a group of adjacent lanes; every lane gets the result.
template <class fold, int lanes, class type>
__device__ __forceinline__ type join_lanes(type v) {
#pragma unroll
    for (int far = lanes / 2; far > 0; far >>= 1) v = fold::join(v, from_lane(v, far));
    return v;
}

//// join_block
/// Combines one value per thread of the block; every thread gets the result.
template <class fold, int n, class type>
__device__ __forceinline__ type join_block(type v) {
    __shared__ type warps[n];
    v = join_lanes<fold, 32>(v);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
    __syncthreads();
    v = join_lanes<fold, n>(warps[threadIdx.x % n]);
    __syncthreads();  // the next reduction overwrites the same shared memory
    return v;
}

//// message
/// A value that one block passes to another through slots `word_stride` apart. Each slot holds 32 bits and
/// a flag that they are present, so the order of the writes is irrelevant. consume() clears the slots.
template <class type>
struct message {
    static constexpr int n = (sizeof(type) + 3) / 4;
    uint64 words[n];
};

//// poll_slot
__device__ __forceinline__ uint64 poll_slot(const uint64* slot) {
    uint64 word;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(slot) : "memory");
    return word;
}

//// publish
template <class type>
__device__ __forceinline__ void publish(uint64* slot, uint64 word_stride, type v) {
    alignas(16) uint32 words[message<type>::n] = {};
    reinterpret_cast<type&>(words) = v;
#pragma unroll
    for (int i = 0; i < message<type>::n; ++i)
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;"
                     :: "l"(slot + i * word_stride), "l"(uint64(words[i]) << 32 | 1) : "memory");
}

//// poll
/// Loads the words of a value that have been published so far.
template <class type>
__device__ __forceinline__ void poll(message<type>& v, const uint64* slot, uint64 word_stride) {
#pragma unroll
    for (int i = 0; i < message<type>::n; ++i) v.words[i] = poll_slot(slot + i * word_stride);
}

//// is_there
template <class type>
__device__ __forceinline__ bool is_there(const message<type>& v) {
    bool all = true;
#pragma unroll
    for (int i = 0; i < message<type>::n; ++i) all = all && v.words[i] != 0;
    return all;
}

//// consume
template <class type>
__device__ __forceinline__ type consume(const message<type>& v, uint64* slot, uint64 word_stride) {
    alignas(16) uint32 words[message<type>::n];
#pragma unroll
    for (int i = 0; i < message<type>::n; ++i) {
        words[i] = v.words[i] >> 32;
        slot[i * word_stride] = 0;
    }
    return reinterpret_cast<const type&>(words);
}

//// sum_double
struct sum_double {
    static __device__ __forceinline__ double join(double a, double b) { return a + b; }
};

//// sum_of_int8
/// Sums bytes, four per instruction.
struct sum_of_int8 {
    static constexpr unsigned int start = 0u;
    template <int n>
    static __device__ __forceinline__ void take(unsigned int (&packed)[2], const int8 (&v)[n]) {
        const unsigned int* const words = reinterpret_cast<const unsigned int*>(v);
#pragma unroll
        for (int i = 0; i < n / 4; ++i) {
            packed[i % 2] = __dp4a(int32(words[i]), int32(0x01010101), int32(packed[i % 2]));
        }
    }
    static __device__ __forceinline__ int64 whole(const unsigned int (&packed)[2]) {
        return int64(int32(packed[0])) + int64(int32(packed[1]));
    }
};

//// sum_int64
struct sum_int64 {
    static __device__ __forceinline__ int64 join(int64 a, int64 b) { return int64(uint64(a) + uint64(b)); }
};

//// bits_of.2
__device__ __forceinline__ uint32 bits_of(float a) { return __float_as_uint(a); }

//// from_bits.2
__device__ __forceinline__ float from_bits(uint32 a) { return __uint_as_float(a); }

//// log2_approx
__device__ __forceinline__ float log2_approx(float a) {
    float y;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a));
    return y;
}

//// log_float
__device__ __forceinline__ float log_float(float a) {
    uint32 e = (bits_of(a) - 0x3f2aaaabu) & 0xff800000u;
    float f = from_bits(bits_of(a) - e) - 1.0f;
    float p = -1.28744870e-1f;
    p = p * f + 1.39867082e-1f;
    p = p * f - 1.21883437e-1f;
    p = p * f + 1.40053406e-1f;
    p = p * f - 1.66801810e-1f;
    p = p * f + 2.00104445e-1f;
    p = p * f - 2.49998048e-1f;
    p = p * f + 3.33332151e-1f;
    p = p * f - 0.5f;
    p = p * (f * f) + f;
    p = float(int32(e)) * 8.26295832e-8f + p;
    float q = fma(log2_approx(a * 16777216.0f), 0.693147182f, -16.6355324f);
    return bits_of(a) - 0x00800000u < 0x7f000000u ? p : q;
}

//// join_down
/// Combines n variables per thread down the thread rows of a block; the first row gets the results. Large
/// types are combined in a loop, which is not unrolled.
template <class fold, int n, class type>
__device__ __forceinline__ void join_down(type* v, void* room, uint32 across, uint32 down, uint32 height) {
    type* const own = static_cast<type*>(room) + threadIdx.x * n;
    __syncthreads();  // the previous reduction used the same shared memory
#pragma unroll
    for (int i = 0; i < n; ++i) own[i] = v[i];
    while (height > 1) {
        const uint32 part = (height + 3) / 4;
        __syncthreads();
        if (down < part) {
#pragma unroll (sizeof(type) > 8 ? 1 : n)
            for (int i = 0; i < n; ++i) {
                type all = own[i];
                for (uint32 other = part; down + other < height; other += part)
                    all = fold::join(all, own[other * across * n + i]);
                own[i] = all;
            }
        }
        height = part;
    }
#pragma unroll
    for (int i = 0; i < n; ++i) v[i] = own[i];
}

//// share_down
/// Broadcasts n variables per thread from the first thread row of a block to all rows.
template <int n, class type>
__device__ __forceinline__ void share_down(type* v, void* room, uint32 across, uint32 down, uint32 height) {
    type* const own = static_cast<type*>(room) + threadIdx.x * n;
    __syncthreads();  // the previous reduction used the same shared memory
#pragma unroll
    for (int i = 0; i < n; ++i)
        if (down == 0) own[i] = v[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < n; ++i)
        if (down < height) v[i] = own[i - int(down * across) * n];
}

//// max_or_nan
__device__ __forceinline__ float max_or_nan(float a, float b) {
#if __CUDA_ARCH__ >= 800
    float y;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
    return y;
#else
    return a > b || a != a ? a : b;
#endif
}

//// max_float
struct max_float {
    static __device__ __forceinline__ float join(float a, float b) { return max_or_nan(a, b); }
};

//// join_slots
/// Combines n values in shared memory; every lane of the warp gets the result.
template <class fold, int n, class type>
__device__ __forceinline__ type join_slots(const type* slots) {
    constexpr int lanes = n < 32 ? n : 32;
    type v = slots[threadIdx.x % lanes];
#pragma unroll
    for (int i = lanes; i < n; i += lanes) v = fold::join(v, slots[i + threadIdx.x % lanes]);
    return join_lanes<fold, lanes>(v);
}

//// rcp_approx
__device__ __forceinline__ float rcp_approx(float a) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a));
    return y;
}

//// quick_divide_float
__device__ __forceinline__ float quick_divide_float(float a, float b, bool& rare) {
    float r = rcp_approx(b);
    r = fma(r, fma(-b, r, 1.0f), r);
    float q = a * r;
    q = fma(fma(-b, q, a), r, q);
    rare |= !(abs(a) >= 7.88860905e-31f);
    rare |= !(abs(q) >= 2.35098870e-38f);
    return q;
}

//// quick_shared_divide_float
__device__ __forceinline__ float quick_shared_divide_float(float a, float b, bool& rare) {
    bool unusual = false;
    const float q = quick_divide_float(a, b, unusual);
    rare |= unusual && (bits_of(a) != 0 || q != 0);
    return q;
}

//// expect
/// Initialises a barrier in shared memory that opens when `bytes` bytes have arrived.
__device__ __forceinline__ void expect(unsigned long long* arrived, unsigned int bytes) {
    const unsigned int at = __cvta_generic_to_shared(arrived);
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(at) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :: "r"(at), "r"(bytes) : "memory");
}

//// cluster_arrive
__device__ __forceinline__ void cluster_arrive() {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}

//// prefetch
/// Prefetches a line of memory into the second-level cache.
template <class type>
__device__ __forceinline__ void prefetch(const type* at) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
}

//// cluster_wait
__device__ __forceinline__ void cluster_wait() {
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

//// send
/// Writes to the same shared-memory address in another block of the cluster; its barrier counts the bytes.
template <class type>
__device__ __forceinline__ void send(type* mine, const type& value, unsigned long long* arrived, unsigned int block) {
    unsigned int to, barrier;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(to) : "r"(unsigned(__cvta_generic_to_shared(mine))), "r"(block));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(barrier) : "r"(unsigned(__cvta_generic_to_shared(arrived))), "r"(block));
    if constexpr (sizeof(type) == 8)
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];"
                     :: "r"(to), "l"(reinterpret_cast<const unsigned long long&>(value)), "r"(barrier) : "memory");
    else
#pragma unroll
        for (unsigned int i = 0; i < sizeof(type) / 4; ++i)
            asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];"
                         :: "r"(to + 4 * i), "r"(reinterpret_cast<const unsigned int*>(&value)[i]), "r"(barrier) : "memory");
}

//// wait_for
/// Waits until all bytes that a barrier expects have arrived.
__device__ __forceinline__ void wait_for(const unsigned long long* arrived) {
    const unsigned int at = __cvta_generic_to_shared(arrived);
    unsigned int open;
    do asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n"
                    "selp.u32 %0, 1, 0, p;\n}" : "=r"(open) : "r"(at) : "memory");
    while (open == 0);
}

//// copy4
/// Copies global to shared memory, bypassing registers. The copy may still be pending on return.
__device__ __forceinline__ void copy4(void* to, const void* from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
                 :: "r"(unsigned(__cvta_generic_to_shared(to))), "l"(from) : "memory");
}

//// stream.4
template <>
__device__ __forceinline__ double2 stream(const double2* from) {
    double2 w;
    asm volatile("ld.global.nc.L1::no_allocate.v2.f64 {%0, %1}, [%2];" : "=d"(w.x), "=d"(w.y) : "l"(from));
    return w;
}

//// max_double
struct max_double {
    static __device__ __forceinline__ double join(double a, double b) { return a > b || a != a ? a : b; }
};

//// rcp_approx.2
__device__ __forceinline__ double rcp_approx(double a) {
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(a));
    return y;
}

//// quick_divide_double
__device__ __forceinline__ double quick_divide_double(double a, double b, bool& rare) {
    double r = from_bits(bits_of(rcp_approx(b)) | 1u);
    double e = fma(-b, r, 1.0);
    r = fma(r, fma(e, e, e), r);
    r = fma(r, fma(-b, r, 1.0), r);
    double q = a * r;
    q = fma(fma(-b, q, a), r, q);
    rare |= !(abs(b) <= 1e300);
    rare |= !(abs(a) >= 1e-290);
    rare |= !(abs(q) >= 4.5e-308);
    return q;
}

//// quick_shared_divide_double
__device__ __forceinline__ double quick_shared_divide_double(double a, double b, bool& rare) {
    bool unusual = false;
    const double q = quick_divide_double(a, b, unusual);
    rare |= unusual && (bits_of(a) != 0 || q != 0);
    return q;
}

//// spread_of
/// Returns log2 of the number of threads per row: at most one warp, one thread per group of elements,
/// and no more threads than the block has.
__device__ __forceinline__ unsigned int spread_of(unsigned int rows, unsigned int groups) {
    const int to_spare = min(5, 7 - (32 - __clz(rows - 1)));
    return max(min(to_spare, 31 - __clz(groups)), 0);
}

//// copy16
/// Copies global to shared memory, bypassing registers. The copy may still be pending on return.
__device__ __forceinline__ void copy16(void* to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :: "r"(unsigned(__cvta_generic_to_shared(to))), "l"(from) : "memory");
}

//// skewed
/// Returns the position of chunk q, skewed so that the chunks of adjacent rows fall into different banks.
__device__ __forceinline__ unsigned int skewed(unsigned int q, unsigned int skew) {
    return q ^ (q >> skew & 7);
}

//// load_runs
template <class type>
__device__ __forceinline__ void load_runs(type* to, const type* from, unsigned int n, unsigned int gap, divisor run) {
    constexpr unsigned int each = 16 / sizeof(type), threads = 128;
    const auto padded = [=](unsigned int q) { return q + (unsigned int)(gap * quotient(q, run)); };
    const unsigned int chunks = n / each;
    for (unsigned int q = threadIdx.x; q < chunks; q += threads)
        copy16(reinterpret_cast<uint4*>(to) + padded(q), reinterpret_cast<const uint4*>(from) + q);
    for (unsigned int i = chunks * each + threadIdx.x; i < n; i += threads) to[i + (padded(i / each) - i / each) * each] = from[i];
}

//// from_thread
/// Returns the value of the lane whose index is this lane's XOR `far`; both share a row.
template <class type>
__device__ __forceinline__ type from_thread(type v, unsigned int far, unsigned int spread) {
    const unsigned int all = (2u << (1u << spread) - 1) - 1;
    return __shfl_xor_sync(all << (threadIdx.x & 31 & ~0u << spread), v, far);
}

//// join_threads
/// Combines the values of the threads of a row.
template <class fold, class type>
__device__ __forceinline__ type join_threads(type v, unsigned int spread) {
    for (unsigned int far = 1u << spread >> 1; far > 0; far >>= 1)
        v = fold::join(v, from_thread(v, far, spread));
    return v;
}

//// store_runs
template <class type>
__device__ __forceinline__ void store_runs(type* to, const type* from, unsigned int n, unsigned int gap, divisor run, unsigned int begin) {
    constexpr unsigned int each = 16 / sizeof(type), threads = 128;
    const auto padded = [=](unsigned int q) { return q + (unsigned int)(gap * quotient(q, run)); };
    const unsigned int chunks = n / each;
    for (unsigned int q = threadIdx.x + (begin > 0); q < chunks; q += threads)
        __stcs(reinterpret_cast<uint4*>(to) + q, reinterpret_cast<const uint4*>(from)[padded(q)]);
    for (unsigned int i = begin + threadIdx.x; i < min(n, begin > 0 ? each : 0); i += threads) to[i] = from[i + (padded(i / each) - i / each) * each];
    for (unsigned int i = max(chunks * each, begin) + threadIdx.x; i < n; i += threads) to[i] = from[i + (padded(i / each) - i / each) * each];
}

//// run_of_columns
/// Locates this thread's column among the vectors of its group of threads.
struct run_of_columns {
    uint32 width, column, down, height, head, tail, edges, first_thread;
    divisor by_width;
};

//// join_run
/// Regroups the partial results of the threads, n variables and an edge element each, by column. The
/// `height` threads of a column return one part of its result each.
template <class fold, int n, int threads, class type>
__device__ __forceinline__ type join_run(const type* v, type edge, type start, void* room, run_of_columns run) {
    type* const cells = static_cast<type*>(room);
    type* const edges = cells + n * threads;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < n; ++i) cells[threadIdx.x * n + i] = v[i];
    edges[threadIdx.x] = edge;
    __syncthreads();
    if (run.down >= run.height) return start;
    const uint32 shift = run.head - quotient(run.head, run.by_width) * run.width;
    const uint32 first = run.column < shift ? run.column + run.width - shift : run.column - shift;
    const type* const own = cells + run.first_thread * n + first;
    type parts[n];
#pragma unroll
    for (int i = 0; i < n; ++i) parts[i] = own[(run.down + i * run.height) * run.width];
    type all = join_pairs<fold, 4>(parts);
    for (uint32 i = 0; run.down == 0 && i < run.edges; ++i) {
        const uint32 at = i < run.head ? i : i + run.tail;
        if (at - quotient(at, run.by_width) * run.width == run.column)
            all = fold::join(all, edges[run.first_thread + i]);
    }
    return all;
}

//// join_strip
/// Exchanges partial results through shared memory. Each thread passes n adjacent columns, starting at
/// `at`, and returns one column, combined over every `shares`-th thread row.
template <class fold, int n, class type>
__device__ __forceinline__ type join_strip(const type* v, type start, void* room, bool active, uint32 wide, uint32 down, uint32 at,
                                            uint32 height, uint32 column, uint32 share, uint32 shares) {
    type* const cells = static_cast<type*>(room);
    __syncthreads();  // the previous reduction used the same shared memory
#pragma unroll
    for (int i = 0; i < n; ++i)
        if (active) cells[down * wide + at + i] = v[i];
    __syncthreads();
    type all = start;
    for (uint32 d = share; d < height; d += shares) all = fold::join(all, cells[d * wide + column]);
    return all;
}

//// load_rows
template <class type>
__device__ __forceinline__ void load_rows(type* to, const type* from, unsigned int n) {
    constexpr unsigned int each = 16 / sizeof(type), threads = 128;
    const unsigned int chunks = n / each;
    unsigned int begin = threadIdx.x;
    for (; begin + 3 * threads < chunks; begin += 4 * threads)
#pragma unroll
        for (unsigned int k = 0; k < 4; ++k) {
            const unsigned int q = begin + k * threads;
            copy16(reinterpret_cast<uint4*>(to) + q, reinterpret_cast<const uint4*>(from) + q);
        }
#pragma unroll 1
    for (unsigned int q = begin; q < chunks; q += threads)
        copy16(reinterpret_cast<uint4*>(to) + q, reinterpret_cast<const uint4*>(from) + q);
    const unsigned int i = chunks * each + threadIdx.x;
    if (i < n) to[i] = from[i];
}

//// moments
/// Moments of elements: their count, a reference element `near`, the mean minus `near`, and the sum of
/// squared deviations from the mean.
template <class type>
struct moments {
    type count, near, mean, squares;
};

//// share_of
/// Divides counts. An error of one ulp is negligible next to the rounding errors of the sums.
__device__ __forceinline__ float share_of(float a, float b) { return __fdividef(a, b); }
__device__ __forceinline__ double share_of(double a, double b) {
    double r = __frcp_rn(float(b));
    r += r * (1 - b * r);
    r += r * (1 - b * r);
    return a * r;
}

//// sums_near
/// Running sums of elements: their count, the mean of the first few as the reference `near`, and the sums of
/// the differences from `near` and of their squares.
template <class type>
struct sums_near {
    type count, near, sum, squares;
};

//// squares
struct squares {
    template <class type>
    static __device__ __forceinline__ moments<type> join(moments<type> a, moments<type> b) {
        if (b.count == 0) return a;
        if (a.count == 0) return b;
        const type count = a.count + b.count, share = share_of(b.count, count), off = (b.near - a.near) + (b.mean - a.mean);
        return {count, a.near, a.mean + off * share, a.squares + b.squares + off * off * a.count * share};
    }
    /// Combines the moments of an array, or of a group of lanes: first the mean, then the squares about it.
    template <class type, int n>
    static __device__ __forceinline__ moments<type> join_all(const moments<type> (&a)[n]) {
        type count = 0, near = 0, sum = 0, squares = 0, off[n];
#pragma unroll
        for (int i = 0; i < n; ++i) {
            near = count == 0 ? a[i].near : near;
            count += a[i].count;
        }
#pragma unroll
        for (int i = 0; i < n; ++i) {
            off[i] = (a[i].near - near) + a[i].mean;
            sum += a[i].count * off[i];
        }
        const type mean = count == 0 ? 0 : share_of(sum, count);
#pragma unroll
        for (int i = 0; i < n; ++i) squares += a[i].squares + a[i].count * (off[i] - mean) * (off[i] - mean);
        return {count, near, mean, squares};
    }
    template <int lanes, class type>
    static __device__ __forceinline__ moments<type> join_lanes(moments<type> a) {
        const unsigned int first = threadIdx.x & 31 & ~(lanes - 1);
        const unsigned int there = __ballot_sync(~0u, a.count != 0) >> first & ~0u >> 32 - lanes;
        const type near = __shfl_sync(~0u, a.near, first + (there == 0 ? 0 : __ffs(there) - 1));
        const type off = (a.near - near) + a.mean;
        type count = a.count, sum = a.count * off;
#pragma unroll
        for (int far = lanes / 2; far > 0; far >>= 1) {
            count += __shfl_xor_sync(~0u, count, far);
            sum += __shfl_xor_sync(~0u, sum, far);
        }
        const type mean = count == 0 ? 0 : share_of(sum, count);
        type squares = a.squares + a.count * (off - mean) * (off - mean);
#pragma unroll
        for (int far = lanes / 2; far > 0; far >>= 1) squares += __shfl_xor_sync(~0u, squares, far);
        return {count, near, mean, squares};
    }
    template <class type, int n>
    static __device__ __forceinline__ sums_near<type> with(sums_near<type> a, const type (&v)[n],
                                                           unsigned int present = n) {
        constexpr unsigned int few = n < 4 ? n : 4;
        type sum = 0, squares = 0;
        if (a.count == 0) {
#pragma unroll
            for (unsigned int i = 1; i < few; ++i) sum += i < present ? v[i] - v[0] : 0;
            a.near = v[0] + share_of(sum, type(min(present, few)));
            sum = 0;
        }
#pragma unroll
        for (unsigned int i = 0; i < n; ++i) {
            const type off = i < present ? v[i] - a.near : 0;
            sum += off;
            squares += off * off;
        }
        return {a.count + present, a.near, a.sum + sum, a.squares + squares};
    }
    template <class type>
    static __device__ __forceinline__ moments<type> of_part(sums_near<type> a) {
        if (a.count == 0) return {0, 0, 0, 0};
        const type mean = share_of(a.sum, a.count), squares = a.squares - a.sum * mean;
        // If the squares overflow and the mean is finite, the result is infinite; the difference would be NaN.
        return {a.count, a.near, mean, squares >= 0 ? squares : squares < 0 ? 0 : a.squares + (mean - mean)};
    }
    template <class type>
    static __device__ __forceinline__ type about(moments<type> a, type c) {
        const type off = a.near - c + a.mean;
        return a.squares + a.count * off * off;
    }
    /// Returns the squares about the sum of all elements divided by n, which may differ from their count.
    template <class type>
    static __device__ __forceinline__ type about_share(moments<type> a, type n) {
        if (a.count == n) return a.squares;
        const type off = (a.near + a.mean) * (1 - a.count / n);
        return a.squares + a.count * off * off;
    }
};

//// moments_of_few
/// Returns the mean of the first n values and the sum of their squared deviations from it.
template <class type, int most>
__device__ __forceinline__ moments<type> moments_of_few(const type (&v)[most], uint32 n) {
    type sum = 0, squares = 0;
#pragma unroll
    for (int i = 1; i < most; ++i) sum += i < n ? v[i] - v[0] : 0;
    const type mean = sum * share_of(type(1), type(n));
#pragma unroll
    for (int i = 0; i < most; ++i) {
        const type off = i < n ? v[i] - v[0] - mean : 0;
        squares += off * off;
    }
    return {type(n), v[0], mean, squares};
}

//// join_down_at_once
/// Combines n variables per thread down the thread rows of a block; the first row gets the results. Large
/// types are combined in a loop, which is not unrolled.
template <class fold, int n, class type>
__device__ __forceinline__ void join_down_at_once(type* v, void* room, uint32 across, uint32 down, uint32 height) {
    type* const own = static_cast<type*>(room) + threadIdx.x * n;
    __syncthreads();  // the previous reduction used the same shared memory
#pragma unroll
    for (int i = 0; i < n; ++i) own[i] = v[i];
    while (height > 1) {
        const uint32 part = (height + 3) / 4;
        __syncthreads();
        if (down < part) {
#pragma unroll (sizeof(type) > 8 ? 1 : n)
            for (int i = 0; i < n; ++i) {
                type four[4] = {own[i]};
#pragma unroll
                for (int k = 1; k < 4; ++k)
                    if (down + k * part < height) four[k] = own[k * part * across * n + i];
                own[i] = fold::join_all(four);
            }
        }
        height = part;
    }
#pragma unroll
    for (int i = 0; i < n; ++i) v[i] = own[i];
}

//// join_block_at_once
/// Combines one value per thread of the block; every thread gets the result.
template <class fold, int n, class type>
__device__ __forceinline__ type join_block_at_once(type v) {
    __shared__ type warps[n];
    v = fold::template join_lanes<32>(v);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
    __syncthreads();
    v = fold::template join_lanes<n>(warps[threadIdx.x % n]);
    __syncthreads();  // the next reduction overwrites the same shared memory
    return v;
}

//// exponential
template <class type>
__device__ type exponential(type x);
/// Returns sum + exp(x) for x <= 2. Underflow is negligible, as the final sum is at least 1. The result may be
/// NaN if x is not finite.
template <class type>
__device__ type add_weight(type sum, type x);
template <class type>
__device__ constexpr type largest();
__device__ __forceinline__ float higher(float a, float b) { return fmaxf(a, b); }
__device__ __forceinline__ double higher(double a, double b) { return b > a ? b : a; }

//// exponential_sum
/// The greatest element `top` and the sum of exp(x - top).
template <class type>
struct exponential_sum {
    type top, sum;
};

//// exponentials_near
/// The sum of exp(x - near), and the greatest element `top`, which exceeds `near` by at most 2: x - near loses
/// no more precision than the exponential does, and `near` is rarely updated.
template <class type>
struct exponentials_near {
    type near, sum, top;
};

//// exponentials
struct exponentials {
    template <class type>
    static __device__ __forceinline__ exponential_sum<type> join(exponential_sum<type> a, exponential_sum<type> b) {
        const bool above = a.top > b.top;
        const type less = add_weight(type(0), above ? b.top - a.top : a.top - b.top);
        return {above ? a.top : b.top, above ? a.sum + b.sum * less : b.sum + a.sum * less};
    }
    template <class type, int n>
    static __device__ __forceinline__ exponentials_near<type> with(exponentials_near<type> a, const type (&v)[n],
                                                                   unsigned int present = n) {
        // Operations on doubles have a long latency, which four independent maxima and sums hide.
        constexpr unsigned int chains = sizeof(type) == 4 ? 1 : n < 4 ? n : 4;
        type most[chains];
#pragma unroll
        for (unsigned int i = 0; i < chains; ++i) most[i] = a.top;
#pragma unroll
        for (unsigned int i = 0; i < n; ++i)
            most[i % chains] = i < present ? higher(most[i % chains], v[i]) : most[i % chains];
        a.top = most[0];
#pragma unroll
        for (unsigned int i = 1; i < chains; ++i) a.top = higher(a.top, most[i]);
        // For floats the update costs less than the test, as an exponential is one instruction.
        if (sizeof(type) == 4 || a.top > a.near + 2) {
            if (sizeof(type) == 8 && a.top > largest<type>()) {
                type all = 0;
#pragma unroll
                for (unsigned int i = 0; i < n; ++i) all += i < present && !(v[i] <= largest<type>()) ? v[i] : 0;
                return {a.near, a.sum + all, largest<type>()};
            }
            a.top = a.top < largest<type>() ? a.top : largest<type>();
            a.sum *= add_weight(type(0), a.near - a.top);
            a.near = a.top;
        }
        type some[chains] = {};
#pragma unroll
        for (unsigned int i = 0; i < n; ++i)
            some[i % chains] = i < present ? add_weight(some[i % chains], v[i] - a.near) : some[i % chains];
        type sum = some[0];
#pragma unroll
        for (unsigned int i = 1; i < chains; ++i) sum += some[i];
        return {a.near, a.sum + sum, a.top};
    }
    template <class type>
    static __device__ __forceinline__ exponential_sum<type> of_part(exponentials_near<type> a) {
        return {a.top, a.sum < type(0.5) ? 0 : a.sum * add_weight(type(0), a.near - a.top)};
    }
    template <class type>
    static __device__ __forceinline__ type about(exponential_sum<type> a, type c) {
        return a.sum * exponential(a.top - c);
    }
    /// Returns the greatest element. The sum shows whether it is infinite or NaN.
    template <class type>
    static __device__ __forceinline__ type greatest(exponential_sum<type> a) {
        return a.sum > 0 && a.sum <= largest<type>() ? a.top : a.sum == 0 ? a.top + a.top : a.sum;
    }
};

//// exponential.2
template <>
__device__ __forceinline__ double exponential(double x) {
    return exp_double(x);
}
template <>
__device__ __forceinline__ double add_weight(double sum, double x) {
    const double a = x < -708.0 ? __hiloint2double(0xc0862000, __double2loint(x)) : x;
    double shifted = fma(a, 1.4426950408889634, 6755399441055744.0);
    double n = shifted - 6755399441055744.0;
    double r = fma(n, -0.6931471805599453, a);
    r = fma(n, -2.3190468138462996e-17, r);
    double p = 2.502232253650299e-08;
    p = fma(p, r, 2.763090348817311e-07);
    p = fma(p, r, 2.755751454588244e-06);
    p = fma(p, r, 2.4801491039099165e-05);
    p = fma(p, r, 0.00019841269589115497);
    p = fma(p, r, 0.001388888894591638);
    p = fma(p, r, 0.008333333333455043);
    p = fma(p, r, 0.041666666666519754);
    p = fma(p, r, 0.16666666666666477);
    p = fma(p, r, 0.5000000000000012);
    p = fma(p, r, 1.0);
    p = fma(p, r, 1.0);
    return fma(p, __hiloint2double((__double2loint(shifted) << 20) + 0x3ff00000, 0), sum);
}
template <>
__device__ constexpr double largest() {
    return 1.7976931348623157e+308;
}

//// copy8
/// Copies global to shared memory, bypassing registers. The copy may still be pending on return.
__device__ __forceinline__ void copy8(void* to, const void* from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;"
                 :: "r"(unsigned(__cvta_generic_to_shared(to))), "l"(from) : "memory");
}

//// join_run.2
/// Regroups the partial results of the threads, n variables and an edge element each, by column. The
/// `height` threads of a column return one part of its result each.
template <class fold, int n, int threads, class type>
__device__ __forceinline__ type join_run(const type* v, type edge, type start, void* room, run_of_columns run) {
    type* const cells = static_cast<type*>(room);
    type* const edges = cells + n * threads;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < n; ++i) cells[threadIdx.x * n + i] = v[i];
    edges[threadIdx.x] = edge;
    __syncthreads();
    if (run.down >= run.height) return start;
    const uint32 shift = run.head - quotient(run.head, run.by_width) * run.width;
    const uint32 first = run.column < shift ? run.column + run.width - shift : run.column - shift;
    const type* const own = cells + run.first_thread * n + first;
    type parts[n];
#pragma unroll
    for (int i = 0; i < n; ++i) parts[i] = own[(run.down + i * run.height) * run.width];
    type all = join_pairs<fold, 1>(parts);
    for (uint32 i = 0; run.down == 0 && i < run.edges; ++i) {
        const uint32 at = i < run.head ? i : i + run.tail;
        if (at - quotient(at, run.by_width) * run.width == run.column)
            all = fold::join(all, edges[run.first_thread + i]);
    }
    return all;
}

//// exp2_of_weight
/// Returns 2^x. Flushing subnormal results to zero is harmless, as the final sum is at least 1.
__device__ __forceinline__ float exp2_of_weight(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

//// exponential.3
template <>
__device__ __forceinline__ float exponential(float x) {
    return exp_float(x);
}
template <>
__device__ __forceinline__ float add_weight(float sum, float x) {
    return sum + exp2_of_weight(x * 1.44269502f);
}
template <>
__device__ constexpr float largest() {
    return 3.402823466e+38f;
}

//// from_lane.2
__device__ __forceinline__ exponential_sum<float> from_lane(exponential_sum<float> v, int far) {
    return {from_lane(v.top, far), from_lane(v.sum, far)};
}

//// indexed_float
/// An element and its index in the row.
struct indexed_float {
    float value;
    int64 at;
};

//// ordered_argmax_float
/// Combines two elements; the second has the greater index.
struct ordered_argmax_float {
    static __device__ __forceinline__ indexed_float join(indexed_float a, indexed_float b) { return !(b.value <= a.value) && a.value == a.value ? b : a; }
};

//// argmax_float
struct argmax_float {
    static __device__ __forceinline__ indexed_float join(indexed_float a, indexed_float b) {
        const bool alike = a.value == b.value || (a.value != a.value && b.value != b.value);
        return (alike ? a.at < b.at : a.value > b.value || a.value != a.value) ? a : b;
    }
};

//// from_lane.3
__device__ __forceinline__ indexed_float from_lane(indexed_float v, int far) {
    return {from_lane(v.value, far), from_lane(v.at, far)};
}

//// indexed_int32
/// An element and its index in the row.
struct indexed_int32 {
    int32 value;
    int64 at;
};

//// ordered_argmin_int32
/// Combines two elements; the second has the greater index.
struct ordered_argmin_int32 {
    static __device__ __forceinline__ indexed_int32 join(indexed_int32 a, indexed_int32 b) { return b.value < a.value ? b : a; }
};

//// argmin_int32
struct argmin_int32 {
    static __device__ __forceinline__ indexed_int32 join(indexed_int32 a, indexed_int32 b) {
        return a.value < b.value || (a.value == b.value && a.at < b.at) ? a : b;
    }
};

//// skew_of
/// Returns the shift that skewed() uses for rows of `chunks` chunks; 31 means no skew.
__device__ __forceinline__ unsigned int skew_of(unsigned int chunks, int spread) {
    return chunks % 4 != 0 ? 31 : max(__ffs(chunks) - 1 - spread, 3);
}

//// load_skewed_rows
template <class type>
__device__ __forceinline__ void load_skewed_rows(type* to, const type* from, unsigned int n, unsigned int skew) {
    constexpr unsigned int each = 16 / sizeof(type), threads = 128;
    const unsigned int chunks = n / each;
    unsigned int begin = threadIdx.x;
    for (; begin + 3 * threads < chunks; begin += 4 * threads)
#pragma unroll
        for (unsigned int k = 0; k < 4; ++k) {
            const unsigned int q = begin + k * threads;
            copy16(reinterpret_cast<uint4*>(to) + skewed(q, skew), reinterpret_cast<const uint4*>(from) + q);
        }
#pragma unroll 1
    for (unsigned int q = begin; q < chunks; q += threads)
        copy16(reinterpret_cast<uint4*>(to) + skewed(q, skew), reinterpret_cast<const uint4*>(from) + q);
    const unsigned int i = chunks * each + threadIdx.x;
    if (i < n) to[i] = from[i];
}

//// store_skewed_rows
template <class type>
__device__ __forceinline__ void store_skewed_rows(type* to, const type* from, unsigned int n, unsigned int skew) {
    constexpr unsigned int each = 16 / sizeof(type), threads = 128;
    const unsigned int chunks = n / each;
    for (unsigned int q = threadIdx.x; q < chunks; q += threads)
        __stcs(reinterpret_cast<uint4*>(to) + q, reinterpret_cast<const uint4*>(from)[skewed(q, skew)]);
    const unsigned int i = chunks * each + threadIdx.x;
    if (i < n) to[i] = from[i];
}

//// exp2_approx
__device__ __forceinline__ float exp2_approx(float a) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a));
    return y;
}

//// flushed_exp_float
__device__ __forceinline__ float flushed_exp_float(float a) {
    float h = __fmul_rz(a, 1.44269502f);
    float l = fma(h, -0.693147182f, a);
    float y = exp2_approx(h);
    return fma(y, fminf(l, 1.0f), y);
}

//// spread_of.2
/// Returns log2 of the number of threads per row: at most one warp, one thread per group of elements,
/// and no more threads than the block has.
__device__ __forceinline__ unsigned int spread_of(unsigned int rows, unsigned int groups) {
    const int to_spare = min(5, 6 - (32 - __clz(rows - 1)));
    return max(min(to_spare, 31 - __clz(groups)), 0);
}

//// load_skewed_rows.2
template <class type>
__device__ __forceinline__ void load_skewed_rows(type* to, const type* from, unsigned int n, unsigned int skew) {
    constexpr unsigned int each = 16 / sizeof(type), threads = 64;
    const unsigned int chunks = n / each;
    unsigned int begin = threadIdx.x;
    for (; begin + 3 * threads < chunks; begin += 4 * threads)
#pragma unroll
        for (unsigned int k = 0; k < 4; ++k) {
            const unsigned int q = begin + k * threads;
            copy16(reinterpret_cast<uint4*>(to) + skewed(q, skew), reinterpret_cast<const uint4*>(from) + q);
        }
#pragma unroll 1
    for (unsigned int q = begin; q < chunks; q += threads)
        copy16(reinterpret_cast<uint4*>(to) + skewed(q, skew), reinterpret_cast<const uint4*>(from) + q);
    const unsigned int i = chunks * each + threadIdx.x;
    if (i < n) to[i] = from[i];
}

//// load_rows.2
template <class type>
__device__ __forceinline__ void load_rows(type* to, const type* from, unsigned int n) {
    constexpr unsigned int each = 16 / sizeof(type), threads = 64;
    const unsigned int chunks = n / each;
    unsigned int begin = threadIdx.x;
    for (; begin + 3 * threads < chunks; begin += 4 * threads)
#pragma unroll
        for (unsigned int k = 0; k < 4; ++k) {
            const unsigned int q = begin + k * threads;
            copy16(reinterpret_cast<uint4*>(to) + q, reinterpret_cast<const uint4*>(from) + q);
        }
#pragma unroll 1
    for (unsigned int q = begin; q < chunks; q += threads)
        copy16(reinterpret_cast<uint4*>(to) + q, reinterpret_cast<const uint4*>(from) + q);
    const unsigned int i = chunks * each + threadIdx.x;
    if (i < n) to[i] = from[i];
}

//// indexed_int16
/// An element and its index in the row.
struct indexed_int16 {
    int16 value;
    int64 at;
};

//// ordered_argmin_int16
/// Combines two elements; the second has the greater index.
struct ordered_argmin_int16 {
    static __device__ __forceinline__ indexed_int16 join(indexed_int16 a, indexed_int16 b) { return b.value < a.value ? b : a; }
};

//// from_thread.2
__device__ __forceinline__ indexed_int16 from_thread(indexed_int16 v, unsigned int far, unsigned int spread) {
    return {from_thread(v.value, far, spread), from_thread(v.at, far, spread)};
}

//// argmin_int16
struct argmin_int16 {
    static __device__ __forceinline__ indexed_int16 join(indexed_int16 a, indexed_int16 b) {
        return a.value < b.value || (a.value == b.value && a.at < b.at) ? a : b;
    }
};

//// any_bool
struct any_bool {
    static __device__ __forceinline__ bool join(bool a, bool b) { return a | b; }
};

//// join_lanes.2
#if __CUDA_ARCH__ >= 800
template <>
__device__ __forceinline__ bool join_lanes<any_bool, 32>(bool v) {
    return __any_sync(~0u, v) != 0;
}
#endif

//// scan_lanes
/// Exclusive scan over a group of lanes: v[0] of all lanes comes first, then v[1] of all lanes, and so on.
/// Returns the total of the group.
template <class fold, int lanes, class type, int n>
__device__ __forceinline__ type scan_lanes(type (&v)[n], type start, unsigned int lane) {
#pragma unroll
    for (unsigned int far = 1; far < lanes; far *= 2)
#pragma unroll
        for (int u = 0; u < n; ++u) {
            const type left = __shfl_up_sync(0xffffffffu, v[u], far, lanes);
            if (lane >= far) v[u] = fold::join(left, v[u]);
        }
    type so_far = start;
#pragma unroll
    for (int u = 0; u < n; ++u) {
        const type all = __shfl_sync(0xffffffffu, v[u], lanes - 1, lanes);
        const type left = __shfl_up_sync(0xffffffffu, v[u], 1, lanes);
        v[u] = lane == 0 ? so_far : u == 0 ? left : fold::join(so_far, left);
        so_far = u == 0 ? all : fold::join(so_far, all);
    }
    return so_far;
}

//// scan_warps
/// Returns the prefix of all warps before this one; `all` receives the total of the block.
template <class fold, int warps, class type>
__device__ __forceinline__ type scan_warps(const type* parts, type start, unsigned int warp, type& all) {
    type before = start;
    all = start;
#pragma unroll
    for (unsigned int w = 0; w < warps; ++w) {
        if (w == warp) before = all;
        all = fold::join(all, parts[w]);
    }
    return before;
}

//// publish.2
/// A slot stores the two halves of a value, each next to a flag bit, so that a reader can check that both
/// halves are present.
template <class type>
__device__ __forceinline__ void publish(uint64* slot, type v) {
    uint64 bits = 0;
    reinterpret_cast<type&>(bits) = v;
    const uint64 low = bits << 32 | 1, high = (bits >> 32) << 32 | 1;
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(slot), "l"(low), "l"(high) : "memory");
}

//// poll.2
template <class type>
__device__ __forceinline__ bool poll(const uint64* slot, type& v) {
    uint64 low, high;
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(low), "=l"(high) : "l"(slot) : "memory");
    const uint64 bits = low >> 32 | (high >> 32) << 32;
    v = reinterpret_cast<const type&>(bits);
    return (low & high & 1) != 0;
}

//// poll_all
/// Polls the slots of n columns; returns whether all of them are published.
template <class type, int n>
__device__ __forceinline__ bool poll_all(uint64* const (&slots)[n], uint64 back, type (&v)[n]) {
    bool ready = true;
#pragma unroll
    for (int e = 0; e < n; ++e)
        if (slots[e] != nullptr) ready = poll(slots[e] - back, v[e]) && ready;
    return ready;
}

//// before_tile
/// Decoupled look-back for n columns: `own` holds the tile's totals and receives the prefix of all earlier
/// tiles. The warp also publishes the tile's status for later tiles. A null slot marks a missing column.
/// Each lane polls one earlier tile of the run; the last lane polls the prefix that ends the previous run.
template <class fold, int words, class type, int n>
__device__ __forceinline__ void before_tile(uint64* const (&slots)[n], uint64 all, uint64 tile, type (&own)[n],
                                            type start) {
    const uint32 lane = threadIdx.x % 32u, number = uint32(tile % 64u);
    type v[2][n], near[n];
    uint64 back[2];
    bool ready[2];
#pragma unroll
    for (int e = 0; e < n; ++e)
        if (lane == e && slots[e] != nullptr && number != 64u - 1) publish(slots[e], own[e]);
#pragma unroll
    for (uint32 i = 0; i < 2; ++i) {
        const bool of_run = i * 32 + lane != 64u - 1;
        back[i] = words * (of_run ? uint64(number - i * 32 - lane) : number + 1 + (all - 1) * 64u);
#pragma unroll
        for (int e = 0; e < n; ++e) v[i][e] = start;
        ready[i] = of_run ? i * 32 + lane >= number : tile < 64u;
    }
    bool waits;
    do {
        waits = false;
#pragma unroll
        for (uint32 i = 0; i < 2; ++i)
            if (!ready[i]) ready[i] = poll_all(slots, back[i], v[i]);
#pragma unroll
        for (uint32 i = 0; i < 2; ++i) waits = waits || (i * 32 + lane != 64u - 1 && !ready[i]);
    } while (waits);
    __syncwarp();
#pragma unroll
    for (int e = 0; e < n; ++e) {
        near[e] = start;
#pragma unroll
        for (uint32 i = 0; i < 2; ++i) {
            type here = i * 32 + lane == 64u - 1 ? start : v[i][e];
#pragma unroll
            for (int to = 1; to < 32; to *= 2)
                here = fold::join(here, __shfl_down_sync(0xffffffffu, here, to));
            near[e] = i == 0 ? here : fold::join(near[e], here);
        }
    }
    while (!ready[2 - 1]) ready[2 - 1] = poll_all(slots, back[2 - 1], v[2 - 1]);
    __syncwarp();
#pragma unroll
    for (int e = 0; e < n; ++e) {
        const type before = fold::join(__shfl_sync(0xffffffffu, v[2 - 1][e], 31),
                                       __shfl_sync(0xffffffffu, near[e], 0));
        if (lane == e && slots[e] != nullptr && number == 64u - 1) publish(slots[e], fold::join(before, own[e]));
        own[e] = before;
    }
}

//// clear_slot
/// Clears a slot of a run that all its tiles have read. The next run, if any, still reads the last slot, so
/// the last slot of the previous run is cleared instead; the run that `ends` the scan clears both.
template <int words>
__device__ __forceinline__ void clear_slot(uint64* slots, uint64 all, uint64 run, uint64 column, uint32 number, bool ends) {
    uint64* const slot = slots + ((run * all + column) * 64u + number) * words;
    for (int i = 0; i < words; ++i) {
        if (number != 64u - 1 || ends) slot[i] = 0;
        if (number == 64u - 1 && run > 0) (slot - all * 64u * words)[i] = 0;
    }
}

//// logarithm
/// log(x) for 2^-33 <= x <= 1, within 1 ulp: a polynomial in f for x = 2^k (1 + f), 1 + f in [2/3, 4/3].
__device__ __forceinline__ float logarithm(float x) {
    const uint32 exponent = (bits_of(x) - 0x3f2aaaabu) & 0xff800000u;
    const float f = from_bits(bits_of(x) - exponent) - 1.0f;
    float t = fma(-0.130310059f, f, 0.140869141f);
    t = fma(fma(fma(t, f, -0.121483512f), f, 0.139814854f), f, -0.166846126f);
    t = fma(fma(fma(t, f, 0.200120345f), f, -0.249996200f), f, 0.333331972f);
    t = fma(fma(t, f, -0.5f) * f, f, f);
    return fma(float(int(exponent)), 0x1p-23f * 0.693147182f, t);
}

//// root
/// sqrt(x) for x = 0 or 2^-24 <= x < 64, within 1 ulp: an approximation and one Newton step.
__device__ __forceinline__ float root(float x) {
    const float y = rsqrt_approx(fmaxf(x, 0x1p-30f)), s = x * y;
    return fma(fma(-s, s, x), 0.5f * y, s);
}

//// circle
/// cos(x) and sin(x) for 0 <= x < 6.3, within 1.5 ulp: x is reduced by the nearest multiple of pi / 2.
__device__ __forceinline__ void circle(float x, float& cosine, float& sine) {
    const float counted = fma(x, 0.636619772f, 0x1.8p23f), quarters = counted - 0x1.8p23f;
    float r = fma(quarters, -1.57079601f, x);
    r = fma(quarters, -3.13916473e-07f, r);
    r = fma(quarters, -5.39030253e-15f, r);
    const float s = r * r;
    float c = fma(2.44331571e-5f, s, -1.38873162e-3f), t = fma(-1.95152959e-4f, s, 8.33216087e-3f);
    c = fma(fma(fma(c, s, 4.16666456e-2f), s, -0.5f), s, 1.0f);
    t = fma(fma(t, s, -1.66666546e-1f) * s, r, r);
    const uint32 k = bits_of(counted);
    cosine = from_bits(bits_of(k & 1 ? t : c) ^ ((k + 1) & 2) << 30);
    sine = from_bits(bits_of(k & 1 ? c : t) ^ (k & 2) << 30);
}

//// polar.2
/// Box-Muller: word p gives the radius, word q the angle.
__device__ __forceinline__ void polar(float* to, uint32 p, uint32 q) {
    const float radius = root(-2.0f * logarithm(float(p) * 0x1p-32f + 0x1p-33f));
    float cosine, sine;
    circle(6.28318530717958647692f * 0x1p-24f * float(q >> 8), cosine, sine);
    to[0] = radius * cosine;
    to[1] = radius * sine;
}

//// normal_float
__device__ __forceinline__ void normal_float(float* to, const generator_key& key, uint64 group) {
    const philox_words r = philox(key, group);
    polar(to, r.w[0], r.w[1]);
    polar(to + 2, r.w[2], r.w[3]);
}

//// normal_float.2
__device__ __forceinline__ float normal_float(const generator_key& key, uint64 i) {
    float group[4];
    normal_float(group, key, i / 4);
    return i & 2 ? (i & 1 ? group[3] : group[2]) : i & 1 ? group[1] : group[0];
}

//// scan_block
/// Exclusive scan over a block: v[0] of all threads comes first, then v[1] of all threads, and so on.
template <class fold, int warps, class type, int n>
__device__ __forceinline__ void scan_block(type (&v)[n], type start, type* parts) {
    const unsigned int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (unsigned int far = 1; far < 32; far *= 2)
#pragma unroll
        for (int u = 0; u < n; ++u) {
            const type left = __shfl_up_sync(0xffffffffu, v[u], far);
            if (lane >= far) v[u] = fold::join(left, v[u]);
        }
#pragma unroll
    for (int u = 0; u < n; ++u) {
        if (lane == 31) parts[u * warps + warp] = v[u];
        v[u] = __shfl_up_sync(0xffffffffu, v[u], 1);
    }
    __syncthreads();
    type before[(n * warps + 31) / 32];
#pragma unroll
    for (int i = 0; i < (n * warps + 31) / 32; ++i)
        before[i] = i * 32 + lane < n * warps ? parts[i * 32 + lane] : start;
    scan_lanes<fold, 32>(before, start, lane);
#pragma unroll
    for (int u = 0; u < n; ++u) {
        const type ahead = __shfl_sync(0xffffffffu, before[u * warps / 32], (u * warps + warp) % 32);
        v[u] = lane == 0 ? ahead : fold::join(ahead, v[u]);
    }
}

//// min_or_nan
__device__ __forceinline__ float min_or_nan(float a, float b) {
#if __CUDA_ARCH__ >= 800
    float y;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
    return y;
#else
    return a < b || a != a ? a : b;
#endif
}

//// min_float
struct min_float {
    static __device__ __forceinline__ float join(float a, float b) { return min_or_nan(a, b); }
};

//// argmin_float
struct argmin_float {
    static __device__ __forceinline__ indexed_float join(indexed_float a, indexed_float b) {
        const bool alike = a.value == b.value || (a.value != a.value && b.value != b.value);
        return (alike ? a.at < b.at : a.value < b.value || a.value != a.value) ? a : b;
    }
};

//// load_row.2
/// Loads n consecutive elements by vectors.
template <class word, class type, int n>
__device__ __forceinline__ void load_row(type (&to)[n], const type* from) {
#pragma unroll
    for (int i = 0; i < n; i += int(sizeof(word) / sizeof(type)))
        reinterpret_cast<word&>(to[i]) = __ldg(reinterpret_cast<const word*>(from + i));
}

//// max_int16
struct max_int16 {
    static __device__ __forceinline__ int16 join(int16 a, int16 b) { return a < b ? b : a; }
};

//// prod_double
struct prod_double {
    static __device__ __forceinline__ double join(double a, double b) { return a * b; }
};

//// before_tile.2
/// Decoupled look-back for n columns: `own` holds the tile's totals and receives the prefix of all earlier
/// tiles. The warp also publishes the tile's status for later tiles. A null slot marks a missing column.
/// Each lane polls one earlier tile of the run; the last lane polls the prefix that ends the previous run.
template <class fold, int words, class type, int n>
__device__ __forceinline__ void before_tile(uint64* const (&slots)[n], uint64 all, uint64 tile, type (&own)[n],
                                            type start) {
    const uint32 lane = threadIdx.x % 32u, number = uint32(tile % 32u);
    type v[1][n], near[n];
    uint64 back[1];
    bool ready[1];
#pragma unroll
    for (int e = 0; e < n; ++e)
        if (lane == e && slots[e] != nullptr && number != 32u - 1) publish(slots[e], own[e]);
#pragma unroll
    for (uint32 i = 0; i < 1; ++i) {
        const bool of_run = i * 32 + lane != 32u - 1;
        back[i] = words * (of_run ? uint64(number - i * 32 - lane) : number + 1 + (all - 1) * 32u);
#pragma unroll
        for (int e = 0; e < n; ++e) v[i][e] = start;
        ready[i] = of_run ? i * 32 + lane >= number : tile < 32u;
    }
    bool waits;
    do {
        waits = false;
#pragma unroll
        for (uint32 i = 0; i < 1; ++i)
            if (!ready[i]) ready[i] = poll_all(slots, back[i], v[i]);
#pragma unroll
        for (uint32 i = 0; i < 1; ++i) waits = waits || (i * 32 + lane != 32u - 1 && !ready[i]);
    } while (waits);
    __syncwarp();
#pragma unroll
    for (int e = 0; e < n; ++e) {
        near[e] = start;
#pragma unroll
        for (uint32 i = 0; i < 1; ++i) {
            type here = i * 32 + lane == 32u - 1 ? start : v[i][e];
#pragma unroll
            for (int to = 1; to < 32; to *= 2)
                here = fold::join(here, __shfl_down_sync(0xffffffffu, here, to));
            near[e] = i == 0 ? here : fold::join(near[e], here);
        }
    }
    while (!ready[1 - 1]) ready[1 - 1] = poll_all(slots, back[1 - 1], v[1 - 1]);
    __syncwarp();
#pragma unroll
    for (int e = 0; e < n; ++e) {
        const type before = fold::join(__shfl_sync(0xffffffffu, v[1 - 1][e], 31),
                                       __shfl_sync(0xffffffffu, near[e], 0));
        if (lane == e && slots[e] != nullptr && number == 32u - 1) publish(slots[e], fold::join(before, own[e]));
        own[e] = before;
    }
}

//// clear_slot.2
/// Clears a slot of a run that all its tiles have read. The next run, if any, still reads the last slot, so
/// the last slot of the previous run is cleared instead; the run that `ends` the scan clears both.
template <int words>
__device__ __forceinline__ void clear_slot(uint64* slots, uint64 all, uint64 run, uint64 column, uint32 number, bool ends) {
    uint64* const slot = slots + ((run * all + column) * 32u + number) * words;
    for (int i = 0; i < words; ++i) {
        if (number != 32u - 1 || ends) slot[i] = 0;
        if (number == 32u - 1 && run > 0) (slot - all * 32u * words)[i] = 0;
    }
}

//// before_columns
/// Scans the thread totals of each column in `room` exclusively and in place, and stores the prefix of all
/// earlier tiles in `prefixes`. Each warp handles a few columns at a time.
template <class fold, class wide_fold, int words, class type, class wide>
__device__ __forceinline__ void before_columns(type* room, wide* prefixes, const uint32* numbers, uint64* slots,
                                               uint64 all, uint64 tile, uint32 width, uint32 height,
                                               type start, wide wide_start) {
    const uint32 lane = threadIdx.x % 32u;
    const uint32 each = (height + 31) / 32, begin = min(lane * each, height), end = min(begin + each, height);
    for (uint32 c = threadIdx.x / 32u * 2; c < width; c += 16 * 2) {
        wide own[2];
        uint64* own_slots[2];
#pragma unroll
        for (int e = 0; e < 2; ++e) {
            own[e] = wide_start;
            own_slots[e] = nullptr;
            if (c + e >= width || numbers[c + e] == ~uint32(0)) continue;
            own_slots[e] = slots + ((tile / 32u * all + numbers[c + e]) * 32u + tile % 32u) * words;
            type* const v = room + (c + e) * (height | 1);
            type before[1] = {start};
#pragma unroll 1
            for (uint32 i = begin; i < end; ++i) before[0] = fold::join(before[0], v[i]);
            own[e] = wide(scan_lanes<fold, 32>(before, start, lane));
#pragma unroll 1
            for (uint32 i = begin; i < end; ++i) {
                const type here = v[i];
                v[i] = before[0];
                before[0] = fold::join(before[0], here);
            }
        }
        before_tile<wide_fold, words>(own_slots, all, tile, own, wide_start);
#pragma unroll
        for (int e = 0; e < 2; ++e)
            if (lane == e && c + e < width) prefixes[c + e] = own[e];
    }
}

//// scan_down
/// Scans n values per thread exclusively down the thread rows of a block; each row has `across` threads.
template <class fold, int threads, class type, int n>
__device__ __forceinline__ void scan_down(type (&v)[n], type* room, uint32 down, uint32 height, uint32 across,
                                          type start) {
    type* const own = room + threadIdx.x;
    for (uint32 far = 1; far < height; far *= 2) {
#pragma unroll
        for (int e = 0; e < n; ++e) own[e * threads] = v[e];
        __syncthreads();
#pragma unroll
        for (int e = 0; e < n; ++e)
            if (down >= far) v[e] = fold::join(own[int(e * threads) - int(far * across)], v[e]);
        __syncthreads();
    }
#pragma unroll
    for (int e = 0; e < n; ++e) own[e * threads] = v[e];
    __syncthreads();
#pragma unroll
    for (int e = 0; e < n; ++e) v[e] = down == 0 ? start : own[int(e * threads) - int(across)];
}

//// load_run
/// Copies elements [first, end) to shared memory by whole vectors, with a gap after each run.
template <class type, class index>
__device__ __forceinline__ void load_run(type* to, const type* from, index first, index end, unsigned int gap, divisor run) {
    constexpr unsigned int each = 16 / sizeof(type), threads = 256;
    const unsigned int begin = first % each, n = end - first + begin, chunks = n / each;
    const auto padded = [=](unsigned int q) { return q + gap / each * (unsigned int)quotient(q * each, run); };
    to -= begin, from += first - begin;
    for (unsigned int q = threadIdx.x; q < chunks; q += threads)
        copy16(reinterpret_cast<uint4*>(to) + padded(q), reinterpret_cast<const uint4*>(from) + q);
    const unsigned int i = chunks * each + threadIdx.x;
    if (i < n) to[i] = from[i];
}

//// store_run.2
/// Stores elements [first, end) from shared memory, where load_run() put them.
template <class type, class index>
__device__ __forceinline__ void store_run(type* to, const type* from, index first, index end, unsigned int gap, divisor run) {
    constexpr unsigned int each = 16 / sizeof(type), threads = 256;
    const unsigned int begin = first % each, n = end - first + begin, chunks = n / each;
    const auto padded = [=](unsigned int q) { return q + gap / each * (unsigned int)quotient(q * each, run); };
    to += first - begin, from -= begin;
    for (unsigned int q = threadIdx.x + (begin > 0); q < chunks; q += threads)
        __stcs(reinterpret_cast<uint4*>(to) + q, reinterpret_cast<const uint4*>(from)[padded(q)]);
    const unsigned int i = begin + threadIdx.x, k = max(chunks * each, begin) + threadIdx.x;
    if (i < min(n, begin > 0 ? each : 0)) to[i] = from[i];
    if (k < n) to[k] = from[k];
}

//// user_l2
/// The text of l2.
struct user_l2 {
    using T = float;
    static __device__ __forceinline__ T map(T x) { return x * x; }
    static __device__ __forceinline__ T join(T a, T b) { return a + b; }
    static __device__ __forceinline__ T identity() { return 0; }
    static __device__ __forceinline__ T post(T a) {
        T y;
        y = sqrt(a);
        return y;
    }
};

//// least_uint16
/// Computes the minimum of elements packed in words, by 16-bit pairs.
struct least_uint16 {
    static constexpr unsigned int start = 4294967295u;
    template <int n>
    static __device__ __forceinline__ void take(unsigned int (&packed)[2], const uint16 (&v)[n]) {
        const unsigned int* const words = reinterpret_cast<const unsigned int*>(v);
#pragma unroll
        for (int i = 0; i < n / 2; ++i) {
            packed[0] = __vminu2(packed[0], words[i]);
        }
    }
    static __device__ __forceinline__ uint16 join(uint16 a, uint16 b) { return a < b ? a : b; }
    static __device__ __forceinline__ uint16 whole(const unsigned int (&packed)[2]) {
        return join(uint16(packed[0]), uint16(packed[0] >> 16));
    }
};

//// count_nonzero_int64
struct count_nonzero_int64 {
    static __device__ __forceinline__ int64 join(int64 a, int64 b) { return int64(uint64(a) + uint64(b)); }
};

//// min_uint16
struct min_uint16 {
    static __device__ __forceinline__ uint16 join(uint16 a, uint16 b) { return b < a ? b : a; }
};

//// join_lanes.3
#if __CUDA_ARCH__ >= 800
template <>
__device__ __forceinline__ uint16 join_lanes<min_uint16, 32>(uint16 v) {
    return uint16(__reduce_min_sync(~0u, uint32(v)));
}
#endif
