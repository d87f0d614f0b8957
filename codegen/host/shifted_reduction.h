// The host joins moments and exponential sums with these.

//// host_moments
// Lanes sum the differences of elements from the mean of the first few, so a large mean costs no digits: as those few
// are among the elements, the squares about the mean are at least their number times the squared distance of the two
// means. Where all lanes belong to one row, the first few are its first strip, and `near` is one number.
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

//// host_exponential_sum needs weight of the dtype and of double, independent
// `top` is finite whatever the elements, so that infinities and NaN come out as in exp(x - c). The sum is 0 where all
// elements are minus infinity or there are none; else it is at least 1.
template <class type>
constexpr type largest();
template <>
constexpr float largest() {
    return 3.402823466e+38f;
}
template <>
constexpr double largest() {
    return 1.7976931348623157e+308;
}

/// The greatest element `top` and the sum of exp(x - top).
struct exponential_sum {
    double top, sum;
};

struct exponentials {
    static exponential_sum join(exponential_sum a, exponential_sum b) {
        const bool above = a.top > b.top;
        const double less = weight(above ? b.top - a.top : a.top - b.top);
        return {above ? a.top : b.top, above ? a.sum + b.sum * less : b.sum + a.sum * less};
    }
    /// Each lane holds its greatest element `top` and the sum of exp(x - near). `near` is updated only when an
    /// element exceeds it by more than 2; lanes that reduce one row share it. end_strips() adds the exponentials
    /// of some strips of m elements.
    template <class type>
    static void keep(type v, type& of_strip, int& far, type near, type& top) {
        of_strip = v;
        top = v > top ? v : top;
        far |= v - near > 2;
    }
    template <int strips, int width, bool one_row, class type>
    static void end_strips(const type* __restrict v, int& far, int m, type* __restrict near, type* __restrict sum,
                          type* __restrict top) {
        if (far) {
            far = 0;
            type most = -largest<type>();
            for (int j = 0; one_row && j < m; ++j) most = top[j] > most ? top[j] : most;
            independent
            for (int j = 0; j < m; ++j) {
                top[j] = top[j] < largest<type>() ? top[j] : largest<type>();
                const type high = one_row ? most < largest<type>() ? most : largest<type>() : top[j];
                sum[j] *= weight(near[j] - high);
                near[j] = high;
            }
        }
        independent
        for (int j = 0; j < m; ++j)
            for (int s = 0; s < strips; ++s) sum[j] += weight(v[s * width + j] - near[j]);
    }
    static exponential_sum of_lane(double near, double sum, double top, uint64) {
        return {top, sum == 0 ? 0 : sum * weight(near - top)};
    }
    template <int lanes, class type>
    static exponential_sum of_lanes(const type* near, const type* sum, const type* top, uint64) {
        type most = top[0];
        for (int l = 1; l < lanes; ++l) most = top[l] > most ? top[l] : most;
        double shares[lanes], all = 0;
        for (int l = 0; l < lanes; ++l) shares[l] = sum[l] * weight(double(near[l]) - most);
        for (int l = 0; l < lanes; ++l) all += shares[l];
        return {most, all};
    }
    template <class type>
    static type about(exponential_sum a, type c) {
        return type(a.sum * weight(a.top - c));
    }
    /// Returns the greatest element. The sum shows whether it is infinite or NaN.
    static double greatest(exponential_sum a) {
        return a.sum > 0 && a.sum <= largest<double>() ? a.top : a.sum == 0 ? -__builtin_inf() : a.sum;
    }
};
