// Scans of rows along memory for CUDA without look-back, with the trees before and after the scan, in one pass. A few
// lanes share a short row, a warp a longer one, and a block walks a long one tile by tile.
//
// Within a tile elements are joined in a tree that the key alone decides, and tiles by their number; so every prefix is
// one fold, whatever the timing. Tiles of floats are joined in double.
#include <algorithm>

#include "codegen/cuda/scan/row_tiles.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

class row_scan final : row_tiles {
public:
    row_scan(cuda_kernel& b, const scanning& s, const row_scan_layout& c) : row_tiles(b, s, c, c.pairs), layout_(c) {}

    void write() {
        source_writer& out = b_.code;
        const std::string u4 = b_.needs.type(dtype::u4);
        if (!layout_.is_block_wide())
            out.line("const ", u4, " lane = threadIdx.x % ", lanes_, "u;");
        else
            out.line("const ", u4, " lane = threadIdx.x % 32u, warp = threadIdx.x / 32u;");
        write_row_number();
        read_fixed();
        if (layout_.loops)
            for (fold_writer& f : folds_) out.line(f.wide_type(), ' ', before(f), " = ", f.wide_start(), ";");
        const std::string n = scanned(), index = b_.linear();
        const auto outside = b_.body.scope();
        if (layout_.loops)
            out.open("for (", index, " first = 0; first < ", n, "; first += ", layout_.tile, ")");
        else
            out.line("const ", index, " first = 0;");
        const std::string own = layout_.is_block_wide()
                                    ? "warp * " + std::to_string(layout_.tile / (lanes_ / 32)) + "u + lane * "
                                    : "lane * ";
        out.line("const ", index, " mine = first + ", own, each_, "u;");
        if (each_ > 1) out.line("const bool whole = first + ", layout_.tile, " <= ", n, ";");
        load_tile();
        fold_tile();
        write_results();
        if (layout_.loops) {
            if (layout_.is_block_wide())
                out.line("__syncthreads();  // the next tile overwrites the same shared memory");
            for (fold_writer& f : folds_)
                out.line(before(f), " = ", f.wide_joiner(), "::join(", before(f), ", ", f.whole(), ");");
            out.close();
        }
        b_.body.leave(outside);
    }

private:
    void write_row_number() {
        source_writer& out = b_.code;
        const std::vector<int> kept_axes = axes_without(b_.rank, s_.axis);
        const formula rows = points_of(kept_bits());
        b_.step.grid[0] = ceil_divide(rows, pairs_ ? 2 : threads_ / lanes_);
        if (pairs_) {
            out.line("const ", b_.linear(), " first_row = ", b_.wide() ? b_.linear() + "(blockIdx.x)" : "blockIdx.x",
                     " * 2;");
            return;
        }
        if (layout_.is_block_wide()) {
            if (!kept_axes.empty()) out.line("const ", b_.linear(), " row = blockIdx.x;");
        } else {
            // Lanes without a row scan the last one and store nothing.
            const std::string own = "threadIdx.x / " + std::to_string(lanes_) + "u";
            const std::string number = (b_.wide() ? b_.linear() + "(blockIdx.x)" : "blockIdx.x") + " * " +
                                       std::to_string(threads_ / lanes_) + "u + " + own;
            if (kept_axes.empty()) {
                out.line("const bool active = ", own, " == 0;");
            } else {
                const std::string count = b_.count(rows, "rows");
                out.line("const ", b_.linear(), " own = ", number, ";");
                out.line("const bool active = own < ", count, ";");
                out.line("const ", b_.linear(), " row = active ? own : ", count, " - 1;");
            }
        }
        b_.write_digits("row", kept_axes);
    }

