// Folds over bound axes for CUDA, with the trees before and after them, several at once, in one kernel. Lanes share a
// row: a few for short rows, a warp, a block; where there are few long rows several blocks share one and the block that
// comes last finishes it. Where memory runs along the kept axis instead (columns) a thread owns a row and neighbours
// read neighbours.
//
// The order of joining depends on the key, the sizes and the device alone: a lane joins what it holds in pairs, tiles
// one after the other (in two levels where that keeps the error small), lanes in pairs, blocks by their number.
#include <algorithm>

#include "codegen/cuda_kernel.hpp"
#include "codegen/fold.hpp"
#include "codegen/reduction.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

constexpr std::uint32_t threads = 256;
/// Rows longer than 2^(bucket + 4) elements for these buckets are shared by a block, and by several blocks.
constexpr std::uint8_t block_bucket = 7, split_bucket = 9, split_column_bucket = 6;
constexpr std::uint32_t column_split = 512;  // elements of a column that are worth a block of their own

class cuda_fold {
public:
    cuda_fold(const key& k, const graph& g, const folding& f)
        : b_(k, g), spaces_(f.spaces), folds_(folds_of(f, g, b_.needs)) {
        for (std::size_t s = 0; s < spaces_.size(); ++s) {
            if (spaces_[s].bucket > spaces_[longest_].bucket) longest_ = s;
            for (const fold_writer& fold : folds_[s]) words_ += fold.words();
        }
        bucket_ = spaces_[longest_].bucket;
        for (int a = 0; a < b_.rank; ++a) kept_.push_back(a);
        choose_lanes();
    }

    void write(plan& p) {
        b_.name_scalars();
        write_row();
        for (std::size_t s = 0; s < spaces_.size(); ++s) write_space(s);
        write_combination();
        if (split_) write_finish();
        write_results();
        launch& step = b_.step;
        step.kernel = "reduce";
        step.threads = threads;
        step.pattern = split_ ? "split reduction" : columns_ ? "column reduction" : "row reduction";
        step.reason = lanes_ == 1 ? "a thread a row, neighbours read neighbours"
                                  : std::to_string(lanes_) + " lanes a row" + (split_ ? ", several blocks a row" : "");
        for (const folded_space& s : spaces_)  // what is folded, and an operation to join it
            step.work.push_back({kept_bits() | s.bits(), cost_of(b_.graph, s.values) + s.reductions.size()});
        step.work.push_back({kept_bits(), b_.cost});
        p.source =
            b_.assemble(p.expression, "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(threads) +
                                          (split_ ? ", 4" : "") + ")\nreduce(const __grid_constant__ arguments p)");
        p.steps.push_back(std::move(step));
    }

private:
    std::uint64_t kept_bits() const { return axis_range(0, b_.rank); }
    std::uint64_t loops_of(const place& in) const { return b_.graph.nodes[in.node].axes; }

    void choose_lanes() {
        bool along_kept = false, along_bound = false;
        for (const place& in : b_.inputs)
            for (std::size_t a = 0; a < in.at->strides.size(); ++a) {
                if (in.at->strides[a] != stride_class::unit || (loops_of(in) & ~kept_bits()) == 0) continue;
                along_kept = along_kept || static_cast<int>(a) == b_.rank - 1;
                along_bound = along_bound || static_cast<int>(a) >= b_.rank;
            }
        columns_ = along_kept && !along_bound;
        lanes_ = columns_ ? 1 : bucket_ == 1 ? 8 : bucket_ == 2 ? 16 : bucket_ < block_bucket ? 32 : threads;
        split_ = columns_ ? bucket_ >= split_column_bucket : few_results(b_.key, b_.rank) && bucket_ >= split_bucket;
    }

    std::string lane() const { return lanes_ == 1 ? "0" : lanes_ == threads ? "threadIdx.x" : "lane"; }

