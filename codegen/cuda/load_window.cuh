// How a thread loads the windows of its neighbouring elements, which overlap.

//// load_window
/// Loads n consecutive elements, by vectors where the first lies at a whole one.
template <class word, class type, int n>
__device__ __forceinline__ void load_window(type (&to)[n], const type* from) {
    constexpr int each = sizeof(word) / sizeof(type);
    const bool aligned = each > 1 && reinterpret_cast<unsigned long long>(from) % sizeof(word) == 0;
#pragma unroll
    for (int i = 0; i < n; i += each) {
        alignas(sizeof(word)) type vector[each];
        const bool whole = aligned && i + each <= n;
        if (whole) reinterpret_cast<word&>(vector) = __ldg(reinterpret_cast<const word*>(from + i));
#pragma unroll
        for (int e = 0; e < each; ++e)
            if (i + e < n) to[i + e] = whole ? vector[e] : from[i + e];
    }
}
