// Scans along memory for CUDA, with the trees before and after them, in one pass: lanes share a row, a few for short
// rows, a warp, a block that goes along it tile by tile. Where rows are long and few, blocks share them, and tiles look
// back (cuda_scan.hpp).
//
// Within a tile elements are joined in a tree that the key alone decides, tiles by their number; so every prefix is one
// fold, whatever the timing. A float's tiles are joined in double.
#include <algorithm>

#include "codegen/cuda_scan.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

/// Rows of more than 2^(bucket + 4) elements for these buckets are shared by a block, and by several blocks.
constexpr std::uint8_t block_bucket = 7, look_back_bucket = 9;
constexpr std::uint32_t thread_bytes = 128;  // of one array's elements that a thread holds

class row_scan : cuda_scan {
public:
    row_scan(const key& k, const graph& g, const scanning& s) : cuda_scan(k, g, s) { choose_shape(); }

    void write(plan& p) {
        b_.name_scalars();
        write_rows();
        const std::string size = std::to_string(tile());
        b_.step.pattern = look_back_ ? "look-back scan" : "row scan";
        b_.step.reason = look_back_ ? "tiles of " + size + " elements, each looks back"
                                    : std::to_string(lanes_) + " lanes a row, " + size + " elements at a time";
        finish(p, threads_, std::to_string(threads_) + (look_back_ ? ", 2" : ""));
    }

private:
    std::uint32_t tile() const { return lanes_ * each_ * unroll_; }

    // ---- the shape

    void choose_shape() {
        const bool few = (b_.key.axes[0].bucket & bucket::few_rows) != 0;
        look_back_ = few && s_.bucket >= look_back_bucket;
        lanes_ = s_.bucket == 1              ? 8
                 : s_.bucket == 2            ? 16
                 : s_.bucket < block_bucket  ? 32
                 : s_.bucket == block_bucket ? 256
                                             : 512;
        threads_ = std::max(lanes_, 256u);
        bool vectors = true;
        for (const place* in : inputs_along()) vectors = vectors && moves_by_one(*in) && in->at->head.vector;
        for (const place& out : b_.outputs) vectors = vectors && moves_by_one(out) && out.at->head.vector;
        const std::uint32_t widest = this->widest(), cost = this->cost();
        each_ = vectors ? 16 / widest : 1;
        while (each_ > 1 && each_ * cost > statement_budget) each_ /= 2;
        // So many that the longest row of the bucket is one tile, where registers hold that.
        const std::size_t arrays = std::max(folds_.size(), inputs_along().size());
        const std::uint64_t longest = std::uint64_t{1} << (s_.bucket + 4);
        while ((look_back_ || tile() < longest) && 2 * unroll_ * each_ * widest * arrays <= thread_bytes &&
               2 * unroll_ * each_ * cost <= statement_budget)
            unroll_ *= 2;
        loops_ = !look_back_ && tile() < longest;
    }
    bool moves_by_one(const place& at) const {
        for (std::size_t a = 0; a < at.at->strides.size(); ++a)
            if (b_.graph.loop_axis[a] == s_.axis && at.at->strides[a] == stride_class::unit) return true;
        return false;
    }

    // ---- rows

    void write_rows() {
        source_writer& out = b_.code;
        const std::string u4 = b_.needs.type(dtype::u4);
        if (look_back_) take_ticket();
        if (lanes_ < threads_)
            out.line("const ", u4, " lane = threadIdx.x % ", lanes_, "u;");
        else
            out.line("const ", u4, " lane = threadIdx.x % 32u, warp = threadIdx.x / 32u;");
        write_row_number();
        read_fixed();
        if (loops_ || look_back_)
            for (fold_writer& f : folds_) out.line(f.wide_type(), ' ', before(f), " = ", f.wide_start(), ";");
        const std::string n = b_.count({.axes = s_.bit()}, "scanned"), index = b_.linear();
        const auto outside = b_.body.scope();
        if (loops_)
            out.open("for (", index, " first = 0; first < ", n, "; first += ", tile(), ")");
        else
            out.line("const ", index, " first = ", look_back_ ? "tile * " + std::to_string(tile()) + 'u' : "0", ";");
        const std::string own =
            lanes_ == threads_ ? "warp * " + std::to_string(32 * each_ * unroll_) + "u + lane * " : "lane * ";
        out.line("const ", index, " mine = first + ", own, each_, "u;");
        if (each_ > 1) out.line("const bool whole = first + ", tile(), " <= ", n, ";");
        load_tile();
        fold_tile();
        write_results();
        if (loops_) {
            if (lanes_ == threads_) out.line("__syncthreads();  // the next tile writes the same places");
            for (fold_writer& f : folds_)
                out.line(before(f), " = ", f.wide_joiner(), "::join(", before(f), ", ", f.whole(), ");");
            out.close();
        }
        b_.body.leave(outside);
    }

