// The merge of two csr matrices (merge.hpp): a piece by each thread. Before it stands what element_text.hpp says,
// merge_walk.cuh, the type `made` of results, functions merged(x, y) and is_kept(result), and `piece`.

struct arguments {
    csr_operand<value, index> a, b;
    int64 rows, items;
    int64* counts;
    made* values;
    index* indices;
    index* starts;
};

extern "C" __global__ void __launch_bounds__(256) count_merged(const __grid_constant__ arguments a) {
    const int64 thread = int64(blockIdx.x) * 256 + threadIdx.x, first = thread * piece;
    if (first >= a.items) return;
    int64 count = 0;
    walk_merged(
        a.a, a.b, a.rows, first, a.items - first < piece ? a.items - first : piece,
        [&](index, value x, value y) { count += is_kept(merged(x, y)); }, [](int64) {});
    a.counts[thread] = count;
}

extern "C" __global__ void __launch_bounds__(256) write_merged(const __grid_constant__ arguments a) {
    const int64 thread = int64(blockIdx.x) * 256 + threadIdx.x, first = thread * piece;
    if (first >= a.items) return;
    int64 to = 0;
    if (thread == 0)
        a.starts[0] = 0;
    else
        to = a.counts[thread - 1];
    walk_merged(
        a.a, a.b, a.rows, first, a.items - first < piece ? a.items - first : piece,
        [&](index column, value x, value y) {
            const made result = merged(x, y);
            if (!is_kept(result)) return;
            a.indices[to] = column;
            a.values[to++] = result;
        },
        [&](int64 row) { a.starts[row + 1] = index(to); });
}
