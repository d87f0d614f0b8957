#include "runtime/kernels/library_texts.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <type_traits>
#include <utility>

#include "runtime/kernels/elements.hpp"

namespace ingot::runtime {

namespace {

namespace texts {

using std::fmod;
using int32 = std::int32_t;
using int64 = std::int64_t;

/// A raw parameter, as in a kernel.
template <class T>
struct raw {
    const T* data;
    int64 count;
    const T& operator[](int64 i) const { return data[i]; }
    int64 size() const { return count; }
};

/// The interpreter does not keep the point that a thread found last.
int64 last_point() { return -1; }
void keep_point(int64) {}

struct point_of_pieces {
    double place, value;
};
point_of_pieces read_point(const double* p) { return {p[0], p[1]}; }

#define INGOT_TEXT(name, parameters, ...) INGOT_TEXT_OF(name, parameters, __VA_ARGS__)
#define INGOT_TEXT_OF(name, parameters, ...)               \
    constexpr std::string_view name##_text = #__VA_ARGS__; \
    template <class T>                                     \
    void name parameters {                                 \
        __VA_ARGS__                                        \
    }

// Counts the leading elements of a sorted array that satisfy `goes_on` by halving the range, without a branch: the
// number of steps depends only on the array. NaN comes last.
#define INGOT_COUNT_WHILE(goes_on)       \
    int64 n = a.size();                  \
    for (; n > 1; n -= n >> 1) {         \
        const T x = a[k + (n >> 1) - 1]; \
        k += (goes_on) ? n >> 1 : 0;     \
    }                                    \
    if (n == 1) {                        \
        const T x = a[k];                \
        k += (goes_on);                  \
    }
// clang-format off
INGOT_TEXT(search_up_left, (T v, raw<T> a, int64& k),
           k = 0; if (v == v) { INGOT_COUNT_WHILE(x < v) } else { INGOT_COUNT_WHILE(x == x) })
INGOT_TEXT(search_up_right, (T v, raw<T> a, int64& k),
           k = 0; if (v == v) { INGOT_COUNT_WHILE(x <= v) } else { k = a.size(); })
INGOT_TEXT(search_down_left, (T v, raw<T> a, int64& k),
           k = 0; if (v == v) { INGOT_COUNT_WHILE(!(x < v)) } else { INGOT_COUNT_WHILE(x != x) })
INGOT_TEXT(search_down_right, (T v, raw<T> a, int64& k),
           k = 0; if (v == v) { INGOT_COUNT_WHILE(!(x <= v)) })

// k: the number of edges that are not beyond x, minus one. The last edge belongs to the last bin; if several edges
// equal it, x counts in the last bin but one. NaN comes last.
INGOT_TEXT(bin, (T x, raw<T> edges, int64& k),
    const int64 n = edges.size() - 1;
    int64 m = n + 1;
    k = -1;
    for (; m > 1; m -= m >> 1) k += edges[k + (m >> 1)] <= x ? m >> 1 : 0;
    if (m == 1 && edges[k + 1] <= x) ++k;
    if (x != x) k = n;
    if (k == n) k = n > 0 && (edges[n] == x || (x != x && edges[n] != edges[n])) ? n - 1 : -1;)

// Near an edge the bin is NumPy's, by its division. A value that is out of range by a bin or more, or NaN, is treated
// as near an edge.
INGOT_TEXT(uniform_bin, (T x, raw<T> edges, int32 n, T first, T last, T per_width, T rounding, int32& k),
    const T place = (x - first) * per_width;
    k = place >= 0 && place < (T)n ? (int32)place : -1;
    const T behind = place - (T)k;
    if (!(behind > rounding && behind < (T)1 - rounding)) {
        k = -1;
        if (x >= first && x <= last) {
            k = (int32)((x - first) / (last - first) * (T)n);
            k = k >= n ? n - 1 : k < 0 ? 0 : k;
            if (x < edges[k]) --k;
            if (k + 1 < n && x >= edges[k + 1]) ++k;
        }
    })

// Between evenly spaced points a place says its piece without a branch: `pieces` (searching.cpp) has each point's place
// and value, then the slopes behind the points, then how many points there are in a unit, NaN where they are not evenly
// spaced. Else, and near a point, j is the last point that is not beyond x. It is sought where the thread found the last
// one, for places may be sorted, then where it is among evenly spaced points, then at the next three: a few loads in
// place of a dozen. With infinities the slope may be NaN; then the other side decides.
INGOT_TEXT(interp, (double x, raw<double> xp, raw<double> fp, raw<double> pieces, int given, double left, double right,
                    double period, double& y),
    bool found = false;
    if (pieces.size() != 0) {
        const int32 points = (int32)xp.size();
        const double place = (x - pieces[0]) * pieces[3 * points - 1];
        const bool inside = place > 0 && place < (double)(points - 1);
        const int32 near = inside ? (int32)place : 0;
        const double behind = place - (double)near;
        const point_of_pieces p = read_point(&pieces[2 * near]);
        y = pieces[2 * points + near] * (x - p.place) + p.value;
        found = inside && behind > 0x1p-12 && behind < 1 - 0x1p-12 && y == y;
    }
    if (!found) {
        const int64 n = xp.size();
        double at = x;
        if (period != 0) {
            at = fmod(x, period);
            if (at < 0) at += period;
        }
        int64 j = 0, m = n;
        const int64 last = last_point();
        if (last >= 0 && last + 1 < n && xp[last] <= at && at < xp[last + 1]) {
            j = last;
            m = 1;
        }
        if (m > 1) {
            const double place = (at - xp[0]) * ((double)(n - 1) / (xp[n - 1] - xp[0]));
            if (place >= 0 && place < (double)(n - 1)) {
                int64 near = (int64)place;
                if (at < xp[near]) --near;
                if (near >= 0 && xp[near] <= at && at < xp[near + 1]) {
                    j = near;
                    m = 1;
                }
            }
            if (m > 1 && last >= 0 && last + 4 < n && xp[last] <= at && at < xp[last + 4]) {
                j = last;
                m = 4;
            }
            while (m > 1) {
                const int64 half = m >> 1;
                j += xp[j + half] <= at ? half : 0;
                m -= half;
            }
            keep_point(j);
        }
        if (at != at && n > 1) {
            y = at;
        } else if (at < xp[0]) {
            y = given & 1 ? left : fp[0];
        } else if (at > xp[n - 1]) {
            y = given & 2 ? right : fp[n - 1];
        } else if (j == n - 1 || xp[j] == at) {
            y = fp[j];
        } else {
            const double slope =
                pieces.size() != 0 ? pieces[2 * n + j] : (fp[j + 1] - fp[j]) / (xp[j + 1] - xp[j]);
            y = slope * (at - xp[j]) + fp[j];
            if (y != y) y = slope * (at - xp[j + 1]) + fp[j + 1];
            if (y != y && fp[j] == fp[j + 1]) y = fp[j];
        }
    })
// clang-format on
#undef INGOT_COUNT_WHILE
#undef INGOT_TEXT_OF
#undef INGOT_TEXT

}  // namespace texts

/// The one-line text with one statement on a line. Later lines are indented as in the printed function.
std::string in_lines(std::string_view text) {
    std::string out;
    int depth = 2, parentheses = 0;
    const auto end_line = [&] {
        out += '\n';
        out.append(static_cast<std::size_t>(4 * depth), ' ');
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == ' ' && out.ends_with(' ') && (i == 0 || text[i - 1] != ' ')) continue;  // behind an indentation
        parentheses += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (c == '}' && out.ends_with("    ")) out.resize(out.size() - 4);
        depth += c == '{' ? 1 : c == '}' ? -1 : 0;
        out += c;
        const bool goes_on = text.substr(i + 1).starts_with(" else");
        if (parentheses == 0 && (c == ';' || c == '{' || (c == '}' && !goes_on)) && i + 1 < text.size()) end_line();
    }
    return out;
}

/// A parameter's value for element i: a number has one for each element, a raw array is one value.
template <class P>
struct argument {
    static P at(const text_block& b, std::size_t parameter, std::size_t i) {
        return static_cast<const P*>(b.values[parameter])[i];
    }
};
template <class T>
struct argument<texts::raw<T>> {
    static texts::raw<T> at(const text_block& b, std::size_t parameter, std::size_t) {
        return {static_cast<const T*>(b.values[parameter]), b.counts[parameter]};
    }
};

template <class R, class... P>
struct parameters_of {
    template <std::size_t... at>
    static void compute(const text_block& b, void (*f)(P..., R&), std::index_sequence<at...>) {
        for (std::size_t i = 0; i < b.count; ++i) f(argument<P>::at(b, at, i)..., static_cast<R*>(b.to)[i]);
    }
    static void compute(const text_block& b, void (*f)(P..., R&)) { compute(b, f, std::index_sequence_for<P...>()); }
};

using texts::int32, texts::int64, texts::raw;

template <class T, void (*text)(T, raw<T>, int64&)>
void find_bins(const text_block& b) {
    parameters_of<int64, T, raw<T>>::compute(b, text);
}
template <class T>
void find_uniform_bins(const text_block& b) {
    parameters_of<int32, T, raw<T>, int32, T, T, T, T>::compute(b, texts::uniform_bin<T>);
}
void interpolate(const text_block& b) {
    parameters_of<double, double, raw<double>, raw<double>, raw<double>, int, double, double, double>::compute(
        b, texts::interp<double>);
}

template <class T>
text_function function_in(library_text which) {
    switch (which) {
        case library_text::search_up_left:
            return find_bins<T, texts::search_up_left<T>>;
        case library_text::search_up_right:
            return find_bins<T, texts::search_up_right<T>>;
        case library_text::search_down_left:
            return find_bins<T, texts::search_down_left<T>>;
        case library_text::search_down_right:
            return find_bins<T, texts::search_down_right<T>>;
        case library_text::bin:
            return find_bins<T, texts::bin<T>>;
        case library_text::uniform_bin:
            if constexpr (std::is_floating_point_v<T>) return find_uniform_bins<T>;
            return nullptr;  // never needed: the edges of bins are floats
        case library_text::interp:
            return interpolate;
    }
    return nullptr;
}

constexpr std::string_view text_of(library_text which) {
    constexpr std::string_view all[] = {texts::search_up_left_text,
                                        texts::search_up_right_text,
                                        texts::search_down_left_text,
                                        texts::search_down_right_text,
                                        texts::bin_text,
                                        texts::uniform_bin_text,
                                        texts::interp_text};
    return all[static_cast<std::size_t>(which)];
}

}  // namespace

