// Folds along memory: lanes share a row, a few for short rows, a warp, a block; where there are few long rows several
// blocks share one. Where the row is one run of aligned elements, or one operand's that begins anywhere, a lane loads
// 16 bytes at once, and the few elements before the first whole vector and behind the last go one by one.
#include <algorithm>

#include "codegen/fold_cuda.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

constexpr std::uint32_t threads = 256;

class row_fold final : public cuda_fold {
public:
    row_fold(const key& k, const graph& g, const folding& f) : cuda_fold(k, g, f, threads) {
        const bool few = few_results(b_.key, b_.rank);
        lanes_ = choose_lanes(few);
        split_ = few && bucket_ >= long_row_bucket;
    }

private:
    /// So many that each has four vectors, or four times that; then a block. Few rows are wanted soon: as many lanes as
    /// have something to do.
    std::uint32_t choose_lanes(bool few) const {
        const std::uint32_t vectors = (16u << bucket_) / vector_elements(spaces_[longest_]);
        constexpr std::uint32_t vectors_a_lane = 4, warp = 32;
        if (bucket_ >= long_row_bucket || (few ? vectors > warp : vectors > 4 * vectors_a_lane * warp)) return threads;
        return few ? warp : std::clamp(vectors / vectors_a_lane, 8u, warp);
    }

    /// Blocks of a multiprocessor that share rows: the more, the better computing hides behind loading.
    std::uint32_t resident_blocks() const {
        constexpr std::uint32_t double_bytes = 8;  // their parts want more registers than six blocks have
        const bool narrow = std::all_of(b_.inputs.begin(), b_.inputs.end(),
                                        [](const place& in) { return bytes_of(in) < double_bytes; });
        return narrow && words_ <= 2 ? 6 : 4;
    }

    std::string lane() const override { return lanes_ == threads ? "threadIdx.x" : "lane"; }
    std::string lanes() const override { return std::to_string(lanes_) + 'u'; }
    std::string first_result() const override { return b_.rank == 0 ? "" : "row"; }

    void write_place() override {
        source_writer& out = b_.code;
        if (lanes_ < threads) out.line("const ", b_.needs.type(dtype::u4), " lane = threadIdx.x % ", lanes_, "u;");
        if (b_.rank > 0 && lanes_ == threads) {
            out.line("const ", b_.linear(), " row = blockIdx.x;");
        } else if (b_.rank > 0) {
            // Lanes without a row help with the last one and keep what they find to themselves.
            out.line("const ", b_.linear(), " mine = ", b_.wide() ? b_.linear() + "(blockIdx.x)" : "blockIdx.x", " * ",
                     threads / lanes_, "u + threadIdx.x / ", lanes_, "u;");
            out.line("const ", b_.linear(), " row = mine < ", rows(), " ? mine : ", rows(), " - 1;");
        }
        b_.write_digits("row", kept_);
        load_kept(kept_bits());
        b_.step.grid[0] = {.axes = kept_bits(), .divide_by = threads / lanes_};
    }

    void write_space(std::size_t number) override {
        const folded_space& s = spaces_[number];
        const std::string n = b_.count({.axes = s.bits()}, "folded" + suffix(number));
        declare_results(folds_[number]);
        const auto outside = b_.body.scope();
        b_.code.open();
        declare_parts(folds_[number]);
        const std::uint32_t each = vector_elements(s);
        each > 1 ? write_vectors(number, each, n) : write_elements(number, n);
        b_.body.leave(outside);
        join_parts(folds_[number]);
        b_.code.close();
    }

