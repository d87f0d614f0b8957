// min(x0 / cummax(x0) - s0)
using int32 = int;
using uint32 = unsigned int;

template <class word>
__device__ word stream(const word* from);

template <>
__device__ __forceinline__ uint4 stream(const uint4* from) {
    uint4 w;
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(w.x), "=r"(w.y), "=r"(w.z), "=r"(w.w) : "l"(from));
    return w;
}

/// Loads elements that are read only once, without allocating lines in the first-level cache.
template <class word, class type, int n>
__device__ __forceinline__ void load_stream(type (&to)[n], const type* from) {
    reinterpret_cast<word&>(to) = stream(reinterpret_cast<const word*>(from));
}

struct max_float {
    static __device__ __forceinline__ float join(float a, float b) {
#if __CUDA_ARCH__ >= 800
        float m;
        asm("max.NaN.f32 %0, %1, %2;" : "=f"(m) : "f"(a), "f"(b));
        return m;
#else
        return a > b || a != a ? a : b;
#endif
    }
};

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

__device__ __forceinline__ float rcp_approx(float a) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a));
    return y;
}

__device__ __forceinline__ float quick_divide_float(float a, float b, bool& rare) {
    float r = rcp_approx(b);
    r = fma(r, fma(-b, r, 1.0f), r);
    float q = a * r;
    q = fma(fma(-b, q, a), r, q);
    rare |= !(abs(a) >= 7.88860905e-31f);
    rare |= !(abs(q) >= 2.35098870e-38f);
    return q;
}

struct min_float {
    static __device__ __forceinline__ float join(float a, float b) {
#if __CUDA_ARCH__ >= 800
        float m;
        asm("min.NaN.f32 %0, %1, %2;" : "=f"(m) : "f"(a), "f"(b));
        return m;
#else
        return a < b || a != a ? a : b;
#endif
    }
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

struct arguments {
    const float* x0;
    float* z0;
    float s0;
    uint32 length;
    uint32 rows;
    int32 x0_stride0;
};

extern "C" __global__ void __launch_bounds__(256, 4)
rows(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 row = blockIdx.x;
    const int32 i0 = int32(row);
    alignas(16) float x0[3][4];
    const uint32 slack = row > 0 && row + 1 < p.rows ? 3 : 0, reach = p.length - 3 + 2 * slack;
#pragma unroll
    for (unsigned int u = 0; u < 3; ++u) {
        const uint32 at = (u * 256u + threadIdx.x) * 4u;
        if (u < 2 || at + slack < reach) {
            const int32 i1 = int32(at);
            load_stream<uint4>(x0[u], p.x0 + (i0 * p.x0_stride0 + i1));
        }
    }
    if (slack == 0 && (p.length % 4u != 0)) {
#pragma unroll
        for (unsigned int u = 0; u < 3; ++u) {
            const uint32 at = (u * 256u + threadIdx.x) * 4u;
            if (!(u < 2 || at < p.length)) break;
            if (!(u < 2 || at + slack < reach)) {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    const uint32 own = u < 2 || at + e < p.length ? at + e : 0;
                    const int32 i1 = int32(own);
                    x0[u][e] = __ldg(p.x0 + (i0 * p.x0_stride0 + i1));
                }
            }
        }
    }
    float max0[3][4];
#pragma unroll
    for (unsigned int u = 0; u < 3; ++u) {
        const uint32 at = (u * 256u + threadIdx.x) * 4u;
        if (u < 2 || at < p.length) {
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                max0[u][e] = x0[u][e];
            }
            if (!(u < 2 || at + 4 <= p.length)) {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    if (!(u < 2 || at + e < p.length)) max0[u][e] = -__int_as_float(0x7f800000);
                }
            }
#pragma unroll
            for (unsigned int e = 1; e < 4; ++e) {
                max0[u][e] = max_float::join(max0[u][e - 1], max0[u][e]);
            }
        } else {
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                max0[u][e] = -__int_as_float(0x7f800000);
            }
        }
    }
    float before_max0[3];
#pragma unroll
    for (unsigned int u = 0; u < 3; ++u) {
        before_max0[u] = max0[u][3];
    }
    __shared__ float parts_max0[24];
    scan_block<max_float, 8>(before_max0, -__int_as_float(0x7f800000), parts_max0);
#pragma unroll
    for (unsigned int u = 0; u < 3; ++u) {
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            max0[u][e] = max_float::join(before_max0[u], max0[u][e]);
        }
    }
    float part1[3];
#pragma unroll
    for (unsigned int u = 0; u < 3; ++u) {
        const uint32 at = (u * 256u + threadIdx.x) * 4u;
        if (u < 2 || at < p.length) {
            float value0[4];
            bool rare = false;
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                const float t0 = quick_divide_float(x0[u][e], max0[u][e], rare);
                value0[e] = t0 - p.s0;
            }
            if (rare) {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    const float t1 = x0[u][e] / max0[u][e];
                    value0[e] = t1 - p.s0;
                }
            }
            if (!(u < 2 || at + 4 <= p.length)) {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    if (!(u < 2 || at + e < p.length)) value0[e] = __int_as_float(0x7f800000);
                }
            }
            part1[u] = join_pairs<min_float, 4>(value0);
        } else {
            part1[u] = __int_as_float(0x7f800000);
        }
    }
    float min1 = join_pairs<min_float, 3>(part1);
    min1 = join_lanes<min_float, 32>(min1);
    __shared__ float whole1[8];
    if (threadIdx.x % 32 == 0) {
        whole1[threadIdx.x / 32] = min1;
    }
    __syncthreads();
    min1 = join_slots<min_float, 8>(whole1);
    if (threadIdx.x == 0) {
        __stcs(p.z0 + i0, min1);
    }
}
