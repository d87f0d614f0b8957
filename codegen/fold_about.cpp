// Moments and exponential sums as CUDA text.
#include "codegen/fold_about.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

/// The mean is kept as what it is off some element: a large one costs no digits. A thread sums what elements are off
/// the mean of the first few that it met. That costs no digits either: as those few are among them, the squares off the
/// mean are no less than so many times the square of what it is off theirs.
constexpr std::string_view moments =
    R"(/// How many elements, their mean (off one of them), and the squares of what each is off it.
template <class type>
struct moments {
    type count, near, mean, squares;
};

/// Shares of counts: an ulp more or less is nothing beside what was rounded before.
__device__ __forceinline__ float share_of(float a, float b) { return __fdividef(a, b); }
__device__ __forceinline__ double share_of(double a, double b) {
    double r = __frcp_rn(float(b));
    r += r * (1 - b * r);
    r += r * (1 - b * r);
    return a * r;
}

/// How many elements, the mean of the first few of them, and the sums of what each is off it and of its square.
template <class type>
struct sums_near {
    type count, near, sum, squares;
};

struct squares {
    template <class type>
    static __device__ __forceinline__ moments<type> join(moments<type> a, moments<type> b) {
        if (b.count == 0) return a;
        if (a.count == 0) return b;
        const type count = a.count + b.count, share = share_of(b.count, count), off = (b.near - a.near) + (b.mean - a.mean);
        return {count, a.near, a.mean + off * share, a.squares + b.squares + off * off * a.count * share};
    }
    /// Several at once, or what a group of lanes has: their mean, then the squares about it.
    template <class type, int n>
    static __device__ __forceinline__ moments<type> join_all(const moments<type> (&a)[n]) {
        type count = 0, near = 0, sum = 0, squares = 0, off[n];
#pragma unroll
        for (int i = 0; i < n; ++i) {
            near = count == 0 ? a[i].near : near;
            count += a[i].count;
        }
#pragma unroll
        for (int i = 0; i < n; ++i) {
            off[i] = (a[i].near - near) + a[i].mean;
            sum += a[i].count * off[i];
        }
        const type mean = count == 0 ? 0 : share_of(sum, count);
#pragma unroll
        for (int i = 0; i < n; ++i) squares += a[i].squares + a[i].count * (off[i] - mean) * (off[i] - mean);
        return {count, near, mean, squares};
    }
    template <int lanes, class type>
    static __device__ __forceinline__ moments<type> join_lanes(moments<type> a) {
        const unsigned int first = threadIdx.x & 31 & ~(lanes - 1);
        const unsigned int there = __ballot_sync(~0u, a.count != 0) >> first & ~0u >> 32 - lanes;
        const type near = __shfl_sync(~0u, a.near, first + (there == 0 ? 0 : __ffs(there) - 1));
        const type off = (a.near - near) + a.mean;
        type count = a.count, sum = a.count * off;
#pragma unroll
        for (int far = lanes / 2; far > 0; far >>= 1) {
            count += __shfl_xor_sync(~0u, count, far);
            sum += __shfl_xor_sync(~0u, sum, far);
        }
        const type mean = count == 0 ? 0 : share_of(sum, count);
        type squares = a.squares + a.count * (off - mean) * (off - mean);
#pragma unroll
        for (int far = lanes / 2; far > 0; far >>= 1) squares += __shfl_xor_sync(~0u, squares, far);
        return {count, near, mean, squares};
    }
    template <class type, int n>
    static __device__ __forceinline__ sums_near<type> with(sums_near<type> a, const type (&v)[n],
                                                           unsigned int present = n) {
        constexpr unsigned int few = n < 4 ? n : 4;
        type sum = 0, squares = 0;
        if (a.count == 0) {
#pragma unroll
            for (unsigned int i = 1; i < few; ++i) sum += i < present ? v[i] - v[0] : 0;
            a.near = v[0] + share_of(sum, type(min(present, few)));
            sum = 0;
        }
#pragma unroll
        for (unsigned int i = 0; i < n; ++i) {
            const type off = i < present ? v[i] - a.near : 0;
            sum += off;
            squares += off * off;
        }
        return {a.count + present, a.near, a.sum + sum, a.squares + squares};
    }
    template <class type>
    static __device__ __forceinline__ moments<type> of_part(sums_near<type> a) {
        if (a.count == 0) return {0, 0, 0, 0};
        const type mean = share_of(a.sum, a.count), squares = a.squares - a.sum * mean;
        return {a.count, a.near, mean, squares < 0 ? 0 : squares};
    }
    template <class type>
    static __device__ __forceinline__ type about(moments<type> a, type c) {
        const type off = a.near - c + a.mean;
        return a.squares + a.count * off * off;
    }
    /// About the sum of all divided by n.
    template <class type>
    static __device__ __forceinline__ type about_share(moments<type> a, type n) {
        if (a.count == n) return a.squares;
        const type off = (a.near + a.mean) * (1 - a.count / n);
        return a.squares + a.count * off * off;
    }
};
)";

