// Scans along few long rows for CUDA, with the trees before and after them, in one pass: blocks share a row, and tiles
// look back (cuda_scan.hpp). The larger the tiles that a multiprocessor holds, the longer may they wait for each other
// while memory stays busy: a thread has a few vectors of its tile in registers and three times as many in shared
// memory, where asynchronous copies put them.
#include <algorithm>

#include "codegen/cuda_scan.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

constexpr std::uint32_t held_bytes = 64, staged_bytes = 192;  // of a thread's inputs, where they are staged
constexpr std::uint32_t thread_bytes = 128;                   // of one input, where none is staged
constexpr std::uint32_t cost_worth_keeping = 24;  // of values that are not to be computed twice, as staged ones are

class long_scan : cuda_scan {
public:
    long_scan(const key& k, const graph& g, const scanning& s) : cuda_scan(k, g, s) { choose_shape(); }

    void write(plan& p) {
        b_.name_scalars();
        write_rows();
        b_.step.pattern = "look-back scan";
        b_.step.reason = "tiles of " + std::to_string(tile()) +
                         " elements, each looks back at those before it: what is scanned is read once";
        b_.step.shared_bytes = staged_ * threads_ * vector_bytes();
        finish(p, threads_, std::to_string(threads_) + ", " + std::to_string(staged_ > 0 ? blocks_ : 2u));
    }

private:
    std::uint32_t vectors() const { return held_ + staged_; }
    std::uint32_t tile() const { return threads_ * each_ * vectors(); }
    /// Of all inputs, of a thread at once.
    std::uint32_t vector_bytes() const {
        std::uint32_t bytes = 0;
        for (const place* in : inputs_along()) bytes += bytes_of(*in) * each_;
        return bytes;
    }

    void choose_shape() {
        run_ = 64;  // one tile of a run waits for one of the run before it, which with 32 takes as long as memory does
        if (is_vector()) each_ = 16 / widest();
        while (each_ > 1 && each_ * cost() > statement_budget) each_ /= 2;
        const std::vector<const place*> inputs = inputs_along();
        std::uint32_t fold_words = 0;  // of registers for what a vector folds to
        for (const node_id scan : s_.scans)
            fold_words += (static_cast<std::uint32_t>(size_of(b_.graph.nodes[scan].type)) + 3) / 4;
        const std::uint32_t most = fold_words <= 2 ? 16 : std::max(32 / fold_words, 1u);
        blocks_ = fold_words == 1 ? 4 : 3;  // of a multiprocessor: as many as shared memory and registers hold
        const bool stages = each_ > 1 && !inputs.empty() && generators_along().empty() &&
                            cost_of(b_.graph, s_.values) <= cost_worth_keeping && vector_bytes() <= held_bytes &&
                            most >= 4 && std::ranges::all_of(inputs, [&](const place* in) {
                                return bytes_of(*in) * each_ >= 4 && !in->at->head.aliased;
                            });
        if (stages) {
            threads_ = 256;
            held_ = std::min(held_bytes / vector_bytes(), most / 4);
            staged_ = std::min(staged_bytes / vector_bytes(), most - held_);
            while (staged_ > 1 && vectors() * each_ * cost() > 2 * statement_budget) --staged_;
            return;
        }
        threads_ = 512;
        const std::size_t arrays = std::max(folds_.size(), inputs.size());
        while (2 * held_ * each_ * widest() * arrays <= thread_bytes && 2 * held_ * each_ * cost() <= statement_budget)
            held_ *= 2;
    }

