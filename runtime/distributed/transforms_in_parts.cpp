// Scans, Fourier transforms and sorts along split axes.
//
// A scan is computed by each rank of its part, and joined with the totals of the parts before it. Other functions need
// their axes whole: an exchange among all ranks moves the partition to another axis, of the batch or one that is
// transformed already, and the result keeps that partition.
#include <algorithm>
#include <optional>

#include <ingot/core/error.hpp>

#include "runtime/distributed/draft.hpp"
#include "runtime/distributed/sample_sort.hpp"
#include "runtime/trees/lazy.hpp"

namespace ingot::runtime {

using detail::word;
using detail::word_kind;

namespace {

/// Transforms over several axes that are transforms over each, and the one over a single axis.
std::optional<detail::library_function> one_axis_of(detail::library_function f) {
    switch (f) {
        case detail::library_function::fft1d:
        case detail::library_function::fft2d:
        case detail::library_function::fft3d:
            return detail::library_function::fft1d;
        case detail::library_function::ifft1d:
        case detail::library_function::ifft2d:
        case detail::library_function::ifft3d:
            return detail::library_function::ifft1d;
        default:
            return {};
    }
}

/// The operation that joins two values of a scan's fold.
std::optional<detail::op> joined_by(detail::fold f) {
    switch (f) {
        case detail::fold::sum:
            return detail::op::add;
        case detail::fold::prod:
            return detail::op::multiply;
        case detail::fold::min:
            return detail::op::minimum;
        case detail::fold::max:
            return detail::op::maximum;
        default:
            return {};
    }
}

/// The value of a word that binds axes, computed by steps into memory whose axes are those of the context along which
/// the value's operand moves (others have extent 1) and those that the word binds.
class staged_value {
public:
    staged_value(statement_plan& plan, draft& all, const loops& outer, const found_value& value)
        : plan_(plan),
          all_(all),
          value_(value),
          rank_(static_cast<int>(outer.of_word(value.word).size())),
          own_(program(), operands(), attributes(), rank_, true) {
        own_.follow_operands(operands(), placements());
        own_.follow_places(operands(), placements());
        bound_ = static_cast<int>(own_.of_last().size());
    }

    bool is_over_parts() const {
        return own_.mesh() != nullptr &&
               std::ranges::any_of(own_.of_last(), [&](int at) { return loop_at(at).over >= 0; });
    }

    void replace() {
        begin();
        const word last = program().back();
        if (detail::kind_of_word(last) == word_kind::scan && can_join_parts(last)) return replace_scan(last);
        std::optional<detail::library_function> one_axis;
        std::uint32_t remaining = (1u << bound_) - 1;
        if (detail::kind_of_word(last) == word_kind::library) {
            const auto f = static_cast<detail::library_function>(detail::code_of_word(last));
            one_axis = one_axis_of_last();
            if (detail::facts(f).arity() != 1)
                throw distributed_error("[distributed] " + std::string(detail::facts(f).name) +
                                        " has no form for arrays in parts; use distributed::gather(x)");
        }
        while (true) {
            std::uint32_t whole = 0;
            for (int k = 0; k < bound_; ++k)
                if ((remaining >> k & 1) != 0 && at_->over[bound_axis(k)] < 0) whole |= 1u << k;
            if (whole == remaining && !one_axis) {
                add_stage(last, whole);
                break;
            }
            if (whole == 0 || !one_axis) {
                add_stage({}, 0);
            } else {
                for (int k = bound_; k-- > 0;)
                    if ((whole >> k & 1) != 0)
                        add_stage(detail::make_word(word_kind::library, detail::dtype_of_word(last),
                                                    static_cast<word>(*one_axis)),
                                  1u << k);
                remaining &= ~whole;
                if (remaining == 0) break;
            }
            if (!move(remaining)) break;  // it is sorted by the way
        }
        ingot::runtime::replace(all_, value_, {leaf(type_)}, {result()}, {});
    }

    /// Whether an unravel's operand may begin again at its first index only once it is computed: something but arrays
    /// in parts, read index by index, moves along a split axis that the unravel binds.
    bool has_others_along_bound() const {
        for (std::size_t i = 0; i + 1 < operands().size(); ++i) {
            if (!has_axes(operands()[i])) continue;
            const detail::layout& l = *operands()[i].where;
            access a;
            const bool is_in_parts = placements()[i] != nullptr && take_apart(a, *placements()[i], l);
            for (int j = 0; j < l.rank(); ++j) {
                const int q = chain_position(i, j);
                if (q < rank_ || q >= rank_ + bound_ || l.strides()[j] == 0 || l.shape()[j] == 1) continue;
                if (loop_at(own_.of_last()[static_cast<std::size_t>(q - rank_)]).over < 0) continue;
                if (!is_in_parts) return true;
                for (const std::vector<index_t>& steps : a.steps)
                    if (const index_t step = steps[static_cast<std::size_t>(j)]; step != 0 && step != 1) return true;
            }
        }
        return false;
    }

