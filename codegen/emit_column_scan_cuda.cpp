// Scans of long columns for CUDA, with the trees before and after them, in one pass: columns are cut into tiles that
// look back (cuda_scan.hpp), of up to 128 bytes across. A thread has a few rows of up to 16 bytes of neighbouring
// columns in registers; `across` threads lie beside each other, the others below.
#include <algorithm>

#include "codegen/cuda_scan.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

constexpr std::uint32_t threads = 256;       // of a block
constexpr std::uint32_t across_bytes = 128;  // of a row of a tile
constexpr std::uint32_t thread_bytes = 128;  // of one array's elements that a thread holds
constexpr std::uint32_t most_columns = 4;    // of a thread

class column_scan : cuda_scan {
public:
    column_scan(const key& k, const graph& g, const scanning& s)
        : cuda_scan(k, g, s), kept_(axes_without(b_.rank, s.axis)), inner_(b_.rank - 1) {
        outer_.assign(kept_.begin(), kept_.end() - 1);
        narrow_ = (k.axes[static_cast<std::size_t>(inner_)].bucket & bucket::short_inner) != 0;
        if (has_vectors()) columns_ = std::min(16 / widest(), most_columns);
        const std::size_t arrays = std::max(folds_.size(), inputs_along().size());
        const auto fits = [&](std::uint32_t unroll) {
            return unroll * columns_ * widest() * arrays <= thread_bytes &&
                   unroll * columns_ * cost() <= statement_budget;
        };
        while (columns_ > 1 && !fits(1)) columns_ /= 2;
        while (unroll_ < 32 && fits(2 * unroll_)) unroll_ *= 2;
    }

    void write(plan& p) {
        b_.name_scalars();
        write_tiles();
        b_.step.pattern = "look-back column scan";
        b_.step.reason = std::to_string(unroll_) + " rows of " + std::to_string(columns_) +
                         " columns a thread, tiles of " + std::to_string(threads) + " threads look back";
        finish(p, threads, std::to_string(threads) + ", 3");
    }

private:
    std::uint64_t outer_bits() const { return kept_bits() & ~axis_bit(inner_); }

    /// Whether all that moves along the columns does so by one element, and is aligned.
    bool has_vectors() const {
        if (!b_.generators.empty()) return false;
        const auto fits = [&](const place& at) {
            const stride_class along = inner_class(at, inner_);
            return along == stride_class::broadcast || (along == stride_class::unit && at.at->head.vector);
        };
        return std::ranges::all_of(b_.inputs, fits) && std::ranges::all_of(b_.outputs, fits);
    }
    std::uint32_t most_across() const { return std::max(across_bytes / (columns_ * widest()), 1u); }
    /// Rows of threads: of a narrow array as many as its rows leave room for.
    std::uint32_t height() const { return threads / most_across(); }

    /// Of the widest narrow array.
    std::uint32_t narrow_vectors() const { return (31 + columns_ - 1) / columns_; }

    formula row_vectors() const { return {.axes = 0, .inner = axis_bit(inner_), .inner_divide = columns_}; }
    formula vectors() const { return {.axes = outer_bits(), .inner = axis_bit(inner_), .inner_divide = columns_}; }
    std::string strips() {
        formula f = {.axes = outer_bits()};
        if (!narrow_) f = vectors(), f.divide_by = most_across();
        return b_.count(f, "strips");
    }
    formula tile_count() const {
        if (!narrow_) return {.inner = s_.bit(), .inner_divide = height() * unroll_};
        formula f = {.axes = s_.bit(), .inner = axis_bit(inner_), .inner_divide = columns_};
        f.room = threads, f.divide_by = unroll_;
        return f;
    }
    std::string tiles() { return b_.count(tile_count(), "tiles"); }
    std::string width() { return b_.count({.axes = axis_bit(inner_)}, "n" + std::to_string(inner_)); }
    std::string all_columns() { return b_.count({.axes = kept_bits()}, "rows"); }

