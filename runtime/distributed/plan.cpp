// See plan.hpp.
#include "runtime/distributed/plan.hpp"

#include <algorithm>
#include <deque>
#include <limits>

#include <ingot/core/error.hpp>

#include "runtime/trees/lazy.hpp"

namespace ingot::runtime {

using detail::word;
using detail::word_kind;

namespace {

/// What a rank reads of others' elements may be fetched without a word if it is no more than this.
constexpr std::size_t little = 65536;
/// References are written out up to this length of a program.
constexpr std::size_t most_words = 8192;

const placement* placement_of(const operand& o) {
    return is_distributed(o.memory) ? storage_of(*o.memory).where.get() : nullptr;
}

// ---- one operand ---------------------------------------------------------------------------------------------------

/// The indices that a rank reads along an array axis.
range read_range(const access& a, std::size_t axis, const detail::layout& l, const loops& all, std::span<const int> own,
                 int rank) {
    range read{a.first[axis], a.first[axis]};
    for (int j = 0; j < l.rank(); ++j) {
        const index_t step = a.steps[axis][static_cast<std::size_t>(j)];
        const int at = loop_of(own, l.rank(), j);
        const range r = at < 0 || l.shape()[j] == 1 ? range{0, l.shape()[j]} : all.range_of(at, rank);
        if (r.size() == 0) return {0, 0};
        if (step == 0) continue;
        read.low += step * (step > 0 ? r.low : r.high - 1);
        read.high += step * (step > 0 ? r.high - 1 : r.low);
    }
    return {read.low, read.high + 1};
}

box read_box(const access& a, const detail::layout& l, const loops& all, std::span<const int> own, int rank) {
    box b(a.first.size());
    bool nothing = false;
    for (std::size_t g = 0; g < b.size(); ++g) {
        b[g] = read_range(a, g, l, all, own, rank);
        nothing |= b[g].size() == 0;
    }
    if (nothing) b.assign(b.size(), {});
    return b;
}

bool lies_in(const box& inner, const box& outer) {
    for (std::size_t k = 0; k < inner.size(); ++k)
        if (!lies_in(inner[k], outer[k])) return false;
    return true;
}

[[noreturn]] void throw_far(const placement& p, const loops& all, std::size_t bytes) {
    std::string wanted;
    for (const loop& l : all.all())
        if (l.over >= 0)
            wanted += (wanted.empty() ? "" : ", ") + std::to_string(l.extent) + " over " +
                      p.mesh->names[static_cast<std::size_t>(l.over)];
    throw distributed_error(
        "[distributed] an array of shape " + detail::to_text(p.shape) + ", " + to_text(p) +
        ", is read in parts that other ranks hold: " + std::to_string(bytes) +
        " bytes for a rank, where the statement is computed " +
        (wanted.empty() ? "whole on every rank" : "with axes of " + wanted) +
        "; give it ghost layers, or move it by distributed::redistribute(x, partition) or distributed::gather(x)");
}

/// The layout of elements of a distributed array in the memory of a box, whose layout is `of`.
detail::layout layout_in(const access& a, const detail::layout& seen, const box& whole, const detail::layout& of) {
    detail::layout l(seen.rank());
    l.offset = of.offset;
    std::copy_n(seen.shape(), seen.rank(), l.shape());
    std::fill_n(l.strides(), seen.rank(), index_t{0});
    for (std::size_t g = 0; g < a.first.size(); ++g) {
        const index_t stride = of.strides()[g];
        l.offset += (a.first[g] - whole[g].low) * stride;
        for (int j = 0; j < seen.rank(); ++j) l.strides()[j] += a.steps[g][static_cast<std::size_t>(j)] * stride;
    }
    return l;
}

/// This rank's share of a layout over loops.
detail::layout narrowed(const detail::layout& whole, const loops& all, std::span<const int> own, int rank) {
    detail::layout l = whole;
    for (int j = 0; j < l.rank(); ++j) {
        const int at = loop_of(own, l.rank(), j);
        if (at < 0 || l.shape()[j] == 1) continue;
        const range r = all.range_of(at, rank);
        l.shape()[j] = r.size();
        l.offset += r.low * l.strides()[j];
    }
    return l;
}

detail::layout contiguous_in(const box& b) {
    std::vector<index_t> extents;
    for (const range& r : b) extents.push_back(r.size());
    return detail::contiguous_layout(extents);
}

/// Plans the reading of a layout of a distributed array whose part has the layout `owned`.
void plan_reading(planned_operand& to, const detail::layout& seen, const placement& p, const detail::layout& owned,
                  dtype type, const loops& all, std::span<const int> own) {
    const int rank = p.mesh->session->rank, ranks = p.mesh->session->size;
    access a;
    const bool is_affine = take_apart(a, p, seen);
    bool is_own = is_affine, is_beside = is_affine;
    for (int r = 0; is_beside && r < ranks; ++r) {
        const box read = read_box(a, seen, all, own, r);
        is_own = is_own && lies_in(read, p.box_of(r));
        is_beside = lies_in(read, p.held_by(r));
    }
    to.has_layout = true;
    if (is_beside) {
        to.at = is_own ? planned_operand::place::own : planned_operand::place::beside;
        to.where = narrowed(layout_in(a, seen, p.box_of(rank), owned), all, own, rank);
        return;
    }
    to.at = planned_operand::place::elsewhere;
    index_t most = 0;
    for (int r = 0; r < ranks; ++r) {
        box& b = to.wanted.emplace_back();
        if (is_affine) {
            b = read_box(a, seen, all, own, r);
        } else {  // what is no map of indices is fetched whole
            for (const index_t extent : p.shape) b.push_back({0, extent});
        }
        most = std::max(most, size_of_box(b));
    }
    const std::size_t bytes = static_cast<std::size_t>(most) * detail::size_of(type);
    if (bytes > little || to.from == planned_operand::source::gathered) throw_far(p, all, bytes);
    const box& mine = to.wanted[static_cast<std::size_t>(rank)];
    to.where = narrowed(is_affine ? layout_in(a, seen, mine, contiguous_in(mine)) : seen, all, own, rank);
}

// ---- programs ------------------------------------------------------------------------------------------------------

/// Where the value of a word begins.
struct beginning {
    std::size_t program, operands, attributes;
};

/// A statement that is being planned: its program is rewritten as reductions are taken out.
struct draft {
    std::vector<word> program;
    std::vector<operand> operands;
    std::vector<planned_operand> sources;
    std::vector<const placement*> placements;
    std::vector<const detail::layout*> owned;
    std::vector<word> attributes;
    std::deque<detail::layout> layouts;
    std::vector<std::shared_ptr<const placement>> kept;