    /// Which row this thread works on, what it needs of it, and the sums still to be made.
    void write_row() {
        source_writer& out = b_.code;
        if (lanes_ > 1 && lanes_ < threads)
            out.line("const ", b_.needs.type(dtype::u4), " lane = threadIdx.x % ", lanes_, "u;");
        if (b_.rank > 0 && lanes_ == threads) {
            out.line("const ", b_.linear(), " row = blockIdx.x;");
        } else if (b_.rank > 0) {
            // Lanes without a row help with the last one and keep what they find to themselves.
            const std::string within = lanes_ == 1 ? "threadIdx.x" : "threadIdx.x / " + std::to_string(lanes_) + "u";
            out.line("const ", b_.linear(), " mine = ", b_.wide() ? b_.linear() + "(blockIdx.x)" : "blockIdx.x", " * ",
                     threads / lanes_, "u + ", within, ";");
            out.line("const ", b_.linear(), " row = mine < ", rows(), " ? mine : ", rows(), " - 1;");
        }
        b_.write_digits("row", kept_);
        for (const place& in : b_.inputs) {
            if ((loops_of(in) & ~kept_bits()) != 0) continue;
            out.line("const ", b_.needs.type(in.at->head.type), ' ', in.name, " = ",
                     b_.element(in, b_.offset(in, kept_bits())), ";");
            b_.body.name(in.node, in.name);
        }
        for (const node_id g : b_.generators) {
            if ((b_.graph.nodes[g].axes & ~kept_bits()) != 0) continue;
            const std::string name = b_.names[b_.graph.nodes[g].index];
            out.line("const ", b_.needs.type(b_.graph.nodes[g].type), ' ', name, " = ", random_element(g, kept_bits()),
                     ";");
            b_.body.name(g, name);
        }
        std::vector<node_id> values;
        for (const folded_space& s : spaces_) values.insert(values.end(), s.values.begin(), s.values.end());
        b_.body.hoist(kept_bits(), values, out);
        b_.step.grid[0] = {.axes = kept_bits(), .divide_by = threads / lanes_};
    }
    std::string rows() { return b_.count({.axes = kept_bits()}, "rows"); }

    /// Folds this thread's share of a space.
    void write_space(std::size_t number) {
        source_writer& out = b_.code;
        const folded_space& s = spaces_[number];
        std::vector<fold_writer>& folds = folds_[number];
        const std::vector<const place*> inputs = inputs_of(s);
        const std::uint32_t each = vector_elements(s, inputs);
        const std::uint32_t unroll = unroll_of(s, each);
        const std::uint32_t tile = lanes_ * each * unroll;
        const std::string suffix = spaces_.size() == 1 ? "" : std::to_string(number);
        const std::string n = b_.count({.axes = s.bits()}, "folded" + suffix), k = "k", index = b_.linear();
        for (fold_writer& f : folds) {
            out.line(f.type(), ' ', f.name(), " = ", f.start(), ";");
            b_.body.name(f.reduction(), f.result());
        }
        if (number == longest_ && split_) {
            const std::uint32_t piece = columns_ ? column_split : tile;
            b_.step.grid[1] = {.axes = s.bits(), .divide_by = piece, .per_processor = columns_ ? 64u : 4u};
            b_.step.scratch_bytes = static_cast<std::uint32_t>(8 * (words_ + 1));
            b_.step.scratch_count = {.axes = kept_bits(), .inner = s.bits(), .inner_divide = piece};
        }
        const auto outside = b_.body.scope();
        out.open();
        for (fold_writer& f : folds) out.line(f.type(), ' ', f.part(), " = ", f.start(), ";");
        if (rounds(folds)) out.line(b_.needs.type(dtype::u4), " tiles = 0;");
        const std::string first = split_ ? "blockIdx.y * " + std::to_string(tile) + 'u' : "0";
        const std::string step = split_ ? "gridDim.y * " + std::to_string(tile) + 'u' : std::to_string(tile);
        out.open("for (", index, " k = ", first, "; k + ", tile, " <= ", n, "; k += ", step, ")");
        write_tile(number, inputs, each, unroll);
        out.close();
        b_.body.leave(outside);
        const std::string rest = n + " - " + n + " % " + std::to_string(tile);
        out.open("for (", index, " k = ", split_ ? "blockIdx.y != 0 ? " + n + " : " : "", rest,
                 lanes_ == 1 ? "" : " + " + lane(), "; k < ", n, "; k += ", lanes_, ")");
        b_.write_digits("k", s.axes);
        for (const place* in : inputs) {
            out.line("const ", b_.needs.type(in->at->head.type), ' ', in->name, " = ",
                     b_.element(*in, b_.offset(*in, kept_bits() | s.bits())), ";");
            b_.body.name(in->node, in->name);
        }
        for (const node_id g : generators_of(s)) b_.body.name(g, random_element(g, kept_bits() | s.bits()));
        for (fold_writer& f : folds)
            out.line(f.part(), " = ", f.joined(f.part(), f.element(b_.body.value(f.value(), out), "k")), ";");
        out.close();
        b_.body.leave(outside);
        for (fold_writer& f : folds) out.line(f.name(), " = ", f.joined(f.name(), f.part()), ";");
        out.close();
    }
    static bool rounds(const std::vector<fold_writer>& folds) {
        return std::any_of(folds.begin(), folds.end(), [](const fold_writer& f) { return f.rounds(); });
    }

