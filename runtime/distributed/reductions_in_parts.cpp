// Reductions over split axes.
#include <algorithm>
#include <limits>

#include <ingot/core/error.hpp>

#include "runtime/distributed/draft.hpp"
#include "runtime/trees/lazy.hpp"

namespace ingot::runtime {

using detail::word;
using detail::word_kind;

namespace {

/// A reduction over split axes that is taken out of a draft: the words of its value, its loops, and the ranks that
/// gather its parts.
class taken_reduction {
public:
    taken_reduction(statement_plan& plan, draft& all, const loops& outer, const found_value& value)
        : plan_(plan),
          all_(all),
          value_(value),
          rank_(static_cast<int>(outer.of_word(value.word).size())),
          own_(program(), operands(), attributes(), rank_, true) {
        own_.follow_operands(operands(), placements());
        own_.follow_places(operands(), placements());
        if (own_.mesh() == nullptr) return;
        for (const int at : own_.of_last())
            if (const int over = own_.all()[static_cast<std::size_t>(at)].over; over >= 0) folded_.push_back(over);
    }

    /// Whether the reduction binds a split axis.
    bool is_over_parts() const noexcept { return !folded_.empty(); }

    /// Replaces the reduction in the draft by a fold over its parts. Throws distributed_error where none joins them.
    void replace() {
        const word code = program().back();
        const dtype type = detail::dtype_of_word(code);
        const auto fold = static_cast<detail::fold>(detail::code_of_word(code));
        const auto join = fold == detail::fold::count_nonzero ? detail::fold::sum : fold;
        const bool folds_alone =
            fold != detail::fold::user && fold != detail::fold::argmin && fold != detail::fold::argmax;
        describe(folds_alone ? std::optional(reduction(join, type)) : std::nullopt, type);
        switch (fold) {
            case detail::fold::user: {  // joins partial results, of which the post sees the whole alone
                const gathered g = gather({program().begin(), program().end()}, {}, type);
                const std::size_t text = operands().size() - 1;
                gathered of_text;
                of_text.leaf = operands()[text];
                of_text.source = all_.sources[value_.from.operands + text];
                const word text_word = program()[program().size() - 2];
                ingot::runtime::replace(all_, value_, {detail::make_word(word_kind::leaf, type), text_word, code},
                                        {g, of_text}, {1});
                return;
            }
            case detail::fold::argmin:
            case detail::fold::argmax:
                return replace_place_of(fold == detail::fold::argmin ? detail::fold::min : detail::fold::max);
            default: {
                if (fold == detail::fold::sum && join_exponentials(type)) return;
                const gathered g = gather({program().begin(), program().end()}, {}, type);
                ingot::runtime::replace(all_, value_, {detail::make_word(word_kind::leaf, type), reduction(join, type)},
                                        {g}, {1});
            }
        }
    }

private:
    /// The parts of a value, as an operand over its axes and, last, the parts.
    using gathered = new_operand;

    std::span<const word> program() const { return all_.program_of(value_); }
    std::span<const operand> operands() const { return all_.operands_of(value_); }
    std::span<const placement* const> placements() const { return all_.placements_of(value_); }
    std::span<const word> attributes() const { return all_.attributes_of(value_); }
    static word reduction(detail::fold f, dtype type) {
        return detail::make_word(word_kind::reduce, type, static_cast<std::uint32_t>(f));
    }
    static word map(detail::op o, dtype type) {
        return detail::make_word(word_kind::map, type, static_cast<std::uint32_t>(o));
    }
    const loop& loop_at(int j) const { return own_.all()[static_cast<std::size_t>(j)]; }

