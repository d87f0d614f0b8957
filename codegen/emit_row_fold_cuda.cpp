// Folds along memory: lanes share a row, a few for short rows, a warp, a block; where there are few long rows several
// blocks share one. Where the row is one run of aligned elements, or one operand's that begins anywhere, a lane loads
// 16 bytes at once, and the few elements before the first whole vector and behind the last go one by one.
#include <algorithm>

#include "codegen/fold_cuda.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

constexpr std::uint32_t usual_threads = 256;
constexpr std::uint32_t resident_threads = 1024;  // of a multiprocessor, where blocks share rows

class row_fold final : public cuda_fold {
public:
    row_fold(const key& k, const graph& g, const folding& f) : cuda_fold(k, g, f, usual_threads) {
        const bool few = few_results(b_.key, b_.rank);
        split_ = few && bucket_ >= long_row_bucket;
        if (split_ && is_light()) threads_ = 2 * usual_threads;
        lanes_ = choose_lanes(few);
        // Of many rows that are not long, more blocks at once: some load while others join what they have.
        constexpr std::uint8_t longest_bucket = 10;
        if (lanes_ == threads_ && !few && bucket_ <= longest_bucket) lanes_ = threads_ = usual_threads / 2;
        if (split_) least_blocks_ = resident_blocks();
    }

private:
    /// So many that each has four vectors, or four times that; then a block. Few rows are wanted soon: as many lanes as
    /// have something to do.
    std::uint32_t choose_lanes(bool few) const {
        const std::uint32_t vectors = (16u << bucket_) / vector_elements(spaces_[longest_]);
        constexpr std::uint32_t vectors_a_lane = 4, warp = 32;
        if (bucket_ >= long_row_bucket || (few ? vectors > warp : vectors > 4 * vectors_a_lane * warp)) return threads_;
        return few ? warp : std::clamp(vectors / vectors_a_lane, 8u, warp);
    }

    /// Whether registers hold twice as many loads as else, beside the parts.
    bool is_light() const {
        constexpr std::uint32_t double_bytes = 8, few_words = 5;
        return words_ <= few_words && std::all_of(b_.inputs.begin(), b_.inputs.end(),
                                                  [](const place& in) { return bytes_of(in) < double_bytes; });
    }

    bool is_exponentials() const {
        const std::vector<fold_writer>& folds = folds_[longest_];
        return folds.size() == 1 && folds[0].counts_entries() && !folds[0].has_parts();
    }
    /// Of a multiprocessor, where blocks share rows. Exponentials of doubles want registers.
    std::uint32_t resident_blocks() const {
        const bool wide = is_exponentials() && !is_light();
        return (wide ? resident_threads / 4 * 3 : resident_threads) / threads_;
    }

    /// A row whose lanes fold but few tiles each is a short sum.
    bool has_rounds(const std::vector<fold_writer>& folds) const override {
        constexpr std::uint32_t most_vectors = 64;
        return rounds(folds) && (bucket_ >= long_row_bucket || (16u << bucket_) > most_vectors * lanes_);
    }
    std::string lane() const override { return lanes_ == threads_ ? "threadIdx.x" : "lane"; }
    std::string lanes() const override { return std::to_string(lanes_) + 'u'; }
    std::uint32_t slots_at_once() const override { return 4; }
    std::string first_result() const override { return b_.rank == 0 ? "" : "row"; }

