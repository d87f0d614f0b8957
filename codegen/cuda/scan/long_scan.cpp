// Scans along few long rows for CUDA, with the trees before and after them, in one pass: blocks share a row, and tiles
// look back (cuda/scan/scan.hpp). A thread has a few chunks of its tile in registers and more in shared memory, filled
// by asynchronous copies.
#include "codegen/cuda/scan/row_tiles.hpp"

#include <functional>

#include "codegen/text/random.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

class long_scan final : row_tiles {
public:
    long_scan(cuda_kernel& b, const scanning& s, const long_row_scan_layout& c)
        : row_tiles(b, s, c, false, c.shared_chunks, c.run), layout_(c) {}

    void write() {
        source_writer& out = b_.code;
        b_.step.shared_bytes = layout_.shared_bytes;
        const std::string u4 = b_.needs.type(dtype::u4), index = b_.linear();
        take_ticket();
        out.line("const ", u4, " lane = threadIdx.x % 32u, warp = threadIdx.x / 32u;");
        const std::vector<int> kept_axes = axes_without(b_.rank, s_.axis);
        b_.step.grid[0] = points_of(kept_bits()) * tile_count();
        if (kept_axes.empty()) {
            out.line("const ", index, " tile = ticket;");
        } else {  // consecutive tickets get the same tile of all rows, for rows may be neighbours in memory
            out.line("const ", index, " tile = quotient(ticket, ", b_.divisor(points_of(kept_bits()), "by_rows"), ");");
            out.line("const ", index, " row = ticket - tile * ", rows(), ";");
        }
        b_.write_digits("row", kept_axes);
        read_fixed();
        out.line("const ", index, " first = tile * ", layout_.tile, "u;");
        out.line("const ", index, " mine = first + warp * ", chunk_stride() * layout_.chunks(), "u + lane * ", each_,
                 "u;");
        if (each_ > 1) out.line("const bool whole = first + ", layout_.tile, " <= ", scanned(), ";");
        if (layout_.stages_values) {
            fold_values();
            look_back();
            write_values();
        } else {
            load_tile();
            fold_tile();
            look_back();
            write_results();
        }
        clear();
    }

private:
    formula tile_count() const { return ceil_divide(points_of(s_.bit()), layout_.tile); }
    std::string tiles() { return b_.count(tile_count(), "tiles"); }

    /// The loop over the chunks in registers, or over the staged ones: names elements e of the inputs and, as
    /// `prefix(f)`, the prefixes of the folds within a vector.
    void open_vectors(bool staged, const std::vector<node_id>& required) {
        source_writer& out = b_.code;
        const std::vector<bool> below = nodes_below(b_.graph, required);
        b_.open_unrolled("u", staged ? shared_chunks_ : register_chunks_);
        for (const array_argument* in : inputs_) {
            if (!below[in->node]) continue;
            const std::uint32_t bytes = bytes_of(*in) * each_;
            if (staged) {
                out.line("alignas(", bytes, ") ", b_.needs.type(in->at->head.type), ' ', in->name, "_now[", each_,
                         "];");
                out.line("reinterpret_cast<", word_of(bytes), "&>(", in->name, "_now) = *reinterpret_cast<const ",
                         word_of(bytes), "*>(", staged_chunk(*in), ");");
            }
            b_.body.name(in->node, in->name + (staged ? "_now[e]" : "[u][e]"));
        }
    }
    std::string prefix(const fold_writer& f, bool staged) const { return f.name() + (staged ? "_now" : "[u]"); }
    void declare_prefixes() {
        for (fold_writer& f : folds_) {
            if (layout_.stages_values)
                declare_now(f);
            else
                b_.code.line(f.type(), ' ', f.name(), "_now[", each_, "];");
        }
    }
    void fold_vector(bool staged) {
        source_writer& out = b_.code;
        if (staged) declare_prefixes();
        const auto outside = b_.body.scope();
        b_.open_unrolled("e", each_);
        for (fold_writer& f : folds_) {
            out.line(prefix(f, staged), "[e] = ", b_.body.value(f.value(), out), ";");
            if (each_ > 1)
                out.line("if (e > 0) ", prefix(f, staged),
                         "[e] = ", f.joined(prefix(f, staged) + "[e - 1]", prefix(f, staged) + "[e]"), ";");
        }
        out.close();
        b_.body.leave(outside);
    }

