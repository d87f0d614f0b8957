// Scans of long columns for CUDA, with the trees before and after them, in one pass: columns are cut into tiles that
// look back (cuda_scan.hpp), of up to 128 bytes across. `across` threads lie beside each other, the others below; a
// thread has some rows of up to 16 bytes of neighbouring columns. A tile is in shared memory, where asynchronous copies
// put it, for the larger the tiles are, the less do they ask of each other and the longer may they wait.
//
// Of narrow arrays a tile is all that lies between its first row and its last. Threads copy it into shared memory, and
// its results out of there, as it lies in memory, whoever computes them.
#include <algorithm>

#include "codegen/cuda_scan.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

constexpr std::uint32_t most_threads = 512;  // of a block
constexpr std::uint32_t across_bytes = 128;  // of a row of a tile
constexpr std::uint32_t most_columns = 4;    // of a thread
constexpr std::uint32_t most_rows = 65;      // of a thread
constexpr std::uint32_t unrolled_rows = 17;
constexpr std::uint8_t short_bucket = 9;  // up to 8192 rows: of large tiles too much would be idle

/// Some rows of an array in shared memory, `each` elements of every row for each thread.
struct staged_rows {
    std::string name, type;
    std::uint32_t bytes, each;  // of an element; columns
    bool has_result = false;
    std::uint32_t unit() const { return bytes * each; }
};

class column_scan : cuda_scan {
public:
    column_scan(const key& k, const graph& g, const scanning& s)
        : cuda_scan(k, g, s), kept_(axes_without(b_.rank, s.axis)), inner_(b_.rank - 1) {
        outer_.assign(kept_.begin(), kept_.end() - 1);
        narrow_ = (k.axes[static_cast<std::size_t>(inner_)].bucket & bucket::short_inner) != 0;
        if (has_vectors()) columns_ = std::min(16 / widest(), most_columns);
        while (columns_ > 1 && columns_ * cost() > statement_budget) columns_ /= 2;
    }

    void write(plan& p) {
        b_.name_scalars();
        choose_shape();
        write_tiles();
        b_.step.pattern = "look-back column scan";
        b_.step.reason = std::to_string(rows_) + " rows of " + std::to_string(columns_) +
                         " columns a thread, tiles of " + std::to_string(threads_) +
                         " threads in shared memory look back: what is scanned is read once";
        b_.step.shared_bytes = staged_bytes();
        finish(p, threads_, std::to_string(threads_) + ", " + std::to_string(blocks_));
    }

private:
    // ---- the shape

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
    bool moves_across(const place& in) const { return inner_class(in, inner_) != stride_class::broadcast; }
    std::uint32_t columns_of(const place& in) const { return moves_across(in) ? columns_ : 1; }