    /// Calls f(word number, where its value begins, end of its operands, end of its attributes) until f returns true.
    template <class F>
    bool find_value(F f) const {
        std::vector<beginning> values;
        std::size_t operand_at = 0, attribute_at = 0;
        for (std::size_t w = 0; w < program.size(); ++w) {
            const auto arity = static_cast<std::size_t>(detail::arity_of_word(program[w]));
            const beginning b = arity ? values[values.size() - arity] : beginning{w, operand_at, attribute_at};
            values.resize(values.size() - arity);
            values.push_back(b);
            operand_at += static_cast<std::size_t>(detail::operands_of_word(program[w]));
            attribute_at += detail::is_binder(detail::kind_of_word(program[w])) ? 1 : 0;
            if (f(w, b, operand_at, attribute_at)) return true;
        }
        return false;
    }

    void add_operand(const operand& o, std::size_t number) {
        operands.push_back(o);
        sources.emplace_back().number = number;
        placements.push_back(placement_of(o));
        owned.push_back(placements.back() ? &storage_of(*o.memory).owned : nullptr);
    }
};

bool has_reductions_of_parts(const statement& s) {
    return std::ranges::any_of(s.program, [](word w) { return detail::kind_of_word(w) == word_kind::reduce; }) &&
           std::ranges::any_of(s.operands, [](const operand& o) { return is_distributed(o.memory); });
}

/// The statement; where `expands`, its references are replaced by the words that they repeat.
draft draft_of(const statement& s, bool expands) {
    draft to;
    std::vector<std::pair<beginning, beginning>> written;  // where each old word's value is now
    std::vector<beginning> values;
    std::size_t operand_at = 0, attribute_at = 0;
    for (const word code : s.program) {
        const beginning here{to.program.size(), to.operands.size(), to.attributes.size()};
        const auto arity = static_cast<std::size_t>(detail::arity_of_word(code));
        const beginning from = arity ? values[values.size() - arity] : here;
        values.resize(values.size() - arity);
        values.push_back(from);
        if (expands && detail::kind_of_word(code) == word_kind::reference) {
            const auto [b, e] = written[detail::code_of_word(code)];
            for (std::size_t i = b.program; i < e.program; ++i) to.program.push_back(word(to.program[i]));
            for (std::size_t i = b.operands; i < e.operands; ++i) {
                const operand repeated = to.operands[i];
                to.add_operand(repeated, to.sources[i].number);
            }
            for (std::size_t i = b.attributes; i < e.attributes; ++i) to.attributes.push_back(word(to.attributes[i]));
        } else {
            to.program.push_back(code);
            if (detail::operands_of_word(code) != 0) {
                to.add_operand(s.operands[operand_at], operand_at);
                ++operand_at;
            }
            if (detail::is_binder(detail::kind_of_word(code))) to.attributes.push_back(s.attributes[attribute_at++]);
        }
        if (to.program.size() > most_words)
            throw distributed_error("[distributed] a statement with reductions over split axes of more than " +
                                    std::to_string(most_words) + " operations; evaluate a part first, by eval(part)");
        written.push_back({from, {to.program.size(), to.operands.size(), to.attributes.size()}});
    }
    return to;
}

/// The operands of some words as this rank reads them.
std::vector<planned_operand> plan_operands(const draft& d, std::size_t first, std::size_t count, const loops& all) {
    const int rank = all.mesh() == nullptr ? 0 : all.mesh()->session->rank;
    std::vector<planned_operand> planned;
    for (std::size_t i = 0; i < count; ++i) {
        const operand& o = d.operands[first + i];
        planned_operand& to = planned.emplace_back(d.sources[first + i]);
        if (const placement* const p = d.placements[first + i]) {
            if (o.kind == detail::operand_kind::raw)
                throw distributed_error("[distributed] a kernel's text reads an array whole that lies in parts, " +
                                        to_text(*p) + "; give it distributed::gather(x)");
            plan_reading(to, *o.where, *p, *d.owned[first + i], o.type, all, all.of(i));
        } else if (has_axes(o) && (all.is_split() || to.from == planned_operand::source::gathered)) {
            to.has_layout = true;
            to.where = narrowed(*o.where, all, all.of(i), rank);
        }
    }
    return planned;
}

/// A reduction over split axes that is taken out of a draft: the words of its value, its loops, and the ranks that
/// gather its parts.
class taken_reduction {
public:
    taken_reduction(statement_plan& plan, draft& all, const loops& outer, std::size_t w, const beginning& b,
                    std::size_t operands_end, std::size_t attributes_end)
        : plan_(plan),
          all_(all),
          from_(b),
          until_{w + 1, operands_end, attributes_end},
          rank_(static_cast<int>(outer.of_word(w).size())),
          own_(program(), operands(), attributes(), rank_, true) {
        own_.follow_operands(operands(), placements());
        if (own_.mesh() == nullptr) return;
        for (const int at : own_.of_last())
            if (const int over = own_.all()[static_cast<std::size_t>(at)].over; over >= 0) folded_.push_back(over);
    }

