// exp(x0 - max(x0)) / sum(exp(x0 - max(x0)))
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

template <class word>
__device__ word stream(const word* from);

template <>
__device__ __forceinline__ double2 stream(const double2* from) {
    double2 w;
    asm volatile("ld.global.nc.L1::no_allocate.v2.f64 {%0, %1}, [%2];" : "=d"(w.x), "=d"(w.y) : "l"(from));
    return w;
}

/// Loads elements that are read only once, without allocating lines in the first-level cache.
template <class word, class type, int n>
__device__ __forceinline__ void load_stream(type (&to)[n], const type* from) {
    reinterpret_cast<word&>(to) = stream(reinterpret_cast<const word*>(from));
}

struct max_double {
    static __device__ __forceinline__ double join(double a, double b) { return a > b || a != a ? a : b; }
};

/// Combines n values as a balanced tree, so that the rounding error of a sum grows with log(n).
template <class fold, int n, class type>
__device__ __forceinline__ type join_pairs(const type* v) {
    if constexpr (n == 1) return v[0];
    else return fold::join(join_pairs<fold, n - n / 2>(v), join_pairs<fold, n / 2>(v + n - n / 2));
}

/// Returns the value of the lane whose index is this lane's XOR `far`.
template <class type>
__device__ __forceinline__ type from_lane(type v, int far) {
    return __shfl_xor_sync(0xffffffffu, v, far);
}

/// Combines the values of a group of adjacent lanes; every lane gets the result.
template <class fold, int lanes, class type>
__device__ __forceinline__ type join_lanes(type v) {
#pragma unroll
    for (int far = lanes / 2; far > 0; far >>= 1) v = fold::join(v, from_lane(v, far));
    return v;
}

/// Combines n values in shared memory; every lane of the warp gets the result.
template <class fold, int n, class type>
__device__ __forceinline__ type join_slots(const type* slots) {
    constexpr int lanes = n < 32 ? n : 32;
    type v = slots[threadIdx.x % lanes];
#pragma unroll
    for (int i = lanes; i < n; i += lanes) v = fold::join(v, slots[i + threadIdx.x % lanes]);
    return join_lanes<fold, lanes>(v);
}

__device__ __forceinline__ uint64 bits_of(double a) { return uint64(__double_as_longlong(a)); }

__device__ __forceinline__ double from_bits(uint64 a) { return __longlong_as_double((long long)a); }

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

__device__ __forceinline__ double exp_double(double a) {
    double y = ::exp(a);
    return bits_of(a) - uint64(0xc087480000000000) <= uint64(0x110d52d3051) ? from_bits(uint64(1)) : y;
}

struct sum_double {
    static __device__ __forceinline__ double join(double a, double b) { return a + b; }
};

__device__ __forceinline__ double rcp_approx(double a) {
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(a));
    return y;
}

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

__device__ __forceinline__ double quick_shared_divide_double(double a, double b, bool& rare) {
    bool unusual = false;
    const double q = quick_divide_double(a, b, unusual);
    rare |= unusual && (bits_of(a) != 0 || q != 0);
    return q;
}

/// Stores elements that are not read soon; the caches evict them first.
template <class word, class type, int n>
__device__ __forceinline__ void store(type* to, const type (&from)[n]) {
    __stcs(reinterpret_cast<word*>(to), reinterpret_cast<const word&>(from));
}

struct arguments {
    const double* x0;
    double* z0;
    int32 x0_stride0;
    int32 z0_stride0;
    uint32 length;
    uint32 rows;
};

extern "C" __global__ void __launch_bounds__(64, 16)
rows(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 row = blockIdx.x;
    const int32 i0 = int32(row);
    const uint32 shift = reinterpret_cast<uint64>(p.x0 + i0 * p.x0_stride0) / 8 % 2;
    const bool z0_fits = reinterpret_cast<uint64>(p.z0 + i0 * p.z0_stride0) % 16 == shift * 8;
    alignas(16) double x0[9][2];
    const uint32 slack = row > 0 && row + 1 < p.rows ? 1 : 0, reach = p.length - 1 + 2 * slack;
#pragma unroll
    for (unsigned int u = 0; u < 9; ++u) {
        const uint32 at = (u * 64u + threadIdx.x) * 2u - shift;
        if (u - 1 < 3 || at + slack < reach) {
            const int32 i1 = int32(at);
            load_stream<double2>(x0[u], p.x0 + (i0 * p.x0_stride0 + i1));
        }
    }
    if (slack == 0 && (threadIdx.x == 0 || threadIdx.x == (shift + p.length) / 2u % 64u)) {
#pragma unroll
        for (unsigned int u = 0; u < 9; ++u) {
            const uint32 at = (u * 64u + threadIdx.x) * 2u - shift;
            if (!(u < 4 || at + 1 < p.length + 1)) break;
            if (!(u - 1 < 3 || at + slack < reach)) {
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) {
                    const uint32 own = u - 1 < 3 || at + e < p.length ? at + e : 0;
                    const int32 i1 = int32(own);
                    x0[u][e] = __ldg(p.x0 + (i0 * p.x0_stride0 + i1));
                }
            }
        }
    }
    double part0[9];