    void write_row_number() {
        source_writer& out = b_.code;
        const std::vector<int> kept = axes_without(b_.rank, s_.axis);
        const formula rows{.axes = kept_bits()};
        b_.step.grid[0] = {.axes = kept_bits(), .divide_by = threads_ / lanes_};
        if (look_back_) {
            b_.step.grid[0] = {.axes = kept_bits(), .inner = s_.bit(), .inner_divide = tile()};
            if (kept.empty()) {
                out.line("const ", b_.linear(), " tile = ticket;");
            } else {  // the same tile of every row, for rows may be neighbours in memory
                out.line("const ", b_.linear(), " tile = quotient(ticket, ", b_.divisor(rows, "by_rows"), ");");
                out.line("const ", b_.linear(), " row = ticket - tile * ", b_.count(rows, "rows"), ";");
            }
        } else if (lanes_ == threads_) {
            if (!kept.empty()) out.line("const ", b_.linear(), " row = blockIdx.x;");
        } else {
            // Lanes without a row help with the last one and keep what they find to themselves.
            const std::string own = "threadIdx.x / " + std::to_string(lanes_) + "u";
            const std::string number = (b_.wide() ? b_.linear() + "(blockIdx.x)" : "blockIdx.x") + " * " +
                                       std::to_string(threads_ / lanes_) + "u + " + own;
            if (kept.empty()) {
                out.line("const bool active = ", own, " == 0;");
            } else {
                const std::string count = b_.count(rows, "rows");
                out.line("const ", b_.linear(), " own = ", number, ";");
                out.line("const bool active = own < ", count, ";");
                out.line("const ", b_.linear(), " row = active ? own : ", count, " - 1;");
            }
        }
        b_.write_digits("row", kept);
    }

    /// The place of a thread's vector `u`, or of its element e, and the digit along the scanned axis.
    void write_place(const std::string& further = "") {
        const std::string step = std::to_string(std::min(lanes_, 32u) * each_);
        b_.code.line("const ", b_.linear(), " at = mine + u * ", step, 'u', further, ";");
        b_.write_digits("at", {s_.axis});
    }
    std::string guard() {
        const std::string n = b_.count({.axes = s_.bit()}, "scanned");
        return std::string(lanes_ < threads_ ? "active && " : "") + "at < " + n;
    }

    /// Everything that moves along the row, in registers before anything is written.
    void load_tile() {
        source_writer& out = b_.code;
        const std::vector<const place*> inputs = inputs_along();
        for (const place* in : inputs) {
            out.line(each_ > 1 ? "alignas(" + std::to_string(bytes_of(*in) * each_) + ") " : "",
                     b_.needs.type(in->at->head.type), ' ', in->name, '[', unroll_, "][", each_, "];");
            b_.body.name(in->node, in->name + "[u][e]");
        }
        if (!inputs.empty()) {
            if (each_ > 1) {
                out.open("if (whole)");
                open_unrolled("u", unroll_);
                write_place();
                for (const place* in : inputs) {
                    const reading how = b_.reading_of(*in, all_bits());
                    out.line(b_.loader(how, bytes_of(*in) * each_), '<', word_of(bytes_of(*in) * each_), ">(", in->name,
                             "[u], ", b_.pointer(*in), b_.offset(*in, all_bits()), ");");
                }
                out.close();
                out.otherwise();
            }
            open_unrolled("u", unroll_);
            if (each_ > 1) open_unrolled("e", each_);
            write_place(each_ > 1 ? " + e" : "");
            const std::string n = b_.count({.axes = s_.bit()}, "scanned");
            for (const place* in : inputs)
                out.line(in->name, each_ > 1 ? "[u][e]" : "[u][0]", " = at < ", n, " ? ",
                         b_.element(*in, b_.offset(*in, all_bits())), " : ",
                         spell_constant(in->at->head.type, 0, b_.needs), ";");
            if (each_ > 1) out.close();
            out.close();
            if (each_ > 1) out.close();
        }
        for (const node_id g : b_.generators) {
            if ((loops_of(g) & s_.bit()) == 0) continue;
            const std::string name = b_.names[b_.graph.nodes[g].index];
            out.line(b_.needs.type(b_.graph.nodes[g].type), ' ', name, '[', unroll_, "][", each_, "];");
            open_unrolled("u", unroll_);
            open_unrolled("e", each_);
            write_place(" + e");
            out.line(name, "[u][e] = ", random_element(g, all_bits()), ";");
            out.close();
            out.close();
            b_.body.name(g, name + "[u][e]");
        }
    }