    /// Prefixes within each of a thread's vectors, then the prefix ahead of each vector: in the warp, in the block.
    void fold_tile() {
        source_writer& out = b_.code;
        for (fold_writer& f : folds_) out.line(f.type(), ' ', f.name(), '[', register_chunks_, "][", each_, "];");
        for (fold_writer& f : folds_) out.line(f.type(), ' ', f.part(), '[', layout_.chunks(), "];");
        for (const bool staged : {false, true}) {
            if (staged && shared_chunks_ == 0) continue;
            if (staged) b_.wait_for_copies();
            const auto outside = b_.body.scope();
            open_vectors(staged, s_.values);
            fold_vector(staged);
            for (fold_writer& f : folds_)
                out.line(f.part(), staged ? "[u + " + std::to_string(register_chunks_) + ']' : "[u]", " = ",
                         prefix(f, staged), '[', each_ - 1, "];");
            out.close();
            b_.body.leave(outside);
        }
        join_chunks();
    }
    void join_chunks() {
        for (fold_writer& f : folds_)
            b_.code.line("const ", f.type(), " warp_", f.name(), " = ", scan_lanes(f, 32), f.part(), ", ", f.start(),
                         ", lane);");
        fold_block();
    }

    // ---- values that are computed chunk by chunk, and their prefixes, in shared memory

    std::uint32_t chunk_bytes(const fold_writer& f) const { return scan_bytes(b_, f.reduction()) * each_; }
    std::string chunk(const fold_writer& f) const {
        return f.name() + "_staged + (u * " + std::to_string(threads_) + "u + threadIdx.x) * " + std::to_string(each_);
    }
    void declare_now(fold_writer& f) {
        b_.code.line("alignas(", chunk_bytes(f), ") ", f.type(), ' ', f.name(), "_now[", each_, "];");
    }
    void move_chunk(fold_writer& f, bool back) {
        const std::string word(word_of(chunk_bytes(f)));
        const std::string now = "reinterpret_cast<" + word + "&>(" + f.name() + "_now)",
                          there = "*reinterpret_cast<" + word + "*>(" + chunk(f) + ')';
        b_.code.line(back ? there : now, " = ", back ? now : there, ";");
    }
    void open_chunks() {
        b_.code.margin("#pragma unroll ", each_ > 1 ? 1 : 2);
        b_.code.open("for (unsigned int u = 0; u < ", shared_chunks_, "; ++u)");
    }

    /// The nodes that the results need beside the prefixes.
    std::vector<bool> beside_scans() const {
        std::vector<bool> required(b_.graph.nodes.size());
        for (const node_id root : b_.graph.roots) required[root] = true;
        for (node_id i = static_cast<node_id>(required.size()); i-- > 0;)
            if (required[i] && b_.graph.nodes[i].kind != node_kind::scan)
                for (int a = 0; a < b_.graph.nodes[i].arity; ++a) required[b_.graph.nodes[i].arguments[a]] = true;
        return required;
    }