    /// Whether the reduction binds a split axis.
    bool is_over_parts() const noexcept { return !folded_.empty(); }

    /// Replaces the reduction in the draft by a fold over its parts. Throws distributed_error where none joins them.
    void replace() {
        describe();
        const word code = program().back();
        const dtype type = detail::dtype_of_word(code);
        const auto fold = static_cast<detail::fold>(detail::code_of_word(code));
        switch (fold) {
            case detail::fold::user:
                throw distributed_error(
                    "[distributed] a reduction_kernel over a split axis has no form in parts; use "
                    "distributed::gather(x)");
            case detail::fold::argmin:
            case detail::fold::argmax:
                return replace_place_of(fold == detail::fold::argmin ? detail::fold::min : detail::fold::max);
            default: {
                const auto join = fold == detail::fold::count_nonzero ? detail::fold::sum : fold;
                const gathered g = gather({program().begin(), program().end()}, {}, type);
                put({detail::make_word(word_kind::leaf, type), reduction(join, type)}, {g}, {1});
            }
        }
    }

private:
    /// The parts of a value, as an operand over its axes and, last, the parts.
    struct gathered {
        operand leaf;
        planned_operand source;
        const placement* where = nullptr;
        const detail::layout* owned = nullptr;
    };

    std::span<const word> program() const {
        return std::span(all_.program).subspan(from_.program, until_.program - from_.program);
    }
    std::span<const operand> operands() const {
        return std::span(all_.operands).subspan(from_.operands, until_.operands - from_.operands);
    }
    std::span<const placement* const> placements() const {
        return std::span(all_.placements).subspan(from_.operands, until_.operands - from_.operands);
    }
    std::span<const word> attributes() const {
        return std::span(all_.attributes).subspan(from_.attributes, until_.attributes - from_.attributes);
    }
    static word reduction(detail::fold f, dtype type) {
        return detail::make_word(word_kind::reduce, type, static_cast<std::uint32_t>(f));
    }
    static word map(detail::op o, dtype type) {
        return detail::make_word(word_kind::map, type, static_cast<std::uint32_t>(o));
    }
    const loop& loop_at(int j) const { return own_.all()[static_cast<std::size_t>(j)]; }