    /// Computes an unravel's operand, which it then reads.
    void replace_operand() {
        begin();
        add_stage({}, 0);
        detail::layout& seen = all_.layouts.emplace_back(detail::contiguous_layout(at_->shape));
        for (int q = 0; q < rank_ + bound_; ++q)
            if (!moves_[static_cast<std::size_t>(q)]) {
                seen.shape()[q] = extents_[static_cast<std::size_t>(q)];
                seen.strides()[q] = 0;
            }
        found_value operand = value_;
        operand.word -= 1;
        operand.until = {value_.until.program - 1, value_.until.operands - 1, value_.until.attributes - 1};
        ingot::runtime::replace(all_, operand, {leaf(type_)}, {operand_over(*stage_, seen)}, {});
    }

private:
    std::span<const word> program() const { return all_.program_of(value_); }
    std::span<const operand> operands() const { return all_.operands_of(value_); }
    std::span<const placement* const> placements() const { return all_.placements_of(value_); }
    std::span<const word> attributes() const { return all_.attributes_of(value_); }
    static word leaf(dtype type) { return detail::make_word(word_kind::leaf, type); }
    const loop& loop_at(int at) const { return own_.all()[static_cast<std::size_t>(at)]; }
    std::size_t bound_axis(int k) const { return static_cast<std::size_t>(rank_ + k); }
    int session_rank() const { return own_.mesh()->session->rank; }

    /// The operand's placement, as its arrays have it.
    void begin() {
        moves_.assign(static_cast<std::size_t>(rank_ + bound_), false);
        for (std::size_t i = 0; i + 1 < operands().size(); ++i) {  // the last one is the word's own
            if (!has_axes(operands()[i])) continue;
            const detail::layout& l = *operands()[i].where;
            for (int j = 0; j < l.rank(); ++j)
                if (const int q = chain_position(i, j); q >= 0 && q < rank_ + bound_)
                    if (l.strides()[j] != 0 && l.shape()[j] != 1) moves_[static_cast<std::size_t>(q)] = true;
        }
        auto where = std::make_shared<placement>();
        where->mesh = (*std::ranges::find_if(placements(), [](const placement* p) { return p != nullptr; }))->mesh;
        for (int q = 0; q < rank_ + bound_; ++q) {
            const loop& l = loop_at(q < rank_ ? q : own_.of_last()[static_cast<std::size_t>(q - rank_)]);
            extents_.push_back(l.extent);
            const bool is_moved = moves_[static_cast<std::size_t>(q)];
            const index_t extent = is_moved ? l.extent : 1;
            where->shape.push_back(extent);
            where->over.push_back(is_moved ? l.over : -1);
            where->ranges.push_back(is_moved && l.over >= 0 ? l.ranges : std::vector<range>{{0, extent}});
        }
        where->ghosts.assign(where->shape.size(), 0);
        at_ = std::move(where);
    }

    /// The position of layout axis `j` of operand `i` among the context's, the bound, and inner axes.
    int chain_position(std::size_t i, int j) const {
        return static_cast<int>(own_.of(i).size()) - operands()[i].where->rank() + j;
    }

    /// A layout over the context and the bound axes, where those of `transformed` are bound by the stage's word, and
    /// the others are the result's. `inner`: the number of axes behind, with the positions given by `position`.
    template <class F>
    detail::layout over_stage(const detail::layout& l, std::uint32_t transformed, int inner, F position) const {
        const int words = std::popcount(transformed);
        detail::layout to(rank_ + bound_ + words + inner);
        to.offset = l.offset;
        for (int j = 0; j < to.rank(); ++j) to.shape()[j] = 1, to.strides()[j] = 0;
        for (int j = 0; j < l.rank(); ++j) {
            int q = position(j);
            if (q < 0) continue;
            if (q >= rank_ + bound_) {
                q += words;
            } else if (q >= rank_ && (transformed >> (q - rank_) & 1) != 0) {
                q = rank_ + bound_ + std::popcount(transformed & ((1u << (q - rank_)) - 1));
            }
            to.shape()[q] = l.shape()[j];
            to.strides()[q] = l.strides()[j];
        }
        for (int q = 0; q < rank_ + bound_; ++q)  // the value repeats along the axis
            if (!moves_[static_cast<std::size_t>(q)]) to.shape()[q] = 1;
        return to;
    }

