// Lowers a key to a graph: a stack machine over the program's postfix words. Every node goes through `intern`, which
// gives equal nodes one number, so a subtree that was written three times is one node; casts are nodes like any other.
#include <algorithm>
#include <array>
#include <span>

#include <ingot/core/error.hpp>
#include <ingot/core/folds.hpp>

#include "codegen/graph/builder.hpp"
#include "codegen/graph/complex_parts.hpp"
#include "codegen/graph/graph.hpp"
#include "codegen/graph/halves.hpp"
#include "codegen/graph/key_loops.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

class lowering : graph_builder {
public:
    lowering(const key& k, loops l) : key_(k), walked_(l), loops_(k) {
        if (l == loops::shared) loops_.share();
        graph_.loop_axis = loops_.of_axes();
    }

    graph run() {
        value_of_word_.reserve(key_.program.size());
        for (const word w : key_.program) {
            const node_id value = lower_word(w);
            stack_.push_back(value);
            value_of_word_.push_back(value);
        }
        if (stack_.size() != key_.outputs.size() || next_operand_ != key_.operands.size())
            throw error("[lower] the program does not leave one value for each output");
        for (std::size_t i = 0; i < stack_.size(); ++i)
            graph_.roots.push_back(written_as(stack_[i], key_.outputs[i].head.type));
        drop_unused(graph_);
        split_complex(graph_);
        widen_halves(graph_, key_.header.math == math_mode::strict);
        return std::move(graph_);
    }

private:
    node_id written_as(node_id value, dtype type) {
        if (at(value).kind != node_kind::scatter) return cast(value, type);
        node n = at(value);
        n.type = type;
        n.arguments[0] = cast(n.arguments[0], type);
        return intern(n);
    }
    node_id lower_scatter(word w) {
        node n;
        n.kind = node_kind::scatter;
        n.type = dtype_of_word(w);
        n.code = static_cast<std::uint16_t>(code_of_word(w));
        n.arity = 2;
        n.arguments[1] = cast(pop(), dtype::i8);
        n.arguments[0] = pop();
        n.axes = at(n.arguments[0]).axes | at(n.arguments[1]).axes;
        return intern(n);
    }

    node_id pop() {
        if (stack_.empty()) throw error("[lower] the program takes a value that is not there");
        const node_id top = stack_.back();
        stack_.pop_back();
        return top;
    }

    std::uint16_t take_operand() {
        if (next_operand_ >= key_.operands.size())
            throw error("[lower] the program takes an operand that is not there");
        return static_cast<std::uint16_t>(next_operand_++);
    }

    node_id operand(std::uint16_t index, std::uint32_t code = 0) {
        node n;
        n.code = static_cast<std::uint16_t>(code);
        n.index = loops_.first_same(index);
        n.type = key_.operands[index].head.type;
        n.axes = loops_.in_loops(loops_.axes_of(n.index));
        return intern(n);
    }

    node_id lower_word(word w) {
        switch (kind_of_word(w)) {
            case word_kind::leaf:
            case word_kind::scalar:
                return operand(take_operand());
            case word_kind::generator:
                return operand(take_operand(), code_of_word(w));
            case word_kind::map:
                return lower_map(w);
            case word_kind::reference: {
                if (code_of_word(w) >= value_of_word_.size()) throw error("[lower] the program refers to a later word");
                return value_of_word_[code_of_word(w)];
            }
            case word_kind::reduce:
            case word_kind::scan:
            case word_kind::gather:
            case word_kind::unravel:
                return lower_binder(w);
            case word_kind::library:
                return lower_library(w);
            case word_kind::text:
                return text();
            case word_kind::user:
                return lower_user(w);
            case word_kind::scatter:
                return lower_scatter(w);
            case word_kind::lazy:
                break;
        }
        throw error("[lower] a lazy program must be spliced before its key is lowered");
    }

