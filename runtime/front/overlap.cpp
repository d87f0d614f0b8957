// A common byte is a solution of  sum(step[k] * x[k]) = distance,  0 <= x[k] <= most[k].  The terms are the axes of
// both views (the second view's walked from its far end) and the bytes within an element. The search fixes the largest
// step first: the reach of the smaller steps leaves few values for it.
#include "runtime/front/overlap.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <tuple>
#include <utility>

namespace ingot::runtime {

using detail::index_t;
using detail::layout;

namespace {

constexpr index_t ceiling_of(index_t a, index_t b) { return a <= 0 ? 0 : (a + b - 1) / b; }

/// a * b modulo m, for a and b below m.
index_t product_modulo(index_t a, index_t b, index_t m) {
    __extension__ using wide = __int128;
    return static_cast<index_t>(static_cast<wide>(a) * b % m);
}

/// The inverse of `a` modulo m; the two have no common divisor.
index_t inverse_modulo(index_t a, index_t m) {
    index_t r = m, next_r = a % m, t = 0, next_t = 1;
    while (next_r != 0) {
        const index_t q = r / next_r;
        std::tie(r, next_r) = std::pair(next_r, r - q * next_r);
        std::tie(t, next_t) = std::pair(next_t, t - q * next_t);
    }
    return t < 0 ? t + m : t;
}

/// All sums of multiples of the steps, each step taken 0 to `most` times.
class bounded_sums {
public:
    void add(index_t step, index_t most) noexcept {
        if (step == 0 || most == 0) return;
        int k = count_;
        while (k > 0 && terms_[at(k - 1)].step < step) --k;
        if (k > 0 && terms_[at(k - 1)].step == step) {
            terms_[at(k - 1)].most += most;
            return;
        }
        std::move_backward(terms_.begin() + k, terms_.begin() + count_, terms_.begin() + count_ + 1);
        terms_[at(k)] = {step, most, 0, 0, false};
        ++count_;
    }
    /// Whether `wanted` is such a sum. The result is also true once `most_candidates` candidates were tried.
    bool may_reach(index_t wanted, int most_candidates) noexcept {
        for (int k = count_; k-- > 0;) {
            term& t = terms_[at(k)];
            const term rest = k + 1 < count_ ? terms_[at(k + 1)] : term{0, 0, 0, 0, true};
            t.reach = rest.reach + t.step * t.most;
            t.divisor = std::gcd(t.step, rest.divisor);
            t.gapless =
                rest.gapless && (rest.divisor == 0 || (t.divisor == rest.divisor && t.step <= rest.reach + t.divisor));
        }
        candidates_left_ = most_candidates;
        return count_ == 0 ? wanted == 0 : search(0, wanted);
    }

private:
    struct term {
        index_t step, most;
        // For this term and all behind it: the largest sum, the greatest common divisor, and whether every multiple of
        // the divisor up to the largest sum is one.
        index_t reach, divisor;
        bool gapless;
    };
    static std::size_t at(int k) { return static_cast<std::size_t>(k); }

    bool search(int k, index_t wanted) noexcept {
        const term& t = terms_[at(k)];
        if (wanted < 0 || wanted > t.reach || wanted % t.divisor != 0) return false;
        if (t.gapless) return true;
        const term& rest = terms_[at(k + 1)];  // exists: the last term has no gaps
        index_t x = ceiling_of(wanted - rest.reach, t.step);
        const index_t last = std::min(t.most, wanted / t.step);
        if (k + 2 == count_) {  // x is determined modulo the last step
            const index_t m = rest.step / t.divisor;
            const index_t right = product_modulo(wanted / t.divisor % m, inverse_modulo(t.step / t.divisor % m, m), m);
            const index_t ahead = (right - x % m + m) % m;
            return ahead <= last - x;
        }
        for (; x <= last; ++x) {
            if (--candidates_left_ < 0) return true;
            if (search(k + 1, wanted - x * t.step)) return true;
        }
        return false;
    }

    std::array<term, 2 * detail::max_rank + 1> terms_;
    int count_ = 0;
    int candidates_left_ = 0;
};

/// The lowest byte of all elements, and the distance from there to the highest element.
struct span_of_elements {
    std::uintptr_t low;
    index_t reach;  // of the highest element
};
span_of_elements span_of(const strided_view& v) {
    index_t low = 0, reach = 0;
    for (int j = 0; j < v.where.rank(); ++j) {
        const index_t far = v.where.strides()[j] * (v.where.shape()[j] - 1);
        low += std::min<index_t>(far, 0);
        reach += std::abs(far);
    }
    const auto each = static_cast<index_t>(v.each);
    return {v.first + static_cast<std::uintptr_t>(low * each), reach * each};
}

/// Whether each stride exceeds the reach of all smaller ones; then no two elements coincide.
bool are_distinct(const layout& l) {
    std::array<int, detail::max_rank> order;
    int count = 0;
    for (int j = 0; j < l.rank(); ++j) {
        if (l.shape()[j] == 1) continue;
        int k = count++;
        for (; k > 0 && std::abs(l.strides()[order[static_cast<std::size_t>(k - 1)]]) > std::abs(l.strides()[j]); --k)
            order[static_cast<std::size_t>(k)] = order[static_cast<std::size_t>(k - 1)];
        order[static_cast<std::size_t>(k)] = j;
    }
    index_t reach = 0;
    for (int k = 0; k < count; ++k) {
        const int j = order[static_cast<std::size_t>(k)];
        const index_t stride = std::abs(l.strides()[j]);
        if (stride <= reach) return false;
        reach += stride * (l.shape()[j] - 1);
    }
    return true;
}

}  // namespace

bool share_a_byte(const strided_view& a, const strided_view& b, int most_candidates) noexcept {
    const auto is_empty = [](const layout& l) { return std::ranges::find(l.extents(), 0) != l.extents().end(); };
    if (is_empty(a.where) || is_empty(b.where)) return false;
    const span_of_elements from = span_of(a), to = span_of(b);
    const auto a_bytes = static_cast<index_t>(a.each), b_bytes = static_cast<index_t>(b.each);
    const auto distance = static_cast<index_t>(to.low - from.low);
    if (distance >= from.reach + a_bytes || -distance >= to.reach + b_bytes) return false;

    // Where both have one element size and lie a multiple of it apart, the unit is an element, else a byte.
    const index_t unit = a_bytes == b_bytes && distance % a_bytes == 0 ? a_bytes : 1;
    bounded_sums steps;
    for (const strided_view* v : {&a, &b})
        for (int j = 0; j < v->where.rank(); ++j)
            steps.add(std::abs(v->where.strides()[j]) * (static_cast<index_t>(v->each) / unit),
                      v->where.shape()[j] - 1);
    const index_t within = (unit == 1 ? a_bytes + b_bytes - 2 : 0);
    steps.add(1, within);
    const index_t last_byte = unit == 1 ? b_bytes - 1 : 0;
    return steps.may_reach((distance + to.reach) / unit + last_byte, most_candidates);
}

bool are_same_elements(const strided_view& to, const strided_view& from) noexcept {
    if (to.first != from.first || to.each != from.each) return false;
    const layout &t = to.where, &f = from.where;
    const int lead = t.rank() - f.rank();
    for (int j = std::min(0, lead); j < t.rank(); ++j) {
        const index_t extent = j < 0 ? 1 : t.shape()[j], own = j < lead ? 1 : f.shape()[j - lead];
        if (extent != own) return false;
        if (extent != 1 && t.strides()[j] != f.strides()[j - lead]) return false;
    }
    return are_distinct(t);
}

}  // namespace ingot::runtime
