// Row programs for CUDA where neighbouring threads have neighbouring rows, or share a run of memory, or where registers
// alone do not hold a row: a lane's chunks are single elements, far from each other. They are computed by groups, side
// by side, so that few branches stand between them: one for a group of which a row may lack some. Further chunks lie in
// shared memory, where each thread has places of its own: they need no barrier, and their number is known at run time.
#include <algorithm>

#include "codegen/cuda/kernel.hpp"
#include "codegen/cuda/row/row_program.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

class grouped_rows final : public cuda_rows {
public:
    using cuda_rows::cuda_rows;

private:
    void load() override {
        std::vector<const array_argument*> streams;
        for (const array_argument& leaf : leaves_)
            if (is_stream(leaf)) streams.push_back(&leaf);
        for (const array_argument* leaf : streams) {
            declare(leaf->at->head.type, leaf->name, false);
            b_.body.name(leaf->node, leaf->name + "[u]");
        }
        for_groups([&](bool whole) {
            open_group();
            if (!whole) {
                for (const array_argument* leaf : streams) b_.code.line(leaf->name, "[u] = ", zero(leaf->node), ";");
                b_.code.open("if (", is_present(), ")");
            }
            b_.write_digits("at", r_.row);
            for (const array_argument* leaf : streams) b_.code.line(leaf->name, "[u] = ", one(*leaf, all_axes()), ";");
            if (!whole) b_.code.close();
            b_.code.close();
        });
        if (choice_.shared_chunks > 0) load_shared_chunks(streams);
    }

    void await_loads() override {
        if (choice_.shared_chunks > 0) b_.wait_for_copies();
    }

    void write_folds(std::size_t phase) override {
        std::vector<fold_writer>& folds = folds_[phase];
        const std::vector<node_id> values = r_.computed_nodes(b_.graph, phase), cached = newly_cached(values);
        const std::uint32_t groups = choice_.chunks / choice_.chunks_at_once;
        const auto before = b_.body.scope();
        for (const node_id n : cached) declare(b_.graph.nodes[n].type, cached_name(n), false);
        for (fold_writer& f : folds) b_.code.line(f.type(), ' ', f.part(), '[', groups, "];");
        for_groups([&](bool whole) {
            declare_values(folds, choice_.chunks_at_once);
            b_.compute(has_quick_bodies(values), [&] {
                open_group();
                if (!whole) b_.code.open("if (", is_present(), ")");
                load_unheld_element(values, "");
                for (const node_id n : cached) keep(n, cached_name(n) + "[u]");
                write_elements(folds, "[u - first]");
                if (!whole) {
                    b_.code.otherwise();
                    for (const node_id n : cached) b_.code.line(cached_name(n), "[u] = ", zero(n), ";");
                    for (std::size_t i = 0; i < folds.size(); ++i)
                        b_.code.line(value(i), "[u - first] = ", folds[i].start(), ";");
                    b_.code.close();
                }
                b_.code.close();
            });
            for (std::size_t i = 0; i < folds.size(); ++i)
                b_.code.line(folds[i].part(), "[first / ", choice_.chunks_at_once,
                             "] = ", b_.join_pairs(folds[i].joiner(), choice_.chunks_at_once, value(i)), ";");
        });
        for (fold_writer& f : folds)
            b_.code.line(f.type(), ' ', f.name(), " = ", b_.join_pairs(f.joiner(), groups, f.part()), ";");
        if (choice_.shared_chunks > 0) fold_shared(folds, values, cached);
        b_.body.leave(before);
        for (const node_id n : cached) b_.body.name(n, cached_name(n) + "[u]");
    }

    /// Writes all elements by quick bodies, without a branch. Where one was rare the thread writes all of its elements
    /// again, in a loop: full bodies between the quick ones would be fetched in vain.
    void write_along(const std::vector<const array_argument*>& outputs, const std::vector<node_id>& values) override {
        source_writer& out = b_.code;
        const bool quick = has_quick_bodies(values);
        if (quick) out.line("bool again = false;");
        b_.needs.use_quick(quick);
        const auto before = b_.body.scope();
        open_chunks();
        write_element(outputs, values, is_present(), quick);
        out.close();
        b_.body.leave(before);
        if (choice_.shared_chunks > 0) {
            open_shared_groups(values);
            open_shared();
            write_element(outputs, values, "v + e < more", quick);
            out.close();
            out.close();
            b_.body.leave(before);
        }
        b_.needs.use_quick(false);
        if (!quick) return;
        out.open("if (again)");
        write_again(outputs, values);
        out.close();
        b_.body.leave(before);
    }

    void write_element(const std::vector<const array_argument*>& outputs, const std::vector<node_id>& values,
                       const std::string& present, bool quick) {
        source_writer& out = b_.code;
        load_unheld_element(values, present);
        if (quick) out.line("bool rare = false;");
        for (const array_argument* z : outputs)
            out.line("const ", b_.needs.type(z->at->head.type), ' ', z->name, " = ",
                     b_.body.value(b_.graph.roots[z->index], out), ";");
        if (!present.empty()) out.open("if (", present, ")");
        if (quick) out.line("again |= rare;");
        b_.write_digits("at", r_.row);
        for (const array_argument* z : outputs) b_.store_element(*z, b_.offset(*z, all_axes()), z->name);
        if (!present.empty()) out.close();
    }