    /// A step that computes the operand's words, of which those axes are bound by a word to be added.
    planned_reduction first_step(std::uint32_t transformed) const {
        planned_reduction step;
        const auto words = program().first(program().size() - 1);
        step.program.assign(words.begin(), words.end());
        step.attributes.assign(attributes().begin(), attributes().end() - 1);
        step.operands = plan_operands(all_, value_.from.operands, operands().size() - 1, own_);
        for (std::size_t i = 0; i < step.operands.size(); ++i) {
            if (!has_axes(operands()[i])) continue;
            planned_operand& o = step.operands[i];
            const int inner = std::max(static_cast<int>(own_.of(i).size()) - rank_ - bound_, 0);
            o.where = over_stage(o.has_layout ? o.where : *operands()[i].where, transformed, inner,
                                 [&](int j) { return chain_position(i, j); });
            o.has_layout = true;
        }
        return step;
    }

    /// The layout of a box whose elements along `innermost_` are consecutive, and else in C order.
    detail::layout laid_out(const box& b) const {
        detail::layout l = contiguous_layout(b);
        if (!innermost_) return l;
        index_t stride = 1;
        const auto place = [&](int q) {
            l.strides()[q] = stride;
            stride *= l.shape()[q];
        };
        place(static_cast<int>(*innermost_));
        for (int q = l.rank(); q-- > 0;)
            if (static_cast<std::size_t>(q) != *innermost_) place(q);
        return l;
    }

    /// Adds a step that computes the value so far, or a word over some of its bound axes, each rank its part.
    void add_stage(std::optional<word> code, std::uint32_t transformed) {
        planned_reduction step;
        if (!stage_) {
            step = first_step(transformed);
            type_ = detail::dtype_of_word(step.program.back());
        } else {
            step.program = {leaf(type_)};
            planned_operand& o = step.operands.emplace_back();
            o.from = planned_operand::source::gathered;
            o.number = *stage_;
            o.has_layout = true;
            detail::layout l = plan_.reductions[*stage_].owned;
            for (int q = rank_; q < rank_ + bound_; ++q)
                if (!moves_[static_cast<std::size_t>(q)])
                    l.shape()[q] = extents_[static_cast<std::size_t>(q)], l.strides()[q] = 0;
            o.where = over_stage(l, transformed, 0, [](int j) { return j; });
        }
        auto made = std::make_shared<placement>(*at_);
        if (code) {
            type_ = detail::dtype_of_word(*code);
            std::uint32_t result = transformed;
            if (detail::kind_of_word(*code) == word_kind::library)
                if (const auto& f = detail::facts(static_cast<detail::library_function>(detail::code_of_word(*code)));
                    f.axes == bound_)
                    result = f.result;
            step.program.push_back(*code);
            step.attributes.push_back(static_cast<word>(std::popcount(transformed)));
            for (int k = 0; k < bound_; ++k) {
                if ((transformed >> k & 1) == 0) continue;
                const std::size_t q = bound_axis(k);
                const bool has = (result >> k & 1) != 0;
                moves_[q] = has;
                if (made->over[q] >= 0) continue;  // a scan of a part
                made->shape[q] = has ? extents_[q] : 1;
                made->ranges[q] = {{0, made->shape[q]}};
            }
        }
        const box mine = made->box_of(session_rank());
        step.part = laid_out(mine);
        step.count = step.part.size();
        if (code) {  // each element is at its own place
            planned_operand& o = step.operands.emplace_back(all_.sources[value_.until.operands - 1]);
            o.has_layout = true;
            o.where = step.part;
            index_t place = 1;
            for (int q = rank_ + bound_; q-- > 0;) {
                const bool is_transformed = q >= rank_ && (transformed >> (q - rank_) & 1) != 0;
                o.where.strides()[q] = is_transformed ? place : 0;
                if (is_transformed) place *= o.where.shape()[q];
            }
        }
        step.type = type_;
        step.placed = made;
        step.owned = step.part;
        at_ = std::move(made);
        stage_ = plan_.reductions.size();
        plan_.reductions.push_back(std::move(step));
    }

