// The folds of reductions and scans, one element at a time. Results depend only on the order of the elements.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <type_traits>

#include <ingot/core/folds.hpp>

namespace ingot::runtime::folds {

template <class T>
constexpr T wrapping_add(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
        return a + b;
    else
        return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

template <class T>
constexpr T wrapping_multiply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
        return a * b;
    else
        return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

struct sum {
    template <class T>
    static constexpr T identity = T(0);
    template <class T>
    static T join(T a, T b) {
        return wrapping_add(a, b);
    }
};
struct prod {
    template <class T>
    static constexpr T identity = T(1);
    template <class T>
    static T join(T a, T b) {
        return wrapping_multiply(a, b);
    }
};
/// The first NaN wins, else the least element.
struct min {
    template <class T>
    static constexpr T identity =
        std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
    template <class T>
    static T join(T a, T b) {
        return a <= b || a != a ? a : b;
    }
};
struct max {
    template <class T>
    static constexpr T identity =
        std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
    template <class T>
    static T join(T a, T b) {
        return a >= b || a != a ? a : b;
    }
};
/// The value of a fold of no elements.
template <class T>
constexpr T identity_of(detail::fold_start start) {
    if (start == detail::fold_start::zero) return T(0);
    if (start == detail::fold_start::one) return T(1);
    return start == detail::fold_start::least ? max::identity<T> : min::identity<T>;
}

/// Joins logarithms: log(exp(a) + exp(b)).
struct logaddexp {
    template <class T>
    static T join(T a, T b) {
        if constexpr (std::is_floating_point_v<T>) {
            const T high = a > b ? a : b, low = a > b ? b : a;
            return a == b ? a + static_cast<T>(std::numbers::ln2) : high + std::log1p(std::exp(low - high));
        } else {
            return a;  // logarithms have floating dtypes only
        }
    }
};

/// Joins elements in a tree whose shape depends only on their number: runs of 64 from the left, then runs pairwise.
template <class Fold, class T>
class tree {
public:
    using result = T;
    void add(T x) {
        run_ = in_run_ == 0 ? x : Fold::template join<T>(run_, x);
        if (++in_run_ < 64) return;
        carry(run_);
        in_run_ = 0;
    }
    T finish() {
        bool any = in_run_ > 0;
        T total = any ? run_ : Fold::template identity<T>;
        for (int level = 0; runs_ >> level != 0; ++level) {
            if ((runs_ >> level & 1) == 0) continue;
            total = any ? Fold::template join<T>(levels_[level], total) : levels_[level];
            any = true;
        }
        runs_ = 0;
        in_run_ = 0;
        return total;
    }

private:
    void carry(T x) {
        int level = 0;
        for (; runs_ >> level & 1; ++level) x = Fold::template join<T>(levels_[level], x);
        levels_[level] = x;
        ++runs_;
    }

    T run_{};
    int in_run_ = 0;
    std::uint64_t runs_ = 0;  // bit k: levels_[k] holds 2^k runs
    T levels_[58]{};
};

/// The index of the first NaN, or of the first extreme element.
template <class Fold, class T>
class arg_reduction {
public:
    using result = std::int64_t;
    void add(T x) {
        if (seen_ == 0 || (best_ == best_ && Fold::template join<T>(best_, x) != best_)) {
            best_ = x;
            at_ = seen_;
        }
        ++seen_;
    }
    std::int64_t finish() {
        seen_ = 0;
        return at_;
    }

private:
    T best_{};
    std::int64_t at_ = 0, seen_ = 0;
};

/// Counts the true elements, for all, any and count_nonzero.
template <class T>
class truths {
public:
    void add(T x) {
        true_ += x != T(0);
        ++seen_;
    }

protected:
    std::int64_t true_ = 0, seen_ = 0;
    void reset() { true_ = seen_ = 0; }
};
template <class T>
struct all : truths<T> {
    using result = bool;
    bool finish() {
        const bool r = this->true_ == this->seen_;
        this->reset();
        return r;
    }
};
template <class T>
struct any : truths<T> {
    using result = bool;
    bool finish() {
        const bool r = this->true_ != 0;
        this->reset();
        return r;
    }
};
template <class T>
struct count_nonzero : truths<T> {
    using result = std::int64_t;
    std::int64_t finish() {
        const std::int64_t r = this->true_;
        this->reset();
        return r;
    }
};

}  // namespace ingot::runtime::folds
