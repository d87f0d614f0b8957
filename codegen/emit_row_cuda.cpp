// Row programs for CUDA, in one kernel and one read: a row lies in the registers of its lanes (register_rows.hpp) from
// its loads to its stores. Loops over a lane's elements are unrolled, so arrays are registers; elements past the row's
// end are what the fold starts with. The folds of a phase meet together: in a warp by shuffles, in a block through
// shared memory, in a cluster by writing to the shared memory of all its blocks. Every thread then has the row's
// values.
#include <algorithm>

#include "codegen/cuda_join.hpp"
#include "codegen/cuda_kernel.hpp"
#include "codegen/reduction.hpp"
#include "codegen/register_rows.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

class cuda_rows {
public:
    cuda_rows(const key& k, const graph& g, const row_program& r, register_rows s) : b_(k, g), r_(r), s_(std::move(s)) {
        std::size_t number = 0;
        for (const std::vector<node_id>& phase : r.phases) {
            std::vector<fold_writer>& folds = folds_.emplace_back();
            for (const node_id fold : phase) folds.emplace_back(g, fold, number++, b_.needs);
        }
        for (const place& in : b_.inputs) leaves_.push_back(in);
        for (const node_id g_ : b_.generators) {
            const std::uint16_t index = g.nodes[g_].index;
            leaves_.push_back({&k.operands[index], b_.names[index], index, false, g_});
        }
        along_.assign(s_.each > 1 ? "[u][e]" : "[u]");
    }

    void write(plan& p) {
        b_.name_scalars();
        write_row();
        if (s_.cluster > 1) b_.code.line(cluster_barrier("cluster_arrive", "arrive.relaxed.aligned"), "();");
        load_streams();
        if (s_.cluster > 1) b_.code.line(cluster_barrier("cluster_wait", "wait.acquire.aligned"), "();");
        for (std::size_t phase = 0; phase < folds_.size(); ++phase) {
            write_folds(phase);
            write_exchange(phase);
            hoist();
        }
        write_outputs();
        launch& step = b_.step;
        step.kernel = "rows";
        step.threads = s_.threads;
        step.cluster = s_.cluster;
        step.grid[0] = {.axes = r_.kept_bits(), .divide_by = s_.rows};
        step.pattern = "row program";
        step.reason = reason();
        count_work();
        p.source =
            b_.assemble(p.expression, "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(s_.threads) +
                                          ")\nrows(const __grid_constant__ arguments p)");
        p.steps.push_back(std::move(step));
    }

private:
    std::uint64_t all_axes() const { return r_.kept_bits() | r_.row_bits(); }
    bool along_row(node_id n) const { return (b_.graph.nodes[n].axes & r_.row_bits()) != 0; }
    bool along_row(const place& out) const { return b_.moves_along(out, r_.row_bits()); }
    bool is_stream(const place& leaf) const {
        return along_row(leaf.node) && (r_.kept.empty() || (b_.graph.nodes[leaf.node].axes & r_.kept_bits()) != 0);
    }
    bool packed(const place& at) const { return s_.each > 1 && is_packed(*at.at, b_.graph, r_); }
    std::string u4() { return b_.needs.type(dtype::u4); }
    std::string length() { return b_.count({.axes = r_.row_bits()}, "length"); }
    std::string rows() { return b_.count({.axes = r_.kept_bits()}, "rows"); }
    bool shares_block() const { return s_.rows > 1 && !r_.kept.empty(); }

    std::string reason() const {
        std::string text = std::to_string(s_.elements()) + " elements a lane in registers, ";
        if (s_.across) return text + std::to_string(s_.lanes) + " lanes a row, neighbours read neighbouring rows";
        if (s_.cluster > 1) return text + "a cluster of " + std::to_string(s_.cluster) + " blocks a row";
        return text + (s_.rows > 1 ? std::to_string(s_.lanes) + " lanes a row" : "a block a row");
    }

    void count_work() {
        std::uint32_t along = 0, still = 0;
        for (const node& n : b_.graph.nodes) {
            if (n.kind == node_kind::map)
                ((n.axes & r_.row_bits()) != 0 ? along : still) += facts(static_cast<op>(n.code)).cost;
            if (n.kind == node_kind::reduce) ++along;
        }
        b_.step.work = {{all_axes(), along}, {r_.kept_bits(), still}};
    }