    /// Loads elements e of a chunk of the inputs `required`, as x0_now[e]. Inputs wanted `again` stay in caches.
    void load_now(const std::vector<bool>& required, const std::vector<bool>& again) {
        source_writer& out = b_.code;
        std::vector<const array_argument*> inputs;
        for (const array_argument* in : inputs_)
            if (required[in->node]) inputs.push_back(in);
        for (const array_argument* in : inputs) {
            out.line("alignas(", bytes_of(*in) * each_, ") ", b_.needs.type(in->at->head.type), ' ', in->name, "_now[",
                     each_, "];");
            b_.body.name(in->node, in->name + "_now[e]");
        }
        for (const node_id g : generators_) {
            if (!required[g]) continue;
            const std::string now = b_.leaf_of(g).name + "_now";
            out.line(b_.needs.type(b_.graph.nodes[g].type), ' ', now, '[', each_, "];");
            b_.body.name(g, now + "[e]");
        }
        if (!inputs.empty()) {
            out.open();
            write_position(true);
            if (each_ > 1) {
                out.open("if (whole || ", is_inside(), ")");
                for (const array_argument* in : inputs) {
                    const std::uint32_t bytes = bytes_of(*in) * each_;
                    const reading how = again[in->node] ? reading::again : b_.reading_of(*in, all_bits());
                    out.line(b_.loader(how, bytes), '<', word_of(bytes), ">(", in->name, "_now, ", b_.pointer(*in),
                             b_.offset(*in, all_bits()), ");");
                }
                out.otherwise();
                b_.open_unrolled("e", each_);
                write_position(true, " + e");
            }
            for (const array_argument* in : inputs)
                out.line(in->name, each_ > 1 ? "_now[e]" : "_now[0]", " = at < ", scanned(), " ? ",
                         b_.element(*in, b_.offset(*in, all_bits())), " : ",
                         spell_constant(in->at->head.type, 0, b_.needs), ";");
            for (int blocks = each_ > 1 ? 3 : 1; blocks > 0; --blocks) out.close();
        }
        for (const node_id g : generators_)
            if (required[g]) draw_random_chunk(g, b_.leaf_of(g).name + "_now", true);
    }

    void fold_values() {
        source_writer& out = b_.code;
        out.line("extern __shared__ uint4 staged[];");
        std::uint32_t offset = 0;
        for (fold_writer& f : folds_) {
            out.line(f.type(), "* const ", f.name(), "_staged = reinterpret_cast<", f.type(), "*>(staged",
                     offset == 0 ? "" : " + " + std::to_string(offset / 16), ");");
            offset += shared_chunks_ * threads_ * chunk_bytes(f);
        }
        const std::vector<bool> required = nodes_below(b_.graph, s_.values), again = beside_scans();
        const auto outside = b_.body.scope();
        open_chunks();
        load_now(required, again);
        fold_vector(true);
        for (fold_writer& f : folds_) move_chunk(f, true);
        out.close();
        b_.body.leave(outside);
        for (fold_writer& f : folds_) out.line(f.type(), ' ', f.part(), '[', shared_chunks_, "];");
        b_.open_unrolled("u", shared_chunks_);
        for (fold_writer& f : folds_) out.line(f.part(), "[u] = (", chunk(f), ")[", each_ - 1, "];");
        out.close();
        join_chunks();
    }

    void write_values() {
        source_writer& out = b_.code;
        b_.open_unrolled("u", shared_chunks_);
        for (fold_writer& f : folds_) {
            declare_now(f);
            move_chunk(f, false);
            out.line("const ", f.type(), " base_", f.name(), " = ",
                     behind(f, before(f), f.joined("ahead_" + f.name(), f.part() + "[u]")), ";");
            b_.open_unrolled("e", each_);
            out.line(prefix(f, true), "[e] = ", f.joined("base_" + f.name(), prefix(f, true) + "[e]"), ";");
            out.close();
            move_chunk(f, true);
        }
        out.close();
        const auto outside = b_.body.scope();
        open_chunks();
        load_now(beside_scans(), std::vector<bool>(b_.graph.nodes.size()));
        for (fold_writer& f : folds_) {
            declare_now(f);
            move_chunk(f, false);
            b_.body.name(f.reduction(), prefix(f, true) + "[e]");
        }
        store_results(true);
        out.close();
        b_.body.leave(outside);
    }

    // ---- look-back

