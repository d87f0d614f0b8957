// Rows along memory too short for a warp each, for CUDA. A block's rows form one run of memory, copied into shared
// memory 16 bytes a thread whatever their length. Then a thread works on a row (a few threads where a block has some to
// spare), and results along the rows go back through the same tiles.
#include <algorithm>
#include <bit>

#include "codegen/cuda/kernel.hpp"
#include "codegen/cuda/staged/row_staging.hpp"
#include "codegen/cuda/staged/staged_rows.hpp"
#include "codegen/text/fold.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

class short_rows {
public:
    short_rows(const key& k, const graph& g, const row_program& rows, const staged_rows& choice)
        : b_(k, g), rows_(rows), choice_(choice), tiles_(choice.tiles), staging_(b_, rows, choice) {}

    void write(plan& p) {
        b_.name_scalars();
        write_block();
        staging_.load();
        source_writer& out = b_.code;
        const std::string mine = choice_.shares_rows ? "threadIdx.x >> spread" : "threadIdx.x";
        const std::string step = std::to_string(choice_.threads) + (choice_.shares_rows ? " >> spread" : "");
        out.open("for (", u4(), " mine = ", mine, "; mine < rows; mine += ", step, ")");
        read_row();
        for (std::size_t phase = 0; phase <= rows_.phases.size(); ++phase) write_phase(phase);
        write_results();
        out.close();
        staging_.store();
        describe(p);
    }

private:
    std::string u4() { return b_.needs.type(dtype::u4); }
    std::uint64_t all_bits() const { return rows_.kept_bits() | rows_.row_bits(); }
    bool along(const array_argument& at) const { return moves_on(*at.at, rows_.inner()); }
    bool along(node_id n) const { return moves_on(b_.graph.nodes[n], rows_.inner()); }

    /// The block's rows, the number of threads for each, and their place in shared memory.
    void write_block() {
        source_writer& out = b_.code;
        const std::string count = b_.count(points_of(rows_.kept_bits()), "rows"), type = u4(), index = b_.linear();
        const std::string n = b_.count(points_of(rows_.row_bits()), "n");
        const auto narrow = [&](const std::string& value) { return b_.wide() ? type + '(' + value + ')' : value; };
        out.line("const ", type, " n = ", narrow(n), ";");
        if (choice_.in_runs) {
            out.line("constexpr ", type,
                     " side = ", b_.key.axes[static_cast<std::size_t>(rows_.kept_axes.back())].extent + 0u, ";");
        }
        out.line("const ", type, " height = ", narrow(b_.count(points_of_block(), choice_.in_runs ? "runs" : "height")),
                 choice_.in_runs ? " * side;" : ";");
        out.line("const ", index, " first = ", b_.wide() ? index + "(blockIdx.x)" : "blockIdx.x", " * height;");
        out.line("const ", type, " rows = ", count, " - first < height ? ", narrow(count + " - first"), " : height;");
        if (choice_.shares_rows) {
            b_.needs.add(
                "spread_of",
                b_.function("Returns log2 of the number of threads per row: at most one warp, one thread per group of "
                            "elements,\n/// and no more threads than the block has.") +
                    "unsigned int spread_of(unsigned int rows, unsigned int groups) {\n"
                    "    const int to_spare = min(5, " +
                    std::to_string(std::bit_width(choice_.threads) - 1) +
                    " - (32 - __clz(rows - 1)));\n"
                    "    return max(min(to_spare, 31 - __clz(groups)), 0);\n}\n");
            out.line("const ", type, " spread = spread_of(height, n / ", tiles_.group(), ");");
            out.line("const ", type, " lane = threadIdx.x & (1u << spread) - 1;");
        }
        staging_.declare();
    }

    /// Reads everything the row's thread needs that does not move along the row.
    void read_row() {
        source_writer& out = b_.code;
        const auto is_constant = [&](const array_argument& at) { return at.is_output ? !along(at) : !along(at.node); };
        if (std::any_of(b_.inputs.begin(), b_.inputs.end(), is_constant) ||
            std::any_of(b_.outputs.begin(), b_.outputs.end(), is_constant)) {
            out.line("const ", b_.linear(), " row = first + mine;");
            b_.write_digits("row", rows_.kept_axes);
        }
        if (choice_.in_runs) {
            out.line("const ", u4(), " run = mine / side;");
            for (const smem_tile* s : staging_.of_each_size()) {
                const std::string size = row_staging::size_of(*s);
                out.line("const ", u4(), " at", size, " = shift", size, " + run * (side * n + gap", size, " * ",
                         16 / s->bytes(), ") + mine - run * side;");
            }
        } else {
            out.line("const ", u4(), " at = mine * n;");
        }
        for (const array_argument& in : b_.inputs) {
            if (!is_constant(in)) continue;
            const std::string value = b_.element(in, b_.offset(in, rows_.kept_bits()));
            out.line("const ", b_.needs.type(in.at->head.type), ' ', in.name, " = ", value, ";");
            b_.body.name(in.node, in.name);
        }
    }