    /// A result of a narrow array takes the place of an input of its size.
    void choose_shape() {
        for (const place* in : inputs_along())
            staged_.push_back({in->name, b_.needs.type(in->at->head.type), bytes_of(*in), columns_of(*in)});
        for (std::size_t k = 0; narrow_ && k < b_.outputs.size(); ++k) {
            const std::string type = b_.needs.type(b_.outputs[k].at->head.type);
            const staged_rows wanted{"z" + std::to_string(k), type, bytes_of(b_.outputs[k]), columns_, true};
            auto free = std::ranges::find_if(staged_, [&](const staged_rows& s) {
                return !s.has_result && s.bytes == wanted.bytes && s.each == wanted.each;
            });
            if (free == staged_.end()) free = staged_.insert(free, wanted);
            free->has_result = true;
            results_.push_back(static_cast<std::size_t>(free - staged_.begin()));
        }
        // As many as leave room for the blocks, and odd: neighbours' rows then begin in different banks.
        if (s_.bucket <= short_bucket && !narrow_) threads_ = most_threads / 2, blocks_ = 3;
        constexpr std::uint32_t most_beside = 40 << 10;  // of a block's shared memory
        while (threads_ > 32 && other_bytes() > most_beside) threads_ /= 2;
        const std::uint32_t unit = std::max(unit_bytes(), 4u);
        const auto most = [&] {
            const std::uint32_t memory = memory_of_processor() / blocks_;
            return (memory - std::min(memory, other_bytes())) / (threads_ * unit);
        };
        while (blocks_ > 1 && most() < 3) --blocks_;
        while (threads_ > 32 && most() < 3) threads_ /= 2;
        const std::uint32_t fit = std::clamp(most(), 1u, most_rows);
        rows_ = fit - (fit + 1) % 2;
        // Of many short columns slots for tiles that none has would be much memory.
        if (s_.bucket < bucket::looped)
            while (run_ > 1 && std::uint64_t{run_ / 2} * least_tile() >= std::uint64_t{16} << s_.bucket) run_ /= 2;
    }
    /// Rows of the shortest tile.
    std::uint32_t least_tile() const { return (narrow_ ? threads_ / narrow_vectors() : height()) * rows_; }
    /// Of a row of a thread's columns.
    std::uint32_t unit_bytes() const {
        std::uint32_t bytes = 0;
        for (const staged_rows& s : staged_) bytes += s.unit();
        return bytes;
    }
    std::uint32_t staged_bytes() const { return unit_bytes() * rows_ * threads_; }
    /// Shared memory that the blocks of a multiprocessor have together.
    std::uint32_t memory_of_processor() const {
        const std::uint32_t a = b_.key.header.architecture;
        const std::uint32_t kibibytes = a < 80 ? 64 : a == 80 || a == 87 ? 164 : a >= 90 && a < 120 ? 228 : 100;
        return kibibytes << 10;
    }
    /// What of a block's shared memory is not the tile.
    std::uint32_t other_bytes() const {
        std::uint32_t bytes = 1024 + 8 * tile_columns();
        for (const node_id scan : s_.scans)
            bytes += columns_ * (threads_ + tile_columns()) *
                         static_cast<std::uint32_t>(size_of(b_.graph.nodes[scan].type)) +
                     8 * tile_columns();
        return bytes;
    }

    std::uint32_t most_across() const { return std::clamp(across_bytes / (columns_ * widest()), 1u, threads_); }
    /// Rows of threads: of a narrow array as many as its rows leave room for.
    std::uint32_t height() const { return threads_ / most_across(); }
    /// Of the widest narrow array.
    std::uint32_t narrow_vectors() const { return (31 + columns_ - 1) / columns_; }
    /// Columns of a tile.
    std::uint32_t tile_columns() const { return std::max(most_across(), narrow_vectors()) * columns_; }

    formula row_vectors() const { return {.axes = 0, .inner = axis_bit(inner_), .inner_divide = columns_}; }
    formula vectors() const { return {.axes = outer_bits(), .inner = axis_bit(inner_), .inner_divide = columns_}; }
    formula across() const {
        formula f = narrow_ ? row_vectors() : vectors();
        if (!narrow_) f.evenly = most_across();
        return f;
    }
    formula strip_count() const {
        formula f = {.axes = outer_bits()};
        if (!narrow_) f = vectors(), f.divide_by = most_across();
        return f;
    }
    std::string strips() { return b_.count(strip_count(), "strips"); }
    formula tile_count() const {
        if (!narrow_) return {.inner = s_.bit(), .inner_divide = height() * rows_};
        formula f = {.axes = s_.bit(), .inner = axis_bit(inner_), .inner_divide = columns_};
        f.room = threads_, f.divide_by = rows_;
        return f;
    }
    std::string tiles() { return b_.count(tile_count(), "tiles"); }
    std::string width() { return b_.count({.axes = axis_bit(inner_)}, "n" + std::to_string(inner_)); }
    std::string all_columns() { return b_.count({.axes = kept_bits()}, "rows"); }