    void write_place() override {
        source_writer& out = b_.code;
        if (lanes_ < threads_) out.line("const ", b_.needs.type(dtype::u4), " lane = threadIdx.x % ", lanes_, "u;");
        if (b_.rank > 0 && lanes_ == threads_) {
            out.line("const ", b_.linear(), " row = blockIdx.x;");
        } else if (b_.rank > 0) {
            // Lanes without a row help with the last one and keep what they find to themselves.
            out.line("const ", b_.linear(), " mine = ", b_.wide() ? b_.linear() + "(blockIdx.x)" : "blockIdx.x", " * ",
                     threads_ / lanes_, "u + threadIdx.x / ", lanes_, "u;");
            out.line("const ", b_.linear(), " row = mine < ", rows(), " ? mine : ", rows(), " - 1;");
        }
        b_.write_digits("row", kept_);
        load_kept(kept_bits());
        b_.step.grid[0] = {.axes = kept_bits(), .divide_by = threads_ / lanes_};
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
        // A whole row at once, where registers hold it: what is left for a second time would wait for itself.
        constexpr std::uint32_t bytes_in_flight = 64, whole_row_bytes = 128;
        const std::uint32_t unroll =
            unroll_of(s, bytes_at_once(s) * each, lanes_ * each, each,
                      (split_ && !is_light()) || lanes_ < threads_ ? bytes_in_flight : whole_row_bytes);
        const std::uint32_t tile = lanes_ * unroll;
        const std::string type = b_.linear(), size = std::to_string(each);
        const bool shared = split_;  // shorter spaces too: what each block has is joined
        if (split_ && number == longest_) split_rows(each, bytes_at_once(s) * each);
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
        for (const place* in : inputs)
            out.line("const ", b_.needs.type(in->at->head.type), "* const ", in->name, "_row = ", b_.pointer(*in),
                     b_.offset(*in, kept_bits()), aligned ? ";" : " + head;");
        const auto outside = b_.body.scope();
        for (std::size_t i = 0; i < folds.size(); ++i)
            if (const place* in = packed_by(folds[i], s, each); in != nullptr) {
                const std::string packed = add_packed(folds[i], *in);
                out.line("unsigned int best", i, "[2] = {", packed, "::start, ", packed, "::start};");
            }
        const std::string whole_tile = std::to_string(tile) + 'u';
        if (shared) {  // rounds of whole tiles, then even pieces, in whole lines of the caches, of what is left
            out.line("const ", type, " round = gridDim.y * ", whole_tile, ", rounds = vectors / round * round;");
            out.open("for (", type, " v = blockIdx.y * ", whole_tile, " + ", lane(), "; v < rounds; v += round)");
            write_vector_tile(number, each, unroll, aligned, "");
            out.close();
            b_.body.leave(outside);
            out.line("const ", type, " piece = ((vectors - rounds + gridDim.y - 1) / gridDim.y + 7) / 8 * 8;");
            out.line("const ", type, " v = rounds + blockIdx.y * piece + ", lane(),
                     ", end = min(vectors, rounds + (blockIdx.y + 1) * piece);");
            out.open("if (v < end)");
            write_vector_tile(number, each, unroll, aligned, "end");
            out.close();
        } else {
            out.margin("#pragma unroll 1");  // few rows want a second tile, all of them registers
            out.open("for (", type, " v = ", lane(), "; v < vectors; v += ", whole_tile, ")");
            write_vector_tile(number, each, unroll, aligned, "vectors");
            out.close();
        }
        b_.body.leave(outside);
        for (std::size_t i = 0; i < folds.size(); ++i)
            if (const place* in = packed_by(folds[i], s, each); in != nullptr) {
                const std::string whole = add_packed(folds[i], *in) + "::whole(best" + std::to_string(i) + ')';
                out.line(own(folds[i].part()), " = ", folds[i].joined(own(folds[i].part()), whole), ";");
            }

        if (at_once) {
            for (const place* in : inputs) b_.body.name(in->node, in->name + "_edge");
            out.open("if (", first, lane(), " < ", edges, ")");
            for (fold_writer& f : folds) join_one(f, f.entry(b_.body.value(f.value(), out), "edge"));
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

    /// The vectors v, v + 1 `lanes`, ..., `unroll` of them: all, or those before `end`.
    void write_vector_tile(std::size_t number, std::uint32_t each, std::uint32_t unroll, bool aligned,
                           const std::string& end) {
        source_writer& out = b_.code;
        const folded_space& s = spaces_[number];
        std::vector<fold_writer>& folds = folds_[number];
        const std::vector<const place*> inputs = inputs_of(s);
        const bool checked = unroll > 1 && !end.empty();
        const std::string size = std::to_string(each);
        for (const place* in : inputs) {
            out.line("alignas(", bytes_of(*in) * each, ") ", b_.needs.type(in->at->head.type), ' ', in->name, '[',
                     unroll, "][", each, "];");
            b_.body.name(in->node, in->name + "[u][e]");
        }
        const std::string vector = unroll == 1 ? "v" : "v + u * " + std::to_string(lanes_) + 'u';
        open_unrolled("u", unroll);
        if (checked) out.line("if (", vector, " >= ", end, ") continue;");
        for (const place* in : inputs) {  // apart by what is known: one address for all of them
            const std::uint32_t width = bytes_of(*in) * each;
            out.line(b_.loader(b_.reading_of(*in, kept_bits() | s.bits()), width), '<', word_of(width), ">(", in->name,
                     "[u], ", in->name, "_row + v * ", each,
                     unroll == 1 ? "" : " + u * " + std::to_string(lanes_ * each) + 'u', ");");
        }
        out.close();
        if (end.empty() && s.outputs.empty() && number == longest_ && is_exponentials())
            return join_whole_tile(number, each, unroll);
        declare_outputs(s, unroll, each);
        open_unrolled("u", unroll);
        if (checked) out.line("if (", vector, " >= ", end, ") break;");
        std::vector<std::size_t> plain;
        for (std::size_t i = 0; i < folds.size(); ++i) {
            if (const place* in = packed_by(folds[i], s, each); in != nullptr)
                out.line(add_packed(folds[i], *in), "::take(best", i, ", ", in->name, "[u]);");
            else
                plain.push_back(i);
        }
        if (!plain.empty() || !s.outputs.empty()) {
            const std::string first = std::string(aligned ? "" : "head + ") + '(' + vector + ") * " + size;
            for (const std::size_t i : plain) out.line(folds[i].entry_type(), " value", i, '[', each, "];");
            open_unrolled("e", each);
            for (const std::size_t i : plain)
                out.line("value", i, "[e] = ", folds[i].entry(b_.body.value(folds[i].value(), out), first + " + e"),
                         ";");
            put_outputs(s, "[u][e]");
            out.close();
            if (!s.outputs.empty())
                store_outputs(s, each, s.inner(), [&](bool element) {
                    out.line("const ", b_.signed_index(), ' ', digit(s.inner()), " = ", b_.signed_index(), '(', first,
                             element ? " + e" : "", ");");
                });
            for (const std::size_t i : plain) join_entries(folds[i], "value" + std::to_string(i), each);
        }
        out.close();
        flush_parts(folds, unroll);
    }

    /// Of exponentials a tile is joined at once.
    void join_whole_tile(std::size_t number, std::uint32_t each, std::uint32_t unroll) {
        fold_writer& f = folds_[number][0];
        b_.code.line(f.entry_type(), " value0[", unroll * each, "];");
        open_unrolled("u", unroll);
        open_unrolled("e", each);
        b_.code.line("value0[u * ", each, " + e] = ", f.entry(b_.body.value(f.value(), b_.code), ""), ";");
        b_.code.close();
        b_.code.close();
        join_entries(f, "value0", unroll * each);
        flush_parts(folds_[number], unroll);
    }

    /// The array whose greatest or least element a fold is after, where elements are narrow: several are compared at
    /// once.
    const place* packed_by(const fold_writer& f, const folded_space& s, std::uint32_t each) const {
        const dtype t = b_.graph.nodes[f.value()].type;
        const fold of = static_cast<fold>(b_.graph.nodes[f.reduction()].code);
        if (kind_of(t) != kind::integer || size_of(t) > 2 || each * size_of(t) < 4 ||
            (of != fold::max && of != fold::min))
            return nullptr;
        for (const place* in : inputs_of(s))
            if (in->node == f.value()) return in;
        return nullptr;
    }

    /// Pairs of 16 bits are compared by one instruction. Of bytes the upper of each pair decides, whatever lies in the
    /// lower one; a shift brings those up.
    std::string add_packed(const fold_writer& f, const place& in) {
        const dtype t = in.at->head.type;
        const bool greatest = static_cast<fold>(b_.graph.nodes[f.reduction()].code) == fold::max,
                   bytes = size_of(t) == 1;
        const std::string type = b_.needs.type(t), name = std::string(greatest ? "most_" : "least_") + type;
        const std::string best = std::string(greatest ? "__vmax" : "__vmin") + (is_signed(t) ? "s2" : "u2");
        const std::string pick = greatest ? "a > b ? a : b" : "a < b ? a : b";
        // What every element beats: its bits, in each place of a word.
        const std::uint32_t top = bytes ? 0x80808080u : 0x80008000u;
        const std::uint32_t start = is_signed(t) ? (greatest ? top : ~top) : (greatest ? 0 : ~0u);
        b_.needs.add(
            name, std::string("/// ") + (greatest ? "Greatest" : "Least") +
                      " elements among words, by pairs of 16 bits" + (bytes ? ", whose upper bytes decide.\n" : ".\n") +
                      "struct " + name + " {\n    static constexpr unsigned int start = " + std::to_string(start) +
                      "u;\n    template <int n>\n"
                      "    static __device__ __forceinline__ void take(unsigned int (&best)[2], const " +
                      type +
                      " (&v)[n]) {\n"
                      "        const unsigned int* const words = reinterpret_cast<const unsigned int*>(v);\n"
                      "#pragma unroll\n"
                      "        for (int i = 0; i < n / " +
                      std::to_string(4 / size_of(t)) + "; ++i) {\n            best[0] = " + best +
                      "(best[0], words[i]);\n" +
                      (bytes ? "            best[1] = " + best + "(best[1], words[i] << 8);\n" : std::string()) +
                      "        }\n    }\n"
                      "    static __device__ __forceinline__ " +
                      type + " join(" + type + " a, " + type + " b) { return " + pick +
                      "; }\n"
                      "    static __device__ __forceinline__ " +
                      type + " whole(const unsigned int (&best)[2]) {\n" +
                      (bytes ? "        return join(join(" + type + "(best[0] >> 8), " + type +
                                   "(best[0] >> 24)), join(" + type + "(best[1] >> 8), " + type + "(best[1] >> 24)));\n"
                             : "        return join(" + type + "(best[0]), " + type + "(best[0] >> 16));\n") +
                      "    }\n};\n");
        return name;
    }

    /// Elements before the first whole vector of a row that begins anywhere.
    void write_head(const place& in, std::uint32_t each, const std::string& n) {
        const std::string start = b_.pointer(in) + b_.offset(in, kept_bits()), u8 = b_.needs.type(dtype::u8);
        b_.code.line("const ", b_.linear(), " head = min(", n, ", ", b_.linear(), "(-(reinterpret_cast<", u8, ">(",
                     start, ") / ", bytes_of(in), ") % ", each, "));");
    }

    /// Rows whose elements lie anywhere: a lane's are apart, so that lanes read neighbours.
    void write_elements(std::size_t number, const std::string& n) {
        const folded_space& s = spaces_[number];
        const std::uint32_t unroll = unroll_of(s, bytes_at_once(s), lanes_, 1), tile = lanes_ * unroll;
        const bool shared = split_;  // shorter spaces too: what each block has is joined
        if (split_ && number == longest_) split_rows(1, bytes_at_once(s));
        write_tiles(number, unroll, (shared ? "blockIdx.y * " + std::to_string(tile) + "u + " : "") + lane(),
                    " * " + lanes(), n, (shared ? "gridDim.y * " : "") + std::to_string(tile) + 'u');
    }

    /// As many blocks as are resident, each with some vectors at least for every thread.
    void split_rows(std::uint32_t each, std::uint32_t bytes) {
        constexpr std::uint32_t piece_bytes = 32 * 1024;
        split(0, each * std::max(threads_, piece_bytes / std::max(bytes, 4u)), resident_blocks(), 0, 1);
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
        if (f.joins_at_once()) return combine_at_once(joiner, variable);
        write_exchange(f);
        b_.needs.add("join_lanes",
                     "/// Joins over a group of neighbouring lanes; each of them has the result.\n"
                     "template <class fold, int lanes, class type>\n"
                     "__device__ __forceinline__ type join_lanes(type v) {\n"
                     "#pragma unroll\n"
                     "    for (int far = lanes / 2; far > 0; far >>= 1) v = fold::join(v, from_lane(v, far));\n"
                     "    return v;\n}\n");
        if (lanes_ < threads_)
            return b_.code.line(variable, " = join_lanes<", joiner, ", ", lanes_, ">(", variable, ");");
        b_.needs.add("join_block",
                     "/// Joins over a block; every thread has the result.\n"
                     "template <class fold, int n, class type>\n"
                     "__device__ __forceinline__ type join_block(type v) {\n"
                     "    __shared__ type warps[n];\n"
                     "    v = join_lanes<fold, 32>(v);\n"
                     "    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;\n"
                     "    __syncthreads();\n"
                     "    v = join_lanes<fold, n>(warps[threadIdx.x % n]);\n"
                     "    __syncthreads();  // the next fold writes the same place\n"
                     "    return v;\n}\n");
        b_.code.line(variable, " = join_block<", joiner, ", ", threads_ / 32, ">(", variable, ");");
    }

    void combine_at_once(const std::string& joiner, const std::string& variable) {
        if (lanes_ < threads_)
            return b_.code.line(variable, " = ", joiner, "::join_lanes<", lanes_, ">(", variable, ");");
        b_.needs.add("join_block_at_once",
                     "/// Joins over a block; every thread has the result.\n"
                     "template <class fold, int n, class type>\n"
                     "__device__ __forceinline__ type join_block_at_once(type v) {\n"
                     "    __shared__ type warps[n];\n"
                     "    v = fold::template join_lanes<32>(v);\n"
                     "    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;\n"
                     "    __syncthreads();\n"
                     "    v = fold::template join_lanes<n>(warps[threadIdx.x % n]);\n"
                     "    __syncthreads();  // the next fold writes the same place\n"
                     "    return v;\n}\n");
        b_.code.line(variable, " = join_block_at_once<", joiner, ", ", threads_ / 32, ">(", variable, ");");
    }

    std::string owner() override {
        if (lanes_ == threads_ || b_.rank == 0) return "if (threadIdx.x == 0)";
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