    /// A value that a phase stores in a tile, for later phases or as an output.
    struct leaving {
        const smem_tile* to;
        node_id value;
        std::string name;
    };
    /// One walk along the row, in groups.
    struct walk {
        std::size_t phase;
        std::vector<fold_writer> folds;
        std::vector<leaving> leaves;
    };

    walk walk_of(std::size_t phase) {
        walk w{phase, {}, {}};
        const bool last = phase == rows_.phases.size();
        if (!last)
            for (const node_id r : rows_.phases[phase]) w.folds.emplace_back(b_.graph, r, folds_++, b_.needs);
        for (const smem_tile& s : tiles_.all()) {
            if (const node_id cached = s.stored_by(phase); cached != no_node)
                w.leaves.push_back({&s, cached, "left" + staging_.number_of(s)});
            if (last && s.output >= 0)
                w.leaves.push_back(
                    {&s, b_.graph.roots[static_cast<std::size_t>(s.output)], "z" + std::to_string(s.output)});
        }
        return w;
    }

    /// Joins the folds of a phase, and stores the values that are needed later.
    void write_phase(std::size_t phase) {
        source_writer& out = b_.code;
        walk w = walk_of(phase);
        if (w.folds.empty() && w.leaves.empty()) return;
        std::vector<node_id> values;
        for (const fold_writer& f : w.folds) values.push_back(f.value());
        for (const leaving& l : w.leaves) values.push_back(l.value);
        b_.body.hoist(rows_.kept_bits(), values, out);
        const std::string type = u4(), group = std::to_string(tiles_.group());
        const std::string lane = !choice_.shares_rows ? "0"
                                 : is_strided()       ? "lane"
                                                      : "lane * " + group,
                          from = choice_.in_step ? "0" : lane, step = group + (choice_.shares_rows ? " << spread" : "");
        for (fold_writer& f : w.folds) out.line(f.type(), ' ', f.name(), " = ", f.start_at(lane), ";");
        if (tiles_.whole_groups()) {
            out.open("for (", type, " k = ", from, "; k < n; k += ", step, ")");
            write_group(w, tiles_.group());
            out.close();
        } else {
            out.open();
            out.line(type, " k = ", from, ";");
            out.open("for (; ", end_of_group(tiles_.group()), " < n; k += ", step, ")");
            write_group(w, tiles_.group());
            out.close();
            for (std::uint32_t rest = tiles_.group() / 2; rest > 0; rest /= 2) {
                out.open("if (", end_of_group(rest), " < n)");
                write_group(w, rest);
                if (rest > 1) out.line("k += ", far(std::to_string(rest) + 'u'), ";");
                out.close();
            }
            out.close();
        }
        for (fold_writer& f : w.folds) {
            if (choice_.shares_rows) out.line(f.name(), " = ", joined_by_threads(f), ";");
            b_.body.name(f.reduction(), f.result());
        }
    }

    /// Whether a thread's elements of a group are apart. Elements of rows along memory need not be: threads side by
    /// side meet all banks.
    bool is_strided() const { return choice_.in_runs; }
    /// The distance of element `e` of a thread's group from its first.
    std::string far(const std::string& e) const { return is_strided() ? '(' + e + " << spread)" : e; }
    /// Its place in the row.
    std::string offset_of_element() const { return choice_.in_step ? "k + lane + " + far("e") : "k + " + far("e"); }
    /// A group is present where this place lies in the row: in step for all threads of the row, though the last element
    /// of some of them may be beyond it.
    std::string end_of_group(std::uint32_t group) const {
        if (group == 1) return choice_.in_step ? "k + lane" : "k";
        return "k + " + far(std::to_string(group - 1) + 'u');
    }
    /// The condition that element e of a group is in the row; empty where all are.
    std::string is_there(std::uint32_t group) const {
        if (!choice_.in_step || group == 1) return {};
        return "e + 1 < " + std::to_string(group) + " || " + offset_of_element() + " < n";
    }