    /// The text of this number; equal texts with equal types are one.
    node_id text() {
        const std::uint16_t operand = key_.operands[take_operand()].head.same_as;
        const user_text given = read_user_text(key_.operands[operand].text, key_.operands[operand].binding);
        const auto known = std::find(graph_.texts.begin(), graph_.texts.end(), given);
        node n;
        n.kind = node_kind::text;
        n.index = static_cast<std::uint16_t>(known - graph_.texts.begin());
        if (known == graph_.texts.end()) graph_.texts.push_back(given);
        return intern(n);
    }
    std::uint16_t pop_text() {
        const node& n = at(pop());
        if (n.kind != node_kind::text) throw error("[lower] a user's function has no text");
        return n.index;
    }

    node_id lower_user(word w) {
        node n;
        n.kind = node_kind::user;
        n.type = dtype_of_word(w);
        n.index = pop_text();
        n.code = static_cast<std::uint16_t>(code_of_word(w) >> 8);
        n.arity = static_cast<std::uint8_t>(arity_of_word(w) - 1);
        const user_text& t = graph_.texts[n.index];
        const bool post = t.reduces() && static_cast<user_part>(n.code) == user_part::post;
        // Behind the joined value stand the numbers of elements before and after; they are dropped where the text does
        // not use them.
        if (n.code >= (t.reduces() ? 2 : t.outputs.size()) ||
            (post ? n.arity != 1 && n.arity != 3 : n.arity != t.inputs.size()))
            throw error("[lower] a user's text has no such function");
        for (; post && n.arity > 1 && !t.counts(); --n.arity) pop();
        for (std::size_t i = n.arity; i-- > 0;) {
            const node_id given = pop();
            n.arguments[i] = cast(given, !post ? t.inputs[i].of : i == 0 ? t.partial.of : dtype::i8);
            if (!t.reduces() && !asks_for(t, i)) n.arguments[i] = constant(dtype::i8, 0);
            n.axes |= at(n.arguments[i]).axes;
        }
        return intern(n);
    }

    /// Whether an elementwise text reads its input `i`. The last two inputs, the element's number and the count, are
    /// optional.
    static bool asks_for(const user_text& t, std::size_t i) {
        return t.writes || i + 2 < t.inputs.size() || has_name(t.parts[0], i + 1 < t.inputs.size() ? "i" : "_ind");
    }

    node_id lower_map(word w) {
        const op o = op_of_word(w);
        const op_facts& row = facts(o);
        std::array<node_id, 3> given{};
        for (std::size_t i = row.arity; i-- > 0;) given[i] = pop();
        if (o == op::astype) return cast(given[0], dtype_of_word(w));
        if (o == op::bit_cast)
            return at(given[0]).type == dtype_of_word(w) ? given[0] : map(o, dtype_of_word(w), {given[0]});

        std::array<operand_type, 3> types{};
        for (std::size_t i = 0; i < row.arity; ++i) types[i] = {at(given[i]).type};
        if (row.name == "power") {
            const node& exponent = at(given[1]);
            if (exponent.kind == node_kind::operand &&
                key_.operands[exponent.index].head.exponent != exponent_class::none)
                return lower_power(given[0], dtype_of_word(w), key_.operands[exponent.index].head.exponent);
        }
        const signature s = resolve(o, types.data());
        if (!s.legal) throw dtype_error("[" + std::string(row.name) + "] has no body for these dtypes");
        std::array<node_id, 3> arguments = given;
        for (std::size_t i = 0; i < row.arity; ++i) arguments[i] = cast(given[i], s.computes[i]);
        node n;
        n.kind = node_kind::map;
        n.type = row.rule == rule::special ? s.computes[0] : s.result;
        n.code = static_cast<std::uint16_t>(o);
        n.arity = row.arity;
        for (std::size_t i = 0; i < row.arity; ++i) {
            n.arguments[i] = arguments[i];
            n.axes |= at(arguments[i]).axes;
        }
        return cast(intern(n), s.result);
    }