    void describe() {
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
        const auto part_of_rank = [&](int r) {
            index_t part = 0;
            for (const int m : folded_) part = part * mesh.extents[static_cast<std::size_t>(m)] + mesh.coordinate(r, m);
            return part;
        };
        for (const int m : folded_) parts_ *= mesh.extents[static_cast<std::size_t>(m)];
        my_part_ = part_of_rank(session.rank);
        for (int r = 0; r < session.size; ++r) {
            bool is_peer = r != session.rank;
            for (int m = 0; m < mesh.axes(); ++m)
                if (std::ranges::find(folded_, m) == folded_.end())
                    is_peer = is_peer && mesh.coordinate(r, m) == mesh.coordinate(session.rank, m);
            if (is_peer) peers_.push_back({r, part_of_rank(r)});
        }
        for (int j = 0; j < rank_; ++j)
            extents_.push_back(moves_[static_cast<std::size_t>(j)] ? own_.range_of(j, session.rank).size() : 1);
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
        where->shape.push_back(parts_);
        where->over.push_back(-1);
        where->ranges.push_back({{0, parts_}});
        where->ghosts.assign(where->shape.size(), 0);
        placement_ = all_.kept.emplace_back(std::move(where)).get();
    }

    /// Adds the step that computes and gathers a value of the reduction's operands.
    gathered gather(std::vector<word> words, const std::vector<index_t>& constants, dtype type) {
        planned_reduction step;
        step.program = std::move(words);
        step.attributes.assign(attributes().begin(), attributes().end());
        step.type = type;
        step.part = detail::contiguous_layout(extents_);
        step.count = step.part.size();
        step.parts = parts_;
        step.my_part = my_part_;
        step.part.offset = my_part_ * step.count;
        step.peers = peers_;
        step.operands = plan_operands(all_, from_.operands, operands().size(), own_);
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
        local.shape()[rank_] = parts_;
        local.strides()[rank_] = step.count;
        gathered g;
        g.leaf.type = type;
        g.source.from = planned_operand::source::gathered;
        g.source.number = plan_.reductions.size();
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
        plan_.reductions.push_back(std::move(step));
        return g;
    }