    /// `join`: the fold of parts, where it has no other operand.
    void describe(std::optional<word> join, dtype type) {
        const rank_mesh& mesh = *own_.mesh();
        const rank_session& session = *mesh.session;
        moves_.assign(static_cast<std::size_t>(rank_), false);
        for (std::size_t i = 0; i < operands().size(); ++i) {
            if (!has_axes(operands()[i])) continue;
            const detail::layout& l = *operands()[i].where;
            for (int j = 0; j < l.rank(); ++j)
                if (const int at = loop_of(own_.of(i), l.rank(), j); at >= 0 && at < rank_)
                    if (l.strides()[j] != 0 && l.shape()[j] != 1) moves_[static_cast<std::size_t>(at)] = true;
        }
        for (const int m : folded_) parts_ *= mesh.extents[static_cast<std::size_t>(m)];
        for (int j = 0; j < rank_; ++j)
            extents_.push_back(moves_[static_cast<std::size_t>(j)] ? own_.range_of(j, session.rank).size() : 1);
        index_t most = 0;  // elements of a part, on any rank
        for (int r = 0; r < session.size; ++r) {
            index_t count = 1;
            for (int j = 0; j < rank_; ++j)
                count *= moves_[static_cast<std::size_t>(j)] ? own_.range_of(j, r).size() : 1;
            most = std::max(most, count);
        }
        if (parts_ > 1 && static_cast<std::size_t>(most) * detail::size_of(type) > most_gathered) folded_by_ = join;
        const index_t parts = folded_by_ ? 1 : parts_;
        bool is_split = false;
        for (int j = 0; j < rank_; ++j) is_split |= loop_at(j).over >= 0;
        if (!is_split) return;
        auto where = std::make_shared<placement>();
        where->mesh = (*std::ranges::find_if(placements(), [](const placement* p) { return p != nullptr; }))->mesh;
        for (int j = 0; j < rank_; ++j) {
            const bool is_moved = moves_[static_cast<std::size_t>(j)];
            const loop& l = loop_at(j);
            where->shape.push_back(is_moved ? l.extent : 1);
            where->over.push_back(is_moved ? l.over : -1);
            where->ranges.push_back(is_moved && l.over >= 0 ? l.ranges
                                                            : std::vector<range>{{0, is_moved ? l.extent : 1}});
        }
        where->shape.push_back(parts);
        where->over.push_back(-1);
        where->ranges.push_back({{0, parts}});
        where->ghosts.assign(where->shape.size(), 0);
        placement_ = all_.kept.emplace_back(std::move(where)).get();
    }

    /// Adds the step that computes and gathers a value of the reduction's operands.
    gathered gather(std::vector<word> words, const std::vector<index_t>& constants, dtype type) {
        planned_reduction step;
        if (constants.empty()) step.value = key_of_value(words, attributes(), operands().size());
        const auto known = std::ranges::find_if(plan_.reductions, [&](const planned_reduction& r) {
            return !step.value.empty() && r.value == step.value &&
                   (r.part.rank() == rank_ || (r.placed == nullptr && placement_ == nullptr));
        });
        step.program = std::move(words);
        step.attributes.assign(attributes().begin(), attributes().end());
        step.type = type;
        step.part = detail::contiguous_layout(extents_);
        step.count = step.part.size();
        share_parts(step, *own_.mesh(), folded_);
        step.folded_by = folded_by_;
        if (folded_by_) step.part.offset = 0;
        step.operands = plan_operands(all_, value_.from.operands, operands().size(), own_);
        for (std::size_t i = 0; i < operands().size(); ++i) {  // extent 1 along axes on which nothing moves
            if (!has_axes(operands()[i])) continue;
            planned_operand& o = step.operands[i];
            if (!o.has_layout) o.where = *operands()[i].where;
            o.has_layout = true;
            for (int j = 0; j < o.where.rank(); ++j)
                if (const int at = loop_of(own_.of(i), o.where.rank(), j);
                    at >= 0 && at < rank_ && !moves_[static_cast<std::size_t>(at)])
                    o.where.shape()[j] = 1;
        }
        for (const index_t c : constants) {
            planned_operand& o = step.operands.emplace_back();
            o.from = planned_operand::source::constant;
            o.value = c;
        }
        detail::layout& local = all_.layouts.emplace_back(rank_ + 1);
        for (int j = 0; j < rank_; ++j) {
            local.shape()[j] = step.part.shape()[j];
            local.strides()[j] = step.part.strides()[j];
        }
        local.shape()[rank_] = step.gathered_parts();
        local.strides()[rank_] = step.count;
        gathered g;
        g.leaf.type = type;
        g.source.from = planned_operand::source::gathered;
        g.where = placement_;
        g.owned = &local;
        detail::layout& seen =
            all_.layouts.emplace_back(placement_ != nullptr ? detail::contiguous_layout(placement_->shape) : local);
        for (int j = 0; j < rank_; ++j)
            if (!moves_[static_cast<std::size_t>(j)]) {  // the value repeats along the axis
                seen.shape()[j] = loop_at(j).extent;
                seen.strides()[j] = 0;
            }
        g.leaf.where = &seen;
        if (placement_ != nullptr) step.placed = all_.kept.back();
        step.owned = local;
        g.source.number = static_cast<std::size_t>(known - plan_.reductions.begin());
        if (known == plan_.reductions.end()) plan_.reductions.push_back(std::move(step));
        return g;
    }