    /// Prefixes within each thread's vectors, then what lies before each vector: in the group of lanes, the block, the
    /// row.
    void fold_tile() {
        source_writer& out = b_.code;
        for (fold_writer& f : folds_) out.line(f.type(), ' ', f.name(), '[', unroll_, "][", each_, "];");
        const auto outside = b_.body.scope();
        open_unrolled("u", unroll_);
        open_unrolled("e", each_);
        for (fold_writer& f : folds_) out.line(f.name(), "[u][e] = ", b_.body.value(f.value(), out), ";");
        out.close();
        if (each_ > 1) {
            b_.code.margin("#pragma unroll");
            out.open("for (unsigned int e = 1; e < ", each_, "; ++e)");
            for (fold_writer& f : folds_) {
                const std::string now = f.name() + "[u][e]";
                out.line(now, " = ", f.joined(f.name() + "[u][e - 1]", now), ";");
            }
            out.close();
        }
        out.close();
        b_.body.leave(outside);
        for (fold_writer& f : folds_) {
            out.line(f.type(), ' ', f.part(), '[', unroll_, "];");
            open_unrolled("u", unroll_);
            out.line(f.part(), "[u] = ", f.name(), "[u][", each_ - 1, "];");
            out.close();
            const std::string fold = f.joiner();
            out.line("const ", f.type(), ' ', lanes_ == threads_ ? "warp_" + f.name() : f.whole(), " = ", scan_lanes(),
                     '<', fold, ", ", std::min(lanes_, 32u), ">(", f.part(), ", ", f.start(), ", lane);");
        }
        if (lanes_ == threads_) fold_block();
        if (look_back_) look_back();
    }

    std::string scan_lanes() {
        b_.needs.add(
            "scan_lanes",
            "/// Makes of each v what lies before it in a group of lanes, v[0] of all lanes coming first; returns "
            "what all of\n/// the group fold to.\n"
            "template <class fold, int lanes, class type, int n>\n"
            "__device__ __forceinline__ type scan_lanes(type (&v)[n], type start, unsigned int lane) {\n"
            "#pragma unroll\n"
            "    for (unsigned int far = 1; far < lanes; far *= 2)\n"
            "#pragma unroll\n"
            "        for (int u = 0; u < n; ++u) {\n"
            "            const type left = __shfl_up_sync(0xffffffffu, v[u], far, lanes);\n"
            "            if (lane >= far) v[u] = fold::join(left, v[u]);\n"
            "        }\n"
            "    type so_far = start;\n"
            "#pragma unroll\n"
            "    for (int u = 0; u < n; ++u) {\n"
            "        const type all = __shfl_sync(0xffffffffu, v[u], lanes - 1, lanes);\n"
            "        const type left = __shfl_up_sync(0xffffffffu, v[u], 1, lanes);\n"
            "        v[u] = lane == 0 ? so_far : fold::join(so_far, left);\n"
            "        so_far = fold::join(so_far, all);\n"
            "    }\n"
            "    return so_far;\n}\n");
        return "scan_lanes";
    }