    // Where a thread is.

    void write_row() {
        source_writer& out = b_.code;
        const std::string block = b_.wide() ? b_.linear() + "(blockIdx.x)" : "blockIdx.x", lanes = of(s_.lanes),
                          threads = of(s_.threads);
        lane_ = "lane";
        if (s_.cluster > 1)
            out.line("const ", u4(), " lane = blockIdx.x % ", of(s_.cluster), " * ", threads, " + threadIdx.x;");
        else if (s_.rows == 1)
            lane_ = "threadIdx.x";
        else if (s_.across)
            out.line("const ", u4(), " lane = threadIdx.x / ", of(s_.rows), ";");
        else
            out.line("const ", u4(), " lane = threadIdx.x % ", lanes, ";");
        if (shares_block()) {
            // Threads without a row help with the last one and keep what they find to themselves.
            out.line("const ", b_.linear(), " mine = ", block, " * ", of(s_.rows), " + threadIdx.x ",
                     s_.across ? "% " + of(s_.rows) : "/ " + lanes, ";");
            out.line("const ", b_.linear(), " row = mine < ", rows(), " ? mine : ", rows(), " - 1;");
        } else if (!r_.kept.empty()) {
            out.line("const ", b_.linear(), " row = ", block, s_.cluster > 1 ? " / " + of(s_.cluster) : "", ";");
        }
        b_.write_digits("row", r_.kept);
        for (const place& leaf : leaves_) {
            if (along_row(leaf.node)) continue;
            out.line("const ", b_.needs.type(leaf.at->head.type), ' ', leaf.name, " = ", one(leaf, r_.kept_bits()),
                     ";");
            b_.body.name(leaf.node, leaf.name);
        }
        hoist();
    }
    static std::string of(std::uint32_t n) { return std::to_string(n) + 'u'; }

    /// What does not move along the row is computed as soon as what it needs is there.
    void hoist() {
        std::vector<node_id> values;
        for (std::size_t phase = 0; phase <= folds_.size(); ++phase) {
            const std::vector<node_id> wanted = r_.wanted(b_.graph, phase);
            values.insert(values.end(), wanted.begin(), wanted.end());
        }
        b_.body.hoist(r_.kept_bits(), values, b_.code);
    }

    // A lane's elements.

    void open_unrolled(const char* variable, std::uint32_t n) {
        b_.code.margin("#pragma unroll");
        b_.code.open("for (unsigned int ", variable, " = 0; ", variable, " < ", n, "; ++", variable, ")");
    }
    void open_chunks() {
        open_unrolled("u", s_.chunks);
        const std::string chunk = "u * " + of(s_.lanes) + " + " + lane_;
        b_.code.line("const ", u4(), " at = ", s_.each > 1 ? '(' + chunk + ") * " + of(s_.each) : chunk, ";");
    }
    std::string position() const { return s_.each > 1 ? "at + e" : "at"; }
    /// Holds for the chunks that every row of this length class has whole, and else where `test` does.
    std::string known_or(const std::string& test) const {
        // Of the first class rows may have any length.
        return s_.chunks > 1 && r_.bucket > 1 ? "u < " + std::to_string(s_.chunks / 2) + " || " + test : test;
    }
    std::string is_whole() {
        return known_or(s_.each > 1 ? "at + " + std::to_string(s_.each) + " <= " + length() : "at < " + length());
    }
    std::string is_inside() { return known_or(position() + " < " + length()); }

    /// One element of a leaf, at the digits in scope.
    std::string one(const place& leaf, std::uint64_t axes) {
        if (leaf.at->head.kind == operand_kind::generator)
            return b_.generator_name(leaf.node) + '(' + b_.generator_key(leaf.node) + ", " +
                   b_.generator_index(leaf.node, axes) + ')';
        return b_.element(leaf, b_.offset(leaf, axes));
    }