    void write_tiles() {
        source_writer& out = b_.code;
        take_ticket();
        write_columns();
        read_own();
        const auto outside = b_.body.scope();
        out.line("const ", b_.linear(), " first = (tile * height + down) * ", unroll_, ";");
        load();
        fold();
        look_back();
        write_results();
        b_.body.leave(outside);
        clear_slots(tiles(), threads, [&] {
            // The last slot of the 256 before was read by these tiles; their own last one is by those behind.
            out.line("const ", b_.linear(), " end = ends ? ", tiles(), " : start + 255;");
            out.open("for (", b_.linear(), " t = (start == 0 ? 0 : start - 1) + down; mine && t < end; t += height)");
            out.open("for (unsigned int i = 0; i < columns * ", slot_words(), "; ++i)");
            out.line("(slots + (t * ", b_.needs.type(dtype::u8), '(', all_columns(), ") + first_column) * ",
                     slot_words(), ")[i] = 0;");
            out.close();
            out.close();
        });
    }

    /// This thread's columns and its place among those that share them.
    void write_columns() {
        source_writer& out = b_.code;
        const std::string type = b_.linear(), strips = this->strips();
        formula across = row_vectors(), grid = {.axes = outer_bits()};
        if (!narrow_) {
            across = grid = vectors();
            across.evenly = grid.divide_by = most_across();
        }
        b_.step.grid[0] = grid;
        b_.step.grid[1] = tile_count();
        b_.step.in_one_row = true;
        const std::string count = b_.count(across, "across"), by = b_.divisor(across, "by_across");
        if (narrow_ && outer_.empty())
            out.line("const ", type, " tile = ticket, strip = 0;");
        else
            out.line("const ", type, " tile = quotient(ticket, ", b_.divisor(grid, "by_strips"),
                     "), strip = ticket - tile * ", strips, ";");
        out.line("const ", type, " down = quotient(threadIdx.x, ", by, "), x = threadIdx.x - down * ", count, ";");
        if (narrow_) {
            out.line("const ", type, " height = quotient(", threads, "u, ", by, ");");
            out.line("const ", type, outer_.empty() ? "" : " outer = strip,", " column = x * ", columns_, ";");
            out.line("const bool mine = down < height;");
        } else {
            const std::string all = b_.count(vectors(), "vectors");
            out.line("constexpr ", type, " height = ", height(), ";");
            out.line("const ", type, " vector = min(strip * ", count, " + x, ", all, " - 1);");
            out.line("const bool mine = strip * ", count, " + x < ", all, " && down < height;");
            if (outer_.empty()) {
                out.line("const ", type, " column = vector * ", columns_, ";");
            } else {
                out.line("const ", type, " outer = quotient(vector, ", b_.divisor(row_vectors(), "by_row"), ");");
                out.line("const ", type, " column = (vector - outer * ", b_.count(row_vectors(), "row_vectors"), ") * ",
                         columns_, ";");
            }
        }
        if (!outer_.empty()) b_.write_digits("outer", outer_);
        out.line("const ", type, " first_column = ", outer_.empty() ? "" : "outer * " + width() + " + ", "column;");
        if (columns_ == 1)
            out.line("const ", type, " columns = mine ? 1 : 0;");
        else
            out.line("const ", type, " columns = mine ? min(", type, '(', columns_, "), ", width(), " - column) : 0;");
        out.line("const ", b_.signed_index(), ' ', digit(inner_), " = ", b_.signed_index(), "(column);");
    }

    /// Round the text that handles column e of this thread's; its digit.
    void open_columns(bool digits = false) {
        b_.open_unrolled("e", columns_);
        if (digits && columns_ > 1)
            b_.code.line("const ", b_.signed_index(), ' ', digit(inner_), " = ", b_.signed_index(), "(column + e);");
    }
    bool moves_across(const place& in) const { return inner_class(in, inner_) != stride_class::broadcast; }
    std::uint32_t columns_of(const place& in) const { return moves_across(in) ? columns_ : 1; }

    /// What does not move along the columns.
    void read_own() {
        source_writer& out = b_.code;
        if (columns_ == 1) return read_fixed();
        for (const place& in : b_.inputs) {
            if ((loops_of(in.node) & s_.bit()) != 0) continue;
            const std::string type = b_.needs.type(in.at->head.type);
            if (!moves_across(in)) {
                out.line("const ", type, ' ', in.name, " = ", b_.element(in, b_.offset(in, kept_bits())), ";");
                b_.body.name(in.node, in.name);
                continue;
            }
            out.line(type, ' ', in.name, '[', columns_, "];");
            open_columns(true);
            out.line("if (e < columns) ", in.name, "[e] = ", b_.element(in, b_.offset(in, kept_bits())), ";");
            out.close();
            b_.body.name(in.node, in.name + "[e]");
        }
        std::vector<node_id> roots = s_.values;
        roots.insert(roots.end(), b_.graph.roots.begin(), b_.graph.roots.end());
        b_.body.hoist(outer_bits(), roots, out);
    }