    void write_rows() {
        source_writer& out = b_.code;
        const std::string u4 = b_.needs.type(dtype::u4), index = b_.linear();
        take_ticket();
        out.line("const ", u4, " lane = threadIdx.x % 32u, warp = threadIdx.x / 32u;");
        const std::vector<int> kept = axes_without(b_.rank, s_.axis);
        b_.step.grid[0] = {.axes = kept_bits(), .inner = s_.bit(), .inner_divide = tile()};
        if (kept.empty()) {
            out.line("const ", index, " tile = ticket;");
        } else {  // the same tile of every row, for rows may be neighbours in memory
            out.line("const ", index, " tile = quotient(ticket, ", b_.divisor({.axes = kept_bits()}, "by_rows"), ");");
            out.line("const ", index, " row = ticket - tile * ", rows(), ";");
        }
        b_.write_digits("row", kept);
        read_fixed();
        out.line("const ", index, " first = tile * ", tile(), "u;");
        out.line("const ", index, " mine = first + warp * ", 32 * each_ * vectors(), "u + lane * ", each_, "u;");
        if (each_ > 1) out.line("const bool whole = first + ", tile(), " <= ", scanned(), ";");
        load_tile();
        fold_tile();
        look_back();
        write_results();
        clear();
    }
    std::string rows() { return b_.count({.axes = kept_bits()}, "rows"); }
    std::string tiles() { return b_.count({.inner = s_.bit(), .inner_divide = tile()}, "tiles"); }

    // ---- elements

    /// The place of a thread's vector u, of those held or of those staged, or of its element e; and the digit.
    void write_place(bool staged, const std::string& further = "") {
        const std::string number = staged ? "(u + " + std::to_string(held_) + ')' : "u";
        b_.code.line("const ", b_.linear(), " at = mine + ", number, " * ", 32 * each_, 'u', further, ";");
        b_.write_digits("at", {s_.axis});
    }
    std::string staged_vector(const place& in) {
        return in.name + "_staged + (u * " + std::to_string(threads_) + "u + threadIdx.x) * " + std::to_string(each_);
    }

