// Scans for CUDA where memory runs across the rows (columns). Short rows: a thread has a row, neighbours read
// neighbours. Longer ones are cut into tiles of 32 rows, which begin in order and look back as those of
// emit_scan_cuda.cpp do, each row for itself: a lane has a row, a warp so many of its elements as registers hold, and
// warps follow each other.
#include <algorithm>

#include "codegen/cuda_scan.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

constexpr std::uint8_t tile_bucket = 6;  // rows of more than 512 elements
constexpr std::uint32_t thread_bytes = 128, warps = 16;
constexpr std::uint32_t threads = 256;     // with a row each
constexpr std::uint32_t column_loads = 8;  // of one thread in flight

class column_scan : cuda_scan {
public:
    column_scan(const key& k, const graph& g, const scanning& s) : cuda_scan(k, g, s), inner_(b_.rank - 1) {
        tiles_ =
            s.bucket >= tile_bucket && (k.axes[static_cast<std::size_t>(inner_)].bucket & bucket::short_inner) == 0;
        if (!tiles_) {
            unroll_ = column_loads;
            return;
        }
        std::uint32_t widest = 1;
        for (const place* in : inputs_along()) widest = std::max(widest, bytes_of(*in));
        for (const place& out : b_.outputs) widest = std::max(widest, bytes_of(out));
        const std::size_t arrays = std::max(folds_.size(), inputs_along().size());
        const std::uint32_t cost = cost_of(b_.graph, s_.values) + b_.cost + 4;
        while (unroll_ < 32 && 2 * unroll_ * widest * arrays <= thread_bytes && 2 * unroll_ * cost <= statement_budget)
            unroll_ *= 2;
    }

    void write(plan& p) {
        b_.name_scalars();
        b_.step.pattern = "column scan";
        if (tiles_) {
            write_tiles();
            b_.step.threads = 32 * warps;
            b_.step.reason = "tiles of 32 rows, " + std::to_string(tile()) + " elements each, look back";
            return finish(p, std::to_string(32 * warps) + ", 2");
        }
        write_threads();
        b_.step.threads = threads;
        b_.step.reason = "a thread a row, neighbours read neighbours";
        finish(p, std::to_string(threads));
    }

private:
    std::uint32_t tile() const { return warps * unroll_; }

    void write_threads() {
        source_writer& out = b_.code;
        const std::string index = b_.linear(), n = b_.count({.axes = s_.bit()}, "scanned");
        b_.step.grid[0] = {.axes = kept_bits(), .divide_by = threads};
        out.line("const ", index, " row = ", b_.thread_index(threads), ";");
        out.line("if (row >= ", b_.count({.axes = kept_bits()}, "rows"), ") return;");
        b_.write_digits("row", axes_without(b_.rank, s_.axis));
        read_fixed();
        for (fold_writer& f : folds_) out.line(f.wide_type(), ' ', f.name(), " = ", f.wide_start(), ";");
        const auto outside = b_.body.scope();
        out.open("for (", index, " first = 0; first < ", n, "; first += ", unroll_, ")");
        load();
        open_unrolled("u", unroll_);
        write_place();
        name_random();
        for (fold_writer& f : folds_) {
            out.line(f.name(), " = ", f.wide_joiner(), "::join(", f.name(), ", ", b_.body.value(f.value(), out), ");");
            b_.body.name(f.reduction(), f.wide_type() == f.type() ? f.name() : f.type() + '(' + f.name() + ')');
        }
        store("at < " + n);
        out.close();
        out.close();
        b_.body.leave(outside);
    }
    void store(const std::string& condition) {
        source_writer& out = b_.code;
        std::vector<std::string> values;
        for (const node_id root : b_.graph.roots) values.push_back(b_.body.value(root, out));
        out.open("if (", condition, ")");
        for (std::size_t k = 0; k < b_.outputs.size(); ++k)
            b_.store_element(b_.outputs[k], b_.offset(b_.outputs[k], all_bits()), values[k]);
        out.close();
    }

    // ---- tiles

    void write_tiles() {
        source_writer& out = b_.code;
        take_ticket();
        out.line("const ", b_.needs.type(dtype::u4), " lane = threadIdx.x % 32u, warp = threadIdx.x / 32u;");
        write_rows();
        read_fixed();
        const auto outside = b_.body.scope();
        out.line("const ", b_.linear(), " first = tile * ", tile(), "u + warp * ", unroll_, "u;");
        load();
        fold();
        write_look_back();
        write_results();
        b_.body.leave(outside);
        clear_scratch();
    }