/// `top` is finite whatever the elements, so that infinities and NaN come out as they do of exp(x - c). No exponent is
/// positive, and what is far below the greatest element counts nothing, so a quick exponential does: the exact one is
/// for infinities and NaN, and for c.
constexpr std::string_view exponential_sums = R"(template <class type>
__device__ type exponential(type x);
template <class type>
__device__ type weight(type x, bool& rare);
template <class type>
__device__ constexpr type largest();
__device__ __forceinline__ float higher(float a, float b) { return fmaxf(a, b); }
__device__ __forceinline__ double higher(double a, double b) { return b > a ? b : a; }

/// The greatest element, and the sum of exp(x - top).
template <class type>
struct exponential_sum {
    type top, sum;
};

struct exponentials {
    template <class type>
    static __device__ __forceinline__ exponential_sum<type> join(exponential_sum<type> a, exponential_sum<type> b) {
        bool rare = false;
        const bool above = a.top > b.top;
        const type less = weight(above ? b.top - a.top : a.top - b.top, rare);
        return {above ? a.top : b.top, above ? a.sum + b.sum * less : b.sum + a.sum * less};
    }
    template <class type, int n>
    static __device__ __forceinline__ exponential_sum<type> with(exponential_sum<type> a, const type (&v)[n],
                                                                 unsigned int present = n) {
        type top = a.top;
#pragma unroll
        for (unsigned int i = 0; i < n; ++i) top = i < present ? higher(top, v[i]) : top;
        top = top < largest<type>() ? top : largest<type>();
        bool rare = false;
        type sum = a.sum * weight(a.top - top, rare);
#pragma unroll
        for (unsigned int i = 0; i < n; ++i) sum += i < present ? weight(v[i] - top, rare) : 0;
        if (rare) {
            sum = a.sum * exponential(a.top - top);
#pragma unroll
            for (unsigned int i = 0; i < n; ++i) sum += i < present ? exponential(v[i] - top) : 0;
        }
        return {top, sum};
    }
    template <class type>
    static __device__ __forceinline__ type about(exponential_sum<type> a, type c) {
        return a.sum * exponential(a.top - c);
    }
    /// NaN where an element is; of infinities alone the sum tells.
    template <class type>
    static __device__ __forceinline__ type greatest(exponential_sum<type> a) {
        return a.sum > 0 && a.sum <= largest<type>() ? a.top : a.sum == 0 ? a.top + a.top : a.sum;
    }
};
)";

std::string largest(dtype t) { return t == dtype::f4 ? "3.402823466e+38f" : "1.7976931348623157e+308"; }

}  // namespace

std::string spell_about_fold(fold f, dtype t, prelude& needs) {
    const std::string type = needs.type(t);
    if (f == fold::squares) {
        needs.add("moments", moments);
        return "squares";
    }
    needs.add("exponential_sum", exponential_sums);
    node n;
    n.kind = node_kind::map;
    n.type = t;
    n.code = static_cast<std::uint16_t>(op::exp);
    n.arity = 1;
    const std::string value = spell_map(n, {t}, {"x"}, needs);
    std::string quick = "    return exp2_of_weight(x * 1.44269502f);\n";
    if (t == dtype::f8) {
        needs.use_quick(true);
        quick = "    bool far = false;\n    const double y = " + spell_map(n, {t}, {"x"}, needs);
        needs.use_quick(false);
        quick.replace(quick.rfind("rare"), 4, "far");
        quick += ";\n    rare |= far && !(x < 0);\n    return far && x < 0 ? 0 : y;\n";
    } else {
        needs.add("exp2_of_weight",
                  "/// The instruction: what it flushes is nothing beside a sum of at least 1.\n"
                  "__device__ __forceinline__ float exp2_of_weight(float x) {\n    float y;\n"
                  "    asm(\"ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x));\n    return y;\n}\n");
    }
    needs.add("exponential " + type, "template <>\n__device__ __forceinline__ " + type + " exponential(" + type +
                                         " x) {\n    return " + value +
                                         ";\n}\ntemplate <>\n__device__ __forceinline__ " + type + " weight(" + type +
                                         " x, bool& rare) {\n" + quick + "}\ntemplate <>\n__device__ constexpr " +
                                         type + " largest() {\n    return " + largest(t) + ";\n}\n");
    return "exponentials";
}

std::string spell_about_part(fold f, dtype t, prelude& needs) {
    spell_about_fold(f, t, needs);
    return (f == fold::squares ? "moments<" : "exponential_sum<") + needs.type(t) + '>';
}

std::string spell_about_sums(dtype t, prelude& needs) {
    spell_about_fold(fold::squares, t, needs);
    return "sums_near<" + needs.type(t) + '>';
}

std::string spell_about_start(fold f, dtype t, prelude& needs) {
    return spell_about_part(f, t, needs) + (f == fold::squares ? "{0, 0, 0, 0}" : "{-" + largest(t) + ", 0}");
}

const std::vector<std::string>& about_members(fold f) {
    static const std::vector<std::string> of_squares{".count", ".near", ".mean", ".squares"},
        of_exponentials{".top", ".sum"};
    return f == fold::squares ? of_squares : of_exponentials;
}

}  // namespace ingot::codegen
