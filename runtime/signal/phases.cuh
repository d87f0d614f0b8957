// Results of a filter between a step up and a step down. Before it stand `part`, float or double, COMPLEX where elements
// have two parts, and the constants `up`, `down`, `size` (taps), `place` (the tap that meets a period's first element,
// modulo up), `periods` (of a thread) and `threads`. A period is `down` elements and `up` results. A block brings its
// elements to shared memory, a thread takes those of all its results to registers, and loops are unrolled, so that taps
// are operands of the products.

#ifdef COMPLEX
struct alignas(2 * sizeof(part)) number { part re, im; };
__device__ __forceinline__ number operator*(number x, part tap) { return {x.re * tap, x.im * tap}; }
__device__ __forceinline__ number operator+(number x, number y) { return {x.re + y.re, x.im + y.im}; }
#else
typedef part number;
#endif
__device__ __forceinline__ number number_of(part x) {
#ifdef COMPLEX
    return {x, 0};
#else
    return x;
#endif
}

struct arguments {
    const number* elements;
    number* results;
    long long extent, count, first;  // first: the element with which the first period's window begins
    part beyond;
    unsigned int tiles;  // of a row
    part taps[size];
};

constexpr int behind = (size - 1) / up;  // elements before the newest one that a result's phase may need
constexpr int window = behind + ((up - 1) * down + place) / up + 1;
constexpr int step = periods * down, made = periods * up, held = window + step - down;
constexpr int tile = (threads - 1) * step + held, all_made = threads * made;

template <int n>
struct alignas(n * sizeof(number)) vector { number of[n]; };
// The elements that an access of shared memory moves, where a thread's begin at multiples of `step` or `made`.
constexpr int most = 16 / sizeof(number);
constexpr int read = step % 4 == 0 && most >= 4 ? 4 : step % 2 == 0 && most >= 2 ? 2 : 1;
constexpr int written = made % 4 == 0 && most >= 4 ? 4 : made % 2 == 0 && most >= 2 ? 2 : 1;
constexpr int reads = (held + read - 1) / read;
constexpr int room = (threads - 1) * step + reads * read;

extern "C" __global__ void __launch_bounds__(threads) sum_phases(const __grid_constant__ arguments a) {
    __shared__ alignas(16) number shared[room > all_made ? room : all_made];
    const unsigned int row = blockIdx.x / a.tiles, block = blockIdx.x - row * a.tiles;
    const number* const elements = a.elements + row * a.extent;
    const long long begin = a.first + (long long)(block) * (threads * step);
    if (begin >= 0 && begin + tile <= a.extent) {
#pragma unroll
        for (int i = 0; i < tile; i += threads)
            if (i + threads <= tile || i + int(threadIdx.x) < tile)
                shared[i + threadIdx.x] = elements[begin + i + threadIdx.x];
    } else {
        for (int i = threadIdx.x; i < tile; i += threads) {
            const long long at = begin + i;
            shared[i] = at >= 0 && at < a.extent ? elements[at] : number_of(a.beyond);
        }
    }
    __syncthreads();
    alignas(16) number x[reads * read];
#pragma unroll
    for (int i = 0; i < reads; ++i)
        reinterpret_cast<vector<read>*>(x)[i] = reinterpret_cast<const vector<read>*>(shared + threadIdx.x * step)[i];
    alignas(16) number sums[made];
#pragma unroll
    for (int i = 0; i < made; ++i) {
        const int newest = i / up * down + (i % up * down + place) / up + behind, tap = (i % up * down + place) % up;
        sums[i] = number_of(0);
#pragma unroll
        for (int k = 0; k <= behind; ++k)
            if (tap + k * up < size) {
                const number product = x[newest - k] * a.taps[tap + k * up];
                sums[i] = k == 0 ? product : sums[i] + product;
            }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < made / written; ++i)
        reinterpret_cast<vector<written>*>(shared + threadIdx.x * made)[i] =
            reinterpret_cast<const vector<written>*>(sums)[i];
    __syncthreads();
    number* const results = a.results + row * a.count;
    const long long first = (long long)(block) * all_made;
#pragma unroll
    for (int i = 0; i < all_made; i += threads)
        if (first + i + threadIdx.x < a.count) results[first + i + threadIdx.x] = shared[i + threadIdx.x];
}
