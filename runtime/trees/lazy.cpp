// Splices run-time trees, and evaluates the parts that must be arrays before a statement can run.
#include "runtime/trees/lazy.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include <ingot/core/device.hpp>
#include <ingot/core/error.hpp>

#include "runtime/front/evaluate.hpp"
#include "runtime/trees/joins_in_parts.hpp"
#include "runtime/trees/value_in_memory.hpp"

namespace ingot::runtime {

using detail::index_t;
using detail::operand_kind;
using detail::word;
using detail::word_kind;

namespace {

const tree_node& tree_of(const operand& o) { return *static_cast<const tree_node*>(o.tree); }

/// A word that refers to the value of word number `earlier`; `like` has its dtype.
word reference_to(std::uint32_t earlier, word like) {
    if (earlier >= detail::most_codes)
        throw error("[evaluate] a statement of more than " + std::to_string(detail::most_codes) +
                    " nodes; evaluate a part first, by eval(part), which is then one node");
    return detail::make_word(word_kind::reference, detail::dtype_of_word(like), earlier);
}

/// Appends the sources of the materialized leaves in the piece that ends in `root`, each once in a call.
void find_materialized(const tree_node& root, std::vector<tree_node*>& found) {
    auto& [met, open] = tree_walk::begin();
    open.push_back({&root, 0});
    while (!open.empty()) {
        const tree_node& n = *open.back().node;
        open.pop_back();
        if (may_be_shared(n) && met.insert(&n, 0, 0) != node_table::absent) continue;
        if (tree_node* source = materialized_source(n))
            if (met.insert(source, 1, 0) == node_table::absent) found.push_back(source);
        for (int i = arity_of(n); i-- > 0;) open.push_back({arguments_of(n)[i], 0});
    }
}

/// Writes trees as program words. A thread has one at a time; the next one reuses its memory.
class splicer {
public:
    splicer(spliced& out, const materialized_results& results)
        : out_(out),
          results_(results),
          written_(per_thread<memory>::own().written),
          open_(per_thread<memory>::own().open) {
        out_.clear();
        written_.clear();
        open_.clear();
    }

    /// A context is a list of axes over which nodes are computed; equal nodes in one context are equal values.
    std::uint32_t new_context() noexcept { return ++contexts_; }

    void write(const tree_node& root, std::uint32_t context) {
        open_.push_back({&root, context, 0});
        while (!open_.empty()) {
            frame& f = open_.back();
            const tree_node& n = *f.node;
            const int arity = arity_of(n);
            const bool shared = arity > 0 && may_be_shared(n);
            if (shared && f.next == 0) {
                const std::uint32_t earlier = written_.at(&n, f.context);
                if (earlier != node_table::absent) {
                    out_.program.push_back(reference_to(earlier, n.code));
                    open_.pop_back();
                    continue;
                }
                if (const buffer* known = results_.find_if_there(n)) {
                    write_result(n, *known);
                    open_.pop_back();
                    continue;
                }
            }
            if (f.next < arity) {
                const int i = f.next++;
                const bool inner = detail::binds_value(kind_of(n), i);
                open_.push_back({arguments_of(n)[i], inner ? new_context() : f.context, 0});
                continue;
            }
            if (shared) written_.insert(&n, f.context, static_cast<std::uint32_t>(out_.program.size()));
            write_word(n);
            open_.pop_back();
        }
    }

private:
    struct frame {
        const tree_node* node;
        std::uint32_t context;
        int next;
    };

    /// Reads a node's value from the array of an evaluated piece, as a view of it does, instead of computing it again.
    void write_result(const tree_node& n, const buffer& result) {
        const dtype type = detail::dtype_of_word(n.code);
        out_.program.push_back(detail::make_word(word_kind::leaf, type));
        operand& o = out_.operands.emplace_back();
        o.kind = operand_kind::array;
        o.type = type;
        o.device = n.device;
        o.where = &out_.layouts.emplace_back(detail::contiguous_layout(n.extents().span()));
        o.memory = &result;
    }