    node_id lower_power(node_id base, dtype type, exponent_class exponent) {
        const node_id x = cast(base, type);
        const op multiply = row_named("multiply"), divide = row_named("divide"), root = row_named("sqrt");
        switch (exponent) {
            case exponent_class::two:
                return map(multiply, type, {x, x});
            case exponent_class::three:
                return map(multiply, type, {map(multiply, type, {x, x}), x});
            case exponent_class::half:
                return map(root, type, {x});
            case exponent_class::minus_half:
                return map(divide, type, {constant(type, 1), map(root, type, {x})});
            default:
                return map(divide, type, {constant(type, 1), x});
        }
    }

    /// The first binder that walks the same loops in the same order, which decides the places.
    std::uint16_t first_binder_like(std::size_t binder) const {
        const std::vector<std::uint8_t> own = loops_.loops_of(binder);
        for (std::size_t b = 0; !own.empty() && b < binder; ++b)
            if (loops_.loops_of(b) == own) return static_cast<std::uint16_t>(b);
        return static_cast<std::uint16_t>(binder);
    }

    /// A fold over axes of extent 1, which were collapsed away: the operand itself, its truth, or its place, which is
    /// 0. The 0 is made from the element, for without it the graph would lose the loop that walks the operand's axes.
    node_id of_one(fold f, node_id element, dtype type) {
        const fold_rule rule = facts(f).rule;
        if (rule == fold_rule::own || rule == fold_rule::sums) return cast(element, type);
        const node_id truth = cast(cast(element, dtype::b1), type);
        if (rule != fold_rule::arg_reduction) return truth;
        return map(row_named("multiply"), type, {truth, constant(type, 0)});
    }

    node_id lower_binder(word w) {
        const word_kind kind = kind_of_word(w);
        node n;
        const std::uint64_t bound = loops_.in_loops(loops_.bound_axes(binders_));
        n.index = first_binder_like(binders_++);
        n.code = static_cast<std::uint16_t>(code_of_word(w));
        n.type = dtype_of_word(w);
        if (kind == word_kind::gather) n.arguments[1] = pop();
        const bool user = kind == word_kind::reduce && static_cast<fold>(n.code) == fold::user;
        if (user) n.pick = pop_text();
        n.arguments[0] = pop();
        n.arity = kind == word_kind::gather ? 2 : 1;
        n.axes = at(n.arguments[0]).axes & ~bound;
        if ((kind == word_kind::gather || kind == word_kind::unravel) && n.type != at(n.arguments[0]).type)
            throw error("[lower] " + std::string(name(n.type)) + " is read of what is " +
                        std::string(name(at(n.arguments[0]).type)));
        if (kind == word_kind::gather && (bound == 0 || kind_of(at(n.arguments[1]).type) != kind::integer))
            throw error("[lower] a gather binds no axis, or its index is no integer");
        if (kind == word_kind::reduce) {
            n.kind = node_kind::reduce;
            const auto f = static_cast<fold>(n.code);
            // A fold gets its operand in the dtype in which it folds.
            const bool sums = f == fold::sum || f == fold::prod || user;
            if (sums) n.arguments[0] = cast(n.arguments[0], n.type);
            if (bound == 0) return of_one(f, n.arguments[0], n.type);
        } else if (kind == word_kind::gather) {
            n.kind = node_kind::gather;
            n.axes |= at(n.arguments[1]).axes;
        } else {
            n.kind = kind == word_kind::scan ? node_kind::scan : node_kind::unravel;
            n.pick = loops_.first_same(take_operand());
            if (kind == word_kind::scan) n.arguments[0] = cast(n.arguments[0], n.type);
            // A reshape whose axes merged, or a scan or reshape over axes of extent 1: its operand is the result.
            if (bound == 0) return n.arguments[0];
            const std::uint64_t picked = loops_.in_loops(loops_.axes_of(n.pick));
            if (kind == word_kind::scan && walked_ == loops::shared) {
                // All prefixes, in a loop along which they move; other places (flipped, sliced) are read as by a
                // reshape.
                node whole = n;
                whole.pick = 0;
                whole.axes = at(n.arguments[0]).axes | bound;
                n.arguments[0] = intern(whole);
                if ((picked & bound) != 0) return n.arguments[0];
                n.kind = node_kind::unravel;
                n.code = 0;
            }
            n.axes |= picked;
        }
        return intern(n);
    }

