// Which of CUDA's schedules a scan gets, and that of rows along memory without look-back, with the trees before and
// after the scan, in one pass: lanes share a row, a few for short ones, a warp, a block that goes along it tile by
// tile.
//
// Within a tile elements are joined in a tree that the key alone decides, tiles by their number; so every prefix is one
// fold, whatever the timing. A float's tiles are joined in double.
#include <algorithm>

#include "codegen/cuda_scan.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

constexpr std::uint8_t block_bucket = 7;     // rows of more than 2^(bucket + 4) elements are shared by a block
constexpr std::uint8_t pair_bucket = 8;      // those of up to 4096: by a large block in pairs, where they are many
constexpr std::uint32_t thread_bytes = 128;  // of one array's elements that a thread holds

class row_scan : cuda_scan {
public:
    row_scan(const key& k, const graph& g, const scanning& s) : cuda_scan(k, g, s) { choose_shape(); }

    void write(plan& p) {
        b_.name_scalars();
        write_rows();
        const std::string size = std::to_string(tile());
        b_.step.pattern = "row scan";
        b_.step.reason = std::to_string(lanes_) + " lanes a row, " + size +
                         " elements at a time: rows enough to fill the GPU, none waits for another";
        finish(p, threads_, std::to_string(threads_) + (pairs_ ? ", 2" : ""));
    }

private:
    std::uint32_t tile() const { return lanes_ * each_ * (pairs_ ? 1 : unroll_); }

    // ---- the shape

    void choose_shape() {
        lanes_ = s_.bucket == 1              ? 8
                 : s_.bucket == 2            ? 16
                 : s_.bucket < block_bucket  ? 32
                 : s_.bucket == block_bucket ? 256
                                             : 512;
        threads_ = std::max(lanes_, 256u);
        const bool vectors = is_vector();
        const std::uint32_t widest = this->widest(), cost = this->cost();
        each_ = vectors ? 16 / widest : 1;
        while (each_ > 1 && each_ * cost > statement_budget) each_ /= 2;
        if (can_pair()) {
            pairs_ = true;
            threads_ = lanes_ = 1024;
            unroll_ = 2;
            return;
        }
        // So many that the longest row of the bucket is one tile, where registers hold that.
        const std::size_t arrays = std::max(folds_.size(), inputs_along().size());
        const std::uint64_t longest = std::uint64_t{1} << (s_.bucket + 4);
        while (tile() < longest && 2 * unroll_ * each_ * widest * arrays <= thread_bytes &&
               2 * unroll_ * each_ * cost <= statement_budget)
            unroll_ *= 2;
        loops_ = tile() < longest;
    }
    /// A block that reads and writes two neighbouring rows at once, a vector of each a thread, has the longer runs of
    /// memory.
    bool can_pair() const {
        return s_.bucket == pair_bucket && each_ == 4 && b_.rank > 1 && folds_.size() == 1 && b_.generators.empty() &&
               (b_.key.axes[0].bucket & bucket::few_rows) == 0 && b_.inputs.size() == 1 && inputs_along().size() == 1 &&
               b_.outputs.size() == 1;
    }

    // ---- rows