    void write_word(const tree_node& n) {
        out_.program.push_back(n.code);
        if (detail::is_binder(kind_of(n))) out_.attributes.push_back(n.bound);
        if (detail::operands_of_word(n.code) == 0) return;
        operand& o = out_.operands.emplace_back();
        switch (kind_of(n)) {
            case word_kind::scalar:
                if (is_whole_array(n)) {
                    write_leaf_node(n, operand_kind::raw, o);
                    break;
                }
                [[fallthrough]];
            case word_kind::text: {
                const auto& s = static_cast<const number&>(n);
                o.kind = kind_of(n) == word_kind::scalar ? operand_kind::scalar : operand_kind::text;
                o.type = s.type;
                o.exponent = s.exponent;
                std::copy_n(s.value.bits, 2, o.bits);
                o.serial = s.value.serial;
                break;
            }
            case word_kind::leaf:
            case word_kind::generator:
                write_leaf_node(n, kind_of(n) == word_kind::leaf ? operand_kind::array : operand_kind::generator, o);
                break;
            default:
                o.kind = operand_kind::pick;
                o.type = dtype::i8;
                o.where = &static_cast<const picking_branch&>(n).pick;
        }
    }

    void write_leaf_node(const tree_node& n, operand_kind kind, operand& o) {
        const auto& l = static_cast<const leaf_node&>(n);
        o.kind = kind;
        o.type = detail::dtype_of_word(n.code);
        o.device = n.device;
        o.where = &l.where;
        o.memory = l.source ? results_.find(*l.source) : l.memory.get();
        std::copy_n(l.bits, 2, o.bits);
        o.serial = l.last;
    }