    /// Everything that moves along the row is on its way before anything is computed.
    void load_tile() {
        source_writer& out = b_.code;
        const std::vector<const place*> inputs = inputs_along();
        if (staged_ > 0) out.line("extern __shared__ uint4 staged[];");
        std::uint32_t offset = 0;
        for (const place* in : inputs) {
            const std::string type = b_.needs.type(in->at->head.type);
            out.line(each_ > 1 ? "alignas(" + std::to_string(bytes_of(*in) * each_) + ") " : "", type, ' ', in->name,
                     '[', held_, "][", each_, "];");
            if (staged_ == 0) continue;
            out.line(type, "* const ", in->name, "_staged = reinterpret_cast<", type, "*>(staged",
                     offset == 0 ? "" : " + " + std::to_string(offset / 16), ");");
            offset += staged_ * threads_ * bytes_of(*in) * each_;
        }
        if (!inputs.empty()) {
            if (each_ > 1) {
                out.open("if (whole)");
                load_vectors(inputs, false);
                if (staged_ > 0) load_vectors(inputs, true);
                out.otherwise();
            }
            load_elements(inputs, false);
            if (staged_ > 0) load_elements(inputs, true);
            if (each_ > 1) out.close();
        }
        for (const node_id g : generators_along()) {
            const std::string name = b_.names[b_.graph.nodes[g].index];
            out.line(b_.needs.type(b_.graph.nodes[g].type), ' ', name, '[', held_, "][", each_, "];");
            b_.open_unrolled("u", held_);
            b_.open_unrolled("e", each_);
            write_place(false, " + e");
            out.line(name, "[u][e] = ", random_element(g, all_bits()), ";");
            out.close();
            out.close();
            b_.body.name(g, name + "[u][e]");
        }
    }
    void load_vectors(const std::vector<const place*>& inputs, bool staged) {
        b_.open_unrolled("u", staged ? staged_ : held_);
        write_place(staged);
        load_vector(inputs, staged);
        b_.code.close();
    }
    void load_vector(const std::vector<const place*>& inputs, bool staged) {
        for (const place* in : inputs) {
            const std::uint32_t bytes = bytes_of(*in) * each_;
            const std::string from = b_.pointer(*in) + b_.offset(*in, all_bits());
            if (staged)
                b_.code.line(b_.copier(bytes), '(', staged_vector(*in), ", ", from, ");");
            else
                b_.code.line(b_.loader(b_.reading_of(*in, all_bits()), bytes), '<', word_of(bytes), ">(", in->name,
                             "[u], ", from, ");");
        }
    }
    /// Vectors where the row has all of them, else one element after the other.
    void load_elements(const std::vector<const place*>& inputs, bool staged) {
        b_.open_unrolled("u", staged ? staged_ : held_);
        if (each_ > 1) {
            write_place(staged);
            b_.code.open("if (", is_inside(each_), ")");
            load_vector(inputs, staged);
            b_.code.otherwise();
            b_.open_unrolled("e", each_);
        }
        write_place(staged, each_ > 1 ? " + e" : "");
        const std::string inside = "at < " + scanned();
        for (const place* in : inputs)
            b_.code.line(staged ? '(' + staged_vector(*in) + ')' : in->name + "[u]", each_ > 1 ? "[e]" : "[0]", " = ",
                         inside, " ? ", b_.element(*in, b_.offset(*in, all_bits())), " : ",
                         spell_constant(in->at->head.type, 0, b_.needs), ";");
        for (int blocks = each_ > 1 ? 3 : 1; blocks > 0; --blocks) b_.code.close();
    }
    /// Round what is done for each of the vectors held, or staged: names elements e of the inputs and `prefix(f)` of
    /// the folds, which are the prefixes within a vector.
    void open_vectors(bool staged, const std::vector<node_id>& wanted) {
        source_writer& out = b_.code;
        const std::vector<bool> below = nodes_below(b_.graph, wanted);
        b_.open_unrolled("u", staged ? staged_ : held_);
        for (const place* in : inputs_along()) {
            if (!below[in->node]) continue;
            const std::uint32_t bytes = bytes_of(*in) * each_;
            if (staged) {
                out.line("alignas(", bytes, ") ", b_.needs.type(in->at->head.type), ' ', in->name, "_now[", each_,
                         "];");
                out.line("reinterpret_cast<", word_of(bytes), "&>(", in->name, "_now) = *reinterpret_cast<const ",
                         word_of(bytes), "*>(", staged_vector(*in), ");");
            }
            b_.body.name(in->node, in->name + (staged ? "_now[e]" : "[u][e]"));
        }
    }
    std::string prefix(const fold_writer& f, bool staged) const { return f.name() + (staged ? "_now" : "[u]"); }
    void fold_vector(bool staged) {
        source_writer& out = b_.code;
        if (staged)
            for (fold_writer& f : folds_) out.line(f.type(), ' ', f.name(), "_now[", each_, "];");
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

    /// Prefixes within each of a thread's vectors, then what lies before each vector: in the warp, the block.
    void fold_tile() {
        source_writer& out = b_.code;
        for (fold_writer& f : folds_) out.line(f.type(), ' ', f.name(), '[', held_, "][", each_, "];");
        for (fold_writer& f : folds_) out.line(f.type(), ' ', f.part(), '[', vectors(), "];");
        for (const bool staged : {false, true}) {
            if (staged && staged_ == 0) continue;
            if (staged) b_.wait_for_copies();
            const auto outside = b_.body.scope();
            open_vectors(staged, s_.values);
            fold_vector(staged);
            for (fold_writer& f : folds_)
                out.line(f.part(), staged ? "[u + " + std::to_string(held_) + ']' : "[u]", " = ", prefix(f, staged),
                         '[', each_ - 1, "];");
            out.close();
            b_.body.leave(outside);
        }
        for (fold_writer& f : folds_)
            out.line("const ", f.type(), " warp_", f.name(), " = ", scan_lanes(f, 32), f.part(), ", ", f.start(),
                     ", lane);");
        fold_block(threads_);
    }

    // ---- look-back

    /// A warp asks the slots of the tiles of this tile's run, and of what is before the run.
    void look_back() {
        source_writer& out = b_.code;
        const std::uint32_t words = slot_words();
        const std::string u8 = b_.needs.type(dtype::u8), row = b_.rank == 1 ? "0" : "row";
        write_slots(row, b_.rank == 1 ? "1" : rows(), tiles());
        b_.step.scratch_count = {.axes = kept_bits(), .inner = s_.bit(), .inner_divide = run_ * tile()};
        for (fold_writer& f : folds_) out.line("__shared__ ", f.wide_type(), " told_", f.name(), ";");
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
            out.line("if (lane == 0) told_", f.name(), " = ", found, "[0];");
        }
        out.close();
        out.line("__syncthreads();");
        write_arrival(threads_);
        for (fold_writer& f : folds_) out.line("const ", f.wide_type(), ' ', before(f), " = told_", f.name(), ";");
    }

