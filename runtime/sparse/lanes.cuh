// The sum over a group of lanes, of a csr's elements. Before it stand `part`, `value` and `lanes`.

typedef long long int64;

__device__ value sum_of_lanes(value sum) {
    part* const parts = (part*)&sum;
#pragma unroll
    for (int p = 0; p < int(sizeof(value) / sizeof(part)); ++p)
#pragma unroll
        for (int d = lanes / 2; d > 0; d /= 2) parts[p] += __shfl_xor_sync(0xffffffffu, parts[p], d);
    return sum;
}