    struct memory {
        node_table written;
        std::vector<frame> open;
    };
    spliced& out_;
    const materialized_results& results_;
    node_table& written_;
    std::vector<frame>& open_;
    std::uint32_t contexts_ = 0;
};

detail::layout without_leading(const detail::layout& l, int axes) {
    detail::layout rest(l.rank() - axes);
    rest.offset = l.offset;
    std::copy_n(l.shape() + axes, rest.rank(), rest.shape());
    std::copy_n(l.strides() + axes, rest.rank(), rest.strides());
    return rest;
}

bool finds_digits(word code) { return detail::code_of_word(code) == static_cast<word>(detail::place_rule::digits); }

/// Whether a reduction, scan or other binder (unravels and gathers do not count) is among the words from `program` on.
bool has_other_binders(const spliced& words, std::size_t program, std::size_t attribute) {
    for (std::size_t w = program; w < words.program.size(); ++w) {
        const word_kind kind = detail::kind_of_word(words.program[w]);
        if (!detail::is_binder(kind)) continue;
        if (words.attributes[attribute++] != 0 && kind != word_kind::unravel && kind != word_kind::gather) return true;
    }
    return false;
}

/// The words beneath a reshape.
std::vector<bool> words_beneath_reshapes(const spliced& words) {
    std::vector<bool> beneath(words.program.size());
    std::vector<std::size_t> first;  // of each value on the program's stack: its first word
    std::size_t binder = 0;
    for (std::size_t w = 0; w < words.program.size(); ++w) {
        const word_kind kind = detail::kind_of_word(words.program[w]);
        const auto arity = static_cast<std::size_t>(detail::arity_of_word(words.program[w]));
        const std::size_t begin = arity == 0 ? w : first[first.size() - arity];
        first.resize(first.size() - arity);
        first.push_back(begin);
        const bool binds = detail::is_binder(kind) && words.attributes[binder++] != 0;
        if (binds && kind == word_kind::unravel)
            std::fill(beneath.begin() + static_cast<std::ptrdiff_t>(begin),
                      beneath.begin() + static_cast<std::ptrdiff_t>(w), true);
    }
    return beneath;
}

/// Whether a statement binds axes outside its reshapes. Binders beneath a reshape are evaluated with its operand.
bool binds_outside_reshapes(const spliced& words, const std::vector<bool>& beneath) {
    std::size_t binder = 0;
    for (std::size_t w = 0; w < words.program.size(); ++w) {
        const word_kind kind = detail::kind_of_word(words.program[w]);
        if (!detail::is_binder(kind)) continue;
        const bool binds = words.attributes[binder++] != 0;
        if (binds && !beneath[w] && kind != word_kind::unravel && kind != word_kind::gather) return true;
    }
    return false;
}

/// Whether a value moves along one of its first `lead` axes; `operands` begins at its first operand.
bool moves_along_leading(std::span<const operand> operands, int lead) {
    for (const operand& o : operands)
        for (int j = 0; has_axes(o) && j < lead; ++j)
            if (o.where->strides()[j] != 0 && o.where->shape()[j] != 1) return true;
    return false;
}

struct context_lists {
    std::vector<std::uint32_t> contexts, open;
};

/// The context of each word of a program. All outputs share one; outputs of several shapes have one each. The span is
/// valid until the thread's next call.
std::span<const std::uint32_t> contexts_of(std::span<const word> program, bool several, splicer& s) {
    const std::uint32_t outermost = s.new_context();
    auto& [contexts, open] = per_thread<context_lists>::own();
    contexts.resize(program.size());
    open.clear();
    for (std::size_t w = program.size(); w-- > 0;) {
        if (open.empty()) open.push_back(several ? s.new_context() : outermost);
        const std::uint32_t here = contexts[w] = open.back();
        open.pop_back();
        for (int i = 0; i < detail::arity_of_word(program[w]); ++i)
            open.push_back(detail::binds_value(detail::kind_of_word(program[w]), i) ? s.new_context() : here);
    }
    return contexts;
}

}  // namespace

bool binds_many_axes(const statement& s) {
    if (s.is_piece) return false;
    std::size_t axes = 0;
    for (const word bound : s.attributes) axes += bound;
    for (const operand& o : s.operands)
        if (o.kind == operand_kind::lazy) axes += tree_of(o).bound_axes;
    if (axes > static_cast<std::size_t>(piece_axes) && s.attributes.empty())  // none of the statement's own
        axes = static_cast<std::size_t>(bound_axes_of(s.operands, !s.shapes.empty()));
    return axes > static_cast<std::size_t>(piece_axes) && std::ranges::none_of(s.program, [](word w) {
               const word_kind kind = detail::kind_of_word(w);
               return kind == word_kind::scatter || kind == word_kind::reference;
           });
}

std::vector<piece> pieces_of(const statement& s) {
    // The search is depth first, with a stack on the heap.
    struct frame {
        piece open;
        std::size_t next = 0;
    };
    std::vector<piece> order;
    std::vector<frame> stack(1);
    for (const operand& o : s.operands)
        if (o.kind == operand_kind::lazy) find_materialized(tree_of(o), stack[0].open.reads);
    node_table met;
    while (!stack.empty()) {
        frame& f = stack.back();
        if (f.next == f.open.reads.size()) {
            order.push_back(std::move(f.open));
            stack.pop_back();
        } else if (tree_node* below = f.open.reads[f.next++]; met.insert(below, 0, 0) == node_table::absent) {
            stack.push_back({{below, {}}});
            find_materialized(*below, stack.back().open.reads);
        }
    }
    return order;
}

void splice(spliced& out, const tree_node& root, const materialized_results& results) {
    splicer(out, results).write(root, 0);
}

void splice(spliced& out, const statement& s, const materialized_results& results) {
    splicer writer(out, results);
    const std::span<const std::uint32_t> contexts = contexts_of(s.program, !s.shapes.empty(), writer);
    std::size_t next_operand = 0, next_attribute = 0;
    for (std::size_t w = 0; w < s.program.size(); ++w) {
        const word code = s.program[w];
        if (detail::kind_of_word(code) == word_kind::lazy) {
            writer.write(tree_of(s.operands[next_operand++]), contexts[w]);
            continue;
        }
        out.program.push_back(code);
        if (detail::operands_of_word(code)) out.operands.push_back(s.operands[next_operand++]);
        if (detail::is_binder(detail::kind_of_word(code))) out.attributes.push_back(s.attributes[next_attribute++]);
    }
}

struct low_half_of_hash {
    std::size_t operator()(const detail::tree_hash& h) const noexcept { return h.low; }
};

/// The arrays of the pieces, each kept until the last piece that reads it. Pieces of equal structure share one.
class flat_statement::store final : public materialized_results {
public:
    const buffer* find(const tree_node& source) const override { return entries_.at(source.hash).memory.get(); }
    const buffer* find_if_there(const tree_node& n) const override {
        if (entries_.empty()) return nullptr;
        const auto e = entries_.find(n.hash);
        return e == entries_.end() ? nullptr : e->second.memory.get();
    }
    void expect_use(const tree_node& source) { ++entries_[source.hash].uses; }
    void use(const tree_node& source) {
        const auto e = entries_.find(source.hash);
        if (--e->second.uses == 0) entries_.erase(e);
    }
    void clear() noexcept { entries_.clear(); }
    /// Null where the array is stored already.
    buffer_ref* memory_for(const tree_node& source) {
        entry& e = entries_.at(source.hash);
        return e.memory ? nullptr : &e.memory;
    }

private:
    struct entry {
        buffer_ref memory;
        std::uint32_t uses = 0;
    };
    std::unordered_map<detail::tree_hash, entry, low_half_of_hash> entries_;
};

/// A value that has been evaluated for the statement: another occurrence of it reads the same array.
struct known_value {
    spliced words;
    std::vector<detail::layout> layouts;  // of its operands
    const detail::buffer* memory;
};

bool are_equal(const detail::layout* a, const detail::layout* b) {
    if (a == nullptr || b == nullptr) return a == b;
    return a->rank() == b->rank() && a->offset == b->offset &&
           std::equal(a->shape(), a->shape() + a->rank(), b->shape()) &&
           std::equal(a->strides(), a->strides() + a->rank(), b->strides());
}
bool is_value(const known_value& known, const spliced& words) {
    return known.words.program == words.program && known.words.attributes == words.attributes &&
           std::ranges::equal(known.words.operands, words.operands, [](const operand& a, const operand& b) {
               return have_one_origin(a, b) && are_equal(a.where, b.where);
           });
}

struct flat_statement::workspace {
    std::vector<tree_ref> roots;  // of the outputs, where the statement itself is cut
    store pieces;
    spliced words;
    std::vector<buffer_ref> reshaped;
    std::deque<known_value> known;  // those in `reshaped`; operands point to their layouts, so none moves
    std::deque<detail::layout> layouts;
};

namespace {

struct source_list {
    std::vector<tree_node*> found;
};

/// Whether a statement's trees have materialized leaves, so that other pieces must be evaluated first.
bool has_pieces_below(const statement& s) {
    std::vector<tree_node*>& found = per_thread<source_list>::own().found;
    found.clear();
    for (const operand& o : s.operands)
        if (o.kind == operand_kind::lazy) find_materialized(tree_of(o), found);
    return !found.empty();
}

/// Where the program of each output's value begins.
std::vector<std::size_t> beginnings_of(std::span<const word> program, std::size_t outputs) {
    std::vector<std::size_t> first(outputs);
    for (std::size_t w = program.size(); outputs-- > 0; first[outputs] = w)
        for (int open = 1; open > 0;) open += detail::arity_of_word(program[--w]) - 1;
    return first;
}

}  // namespace

struct shared_pieces::tables {
    std::unordered_map<detail::tree_hash, buffer_ref, low_half_of_hash> arrays;
    tables* outer;
    static thread_local tables* innermost;
};
thread_local shared_pieces::tables* shared_pieces::tables::innermost = nullptr;

shared_pieces::shared_pieces(std::span<const statement> parts) {
    std::unordered_set<detail::tree_hash, low_half_of_hash> met, of_part;
    for (const statement& s : parts) {
        if (parts.size() == 1 || !has_pieces_below(s)) continue;
        of_part.clear();
        for (const piece& p : pieces_of(s))
            if (p.source && p.source->device != detail::no_device) of_part.insert(p.source->hash);
        for (const detail::tree_hash& h : of_part) {
            if (met.insert(h).second) continue;
            if (!own_) own_.reset(new tables{{}, tables::innermost});
            own_->arrays.try_emplace(h);
        }
    }
    if (own_) tables::innermost = own_.get();
}
shared_pieces::~shared_pieces() {
    if (own_) tables::innermost = own_->outer;
}

buffer_ref* shared_pieces::find(const tree_node& source) {
    for (tables* t = tables::innermost; t != nullptr; t = t->outer)
        if (const auto known = t->arrays.find(source.hash); known != t->arrays.end()) return &known->second;
    return nullptr;
}

void shared_pieces::leave_out_known(std::vector<piece>& pieces) {
    if (tables::innermost == nullptr) return;
    std::unordered_set<detail::tree_hash, low_half_of_hash> read;
    for (std::size_t k = pieces.size(); k-- > 0;) {  // each before those it reads
        piece& p = pieces[k];
        const bool is_read = !p.source || read.contains(p.source->hash);
        const buffer_ref* const known = p.source ? find(*p.source) : nullptr;
        if (known && *known) p.reads.clear();
        for (const tree_node* r : p.reads)
            if (is_read) read.insert(r->hash);
        if (!is_read) pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(k));
    }
}

