// The solution of a triangular system in one launch (Liu, Li, Hogg, Duff and Vinter, 2016). Before it stands what
// element_text.hpp says, with 32 lanes, and functions less(a, b), and quotient(a, b).
//
// A warp computes an element of x. It waits for the elements that its row names: each is published in slots of 32 bits
// and a flag, so the order of the writes is irrelevant. CUDA does not define the order in which blocks begin, so a warp
// takes a ticket: it waits for those of lower tickets alone, which have begun.

typedef unsigned long long uint64;
struct arguments {
    const value* values;
    const index* indices;
    const index* starts;
    const value* b;
    value* x;
    uint64* slots;
    int64 rows, width;
    int lower, unit_diagonal;
};

constexpr int words = sizeof(value) / 4;

__device__ void publish(uint64* slots, value v) {
    const unsigned int* const parts = reinterpret_cast<const unsigned int*>(&v);
#pragma unroll
    for (int i = 0; i < words; ++i)
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(slots + i), "l"(uint64(parts[i]) << 32 | 1)
                     : "memory");
}
__device__ value awaited(const uint64* slots) {
    value v;
    unsigned int* const parts = reinterpret_cast<unsigned int*>(&v);
#pragma unroll
    for (int i = 0; i < words; ++i) {
        uint64 word;
        do asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(slots + i) : "memory");
        while (word == 0);
        parts[i] = word >> 32;
    }
    return v;
}

extern "C" __global__ void __launch_bounds__(256) solve_triangular(const __grid_constant__ arguments a) {
    const int lane = threadIdx.x % 32;
    unsigned int ticket = 0;
    if (lane == 0) ticket = atomicAdd(reinterpret_cast<unsigned int*>(a.slots), 1u);
    ticket = __shfl_sync(0xffffffffu, ticket, 0);
    if (ticket >= a.rows * a.width) return;
    const int64 turn = ticket / a.width, column = ticket % a.width;
    const int64 row = a.lower ? turn : a.rows - 1 - turn;
    value sum = {}, diagonal = {};
    for (int64 e = a.starts[row] + lane; e < a.starts[row + 1]; e += 32) {
        const int64 at = a.indices[e];
        if (at == row) diagonal = a.values[e];
        if (a.lower ? at < row : at > row)
            sum = with_product(sum, a.values[e], awaited(a.slots + 1 + (at * a.width + column) * words));
    }
    sum = sum_of_lanes(sum);
    diagonal = sum_of_lanes(diagonal);  // one lane has it
    if (lane != 0) return;
    const int64 place = row * a.width + column;
    value x = less(a.b[place], sum);
    if (!a.unit_diagonal) x = quotient(x, diagonal);
    a.x[place] = x;
    publish(a.slots + 1 + place * words, x);
}