    void write_row() {
        b_.code.line("const ", b_.linear(), " at = first + u;");
        b_.write_digits("at", {s_.axis});
    }

    void load() {
        source_writer& out = b_.code;
        const std::vector<const place*> inputs = inputs_along();
        for (const place* in : inputs) {
            const std::uint32_t wide = columns_of(*in);
            out.line(wide > 1 ? "alignas(" + std::to_string(bytes_of(*in) * wide) + ") " : "",
                     b_.needs.type(in->at->head.type), ' ', in->name, '[', unroll_, "][", wide, "];");
            b_.body.name(in->node, in->name + (wide > 1 ? "[u][e]" : "[u][0]"));
        }
        if (inputs.empty()) return;
        if (columns_ > 1) out.open("if (columns == ", columns_, ")");
        load_rows(inputs, true);
        if (columns_ == 1) return;
        out.otherwise();  // the array ends within a vector
        load_rows(inputs, false);
        out.close();
    }
    void load_rows(const std::vector<const place*>& inputs, bool whole) {
        source_writer& out = b_.code;
        b_.open_unrolled("u", unroll_);
        write_row();
        out.line("if (", columns_ == 1 ? "!mine || " : "", "at >= ", scanned(), ") break;");
        for (const place* in : inputs) {
            const std::string offset = b_.offset(*in, all_bits());
            const std::uint32_t bytes = bytes_of(*in) * columns_of(*in);
            if (columns_of(*in) == 1) {
                out.line(in->name, "[u][0] = ", b_.element(*in, offset), ";");
            } else if (whole) {
                // Of narrow rows a thread reads every other 16 bytes: the others' come from the first-level cache.
                const reading how = b_.reading_of(*in, all_bits());
                out.line(b_.loader(narrow_ && how == reading::once ? reading::again : how, bytes), '<', word_of(bytes),
                         ">(", in->name, "[u], ", b_.pointer(*in), offset, ");");
            } else {
                open_columns(true);
                out.line("if (e < columns) ", in->name, "[u][e] = ", b_.element(*in, b_.offset(*in, all_bits())), ";");
                out.close();
            }
        }
        out.close();
    }

    /// Prefixes within this thread's rows, then what lies before them in the tile.
    void fold() {
        source_writer& out = b_.code;
        for (fold_writer& f : folds_) out.line(f.type(), ' ', f.name(), '[', unroll_, "][", columns_, "];");
        const auto outside = b_.body.scope();
        b_.open_unrolled("u", unroll_);
        name_random();
        open_columns();
        for (fold_writer& f : folds_) out.line(f.name(), "[u][e] = ", b_.body.value(f.value(), out), ";");
        for (fold_writer& f : folds_)
            out.line("if (u > 0) ", f.name(), "[u][e] = ", f.joined(f.name() + "[u - 1][e]", f.name() + "[u][e]"), ";");
        out.close();
        out.close();
        b_.body.leave(outside);
        std::uint32_t widest = 4;
        for (fold_writer& f : folds_) widest = std::max(widest, f.bytes());
        out.line("alignas(16) __shared__ ", b_.needs.type(dtype::u8), " room[", threads * columns_ * widest / 8, "];");
        declare_scan_down(b_, threads);
        for (fold_writer& f : folds_) {
            out.line(f.type(), ' ', f.part(), '[', columns_, "];");
            open_columns();
            out.line(f.part(), "[e] = ", f.name(), '[', unroll_ - 1, "][e];");
            out.close();
            out.line("const ", f.type(), ' ', f.whole(), " = scan_down<", f.joiner(), ">(", f.part(), ", room, ",
                     f.start(), ", p.across, x, down, height);");
        }
    }
    void name_random() {
        const std::vector<node_id> generators = generators_along();
        if (!generators.empty()) write_row();
        for (const node_id g : generators) b_.body.name(g, random_element(g, all_bits()));
    }

    /// Columns of a tile.
    std::uint32_t tile_columns() const { return std::max(most_across(), narrow_vectors()) * columns_; }