    /// Moves the last stage's value to a partition in which one of these bound axes more is whole. Returns false where
    /// nothing is left to do: a vector has no other axis, and is sorted as it is moved among the same ranks.
    bool move(std::uint32_t remaining) {
        std::size_t from = 0;
        for (int k = 0; k < bound_; ++k)
            if ((remaining >> k & 1) != 0 && at_->over[bound_axis(k)] >= 0) from = bound_axis(k);
        std::optional<std::size_t> to;
        for (std::size_t q = 0; q < at_->shape.size(); ++q) {
            const bool is_wanted_whole =
                q >= static_cast<std::size_t>(rank_) && (remaining >> (q - static_cast<std::size_t>(rank_)) & 1) != 0;
            if (is_wanted_whole || at_->over[q] >= 0 || at_->shape[q] < 2) continue;
            if (!to || at_->shape[q] > at_->shape[*to]) to = q;
        }
        auto moved = std::make_shared<placement>(*at_);
        const int over = at_->over[from];
        moved->over[from] = -1;
        moved->ranges[from] = {{0, at_->shape[from]}};
        if (to) {
            moved->over[*to] = over;
            moved->ranges[*to] = even_ranges(at_->shape[*to], at_->mesh->extents[static_cast<std::size_t>(over)]);
        }
        planned_reduction& step = plan_.reductions[*stage_];
        step.moved = planned_move{at_};
        const bool is_vector = std::ranges::count_if(at_->shape, [](index_t extent) { return extent != 1; }) <= 1;
        const bool is_sorted = !to && is_vector && !is_small(*moved) && has_sample_sort(program().back(), type_);
        if (is_sorted) {
            moved->over[from] = over;
            moved->ranges[from] = even_ranges(at_->shape[from], at_->mesh->extents[static_cast<std::size_t>(over)]);
            step.moved->sorted = {program().back(), from, is_descending()};
            if (is_descending()) std::ranges::reverse(moved->ranges[from]);
            type_ = detail::dtype_of_word(program().back());
        } else if (!to && !is_small(*moved)) {
            throw_has_no_form(*moved);
        }
        step.placed = moved;
        // A Fourier transform of consecutive elements takes a fourth of the time.
        if (one_axis_of_last()) innermost_ = from;
        step.owned = laid_out(moved->box_of(session_rank()));
        at_ = std::move(moved);
        return !is_sorted;
    }

    std::optional<detail::library_function> one_axis_of_last() const {
        const word last = program().back();
        if (detail::kind_of_word(last) != word_kind::library) return {};
        return one_axis_of(static_cast<detail::library_function>(detail::code_of_word(last)));
    }
    bool is_small(const placement& moved) const {
        index_t most = 0;  // the same answer on all ranks
        for (int r = 0; r < moved.mesh->session->size; ++r) most = std::max(most, size_of_box(moved.box_of(r)));
        return static_cast<std::size_t>(most) * detail::size_of(type_) <= most_fetched;
    }
    [[noreturn]] void throw_has_no_form(const placement& moved) const {
        std::vector<index_t> shape;
        for (std::size_t q = 0; q < moved.shape.size(); ++q)
            if (moves_[q]) shape.push_back(moved.shape[q]);
        throw distributed_error("[distributed] " + name() + " along the only axis, of shape " + detail::to_text(shape) +
                                ", which is split over " + std::to_string(moved.mesh->session->size) +
                                " ranks, has no form in parts; use " + "distributed::gather(x)");
    }
    std::string name() const {
        const word last = program().back();
        if (detail::kind_of_word(last) == word_kind::scan) return "a scan";
        std::string own(detail::facts(static_cast<detail::library_function>(detail::code_of_word(last))).name);
        if (own.ends_with("_rows")) own.resize(own.size() - 5);  // sort_rows is the user's sort
        return own;
    }

    /// The value where its words stood: at the places that the word reads.
    new_operand result() {
        const detail::layout whole = detail::contiguous_layout(at_->shape);
        const detail::layout& place = *operands().back().where;
        detail::layout& seen = all_.layouts.emplace_back(rank_);
        seen.offset = place.offset;
        for (int q = 0; q < rank_; ++q) {
            seen.shape()[q] = extents_[static_cast<std::size_t>(q)];
            seen.strides()[q] = moves_[static_cast<std::size_t>(q)] ? whole.strides()[q] : 0;
        }
        for (int j = 0; j < place.rank(); ++j) {
            const int q = rank_ - place.rank() + j;
            if (q < 0 || place.strides()[j] == 0) continue;
            seen.shape()[q] = place.shape()[j];
            seen.strides()[q] += place.strides()[j];
        }
        return operand_over(*stage_, seen);
    }

