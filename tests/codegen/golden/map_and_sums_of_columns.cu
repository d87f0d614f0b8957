// sqrt(x0); sum(x0)
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

__device__ __forceinline__ void cluster_wait() {
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

struct sum_float {
    static __device__ __forceinline__ float join(float a, float b) { return a + b; }
};

/// Combines n values as a balanced tree, so that the rounding error of a sum grows with log(n).
template <class fold, int n, class type>
__device__ __forceinline__ type join_pairs(const type* v) {
    if constexpr (n == 1) return v[0];
    else return fold::join(join_pairs<fold, n - n / 2>(v), join_pairs<fold, n / 2>(v + n - n / 2));
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

__device__ __forceinline__ float rsqrt_approx(float a) {
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a));
    return y;
}

__device__ __forceinline__ float quick_sqrt_float(float a, bool& rare) {
    float r = rsqrt_approx(a);
    float s = a * r;
    s = fma(fma(-s, s, a), 0.5f * abs(r), s);
    rare |= !(s >= 8.88178420e-16f);
    return s;
}

struct arguments {
    const float* x0;
    float* z0;
    float* z1;
    divisor by_side;
    uint32 side;
    uint32 rows;
    uint32 length;
    int32 x0_stride0;
    int32 z0_stride0;
};

extern "C" __global__ void __launch_bounds__(512, 2)
rows(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 side = p.side, height = quotient(512u, p.by_side);
    const uint32 down = quotient(threadIdx.x, p.by_side), column = threadIdx.x - down * side;
    const uint32 lane = blockIdx.x % 8u * height + down, lanes = 8u * height;
    const uint32 mine = blockIdx.x / 8u * side + column;
    const uint32 row = mine < p.rows ? mine : p.rows - 1;
    const int32 i1 = int32(row);
    __shared__ uint64 arrived[1];
    if (threadIdx.x == 0) {
        expect(&arrived[0], 8u * side * sizeof(float));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    cluster_arrive();
    float x0[32];
#pragma unroll
    for (unsigned int first = 0; first < 32; first += 4) {
        if (first + 3 < 24 || (first + 3) * lanes + lane < p.length) {
#pragma unroll
            for (unsigned int u = first; u < first + 4; ++u) {
                const uint32 at = u * lanes + lane;
                const int32 i0 = int32(at);
                x0[u] = __ldg(p.x0 + (i0 * p.x0_stride0 + i1));
            }
        } else {
#pragma unroll
            for (unsigned int u = first; u < first + 4; ++u) {
                const uint32 at = u * lanes + lane;
                x0[u] = float();
                if (u < 24 || at < p.length) {
                    const int32 i0 = int32(at);
                    x0[u] = __ldg(p.x0 + (i0 * p.x0_stride0 + i1));
                }
            }
        }
    }
    cluster_wait();
    float part0[8];
#pragma unroll
    for (unsigned int first = 0; first < 32; first += 4) {
        if (first + 3 < 24 || (first + 3) * lanes + lane < p.length) {
            float value0[4];
#pragma unroll
            for (unsigned int u = first; u < first + 4; ++u) {
                const uint32 at = u * lanes + lane;
                value0[u - first] = x0[u];
            }
            part0[first / 4] = join_pairs<sum_float, 4>(value0);
        } else {
            float value0[4];
#pragma unroll
            for (unsigned int u = first; u < first + 4; ++u) {
                const uint32 at = u * lanes + lane;
                if (u < 24 || at < p.length) {
                    value0[u - first] = x0[u];
                } else {
                    value0[u - first] = 0.0f;
                }
            }
            part0[first / 4] = join_pairs<sum_float, 4>(value0);
        }
    }
    float sum0 = join_pairs<sum_float, 8>(part0);
    __shared__ float whole0[529], sum0_of[448];
    whole0[down * (side | 1) + column] = sum0;
    __syncthreads();
    if (const uint32 r = threadIdx.x; r < side) {
        sum0 = 0.0f;
        for (uint32 l = 0; l < height; ++l) sum0 = sum_float::join(sum0, whole0[l * (side | 1) + r]);
#pragma unroll 4
        for (uint32 block = 0; block < 8; ++block) {
            send(&sum0_of[blockIdx.x % 8u * 56u + r], sum0, &arrived[0], block);
        }
    }
    wait_for(&arrived[0]);
    sum0 = sum0_of[column];
#pragma unroll 4
    for (uint32 block = 1; block < 8; ++block) {
        sum0 = sum_float::join(sum0, sum0_of[column + block * 56u]);
    }
    if (mine >= p.rows || down == height) return;
    bool again = false;
#pragma unroll
    for (unsigned int u = 0; u < 32; ++u) {
        const uint32 at = u * lanes + lane;
        bool rare = false;
        const float z0 = quick_sqrt_float(x0[u], rare);
        if (u < 24 || at < p.length) {
            again |= rare;
            const int32 i0 = int32(at);
            __stcs(p.z0 + (i0 * p.z0_stride0 + i1), z0);
        }
    }
    if (again) {
        float x0_again[32];
#pragma unroll
        for (unsigned int u = 0; u < 32; ++u) {
            x0_again[u] = x0[u];
        }
#pragma unroll 1
        for (unsigned int u = 0; u < 32; ++u) {
            const uint32 at = u * lanes + lane;
            const float z0 = sqrt(x0_again[u]);
            if (u < 24 || at < p.length) {
                const int32 i0 = int32(at);
                __stcs(p.z0 + (i0 * p.z0_stride0 + i1), z0);
            }
        }
    }
    if (lane == 0) {
        __stcs(p.z1 + i1, sum0);
    }
}