    /// Joins several elements with each other before joining them with those before.
    void write_group(walk& w, std::uint32_t group) {
        source_writer& out = b_.code;
        const auto outside = b_.body.scope();
        for (const smem_tile& s : tiles_.all()) {
            if (!reads(w.phase, s)) continue;
            const std::string name = name_of(s.holds[w.phase], s);
            declare(name, s, group);
            copy(name, s, group, true);
            b_.body.name(s.holds[w.phase], name + "[e]");
        }
        for (const leaving& l : w.leaves) declare(l.name, *l.to, group);
        for (std::size_t i = 0; i < w.folds.size(); ++i) out.line(w.folds[i].type(), " value", i, '[', group, "];");
        b_.compute(has_quick_bodies(w.phase), [&] { write_elements(w, group); });
        for (std::size_t i = 0; i < w.folds.size(); ++i) {
            fold_writer& f = w.folds[i];
            const std::string joiner = f.ordered_joiner();
            const std::string pairs = b_.join_pairs(joiner, group, "value" + std::to_string(i));
            out.line(f.name(), " = ", joiner, "::join(", f.name(), ", ", pairs, ");");
        }
        for (const leaving& l : w.leaves) copy(l.name, *l.to, group, false);
        b_.body.leave(outside);
    }

    void declare(const std::string& name, const smem_tile& s, std::uint32_t group) {
        const std::string aligned = tiles_.whole_groups() ? "alignas(" + std::to_string(group * s.bytes()) + ") " : "";
        b_.code.line(aligned, b_.needs.type(s.type), ' ', name, '[', group, "];");
    }

    /// Copies the group at k of the thread's row between registers and shared memory; whole groups as one word.
    void copy(const std::string& name, const smem_tile& s, std::uint32_t group, bool load) {
        if (!tiles_.whole_groups()) {
            const std::string element = offset_of_element();
            const std::string offset =
                choice_.in_runs ? "at" + row_staging::size_of(s) + " + (" + element + ") * side" : "at + " + element;
            const std::string shared = staging_.array_of(s) + '[' + offset + ']', own = name + "[e]";
            const std::string there = is_there(group);
            const std::string each = "for (unsigned int e = 0; e < " + std::to_string(group) + "; ++e) ";
            b_.code.margin("#pragma unroll");
            if (load)
                b_.code.line(each, own, " = ",
                             there.empty() ? shared : '(' + there + ") ? " + shared + " : " + name + "[0]", ";");
            else
                b_.code.line(each, there.empty() ? "" : "if (" + there + ") ", shared, " = ", own, ";");
            return;
        }
        std::string at = "at + k";
        if (const std::uint32_t each = 16 / s.bytes(); s.chunked) {
            const std::string size = std::to_string(each);
            at = "skewed((at + k) / " + size + ", " + staging_.skew_of(s) + ") * " + size +
                 (each == group ? "" : " + k % " + size);
        }
        const std::string word(word_of(group * s.bytes())), shared = staging_.array_of(s) + '[' + at + ']';
        b_.code.line("reinterpret_cast<", word, "&>(", load ? name : shared, ") = reinterpret_cast<const ", word, "&>(",
                     load ? shared : name, ");");
    }

    bool has_quick_bodies(std::size_t phase) const {
        for (node_id i = 0; i < b_.graph.nodes.size(); ++i)
            if (along(i) && tiles_.uses(phase, i) && has_quick_body(b_.graph.nodes[i])) return true;
        return false;
    }

    /// The elements at k + e: the folded values, and those stored for later.
    void write_elements(walk& w, std::uint32_t group) {
        source_writer& out = b_.code;
        const std::string there = is_there(group);
        const auto outside = b_.body.scope();
        out.margin("#pragma unroll");
        out.open("for (unsigned int e = 0; e < ", group, "; ++e)");
        bool digit_known = false;
        for (const array_argument& in : b_.inputs) {  // operands that are the same for every row
            if (!tiles_.uses(w.phase, in.node) || !along(in.node) ||
                (b_.graph.nodes[in.node].axes & rows_.kept_bits()) != 0)
                continue;
            if (!digit_known)
                out.line("const ", b_.signed_index(), ' ', digit(rows_.inner()), " = ",
                         there.empty() ? offset_of_element() : "min(" + offset_of_element() + ", n - 1)", ";");
            digit_known = true;
            const std::string value = b_.element(in, b_.offset(in, all_bits()));
            out.line("const ", b_.needs.type(in.at->head.type), ' ', in.name, " = ", value, ";");
            b_.body.name(in.node, in.name);
        }
        for (const leaving& l : w.leaves) {
            const std::string value = b_.body.value(l.value, out);
            out.line(l.name, "[e] = ", value, ";");
        }
        for (std::size_t i = 0; i < w.folds.size(); ++i) {
            const std::string element = w.folds[i].element(b_.body.value(w.folds[i].value(), out), offset_of_element());
            out.line("value", i, "[e] = ", element, ";");
            if (!there.empty()) out.line("if (!(", there, ")) value", i, "[e] = ", w.folds[i].start(), ";");
        }
        out.close();
        b_.body.leave(outside);
    }

