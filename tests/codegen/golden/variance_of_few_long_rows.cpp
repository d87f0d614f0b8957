// sum(square(x0 - sum(x0) / s0)) / s1
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

/// Moments of elements: their count, a reference value `near`, the mean minus `near`, and the sum of squared
/// deviations from the mean.
struct moments {
    double count, near, mean, squares;
};

struct squares {
    static moments join(moments a, moments b) {
        if (b.count == 0) return a;
        if (a.count == 0) return b;
        const double count = a.count + b.count, share = b.count / count, off = (b.near - a.near) + (b.mean - a.mean);
        return {count, a.near, a.mean + off * share, a.squares + b.squares + off * off * a.count * share};
    }
    template <class type>
    static void keep(type v, type near, type& sum, type& squares) {
        const type off = v - near;
        sum += off;
        squares += off * off;
    }
    /// Sets `near` to the mean of the first strip, which `sum` holds relative to 0.
    template <class type>
    static void begin(int m, type& near, type* sum, type* squares) {
        double mean = 0;
        for (int j = 0; j < m; ++j) mean += sum[j] * (1.0 / m);
        near = type(mean);
        for (int j = 0; j < m; ++j) {
            sum[j] -= near;
            squares[j] = sum[j] * sum[j];
        }
    }
    template <int lanes, class type>
    static moments of_lanes(type near, const type* sum, const type* squares, uint64 n) {
        constexpr int chains = 8;
        double sums[chains] = {}, more[chains] = {}, all = 0, all_squares = 0;
        for (int l = 0; l < lanes; l += chains)
            for (int c = 0; c < chains; ++c) sums[c] += sum[l + c], more[c] += squares[l + c];
        for (int c = 0; c < chains; ++c) all += sums[c], all_squares += more[c];
        return of_lane(near, all, all_squares, n);
    }
    /// Variants for lanes that each reduce their own row: keep_first() makes the row's first element `near`, and
    /// begin_lanes() moves `near` to the mean of the first n elements.
    template <class type>
    static void keep_first(type v, bool first, type& near, type& sum, type& squares) {
        near = first ? v : near;
        keep(v, near, sum, squares);
    }
    template <int n, class type>
    static void begin_lanes(int m, type* near, type* sum, type* squares) {
        for (int j = 0; j < m; ++j) {
            const type before = near[j];
            near[j] += sum[j] * type(1.0 / n);
            const type moved = near[j] - before, less = n * moved;
            const type about = squares[j] - moved * (sum[j] + (sum[j] - less));
            squares[j] = about == about ? about : squares[j];  // an overflowed sum stays infinite
            sum[j] -= less;
        }
    }
    static moments of_lane(double near, double sum, double squares, uint64 n) {
        if (n == 0) return {0, 0, 0, 0};
        const double mean = sum / n, about = squares - sum * mean;
        // If the squares overflow and the mean is finite, the result is infinite; the difference would be NaN.
        return {double(n), near, mean, about >= 0 ? about : about < 0 ? 0 : squares + (mean - mean)};
    }
    template <class type>
    static type about(moments a, type c) {
        const double off = a.near - c + a.mean;
        return type(a.squares + a.count * off * off);
    }
    /// Returns the squares about the sum of all elements divided by n, which may differ from their count.
    template <class type>
    static type about_share(moments a, type n) {
        if (a.count == n) return type(a.squares);
        const double off = (a.near + a.mean) * (1 - a.count / n);
        return type(a.squares + a.count * off * off);
    }
};

/// Declares that the iterations of the next loop are independent.
#ifdef __clang__
#define independent _Pragma("clang loop vectorize(assume_safety)")
#else
#define independent _Pragma("GCC ivdep")
#endif

/// A block writes its slots of the scratch memory; the finishing block reads and clears them.
template <class type>
static inline void put(uint64* slot, type v) {
    __builtin_memcpy(slot, &v, sizeof v);
}

template <class type>
static inline type take(uint64* slot) {
    type v;
    __builtin_memcpy(&v, slot, sizeof v);
    *slot = 0;
    return v;
}

struct arguments {
    const double* x0;
    double* z0;
    double s0;
    double s1;
    uint64* scratch;
    uint32 row_pieces;
    uint32 folded;
    int32 x0_stride0;
    uint32 rows;
};

extern "C" void reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const double s0 = given->s0;
    const double s1 = given->s1;
    const arguments& p = *given;
    const uint32 pieces = p.row_pieces;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 piece = block % pieces;
        const uint32 row = block / pieces;
        const int32 i0 = int32(row);
        moments squares0;
        {
            const uint32 from = piece * 32768;
            const uint32 to = p.folded - from < 32768 ? p.folded : from + 32768;
            double lanes0_near;
            alignas(64) double lanes0_sum[256], lanes0_squares[256];
            lanes0_near = 0;
            for (int j = 0; j < 256; ++j) lanes0_sum[j] = 0, lanes0_squares[j] = 0;
            for (uint32 first = from; first < to; first += 256) {
                const int m = to - first < 256 ? int(to - first) : 256;
                const int32 i1 = int32(first);
                const double* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1;
                independent
                for (int j = 0; j < m; ++j) {
                    squares::keep(x0_strip[j], lanes0_near, lanes0_sum[j], lanes0_squares[j]);
                }
                if ((first - from) / 256 == 0) squares::begin(m, lanes0_near, lanes0_sum, lanes0_squares);
            }
            squares0 = squares::of_lanes<256>(lanes0_near, lanes0_sum, lanes0_squares, to - from);
        }
        uint64* const slots = p.scratch + p.rows + row;
        const uint64 stride = uint64(p.rows) * 4;
        put(slots + piece * stride, squares0.count);
        put(slots + piece * stride + 1 * p.rows, squares0.near);
        put(slots + piece * stride + 2 * p.rows, squares0.mean);
        put(slots + piece * stride + 3 * p.rows, squares0.squares);
        if (__atomic_add_fetch(p.scratch + row, 1, __ATOMIC_ACQ_REL) != pieces) continue;
        p.scratch[row] = 0;
        moments whole0 = moments{0, 0, 0, 0};
        for (uint32 s = 0; s < pieces; ++s) whole0 = squares::join(whole0, moments{take<double>(slots + s * stride), take<double>(slots + s * stride + 1 * p.rows), take<double>(slots + s * stride + 2 * p.rows), take<double>(slots + s * stride + 3 * p.rows)});
        squares0 = whole0;
        const double t0 = squares::about_share(squares0, s0);
        *(p.z0 + i0) = t0 / s1;
    }
}