    /// The same parts with an axis of extent `parts` before the last one, along which they repeat.
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
        put({leaf, leaf, reduction(best, type), map(equal, dtype::b1), leaf, leaf, map(not_equal, dtype::b1),
             map(logical_or, dtype::b1), detail::make_word(word_kind::leaf, place), number, map(where, place),
             reduction(detail::fold::min, place)},
            {values, repeated(values), values, values, places, none}, {1, 1});
    }

    /// Puts words in place of the reduction.
    void put(std::initializer_list<word> words, const std::vector<gathered>& operands,
             std::initializer_list<word> bound) {
        const auto replace = [](auto& of, std::size_t from, std::size_t until, const auto& by) {
            of.erase(of.begin() + static_cast<std::ptrdiff_t>(from), of.begin() + static_cast<std::ptrdiff_t>(until));
            of.insert(of.begin() + static_cast<std::ptrdiff_t>(from), by.begin(), by.end());
        };
        std::vector<operand> leaves;
        std::vector<planned_operand> sources;
        std::vector<const placement*> where;
        std::vector<const detail::layout*> owned;
        for (const gathered& g : operands) {
            leaves.push_back(g.leaf);
            sources.push_back(g.source);
            where.push_back(g.where);
            owned.push_back(g.owned);
        }
        replace(all_.program, from_.program, until_.program, words);
        replace(all_.operands, from_.operands, until_.operands, leaves);
        replace(all_.sources, from_.operands, until_.operands, sources);
        replace(all_.placements, from_.operands, until_.operands, where);
        replace(all_.owned, from_.operands, until_.operands, owned);
        replace(all_.attributes, from_.attributes, until_.attributes, bound);
    }