    void write_again(const std::vector<const array_argument*>& outputs, const std::vector<node_id>& values) {
        source_writer& out = b_.code;
        const auto outside = b_.body.scope();
        const std::vector<node_id> held = held_for(values);
        for (const node_id n : held) {
            const std::string name = name_of(n);
            declare(b_.graph.nodes[n].type, name + "_again", false);
            b_.open_unrolled("u", choice_.chunks);
            out.line(name, "_again[u] = ", name, "[u];");
            out.close();
            b_.body.name(n, name + "_again[u]");
        }
        const bool shared = choice_.shared_chunks > 0;
        out.margin("#pragma unroll 1");
        out.open("for (unsigned int u = 0; u < ", choice_.chunks, shared ? " + more" : "", "; ++u)");
        for (const node_id n : held) {
            if (!shared) break;
            const std::string name = name_of(n);
            out.line("const ", b_.needs.type(b_.graph.nodes[n].type), ' ', name, "_now = u < ", choice_.chunks, " ? ",
                     name, "_again[u] : ", shared_chunk_of(name, "(u - " + of(choice_.chunks) + ')'), ";");
            b_.body.name(n, name + "_now");
        }
        write_at("u");
        write_element(outputs, values, is_present(), false);
        out.close();
        b_.body.leave(outside);
    }
    /// The nodes held for each element from which these values are computed.
    std::vector<node_id> held_for(const std::vector<node_id>& values) const {
        const std::vector<bool> required = b_.body.required_by(values);
        std::vector<node_id> held;
        for (const array_argument& leaf : leaves_)
            if (is_stream(leaf) && required[leaf.node]) held.push_back(leaf.node);
        for (const node_id n : choice_.held.cached)
            if (required[n] && b_.body.has_name(n)) held.push_back(n);
        return held;
    }

    // A group of chunks.

    /// Writes the work of a group twice: where it has all chunks, and where each is tested.
    template <class Write>
    void for_groups(Write write) {
        source_writer& out = b_.code;
        out.margin("#pragma unroll");
        out.open("for (unsigned int first = 0; first < ", choice_.chunks, "; first += ", choice_.chunks_at_once, ")");
        const auto outside = b_.body.scope();
        if (choice_.min_chunks < choice_.chunks) {
            const std::string last = "first + " + std::to_string(choice_.chunks_at_once - 1), end = length();
            out.open("if (", choice_.min_chunks == 0 ? "" : last + " < " + std::to_string(choice_.min_chunks) + " || ",
                     '(', last, ") * ", lanes(), " + ", lane_, " < ", end, ")");
            write(true);
            b_.body.leave(outside);
            out.otherwise();
            write(false);
            out.close();
        } else {
            write(true);
        }
        b_.body.leave(outside);
        out.close();
    }
    void open_group() {
        b_.code.margin("#pragma unroll");
        b_.code.open("for (unsigned int u = first; u < first + ", choice_.chunks_at_once, "; ++u)");
        write_at("u");
    }
    /// The place in its row of this lane's element of a chunk.
    void write_at(const std::string& chunk) {
        b_.code.line("const ", u4(), " at = ", chunk, " * ", lanes(), " + ", lane_, ";");
    }

    // Statements of an element; `at` is its place in the row, `index` its place in the arrays of its group.

    /// Loads the leaves that these values need and that are not held, where the element is present.
    void load_unheld_element(const std::vector<node_id>& values, const std::string& present) {
        source_writer& out = b_.code;
        const std::vector<const array_argument*> leaves = unheld(values);
        if (leaves.empty()) return;
        for (const array_argument* leaf : leaves)
            out.line(b_.needs.type(leaf->at->head.type), ' ', leaf->name, " = ", zero(leaf->node), ";");
        present.empty() ? out.open() : out.open("if (", present, ")");
        b_.write_digits("at", r_.row);
        for (const array_argument* leaf : leaves) out.line(leaf->name, " = ", one(*leaf, all_axes()), ";");
        out.close();
    }
    std::string zero(node_id n) { return b_.needs.type(b_.graph.nodes[n].type) + "()"; }
    void keep(node_id n, const std::string& in) {
        b_.code.line(in, " = ", b_.body.value(n, b_.code), ";");
        b_.body.name(n, in);
    }
    void declare_values(std::vector<fold_writer>& folds, std::uint32_t n) {
        for (std::size_t i = 0; i < folds.size(); ++i) b_.code.line(folds[i].type(), ' ', value(i), '[', n, "];");
    }
    void write_elements(std::vector<fold_writer>& folds, const std::string& index) {
        for (std::size_t i = 0; i < folds.size(); ++i)
            b_.code.line(value(i), index, " = ", folds[i].element(b_.body.value(folds[i].value(), b_.code), "at"), ";");
    }