    void clear() {
        source_writer& out = b_.code;
        clear_slots(tiles(), threads_, [&] {
            out.line("for (", b_.linear(), " i = threadIdx.x; i < ", run_, "; i += ", threads_, ")");
            out.line("    forget<", slot_words(), ">(slots, ", b_.rank == 1 ? "1, run, 0" : rows() + ", run, row",
                     ", i, ends);");
        });
    }

    // ---- results

    void write_results() {
        source_writer& out = b_.code;
        std::vector<node_id> wanted = s_.values;
        wanted.insert(wanted.end(), b_.graph.roots.begin(), b_.graph.roots.end());
        for (const bool staged : {false, true}) {
            if (staged && staged_ == 0) continue;
            const auto outside = b_.body.scope();
            open_vectors(staged, wanted);
            if (staged) fold_vector(staged);
            write_vector(staged);
            out.close();
            b_.body.leave(outside);
        }
    }
    void write_vector(bool staged) {
        source_writer& out = b_.code;
        const std::string part = staged ? "[u + " + std::to_string(held_) + ']' : "[u]";
        for (fold_writer& f : folds_)
            out.line("const ", f.type(), " base_", f.name(), " = ",
                     behind(f, before(f), f.joined("ahead_" + f.name(), f.part() + part)), ";");
        const bool packed = each_ > 1;
        for (std::size_t k = 0; packed && k < b_.outputs.size(); ++k)
            out.line("alignas(", bytes_of(b_.outputs[k]) * each_, ") ", b_.needs.type(b_.outputs[k].at->head.type),
                     " r", k, '[', each_, "];");
        const auto outside = b_.body.scope();
        b_.open_unrolled("e", each_);
        for (fold_writer& f : folds_) {
            out.line("const ", f.type(), " all_", f.name(), " = ",
                     f.joined("base_" + f.name(), prefix(f, staged) + "[e]"), ";");
            b_.body.name(f.reduction(), "all_" + f.name());
        }
        std::vector<std::string> values;
        for (const node_id root : b_.graph.roots) values.push_back(b_.body.value(root, out));
        if (packed)
            for (std::size_t k = 0; k < values.size(); ++k) out.line('r', k, "[e] = ", values[k], ";");
        else
            store_elements(staged, values);
        out.close();
        b_.body.leave(outside);
        if (!packed) return;
        write_place(staged);
        out.open("if (whole || ", is_inside(each_), ")");
        for (std::size_t k = 0; k < b_.outputs.size(); ++k) {
            const std::uint32_t bytes = bytes_of(b_.outputs[k]) * each_;
            out.line(b_.storer(), '<', word_of(bytes), ">(", b_.pointer(b_.outputs[k]),
                     b_.offset(b_.outputs[k], all_bits()), ", r", k, ");");
            values[k] = 'r' + std::to_string(k) + "[e]";
        }
        out.otherwise();
        b_.open_unrolled("e", each_);
        store_elements(staged, values);
        out.close();
        out.close();
    }
    void store_elements(bool staged, const std::vector<std::string>& values) {
        write_place(staged, each_ > 1 ? " + e" : "");
        b_.code.open("if (at < ", scanned(), ")");
        for (std::size_t k = 0; k < b_.outputs.size(); ++k)
            b_.store_element(b_.outputs[k], b_.offset(b_.outputs[k], all_bits()), values[k]);
        b_.code.close();
    }

    std::uint32_t threads_ = 512, each_ = 1, held_ = 1, staged_ = 0, blocks_ = 4;
};

}  // namespace

void emit_long_scan_cuda(const key& k, const graph& g, const scanning& s, plan& p) { long_scan(k, g, s).write(p); }

}  // namespace ingot::codegen