    statement_plan& plan_;
    draft& all_;
    const beginning from_, until_;
    const int rank_;
    loops own_;
    std::vector<int> folded_;  // mesh axes
    std::vector<bool> moves_;  // the axes along which the value moves; it has extent 1 along the others
    std::vector<index_t> extents_;
    index_t parts_ = 1, my_part_ = 0;
    std::vector<planned_reduction::peer> peers_;
    const placement* placement_ = nullptr;  // of the parts, where an axis of the value is split
};

/// The placement of a new result whose axes are split as the loops are, with ghost layers as wide as the operands'.
std::shared_ptr<const placement> placement_of_new(const loops& all, std::span<const placement* const> placements) {
    auto made = std::make_shared<placement>();
    std::vector<index_t> ghost_of(static_cast<std::size_t>(all.mesh()->axes()), 0);
    for (const placement* p : placements) {
        if (p == nullptr) continue;
        if (!made->mesh) made->mesh = p->mesh;
        for (std::size_t g = 0; g < p->over.size(); ++g)
            if (p->over[g] >= 0) {
                index_t& width = ghost_of[static_cast<std::size_t>(p->over[g])];
                width = std::max(width, p->ghosts[g]);
            }
    }
    for (int j = 0; j < all.rank(); ++j) {
        const loop& l = all.all()[static_cast<std::size_t>(j)];
        made->shape.push_back(l.extent);
        made->over.push_back(l.over);
        made->ranges.push_back(l.over < 0 ? std::vector<range>{{0, l.extent}} : l.ranges);
        made->ghosts.push_back(l.over < 0 ? 0 : ghost_of[static_cast<std::size_t>(l.over)]);
    }
    return made->mesh->session->shared(std::move(made));
}

bool is_split_along(const loops& all, int axes) {
    for (int j = 0; j < axes; ++j)
        if (all.all()[static_cast<std::size_t>(j)].over >= 0) return true;
    return false;
}

void plan_writing(statement_plan& plan, const statement& s, const draft& d, const loops& all,
                  std::span<const int> result) {
    const placement& first = *storage_of(**s.outputs[0].memory).where;
    const int rank = first.mesh->session->rank;
    std::vector<std::pair<int, index_t>> owners;
    for (const output& o : s.outputs) {
        if (!*o.memory || !is_distributed(o.memory->get()))
            throw distributed_error("[distributed] one statement writes an array in parts and an ordinary one");
        if (o.scattered)
            throw distributed_error("[distributed] writes at computed places have no form for arrays in parts");
        const distributed_storage& storage = storage_of(**o.memory);
        const placement& p = *storage.where;
        access a;
        if (!take_apart(a, p, *o.where))
            throw distributed_error("[distributed] a reshaped view of an array in parts is not written");
        loops own(d.program, d.operands, d.attributes, *o.where);
        own.follow(p, *o.where, result);
        for (const int j : result) {
            const loop &x = all.all()[static_cast<std::size_t>(j)], &y = own.all()[static_cast<std::size_t>(j)];
            if (x.over != y.over || x.ranges != y.ranges)
                throw distributed_error("[distributed] arrays of two partitions are written by one statement");
        }
        const box own_box = p.box_of(rank);
        std::vector<std::pair<int, index_t>>
            at;  // of split axes at one index: the mesh axis and the place that owns it
        for (std::size_t g = 0; g < p.over.size(); ++g) {
            if (p.over[g] < 0) continue;
            if (std::ranges::all_of(a.steps[g], [](index_t step) { return step == 0; })) {
                const auto owner = std::ranges::find_if(
                    p.ranges[g], [&](const range& r) { return a.first[g] >= r.low && a.first[g] < r.high; });
                at.push_back({p.over[g], owner - p.ranges[g].begin()});
                if (a.first[g] < own_box[g].low || a.first[g] >= own_box[g].high) plan.has_share = false;
            } else if (std::ranges::none_of(
                           result, [&](int j) { return own.all()[static_cast<std::size_t>(j)].over == p.over[g]; })) {
                throw distributed_error(
                    "[distributed] a diagonal over two split axes of an array in parts is not written");
            }
        }
        if (&o != s.outputs.data() && at != owners)
            throw distributed_error("[distributed] rows of two ranks are written by one statement");
        owners = std::move(at);
        plan.written.push_back(narrowed(layout_in(a, *o.where, own_box, storage.owned), all, result, rank));
    }
}

void make_plan(statement_plan& plan, const statement& s) {
    const bool reduces = has_reductions_of_parts(s);
    draft d = draft_of(s, reduces);
    const auto reduce_one = [&] {
        const output& first = s.outputs[0];
        const int rank = *first.memory && !first.scattered ? first.where->rank() : -1;
        const loops outer(d.program, d.operands, d.attributes, rank);
        return d.find_value(
            [&](std::size_t w, const beginning& b, std::size_t operands_end, std::size_t attributes_end) {
                if (detail::kind_of_word(d.program[w]) != word_kind::reduce) return false;
                taken_reduction taken(plan, d, outer, w, b, operands_end, attributes_end);
                if (taken.is_over_parts()) taken.replace();
                return taken.is_over_parts();
            });
    };
    while (reduces && reduce_one()) plan.keeps_program = false;
    if (!plan.keeps_program) {
        plan.last.program = d.program;
        plan.last.attributes = d.attributes;
    } else if (reduces) {
        d = draft_of(s, false);
    }

    const output& out = s.outputs[0];
    const bool is_into_parts =
        std::ranges::any_of(s.outputs, [](const output& o) { return *o.memory && is_distributed(o.memory->get()); });
    loops all = *out.memory && !out.scattered ? loops(d.program, d.operands, d.attributes, *out.where)
                                              : loops(d.program, d.operands, d.attributes, -1);
    std::vector<int> result;
    for (int j = 0; j < all.rank(); ++j) result.push_back(j);
    // An array that is written decides: an ordinary one is computed whole on every rank.
    if (is_into_parts && *out.memory && is_distributed(out.memory->get()))
        all.follow(*storage_of(**out.memory).where, *out.where, result);
    if (!*out.memory) all.follow_operands(d.operands, d.placements);
    plan.last.operands = plan_operands(d, 0, d.operands.size(), all);
    const int rank = all.mesh() == nullptr ? 0 : all.mesh()->session->rank;
    if (is_into_parts) {
        plan_writing(plan, s, d, all, result);
    } else if (is_split_along(all, all.rank())) {
        plan.made = placement_of_new(all, d.placements);
    }
    for (const int j : result)
        if (all.all()[static_cast<std::size_t>(j)].over >= 0 && all.range_of(j, rank).size() == 0)
            plan.has_share = false;
}

// ---- kept plans ----------------------------------------------------------------------------------------------------

void add(std::vector<std::uint64_t>& key, const detail::layout& l) {
    key.push_back(static_cast<std::uint64_t>(l.rank()));
    key.push_back(static_cast<std::uint64_t>(l.offset));
    for (int j = 0; j < l.rank(); ++j) {
        key.push_back(static_cast<std::uint64_t>(l.shape()[j]));
        key.push_back(static_cast<std::uint64_t>(l.strides()[j]));
    }
}

/// All that a plan depends on. Placements are shared by content while a session lives, so that their addresses say all.
void write_key(std::vector<std::uint64_t>& key, const statement& s) {
    key.clear();
    key.push_back(s.program.size() << 32 | s.attributes.size() << 16 | s.outputs.size());
    for (const word w : s.program) key.push_back(w);
    for (const word w : s.attributes) key.push_back(w);
    for (const operand& o : s.operands) {
        key.push_back(static_cast<std::uint64_t>(o.kind) << 8 | static_cast<std::uint64_t>(o.type));
        if (o.where != nullptr) add(key, *o.where);
        key.push_back(reinterpret_cast<std::uintptr_t>(placement_of(o)));
    }
    for (const output& o : s.outputs) {
        const buffer* const memory = o.memory->get();
        key.push_back(static_cast<std::uint64_t>(memory != nullptr) << 9 |
                      static_cast<std::uint64_t>(o.scattered) << 8 | static_cast<std::uint64_t>(o.type));
        key.push_back(is_distributed(memory) ? reinterpret_cast<std::uintptr_t>(storage_of(*memory).where.get()) : 0);
        if (memory != nullptr) add(key, *o.where);
    }
}

std::uint64_t hash_of(const std::vector<std::uint64_t>& key) noexcept {
    std::uint64_t h = 0x9e3779b97f4a7c15U;
    for (const std::uint64_t k : key) {
        h = (h ^ k) * 0xff51afd7ed558ccdU;
        h ^= h >> 32;
    }
    return h;
}

constexpr std::size_t most_plans = 1024;

}  // namespace