    /// A value over the whole arrays: its words, the numbers of bound axes, and the first `count` operands. Axes along
    /// which nothing moves are left out, so that a value has the same key within other axes.
    std::vector<std::uint64_t> key_of_value(std::span<const word> words, std::span<const word> bound,
                                            std::size_t count) const {
        std::vector<std::uint64_t> key{words.begin(), words.end()};
        key.insert(key.end(), bound.begin(), bound.end());
        const auto moved_before = [&](int axes) { return std::count(moves_.begin(), moves_.begin() + axes, true); };
        for (std::size_t i = 0; i < count; ++i) {
            const planned_operand& source = all_.sources[value_.from.operands + i];
            key.push_back(static_cast<std::uint64_t>(source.from));
            key.push_back(operands()[i].memory != nullptr ? reinterpret_cast<std::uintptr_t>(operands()[i].memory)
                                                          : source.number);
            key.push_back(static_cast<std::uint64_t>(source.value));
            if (!has_axes(operands()[i])) continue;
            const detail::layout& l = *operands()[i].where;
            key.push_back(static_cast<std::uint64_t>(l.offset));
            for (int j = 0; j < l.rank(); ++j) {
                const int at = static_cast<int>(own_.of(i).size()) - l.rank() + j;
                if (at < rank_ && !moves_[static_cast<std::size_t>(at)]) continue;
                key.push_back(static_cast<std::uint64_t>(moved_before(std::min(at, rank_)) + std::max(at - rank_, 0)));
                key.push_back(static_cast<std::uint64_t>(l.shape()[j]));
                key.push_back(static_cast<std::uint64_t>(l.strides()[j]));
            }
        }
        return key;
    }

    /// sum(exp(x - max(x))), where the parts of the maximum are computed by an earlier step: each rank sums with its
    /// own maximum, in the kernel that finds it, so that x is read once and waits for no exchange. A part's sum counts
    /// exp(own maximum - maximum) times. Returns false, and does nothing, for other sums.
    bool join_exponentials(dtype type) {
        using enum detail::op;
        const auto p = program();
        const auto bound = attributes();
        const std::size_t n = p.size(), k = operands().size() - 1;
        if (n < 6 || bound.size() != 2 || folded_by_ || k == 0 || placement_ != nullptr) return false;
        const word leaf = detail::make_word(word_kind::leaf, type), best = reduction(detail::fold::max, type);
        const word tail[] = {leaf, best, map(subtract, type), map(exp, type), p.back()};
        if (!std::equal(p.end() - 5, p.end(), std::begin(tail)) || p.size() < 6 || bound[0] != 1 || bound[1] != 1)
            return false;
        const planned_operand& source = all_.sources[value_.from.operands + k];
        if (source.from != planned_operand::source::gathered) return false;
        const std::size_t number = source.number;
        std::vector<word> words(p.begin(), p.end() - 5);  // of x
        const std::size_t words_of_x = words.size();
        words.push_back(best);
        const planned_reduction& found = plan_.reductions[number];
        const bool is_of_x = found.value == key_of_value(words, bound.first(1), k) && !found.folded_by &&
                             !found.is_computed_later && found.placed == nullptr;
        const auto reads_it = [&](const planned_reduction& r) {
            return std::ranges::any_of(r.operands, [&](const planned_operand& o) {
                return o.from == planned_operand::source::gathered && o.number == number;
            });
        };
        if (!is_of_x || std::any_of(plan_.reductions.begin() + static_cast<std::ptrdiff_t>(number),
                                    plan_.reductions.end(), reads_it))
            return false;
        // max(x), then sum(exp(x - max(x))) of this rank's part.
        const auto add_x = [&] {
            words.insert(words.end(), p.begin(), p.begin() + static_cast<std::ptrdiff_t>(words_of_x));
        };
        add_x();
        add_x();
        words.insert(words.end(), p.end() - 4, p.end());
        const gathered sums = gather(std::move(words), {}, type);
        planned_reduction& step = plan_.reductions[sums.source.number];
        step.value.clear();
        step.attributes = {1, 1, 1};
        std::vector<planned_operand> of_x(step.operands.begin(), step.operands.end() - 1);
        step.operands = of_x;
        step.operands.insert(step.operands.end(), of_x.begin(), of_x.end());
        for (planned_operand& o : of_x) {
            if (!o.has_layout) continue;
            detail::layout inner(o.where.rank() + 1);  // repeated along the sum's axis, and moving along the maximum's
            const int last = o.where.rank() - 1;
            inner.offset = o.where.offset;
            for (int j = 0; j <= last + 1; ++j) {
                inner.shape()[j] = j == last ? 1 : o.where.shape()[std::min(j, last)];
                inner.strides()[j] = j == last ? 0 : o.where.strides()[std::min(j, last)];
            }
            o.where = inner;
            step.operands.push_back(o);
        }
        step.computes_also = number;
        plan_.reductions[number].is_computed_later = true;

        // A part without a finite maximum counts exp(own maximum - maximum), which is 0 or NaN, times nothing.
        gathered own = sums;
        own.source.number = number;
        const gathered among = repeated(own);
        const word difference = map(subtract, type);
        ingot::runtime::replace(all_, value_,
                                {leaf, leaf, best, difference, map(isfinite, dtype::b1),                   //
                                 leaf, leaf, leaf, best, difference, map(exp, type), map(multiply, type),  //
                                 leaf, leaf, best, difference, map(exp, type), map(where, type), p.back()},
                                {own, among, sums, own, among, own, among}, {1, 1, 1, 1});
        return true;
    }

