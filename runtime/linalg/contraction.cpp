// Plans a contraction, and builds it as a library's product of matrices or as a fold.
#include <ingot/linalg/contraction.hpp>

#include <algorithm>
#include <span>

#include <ingot/core/library_nodes.hpp>

#include "runtime/functions/every_dtype.hpp"

namespace ingot::detail {

namespace {

bool has(const axis_labels& labels, int label) {
    return std::find(labels.begin(), labels.end(), label) != labels.end();
}
index_t position_of(const axis_labels& labels, int label) {
    return std::find(labels.begin(), labels.end(), label) - labels.begin();
}

/// The axes of `given` with the labels in `wanted`, in its order, and the positions of labels that `given` lacks.
void arrange(const axis_labels& given, const axis_labels& wanted, std::vector<index_t>& order,
             std::vector<index_t>& missing) {
    for (std::size_t i = 0; i < wanted.size(); ++i)
        if (has(given, wanted[i]))
            order.push_back(position_of(given, wanted[i]));
        else
            missing.push_back(static_cast<index_t>(i));
}

struct labelled {
    std::span<const index_t> shape;
    const axis_labels& labels;
    index_t extent(int label) const { return shape[static_cast<std::size_t>(position_of(labels, label))]; }
    index_t extent(const axis_labels& all_labels) const {
        index_t n = 1;
        for (const int label : all_labels) n *= extent(label);
        return n;
    }
};

/// The roles of two operands' axes in a contraction, and the arrangement of each operand for it.
struct contraction_plan {
    std::vector<index_t> summed_before[2];  // axes of only one operand that are not in the result
    bool by_library;
    bool sums;                             // whether both have axes that are summed over
    std::vector<index_t> order[2];         // order of the remaining axes
    std::vector<index_t> new_axes[2];      // positions of new axes of extent 1; for a fold only
    std::vector<index_t> shape[2], split;  // for the library: shapes as matrices, and the axes of its result
    std::vector<index_t> over;             // for a fold: the summed axes, counted from the end
    std::vector<index_t> arranged;         // order of the result's axes; for the library only
};

/// Labels of the result are labels of operands, each once; shared labels have equal extents.
contraction_plan plan_contraction(std::span<const index_t> a, const axis_labels& of_a, std::span<const index_t> b,
                                  const axis_labels& of_b, const axis_labels& result, bool library_has_type) {
    contraction_plan plan;
    const labelled operands[] = {{a, of_a}, {b, of_b}};
    axis_labels batch, summed, free[2], left[2];
    for (const int label : of_a)
        if (has(of_b, label)) (has(result, label) ? batch : summed).push_back(label);
    for (std::size_t i = 0; i < 2; ++i) {
        const axis_labels &own = operands[i].labels, &other = operands[1 - i].labels;
        for (const int label : own) {
            const bool kept = has(result, label) || has(other, label);
            if (kept) left[i].push_back(label);
            if (!kept) plan.summed_before[i].push_back(position_of(own, label));
            if (kept && !has(other, label)) free[i].push_back(label);
        }
    }
    plan.sums = !summed.empty();
    const index_t rows = operands[0].extent(free[0]), columns = operands[1].extent(free[1]);
    const index_t inner = operands[0].extent(summed);
    plan.by_library = library_has_type && plan.sums && !product_is_fold(rows, inner, columns);
    const auto joined = [](axis_labels first, const axis_labels& second) {
        first.insert(first.end(), second.begin(), second.end());
        return first;
    };
    if (!plan.by_library) {
        const axis_labels joint = joined(result, summed);
        for (std::size_t i = 0; i < 2; ++i) arrange(left[i], joint, plan.order[i], plan.new_axes[i]);
        for (std::size_t i = 1; i <= summed.size(); ++i) plan.over.push_back(-static_cast<index_t>(i));
        return plan;
    }
    const axis_labels made = joined(joined(batch, free[0]), free[1]);
    arrange(left[0], joined(joined(batch, free[0]), summed), plan.order[0], plan.new_axes[0]);
    arrange(left[1], joined(joined(batch, summed), free[1]), plan.order[1], plan.new_axes[1]);
    for (const int label : batch) {
        const index_t extent = operands[0].extent(label);
        for (std::vector<index_t>* shape : {&plan.shape[0], &plan.shape[1], &plan.split}) shape->push_back(extent);
    }
    plan.shape[0].insert(plan.shape[0].end(), {rows, inner});
    plan.shape[1].insert(plan.shape[1].end(), {inner, columns});
    for (std::size_t i = 0; i < 2; ++i)
        for (const int label : free[i]) plan.split.push_back(operands[i].extent(label));
    std::vector<index_t> missing;
    arrange(made, result, plan.arranged, missing);
    return plan;
}

}  // namespace

template <class T>
lazy<T> contract(const char* operation, lazy<T> a, const axis_labels& of_a, lazy<T> b, const axis_labels& of_b,
                 const axis_labels& result) {
    constexpr bool library_has_type = kind_of(dtype_of<T>) >= kind::floating;
    const contraction_plan plan =
        plan_contraction(a.shape().values(), of_a, b.shape().values(), of_b, result, library_has_type);
    lazy<T>* const operands[] = {&a, &b};
    for (std::size_t i = 0; i < 2; ++i) {
        lazy<T>& e = *operands[i];
        if (!plan.summed_before[i].empty()) e = sum_in_type<T>(operation, e, axes(plan.summed_before[i]));
        e = permute_dims(e, axes(plan.order[i]));
        if (plan.by_library)
            e = reshaped(operation, e, plan.shape[i]);
        else
            e = expand_dims(e, axes(plan.new_axes[i]));
    }
    if constexpr (library_has_type)
        if (plan.by_library) {
            const lazy<T> product = call_library<library_function::matrix_product, T>(operation, a, b);
            return permute_dims(lazy<T>(reshaped(operation, product, plan.split)), axes(plan.arranged));
        }
    return plan.sums ? sum_of_products<T>(operation, a, b, axes(plan.over)) : lazy<T>(a * b);
}

#define INGOT_CONTRACT(T)                                                                            \
    template lazy<T> contract(const char*, lazy<T>, const axis_labels&, lazy<T>, const axis_labels&, \
                              const axis_labels&);
INGOT_FOR_EVERY_DTYPE(INGOT_CONTRACT)
#undef INGOT_CONTRACT

}  // namespace ingot::detail