    /// Prefixes within each thread's vectors, then the prefix ahead of each vector: in the group of lanes, in the
    /// block, in the row.
    void fold_tile() {
        source_writer& out = b_.code;
        for (fold_writer& f : folds_) out.line(f.type(), ' ', f.name(), '[', register_chunks_, "][", each_, "];");
        const auto outside = b_.body.scope();
        b_.open_unrolled("u", register_chunks_);
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
            out.line(f.type(), ' ', f.part(), '[', register_chunks_, "];");
            b_.open_unrolled("u", register_chunks_);
            out.line(f.part(), "[u] = ", f.name(), "[u][", each_ - 1, "];");
            out.close();
            if (pairs_) {
                scan_pair(f);
                continue;
            }
            out.line("const ", f.type(), ' ', layout_.is_block_wide() ? "warp_" + f.name() : f.whole(), " = ",
                     scan_lanes(f, std::min(lanes_, 32u)), f.part(), ", ", f.start(), ", lane);");
        }
        if (layout_.is_block_wide() && !pairs_) fold_block();
    }

    /// The prefix ahead of a thread's vector in each of two rows, for a block of 32 warps.
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
        if (f.is_costly()) {  // one warp a row does it for all the others
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

    /// The prefix ahead of a thread's vector u in its row.
    std::string prefix(fold_writer& f) {
        const std::string lanes =
            layout_.is_block_wide() && !pairs_ ? f.joined("ahead_" + f.name(), f.part() + "[u]") : f.part() + "[u]";
        return layout_.loops ? behind(f, cuda_scan::before(f), lanes) : lanes;
    }

    void write_results() {
        source_writer& out = b_.code;
        const bool packed = each_ > 1;
        const auto outside = b_.body.scope();
        b_.open_unrolled("u", register_chunks_);
        for (fold_writer& f : folds_) out.line("const ", f.type(), " base_", f.name(), " = ", prefix(f), ";");
        if (packed) declare_results();
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
        if (!packed) store_elements(false, values);
        out.close();
        if (packed) store_chunk(false);
        out.close();
        b_.body.leave(outside);
    }

    const row_scan_layout& layout_;
};

/// The number of lanes at which each has a vector of the longest row, or four elements.
std::uint32_t lanes_of_short_rows(const scanning& s, std::uint32_t each) {
    constexpr std::uint32_t most_lanes = 8, elements_a_lane = 4;
    return std::clamp(s.longest() / std::max(each, elements_a_lane), 1u, most_lanes);
}

/// Whether a block reads and writes two neighbouring rows at once, a chunk of each a thread: it then reads longer runs
/// of memory.
bool can_pair(const cuda_kernel& b, const scanning& s, std::uint32_t each) {
    constexpr std::uint8_t pair_class = 8;  // of up to 4096 elements
    return s.length_class == pair_class && each == 4 && b.rank > 1 && s.scans.size() == 1 && b.generators.empty() &&
           !has_few_rows(b) && b.inputs.size() == 1 && inputs_along(b, s).size() == 1 && b.outputs.size() == 1;
}

}  // namespace

row_scan_layout choose_rows(const cuda_kernel& b, const scanning& s) {
    constexpr std::uint8_t block_class = 7;  // a block has a row of more than 1024 elements
    row_scan_layout c;
    c.each = elements_of_row_chunk(b, s);
    if (can_pair(b, s, c.each)) {
        c.pairs = true;
        c.threads = c.lanes = 1024;
        c.resident_blocks = 2;
        c.register_chunks = 2;
        c.tile = c.lanes * c.each;
        return c;
    }
    c.lanes = s.length_class == 1             ? lanes_of_short_rows(s, c.each)
              : s.length_class == 2           ? 16
              : s.length_class < block_class  ? 32
              : s.length_class == block_class ? 256
                                              : 512;
    c.threads = std::max(c.lanes, 256u);
    // As many chunks as make the longest row of the class one tile, where registers hold that.
    const std::uint32_t longest = s.longest();
    c.register_chunks = chunks_in_registers(b, s, c.each, parts(longest, c.lanes));
    c.tile = c.lanes * c.each * c.register_chunks;
    c.loops = c.tile < longest;
    return c;
}

kernel_shape row_scan_layout::shape() const {
    return {.name = pairs ? "row pairs" : "rows",
            .threads = threads,
            .lanes = lanes,
            .each = each,
            .chunks = register_chunks,
            .exchange = lanes > 32  ? thread_exchange::block
                        : lanes > 1 ? thread_exchange::lanes
                                    : thread_exchange::none,
            .resident_blocks = resident_blocks};
}

std::string row_scan_layout::reason() const {
    return std::to_string(lanes) + " lanes a row, " + std::to_string(tile) +
           " elements at a time: rows enough to fill the GPU, none waits for another";
}

void row_scan_layout::write(cuda_kernel& b, const scanning& s) const { row_scan(b, s, *this).write(); }

}  // namespace ingot::codegen