    /// A warp polls the slots of the earlier tiles of this tile's run, and the slot with the prefix of the run.
    void look_back() {
        source_writer& out = b_.code;
        const std::uint32_t words = slot_words();
        const std::string u8 = b_.needs.type(dtype::u8), row = b_.rank == 1 ? "0" : "row";
        write_slots(row, b_.rank == 1 ? "1" : rows(), tiles());
        b_.step.scratch_count = points_of(kept_bits()) * ceil_divide(points_of(s_.bit()), run_ * layout_.tile);
        for (fold_writer& f : folds_) out.line("__shared__ ", f.wide_type(), " prefix_", f.name(), ";");
        out.open("if (warp == 0)");
        out.line("const ", u8, " all = ", b_.rank == 1 ? "1" : rows(), ";");
        out.line(u8, "* const slot = slots + ((tile / ", run_, " * all + ", row, ") * ", run_, " + tile % ", run_,
                 ") * ", words, ";");
        for (std::size_t i = 0; i < folds_.size(); ++i) {
            fold_writer& f = folds_[i];
            const std::string found = "found_" + f.name();
            out.line(u8, "* const slot_", f.name(), "[1] = {slot", at(i), "};");
            out.line(f.wide_type(), ' ', found, "[1] = {", widened(f, f.whole()), "};");
            out.line("before_tile<", f.wide_joiner(), ", ", words, ">(slot_", f.name(), ", all, tile, ", found, ", ",
                     f.wide_start(), ");");
            out.line("if (lane == 0) prefix_", f.name(), " = ", found, "[0];");
        }
        out.close();
        out.line("__syncthreads();");
        write_arrival();
        for (fold_writer& f : folds_) out.line("const ", f.wide_type(), ' ', before(f), " = prefix_", f.name(), ";");
    }

    void clear() {
        source_writer& out = b_.code;
        clear_slots(tiles(), [&] {
            out.line("for (", b_.linear(), " i = threadIdx.x; i < ", run_, "; i += ", threads_, ")");
            out.line("    clear_slot<", slot_words(), ">(slots, ", b_.rank == 1 ? "1, run, 0" : rows() + ", run, row",
                     ", i, ends);");
        });
    }

    // ---- results

    void write_results() {
        source_writer& out = b_.code;
        const std::vector<node_id> required = roots();
        for (const bool staged : {false, true}) {
            if (staged && shared_chunks_ == 0) continue;
            const auto outside = b_.body.scope();
            open_vectors(staged, required);
            if (staged) fold_vector(staged);
            write_vector(staged);
            out.close();
            b_.body.leave(outside);
        }
    }
    void write_vector(bool staged) {
        source_writer& out = b_.code;
        const std::string part = staged ? "[u + " + std::to_string(register_chunks_) + ']' : "[u]";
        for (fold_writer& f : folds_)
            out.line("const ", f.type(), " base_", f.name(), " = ",
                     behind(f, before(f), f.joined("ahead_" + f.name(), f.part() + part)), ";");
        store_results(staged, [&] {
            for (fold_writer& f : folds_) {
                out.line("const ", f.type(), " all_", f.name(), " = ",
                         f.joined("base_" + f.name(), prefix(f, staged) + "[e]"), ";");
                b_.body.name(f.reduction(), "all_" + f.name());
            }
        });
    }
    /// Stores a chunk; `name_prefixes` names the prefixes of its element e.
    void store_results(bool staged, const std::function<void()>& name_prefixes = [] {}) {
        source_writer& out = b_.code;
        const bool packed = each_ > 1;
        if (packed) declare_results();
        const auto outside = b_.body.scope();
        b_.open_unrolled("e", each_);
        name_prefixes();
        std::vector<std::string> values;
        for (const node_id root : b_.graph.roots) values.push_back(b_.body.value(root, out));
        if (packed)
            for (std::size_t k = 0; k < values.size(); ++k) out.line('r', k, "[e] = ", values[k], ";");
        else
            store_elements(staged, values);
        out.close();
        b_.body.leave(outside);
        if (packed) store_chunk(staged);
    }

    const long_row_scan_layout& layout_;
};

/// Bytes of a chunk of every input.
std::uint32_t bytes_of_chunks(const cuda_kernel& b, const scanning& s, std::uint32_t each) {
    std::uint32_t bytes = 0;
    for (const array_argument* in : inputs_along(b, s)) bytes += bytes_of(*in) * each;
    return bytes;
}