    void fold_block() {
        source_writer& out = b_.code;
        const std::uint32_t warps = threads_ / 32;
        b_.needs.add("scan_warps",
                     "/// What lies before a warp; `all`: what the block folds to.\n"
                     "template <class fold, int warps, class type>\n"
                     "__device__ __forceinline__ type scan_warps(const type* parts, type start, unsigned int warp, "
                     "type& all) {\n"
                     "    type before = start;\n"
                     "    all = start;\n"
                     "#pragma unroll\n"
                     "    for (unsigned int w = 0; w < warps; ++w) {\n"
                     "        if (w == warp) before = all;\n"
                     "        all = fold::join(all, parts[w]);\n"
                     "    }\n"
                     "    return before;\n}\n");
        for (fold_writer& f : folds_) out.line("__shared__ ", f.type(), " warps_", f.name(), '[', warps, "];");
        for (fold_writer& f : folds_) out.line("if (lane == 0) warps_", f.name(), "[warp] = warp_", f.name(), ";");
        out.line("__syncthreads();");
        for (fold_writer& f : folds_) {
            out.line(f.type(), ' ', f.whole(), ";");
            out.line("const ", f.type(), " ahead_", f.name(), " = scan_warps<", f.joiner(), ", ", warps, ">(warps_",
                     f.name(), ", ", f.start(), ", warp, ", f.whole(), ");");
        }
    }

    // ---- look-back

    /// A warp asks the slots of the tiles of this tile's 16, of the 16s of its 256, and of what is before these.
    void look_back() {
        source_writer& out = b_.code;
        const std::uint32_t words = slot_words();
        b_.step.scratch_bytes = 8 * (words + 2);
        b_.step.scratch_count = b_.step.grid[0];
        const std::string u8 = b_.needs.type(dtype::u8);
        declare_slots();
        declare_before_tile();
        for (fold_writer& f : folds_) out.line("__shared__ ", f.wide_type(), " told_", f.name(), ";");
        write_slots(b_.rank == 1 ? "0" : "row", b_.rank == 1 ? "1" : b_.count({.axes = kept_bits()}, "rows"), tiles());
        out.open("if (warp == 0)");
        out.line("const ", u8, " further = ", words, b_.rank == 1 ? "" : " * " + u8 + "(p.rows)", ";");
        out.line(u8, "* const first = slots", b_.rank == 1 ? "" : " + " + u8 + "(row) * " + std::to_string(words), ";");
        for (std::size_t i = 0; i < folds_.size(); ++i) {
            fold_writer& f = folds_[i];
            out.line(before(f), " = before_tile<", f.wide_joiner(), ">(first", at(i), ", further, tile, lane, ",
                     widened(f, f.whole()), ", ", f.wide_start(), ");");
            out.line("if (lane == 0) told_", f.name(), " = ", before(f), ";");
        }
        out.close();
        out.line("__syncthreads();");
        write_arrival(threads_);
        for (fold_writer& f : folds_) out.line(before(f), " = told_", f.name(), ";");
    }
    std::string tiles() { return b_.count({.inner = s_.bit(), .inner_divide = tile()}, "tiles"); }

    void declare_before_tile() {
        b_.needs.add(
            "before_tile",
            "/// What lies before a tile, which itself folds to `own`; tells what others wait for. Lane 0 asks for all "
            "that\n/// is before its 256, lanes 1 to 15 for the 16s of these, the other lanes for the tiles of its "
            "16.\n"
            "template <class fold, class type>\n"
            "__device__ __forceinline__ type before_tile(uint64* slots, uint64 further, uint64 tile, uint32 lane, type "
            "own,\n                                            type start) {\n"
            "    const uint32 number = uint32(tile % 256), tiles = number % 16, sixteens = number / 16;\n"
            "    const uint64 far = lane == 0 ? number + 1 : lane < 16 ? number - 16 * lane + 1 : tiles + 16 - lane;\n"
            "    uint64* const slot = slots + tile * further;\n"
            "    const uint64* const asked = slot - far * further;\n"
            "    const bool asks = lane == 0 ? tile >= 256 : lane < 16 ? lane <= sixteens : lane - 16 < tiles;\n"
            "    if (lane == 0 && tiles != 15) tell(slot, own);\n"
            "    type v = start;\n"
            "    bool told = !asks || ask(asked, v);\n"
            "    while (lane >= 16 && !told) told = ask(asked, v);\n"
            "    __syncwarp();\n"
            "    type near = v;\n"
            "#pragma unroll\n"
            "    for (int to = 1; to < 16; to *= 2) near = fold::join(near, __shfl_down_sync(0xffffffffu, near, to));\n"
            "    near = __shfl_sync(0xffffffffu, near, 16);\n"
            "    if (lane == 0 && tiles == 15 && sixteens != 15) tell(slot, fold::join(near, own));\n"
            "    while (!told) told = ask(asked, v);\n"
            "    __syncwarp();\n"
            "#pragma unroll\n"
            "    for (int to = 1; to < 16; to *= 2) v = fold::join(v, __shfl_down_sync(0xffffffffu, v, to));\n"
            "    const type before = fold::join(__shfl_sync(0xffffffffu, v, 0), near);\n"
            "    if (lane == 0 && number == 255) tell(slot, fold::join(before, own));\n"
            "    return before;\n}\n");
    }