rank_session& session_of(const statement& s) {
    for (const operand& o : s.operands)
        if (is_distributed(o.memory)) return storage_of(*o.memory).session();
    for (const output& o : s.outputs)
        if (is_distributed(o.memory->get())) return storage_of(**o.memory).session();
    throw error("[distributed] a statement without arrays in parts");
}

const statement_plan& plan_of(const statement& s) {
    rank_session& session = session_of(s);
    if (session.has_ended())
        throw distributed_error(
            "[distributed] the session of an array in parts has ended; distributed::local(x) reads it");
    plan_table& table = session.plans();
    write_key(table.key, s);
    const std::uint64_t hash = hash_of(table.key);
    const auto [first, last] = table.plans.equal_range(hash);
    for (auto at = first; at != last; ++at)
        if (at->second->key == table.key) return at->second->plan;
    auto made = std::make_unique<plan_table::entry>();
    made->key = table.key;
    for (const operand& o : s.operands)
        if (is_distributed(o.memory)) made->named.push_back(storage_of(*o.memory).where);
    for (const output& o : s.outputs)
        if (is_distributed(o.memory->get())) made->named.push_back(storage_of(**o.memory).where);
    make_plan(made->plan, s);
    if (table.plans.size() >= most_plans) table.plans.clear();
    return table.plans.emplace(hash, std::move(made))->second->plan;
}

const placement* placement_of_result(const statement& s) {
    if (has_reductions_of_parts(s)) return nullptr;
    return plan_of(s).made.get();
}

}  // namespace ingot::runtime