    /// The library's whole result, from operands in memory, read at the pick's place.
    node_id lower_library(word w) {
        const library_facts& row = facts(static_cast<library_function>(code_of_word(w)));
        const std::vector<std::uint8_t> own = loops_.loops_of(binders_);
        if (own.size() != static_cast<std::size_t>(row.axes)) throw error("[lower] a library binds other axes");
        const std::uint64_t bound = loops_.in_loops(loops_.bound_axes(binders_));
        const auto loops_in = [&](std::uint32_t mask) {
            std::uint64_t bits = 0;
            for (std::size_t i = 0; i < own.size(); ++i)
                if (mask >> i & 1u) bits |= std::uint64_t{1} << own[i];
            return bits;
        };
        node whole;
        whole.kind = node_kind::library;
        whole.type = dtype_of_word(w);
        whole.code = static_cast<std::uint16_t>(code_of_word(w));
        whole.index = first_binder_like(binders_++);
        whole.arity = static_cast<std::uint8_t>(row.arity());
        std::uint64_t batch = 0;
        for (std::size_t i = whole.arity; i-- > 0;) {
            const node_id value = pop();
            const node_id given = whole.arguments[i] =
                row.takes == detail::library_operand::own ? value : cast(value, type_taken(row.takes, whole.type));
            batch |= at(given).axes & ~bound;
            if (walked_ == loops::own || is_taken_as_it_lies(given)) continue;
            node stored;
            stored.kind = node_kind::store;
            stored.type = at(given).type;
            stored.code = row.operands[i];
            stored.index = whole.index;
            stored.arity = 1;
            stored.arguments[0] = given;
            stored.axes = (at(given).axes & ~bound) | loops_in(row.operands[i]);
            whole.arguments[i] = intern(stored);
        }
        whole.axes = batch | loops_in(row.result);
        node n;
        n.kind = node_kind::view;
        n.type = whole.type;
        n.arity = 1;
        n.arguments[0] = intern(whole);
        n.pick = loops_.first_same(take_operand());
        n.axes = batch | loops_.in_loops(loops_.axes_of(n.pick));
        return intern(n);
    }
    bool is_taken_as_it_lies(node_id id) const {
        return at(id).kind == node_kind::operand && key_.operands[at(id).index].head.suits_library;
    }

    const key& key_;
    const loops walked_;
    key_loops loops_;
    std::vector<node_id> stack_, value_of_word_;
    std::size_t next_operand_ = 0, binders_ = 0;
};

}  // namespace

std::vector<node_id> users_of(const graph& g, node_id of) {
    std::vector<node_id> users;
    for (node_id i = of + 1; i < g.nodes.size(); ++i) {
        const auto used = std::span(g.nodes[i].arguments).first(g.nodes[i].arity);
        if (std::ranges::find(used, of) != used.end()) users.push_back(i);
    }
    return users;
}

void drop_unused(graph& g) {
    std::vector<bool> used(g.nodes.size());
    for (const node_id r : g.roots) used[r] = true;
    for (std::size_t i = g.nodes.size(); i-- > 0;)
        if (used[i])
            for (int a = 0; a < g.nodes[i].arity; ++a) used[g.nodes[i].arguments[a]] = true;
    std::vector<node_id> moved(g.nodes.size(), no_node);
    std::size_t count = 0;
    for (std::size_t i = 0; i < used.size(); ++i) {
        if (!used[i]) continue;
        node n = g.nodes[i];
        for (int a = 0; a < n.arity; ++a) n.arguments[a] = moved[n.arguments[a]];
        moved[i] = static_cast<node_id>(count);
        g.nodes[count++] = n;
    }
    g.nodes.resize(count);
    for (node_id& r : g.roots) r = moved[r];
}

graph lower(const key& k, loops l) { return lowering(k, l).run(); }

}  // namespace ingot::codegen