    /// Loads of one chunk into `name + suffix`; vectors where they are whole.
    void load_chunk(const std::vector<const place*>& leaves, const std::string& suffix) {
        source_writer& out = b_.code;
        std::vector<const place*> vectors, singles;
        for (const place* leaf : leaves) (packed(*leaf) ? vectors : singles).push_back(leaf);
        const auto load_each = [&](const std::vector<const place*>& some) {
            b_.write_digits(position(), r_.row);
            for (const place* leaf : some)
                out.line(leaf->name, suffix, s_.each > 1 ? "[e] = " : " = ", one(*leaf, all_axes()), ";");
        };
        const auto load_elements = [&](const std::vector<const place*>& some) {
            if (s_.each > 1) open_unrolled("e", s_.each);
            out.open("if (", is_inside(), ")");
            load_each(some);
            out.close();
            if (s_.each > 1) out.close();
        };
        if (!vectors.empty()) {
            out.open("if (", is_whole(), ")");
            b_.write_digits("at", r_.row);
            for (const place* leaf : vectors) {
                const std::uint32_t bytes = bytes_of(*leaf) * s_.each;
                out.line(b_.loader(b_.reading_of(*leaf, all_axes()), bytes), '<', word_of(bytes), ">(", leaf->name,
                         suffix, ", ", b_.pointer(*leaf), b_.offset(*leaf, all_axes()), ");");
            }
            out.otherwise();
            load_elements(vectors);
            out.close();
        }
        if (!singles.empty()) load_elements(singles);
    }

    void load_streams() {
        source_writer& out = b_.code;
        std::vector<const place*> streams;
        for (const place& leaf : leaves_) {
            if (!is_stream(leaf)) continue;
            streams.push_back(&leaf);
            declare(leaf.at->head.type, leaf.name, packed(leaf));
            b_.body.name(leaf.node, leaf.name + along_);
        }
        if (streams.empty()) return;
        open_chunks();
        load_chunk(streams, "[u]");
        out.close();
    }
    void declare(dtype t, const std::string& name, bool vectors) {
        const std::string aligned = vectors ? "alignas(" + std::to_string(size_of(t) * s_.each) + ") " : "";
        b_.code.line(aligned, b_.needs.type(t), ' ', name, '[', s_.chunks, ']',
                     s_.each > 1 ? '[' + std::to_string(s_.each) + ']' : "", ";");
    }

    /// Opens the loops over a lane's elements; loads what all rows read alike and these values need.
    void open_elements(const std::vector<node_id>& values) {
        source_writer& out = b_.code;
        open_chunks();
        std::vector<const place*> leaves;
        const std::vector<bool> below = nodes_below(b_.graph, values);
        for (const place& leaf : leaves_) {
            if (!below[leaf.node] || !along_row(leaf.node) || is_stream(leaf)) continue;
            leaves.push_back(&leaf);
            const std::string type = b_.needs.type(leaf.at->head.type);
            if (s_.each > 1)
                out.line("alignas(", size_of(leaf.at->head.type) * s_.each, ") ", type, ' ', leaf.name, '[', s_.each,
                         "];");
            else
                out.line(type, ' ', leaf.name, " = ", type, "();");
            b_.body.name(leaf.node, leaf.name + (s_.each > 1 ? "[e]" : ""));
        }
        if (!leaves.empty()) load_chunk(leaves, "");
        if (s_.each > 1) open_unrolled("e", s_.each);
    }
    void close_elements() {
        if (s_.each > 1) b_.code.close();
        b_.code.close();
    }

    // Phases.

    void write_folds(std::size_t phase) {
        source_writer& out = b_.code;
        std::vector<fold_writer>& folds = folds_[phase];
        const std::vector<node_id> values = r_.wanted(b_.graph, phase);
        const std::vector<bool> below = nodes_below(b_.graph, values);
        std::vector<node_id> kept;
        for (const node_id n : s_.kept)
            if (below[n] && !b_.body.has_name(n)) kept.push_back(n);
        for (const node_id n : kept) declare(b_.graph.nodes[n].type, kept_name(n), false);
        const std::string count = std::to_string(s_.elements());
        for (fold_writer& f : folds) out.line(f.type(), ' ', f.part(), '[', count, "];");
        const auto outside = b_.body.scope();
        open_elements(values);
        for (const node_id n : kept) {
            out.line(kept_name(n), along_, " = ", b_.body.value(n, out), ";");
            b_.body.name(n, kept_name(n) + along_);
        }
        const std::string slot = s_.each > 1 ? "[u * " + std::to_string(s_.each) + " + e]" : "[u]";
        for (fold_writer& f : folds)
            out.line(f.part(), slot, " = ", is_inside(), " ? ", f.element(b_.body.value(f.value(), out), position()),
                     " : ", f.start(), ";");
        close_elements();
        b_.body.leave(outside);
        for (const node_id n : kept) b_.body.name(n, kept_name(n) + along_);
        for (fold_writer& f : folds) {
            const std::string fold = f.joiner();
            out.line(f.type(), ' ', f.name(), " = ", join_pairs(b_.needs), '<', fold, ", ", count, ">(", f.part(),
                     ");");
        }
    }
    std::string kept_name(node_id n) const {
        const auto at = std::find(s_.kept.begin(), s_.kept.end(), n);
        return "kept" + std::to_string(at - s_.kept.begin());
    }

