// exp(x0 - max(x0)) / sum(exp(x0 - max(x0)))
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

/// Division by multiplication: n / d is the high word of 2 n * multiplier, shifted.
struct divisor { uint32 multiplier, shift; };
__device__ __forceinline__ uint32 quotient(uint32 n, divisor d) {
    return __umulhi(n << 1, d.multiplier) >> d.shift;
}

/// Initialises a barrier in shared memory that opens when `bytes` bytes have arrived.
__device__ __forceinline__ void expect(unsigned long long* arrived, unsigned int bytes) {
    const unsigned int at = __cvta_generic_to_shared(arrived);
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(at) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :: "r"(at), "r"(bytes) : "memory");
}

__device__ __forceinline__ void cluster_arrive() {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}

/// Copies global to shared memory, bypassing registers. The copy may still be pending on return.
__device__ __forceinline__ void copy4(void* to, const void* from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
                 :: "r"(unsigned(__cvta_generic_to_shared(to))), "l"(from) : "memory");
}

__device__ __forceinline__ void cluster_wait() {
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
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

/// Waits until all bytes that a barrier expects have arrived.
__device__ __forceinline__ void wait_for(const unsigned long long* arrived) {
    const unsigned int at = __cvta_generic_to_shared(arrived);
    unsigned int open;
    do asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n"
                    "selp.u32 %0, 1, 0, p;\n}" : "=r"(open) : "r"(at) : "memory");
    while (open == 0);
}

__device__ __forceinline__ float exp_float(float a) {
    float h = __fmul_rz(a, 1.44269502f);
    float l = fma(h, 1.90465421e-9f, fma(h, -0.693147182f, a));
    float y = exp2(h);
    return fma(y, fminf(l, 1.0f), y);
}

struct sum_float {
    static __device__ __forceinline__ float join(float a, float b) { return a + b; }
};

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

__device__ __forceinline__ uint32 bits_of(float a) { return __float_as_uint(a); }

__device__ __forceinline__ float quick_shared_divide_float(float a, float b, bool& rare) {
    bool unusual = false;
    const float q = quick_divide_float(a, b, unusual);
    rare |= unusual && (bits_of(a) != 0 || q != 0);
    return q;
}

struct arguments {
    const float* x0;
    float* z0;
    divisor by_n2;
    uint32 n2;
    uint32 length;
    int32 x0_stride0;
    int32 x0_stride1;
    int32 z0_stride0;
    int32 z0_stride1;
};

