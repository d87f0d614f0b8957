// Matrix products of operands in parts. Each rank multiplies what it has: its rows of the first operand, its columns of
// the second, or its share of the axis that both sum over; then the products are gathered and summed.
#include <algorithm>

#include <ingot/core/error.hpp>

#include "runtime/distributed/draft.hpp"
#include "runtime/trees/lazy.hpp"

namespace ingot::runtime {

using detail::word;
using detail::word_kind;

namespace {

/// An operand of a product over the product's own axes, rows and columns, those that the word binds, and those that
/// words within the operand bind. `batch`: the number of axes before these; `loops`: of all.
detail::layout over_product(const detail::layout& l, int batch, int loops) {
    detail::layout to(2 + loops - batch);
    to.offset = l.offset;
    for (int j = 0; j < to.rank(); ++j) to.shape()[j] = 1, to.strides()[j] = 0;
    for (int j = 0; j < l.rank(); ++j) {
        const int at = loops - l.rank() + j - batch;  // nothing moves along the batch's
        if (at < 0) continue;
        to.shape()[2 + at] = l.shape()[j];
        to.strides()[2 + at] = l.strides()[j];
    }
    return to;
}

/// Whether rows are split over one mesh axis and columns over another: then each rank computes its block of the product
/// from whole rows and whole columns, which the ranks of its row and of its column of the mesh give it.
bool keeps_grid(const loops& own, std::span<const int> bound, std::span<const operand> operands,
                std::span<const placement* const> placements) {
    int over_rows = -1, over_columns = -1;
    for (std::size_t i = 0; i + 1 < operands.size(); ++i) {
        if (placements[i] == nullptr || !has_axes(operands[i])) continue;
        if (const int over = own.split_along(bound[0], i, *placements[i], *operands[i].where); over >= 0)
            over_rows = over;
        if (const int over = own.split_along(bound[2], i, *placements[i], *operands[i].where); over >= 0)
            over_columns = over;
    }
    return over_rows >= 0 && over_columns >= 0 && over_rows != over_columns;
}

}  // namespace

bool take_product(statement_plan& plan, draft& d, const loops& outer, const found_value& value) {
    const auto program = d.program_of(value);
    const auto operands = d.operands_of(value);
    const auto placements = d.placements_of(value);
    const auto attributes = d.attributes_of(value);
    const auto in_parts = std::ranges::find_if(placements, [](const placement* p) { return p != nullptr; });
    if (in_parts == placements.end()) return false;

    const int rank_of_value = static_cast<int>(outer.of_word(value.word).size());
    loops own(program, operands, attributes, rank_of_value, true);
    const std::span<const int> bound = own.of_last();
    const bool is_over_grid = keeps_grid(own, bound, operands, placements);
    if (is_over_grid) own.keep_whole(bound[1]);
    own.follow_operands(operands, placements);
    own.follow_places(operands, placements);
    const auto loop_at = [&](std::size_t k) -> const loop& { return own.all()[static_cast<std::size_t>(bound[k])]; };
    const loop &rows = loop_at(0), &summed = loop_at(1), &columns = loop_at(2);
    if (rows.over < 0 && summed.over < 0 && columns.over < 0) return false;
    for (std::size_t i = 0; i + 1 < operands.size(); ++i) {
        if (!has_axes(operands[i])) continue;
        const detail::layout& l = *operands[i].where;
        for (int j = 0; j < l.rank(); ++j)
            if (const int at = loop_of(own.of(i), l.rank(), j); at >= 0 && at < rank_of_value && l.strides()[j] != 0)
                throw distributed_error(
                    "[distributed] a batch of products has no form where the matrices lie in parts; split the batch's "
                    "axis alone, by distributed::redistribute");
    }

    const std::shared_ptr<const rank_mesh>& mesh = (*in_parts)->mesh;
    const int rank = mesh->session->rank;
    planned_reduction step;
    step.type = detail::dtype_of_word(program.back());
    step.program.assign(program.begin(), program.end());
    step.attributes.assign(attributes.begin(), attributes.end());
    step.part = detail::contiguous_layout(
        std::vector<index_t>{own.range_of(bound[0], rank).size(), own.range_of(bound[2], rank).size()});
    step.count = step.part.size();
    step.operands = plan_operands(d, value.from.operands, operands.size(), own, is_over_grid);
    for (std::size_t i = 0; i < operands.size(); ++i) {
        planned_operand& o = step.operands[i];
        if (!has_axes(operands[i])) continue;
        const bool is_place = i + 1 == operands.size();  // of an element in the product
        o.where = is_place ? step.part
                           : over_product(o.has_layout ? o.where : *operands[i].where, rank_of_value,
                                          static_cast<int>(own.of(i).size()));
        o.has_layout = true;
    }
    std::vector<int> folded;
    if (summed.over >= 0) folded.push_back(summed.over);
    share_parts(step, *mesh, folded);
    const word sum = detail::make_word(word_kind::reduce, step.type, static_cast<word>(detail::fold::sum));
    if (step.parts > 1 &&
        own.greatest_part(bound[0]) * own.greatest_part(bound[2]) * static_cast<index_t>(detail::size_of(step.type)) >
            static_cast<index_t>(most_gathered)) {
        step.folded_by = sum;
        step.part.offset = 0;
    }

    // The products as an array of rows, columns and, where there are several, parts.
    const bool is_split = rows.over >= 0 || columns.over >= 0, has_parts = step.gathered_parts() > 1;
    detail::layout& local = d.layouts.emplace_back(has_parts ? 3 : 2);
    local.offset = 0;
    for (int j = 0; j < 2; ++j) {
        local.shape()[j] = step.part.shape()[j];
        local.strides()[j] = step.part.strides()[j];
    }
    if (has_parts) {
        local.shape()[2] = step.gathered_parts();
        local.strides()[2] = step.count;
    }
    const detail::layout& place = *operands.back().where;
    detail::layout& seen = d.layouts.emplace_back(place.rank() + (has_parts ? 1 : 0));
    const index_t each = is_split ? step.gathered_parts() : 1;  // elements of the array for each of the product
    seen.offset = place.offset * each;
    for (int j = 0; j < place.rank(); ++j) {
        seen.shape()[j] = place.shape()[j];
        seen.strides()[j] = place.strides()[j] * each;
    }
    if (has_parts) {
        seen.shape()[place.rank()] = step.gathered_parts();
        seen.strides()[place.rank()] = is_split ? 1 : step.count;
    }
    new_operand products;
    products.leaf.type = step.type;
    products.leaf.where = &seen;
    products.source.from = planned_operand::source::gathered;
    products.source.number = plan.reductions.size();
    products.owned = &local;
    if (is_split) {
        auto where = std::make_shared<placement>();
        where->mesh = mesh;
        for (const loop* l : {&rows, &columns}) {
            where->shape.push_back(l->extent);
            where->over.push_back(l->over);
            where->ranges.push_back(l->over < 0 ? std::vector<range>{{0, l->extent}} : l->ranges);
        }
        if (has_parts) {
            where->shape.push_back(step.gathered_parts());
            where->over.push_back(-1);
            where->ranges.push_back({{0, step.gathered_parts()}});
        }
        where->ghosts.assign(where->shape.size(), 0);
        products.where = d.kept.emplace_back(std::move(where)).get();
    }
    if (is_split) step.placed = d.kept.back();
    step.owned = local;
    const dtype type = step.type;
    plan.reductions.push_back(std::move(step));
    const word leaf = detail::make_word(word_kind::leaf, type);
    if (has_parts)
        replace(d, value, {leaf, sum}, {products}, {1});
    else
        replace(d, value, {leaf}, {products}, {});
    return true;
}

}  // namespace ingot::runtime