    /// Every lane of a row gets the row's results of a phase.
    void write_exchange(std::size_t phase) {
        source_writer& out = b_.code;
        std::vector<fold_writer>& folds = folds_[phase];
        for (fold_writer& f : folds) b_.body.name(f.reduction(), f.result());
        if (s_.lanes == 1) return;
        if (s_.across) return exchange_across(folds);
        const std::uint32_t group = std::min(32u, s_.lanes), slots = s_.lanes / 32;
        for (fold_writer& f : folds) {
            const std::string fold = f.joiner();
            out.line(f.name(), " = ", join_lanes(f, b_.needs), '<', fold, ", ", group, ">(", f.name(), ");");
        }
        if (s_.lanes <= 32) return;
        for (fold_writer& f : folds) out.line("__shared__ ", f.type(), ' ', f.whole(), '[', slots, "];");
        if (s_.cluster > 1) {
            out.open("if (threadIdx.x % 32 < ", s_.cluster, ")");
            for (fold_writer& f : folds)
                out.line("*", in_block(), "(&", f.whole(), "[lane / 32], threadIdx.x % 32) = ", f.name(), ";");
        } else {
            out.open("if (threadIdx.x % 32 == 0)");
            for (fold_writer& f : folds) out.line(f.whole(), "[threadIdx.x / 32] = ", f.name(), ";");
        }
        out.close();
        if (s_.cluster > 1) {
            out.line(cluster_barrier("cluster_publish", "arrive.release.aligned"), "();");
            out.line(cluster_barrier("cluster_wait", "wait.acquire.aligned"), "();");
        } else {
            out.line("__syncthreads();");
        }
        for (fold_writer& f : folds) {
            const std::string fold = f.joiner();
            out.line(f.name(), " = ", join_slots(f, b_.needs), '<', fold, ", ", slots, ">(", f.whole(), ");");
        }
    }

    /// Lanes of a row are in different warps: they change places through shared memory, are joined, and change back.
    void exchange_across(std::vector<fold_writer>& folds) {
        source_writer& out = b_.code;
        const std::uint32_t group = std::min(32u, s_.lanes), pitch = s_.rows + 1;
        for (fold_writer& f : folds) {
            out.line("__shared__ ", f.type(), ' ', f.whole(), '[', s_.lanes * pitch, "];");
            out.line(f.whole(), "[lane * ", of(pitch), " + threadIdx.x % ", of(s_.rows), "] = ", f.name(), ";");
        }
        out.line("__syncthreads();");
        const std::uint32_t joining = s_.rows * group;
        if (joining < s_.threads) out.open("if (threadIdx.x < ", joining, ")");
        for (fold_writer& f : folds) {
            const std::string from =
                f.whole() + "[threadIdx.x % " + of(group) + " * " + of(pitch) + " + threadIdx.x / " + of(group);
            out.line(f.name(), " = ", from, "];");
            for (std::uint32_t lane = group; lane < s_.lanes; lane += group)
                out.line(f.name(), " = ", f.joined(f.name(), from + " + " + std::to_string(lane * pitch) + "u]"), ";");
            const std::string fold = f.joiner();
            out.line(f.name(), " = ", join_lanes(f, b_.needs), '<', fold, ", ", group, ">(", f.name(), ");");
        }
        // A column of slots is read by the lanes that join it alone, so the first slot of each can take the result.
        out.line("__syncwarp();");
        out.open("if (threadIdx.x % ", group, " == 0)");
        for (fold_writer& f : folds) out.line(f.whole(), "[threadIdx.x / ", of(group), "] = ", f.name(), ";");
        out.close();
        if (joining < s_.threads) out.close();
        out.line("__syncthreads();");
        for (fold_writer& f : folds) out.line(f.name(), " = ", f.whole(), "[threadIdx.x % ", of(s_.rows), "];");
    }