auto flat_statement::take_workspace() -> std::unique_ptr<workspace, give_back> {
    // There are several where evaluating a piece needs a flat statement in turn.
    auto& spare = per_thread<std::vector<std::unique_ptr<workspace>>>::own();
    if (spare.empty()) {
        spare.reserve(spare.capacity() + 1);  // so that give_back cannot fail
        return std::unique_ptr<workspace, give_back>(new workspace);
    }
    std::unique_ptr<workspace, give_back> own(spare.back().release());
    spare.pop_back();
    return own;
}

void flat_statement::give_back::operator()(workspace* w) const noexcept {
    w->roots.clear();
    w->pieces.clear();
    w->words.clear();
    w->reshaped.clear();
    w->known.clear();
    w->layouts.clear();
    per_thread<std::vector<std::unique_ptr<workspace>>>::own().emplace_back(w);
}

namespace {

/// Where a statement is evaluated: pieces of it that read no array, places alone, belong there too. Empty where none of
/// its operands and outputs has a device.
std::optional<detail::device_id> home_of(const statement& s) {
    for (const operand& o : s.operands) {
        const detail::device_id d = o.kind == operand_kind::lazy ? tree_of(o).device
                                    : o.memory != nullptr        ? o.memory->device
                                                                 : o.device;
        if ((o.kind == operand_kind::lazy || o.memory != nullptr || o.kind == operand_kind::generator) &&
            d != detail::no_device)
            return d;
    }
    for (const output& o : s.outputs)
        if (*o.memory) return (*o.memory)->device;
    return {};
}

}  // namespace