#pragma unroll
    for (unsigned int u = 0; u < 9; ++u) {
        const uint32 at = (u * 64u + threadIdx.x) * 2u - shift;
        if (u < 4 || at + 1 < p.length + 1) {
            double value0[2];
#pragma unroll
            for (unsigned int e = 0; e < 2; ++e) {
                value0[e] = x0[u][e];
            }
            if (!(u - 1 < 3 || (at < p.length && at + 2 <= p.length))) {
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) {
                    if (!(u - 1 < 3 || at + e < p.length)) value0[e] = -__longlong_as_double(0x7ff0000000000000ll);
                }
            }
            part0[u] = join_pairs<max_double, 2>(value0);
        } else {
            part0[u] = -__longlong_as_double(0x7ff0000000000000ll);
        }
    }
    double max0 = max_double::join(join_pairs<max_double, 8>(part0), part0[8]);
    max0 = join_lanes<max_double, 32>(max0);
    __shared__ double whole0[2];
    if (threadIdx.x % 32 == 0) {
        whole0[threadIdx.x / 32] = max0;
    }
    __syncthreads();
    max0 = join_slots<max_double, 2>(whole0);
    double cached0[9][2];
    double part1[9];
#pragma unroll
    for (unsigned int u = 0; u < 9; ++u) {
        const uint32 at = (u * 64u + threadIdx.x) * 2u - shift;
        if (u < 4 || at + 1 < p.length + 1) {
            double value0[2];
            bool rare = false;
#pragma unroll
            for (unsigned int e = 0; e < 2; ++e) {
                const double t0 = x0[u][e] - max0;
                const double t1 = quick_exp_double(t0, rare);
                cached0[u][e] = t1;
                value0[e] = cached0[u][e];
            }
            if (rare) {
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) {
                    const double t2 = x0[u][e] - max0;
                    const double t3 = exp_double(t2);
                    cached0[u][e] = t3;
                    value0[e] = cached0[u][e];
                }
            }
            if (!(u - 1 < 3 || (at < p.length && at + 2 <= p.length))) {
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) {
                    if (!(u - 1 < 3 || at + e < p.length)) value0[e] = 0.0;
                }
            }
            part1[u] = join_pairs<sum_double, 2>(value0);
        } else {
            part1[u] = 0.0;
        }
    }
    double sum1 = sum_double::join(join_pairs<sum_double, 8>(part1), part1[8]);
    sum1 = join_lanes<sum_double, 32>(sum1);
    __shared__ double whole1[2];
    if (threadIdx.x % 32 == 0) {
        whole1[threadIdx.x / 32] = sum1;
    }
    __syncthreads();
    sum1 = join_slots<sum_double, 2>(whole1);
#pragma unroll
    for (unsigned int u = 0; u < 9; ++u) {
        const uint32 at = (u * 64u + threadIdx.x) * 2u - shift;
        if (!(u < 4 || at + 1 < p.length + 1)) break;
        alignas(16) double z0[2];
        bool rare = false;
#pragma unroll
        for (unsigned int e = 0; e < 2; ++e) {
            z0[e] = quick_shared_divide_double(cached0[u][e], sum1, rare);
        }
        if (rare) {
#pragma unroll
            for (unsigned int e = 0; e < 2; ++e) {
                z0[e] = cached0[u][e] / sum1;
            }
        }
        if (z0_fits && (u - 1 < 3 || (at < p.length && at + 2 <= p.length))) {
            const int32 i1 = int32(at);
            store<uint4>(p.z0 + (i0 * p.z0_stride0 + i1), z0);
        } else {
#pragma unroll
            for (unsigned int e = 0; e < 2; ++e) {
                if (u - 1 < 3 || at + e < p.length) {
                    const int32 i1 = int32(at + e);
                    __stcs(p.z0 + (i0 * p.z0_stride0 + i1), z0[e]);
                }
            }
        }
    }
}
