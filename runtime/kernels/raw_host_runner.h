// Runs blocks of a user's kernel on a CPU. raw_source.cpp prints before it whether threads wait for each other,
// `threads_wait`.

namespace ingot_raw {
template <unsigned... i> struct numbers {};
template <unsigned n, unsigned... i> struct count : count<n - 1, n - 1, i...> {};
template <unsigned... i> struct count<0, i...> { typedef numbers<i...> type; };
template <class F, class N> struct call_of_thread;
template <class... P, unsigned... i> struct call_of_thread<void (*)(P...), numbers<i...>> {
    void (*kernel)(P...);
    void** arguments;
    static void run(void* self, unsigned t) {
        call_of_thread& c = *static_cast<call_of_thread*>(self);
        threadIdx.x = t % blockDim.x, threadIdx.y = t / blockDim.x % blockDim.y, threadIdx.z = t / blockDim.x / blockDim.y;
        c.kernel(*static_cast<P*>(c.arguments[i])...);
    }
};
template <class... P, unsigned... i>
inline void run(void (*kernel)(P...), numbers<i...>, void** arguments, const grid_of_blocks* g,
                unsigned long long begin, unsigned long long end) {
    now = g;
    blockDim.x = g->block[0], blockDim.y = g->block[1], blockDim.z = g->block[2];
    gridDim.x = g->grid[0], gridDim.y = g->grid[1], gridDim.z = g->grid[2];
    for (unsigned long long b = begin; b < end; ++b) {
        blockIdx.x = unsigned(b % g->grid[0]);
        blockIdx.y = unsigned(b / g->grid[0] % g->grid[1]);
        blockIdx.z = unsigned(b / g->grid[0] / g->grid[1]);
        if (threads_wait) {
            call_of_thread<void (*)(P...), numbers<i...>> call = {kernel, arguments};
            g->run_threads(g->block[0] * g->block[1] * g->block[2], &call.run, &call);
            continue;
        }
        for (unsigned z = 0; z < g->block[2]; ++z)
            for (unsigned y = 0; y < g->block[1]; ++y)
                for (unsigned x = 0; x < g->block[0]; ++x) {
                    threadIdx.x = x, threadIdx.y = y, threadIdx.z = z;
                    kernel(*static_cast<P*>(arguments[i])...);
                }
    }
}
template <class... P>
inline void run_blocks(void (*kernel)(P...), void** arguments, const grid_of_blocks* g, unsigned long long begin,
                       unsigned long long end) {
    run(kernel, typename count<sizeof...(P)>::type(), arguments, g, begin, end);
}
}