    /// A row of whole vectors, v of them from `head` on, dealt to the lanes in turn.
    void write_vectors(std::size_t number, std::uint32_t each, const std::string& n) {
        source_writer& out = b_.code;
        const folded_space& s = spaces_[number];
        std::vector<fold_writer>& folds = folds_[number];
        const std::vector<const place*> inputs = inputs_of(s);
        const std::uint32_t unroll = unroll_of(s, bytes_at_once(s) * each, lanes_ * each, each), tile = lanes_ * unroll;
        const std::string type = b_.linear(), size = std::to_string(each);
        const bool shared = split_;  // shorter spaces too: what each block has is joined
        if (split_ && number == longest_) split(tile * each, resident_blocks());
        const bool aligned = is_aligned(s);
        if (!aligned) write_head(*inputs[0], each, n);
        out.line("const ", type, " vectors = ", aligned ? n : "(" + n + " - head)", " / ", each, ";");
        // What no vector holds is fewer elements than two of them: loaded first, so that nobody waits for it.
        const std::string edges = n + " - vectors * " + size, first = shared ? "blockIdx.y == 0 && " : "";
        const std::string k = aligned ? "vectors * " + size + " + " : "";
        const bool at_once = lanes_ >= 2 * each;
        if (at_once) {
            out.line("const ", type, " edge = ",
                     aligned ? k + lane() : lane() + " < head ? " + lane() + " : " + lane() + " + vectors * " + size,
                     ";");
            for (const place* in : inputs) out.line(b_.needs.type(in->at->head.type), ' ', in->name, "_edge;");
            out.open("if (", first, lane(), " < ", edges, ")");
            b_.write_digits("edge", s.axes);
            for (const place* in : inputs)
                out.line(in->name, "_edge = ", b_.element(*in, b_.offset(*in, kept_bits() | s.bits())), ";");
            out.close();
        }
        const auto outside = b_.body.scope();
        out.open("for (", type, " v = ", shared ? "blockIdx.y * " + std::to_string(tile) + "u + " : "", lane(),
                 "; v < vectors; v += ", shared ? "gridDim.y * " : "", tile, "u)");
        for (const place* in : inputs) {
            out.line("alignas(", bytes_of(*in) * each, ") ", b_.needs.type(in->at->head.type), ' ', in->name, '[',
                     unroll, "][", each, "];");
            b_.body.name(in->node, in->name + "[u][e]");
        }
        const std::string vector = unroll == 1 ? "v" : "v + u * " + std::to_string(lanes_) + 'u';
        open_unrolled("u", unroll);
        if (unroll > 1) out.line("if (", vector, " >= vectors) continue;");
        out.line("const ", b_.signed_index(), ' ', digit(s.inner()), " = ", b_.signed_index(), '(',
                 aligned ? "" : "head + ", unroll == 1 ? vector : '(' + vector + ')', " * ", each, ");");
        for (const place* in : inputs) {
            const std::uint32_t width = bytes_of(*in) * each;
            out.line(b_.loader(b_.reading_of(*in, kept_bits() | s.bits()), width), '<', word_of(width), ">(", in->name,
                     "[u], ", b_.pointer(*in), b_.offset(*in, kept_bits() | s.bits()), ");");
        }
        out.close();
        declare_outputs(s, unroll, each);
        open_unrolled("u", unroll);
        if (unroll > 1) out.line("if (", vector, " >= vectors) break;");
        for (std::size_t i = 0; i < folds.size(); ++i) out.line(folds[i].entry_type(), " value", i, '[', each, "];");
        open_unrolled("e", each);
        const std::string at = std::string(aligned ? "" : "head + ") + '(' + vector + ") * " + size + " + e";
        for (std::size_t i = 0; i < folds.size(); ++i)
            out.line("value", i, "[e] = ", folds[i].entry(b_.body.value(folds[i].value(), out), at), ";");
        put_outputs(s, "[u][e]");
        out.close();
        const std::string first_of_vector = std::string(aligned ? "" : "head + ") + '(' + vector + ") * " + size;
        if (!s.outputs.empty())
            store_outputs(s, each, s.inner(), [&](bool element) {
                out.line("const ", b_.signed_index(), ' ', digit(s.inner()), " = ", b_.signed_index(), '(',
                         first_of_vector, element ? " + e" : "", ");");
            });
        for (std::size_t i = 0; i < folds.size(); ++i)
            join_part(folds[i], folded(folds[i], "value" + std::to_string(i), each, ""));
        flush_parts(folds);
        out.close();
        out.close();
        b_.body.leave(outside);

        if (at_once) {
            for (const place* in : inputs) b_.body.name(in->node, in->name + "_edge");
            out.open("if (", first, lane(), " < ", edges, ")");
            for (fold_writer& f : folds) join_part(f, f.of_one(f.entry(b_.body.value(f.value(), out), "edge")));
            if (!s.outputs.empty()) b_.write_digits("edge", s.axes);
            store_element_outputs(s);
        } else {
            out.open("for (", type, " r = ", lane(), "; ", first, "r < ", edges, "; r += ", lanes(), ")");
            out.line("const ", type, " edge = ", aligned ? k + "r" : "r < head ? r : r + vectors * " + size, ";");
            b_.write_digits("edge", s.axes);
            write_element(number, "edge");
        }
        out.close();
    }

