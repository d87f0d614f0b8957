// cumsum(tanh(erf(g0 * x0))) + x1
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

//// stream, stream.2, load_stream, generator_key, philox_words, wide_product, philox, bits_of.2, from_bits.2,
//// rsqrt_approx, logarithm, root, circle, polar.2, normal_float, normal_float.2, sum_float, scan_lanes, scan_warps,
//// publish.2, poll.2, poll_all, before_tile, clear_slot, sum_double, store

struct arguments {
    const float* x0;
    const float* x1;
    float* z0;
    uint32* scratch;
    int64 g0_first;
    generator_key g0_key;
    uint32 scanned;
    uint32 tiles;
};

extern "C" __global__ void __launch_bounds__(256, 4)
scan(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    __shared__ uint32 taken;
    if (threadIdx.x == 0) taken = atomicAdd(p.scratch, 1u);
    __syncthreads();
    const uint32 ticket = taken;
    const uint32 lane = threadIdx.x % 32u, warp = threadIdx.x / 32u;
    const uint32 tile = ticket;
    const uint32 first = tile * 8192u;
    const uint32 mine = first + warp * 1024u + lane * 4u;
    const bool whole = first + 8192 <= p.scanned;
    extern __shared__ uint4 staged[];
    float* const sum0_staged = reinterpret_cast<float*>(staged);
#pragma unroll 1
    for (unsigned int u = 0; u < 8; ++u) {
        alignas(16) float x0_now[4];
        float g0_now[4];
        {
            const uint32 at = mine + (u + 0) * 128u;
            const int32 i0 = int32(at);
            if (whole || at + 4 <= p.scanned) {
                load_stream<uint4>(x0_now, p.x0 + i0);
            } else {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    const uint32 at = mine + (u + 0) * 128u + e;
                    const int32 i0 = int32(at);
                    x0_now[e] = at < p.scanned ? __ldg(p.x0 + i0) : 0.0f;
                }
            }
        }
        {
            const uint32 at = mine + (u + 0) * 128u;
            const int32 i0 = int32(at);
            normal_float(g0_now, p.g0_key, uint64(p.g0_first + i0) / 4);
        }
        alignas(16) float sum0_now[4];
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            const float t0 = g0_now[e] * x0_now[e];
            const float t1 = erf(t0);
            sum0_now[e] = tanh(t1);
            if (e > 0) sum0_now[e] = sum_float::join(sum0_now[e - 1], sum0_now[e]);
        }
        *reinterpret_cast<uint4*>(sum0_staged + (u * 256u + threadIdx.x) * 4) = reinterpret_cast<uint4&>(sum0_now);
    }
    float part0[8];
#pragma unroll
    for (unsigned int u = 0; u < 8; ++u) {
        part0[u] = (sum0_staged + (u * 256u + threadIdx.x) * 4)[3];
    }
    const float warp_sum0 = scan_lanes<sum_float, 32>(part0, -0.0f, lane);
    __shared__ float warps_sum0[8];
    if (lane == 0) warps_sum0[warp] = warp_sum0;
    __syncthreads();
    float whole0;
    const float ahead_sum0 = scan_warps<sum_float, 8>(warps_sum0, -0.0f, warp, whole0);
    const uint32 runs = (p.tiles + 63) / 64 * 1, own_run = tile / 64 * 1 + 0;
    uint64* const slots = reinterpret_cast<uint64*>(p.scratch) + (runs + 5) / 4 * 2;
    __shared__ double prefix_sum0;
    if (warp == 0) {
        const uint64 all = 1;
        uint64* const slot = slots + ((tile / 64 * all + 0) * 64 + tile % 64) * 2;
        uint64* const slot_sum0[1] = {slot};
        double found_sum0[1] = {double(whole0)};
        before_tile<sum_double, 2>(slot_sum0, all, tile, found_sum0, -0.0);
        if (lane == 0) prefix_sum0 = found_sum0[0];
    }
    __syncthreads();
    unsigned int arrived = 0;  // tiles of this run that have arrived before this tile
    if (threadIdx.x == 255) {
        __threadfence();
        arrived = atomicAdd(p.scratch + 2 + own_run, 1u);
    }
    const double before_sum0 = prefix_sum0;
#pragma unroll
    for (unsigned int u = 0; u < 8; ++u) {
        alignas(16) float sum0_now[4];
        reinterpret_cast<uint4&>(sum0_now) = *reinterpret_cast<uint4*>(sum0_staged + (u * 256u + threadIdx.x) * 4);
        const float base_sum0 = float(sum_double::join(before_sum0, sum_float::join(ahead_sum0, part0[u])));
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            sum0_now[e] = sum_float::join(base_sum0, sum0_now[e]);
        }
        *reinterpret_cast<uint4*>(sum0_staged + (u * 256u + threadIdx.x) * 4) = reinterpret_cast<uint4&>(sum0_now);
    }
#pragma unroll 1
    for (unsigned int u = 0; u < 8; ++u) {
        alignas(16) float x1_now[4];
        {
            const uint32 at = mine + (u + 0) * 128u;
            const int32 i0 = int32(at);
            if (whole || at + 4 <= p.scanned) {
                load_stream<uint4>(x1_now, p.x1 + i0);
            } else {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    const uint32 at = mine + (u + 0) * 128u + e;
                    const int32 i0 = int32(at);
                    x1_now[e] = at < p.scanned ? __ldg(p.x1 + i0) : 0.0f;
                }
            }
        }
        alignas(16) float sum0_now[4];
        reinterpret_cast<uint4&>(sum0_now) = *reinterpret_cast<uint4*>(sum0_staged + (u * 256u + threadIdx.x) * 4);
        alignas(16) float r0[4];
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            r0[e] = sum0_now[e] + x1_now[e];
        }
        const uint32 at = mine + (u + 0) * 128u;
        const int32 i0 = int32(at);
        if (whole || at + 4 <= p.scanned) {
            store<uint4>(p.z0 + i0, r0);
        } else {
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                const uint32 at = mine + (u + 0) * 128u + e;
                const int32 i0 = int32(at);
                if (at < p.scanned) {
                    __stcs(p.z0 + i0, r0[e]);
                }
            }
        }
    }
    __shared__ bool last;  // whether every other tile of the run has read its slots
    if (threadIdx.x == 255) last = arrived == min(63u, uint32(p.tiles - 1 - tile / 64 * 64));
    __syncthreads();
    if (!last) return;
    __threadfence();
    const uint32 run = tile / 64;
    const bool ends = p.tiles - run * 64 <= 64;
    for (uint32 i = threadIdx.x; i < 64; i += 256)
        clear_slot<2>(slots, 1, run, 0, i, ends);
    if (threadIdx.x != 0) return;
    p.scratch[2 + own_run] = 0;
    if (atomicAdd(p.scratch + 1, 1u) == runs - 1) p.scratch[0] = p.scratch[1] = 0;
}