extern "C" __global__ void __launch_bounds__(256, 4)
rows(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    constexpr uint32 side = 18, height = 14;
    const uint32 down = threadIdx.x / side, column = threadIdx.x % side;
    const uint32 lane = blockIdx.x % 8u * height + down, lanes = 8u * height;
    const uint32 row = blockIdx.x / 8u * side + column;
    const uint32 q2 = quotient(row, p.by_n2);
    const int32 i2 = int32(row - q2 * p.n2);
    const int32 i0 = int32(q2);
    __shared__ uint64 arrived[2];
    if (threadIdx.x == 0) {
        expect(&arrived[0], 8u * side * sizeof(float));
        expect(&arrived[1], 8u * side * sizeof(float));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    cluster_arrive();
    float x0[32];
#pragma unroll
    for (unsigned int first = 0; first < 32; first += 4) {
        if (first + 3 < 18 || (first + 3) * lanes + lane < p.length) {
#pragma unroll
            for (unsigned int u = first; u < first + 4; ++u) {
                const uint32 at = u * lanes + lane;
                const int32 i1 = int32(at);
                x0[u] = __ldg(p.x0 + (i0 * p.x0_stride0 + i1 * p.x0_stride1 + i2));
            }
        } else {
#pragma unroll
            for (unsigned int u = first; u < first + 4; ++u) {
                const uint32 at = u * lanes + lane;
                x0[u] = float();
                if (u < 18 || at < p.length) {
                    const int32 i1 = int32(at);
                    x0[u] = __ldg(p.x0 + (i0 * p.x0_stride0 + i1 * p.x0_stride1 + i2));
                }
            }
        }
    }
    extern __shared__ uint4 shared_values[];
    float* const x0_more = reinterpret_cast<float*>(shared_values + 0) + threadIdx.x;
    float* const cached0_more = reinterpret_cast<float*>(shared_values + 0) + threadIdx.x;
    uint32 more = 0;  // number of chunks of this lane in shared memory
#pragma unroll 8
    for (uint32 at = 32u * lanes + lane; at < p.length; at += lanes) {
        const int32 i1 = int32(at);
        copy4(&x0_more[more * 256u], p.x0 + (i0 * p.x0_stride0 + i1 * p.x0_stride1 + i2));
        ++more;
    }
#pragma unroll 1
    for (uint32 v = more; v % 8 != 0; ++v) {
        x0_more[v * 256u] = float();
    }
    cluster_wait();
    asm volatile("cp.async.wait_all;" ::: "memory");
    float part0[8];
#pragma unroll
    for (unsigned int first = 0; first < 32; first += 4) {
        if (first + 3 < 18 || (first + 3) * lanes + lane < p.length) {
            float value0[4];
#pragma unroll
            for (unsigned int u = first; u < first + 4; ++u) {
                const uint32 at = u * lanes + lane;
                value0[u - first] = x0[u];
            }
            part0[first / 4] = join_pairs<max_float, 4>(value0);
        } else {
            float value0[4];
#pragma unroll
            for (unsigned int u = first; u < first + 4; ++u) {
                const uint32 at = u * lanes + lane;
                if (u < 18 || at < p.length) {
                    value0[u - first] = x0[u];
                } else {
                    value0[u - first] = -__int_as_float(0x7f800000);
                }
            }
            part0[first / 4] = join_pairs<max_float, 4>(value0);
        }
    }
    float max0 = join_pairs<max_float, 8>(part0);
#pragma unroll 1
    for (uint32 v = 0; v < more; v += 8) {
        float x0_now[8];
#pragma unroll
        for (unsigned int e = 0; e < 8; ++e) {
            x0_now[e] = x0_more[(v + e) * 256u];
        }
        float value0[8];
#pragma unroll
        for (unsigned int e = 0; e < 8; ++e) {
            const uint32 at = (v + e + 32u) * lanes + lane;
            value0[e] = x0_now[e];
        }
#pragma unroll
        for (unsigned int e = 0; e < 8; ++e) {
            if (v + e >= more) value0[e] = -__int_as_float(0x7f800000);
        }
        max0 = max_float::join(max0, join_pairs<max_float, 8>(value0));
    }
    __shared__ float whole0[271], max0_of[144];
    whole0[down * (side | 1) + column] = max0;
    __syncthreads();
    for (uint32 r = threadIdx.x / 32; r < side; r += 8) {
        max0 = -__int_as_float(0x7f800000);
        for (uint32 l = threadIdx.x % 32; l < height; l += 32) max0 = max_float::join(max0, whole0[l * (side | 1) + r]);
        max0 = join_lanes<max_float, 32>(max0);
        if (threadIdx.x % 32 == 0) {
            whole0[r] = max0;
        }
    }
    __syncthreads();
    max0 = whole0[column];
    for (uint32 block = down; down < height && block < 8; block += height) {
        send(&max0_of[blockIdx.x % 8u * 18u + column], max0, &arrived[0], block);
    }
    wait_for(&arrived[0]);
    max0 = max0_of[column];
#pragma unroll 4
    for (uint32 block = 1; block < 8; ++block) {
        max0 = max_float::join(max0, max0_of[column + block * 18u]);
    }
    float cached0[32];
    float part1[8];
#pragma unroll
    for (unsigned int first = 0; first < 32; first += 4) {
        if (first + 3 < 18 || (first + 3) * lanes + lane < p.length) {
            float value0[4];
#pragma unroll
            for (unsigned int u = first; u < first + 4; ++u) {
                const uint32 at = u * lanes + lane;
                const float t0 = x0[u] - max0;
                const float t1 = exp_float(t0);
                cached0[u] = t1;
                value0[u - first] = cached0[u];
            }
            part1[first / 4] = join_pairs<sum_float, 4>(value0);
        } else {
            float value0[4];
#pragma unroll
            for (unsigned int u = first; u < first + 4; ++u) {
                const uint32 at = u * lanes + lane;
                if (u < 18 || at < p.length) {
                    const float t2 = x0[u] - max0;
                    const float t3 = exp_float(t2);
                    cached0[u] = t3;
                    value0[u - first] = cached0[u];
                } else {
                    cached0[u] = float();
                    value0[u - first] = 0.0f;
                }
            }
            part1[first / 4] = join_pairs<sum_float, 4>(value0);
        }
    }
    float sum1 = join_pairs<sum_float, 8>(part1);
#pragma unroll 1
    for (uint32 v = 0; v < more; v += 8) {
        float x0_now[8];
#pragma unroll
        for (unsigned int e = 0; e < 8; ++e) {
            x0_now[e] = x0_more[(v + e) * 256u];
        }
        float value0[8];
        float cached0_now[8];
#pragma unroll
        for (unsigned int e = 0; e < 8; ++e) {
            const uint32 at = (v + e + 32u) * lanes + lane;
            const float t4 = x0_now[e] - max0;
            const float t5 = exp_float(t4);
            cached0_now[e] = t5;
            value0[e] = cached0_now[e];
        }
#pragma unroll
        for (unsigned int e = 0; e < 8; ++e) {
            cached0_more[(v + e) * 256u] = cached0_now[e];
            if (v + e >= more) value0[e] = 0.0f;
        }
        sum1 = sum_float::join(sum1, join_pairs<sum_float, 8>(value0));
    }
    __shared__ float whole1[271], sum1_of[144];
    whole1[down * (side | 1) + column] = sum1;
    __syncthreads();
    for (uint32 r = threadIdx.x / 32; r < side; r += 8) {
        sum1 = 0.0f;
        for (uint32 l = threadIdx.x % 32; l < height; l += 32) sum1 = sum_float::join(sum1, whole1[l * (side | 1) + r]);
        sum1 = join_lanes<sum_float, 32>(sum1);
        if (threadIdx.x % 32 == 0) {
            whole1[r] = sum1;
        }
    }
    __syncthreads();
    sum1 = whole1[column];
    for (uint32 block = down; down < height && block < 8; block += height) {
        send(&sum1_of[blockIdx.x % 8u * 18u + column], sum1, &arrived[1], block);
    }
    wait_for(&arrived[1]);
    sum1 = sum1_of[column];
#pragma unroll 4
    for (uint32 block = 1; block < 8; ++block) {
        sum1 = sum_float::join(sum1, sum1_of[column + block * 18u]);
    }
    if (down == height) return;
    bool again = false;
#pragma unroll
    for (unsigned int u = 0; u < 32; ++u) {
        const uint32 at = u * lanes + lane;
        bool rare = false;
        const float z0 = quick_shared_divide_float(cached0[u], sum1, rare);
        if (u < 18 || at < p.length) {
            again |= rare;
            const int32 i1 = int32(at);
            __stcs(p.z0 + (i0 * p.z0_stride0 + i1 * p.z0_stride1 + i2), z0);
        }
    }
#pragma unroll 1
    for (uint32 v = 0; v < more; v += 8) {
        float cached0_now[8];
#pragma unroll
        for (unsigned int e = 0; e < 8; ++e) {
            cached0_now[e] = cached0_more[(v + e) * 256u];
        }
#pragma unroll
        for (unsigned int e = 0; e < 8; ++e) {
            const uint32 at = (v + e + 32u) * lanes + lane;
            bool rare = false;
            const float z0 = quick_shared_divide_float(cached0_now[e], sum1, rare);
            if (v + e < more) {
                again |= rare;
                const int32 i1 = int32(at);
                __stcs(p.z0 + (i0 * p.z0_stride0 + i1 * p.z0_stride1 + i2), z0);
            }
        }
    }
    if (again) {
        float cached0_again[32];
#pragma unroll
        for (unsigned int u = 0; u < 32; ++u) {
            cached0_again[u] = cached0[u];
        }
#pragma unroll 1
        for (unsigned int u = 0; u < 32 + more; ++u) {
            const float cached0_now = u < 32 ? cached0_again[u] : cached0_more[(u - 32u) * 256u];
            const uint32 at = u * lanes + lane;
            const float z0 = cached0_now / sum1;
            if (u < 18 || at < p.length) {
                const int32 i1 = int32(at);
                __stcs(p.z0 + (i0 * p.z0_stride0 + i1 * p.z0_stride1 + i2), z0);
            }
        }
    }
}