    void write_tile(std::size_t number, const std::vector<const place*>& inputs, std::uint32_t each,
                    std::uint32_t unroll) {
        source_writer& out = b_.code;
        const folded_space& s = spaces_[number];
        std::vector<fold_writer>& folds = folds_[number];
        const bool packed = each > 1;
        const std::string element = packed ? "[u][e]" : "[u]";
        for (const place* in : inputs) {
            const std::string type = b_.needs.type(in->at->head.type);
            if (packed) {
                out.line("alignas(", bytes_of(*in) * each, ") ", type, ' ', in->name, '[', unroll, "][", each, "];");
            } else {
                out.line(type, ' ', in->name, '[', unroll, "];");
            }
            b_.body.name(in->node, in->name + element);
        }
        for (const node_id g : generators_of(s)) {
            const std::string name = b_.names[b_.graph.nodes[g].index];
            out.line(b_.needs.type(b_.graph.nodes[g].type), ' ', name, '[', unroll, "];");
            b_.body.name(g, name + "[u]");
        }
        const std::string scaled = packed ? " * " + std::to_string(each) : "";
        const std::string at =
            lanes_ == 1 ? "k + u" : "k + (u * " + std::to_string(lanes_) + "u + " + lane() + ")" + scaled;
        open_unrolled("u", unroll);
        out.line("const ", b_.linear(), " at = ", at, ";");
        b_.write_digits("at", s.axes);
        for (const place* in : inputs) {
            const std::string offset = b_.offset(*in, kept_bits() | s.bits());
            if (packed) {
                const reading how = b_.reading_of(*in, kept_bits() | s.bits());
                out.line(b_.loader(how, bytes_of(*in) * each), '<', word_of(bytes_of(*in) * each), ">(", in->name,
                         "[u], ", b_.pointer(*in), offset, ");");
            } else {
                out.line(in->name, "[u] = ", b_.element(*in, offset), ";");
            }
        }
        for (const node_id g : generators_of(s))
            out.line(b_.names[b_.graph.nodes[g].index], "[u] = ", random_element(g, kept_bits() | s.bits()), ";");
        out.close();
        const std::uint32_t count = each * unroll;
        for (std::size_t i = 0; i < folds.size(); ++i) out.line(folds[i].type(), " value", i, '[', count, "];");
        open_unrolled("u", unroll);
        if (packed) open_unrolled("e", each);
        for (std::size_t i = 0; i < folds.size(); ++i)
            out.line("value", i, packed ? "[u * " + std::to_string(each) + " + e] = " : "[u] = ",
                     folds[i].element(b_.body.value(folds[i].value(), out), packed ? at + " + e" : at), ";");
        if (packed) out.close();
        out.close();
        for (std::size_t i = 0; i < folds.size(); ++i) {
            const std::string pairs = b_.join_pairs(folds[i].joiner(), count, "value" + std::to_string(i));
            out.line(folds[i].part(), " = ", folds[i].joined(folds[i].part(), pairs), ";");
        }
        if (!rounds(folds)) return;
        out.open("if (++tiles % 64 == 0)");
        for (fold_writer& f : folds) {
            if (!f.rounds()) continue;
            out.line(f.name(), " = ", f.joined(f.name(), f.part()), ";");
            out.line(f.part(), " = ", f.start(), ";");
        }
        out.close();
    }

    void open_unrolled(const char* variable, std::uint32_t n) {
        b_.code.margin("#pragma unroll");
        b_.code.open("for (unsigned int ", variable, " = 0; ", variable, " < ", n, "; ++", variable, ")");
    }

    std::vector<const place*> inputs_of(const folded_space& s) const {
        const std::vector<bool> below = nodes_below(b_.graph, s.values);
        std::vector<const place*> inputs;
        for (const place& in : b_.inputs)
            if (below[in.node] && (loops_of(in) & s.bits()) != 0) inputs.push_back(&in);
        return inputs;
    }
    std::vector<node_id> generators_of(const folded_space& s) const {
        const std::vector<bool> below = nodes_below(b_.graph, s.values);
        std::vector<node_id> generators;
        for (const node_id g : b_.generators)
            if (below[g] && (b_.graph.nodes[g].axes & s.bits()) != 0) generators.push_back(g);
        return generators;
    }
    std::string random_element(node_id g, std::uint64_t axes) {
        const std::string index = b_.generator_index(g, axes);
        return b_.generator_name(g) + '(' + b_.generator_key(g) + ", " + index + ')';
    }

