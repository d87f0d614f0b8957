// complex_of(real(x0) - real(x1), imag(x0) - imag(x1))
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

//// complex64

template <int bytes> struct word_type;
template <> struct word_type<1> { using type = unsigned char; };
template <> struct word_type<2> { using type = unsigned short; };
template <> struct word_type<4> { using type = unsigned int; };
template <> struct word_type<8> { using type = uint2; };
template <> struct word_type<16> { using type = uint4; };

//// load_beside_plain, load_row_wide_plain, load_ends_plain, store_run, store_row_plain

struct arguments {
    const complex64* x0;
    const complex64* x1;
    complex64* z0;
    uint32 vectors;
    uint32 n0;
};

extern "C" __global__ void __launch_bounds__(256)
map(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 index = blockIdx.x * 256u + threadIdx.x, q = min(index, p.vectors - 1);
    const complex64* const x0_at = p.x0;
    // Vectors of columns start at aligned addresses; the first vector may start before the row.
    const int32 column = int32(q) * 2 - int32(reinterpret_cast<uint64>(x0_at) / 8 % 2);
    const bool here = index < p.vectors && column < int32(p.n0);
    const int64 x0_rows_least = min(int64(0), int64(3)) + min(int64(0), int64(int32(p.n0) - 1) * 1);
    const int64 x0_rows_most = max(int64(0), int64(3)) + max(int64(0), int64(int32(p.n0) - 1) * 1);
    const int64 x0_rows_low = x0_at - p.x0 + (column - 0);
    const int64 x0_rows_high = x0_at - p.x0 + (column + 4);
    const bool whole = here && x0_rows_low >= x0_rows_least && x0_rows_high <= x0_rows_most;
    complex64 x0_rows[1][1][5] = {};
    const auto load_x0_rows = [&](complex64 (&to)[5], int r) {
        const complex64* const from = x0_at + column;
        if (whole) return load_row_wide_plain<uint4, 2, 0, 3, 0>(to, from);
        load_ends_plain(to, from - 0, column - 0, 0, int32(p.n0) + 3);
    };
    __shared__ alignas(16) unsigned char turned[4096];
    if (here) load_x0_rows(x0_rows[0][0], 0);
    {
        alignas(16) complex64 z0[1][2];
#pragma unroll
        for (unsigned int e = 0; e < 2; ++e) {
            const float t0 = real(x0_rows[0][0][e + 0]);
            const float t1 = imag(x0_rows[0][0][e + 0]);
            const float t2 = real(x0_rows[0][0][e + 3]);
            const float t3 = imag(x0_rows[0][0][e + 3]);
            const float t4 = t0 - t2;
            const float t5 = t1 - t3;
            z0[0][e] = complex64(t4, t5);
        }
        {
            const int32 i0 = column;
            const int begin = int(max(-column, int32(0))), end = here ? int(min(int32(p.n0) - column, int32(2))) : 0;
            store_row_plain<uint4>(p.z0 + i0, z0[0], begin, end, turned + threadIdx.x / 32 * 512);
        }
    }
}