flat_statement::flat_statement(const statement& s, statement_function evaluate)
    : evaluate_(std::move(evaluate)),
      own_(take_workspace()),
      pieces_(own_->pieces),
      words_(own_->words),
      reshaped_(own_->reshaped),
      layouts_(own_->layouts),
      outputs_(s.outputs),
      shapes_(s.shapes) {
    std::optional<with_device> there;
    if (const auto home = home_of(s); home && *home != current_device() && (home->is_host() || home->is_cuda()))
        there.emplace(*home);
    if (binds_many_axes(s))
        splice_as_trees(s);
    else
        splice_with_pieces(s);
    if (has_digits_beside_binders(get())) evaluate_reshaped();
    if (!is_flat(get())) narrow_scans(words_, layouts_);
}

void flat_statement::splice_with_pieces(const statement& s) {
    if (has_pieces_below(s)) evaluate_pieces(s);
    splice(words_, s, pieces_);
}

void flat_statement::splice_as_trees(const statement& s) {
    std::vector<word> program;
    std::vector<operand> operands;
    std::size_t operand_at = 0, attribute_at = 0;
    const std::vector<std::size_t> first = beginnings_of(s.program, s.outputs.size());
    for (std::size_t o = 0; o < first.size(); ++o) {
        const std::size_t end = o + 1 < first.size() ? first[o + 1] : s.program.size();
        const std::span<const word> own = s.program.subspan(first[o], end - first[o]);
        std::size_t own_operands = 0, own_attributes = 0;
        for (const word w : own) {
            own_operands += static_cast<std::size_t>(detail::operands_of_word(w));
            own_attributes += detail::is_binder(detail::kind_of_word(w)) ? 1 : 0;
        }
        tree_ref root = detail::make_tree(own, s.operands.subspan(operand_at, own_operands),
                                          s.attributes.subspan(attribute_at, own_attributes));
        operand_at += own_operands, attribute_at += own_attributes;
        // Otherwise the values of several outputs would be one statement again.
        if (first.size() > 1) root = make_materialized(std::move(root));
        program.push_back(detail::make_word(word_kind::lazy, detail::dtype_of_word(root->code)));
        operand& tree = operands.emplace_back();
        tree.kind = operand_kind::lazy;
        tree.type = detail::dtype_of_word(root->code);
        tree.tree = root.get();
        own_->roots.push_back(std::move(root));
    }
    splice_with_pieces({program, operands, {}, s.outputs, 0, s.shapes});
}

