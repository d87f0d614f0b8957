// exp(x0 - max(x0)) / sum(exp(x0 - max(x0)))
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

//// stream, stream.4, load_stream, max_double, join_pairs, from_lane, join_lanes, join_slots, bits_of, from_bits,
//// quick_exp_double, exp_double, sum_double, rcp_approx.2, quick_divide_double, quick_shared_divide_double, store

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
