// The kernels of gpu.cpp, which prints before them: the types int64, `value`, `element` and `arguments`; and the
// functions `before`, `load` and `store`. A tile has 2048 elements, a block 512 threads. A block's tile is a piece of
// one row, or several rows of at most half a tile, each padded to a power of two.

__device__ void order(element& low, element& high) {
    if (!before(high, low)) return;
    const element former = low;
    low = high;
    high = former;
}

/// Size 0: sorts tiles. Else ends a merge of this size, by the steps that stay within tiles.
extern "C" __global__ void __launch_bounds__(512) sort_tiles(const arguments a) {
    __shared__ element tile[2048];
    int room = 2048;
    while (room / 2 >= a.length) room /= 2;
    const int64 row = a.tiles == 1 ? int64(blockIdx.x) * (2048 / room) : int64(blockIdx.x) / a.tiles;
    const int64 first = a.tiles == 1 ? 0 : int64(blockIdx.x) % a.tiles * 2048;
    const int count = int(a.length - first < room ? a.length - first : room);
    for (int i = threadIdx.x; i < 2048; i += 512)
        if (row + i / room < a.rows && i % room < count) tile[i] = load(a, row + i / room, first + i % room);
    for (int size = a.size == 0 ? 2 : 2048; a.size == 0 ? size / 2 < count : size == 2048; size *= 2) {
        for (int distance = a.size == 0 ? size / 2 : 1024; distance > 0; distance /= 2) {
            const bool mirrored = a.size == 0 && distance == size / 2;
            __syncthreads();
            for (int i = threadIdx.x; i < 1024; i += 512) {
                const int low = i / distance * 2 * distance + i % distance;
                const int high = mirrored ? low ^ (size - 1) : low + distance;
                if (high % room < count && row + high / room < a.rows) order(tile[low], tile[high]);
            }
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 2048; i += 512)
        if (row + i / room < a.rows && i % room < count) store(a, row + i / room, first + i % room, tile[i]);
}

/// One step of a merge, of what lies a tile or more apart.
extern "C" __global__ void __launch_bounds__(512) sort_across(const arguments a) {
    const int64 i = int64(blockIdx.x) * 512 + threadIdx.x, row = i / a.tiles, pair = i % a.tiles;
    if (row >= a.rows) return;
    const int64 distance = a.distance == 0 ? a.size / 2 : a.distance;
    const int64 low = pair / distance * 2 * distance + pair % distance;
    const int64 high = a.distance == 0 ? low ^ (a.size - 1) : low + distance;
    if (high < a.length) order(a.elements[row * a.stride + low], a.elements[row * a.stride + high]);
}