    /// Elements before the first whole vector of a row that begins anywhere.
    void write_head(const place& in, std::uint32_t each, const std::string& n) {
        const std::string start = b_.pointer(in) + b_.offset(in, kept_bits()), u8 = b_.needs.type(dtype::u8);
        b_.code.line("const ", b_.linear(), " head = min(", n, ", ", b_.linear(), "(-(reinterpret_cast<", u8, ">(",
                     start, ") / ", bytes_of(in), ") % ", each, "));");
    }

    /// Rows whose elements lie anywhere: a lane's are apart, so that lanes read neighbours.
    void write_elements(std::size_t number, const std::string& n) {
        source_writer& out = b_.code;
        const folded_space& s = spaces_[number];
        const std::uint32_t unroll = unroll_of(s, bytes_at_once(s), lanes_, 1), tile = lanes_ * unroll;
        const bool shared = split_;  // shorter spaces too: what each block has is joined
        if (split_ && number == longest_) split(tile, resident_blocks());
        out.open("for (", b_.linear(), " k = ", shared ? "blockIdx.y * " + std::to_string(tile) + "u + " : "", lane(),
                 "; k < ", n, "; k += ", shared ? "gridDim.y * " : "", tile, "u)");
        write_tile(number, unroll, " * " + lanes(), n);
        out.close();
    }

    /// How many elements a lane loads at once: more than one where a single bound axis runs along memory, and every
    /// input is aligned or there is but one.
    std::uint32_t vector_elements(const folded_space& s) const {
        const std::vector<const place*> inputs = inputs_of(s);
        if (s.axes.size() != 1 || inputs.empty() || !generators_of(s).empty()) return 1;
        if (!is_aligned(s) && (inputs.size() != 1 || inputs[0]->at->head.aliased)) return 1;
        std::uint32_t widest = 1;
        for (const place* in : inputs) {
            if (!is_unit(*in, s.inner())) return 1;
            widest = std::max(widest, bytes_of(*in));
        }
        for (const std::size_t k : s.outputs) widest = std::max(widest, bytes_of(b_.outputs[k]));
        std::uint32_t each = 16 / widest;
        while (each > 1 && each * cost_of(b_.graph, s.wanted(b_.graph)) > statement_budget) each /= 2;
        return each;
    }
    bool is_aligned(const folded_space& s) const {
        const std::vector<const place*> inputs = inputs_of(s);
        return std::all_of(inputs.begin(), inputs.end(), [](const place* in) { return in->at->head.vector; });
    }

    void combine(fold_writer& f, const std::string& joiner, const std::string& variable) override {
        write_exchange(f);
        b_.needs.add("join_lanes",
                     "/// Joins over a group of neighbouring lanes; each of them has the result.\n"
                     "template <class fold, int lanes, class type>\n"
                     "__device__ __forceinline__ type join_lanes(type v) {\n"
                     "#pragma unroll\n"
                     "    for (int far = lanes / 2; far > 0; far >>= 1) v = fold::join(v, from_lane(v, far));\n"
                     "    return v;\n}\n");
        if (lanes_ < threads)
            return b_.code.line(variable, " = join_lanes<", joiner, ", ", lanes_, ">(", variable, ");");
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
        b_.code.line(variable, " = join_block<", joiner, ">(", variable, ");");
    }

    void write_exchange(fold_writer& f) {
        b_.needs.add("from_lane",
                     "/// What the lane `far` away has.\n"
                     "template <class type>\n"
                     "__device__ __forceinline__ type from_lane(type v, int far) {\n"
                     "    return __shfl_xor_sync(0xffffffffu, v, far);\n}\n");
        if (f.words() == 1) return;
        std::string members;
        for (std::uint32_t i = 0; i < f.words(); ++i)
            members += (i == 0 ? "from_lane(" : ", from_lane(") + f.word(i, "v") + ", far)";
        b_.needs.add("from_lane " + f.type(), "__device__ __forceinline__ " + f.type() + " from_lane(" + f.type() +
                                                  " v, int far) {\n    return {" + members + "};\n}\n");
    }

    std::string owner() override {
        if (lanes_ == threads || b_.rank == 0) return "if (threadIdx.x == 0)";
        return "if (lane == 0 && mine < " + rows() + ")";
    }

    void describe(launch& step) const override {
        step.pattern = split_ ? "split reduction" : "row reduction";
        step.reason = std::to_string(lanes_) + " lanes a row" + (split_ ? ", several blocks a row" : "");
    }

    std::uint32_t lanes_;
};

}  // namespace

void emit_row_fold_cuda(const key& k, const graph& g, const folding& f, plan& p) { row_fold(k, g, f).write(p); }

}  // namespace ingot::codegen