    /// 32 neighbours along the inner axis, and of each tile the same ones after one another.
    void write_rows() {
        source_writer& out = b_.code;
        const std::string index = b_.linear(), i = digit(inner_);
        const std::string n = b_.count({.axes = axis_bit(inner_)}, "n" + std::to_string(inner_));
        std::vector<int> outer = axes_without(b_.rank, s_.axis);
        outer.pop_back();
        const formula row_strips{.inner = axis_bit(inner_), .inner_divide = 32};
        formula strips = row_strips;
        for (const int a : outer) strips.axes |= axis_bit(a);
        // A grid is longest along x: few rows may have many tiles.
        const bool few = (b_.key.axes[0].bucket & bucket::few_rows) != 0;
        b_.step.grid[few ? 1 : 0] = strips;
        b_.step.grid[few ? 0 : 1] = {.inner = s_.bit(), .inner_divide = tile()};
        out.line("const ", index, " tile = quotient(ticket, ", b_.divisor(strips, "by_strips"), ");");
        out.line("const ", index, " strip = ticket - tile * ", b_.count(strips, "strips"), ";");
        if (outer.empty()) {
            out.line("const ", index, " column = strip * 32u, first_row = column;");
        } else {
            out.line("const ", index, " outer = quotient(strip, ", b_.divisor(row_strips, "by_row_strips"), ");");
            out.line("const ", index, " column = (strip - outer * ", b_.count(row_strips, "row_strips"),
                     ") * 32u, first_row = outer * ", n, " + column;");
        }
        out.line("const bool active = column + lane < ", n, ";");
        out.line("const ", b_.signed_index(), ' ', i, " = ", b_.signed_index(), "(active ? column + lane : ", n,
                 " - 1);");
        b_.write_digits("outer", outer);
    }

    void write_place() {
        b_.code.line("const ", b_.linear(), " at = first + u;");
        b_.write_digits("at", {s_.axis});
    }

    void load() {
        source_writer& out = b_.code;
        const std::string n = b_.count({.axes = s_.bit()}, "scanned");
        const std::vector<const place*> inputs = inputs_along();
        for (const place* in : inputs) {
            out.line(b_.needs.type(in->at->head.type), ' ', in->name, '[', unroll_, "];");
            b_.body.name(in->node, in->name + "[u]");
        }
        if (inputs.empty()) return;
        open_unrolled("u", unroll_);
        write_place();
        for (const place* in : inputs)
            out.line(in->name, "[u] = at < ", n, " ? ", b_.element(*in, b_.offset(*in, all_bits())), " : ",
                     spell_constant(in->at->head.type, 0, b_.needs), ";");
        out.close();
    }

    /// What this thread's elements fold to, then what lies before them in the tile.
    void fold() {
        source_writer& out = b_.code;
        for (fold_writer& f : folds_) out.line(f.type(), ' ', f.name(), '[', unroll_, "];");
        const auto outside = b_.body.scope();
        open_unrolled("u", unroll_);
        for (const node_id g : b_.generators)
            if ((loops_of(g) & s_.bit()) != 0) {
                write_place();
                break;
            }
        name_random();
        for (fold_writer& f : folds_) out.line(f.name(), "[u] = ", b_.body.value(f.value(), out), ";");
        out.close();
        b_.body.leave(outside);
        b_.code.margin("#pragma unroll");
        out.open("for (unsigned int u = 1; u < ", unroll_, "; ++u)");
        for (fold_writer& f : folds_)
            out.line(f.name(), "[u] = ", f.joined(f.name() + "[u - 1]", f.name() + "[u]"), ";");
        out.close();
        for (fold_writer& f : folds_) {
            out.line("__shared__ ", f.type(), " parts_", f.name(), '[', 32 * warps, "];");
            out.line("parts_", f.name(), "[threadIdx.x] = ", f.name(), '[', unroll_ - 1, "];");
        }
        out.line("__syncthreads();");
        for (fold_writer& f : folds_) {
            out.line(f.type(), ' ', f.whole(), ";");
            out.line("const ", f.type(), " ahead_", f.name(), " = ", scan_warps(), '<', f.joiner(), ", ", warps,
                     ", 32>(parts_", f.name(), " + lane, ", f.start(), ", warp, ", f.whole(), ");");
        }
    }
    void name_random() {
        for (const node_id g : b_.generators)
            if ((loops_of(g) & s_.bit()) != 0) b_.body.name(g, random_element(g, all_bits()));
    }

