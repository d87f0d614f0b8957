// Stage 3 of classification: the operands and outputs of library functions, and how they lie in memory for these.
#include <algorithm>
#include <limits>

#include "runtime/front/class_stages.hpp"
#include "runtime/linalg/matrix_product.hpp"

namespace ingot::runtime {

using detail::library_facts;
using detail::word;
using detail::word_kind;

namespace {

/// Most calls that a batch may need. Beyond that, arrays are copied first.
constexpr index_t few_calls = 16;

/// How many calls a batch needs when each call follows one stride.
index_t most_calls_of_lattice(std::size_t i, const library_use& use, const collapsed_axes& axes) {
    const index_t* strides = axes.strides_of(i);
    index_t all = 1, longest = 1, run = 1, outer = 0;
    for (std::size_t a = 0; a < axes.extents.size(); ++a) {
        const index_t extent = axes.extents[a], stride = strides[a];
        if (axes.owners[a] == use.owner || stride == 0 || extent == 1) continue;
        if (stride < 0) return std::numeric_limits<index_t>::max();
        run = outer == stride * extent ? run * extent : extent;
        outer = stride;
        all *= extent;
        longest = std::max(longest, run);
    }
    return longest == 0 ? 1 : all / longest;
}

}  // namespace

bool changes_no_value(const statement& s, std::size_t at, std::size_t binders) {
    const word w = s.program[at];
    switch (detail::kind_of_word(w)) {
        case word_kind::unravel:
            return s.attributes[binders] == 0;
        case word_kind::map:
            return detail::op_of_word(w) == detail::op::astype &&
                   detail::kind_of_word(s.program[at - 1]) != word_kind::scalar &&
                   detail::dtype_of_word(s.program[at - 1]) == detail::dtype_of_word(w);
        default:
            return false;
    }
}

void library_operands::find_uses(const statement& s) {
    constexpr int no_leaf = -1;
    uses.assign(s.operands.size(), {});
    struct root {
        int pick = no_leaf;   // set where a value is a library's result, or the sum of a product and an array
        bool biased = false;  // set for such a sum
    };
    std::vector<root> roots;
    std::vector<int> values, of_word;  // the operand of a value that is a leaf
    int next_operand = 0, binder = 0;
    for (std::size_t i = 0; i < s.program.size(); ++i) {
        const word w = s.program[i];
        const word_kind kind = detail::kind_of_word(w);
        int value = kind == word_kind::leaf ? next_operand : no_leaf;
        root now{kind == word_kind::library ? next_operand : no_leaf};
        if (kind == word_kind::reference) value = of_word[detail::code_of_word(w)];
        if (changes_no_value(s, i, static_cast<std::size_t>(binder))) value = values.back(), now = roots.back();
        const auto arity = static_cast<std::size_t>(detail::arity_of_word(w));
        if (detail::is_binder(kind)) ++binder;
        if (kind == word_kind::library) {
            const auto function = static_cast<detail::library_function>(detail::code_of_word(w));
            const library_facts& row = facts(function);
            const auto use = [&](int operand, std::uint8_t axes, bool picks) {
                uses[static_cast<std::size_t>(operand)] = {binder, static_cast<std::uint16_t>(function), axes, picks,
                                                           detail::dtype_of_word(w)};
            };
            for (std::size_t k = 0; k < arity; ++k)
                if (const int leaf = values[values.size() - arity + k]; leaf != no_leaf)
                    use(leaf, row.operands[k], false);
            use(next_operand, row.result, true);
        }
        if (kind == word_kind::map && static_cast<detail::op>(detail::code_of_word(w)) == detail::op::add)
            for (std::size_t k = 0; k < 2; ++k) {
                const root& product = roots[values.size() - 1 - k];
                const int bias = values[values.size() - 2 + k];
                if (product.pick == no_leaf || product.biased || bias == no_leaf) continue;
                const library_use& use = uses[static_cast<std::size_t>(product.pick)];
                if (static_cast<detail::library_function>(use.function) == detail::library_function::matrix_product &&
                    use.type == detail::dtype_of_word(w) && use.type == s.operands[static_cast<std::size_t>(bias)].type)
                    now = {product.pick, true};
            }
        roots.resize(values.size() - arity);
        roots.push_back(now);
        next_operand += detail::operands_of_word(w);
        values.resize(values.size() - arity);
        values.push_back(value);
        of_word.push_back(value);
    }
    for (const root& of : roots)
        outputs.push_back(
            {of.pick == no_leaf ? library_use{} : uses[static_cast<std::size_t>(of.pick)], of.pick, of.biased});
}

/// Whether cuBLAS adds a vector to each row of a product in the product's call. The call rounds the sum once. For
/// halves this needs a mode that allows more precision between two operations; for float32 it pays where tensor cores
/// multiply.
bool library_operands::adds_bias_in_call(std::size_t output, const collapsed_axes& axes, environment_class env) const {
    const library_use& use = outputs[output].use;
    const bool pays = detail::is_half(use.type) ? env.math != detail::math_mode::strict
                                                : use.type == dtype::f4 && env.math == detail::math_mode::tf32;
    // cuBLASLt is large, so it is opened last, when only its presence is left to test.
    return env.where == detail::target::cuda && pays && has_columns_of_product(output, axes) && has_cublas_lt();
}

/// Whether the output axis along the product's columns has exactly the columns' extent. A reshape that merges or splits
/// rows changes that extent.
bool library_operands::has_columns_of_product(std::size_t output, const collapsed_axes& axes) const {
    const library_use& use = outputs[output].use;
    const index_t* const pick = axes.strides_of(static_cast<std::size_t>(outputs[output].pick));
    const index_t columns = axes.extents[axes.of_owner(use.owner, use.axes).back()];
    for (std::size_t a = 0; a < axes.extents.size(); ++a)
        if (axes.owners[a] == 0 && pick[a] == 1 && axes.extents[a] != columns) return false;
    return true;
}

/// Whether an output's strides suit a function that writes a lattice (library_layout): any strides that are steps of
/// each other.
bool library_operands::writes_lattice(const statement& s, std::size_t output, const collapsed_axes& axes,
                                      const bound_axes& bound) const {
    const library_use& use = outputs[output].use;
    const library_facts& row = facts(static_cast<detail::library_function>(use.function));
    const bool of_reals = row.wants == detail::library_layout::consumed;
    if (!of_reals && row.wants != detail::library_layout::lattice) return false;
    const index_t *const pick = axes.strides_of(static_cast<std::size_t>(outputs[output].pick)),
                         *const out = axes.strides_of(s.operands.size() + output);
    std::vector<std::size_t> along;  // output axes of the function's own axes: one for each, or one for all
    index_t batch = 1, longest = 1;
    for (std::size_t a = 0; a < axes.extents.size(); ++a) {
        if (axes.owners[a] != 0) continue;
        const bool of_batch = axes.moves(bound.of(use.owner).below, a);
        if (of_batch == (pick[a] != 0)) return false;
        if (!of_batch) {
            along.push_back(a);
            continue;
        }
        if (out[a] <= 0) return false;
        batch *= axes.extents[a];
        longest = std::max(longest, axes.extents[a]);
    }
    const std::vector<std::size_t> own = axes.of_owner(use.owner, use.axes);
    const bool as_one = along.size() == 1;
    if ((!as_one && along.size() != own.size()) || longest == 0) return false;
    index_t inner = 1;
    for (std::size_t k = own.size(); k-- > 0; inner *= axes.extents[own[k]])
        if (!as_one && (axes.extents[along[k]] != axes.extents[own[k]] || pick[along[k]] != inner)) return false;
    if (as_one && (axes.extents[along[0]] != inner || pick[along[0]] != 1)) return false;
    if (!axes.is_lattice(along, out)) return false;
    const buffer_ref& memory = *s.outputs[output].memory;
    const std::uintptr_t address = memory ? address_of(*memory, *s.outputs[output].where, use.type) : 0;
    // Calls for parts of a batch would begin at addresses that are not aligned to pairs.
    const bool of_pairs = of_reals || row.takes == detail::library_operand::real_part;
    return batch / longest <= (of_pairs ? 1 : few_calls) && (!of_reals || address % vector_bytes == 0);
}

/// Whether an output is the whole of a library's result, and its elements lie in memory as the function writes them.
bool library_operands::writes(const statement& s, std::size_t output, const collapsed_axes& axes,
                              const value_shapes& shapes) const {
    const library_use& use = outputs[output].use;
    if (use.owner == 0 || use.type != s.outputs[output].type || !s.shapes.empty()) return false;
    const auto pick = static_cast<std::size_t>(outputs[output].pick);
    if (s.operands[pick].where->offset != 0) return false;
    if (writes_lattice(s, output, axes, shapes.bound)) return true;
    // A lattice function writes its axes in the key's order.
    const detail::library_layout wants = facts(static_cast<detail::library_function>(use.function)).wants;
    const bool is_ordered = wants == detail::library_layout::lattice || wants == detail::library_layout::consumed;
    index_t inner = 1, last = 0;
    for (const std::size_t a : axes.of_owner(use.owner, use.axes)) inner *= axes.extents[a];
    for (std::size_t a = axes.extents.size(); a-- > 0;) {
        const int owner = axes.owners[a];
        if (owner == use.owner) continue;
        if (owner != 0) continue;  // an axis that another binder binds in the operands
        index_t stride = axes.strides_of(pick)[a];
        if (axes.moves(shapes.bound.of(use.owner).below, a)) {
            stride += inner;
            inner *= axes.extents[a];
        }
        if (axes.strides_of(s.operands.size() + output)[a] != stride || (is_ordered && stride < last)) return false;
        last = stride;
    }
    return inner == shapes.size;
}

bool library_operands::suits(std::size_t i, const collapsed_axes& axes, std::uintptr_t address) const {
    const library_use& use = uses[i];
    const library_facts& row = facts(static_cast<detail::library_function>(use.function));
    if (row.wants == detail::library_layout::consumed) return false;
    if (row.wants == detail::library_layout::lattice) {
        // cuFFT reads real numbers in pairs. With several calls, some would begin at an address that is not aligned to
        // pairs.
        const bool in_pairs = row.takes == detail::library_operand::real_part;
        return axes.is_lattice(axes.of_owner(use.owner, use.axes), axes.strides_of(i)) &&
               most_calls_of_lattice(i, use, axes) <= (in_pairs ? 1 : few_calls) &&
               (!in_pairs || address % vector_bytes == 0);
    }
    const std::vector<std::size_t> own = axes.of_owner(use.owner, use.axes);
    const index_t* strides = axes.strides_of(i);
    const auto lies = [&](std::size_t a, index_t stride) { return axes.extents[a] == 1 || strides[a] == stride; };
    if (row.wants == detail::library_layout::contiguous) {
        index_t stride = 1;
        for (std::size_t k = own.size(); k-- > 0; stride *= axes.extents[own[k]])
            if (!lies(own[k], stride)) return false;
        return true;
    }
    const auto leads = [&](std::size_t outer, std::size_t inner) {
        return lies(inner, 1) && (axes.extents[outer] == 1 || strides[outer] >= axes.extents[inner]);
    };
    return leads(own[0], own[1]) || leads(own[1], own[0]);
}

/// Whether kernels read a library's result by whole vectors: the pick's offset, its strides and the matrix size are
/// multiples of a vector.
bool library_operands::is_vector(std::size_t pick, const collapsed_axes& axes, index_t offset) const {
    const library_use& use = uses[pick];
    const std::size_t bytes = detail::size_of(use.type);
    std::size_t matrix = bytes;
    for (const std::size_t a : axes.of_owner(use.owner, use.axes)) matrix *= static_cast<std::size_t>(axes.extents[a]);
    return matrix % vector_bytes == 0 &&
           axes.is_vector(pick, static_cast<std::uintptr_t>(offset) * bytes, bytes, vector_bytes);
}

/// The number of elements of the largest array that a library call reads or writes.
index_t library_operands::largest_array(int owner, const collapsed_axes& axes, const bound_axes& bound) const {
    index_t batch = 1;
    for (std::size_t a = 0; a < axes.extents.size(); ++a)
        if (axes.owners[a] != owner && axes.moves(bound.of(owner).below, a)) batch *= axes.extents[a];
    index_t largest = 0;
    for (const library_use& use : uses) {
        if (use.owner != owner) continue;
        const library_facts& row = facts(static_cast<detail::library_function>(use.function));
        for (const std::uint8_t mask : {row.operands[0], row.operands[1], row.result}) {
            index_t own = batch;
            for (const std::size_t a : axes.of_owner(owner, mask)) own *= axes.extents[a];
            largest = std::max(largest, own);
        }
    }
    return largest;
}

}  // namespace ingot::runtime
