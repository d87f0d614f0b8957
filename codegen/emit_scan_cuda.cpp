// Scans for CUDA, with the trees before and after them, in one pass over memory:
//   rows       lanes share a row: a few for short rows, a warp, a block that goes along it tile by tile
//   look-back  long rows, and few: blocks take the tiles of all rows in order by a ticket. A tile tells in the scratch
//              what it folds to by itself, then what everything up to its end does; it looks back for the nearest
//              tile that has told all, and folds strictly from the left from there.
//   columns    memory runs across the rows: a thread has a row, neighbours read neighbours
//
// Within a tile elements are joined in a tree that the key alone decides, tiles one after the other; so every prefix is
// one fold, whatever the timing. A float's tiles are joined in double.
#include <algorithm>

#include "codegen/cuda_kernel.hpp"
#include "codegen/scan.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

/// Rows of more than 2^(bucket + 4) elements for these buckets are shared by a block, and by several blocks.
constexpr std::uint8_t block_bucket = 7, look_back_bucket = 9;
constexpr std::uint32_t thread_bytes = 128;  // of one array's elements that a thread holds
constexpr std::uint32_t column_loads = 8;    // of one thread in flight

class cuda_scan {
public:
    cuda_scan(const key& k, const graph& g, const scanning& s) : b_(k, g), s_(s), folds_(folds_of(s, g, b_.needs)) {
        choose_shape();
    }

    void write(plan& p) {
        b_.name_scalars();
        if (columns_) {
            write_columns();
        } else {
            write_rows();
        }
        launch& step = b_.step;
        step.kernel = "scan";
        step.threads = threads_;
        step.pattern = columns_ ? "column scan" : look_back_ ? "look-back scan" : "row scan";
        step.reason = reason();
        step.work.push_back({all_bits(), cost_of(b_.graph, s_.values) + s_.scans.size() + b_.cost});
        p.source =
            b_.assemble(p.expression, "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(threads_) +
                                          (look_back_ ? ", 2" : "") + ")\nscan(const __grid_constant__ arguments p)");
        p.steps.push_back(std::move(step));
    }

private:
    std::uint64_t all_bits() const { return axis_range(0, b_.rank); }
    std::uint64_t kept_bits() const { return all_bits() & ~s_.bit(); }
    std::uint64_t loops_of(node_id n) const { return b_.graph.nodes[n].axes; }
    std::uint32_t tile() const { return lanes_ * each_ * unroll_; }

    std::string reason() const {
        const std::string size = std::to_string(tile());
        if (columns_) return "a thread a row, neighbours read neighbours";
        if (look_back_) return "tiles of " + size + " elements, each looks back";
        return std::to_string(lanes_) + " lanes a row, " + size + " elements at a time";
    }

    // ---- the shape

    void choose_shape() {
        const bool few = (b_.key.axes[0].bucket & bucket::few_rows) != 0;
        look_back_ = few && s_.bucket >= look_back_bucket;
        columns_ = s_.axis != b_.rank - 1 && !look_back_;
        if (columns_) {
            unroll_ = column_loads;
            return;
        }
        lanes_ = s_.bucket == 1              ? 8
                 : s_.bucket == 2            ? 16
                 : s_.bucket < block_bucket  ? 32
                 : s_.bucket == block_bucket ? 256
                                             : 512;
        threads_ = std::max(lanes_, 256u);
        std::uint32_t widest = 1;
        bool vectors = true;
        for (const place* in : inputs_along()) {
            widest = std::max(widest, bytes_of(*in));
            vectors = vectors && moves_by_one(*in) && in->at->head.vector;
        }
        for (const place& out : b_.outputs) {
            widest = std::max(widest, bytes_of(out));
            vectors = vectors && moves_by_one(out) && out.at->head.vector;
        }
        const std::uint32_t cost = cost_of(b_.graph, s_.values) + b_.cost + 4;
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
    std::vector<const place*> inputs_along() const {
        std::vector<const place*> inputs;
        for (const place& in : b_.inputs)
            if ((loops_of(in.node) & s_.bit()) != 0) inputs.push_back(&in);
        return inputs;
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
            for (fold_writer& f : folds_) out.line(f.wide_type(), ' ', carry(f), " = ", f.wide_start(), ";");
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
                out.line(carry(f), " = ", f.wide_joiner(), "::join(", carry(f), ", ", f.whole(), ");");
            out.close();
        }
        b_.body.leave(outside);
    }
    std::string carry(const fold_writer& f) const { return "before_" + f.name(); }

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

