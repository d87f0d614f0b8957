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

/// The layout of a step's results of this shape: centred in the whole array. Throws shape_error where they cannot be,
/// or n is negative.
INGOT_API layout inside(index_t n, const layout& whole, extents_ref part);
/// Counts the thread's evaluations and its reads from arrays.
INGOT_API std::uint64_t work_of_thread() noexcept;
/// How many steps of this tree, which reads `from` and writes that part of the array, one kernel would do; at least 1.
INGOT_API index_t steps_together(const tree&, destination from, const layout& part);
/// Whether tree `a` over the array `from` is the same step as `b` over `to`.
INGOT_API bool is_same_step(const tree& a, const buffer* from, const tree& b, const buffer* to);
/// Un-shares an array of which `part` will be written; elements around that are copied.
INGOT_API void make_unique_around(destination, const layout& part);
/// Writes the part of `to` after this many steps, the first of which is the tree. `own`: references to its buffer that
/// end with the steps.
INGOT_API void assign_steps(const tree&, destination from, destination to, const layout& part, index_t steps,
                            std::uint32_t own);

/// The loop of iterate. Each call of the step makes a tree over the array that the steps before it have written. Where
/// one kernel can do several steps, the trees of the next ones are made ahead, over the array to be written: trees
/// equal to the first are done in its kernel, and a different one begins the next kernel. This needs steps without
/// state: a step with state may count its calls, and read the array at some of them.
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
    /// Throws shape_error where n is negative.
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
    /// The step's tree. A tree that uses values computed or read meanwhile, or that leaves references to the array
    /// elsewhere, is no pattern for later steps.
    node take(int k) {
        const destination whole = of(k);
        const std::uint64_t work = work_of_thread();
        const std::uint32_t before = whole.memory.use_count();
        node made = as_node(step_(std::as_const(arrays_[k])));
        if (work_of_thread() != work || whole.memory.use_count() != before + made.count(whole.memory.get())) most_ = 1;
        return made;
    }

    /// Does some of the remaining steps; returns how many.
    index_t advance(index_t left) {
        if (!first_) first_.emplace(take(from_));
        const node first = *std::exchange(first_, std::nullopt);
        const gathered<T, node> tree(first);
        const destination from = of(from_);
        const layout part = inside(left, from.where, detail::tree(tree).shape);
        if (part_ && !same_shape(*part_, part)) arrays_[1 - from_] = arrays_[from_];  // the border of all steps
        part_ = part;
        const destination to = of(1 - from_);
        index_t steps = 1;
        if (left > 1 && most_ != 1) most_ = steps_together(tree, from, part);  // steps of this tree
        if (left > 1 && most_ > 1) {
            make_unique_around(to, part);
            while (steps < left && steps < most_) {
                first_.emplace(take(1 - from_));
                if (most_ == 1 || !is_same_step(tree, from.memory.get(), gather_as<T>(*first_), to.memory.get())) break;
                first_.reset();
                ++steps;
            }
            // A step that was called on an array not yet written is called again.
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
    index_t most_ = has_state;    // steps of a kernel; once 1, it stays 1
    std::optional<layout> part_;  // of the previous step
    std::optional<node> first_;   // of the next kernel, if already made
};

}  // namespace detail

/// x after n steps, each the expression step(x), as an array of x's dtype. A step's result has x's shape, or is smaller
/// by an even number along each axis: then it replaces the inside, and the border stays. The result has the bits of a
/// loop of statements; two arrays alternate, and none is copied. On a GPU up to four steps of a stencil in two
/// dimensions are one kernel where step is a function or a lambda that captures nothing, as long as it gives the same
/// expression of the array: expressions of later steps are made before the array has been written. Throws shape_error
/// where n is negative or the result has another shape, and what the statements throw.
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