void flat_statement::evaluate_pieces(const statement& s) {
    std::vector<piece> pieces = pieces_of(s);
    shared_pieces::leave_out_known(pieces);
    for (const piece& p : pieces)
        for (const tree_node* r : p.reads) pieces_.expect_use(*r);
    for (const piece& p : pieces) {
        if (!p.source) break;  // the statement itself; the arrays that it reads stay
        buffer_ref* const memory = pieces_.memory_for(*p.source);
        buffer_ref* const shared = memory ? shared_pieces::find(*p.source) : nullptr;
        if (shared && *shared) {
            *memory = *shared;
        } else if (memory) {
            detail::layout where;
            const output out{detail::dtype_of_word(p.source->code), memory, &where};
            if (!p.reads.empty() || !evaluate_join(*p.source, out)) {
                splice(words_, *p.source, pieces_);
                statement own{words_.program, words_.operands, words_.attributes, {&out, 1}};
                own.is_piece = true;
                evaluate_(own);
            }
            if (shared) *shared = *memory;
        }
        for (const tree_node* r : p.reads) pieces_.use(*r);
    }
}

bool flat_statement::evaluate_join(tree_node& root, const output& to) {
    operand whole;
    whole.kind = operand_kind::lazy;
    whole.type = to.type;
    whole.tree = &root;
    const word program = detail::make_word(word_kind::lazy, to.type);
    const statement s{{&program, 1}, {&whole, 1}, {}, {&to, 1}};
    if (!joined_statement(s)) return false;
    evaluate_(s);
    return true;
}