    bool reads(std::size_t phase, const smem_tile& s) const {
        return s.holds[phase] != no_node && tiles_.uses(phase, s.holds[phase]);
    }
    std::string name_of(node_id held, const smem_tile& s) const {
        const node& n = b_.graph.nodes[held];
        return n.kind == node_kind::operand ? b_.names[n.index] : "cached" + staging_.number_of(s);
    }
    /// Joins the folds of a row's threads in pairs; each of them gets the result.
    std::string joined_by_threads(fold_writer& f) {
        b_.needs.add(
            "from_thread",
            b_.function("Returns the value of the lane whose index is this lane's XOR `far`; both share a row.",
                        "template <class type>\n") +
                "type from_thread(type v, unsigned int far, unsigned int spread) {\n"
                "    const unsigned int all = (2u << (1u << spread) - 1) - 1;\n"
                "    return __shfl_xor_sync(all << (threadIdx.x & 31 & ~0u << spread), v, far);\n}\n");
        if (f.is_arg_reduction())
            b_.needs.add("from_thread " + f.type(),
                         b_.function("") + f.type() + " from_thread(" + f.type() +
                             " v, unsigned int far, unsigned int spread) {\n"
                             "    return {from_thread(v.value, far, spread), from_thread(v.at, far, spread)};\n}\n");
        b_.needs.add("join_threads", b_.function("Combines the values of the threads of a row.",
                                                 "template <class fold, class type>\n") +
                                         "type join_threads(type v, unsigned int spread) {\n"
                                         "    for (unsigned int far = 1u << spread >> 1; far > 0; far >>= 1)\n"
                                         "        v = fold::join(v, from_thread(v, far, spread));\n"
                                         "    return v;\n}\n");
        return "join_threads<" + f.joiner() + ">(" + f.name() + ", spread)";
    }

    void write_results() {
        if (std::all_of(b_.outputs.begin(), b_.outputs.end(), [&](const array_argument& z) { return along(z); }))
            return;
        if (choice_.shares_rows) b_.code.open("if (lane == 0)");
        for (std::size_t o = 0; o < b_.outputs.size(); ++o) {
            if (along(b_.outputs[o])) continue;
            const std::string value = b_.body.value(b_.graph.roots[o], b_.code);
            b_.store_element(b_.outputs[o], b_.offset(b_.outputs[o], rows_.kept_bits()), value);
        }
        if (choice_.shares_rows) b_.code.close();
    }

    /// The axis of the rows of a run.
    std::uint64_t side() const { return choice_.in_runs ? axis_bit(rows_.kept_axes.back()) : 0; }
    /// Rows of a block, or runs.
    formula points_of_block() const {
        return points_per_room(choice_.elements, points_of(rows_.row_bits() | side()), choice_.threads,
                               points_of(side()));
    }

    void describe(plan& p) {
        launch& step = b_.step;
        step.grid[0] = ceil_divide(points_of(rows_.kept_bits() & ~side()), points_of_block());
        step.describe(choice_);
        for (const std::vector<node_id>& phase : rows_.phases) {
            std::vector<node_id> values;
            for (const node_id r : phase) values.push_back(b_.graph.nodes[r].arguments[0]);
            step.work.push_back({all_bits(), cost_of(b_.graph, values) + phase.size()});
        }
        step.work.push_back({tiles_.writes_rows() ? all_bits() : rows_.kept_bits(), b_.cost});
        b_.finish(p, "short_rows", choice_.threads, choice_.resident_blocks);
    }

    cuda_kernel b_;
    const row_program& rows_;
    const staged_rows& choice_;
    const smem_tiles& tiles_;
    row_staging staging_;
    std::size_t folds_ = 0;  // so far
};

}  // namespace

void emit_staged_rows(const key& k, const graph& g, const row_program& rows, const staged_rows& choice, plan& p) {
    short_rows(k, g, rows, choice).write(p);
}

}  // namespace ingot::codegen