    void read_fixed() {
        for (const place& in : b_.inputs) {
            if ((loops_of(in.node) & s_.bit()) != 0) continue;
            b_.code.line("const ", b_.needs.type(in.at->head.type), ' ', in.name, " = ",
                         b_.element(in, b_.offset(in, kept_bits())), ";");
            b_.body.name(in.node, in.name);
        }
        for (const node_id g : b_.generators)
            if ((loops_of(g) & s_.bit()) == 0) b_.body.name(g, random_element(g, kept_bits()));
        std::vector<node_id> roots = s_.values;
        roots.insert(roots.end(), b_.graph.roots.begin(), b_.graph.roots.end());
        b_.body.hoist(kept_bits(), roots, b_.code);
    }
    std::string random_element(node_id g, std::uint64_t axes) {
        return b_.generator_name(g) + '(' + b_.generator_key(g) + ", " + b_.generator_index(g, axes) + ')';
    }

    void open_unrolled(const char* variable, std::uint32_t n) {
        b_.code.margin("#pragma unroll");
        b_.code.open("for (unsigned int ", variable, " = 0; ", variable, " < ", n, "; ++", variable, ")");
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

    /// Scratch: the next ticket, how many blocks are done, then two words for each tile and scan. Zero before and
    /// after.
    void take_ticket() {
        const std::string u4 = b_.needs.type(dtype::u4), u8 = b_.needs.type(dtype::u8);
        const std::string scratch = b_.arguments.member({argument_kind::scratch_pointer}, u8 + '*', "scratch");
        source_writer& out = b_.code;
        out.line("__shared__ ", u4, " taken;");
        out.line("if (threadIdx.x == 0) taken = atomicAdd(reinterpret_cast<", u4, "*>(", scratch, "), 1u);");
        out.line("__syncthreads();");
        out.line("const ", u4, " ticket = taken;");
    }

    void look_back() {
        source_writer& out = b_.code;
        const auto words = static_cast<std::uint32_t>(2 * folds_.size());
        b_.step.scratch_bytes = 8 * (words + 2);
        b_.step.scratch_count = b_.step.grid[0];
        const std::string u8 = b_.needs.type(dtype::u8), u4 = b_.needs.type(dtype::u4);
        declare_look_back();
        for (fold_writer& f : folds_) out.line("__shared__ ", f.wide_type(), " told_", f.name(), ";");
        out.open("if (warp == 0)");
        out.line(u8, "* const slot = p.scratch + 2 + ", u8, "(ticket) * ", words, ";");
        for (std::size_t i = 0; i < folds_.size(); ++i) {
            fold_writer& f = folds_[i];
            const std::string at = i == 0 ? "slot" : "slot + " + std::to_string(2 * i);
            const std::string own = f.wide_type() == f.type() ? f.whole() : f.wide_type() + '(' + f.whole() + ')';
            out.line("if (lane == 0) tell(", at, ", tile == 0 ? all_told : part_told, ", own, ");");
        }
        for (std::size_t i = 0; i < folds_.size(); ++i) {
            fold_writer& f = folds_[i];
            const std::string at = i == 0 ? "slot" : "slot + " + std::to_string(2 * i);
            const std::string further =
                b_.rank == 1 ? std::to_string(words) : std::to_string(words) + " * " + u8 + "(p.rows)";
            out.line("if (tile != 0) ", carry(f), " = look_back<", f.wide_joiner(), ">(", at, ", ", further,
                     ", tile, lane, ", f.wide_start(), ");");
            const std::string own = f.wide_type() == f.type() ? f.whole() : f.wide_type() + '(' + f.whole() + ')';
            out.line("if (lane == 0 && tile != 0) tell(", at, ", all_told, ", f.wide_joiner(), "::join(", carry(f),
                     ", ", own, "));");
            out.line("if (lane == 0) told_", f.name(), " = ", carry(f), ";");
        }
        out.close();
        out.line("__syncthreads();");
        for (fold_writer& f : folds_) out.line(carry(f), " = told_", f.name(), ";");
        out.line("__shared__ bool last;  // of all blocks: nobody looks back any more");
        out.open("if (threadIdx.x == 0)");
        out.line("__threadfence();");
        out.line("last = atomicAdd(reinterpret_cast<", u4, "*>(p.scratch + 1), 1u) == gridDim.x - 1;");
        out.line("__threadfence();");
        out.close();
    }
    void clear_scratch() {
        source_writer& out = b_.code;
        const std::string u8 = b_.needs.type(dtype::u8);
        out.line("__syncthreads();");
        out.line("if (last)");
        out.line("    for (", u8, " i = threadIdx.x; i < ", u8, "(gridDim.x) * ", 2 * folds_.size(),
                 " + 2; i += ", threads_, ") p.scratch[i] = 0;");
    }

    void declare_look_back() {
        b_.needs.type(dtype::u4);
        b_.needs.type(dtype::u8);
        b_.needs.add(
            "look_back",
            "/// What a tile has told: what it folds to, or all up to its end. A value's halves each have the state\n"
            "/// beside them, so that they are known to belong together.\n"
            "enum state : uint32 { nothing_told, part_told, all_told };\n\n"
            "template <class type>\n"
            "__device__ __forceinline__ void tell(uint64* slot, state what, type v) {\n"
            "    uint64 bits = 0;\n"
            "    reinterpret_cast<type&>(bits) = v;\n"
            "    const uint64 low = bits << 32 | what, high = (bits >> 32) << 32 | what;\n"
            "    asm volatile(\"st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};\" ::\"l\"(slot), \"l\"(low), \"l\"(high) "
            ": \"memory\");\n"
            "}\n\n"
            "template <class type>\n"
            "__device__ __forceinline__ state ask(const uint64* slot, type& v) {\n"
            "    uint64 low, high;\n"
            "    asm volatile(\"ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];\" : \"=l\"(low), \"=l\"(high) : "
            "\"l\"(slot) : \"memory\");\n"
            "    const uint64 bits = low >> 32 | (high >> 32) << 32;\n"
            "    v = reinterpret_cast<const type&>(bits);\n"
            "    return uint32(low) == uint32(high) ? state(uint32(low)) : nothing_told;\n"
            "}\n\n"
            "/// All that lies before a tile: lane i asks the tile i + 1 before it, until one of them has told all and "
            "those\n/// after it their parts.\n"
            "template <class fold, class type>\n"
            "__device__ __forceinline__ type look_back(const uint64* slot, uint64 further, uint64 tile, uint32 lane,\n"
            "                                          type start) {\n"
            "    for (;;) {\n"
            "        type v = start;\n"
            "        const state what = lane < tile ? ask(slot - (lane + 1) * further, v) : all_told;\n"
            "        const uint32 told = __ballot_sync(0xffffffffu, what != nothing_told);\n"
            "        const uint32 all = __ballot_sync(0xffffffffu, what == all_told);\n"
            "        const int nearest = __ffs(all) - 1;\n"
            "        if (nearest < 0 || (~told & ((1u << nearest) - 1)) != 0) continue;\n"
            "        type so_far = __shfl_sync(0xffffffffu, v, nearest);\n"
            "        for (int i = nearest - 1; i >= 0; --i)\n"
            "            so_far = fold::join(so_far, __shfl_sync(0xffffffffu, v, i));\n"
            "        return so_far;\n"
            "    }\n}\n");
    }

    // ---- results

    /// What lies before a thread's vector u, as a row's prefix.
    std::string before(fold_writer& f) {
        const std::string lanes =
            lanes_ == threads_ ? f.joined("ahead_" + f.name(), f.part() + "[u]") : f.part() + "[u]";
        if (!loops_ && !look_back_) return lanes;
        if (f.wide_type() == f.type()) return f.joined(carry(f), lanes);
        return f.type() + '(' + f.wide_joiner() + "::join(" + carry(f) + ", " + lanes + "))";
    }

    void write_results() {
        source_writer& out = b_.code;
        const bool packed = each_ > 1 && outputs_pack();
        const auto outside = b_.body.scope();
        open_unrolled("u", unroll_);
        for (fold_writer& f : folds_) out.line("const ", f.type(), " base_", f.name(), " = ", before(f), ";");
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
        if (look_back_) clear_scratch();
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

    // ---- columns

    void write_columns() {
        source_writer& out = b_.code;
        const std::vector<int> kept = axes_without(b_.rank, s_.axis);
        const std::string index = b_.linear(), n = b_.count({.axes = s_.bit()}, "scanned");
        b_.step.grid[0] = {.axes = kept_bits(), .divide_by = threads_};
        out.line("const ", index, " row = ", b_.thread_index(threads_), ";");
        out.line("if (row >= ", b_.count({.axes = kept_bits()}, "rows"), ") return;");
        b_.write_digits("row", kept);
        read_fixed();
        for (fold_writer& f : folds_) out.line(f.wide_type(), ' ', f.name(), " = ", f.wide_start(), ";");
        const std::string unroll = std::to_string(unroll_);
        out.line(index, " first = 0;");
        out.open("for (; first + ", unroll, " <= ", n, "; first += ", unroll, ")");
        write_column_part(unroll_);
        out.close();
        out.open("for (; first < ", n, "; ++first)");
        write_column_part(1);
        out.close();
    }

    void write_column_part(std::uint32_t count) {
        source_writer& out = b_.code;
        const auto outside = b_.body.scope();
        const std::vector<const place*> inputs = inputs_along();
        for (const place* in : inputs) {
            out.line(b_.needs.type(in->at->head.type), ' ', in->name, '[', count, "];");
            b_.body.name(in->node, in->name + "[u]");
        }
        if (!inputs.empty()) {
            open_unrolled("u", count);
            b_.write_digits("first + u", {s_.axis});
            for (const place* in : inputs)
                out.line(in->name, "[u] = ", b_.element(*in, b_.offset(*in, all_bits())), ";");
            out.close();
        }
        open_unrolled("u", count);
        b_.write_digits("first + u", {s_.axis});
        for (const node_id g : b_.generators)
            if ((loops_of(g) & s_.bit()) != 0) b_.body.name(g, random_element(g, all_bits()));
        for (fold_writer& f : folds_) {
            out.line(f.name(), " = ", f.wide_joiner(), "::join(", f.name(), ", ", b_.body.value(f.value(), out), ");");
            b_.body.name(f.reduction(), f.wide_type() == f.type() ? f.name() : f.type() + '(' + f.name() + ')');
        }
        std::vector<std::string> values;
        for (const node_id root : b_.graph.roots) values.push_back(b_.body.value(root, out));
        for (std::size_t k = 0; k < b_.outputs.size(); ++k)
            b_.store_element(b_.outputs[k], b_.offset(b_.outputs[k], all_bits()), values[k]);
        out.close();
        b_.body.leave(outside);
    }

    cuda_kernel b_;
    const scanning& s_;
    std::vector<fold_writer> folds_;
    bool columns_ = false, look_back_ = false, loops_ = false;
    std::uint32_t threads_ = 256, lanes_ = 32, each_ = 1, unroll_ = 1;
};

}  // namespace

void emit_scan_cuda(const key& k, const graph& g, const scanning& s, plan& p) { cuda_scan(k, g, s).write(p); }

}  // namespace ingot::codegen