    /// How many elements a lane loads at once: more than one where a single bound axis runs along memory and every
    /// input is aligned.
    std::uint32_t vector_elements(const folded_space& s, const std::vector<const place*>& inputs) const {
        if (columns_ || s.axes.size() != 1 || inputs.empty() || !generators_of(s).empty()) return 1;
        std::uint32_t widest = 1;
        for (const place* in : inputs) {
            bool unit = false;
            for (std::size_t a = 0; a < in->at->strides.size(); ++a)
                unit = unit || (in->at->strides[a] == stride_class::unit && b_.graph.loop_axis[a] == s.inner());
            if (!unit || !in->at->head.vector) return 1;
            widest = std::max(widest, bytes_of(*in));
        }
        std::uint32_t each = 16 / widest;
        while (each > 1 && each * cost_of(b_.graph, s.values) > statement_budget) each /= 2;
        return each;
    }

    /// Loads in flight: up to 4, so many that the shortest row of the bucket is still one tile.
    std::uint32_t unroll_of(const folded_space& s, std::uint32_t each) const {
        const std::uint32_t shortest = 1u << (s.bucket + 3), most = columns_ ? 8 : 4;
        std::uint32_t unroll = 1;
        while (unroll < most && 2 * unroll * lanes_ * each <= shortest &&
               2 * unroll * each * cost_of(b_.graph, s.values) <= statement_budget)
            unroll *= 2;
        return unroll;
    }

    /// Every lane of a row gets the row's result.
    void write_combination() {
        if (lanes_ == 1) return;
        for (std::vector<fold_writer>& folds : folds_)
            for (fold_writer& f : folds) b_.code.line(f.name(), " = ", combined(f, f.joiner(), f.name()), ";");
    }

    std::string combined(fold_writer& f, const std::string& joiner, const std::string& value) {
        b_.needs.add("from_lane",
                     "/// What the lane `far` away has.\n"
                     "template <class type>\n"
                     "__device__ __forceinline__ type from_lane(type v, int far) {\n"
                     "    return __shfl_xor_sync(0xffffffffu, v, far);\n}\n");
        if (f.places())
            b_.needs.add("from_lane " + f.type(),
                         "__device__ __forceinline__ " + f.type() + " from_lane(" + f.type() +
                             " v, int far) {\n    return {from_lane(v.value, far), from_lane(v.at, far)};\n}\n");
        b_.needs.add("join_lanes",
                     "/// Joins over a group of neighbouring lanes; each of them has the result.\n"
                     "template <class fold, int lanes, class type>\n"
                     "__device__ __forceinline__ type join_lanes(type v) {\n"
                     "#pragma unroll\n"
                     "    for (int far = lanes / 2; far > 0; far >>= 1) v = fold::join(v, from_lane(v, far));\n"
                     "    return v;\n}\n");
        if (lanes_ < threads) return "join_lanes<" + joiner + ", " + std::to_string(lanes_) + ">(" + value + ')';
        b_.needs.add("join_block",
                     "/// Joins over a block of 256; every thread has the result.\n"
                     "template <class fold, class type>\n"
                     "__device__ __forceinline__ type join_block(type v) {\n"
                     "    __shared__ type warps[8];\n"
                     "    v = join_lanes<fold, 32>(v);\n"
                     "    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;\n"
                     "    __syncthreads();\n"
                     "    v = join_lanes<fold, 8>(warps[threadIdx.x % 8]);\n"
                     "    __syncthreads();  // the next fold writes the same place\n"
                     "    return v;\n}\n");
        return "join_block<" + joiner + ">(" + value + ')';
    }