    /// Returns these parts with a further axis of extent `parts` before the last one, along which they repeat.
    gathered repeated(const gathered& of) {
        gathered g = of;
        const detail::layout& seen = *of.leaf.where;
        detail::layout& l = all_.layouts.emplace_back(rank_ + 2);
        l.offset = seen.offset;
        for (int j = 0; j < rank_; ++j) l.shape()[j] = seen.shape()[j], l.strides()[j] = seen.strides()[j];
        l.shape()[rank_] = l.shape()[rank_ + 1] = parts_;
        l.strides()[rank_] = 0;
        l.strides()[rank_ + 1] = seen.strides()[rank_];
        g.leaf.where = &l;
        return g;
    }

    /// argmin, argmax: the least index among the parts whose value is the best, or NaN.
    void replace_place_of(detail::fold best) {
        using enum detail::op;
        const rank_session& session = *own_.mesh()->session;
        const std::span<const int> bound = own_.of_last();
        const auto size_of_loop = [&](int at) { return loop_at(at).extent; };
        index_t inner = 1, local = 1, extent = 1, low = 0;
        bool is_past = false;
        for (const int at : bound) {
            const range r = own_.range_of(at, session.rank);
            if (loop_at(at).over >= 0) {
                if (is_past)
                    throw distributed_error(
                        "[distributed] argmin and argmax over two split axes have no form in parts; "
                        "use distributed::gather(x)");
                is_past = true;
                extent = size_of_loop(at), local = r.size(), low = r.low;
            } else if (is_past) {
                inner *= size_of_loop(at);
            }
        }
        constexpr dtype place = dtype::i8;
        constexpr index_t last = std::numeric_limits<index_t>::max();
        std::vector<word> value(program().begin(), program().end());
        const dtype type = detail::dtype_of_word(value[value.size() - 2]);
        std::vector<word> index = value;
        value.back() = reduction(best, type);
        // From the place in this rank's part, i: i + i / (local * inner) * (extent - local) * inner + low * inner.
        const word number = detail::make_word(word_kind::scalar, place);
        const auto of_this = static_cast<std::uint32_t>(index.size() - 1);
        std::vector<index_t> constants;
        if (local > 0) {
            for (const word w :
                 {detail::make_word(word_kind::reference, place, of_this), number, map(floor_divide, place), number,
                  map(multiply, place), map(add, place), number, map(add, place)})
                index.push_back(w);
            constants = {local * inner, (extent - local) * inner, low * inner};
        } else {  // nothing is here: a place that is never the least
            for (const word w : {number, map(multiply, place), number, map(add, place)}) index.push_back(w);
            constants = {0, last};
        }
        const gathered values = gather(std::move(value), {}, type), places = gather(std::move(index), constants, place);
        gathered none;
        none.source.from = planned_operand::source::constant;
        none.source.value = last;
        none.leaf.kind = detail::operand_kind::scalar;
        none.leaf.type = place;
        const word leaf = detail::make_word(word_kind::leaf, type);
        ingot::runtime::replace(
            all_, value_,
            {leaf, leaf, reduction(best, type), map(equal, dtype::b1), leaf, leaf, map(not_equal, dtype::b1),
             map(logical_or, dtype::b1), detail::make_word(word_kind::leaf, place), number, map(where, place),
             reduction(detail::fold::min, place)},
            {values, repeated(values), values, values, places, none}, {1, 1});
    }

    statement_plan& plan_;
    draft& all_;
    const found_value value_;
    const int rank_;
    loops own_;
    std::vector<int> folded_;  // mesh axes
    std::vector<bool> moves_;  // the axes along which the value moves; it has extent 1 along the others
    std::vector<index_t> extents_;
    index_t parts_ = 1;
    std::optional<word> folded_by_;         // large parts, by slices
    const placement* placement_ = nullptr;  // of the parts, where an axis of the value is split
};

}  // namespace

bool take_reduction(statement_plan& plan, draft& d, const loops& outer, const found_value& value) {
    taken_reduction taken(plan, d, outer, value);
    if (taken.is_over_parts()) taken.replace();
    return taken.is_over_parts();
}

}  // namespace ingot::runtime