    // ---- results

    /// What lies before a thread's vector u, as a row's prefix.
    std::string prefix(fold_writer& f) {
        const std::string lanes =
            lanes_ == threads_ ? f.joined("ahead_" + f.name(), f.part() + "[u]") : f.part() + "[u]";
        return loops_ || look_back_ ? behind(f, cuda_scan::before(f), lanes) : lanes;
    }

    void write_results() {
        source_writer& out = b_.code;
        const bool packed = each_ > 1 && outputs_pack();
        const auto outside = b_.body.scope();
        open_unrolled("u", unroll_);
        for (fold_writer& f : folds_) out.line("const ", f.type(), " base_", f.name(), " = ", prefix(f), ";");
        for (std::size_t k = 0; packed && k < b_.outputs.size(); ++k)
            out.line("alignas(", bytes_of(b_.outputs[k]) * each_, ") ", b_.needs.type(b_.outputs[k].at->head.type),
                     " r", k, '[', each_, "];");
        open_unrolled("e", each_);
        for (fold_writer& f : folds_) {
            out.line("const ", f.type(), " all_", f.name(), " = ", f.joined("base_" + f.name(), f.name() + "[u][e]"),
                     ";");
            b_.body.name(f.reduction(), "all_" + f.name());
        }
        std::vector<std::string> values;
        for (std::size_t k = 0; k < b_.outputs.size(); ++k) {
            values.push_back(b_.body.value(b_.graph.roots[k], out));
            if (packed) out.line('r', k, "[e] = ", values.back(), ";");
        }
        if (!packed) {
            write_place(each_ > 1 ? " + e" : "");
            out.open("if (", guard(), ")");
            for (std::size_t k = 0; k < b_.outputs.size(); ++k)
                b_.store_element(b_.outputs[k], b_.offset(b_.outputs[k], all_bits()), values[k]);
            out.close();
        }
        out.close();
        if (packed) store_vectors();
        out.close();
        b_.body.leave(outside);
        if (look_back_)
            clear_slots(tiles(), threads_, [&] {
                const std::string words = std::to_string(slot_words());
                out.line("for (", b_.linear(), " i = threadIdx.x; i < (end - begin) * ", words, "; i += ", threads_,
                         ")");
                out.line("    slots[",
                         b_.rank == 1 ? "begin * " + words + " + i"
                                      : "((begin + i / " + words + ") * " + b_.needs.type(dtype::u8) +
                                            "(p.rows) + row) * " + words + " + i % " + words,
                         "] = 0;");
            });
    }
    bool outputs_pack() const {
        return std::all_of(b_.outputs.begin(), b_.outputs.end(), [&](const place& at) {
            return inner_class(at, s_.axis) == stride_class::unit && at.at->head.vector;
        });
    }
    void store_vectors() {
        source_writer& out = b_.code;
        out.open("if (whole", lanes_ < threads_ ? " && active" : "", ")");
        write_place();
        for (std::size_t k = 0; k < b_.outputs.size(); ++k) {
            const std::uint32_t bytes = bytes_of(b_.outputs[k]) * each_;
            out.line(b_.storer(), '<', word_of(bytes), ">(", b_.pointer(b_.outputs[k]),
                     b_.offset(b_.outputs[k], all_bits()), ", r", k, ");");
        }
        out.otherwise();
        open_unrolled("e", each_);
        write_place(" + e");
        out.open("if (", guard(), ")");
        for (std::size_t k = 0; k < b_.outputs.size(); ++k)
            b_.store_element(b_.outputs[k], b_.offset(b_.outputs[k], all_bits()), "r" + std::to_string(k) + "[e]");
        out.close();
        out.close();
        out.close();
    }

    bool look_back_ = false, loops_ = false;
    std::uint32_t threads_ = 256, lanes_ = 32, each_ = 1, unroll_ = 1;
};

}  // namespace

void emit_scan_cuda(const key& k, const graph& g, const scanning& s, plan& p) {
    scans_columns(k, s) ? emit_column_scan_cuda(k, g, s, p) : row_scan(k, g, s).write(p);
}

}  // namespace ingot::codegen