    /// Scratch: the next ticket, how many strips are done, then for each strip how many of its tiles are, then slots of
    /// its tiles. Zero before and after.
    void write_look_back() {
        source_writer& out = b_.code;
        const std::string tiles = b_.count({.inner = s_.bit(), .inner_divide = tile()}, "tiles");
        const std::uint32_t words = slot_words();
        b_.step.scratch_bytes = 8 * (words + 4);
        b_.step.scratch_count = {.axes = kept_bits(), .inner = s_.bit(), .inner_divide = tile()};
        const std::string u8 = b_.needs.type(dtype::u8), u4 = b_.needs.type(dtype::u4);
        const std::string n = b_.count({.axes = axis_bit(inner_)}, "n" + std::to_string(inner_));
        out.line("const ", u8, " further = ", u8, '(', b_.count({.axes = kept_bits()}, "rows"), ") * ", words, ";");
        out.line(u8, "* const slots = p.scratch + 2 + 2 * ", u8, "(p.strips) + ", u8, "(first_row) * ", words, ";");
        for (fold_writer& f : folds_) out.line("__shared__ ", f.wide_type(), " told_", f.name(), "[32];");
        const auto open_rows = [&] {
            out.open("for (", u4, " c = warp; c < 32 && column + c < ", n, "; c += ", warps, ")");
            out.line(u8, "* const slot = slots + c * ", words, " + tile * further;");
            for (fold_writer& f : folds_)
                out.line("const ", f.wide_type(), " own_", f.name(), " = __shfl_sync(0xffffffffu, ", f.whole(),
                         ", c);");
        };
        open_rows();
        for (fold_writer& f : folds_) out.line("if (lane == 0) tell(slot", at(f), ", part_told, own_", f.name(), ");");
        out.close();
        open_rows();
        for (fold_writer& f : folds_) {
            out.line("const ", f.wide_type(), " before_", f.name(), " = ", look_back(), '<', f.wide_joiner(), ">(slot",
                     at(f), ", further, tile, lane, own_", f.name(), ", ", f.wide_start(), ");");
            out.line("if (lane == 0) told_", f.name(), "[c] = before_", f.name(), ";");
        }
        out.close();
        out.line("__syncthreads();");
        out.line("__shared__ bool last;  // tile of the strip: nobody looks back any more");
        out.open("if (threadIdx.x == 0)");
        out.line("__threadfence();");
        out.line("last = atomicAdd(reinterpret_cast<", u4, "*>(p.scratch + 2 + 2 * strip), 1u) == ", tiles, " - 1;");
        out.line("__threadfence();");
        out.close();
    }
    void clear_scratch() {
        source_writer& out = b_.code;
        const std::string u4 = b_.needs.type(dtype::u4);
        const std::string n = b_.count({.axes = axis_bit(inner_)}, "n" + std::to_string(inner_));
        out.line("__syncthreads();");
        out.line("if (!last || !active) return;");
        out.line("for (", u4, " t = warp; t < p.tiles; t += ", warps, ")");
        out.line("    for (", u4, " w = 0; w < ", slot_words(), "; ++w) slots[t * further + lane * ", slot_words(),
                 " + w] = 0;");
        out.line("if (threadIdx.x != 0) return;");
        out.line("p.scratch[2 + 2 * strip] = 0;");
        out.line("if (atomicAdd(reinterpret_cast<", u4,
                 "*>(p.scratch + 1), 1u) == p.strips - 1) p.scratch[0] = p.scratch[1] = 0;");
    }

    void write_results() {
        source_writer& out = b_.code;
        for (fold_writer& f : folds_)
            out.line("const ", f.type(), " base_", f.name(), " = ",
                     behind(f, "told_" + f.name() + "[lane]", "ahead_" + f.name()), ";");
        open_unrolled("u", unroll_);
        write_place();
        name_random();
        for (fold_writer& f : folds_) {
            out.line("const ", f.type(), " all_", f.name(), " = ", f.joined("base_" + f.name(), f.name() + "[u]"), ";");
            b_.body.name(f.reduction(), "all_" + f.name());
        }
        store("active && at < " + b_.count({.axes = s_.bit()}, "scanned"));
        out.close();
    }

    int inner_;
    bool tiles_ = false;
    std::uint32_t unroll_ = 1;
};

}  // namespace

bool scans_columns(const key& k, const scanning& s) {
    const auto inner = static_cast<std::size_t>(
                           std::count_if(k.axes.begin(), k.axes.end(), [](axis_class a) { return a.owner == 0; })) -
                       1;
    const bool few = (k.axes[0].bucket & bucket::few_rows) != 0,
               narrow = (k.axes[inner].bucket & bucket::short_inner) != 0;
    return static_cast<std::size_t>(s.axis) != inner && !(few && narrow);
}

void emit_column_scan_cuda(const key& k, const graph& g, const scanning& s, plan& p) { column_scan(k, g, s).write(p); }

}  // namespace ingot::codegen