    void look_back() {
        source_writer& out = b_.code;
        const std::uint32_t words = slot_words();
        // Slots of all columns; half as much again for counters.
        b_.step.scratch_bytes = 8 * (words + 2);
        const std::uint32_t least = narrow_ ? threads / narrow_vectors() : height();
        b_.step.scratch_count = {.axes = kept_bits(), .inner = s_.bit(), .inner_divide = least * unroll_};
        const std::string u8 = b_.needs.type(dtype::u8);
        declare_slots();
        declare_columns_before_tile(b_);
        write_slots("strip", strips(), tiles());
        for (fold_writer& f : folds_)
            out.line("__shared__ ", f.wide_type(), " told_", f.name(), "[32 * ", tile_columns(), "];");
        out.line("const ", u8, " further = ", u8, '(', all_columns(), ") * ", words, ";");
        out.line(u8, "* const own = slots + (tile * ", u8, '(', all_columns(), ") + first_column) * ", words, ";");
        for (std::size_t i = 0; i < folds_.size(); ++i) {
            fold_writer& f = folds_[i];
            out.line("before_tile<", f.wide_joiner(), ", ", words, ", ", columns_, ">(told_", f.name(), ", own", at(i),
                     ", further, tile, ", widened(f, f.whole()), ", ", f.wide_start(),
                     ", p.across, x, down, height, columns);");
        }
        write_arrival(threads);
    }

    void write_results() {
        source_writer& out = b_.code;
        for (fold_writer& f : folds_) out.line(f.type(), " base_", f.name(), '[', columns_, "];");
        open_columns();
        for (fold_writer& f : folds_)
            out.line("base_", f.name(), "[e] = ",
                     behind(f, "told_" + f.name() + "[(31 * p.across + x) * " + std::to_string(columns_) + " + e]",
                            f.part() + "[e]"),
                     ";");
        out.close();
        b_.open_unrolled("u", unroll_);
        write_row();
        out.line("if (at >= ", scanned(), ") break;");
        const bool packed = columns_ > 1;
        for (std::size_t k = 0; packed && k < b_.outputs.size(); ++k)
            out.line("alignas(", bytes_of(b_.outputs[k]) * columns_, ") ", b_.needs.type(b_.outputs[k].at->head.type),
                     " r", k, '[', columns_, "];");
        const auto outside = b_.body.scope();
        for (const node_id g : generators_along()) b_.body.name(g, random_element(g, all_bits()));
        open_columns();
        for (fold_writer& f : folds_) {
            out.line("const ", f.type(), " all_", f.name(), " = ",
                     f.joined("base_" + f.name() + "[e]", f.name() + "[u][e]"), ";");
            b_.body.name(f.reduction(), "all_" + f.name());
        }
        std::vector<std::string> values;
        for (const node_id root : b_.graph.roots) values.push_back(b_.body.value(root, out));
        if (packed)
            for (std::size_t k = 0; k < values.size(); ++k) out.line('r', k, "[e] = ", values[k], ";");
        else
            store_elements(values);
        out.close();
        b_.body.leave(outside);
        if (packed) {
            out.open("if (columns == ", columns_, ")");
            for (std::size_t k = 0; k < b_.outputs.size(); ++k) {
                const std::uint32_t bytes = bytes_of(b_.outputs[k]) * columns_;
                out.line(b_.storer(), '<', word_of(bytes), ">(", b_.pointer(b_.outputs[k]),
                         b_.offset(b_.outputs[k], all_bits()), ", r", k, ");");
            }
            out.otherwise();
            open_columns(true);
            for (std::size_t k = 0; k < values.size(); ++k) values[k] = 'r' + std::to_string(k) + "[e]";
            store_elements(values);
            out.close();
            out.close();
        }
        out.close();
    }
    void store_elements(const std::vector<std::string>& values) {
        b_.code.open("if (e < columns)");
        for (std::size_t k = 0; k < b_.outputs.size(); ++k)
            b_.store_element(b_.outputs[k], b_.offset(b_.outputs[k], all_bits()), values[k]);
        b_.code.close();
    }

    std::vector<int> kept_, outer_;
    int inner_;
    bool narrow_ = false;
    std::uint32_t columns_ = 1, unroll_ = 1;
};

}  // namespace

void emit_column_scan_cuda(const key& k, const graph& g, const scanning& s, plan& p) { column_scan(k, g, s).write(p); }

}  // namespace ingot::codegen