    void write_rows() {
        source_writer& out = b_.code;
        const std::string u4 = b_.needs.type(dtype::u4);
        if (lanes_ < threads_)
            out.line("const ", u4, " lane = threadIdx.x % ", lanes_, "u;");
        else
            out.line("const ", u4, " lane = threadIdx.x % 32u, warp = threadIdx.x / 32u;");
        write_row_number();
        read_fixed();
        if (loops_)
            for (fold_writer& f : folds_) out.line(f.wide_type(), ' ', before(f), " = ", f.wide_start(), ";");
        const std::string n = scanned(), index = b_.linear();
        const auto outside = b_.body.scope();
        if (loops_)
            out.open("for (", index, " first = 0; first < ", n, "; first += ", tile(), ")");
        else
            out.line("const ", index, " first = 0;");
        const std::string own =
            lanes_ == threads_ ? "warp * " + std::to_string(tile() / (lanes_ / 32)) + "u + lane * " : "lane * ";
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
        b_.step.grid[0] = {.axes = kept_bits(), .divide_by = pairs_ ? 2 : threads_ / lanes_};
        if (pairs_) {
            out.line("const ", b_.linear(), " first_row = ", b_.wide() ? b_.linear() + "(blockIdx.x)" : "blockIdx.x",
                     " * 2;");
            return;
        }
        if (lanes_ == threads_) {
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
        b_.code.line("const ", b_.linear(), " at = mine", pairs_ ? "" : " + u * " + step + 'u', further, ";");
        b_.write_digits("at", {s_.axis});
        if (!pairs_) return;
        b_.code.line("const ", b_.linear(), " row = first_row + u < ", rows(), " ? first_row + u : first_row;");
        b_.write_digits("row", axes_without(b_.rank, s_.axis));
    }
    std::string guard() { return active() + "at < " + scanned(); }
    std::string rows() { return b_.count({.axes = kept_bits()}, "rows"); }
    std::string active() {
        return pairs_ ? "first_row + u < " + rows() + " && " : lanes_ < threads_ ? "active && " : "";
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
                b_.open_unrolled("u", unroll_);
                write_place();
                load_vectors(inputs);
                out.close();
                out.otherwise();
            }
            b_.open_unrolled("u", unroll_);
            if (each_ > 1) {
                write_place();
                out.open("if (", is_inside(each_), ")");
                load_vectors(inputs);
                out.otherwise();
                b_.open_unrolled("e", each_);
            }
            write_place(each_ > 1 ? " + e" : "");
            const std::string inside = "at < " + scanned();
            for (const place* in : inputs)
                out.line(in->name, each_ > 1 ? "[u][e]" : "[u][0]", " = ", inside, " ? ",
                         b_.element(*in, b_.offset(*in, all_bits())), " : ",
                         spell_constant(in->at->head.type, 0, b_.needs), ";");
            for (int blocks = each_ > 1 ? 4 : 1; blocks > 0; --blocks) out.close();
        }
        for (const node_id g : b_.generators) {
            if ((loops_of(g) & s_.bit()) == 0) continue;
            const std::string name = b_.names[b_.graph.nodes[g].index];
            out.line(b_.needs.type(b_.graph.nodes[g].type), ' ', name, '[', unroll_, "][", each_, "];");
            b_.open_unrolled("u", unroll_);
            b_.open_unrolled("e", each_);
            write_place(" + e");
            out.line(name, "[u][e] = ", random_element(g, all_bits()), ";");
            out.close();
            out.close();
            b_.body.name(g, name + "[u][e]");
        }
    }

    void load_vectors(const std::vector<const place*>& inputs) {
        for (const place* in : inputs) {
            const std::uint32_t bytes = bytes_of(*in) * each_;
            b_.code.line(b_.loader(b_.reading_of(*in, all_bits()), bytes), '<', word_of(bytes), ">(", in->name, "[u], ",
                         b_.pointer(*in), b_.offset(*in, all_bits()), ");");
        }
    }

    /// Prefixes within each thread's vectors, then what lies before each vector: in the group of lanes, the block, the
    /// row.
    void fold_tile() {
        source_writer& out = b_.code;
        for (fold_writer& f : folds_) out.line(f.type(), ' ', f.name(), '[', unroll_, "][", each_, "];");
        const auto outside = b_.body.scope();
        b_.open_unrolled("u", unroll_);
        b_.open_unrolled("e", each_);
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
            b_.open_unrolled("u", unroll_);
            out.line(f.part(), "[u] = ", f.name(), "[u][", each_ - 1, "];");
            out.close();
            if (pairs_) {
                scan_pair(f);
                continue;
            }
            out.line("const ", f.type(), ' ', lanes_ == threads_ ? "warp_" + f.name() : f.whole(), " = ",
                     scan_lanes(f, std::min(lanes_, 32u)), f.part(), ", ", f.start(), ", lane);");
        }
        if (lanes_ == threads_ && !pairs_) fold_block(threads_);
    }

    /// What lies ahead of a thread's vector in each of two rows, for a block of 32 warps.
    void scan_pair(fold_writer& f) {
        source_writer& out = b_.code;
        const std::string scan = scan_lanes(f, 32), part = f.part() + "[u]";
        out.line("__shared__ ", f.type(), " warps[2][32];");
        b_.open_unrolled("u", 2);
        out.line(f.type(), " own[1] = {", part, "};");
        out.line("const ", f.type(), " all = ", scan, "own, ", f.start(), ", lane);");
        out.line("if (lane == 0) warps[u][warp] = all;");
        out.line(part, " = own[0];");
        out.close();
        out.line("__syncthreads();");
        const std::string ahead = scan + "ahead, " + f.start() + ", lane);";
        if (f.is_costly()) {  // a warp a row, for all the others
            out.open("if (warp < 2)");
            out.line(f.type(), " ahead[1] = {warps[warp][lane]};");
            out.line(ahead);
            out.line("warps[warp][lane] = ahead[0];");
            out.close();
            out.line("__syncthreads();");
        }
        b_.open_unrolled("u", 2);
        if (!f.is_costly()) {
            out.line(f.type(), " ahead[1] = {warps[u][lane]};");
            out.line(ahead);
        }
        const std::string before = f.is_costly() ? "warps[u][warp]" : "__shfl_sync(0xffffffffu, ahead[0], warp)";
        out.line(part, " = ", f.joined(before, part), ";");
        out.close();
    }

    // ---- results

    /// What lies before a thread's vector u, as a row's prefix.
    std::string prefix(fold_writer& f) {
        const std::string lanes =
            lanes_ == threads_ && !pairs_ ? f.joined("ahead_" + f.name(), f.part() + "[u]") : f.part() + "[u]";
        return loops_ ? behind(f, cuda_scan::before(f), lanes) : lanes;
    }

    void write_results() {
        source_writer& out = b_.code;
        const bool packed = each_ > 1 && outputs_pack();
        const auto outside = b_.body.scope();
        b_.open_unrolled("u", unroll_);
        for (fold_writer& f : folds_) out.line("const ", f.type(), " base_", f.name(), " = ", prefix(f), ";");
        for (std::size_t k = 0; packed && k < b_.outputs.size(); ++k)
            out.line("alignas(", bytes_of(b_.outputs[k]) * each_, ") ", b_.needs.type(b_.outputs[k].at->head.type),
                     " r", k, '[', each_, "];");
        b_.open_unrolled("e", each_);
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
    }
    bool outputs_pack() const {
        return std::all_of(b_.outputs.begin(), b_.outputs.end(), [&](const place& at) {
            return inner_class(at, s_.axis) == stride_class::unit && at.at->head.vector;
        });
    }
    void store_vectors() {
        source_writer& out = b_.code;
        write_place();
        out.open("if (", active(), "(whole || ", is_inside(each_), "))");
        for (std::size_t k = 0; k < b_.outputs.size(); ++k) {
            const std::uint32_t bytes = bytes_of(b_.outputs[k]) * each_;
            out.line(b_.storer(), '<', word_of(bytes), ">(", b_.pointer(b_.outputs[k]),
                     b_.offset(b_.outputs[k], all_bits()), ", r", k, ");");
        }
        out.otherwise();
        b_.open_unrolled("e", each_);
        write_place(" + e");
        out.open("if (", guard(), ")");
        for (std::size_t k = 0; k < b_.outputs.size(); ++k)
            b_.store_element(b_.outputs[k], b_.offset(b_.outputs[k], all_bits()), "r" + std::to_string(k) + "[e]");
        out.close();
        out.close();
        out.close();
    }

    bool loops_ = false, pairs_ = false;
    std::uint32_t threads_ = 256, lanes_ = 32, each_ = 1, unroll_ = 1;
};

}  // namespace

void emit_scan_cuda(const key& k, const graph& g, const scanning& s, plan& p) {
    if (scans_columns(k, s) && emit_whole_column_scan_cuda(k, g, s, p)) return;
    if (scans_long_columns(k, s))
        emit_column_scan_cuda(k, g, s, p);
    else if (scans_columns(k, s))
        emit_short_column_scan_cuda(k, g, s, p);
    else if (scans_long_rows(k, s))
        emit_long_scan_cuda(k, g, s, p);
    else
        row_scan(k, g, s).write(p);
}

}  // namespace ingot::codegen