    /// Partial results of a row's blocks meet in the scratch: a counter for each group of rows, then a slot for each
    /// split, word and row. All of it is zero when the kernel begins, and again when it ends.
    void write_finish() {
        source_writer& out = b_.code;
        const std::string u8 = b_.needs.type(dtype::u8), u4 = b_.needs.type(dtype::u4);
        const std::string scratch = b_.arguments.member({argument_kind::scratch_pointer}, u8 + '*', "scratch");
        b_.needs.add("slots",
                     "/// A slot of the scratch: written by one block, read and cleared by the one that finishes.\n"
                     "template <class type>\n"
                     "__device__ __forceinline__ void put(uint64* slot, type v) {\n"
                     "    *reinterpret_cast<type*>(slot) = v;\n}\n\n"
                     "template <class type>\n"
                     "__device__ __forceinline__ type take(uint64* slot) {\n"
                     "    const uint64 word = __ldcg(slot);\n"
                     "    *slot = 0;\n"
                     "    return reinterpret_cast<const type&>(word);\n}\n");
        const std::string count = rows();
        out.line(u8, "* const slots = ", scratch, " + ", count, b_.rank == 0 ? "" : " + row", ";");
        out.line("const ", u8, " stride = ", u8, "(", count, ") * ", words_, ";");
        out.open(owner());
        std::uint32_t word = 0;
        for (const std::vector<fold_writer>& folds : folds_)
            for (const fold_writer& f : folds)
                for (std::uint32_t i = 0; i < f.words(); ++i)
                    out.line("put(slots + blockIdx.y * stride", slot(word++), ", ", f.word(i), ");");
        out.line("__threadfence();");
        out.close();
        out.line("__shared__ bool last;");
        out.line("__syncthreads();");
        out.line(u4, "* const arrived = reinterpret_cast<", u4, "*>(", scratch, " + blockIdx.x);");
        out.line("if (threadIdx.x == 0) last = atomicAdd(arrived, 1u) == gridDim.y - 1;");
        out.line("__syncthreads();");
        out.line("if (!last) return;");
        out.line("__threadfence();");
        out.line("if (threadIdx.x == 0) *arrived = 0;");
        word = 0;
        for (std::vector<fold_writer>& folds : folds_)
            for (fold_writer& f : folds) {
                out.line(f.wide_type(), ' ', f.whole(), " = ", f.wide_start(), ";");
                std::string taken;
                for (std::uint32_t i = 0; i < f.words(); ++i)
                    taken +=
                        (i == 0 ? "take<" : ", take<") + f.word_type(i) + ">(slots + s * stride" + slot(word++) + ')';
                if (f.places()) taken = f.type() + '{' + taken + '}';
                const std::string each =
                    f.whole() + " = " + f.wide_joiner() + "::join(" + f.whole() + ", " + taken + ");";
                const std::string loop =
                    "for (" + u4 + " s = " + lane() + "; s < gridDim.y; s += " + std::to_string(lanes_) + "u) ";
                out.line(lanes_ == 1 ? "if (mine < " + count + ") " : "", loop, each);
                const std::string whole = lanes_ == 1 ? f.whole() : combined(f, f.wide_joiner(), f.whole());
                out.line(f.name(), " = ", f.wide_type() == f.type() ? whole : f.type() + '(' + whole + ')', ";");
            }
    }
    std::string slot(std::uint32_t i) { return i == 0 ? "" : " + " + std::to_string(i) + " * " + rows(); }

    /// Holds for the one thread that answers for a row.
    std::string owner() {
        if (lanes_ == threads) return "if (threadIdx.x == 0)";
        const std::string first = lanes_ == 1 ? "" : "lane == 0";
        if (b_.rank == 0) return "if (threadIdx.x == 0)";
        return "if (" + first + (first.empty() ? "" : " && ") + "mine < " + rows() + ")";
    }

    void write_results() {
        b_.code.open(owner());
        std::vector<std::string> values;
        for (std::size_t k = 0; k < b_.outputs.size(); ++k) {
            values.push_back(b_.body.value(b_.graph.roots[k], b_.code));
            b_.store_element(b_.outputs[k], b_.offset(b_.outputs[k], kept_bits()), values.back());
        }
        b_.code.close();
    }

    cuda_kernel b_;
    const std::vector<folded_space>& spaces_;
    std::vector<std::vector<fold_writer>> folds_;  // of each space
    std::vector<int> kept_;
    std::size_t longest_ = 0;
    std::uint8_t bucket_ = 1;
    std::uint32_t words_ = 0;  // of scratch for a row's partial results
    std::uint32_t lanes_ = 32;
    bool columns_ = false, split_ = false;
};

}  // namespace

void emit_fold_cuda(const key& k, const graph& g, const folding& f, plan& p) { cuda_fold(k, g, f).write(p); }

}  // namespace ingot::codegen