    std::string in_block() {
        b_.needs.add("in_block",
                     "/// The same place in the shared memory of another block of the cluster.\n"
                     "template <class type>\n"
                     "__device__ __forceinline__ type* in_block(type* mine, unsigned int block) {\n"
                     "    unsigned long long other;\n"
                     "    asm volatile(\"mapa.u64 %0, %1, %2;\" : \"=l\"(other) : \"l\"(mine), \"r\"(block));\n"
                     "    return reinterpret_cast<type*>(other);\n}\n");
        return "in_block";
    }
    std::string cluster_barrier(const std::string& name, const std::string& instruction) {
        b_.needs.add(name, "__device__ __forceinline__ void " + name + "() {\n    asm volatile(\"barrier.cluster." +
                               instruction + ";\" ::: \"memory\");\n}\n");
        return name;
    }

    void write_outputs() {
        source_writer& out = b_.code;
        std::vector<std::size_t> along, still;
        std::vector<node_id> values;
        for (std::size_t k = 0; k < b_.outputs.size(); ++k) {
            (along_row(b_.outputs[k]) ? along : still).push_back(k);
            if (along_row(b_.outputs[k])) values.push_back(b_.graph.roots[k]);
        }
        if (shares_block()) out.line("if (mine >= ", rows(), ") return;");
        const auto outside = b_.body.scope();
        if (!along.empty()) write_along(along, values);
        b_.body.leave(outside);
        if (still.empty()) return;
        if (s_.lanes > 1) out.open("if (", lane_, " == 0)");
        for (const std::size_t k : still)
            b_.store_element(b_.outputs[k], b_.offset(b_.outputs[k], r_.kept_bits()),
                             b_.body.value(b_.graph.roots[k], out));
        if (s_.lanes > 1) out.close();
    }

    void write_along(const std::vector<std::size_t>& outputs, const std::vector<node_id>& values) {
        source_writer& out = b_.code;
        bool vectors = false;
        if (s_.each > 1) {
            // Declared before the loop over elements, which open_elements opens: a chunk of results.
            for (const std::size_t k : outputs) {
                const place& z = b_.outputs[k];
                vectors = vectors || packed(z);
                if (packed(z)) declare(z.at->head.type, z.name, true);
            }
        }
        open_elements(values);
        bool digits = false;
        for (const std::size_t k : outputs) {
            const place& z = b_.outputs[k];
            const std::string value = b_.body.value(b_.graph.roots[k], out);
            if (packed(z)) {
                out.line(z.name, "[u][e] = ", value, ";");
                continue;
            }
            if (!digits) {
                out.line("if (!(", is_inside(), ")) continue;");
                b_.write_digits(position(), r_.row);
                digits = true;
            }
            b_.store_element(z, b_.offset(z, all_axes()), value);
        }
        close_elements();
        if (!vectors) return;
        open_chunks();
        out.open("if (", is_whole(), ")");
        b_.write_digits("at", r_.row);
        for (const std::size_t k : outputs) {
            const place& z = b_.outputs[k];
            if (packed(z))
                out.line(b_.storer(), '<', word_of(bytes_of(z) * s_.each), ">(", b_.pointer(z),
                         b_.offset(z, all_axes()), ", ", z.name, "[u]);");
        }
        out.otherwise();
        open_unrolled("e", s_.each);
        out.line("if (!(", is_inside(), ")) break;");
        b_.write_digits("at + e", r_.row);
        for (const std::size_t k : outputs) {
            const place& z = b_.outputs[k];
            if (packed(z)) b_.store_element(z, b_.offset(z, all_axes()), z.name + "[u][e]");
        }
        out.close();
        out.close();
        out.close();
    }

    cuda_kernel b_;
    const row_program& r_;
    register_rows s_;
    std::vector<std::vector<fold_writer>> folds_;  // of each phase
    std::vector<place> leaves_;                    // arrays and random leaves
    std::string lane_, along_;                     // this thread's lane; the element at which loops stand, "[u][e]"
};

}  // namespace

void emit_row_cuda(const key& k, const graph& g, const row_program& r, register_rows s, plan& p) {
    cuda_rows(k, g, r, std::move(s)).write(p);
}

}  // namespace ingot::codegen