    new_operand operand_over(std::size_t step, const detail::layout& seen) {
        const planned_reduction& made = plan_.reductions[step];
        new_operand g;
        g.leaf.type = made.result_type();
        g.leaf.where = &seen;
        g.source.from = planned_operand::source::gathered;
        g.source.number = step;
        g.owned = &all_.layouts.emplace_back(made.owned);
        if (made.placed != nullptr && made.placed->is_split()) {
            g.where = made.placed.get();
            all_.kept.push_back(made.placed);
        }
        return g;
    }

    // ---- scans -----------------------------------------------------------------------------------------------------

    /// Whether the first part lies behind the last, as in a flipped view.
    bool is_descending() const {
        const std::vector<range>& parts = at_->ranges[bound_axis(0)];
        index_t last = 0;
        for (const range& r : parts)
            if (r.size() > 0) {
                if (r.low < last) return true;
                last = r.low;
            }
        return false;
    }

    /// Whether the parts of a scan are joined by an operation, and none that stands before another is empty.
    bool can_join_parts(word last) const {
        if (bound_ != 1 || !joined_by(static_cast<detail::fold>(detail::code_of_word(last)))) return false;
        std::vector<range> parts = at_->ranges[bound_axis(0)];
        if (is_descending()) std::ranges::reverse(parts);
        bool is_empty = false;
        for (const range& r : parts) {
            if (is_empty && r.size() > 0) return false;
            is_empty = r.size() == 0;
        }
        return true;
    }

    /// Each rank reduces its part, all gather these totals, and each scans its part and joins it with the totals of the
    /// parts before.
    void replace_scan(word last) {
        const std::size_t axis = bound_axis(0);
        const auto fold = static_cast<detail::fold>(detail::code_of_word(last));
        const dtype type = detail::dtype_of_word(last);
        const word reduction = detail::make_word(word_kind::reduce, type, static_cast<word>(fold));

        planned_reduction step = first_step(1);
        step.program.push_back(reduction);
        step.attributes.push_back(1);
        step.type = type;
        std::vector<index_t> extents;
        const box mine = at_->box_of(session_rank());
        for (int q = 0; q < rank_; ++q) extents.push_back(mine[static_cast<std::size_t>(q)].size());
        extents.push_back(1);
        step.part = detail::contiguous_layout(extents);
        step.count = step.part.size();
        step.has_share = mine[axis].size() > 0;
        share_parts(step, *at_->mesh, {at_->over[axis]});
        const bool is_down = is_descending();
        const index_t before = is_down ? step.parts - 1 - step.my_part : step.my_part;
        const index_t first = is_down ? step.my_part + 1 : 0, count = step.count;
        const detail::layout part = step.part;
        const std::size_t totals = plan_.reductions.size();
        plan_.reductions.push_back(std::move(step));

        add_stage(last, 1);
        ingot::runtime::replace(all_, value_, {leaf(type)}, {result()}, {});
        if (before == 0) return;
        planned_reduction& scan = plan_.reductions[*stage_];
        planned_operand total;
        total.from = planned_operand::source::gathered;
        total.number = totals;
        total.has_layout = true;
        total.where = detail::layout(rank_ + 2);
        total.where.offset = first * count;
        for (int q = 0; q <= rank_; ++q) {
            total.where.shape()[q] = part.shape()[q];
            total.where.strides()[q] = part.strides()[q];
        }
        total.where.shape()[rank_ + 1] = before;
        total.where.strides()[rank_ + 1] = count;
        scan.program.insert(scan.program.begin(), {leaf(type), reduction});
        scan.program.push_back(detail::make_word(word_kind::map, type, static_cast<word>(*joined_by(fold))));
        scan.attributes.insert(scan.attributes.begin(), 1);
        scan.operands.insert(scan.operands.begin(), total);
    }

    statement_plan& plan_;
    draft& all_;
    const found_value value_;
    const int rank_;
    loops own_;
    int bound_ = 0;
    std::vector<bool> moves_;
    std::vector<index_t> extents_;
    std::shared_ptr<const placement> at_;
    std::optional<std::size_t> stage_;
    std::optional<std::size_t> innermost_;  // the axis along which elements lie together
    dtype type_{};
};

}  // namespace

bool take_transform(statement_plan& plan, draft& d, const loops& outer, const found_value& value) {
    staged_value staged(plan, d, outer, value);
    if (!staged.is_over_parts()) return false;
    if (detail::kind_of_word(d.program[value.word]) != word_kind::unravel) {
        staged.replace();
        return true;
    }
    if (!staged.has_others_along_bound()) return false;
    staged.replace_operand();
    return true;
}

}  // namespace ingot::runtime