void flat_statement::evaluate_reshaped() {
    spliced old = std::exchange(words_, {});
    words_.layouts = std::move(old.layouts);                        // operands that are kept point to them
    const std::vector<bool> beneath = words_beneath_reshapes(old);  // the reshape above evaluates these
    const bool beside_binders = binds_outside_reshapes(old, beneath);
    std::vector<beginning> values;     // on the program's stack
    std::vector<std::uint32_t> moved;  // where each old word is now
    std::size_t next_operand = 0, binder = 0;
    for (const word code : old.program) {
        const word_kind kind = detail::kind_of_word(code);
        const operand* o = detail::operands_of_word(code) ? &old.operands[next_operand++] : nullptr;
        const auto arity = static_cast<std::size_t>(detail::arity_of_word(code));
        const beginning b = arity ? values[values.size() - arity]
                                  : beginning{words_.program.size(), words_.operands.size(), words_.attributes.size()};
        values.resize(values.size() - arity);
        values.push_back(b);
        const word bound = detail::is_binder(kind) ? old.attributes[binder++] : 0;
        const bool unravels = kind == word_kind::unravel && bound != 0;
        const bool reads_at_index =
            unravels && finds_digits(code) &&
            !moves_along_leading(std::span(words_.operands).subspan(b.operands), o->where->rank());
        if (reads_at_index) {
            evaluate_operand(b, *o, detail::dtype_of_word(code));
        } else {
            if (unravels && has_other_binders(words_, b.program, b.attributes))
                evaluate_value(b, o->where->rank() + static_cast<int>(bound),
                               detail::dtype_of_word(words_.program.back()));
            words_.program.push_back(
                kind == word_kind::reference ? reference_to(moved[detail::code_of_word(code)], code) : code);
            if (o) words_.operands.push_back(*o);
            if (detail::is_binder(kind)) words_.attributes.push_back(bound);
            if (unravels && beside_binders && !beneath[moved.size()])
                evaluate_value(b, o->where->rank(), detail::dtype_of_word(code));
        }
        moved.push_back(static_cast<std::uint32_t>(words_.program.size() - 1));
    }
}

void flat_statement::evaluate_operand(beginning b, const operand& pick, dtype type) {
    // The result's axes lead every layout of the operand, and nothing moves along them, so they are dropped.
    const int lead = pick.where->rank();
    evaluate_words(b, type, [lead](const detail::layout& l) { return without_leading(l, lead); });
    words_.operands.back().where = pick.where;
}

void flat_statement::evaluate_value(beginning b, int rank, dtype type) {
    const value_in_memory value(std::span(words_.operands).subspan(b.operands), rank);
    evaluate_words(b, type, [&value](const detail::layout& l) { return value.evaluated(l); });
    words_.operands.back().where = &layouts_.emplace_back(value.read());
}

void flat_statement::evaluate_words(beginning b, dtype type,
                                    const std::function<detail::layout(const detail::layout&)>& seen) {
    spliced own;
    std::vector<detail::layout> layouts;
    layouts.reserve(words_.operands.size() - b.operands);
    for (std::size_t i = b.operands; i < words_.operands.size(); ++i) {
        operand& o = own.operands.emplace_back(words_.operands[i]);
        if (has_axes(o)) o.where = &layouts.emplace_back(seen(*o.where));
    }
    for (std::size_t w = b.program; w < words_.program.size(); ++w) {
        const word code = words_.program[w];
        own.program.push_back(detail::kind_of_word(code) == word_kind::reference
                                  ? reference_to(detail::code_of_word(code) - static_cast<word>(b.program), code)
                                  : code);
    }
    own.attributes.assign(words_.attributes.data() + b.attributes, words_.attributes.data() + words_.attributes.size());

    auto known = std::ranges::find_if(own_->known, [&](const known_value& k) { return is_value(k, own); });
    if (known == own_->known.end()) {
        buffer_ref& memory = reshaped_.emplace_back();
        detail::layout contiguous;
        const output out{type, &memory, &contiguous};
        evaluate_({own.program, own.operands, own.attributes, {&out, 1}});
        own_->known.push_back({std::move(own), std::move(layouts), memory.get()});
        known = std::prev(own_->known.end());
    }
    words_.program.resize(b.program);
    words_.operands.resize(b.operands);
    words_.attributes.resize(b.attributes);
    words_.program.push_back(detail::make_word(word_kind::leaf, type));
    operand& leaf = words_.operands.emplace_back();
    leaf.type = type;
    leaf.memory = known->memory;
}

void evaluate_without_slot(const statement& s) {
    slot none;
    none.next.store(slot::ways, std::memory_order_relaxed);  // publishes nothing
    evaluate(none, s);
}

}  // namespace ingot::runtime