    // ---- the tile

    void write_tiles() {
        source_writer& out = b_.code;
        take_ticket();
        write_columns();
        read_own();
        const auto outside = b_.body.scope();
        out.line("const ", b_.linear(), " first = (tile * height + down) * ", rows_, ", own_place = down * ", rows_,
                 " * p.across + x;");
        stage();
        fold();
        look_back();
        write_results();
        b_.body.leave(outside);
        clear_slots(tiles(), threads_, [&] {
            out.line("for (", b_.linear(), " i = down; mine && i < columns * ", run_, "; i += height)");
            out.line("    forget<", slot_words(), ">(slots, ", all_columns(), ", run, first_column + i / ", run_,
                     ", i % ", run_, ", ends);");
        });
    }

    /// This thread's columns and its place among those that share them.
    void write_columns() {
        source_writer& out = b_.code;
        const std::string type = b_.linear(), strips = this->strips();
        b_.step.grid[0] = strip_count();
        b_.step.grid[1] = tile_count();
        b_.step.in_one_row = true;
        const std::string count = b_.count(across(), "across"), by = b_.divisor(across(), "by_across");
        if (narrow_ && outer_.empty())
            out.line("const ", type, " tile = ticket, strip = 0;");
        else
            out.line("const ", type, " tile = quotient(ticket, ", b_.divisor(strip_count(), "by_strips"),
                     "), strip = ticket - tile * ", strips, ";");
        if (narrow_)
            out.line("const ", type, " height = quotient(", threads_, "u, ", by, ");");
        else
            out.line("constexpr ", type, " height = ", height(), ";");
        out.line("const ", type, " down = quotient(threadIdx.x, ", by, "), x = threadIdx.x - down * ", count, ";");
        if (narrow_) {
            out.line("const ", type, outer_.empty() ? "" : " outer = strip,", " column = x * ", columns_, ";");
            out.line("const bool mine = down < height;");
        } else {
            const std::string all = b_.count(vectors(), "vectors");
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
        out.line("const ", type, " columns = mine ? ", columns_from("column"), " : 0;");
        out.line("const ", b_.signed_index(), ' ', digit(inner_), " = ", b_.signed_index(), "(column);");
    }
    std::string columns_from(const std::string& column) {
        if (columns_ == 1) return "1";
        return "min(" + b_.linear() + '(' + std::to_string(columns_) + "), " + width() + " - " + column + ')';
    }

    /// Round the text that handles column e of this thread's; its digit.
    void open_columns(bool digits = false) {
        b_.open_unrolled("e", columns_);
        if (digits && columns_ > 1)
            b_.code.line("const ", b_.signed_index(), ' ', digit(inner_), " = ", b_.signed_index(), "(column + e);");
    }

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

    /// A loop over this thread's rows; of `operations` for each, unrolled as far as the compiler should.
    void open_rows(std::uint32_t operations) {
        const std::uint32_t fit = std::max(statement_budget / std::max(operations, 1u), 1u);
        std::uint32_t pieces = (rows_ + std::min(fit, unrolled_rows) - 1) / std::min(fit, unrolled_rows);
        while (rows_ % pieces != 0) ++pieces;
        b_.code.margin("#pragma unroll " + std::to_string(rows_ / pieces));
        b_.code.open("for (unsigned int u = 0; u < ", rows_, "; ++u)");
    }
    /// Round what is done for each row of this thread's columns, where it has any.
    void open_own_rows(std::uint32_t operations) {
        b_.code.open("if (mine)");
        open_rows(operations);
        b_.code.line("const ", b_.linear(), " at = first + u, place = own_place + u * p.across;");
        b_.write_digits("at", {s_.axis});
    }
    /// Round what is done for each of the places that a thread copies: of narrow arrays those that lie `threads` apart.
    void open_copies() {
        source_writer& out = b_.code;
        if (!narrow_) {
            open_own_rows(columns_);
            out.line("const bool inside = at < ", scanned(), ";");
            return;
        }
        open_rows(columns_);
        out.line("const ", b_.linear(), " place = u * ", threads_,
                 " + threadIdx.x, row = quotient(place, p.by_across);");
        out.line("const ", b_.linear(), " at = tile * height * ", rows_, " + row, column = (place - row * p.across) * ",
                 columns_, ";");
        out.line("const bool inside = row < height * ", rows_, " && at < ", scanned(), ";");
        if (columns_ > 1) out.line("const ", b_.linear(), " columns = ", columns_from("column"), ";");
        b_.write_digits("at", {s_.axis});
        out.line("const ", b_.signed_index(), ' ', digit(inner_), " = ", b_.signed_index(), "(column);");
    }
    void close_own_rows() {
        b_.code.close();
        b_.code.close();
    }
    void close_copies() {
        b_.code.close();
        if (!narrow_) b_.code.close();
    }
    std::string staged_at(const staged_rows& s) const {
        return s.name + "_staged + place" + (s.each > 1 ? " * " + std::to_string(s.each) : "");
    }

    void stage() {
        source_writer& out = b_.code;
        out.line("extern __shared__ uint4 staged[];");
        std::uint32_t offset = 0;
        for (const staged_rows& s : staged_) {
            out.line(s.type, "* const ", s.name, "_staged = reinterpret_cast<", s.type, "*>(staged",
                     offset == 0 ? "" : " + " + std::to_string(offset / 16), ");");
            offset += rows_ * threads_ * s.unit();
        }
        const std::vector<const place*> inputs = inputs_along();
        if (inputs.empty()) return;
        open_copies();
        out.open("if (inside)");
        for (std::size_t i = 0; i < inputs.size(); ++i) copy(*inputs[i], staged_[i]);
        out.otherwise();  // so that nothing is computed from what happens to be there
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const std::string word(word_of(staged_[i].unit()));
            out.line("*reinterpret_cast<", word, "*>(", staged_at(staged_[i]), ") = {};");
        }
        out.close();
        close_copies();
        b_.wait_for_copies();
        if (narrow_) out.line("__syncthreads();");
    }
    void copy(const place& in, const staged_rows& to) {
        source_writer& out = b_.code;
        const std::string offset = b_.offset(in, all_bits());
        if (to.each == 1 && to.unit() < 4) {
            out.line('(', staged_at(to), ")[0] = ", b_.element(in, offset), ";");
            return;
        }
        if (to.each > 1) out.open("if (columns == ", to.each, ")");
        const std::string word(word_of(to.unit()));
        if (to.unit() < 4)  // too short for an asynchronous copy
            out.line("*reinterpret_cast<", word, "*>(", staged_at(to), ") = *reinterpret_cast<const ", word, "*>(",
                     b_.pointer(in), offset, ");");
        else
            out.line(b_.copier(to.unit()), '(', staged_at(to), ", ", b_.pointer(in), offset, ");");
        if (to.each == 1) return;
        out.otherwise();  // the array ends within a vector
        open_columns(true);
        out.line('(', staged_at(to), ")[e] = e < columns ? ", b_.element(in, b_.offset(in, all_bits())), " : ",
                 spell_constant(in.at->head.type, 0, b_.needs), ";");
        out.close();
        out.close();
    }

