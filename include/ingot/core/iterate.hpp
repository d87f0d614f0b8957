// iterate(n, x, step): a stencil, or any other step, applied over and over.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include <ingot/core/array.hpp>
#include <ingot/core/array_indexing.hpp>

namespace ingot {
namespace detail {

/// Where in an array the step's results of this shape lie: as far from one end as from the other. Throws shape_error
/// where they do not, or n is negative.
INGOT_API layout inside(index_t n, const layout& whole, extents_ref part);
/// Counts what the thread has had computed, and read from arrays.
INGOT_API std::uint64_t work_of_thread() noexcept;
/// How many steps of this tree, which reads `from` and becomes the part of it, one kernel would do; 1 at least.
INGOT_API index_t steps_together(const tree&, destination from, const layout& part);
/// Whether one tree is of one array what the other is of the other.
INGOT_API bool is_same_step(const tree& a, const buffer* from, const tree& b, const buffer* to);
/// Un-shares an array of which `part` is to be written: around that it has its elements.
INGOT_API void make_unique_around(destination, const layout& part);
/// Writes the part of `to` after so many steps, the first of which is the tree. `own`: references to its buffer that
/// end with the steps.
INGOT_API void assign_steps(const tree&, destination from, destination to, const layout& part, index_t steps,
                            std::uint32_t own);

/// The loop of iterate. Each call of the step makes one of n trees, over the array that the steps before it have
/// written. Where a kernel can do several, the trees of the next ones are made ahead, over the array that will be
/// written: as long as they are the first one's they are done with it, and one that is another begins the next kernel.
/// That is for steps without a state of their own: one that has may count its calls, and look at the array at some.
template <class T, class F>
class iteration {
    using node = std::remove_cvref_t<decltype(as_node(std::declval<F&>()(std::declval<const array<T>&>())))>;
    static constexpr bool has_state = !std::is_empty_v<F> && !std::is_function_v<F>;

public:
    iteration(const array<T>& x, F& step) : step_(step), arrays_{x, x} {}

    array<T> run(index_t n) && {
        for (index_t left = n; left > 0; from_ = 1 - from_) left -= advance(left);
        return std::move(arrays_[from_]);
    }
    /// Throws where n is negative.
    void check(index_t n) {
        first_.emplace(take(from_));
        shape_room room;
        (void)inside(n, of(from_).where, first_->extents(room));
    }

private:
    destination of(int k) {
        leaf<T>& whole = access::target(arrays_[k]);
        return {dtype_of<T>, whole.memory(), whole.where()};
    }
    /// The step's tree. One that is not made of the array alone, but of values that were computed or read meanwhile, or
    /// that leaves references to the array elsewhere, is no pattern for others.
    node take(int k) {
        const destination whole = of(k);
        const std::uint64_t work = work_of_thread();
        const std::uint32_t before = whole.memory.use_count();
        node made = as_node(step_(std::as_const(arrays_[k])));
        if (work_of_thread() != work || whole.memory.use_count() != before + made.count(whole.memory.get())) most_ = 1;
        return made;
    }

    /// Does some of the steps that are left; returns how many.
    index_t advance(index_t left) {
        if (!first_) first_.emplace(take(from_));
        const node first = *std::exchange(first_, std::nullopt);
        const gathered<T, node> tree(first);
        const destination from = of(from_);
        const layout part = inside(left, from.where, detail::tree(tree).shape);
        if (part_ && !same_shape(*part_, part)) arrays_[1 - from_] = arrays_[from_];  // the border is that of all steps
        part_ = part;
        const destination to = of(1 - from_);
        index_t steps = 1;
        if (left > 1 && most_ != 1) most_ = steps_together(tree, from, part);  // of this tree
        if (left > 1 && most_ > 1) {
            make_unique_around(to, part);
            while (steps < left && steps < most_) {
                first_.emplace(take(1 - from_));
                if (most_ == 1 || !is_same_step(tree, from.memory.get(), gather_as<T>(*first_), to.memory.get())) break;
                first_.reset();
                ++steps;
            }
            // A step that saw an array which is not written yet is asked again.
            if (most_ == 1) first_.reset();
        }
        const buffer* const written = to.memory.get();
        assign_steps(tree, from, to, part, steps, 1 + first.count(written) + (first_ ? first_->count(written) : 0));
        if (to.memory.get() != written) first_.reset();
        return steps;
    }

    F& step_;
    array<T> arrays_[2];
    int from_ = 0;
    index_t most_ = has_state;    // steps of a kernel; 1 is never another number again
    std::optional<layout> part_;  // of the step before
    std::optional<node> first_;   // of the next kernel, where it is there already
};

}  // namespace detail

/// x after n steps, each the expression that step(x) gives, an array of x's dtype. A step's result has x's shape, or is
/// smaller, by an even number along each axis: it is the inside then, and the border stays as it is. The result has the
/// bits of the loop of statements; two arrays take turns, and none is copied. On a GPU up to four steps of a stencil in
/// two dimensions are one kernel where step is a function or a lambda that captures nothing, as long as it gives the
/// same expression of the array: the expressions of the following steps are made before it has been written. Throws
/// shape_error where n is negative or the result has another shape, and what the statements throw.
///
///     const slice low(0, -2), high(2, none);
///     array<double> rod{8, 0, 0, 0, 8};
///     std::cout << iterate(3, rod, [&](const auto& u) { return 0.5 * (u(low) + u(high)); });
///     // prints: [8. 6. 4. 6. 8.]
template <class T, class F>
    requires array_expression<std::invoke_result_t<F&, const array<T>&>>
array<T> iterate(index_t n, const array<T>& x, F&& step) {
    if (n == 0) return x;
    detail::iteration<T, std::remove_reference_t<F>> loop(x, step);
    loop.check(n);
    return std::move(loop).run(n);
}

}  // namespace ingot