    // Chunks in shared memory, each thread's own: its chunk v lies v blocks of threads behind the first.

    std::string name_of(node_id n) const {
        const auto leaf = std::ranges::find_if(leaves_, [n](const array_argument& l) { return l.node == n; });
        return leaf != leaves_.end() ? leaf->name : cached_name(n);
    }
    std::string shared_chunk_of(const std::string& name, const std::string& v) const {
        return name + "_more[" + v + " * " + of(choice_.threads) + ']';
    }

    void load_shared_chunks(const std::vector<const array_argument*>& streams) {
        source_writer& out = b_.code;
        out.line("extern __shared__ uint4 shared_values[];");
        for (const held_elements::shared_value& h : choice_.held.shared_values) {
            const std::string type = b_.needs.type(b_.graph.nodes[h.node].type);
            out.line(type, "* const ", name_of(h.node), "_more = reinterpret_cast<", type, "*>(shared_values + ",
                     h.at * choice_.shared_chunks * choice_.threads / 16, ") + threadIdx.x;");
        }
        const std::string end = length();
        out.line(u4(), " more = 0;  // number of chunks of this lane in shared memory");
        out.margin("#pragma unroll 8");
        out.open("for (", u4(), " at = ", of(choice_.chunks), " * ", lanes(), " + ", lane_, "; at < ", end,
                 "; at += ", lanes(), ")");
        b_.write_digits("at", r_.row);
        for (const array_argument* leaf : streams) {
            const std::string to = shared_chunk_of(leaf->name, "more");
            if (is_array_of_words(*leaf))
                out.line(b_.copier(bytes_of(*leaf)), "(&", to, ", ", b_.pointer(*leaf), b_.offset(*leaf, all_axes()),
                         ");");
            else
                out.line(to, " = ", one(*leaf, all_axes()), ";");
        }
        out.line("++more;");
        out.close();
        // A group's other places are read too; the values computed from them are dropped.
        out.margin("#pragma unroll 1");
        out.open("for (", u4(), " v = more; v % ", choice_.shared_chunks_at_once, " != 0; ++v)");
        for (const array_argument* leaf : streams)
            out.line(shared_chunk_of(leaf->name, "v"), " = ", zero(leaf->node), ";");
        out.close();
    }
    void open_shared() {
        b_.open_unrolled("e", choice_.shared_chunks_at_once);
        write_at("(v + e + " + of(choice_.chunks) + ')');
    }
    /// Opens the loop over groups there, and reads the operands of these values for one group.
    void open_shared_groups(const std::vector<node_id>& values) {
        source_writer& out = b_.code;
        const std::uint32_t n = choice_.shared_chunks_at_once;
        out.margin("#pragma unroll 1");
        out.open("for (", u4(), " v = 0; v < more; v += ", n, ")");
        const std::vector<bool> required = b_.body.required_by(values);
        for (const held_elements::shared_value& h : choice_.held.shared_values) {
            if (!required[h.node] || !b_.body.has_name(h.node)) continue;
            const std::string name = name_of(h.node) + "_now";
            out.line(b_.needs.type(b_.graph.nodes[h.node].type), ' ', name, '[', n, "];");
            b_.open_unrolled("e", n);
            out.line(name, "[e] = ", shared_chunk_of(name_of(h.node), "(v + e)"), ";");
            out.close();
            b_.body.name(h.node, name + "[e]");
        }
    }

    void fold_shared(std::vector<fold_writer>& folds, const std::vector<node_id>& values,
                     const std::vector<node_id>& cached) {
        source_writer& out = b_.code;
        const std::uint32_t n = choice_.shared_chunks_at_once;
        open_shared_groups(values);
        declare_values(folds, n);
        for (const node_id k : cached)
            out.line(b_.needs.type(b_.graph.nodes[k].type), ' ', cached_name(k), "_now[", n, "];");
        b_.compute(has_quick_bodies(values), [&] {
            open_shared();
            load_unheld_element(values, "v + e < more");
            for (const node_id k : cached) keep(k, cached_name(k) + "_now[e]");
            write_elements(folds, "[e]");
            out.close();
        });
        b_.open_unrolled("e", n);
        for (const node_id k : cached)
            out.line(shared_chunk_of(cached_name(k), "(v + e)"), " = ", cached_name(k), "_now[e];");
        for (std::size_t i = 0; i < folds.size(); ++i)
            out.line("if (v + e >= more) ", value(i), "[e] = ", folds[i].start(), ";");
        out.close();
        for (std::size_t i = 0; i < folds.size(); ++i)
            out.line(folds[i].name(), " = ",
                     folds[i].joined(folds[i].name(), b_.join_pairs(folds[i].joiner(), n, value(i))), ";");
        out.close();
    }
};

}  // namespace

void emit_grouped_rows(const key& k, const graph& g, const row_program& r, const register_rows& choice, plan& p) {
    grouped_rows(k, g, r, choice).write(p);
}

}  // namespace ingot::codegen