/// Stages costly values of scans, at most `most` chunks a thread: their text stands once, in a loop.
void stage_values(const cuda_kernel& b, const scanning& s, std::uint32_t most, long_row_scan_layout& c) {
    constexpr std::uint32_t staged_bytes = 128, widest_chunk = 16;  // of a thread, of one scan
    if (std::ranges::any_of(inputs_along(b, s), [](const array_argument* in) { return in->at->head.aliased; })) return;
    std::uint32_t widest = 1, bytes = 0;
    for (const node_id scan : s.scans) widest = std::max(widest, scan_bytes(b, scan)), bytes += scan_bytes(b, scan);
    std::uint32_t each = c.each;
    while (each > 1 && each * widest > widest_chunk) each /= 2;
    const std::uint32_t chunks = std::min(staged_bytes / (bytes * each), most);
    if (chunks * each < 2 * c.register_chunks * c.each) return;  // not worth the moves to shared memory
    c.stages_values = true;
    c.threads = 256;
    c.resident_blocks = 4;
    c.each = each;
    c.register_chunks = 0;
    c.shared_chunks = chunks;
    c.shared_bytes = chunks * c.threads * bytes * each;
}

}  // namespace

/// The larger the tiles that a multiprocessor holds, the longer they may wait for each other while memory stays busy,
/// so a thread has three times as much in shared memory as in registers.
long_row_scan_layout choose_long_rows(const cuda_kernel& b, const scanning& s) {
    constexpr std::uint32_t register_bytes = 64, staged_bytes = 192;  // of a thread's inputs
    constexpr std::uint32_t cost_worth_keeping = 24;  // of values not to be computed twice, as staged values are
    constexpr std::uint32_t enough_elements = 16;     // of a thread
    long_row_scan_layout c;
    c.each = elements_of_row_chunk(b, s);
    std::uint32_t fold_words = 0;  // registers that hold the folds of a chunk
    for (const node_id scan : s.scans) fold_words += parts(scan_bytes(b, scan), 4);
    const std::uint32_t most = fold_words <= 2 ? 16 : std::max(32 / fold_words, 1u);
    const std::vector<const array_argument*> inputs = inputs_along(b, s);
    const std::uint32_t bytes = bytes_of_chunks(b, s, c.each);
    const bool stages = c.each > 1 && !inputs.empty() && generators_along(b, s).empty() &&
                        cost_of(b.graph, s.values) <= cost_worth_keeping && bytes <= register_bytes && most >= 4 &&
                        std::ranges::all_of(inputs, [&](const array_argument* in) {
                            return bytes_of(*in) * c.each >= 4 && !in->at->head.aliased;
                        });
    if (stages) {
        c.threads = 256;
        c.resident_blocks = fold_words == 1 ? 4 : 3;  // as many as shared memory and registers hold
        c.register_chunks = std::min(register_bytes / bytes, most / 4);
        c.shared_chunks = std::min(staged_bytes / bytes, most - c.register_chunks);
        while (c.shared_chunks > 1 && c.chunks() * c.each * element_cost(b, s) > 2 * statement_budget)
            --c.shared_chunks;
    } else {
        c.threads = 512;
        c.resident_blocks = 2;
        c.register_chunks = chunks_in_registers(b, s, c.each, longest_of(length_class::looped));
    }
    c.shared_bytes = c.shared_chunks * c.threads * bytes;
    if (!stages && c.register_chunks * c.each < enough_elements) stage_values(b, s, most, c);
    c.lanes = c.threads;
    c.tile = c.threads * c.each * c.chunks();
    return c;
}

kernel_shape long_row_scan_layout::shape() const {
    return {.name = "look-back rows",
            .threads = threads,
            .lanes = lanes,
            .each = each,
            .chunks = chunks(),
            .source = shared_chunks > 0 ? element_source::staged : element_source::direct,
            .exchange = thread_exchange::scratch,
            .resident_blocks = resident_blocks};
}

std::string long_row_scan_layout::reason() const {
    return "tiles of " + std::to_string(tile) +
           " elements, each looks back at those before it: what is scanned is read once";
}

void long_row_scan_layout::write(cuda_kernel& b, const scanning& s) const { long_scan(b, s, *this).write(); }

}  // namespace ingot::codegen