std::string statements_of(library_text which) { return in_lines(text_of(which)); }

std::string_view preamble_of(library_text which) {
    if (which != library_text::interp) return {};
    return R"(struct point_of_pieces { double place, value; };
#ifdef __CUDA_ARCH__
__device__ inline long long last_point() { return -1; }
__device__ inline void keep_point(long long) {}
/// A point is read as a vector.
__device__ __forceinline__ point_of_pieces read_point(const double* from) {
    uint4 words[1] = {__ldg(reinterpret_cast<const uint4*>(from))};
    return reinterpret_cast<point_of_pieces&>(words);
}
#else
static inline point_of_pieces read_point(const double* p) { return {p[0], p[1]}; }
/// The point that this thread or another one found: any number is as right. Stacks lie apart, so that threads seldom
/// share one; a thread_local variable in a loaded library is a call for each element.
static inline long long* kept_point() {
    alignas(64) static long long found[64][8];
    const unsigned long long stack = (unsigned long long)__builtin_frame_address(0);
    return found[(stack >> 20 ^ stack >> 23) % 64];
}
static inline long long last_point() { return __atomic_load_n(kept_point(), __ATOMIC_RELAXED); }
static inline void keep_point(long long j) { __atomic_store_n(kept_point(), j, __ATOMIC_RELAXED); }
#endif)";
}

text_function function_of(const codegen::user_text& t) {
    if (t.reduces() || t.outputs.size() != 1) return nullptr;
    for (std::size_t k = 0; k <= static_cast<std::size_t>(library_text::interp); ++k) {
        const auto which = static_cast<library_text>(k);
        if (t.parts[0] != statements_of(which)) continue;
        text_function found = nullptr;
        interpreter::with_type(t.types.empty() ? dtype::f8 : t.types[0].second,
                               [&](auto zero) { found = function_in<decltype(zero)>(which); });
        return found;
    }
    return nullptr;
}

}  // namespace ingot::runtime