    /// Names what is wanted of a row of the inputs.
    void read_row(const std::vector<node_id>& wanted) {
        source_writer& out = b_.code;
        const std::vector<bool> below = nodes_below(b_.graph, wanted);
        const std::vector<const place*> inputs = inputs_along();
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const staged_rows& s = staged_[i];
            if (!below[inputs[i]->node]) continue;
            const std::string word(word_of(s.unit()));
            out.line(s.each > 1 ? "alignas(" + std::to_string(s.unit()) + ") " : "", s.type, ' ', s.name, '[', s.each,
                     "];");
            out.line("reinterpret_cast<", word, "&>(", s.name, ") = *reinterpret_cast<const ", word, "*>(",
                     staged_at(s), ");");
            b_.body.name(inputs[i]->node, s.name + (s.each > 1 ? "[e]" : "[0]"));
        }
        for (const node_id g : generators_along())
            if (below[g]) b_.body.name(g, random_element(g, all_bits()));
    }

    /// What this thread's rows fold to, then what lies before them in the tile.
    void fold() {
        source_writer& out = b_.code;
        for (fold_writer& f : folds_) {
            out.line(f.type(), ' ', f.part(), '[', columns_, "];");
            open_columns();
            out.line(f.part(), "[e] = ", f.start(), ";");
            out.close();
        }
        const auto outside = b_.body.scope();
        open_own_rows(columns_ * cost());
        read_row(s_.values);
        open_columns();
        for (fold_writer& f : folds_)
            out.line(f.part(), "[e] = ", f.joined(f.part() + "[e]", b_.body.value(f.value(), out)), ";");
        out.close();
        close_own_rows();
        b_.body.leave(outside);
    }

    void look_back() {
        source_writer& out = b_.code;
        const std::uint32_t words = slot_words();
        scan_lanes();
        write_slots("strip", strips(), tiles());
        b_.step.scratch_count = {.axes = kept_bits(), .inner = s_.bit(), .inner_divide = run_ * least_tile()};
        declare_before_columns(b_, run_, threads_, std::clamp(tile_columns() / (threads_ / 32), 1u, 2u));
        out.line("__shared__ ", b_.linear(), " numbers[", tile_columns(), "];");
        open_columns();
        out.line("if (down == 0) numbers[x * ", columns_, " + e] = e < columns ? first_column + e : ~", b_.linear(),
                 "(0);");
        out.close();
        for (fold_writer& f : folds_) {
            out.line("__shared__ ", f.type(), " room_", f.name(), '[', columns_ * (threads_ + tile_columns()), "];");
            out.line("__shared__ ", f.wide_type(), " told_", f.name(), '[', tile_columns(), "];");
            open_columns();
            out.line("if (down < height) room_", f.name(), "[", room_place(), "] = ", f.part(), "[e];");
            out.close();
        }
        out.line("__syncthreads();");
        for (std::size_t i = 0; i < folds_.size(); ++i) {
            fold_writer& f = folds_[i];
            out.line("before_columns<", f.joiner(), ", ", f.wide_joiner(), ", ", words, ">(room_", f.name(), ", told_",
                     f.name(), ", numbers, slots", at(i), ", ", all_columns(), ", tile, p.across * ", columns_,
                     ", height, ", f.start(), ", ", f.wide_start(), ");");
        }
        out.line("__syncthreads();");
        write_arrival(threads_);
    }
    std::string room_place() const { return "(x * " + std::to_string(columns_) + " + e) * (height | 1) + down"; }

    // ---- results

    void write_results() {
        source_writer& out = b_.code;
        for (fold_writer& f : folds_) {
            out.line(f.type(), " base_", f.name(), '[', columns_, "], ", f.name(), '[', columns_, "];");
            open_columns();
            out.line("if (down < height) base_", f.name(), "[e] = ",
                     behind(f, "told_" + f.name() + "[x * " + std::to_string(columns_) + " + e]",
                            "room_" + f.name() + '[' + room_place() + ']'),
                     ";");
            out.line(f.name(), "[e] = ", f.start(), ";");
            out.close();
        }
        std::vector<node_id> wanted = s_.values;
        wanted.insert(wanted.end(), b_.graph.roots.begin(), b_.graph.roots.end());
        const auto outside = b_.body.scope();
        open_own_rows(columns_ * cost());
        read_row(wanted);
        for (std::size_t k = 0; k < b_.outputs.size(); ++k)
            out.line(columns_ > 1 ? "alignas(" + std::to_string(bytes_of(b_.outputs[k]) * columns_) + ") " : "",
                     b_.needs.type(b_.outputs[k].at->head.type), " r", k, '[', columns_, "];");
        open_columns();
        for (fold_writer& f : folds_) {
            out.line(f.name(), "[e] = ", f.joined(f.name() + "[e]", b_.body.value(f.value(), out)), ";");
            out.line("const ", f.type(), " all_", f.name(), " = ",
                     f.joined("base_" + f.name() + "[e]", f.name() + "[e]"), ";");
            b_.body.name(f.reduction(), "all_" + f.name());
        }
        std::vector<std::string> values;
        for (const node_id root : b_.graph.roots) values.push_back(b_.body.value(root, out));
        for (std::size_t k = 0; k < values.size(); ++k) out.line('r', k, "[e] = ", values[k], ";");
        out.close();
        if (narrow_) {
            keep_row();
        } else {
            out.open("if (at < ", scanned(), ")");
            store_row();
            out.close();
        }
        close_own_rows();
        b_.body.leave(outside);
        if (narrow_) store_tile();
    }
    /// Into the place of what the row was computed from.
    void keep_row() {
        for (std::size_t k = 0; k < b_.outputs.size(); ++k) {
            const staged_rows& s = staged_[results_[k]];
            const std::string word(word_of(s.unit()));
            b_.code.line("*reinterpret_cast<", word, "*>(", staged_at(s), ") = reinterpret_cast<const ", word, "&>(r",
                         k, ");");
        }
    }
    void store_tile() {
        source_writer& out = b_.code;
        out.line("__syncthreads();");
        open_copies();
        for (std::size_t k = 0; k < b_.outputs.size(); ++k) {
            const staged_rows& s = staged_[results_[k]];
            const std::string type = b_.needs.type(b_.outputs[k].at->head.type), word(word_of(s.unit()));
            out.line(columns_ > 1 ? "alignas(" + std::to_string(s.unit()) + ") " : "", type, " r", k, '[', columns_,
                     "];");
            out.line("reinterpret_cast<", word, "&>(r", k, ") = *reinterpret_cast<const ", word, "*>(", staged_at(s),
                     ");");
        }
        out.open("if (inside)");
        store_row();
        out.close();
        close_copies();
    }
    void store_row() {
        source_writer& out = b_.code;
        if (columns_ > 1) {
            out.open("if (columns == ", columns_, ")");
            for (std::size_t k = 0; k < b_.outputs.size(); ++k) {
                const std::uint32_t bytes = bytes_of(b_.outputs[k]) * columns_;
                out.line(b_.storer(), '<', word_of(bytes), ">(", b_.pointer(b_.outputs[k]),
                         b_.offset(b_.outputs[k], all_bits()), ", r", k, ");");
            }
            out.otherwise();  // the array ends within a vector
            open_columns(true);
            out.open("if (e < columns)");
        }
        for (std::size_t k = 0; k < b_.outputs.size(); ++k)
            b_.store_element(b_.outputs[k], b_.offset(b_.outputs[k], all_bits()),
                             "r" + std::to_string(k) + (columns_ > 1 ? "[e]" : "[0]"));
        for (int blocks = columns_ > 1 ? 3 : 0; blocks > 0; --blocks) out.close();
    }

    std::vector<int> kept_, outer_;
    int inner_;
    bool narrow_ = false;
    std::uint32_t columns_ = 1, rows_ = 1, threads_ = most_threads, blocks_ = 2;
    std::vector<staged_rows> staged_;   // the inputs that move along the columns, then what else results need
    std::vector<std::size_t> results_;  // where each output's are
};

}  // namespace

void emit_column_scan_cuda(const key& k, const graph& g, const scanning& s, plan& p) { column_scan(k, g, s).write(p); }

}  // namespace ingot::codegen
