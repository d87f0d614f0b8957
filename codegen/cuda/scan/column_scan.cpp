// Scans of long columns for CUDA, with the trees before and after them, in one pass: columns are cut into tiles of up
// to 128 bytes across that look back (cuda/scan/scan.hpp). A tile is in shared memory (cuda/scan/staged_columns.hpp). A
// tile of narrow arrays is everything between its first row and its last.
#include "codegen/cuda/join.hpp"
#include "codegen/cuda/scan/staged_columns.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

class column_scan final : staged_columns {
public:
    column_scan(cuda_kernel& b, const scanning& s, const long_column_scan_layout& c)
        : staged_columns(b, s, c, "p.across", c.run), layout_(c) {}

    void write() {
        source_writer& out = b_.code;
        take_ticket();
        write_columns();
        read_own();
        const auto outside = b_.body.scope();
        out.line("const ", b_.linear(), " first = (tile * height + down) * ", rows_, ", own_smem_index = down * ",
                 rows_, " * p.across + x;");
        stage();
        fold();
        look_back();
        write_results();
        b_.body.leave(outside);
        clear_slots(tiles(), [&] {
            out.line("for (", b_.linear(), " i = down; mine && i < columns * ", run_, "; i += height)");
            out.line("    clear_slot<", slot_words(), ">(slots, ", all_columns(), ", run, first_column + i / ", run_,
                     ", i % ", run_, ", ends);");
        });
    }

private:
    formula across() const { return narrow_ ? row_vectors() : balanced(vectors(), layout_.across).size; }
    formula strip_count() const {
        return narrow_ ? points_of(outer_bits()) : balanced(vectors(), layout_.across).count;
    }
    std::string strips() { return b_.count(strip_count(), "strips"); }
    formula tile_count() const {
        const formula rows = points_of(s_.bit());
        if (!narrow_) return ceil_divide(rows, layout_.tile_rows);
        return ceil_divide(ceil_divide(rows, points_per_room(threads_, row_vectors())), rows_);
    }
    std::string tiles() { return b_.count(tile_count(), "tiles"); }
    std::string all_columns() { return b_.count(points_of(kept_bits()), "rows"); }

    /// This thread's columns and its place among the threads that share them.
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
            out.line("constexpr ", type, " height = ", layout_.height(), ";");
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
    void write_copied_index() override {
        source_writer& out = b_.code;
        out.line("const ", b_.linear(), " smem_index = u * ", threads_,
                 " + threadIdx.x, row = quotient(smem_index, p.by_across);");
        out.line("const ", b_.linear(), " at = tile * height * ", rows_,
                 " + row, column = (smem_index - row * p.across) * ", columns_, ";");
        out.line("const bool inside = row < height * ", rows_, " && at < ", scanned(), ";");
    }

    void look_back() {
        source_writer& out = b_.code;
        const std::uint32_t words = slot_words();
        codegen::scan_lanes(b_.needs);
        write_slots("strip", strips(), tiles());
        b_.step.scratch_count = points_of(kept_bits()) * ceil_divide(points_of(s_.bit()), run_ * layout_.tile_rows);
        declare_before_columns(b_, layout_);
        out.line("__shared__ ", b_.linear(), " numbers[", layout_.tile_columns, "];");
        open_columns();
        out.line("if (down == 0) numbers[x * ", columns_, " + e] = e < columns ? first_column + e : ~", b_.linear(),
                 "(0);");
        out.close();
        for (fold_writer& f : folds_) {
            out.line("__shared__ ", f.type(), " room_", f.name(), '[', columns_ * (threads_ + layout_.tile_columns),
                     "];");
            out.line("__shared__ ", f.wide_type(), " prefix_", f.name(), '[', layout_.tile_columns, "];");
            open_columns();
            out.line("if (down < height) room_", f.name(), "[", room_index(), "] = ", f.part(), "[e];");
            out.close();
        }
        out.line("__syncthreads();");
        for (std::size_t i = 0; i < folds_.size(); ++i) {
            fold_writer& f = folds_[i];
            const std::string joiner = f.joiner(), wide_joiner = f.wide_joiner();
            out.line("before_columns<", joiner, ", ", wide_joiner, ", ", words, ">(room_", f.name(), ", prefix_",
                     f.name(), ", numbers, slots", at(i), ", ", all_columns(), ", tile, p.across * ", columns_,
                     ", height, ", f.start(), ", ", f.wide_start(), ");");
        }
        out.line("__syncthreads();");
        write_arrival();
    }
    std::string room_index() const { return "(x * " + std::to_string(columns_) + " + e) * (height | 1) + down"; }

    std::string base_of(fold_writer& f) override {
        return behind(f, "prefix_" + f.name() + "[x * " + std::to_string(columns_) + " + e]",
                      "room_" + f.name() + '[' + room_index() + ']');
    }

    const long_column_scan_layout& layout_;
};

}  // namespace

/// Large tiles are chosen: fewer of them are published and polled, and each may wait longer.
long_column_scan_layout choose_long_columns(const cuda_kernel& b, const scanning& s) {
    constexpr std::uint32_t most_threads = 512;  // of a block, where several share a multiprocessor
    constexpr std::uint8_t short_class = 7;      // up to 2048 rows: of large tiles too much would be idle
    constexpr std::uint32_t most_beside = 40 << 10, fewest_chunks = 3;
    long_column_scan_layout c{begin_columns(b, s, most_threads)};
    c.resident_blocks = 2;
    if (s.length_class <= short_class && !c.narrow) c.threads = most_threads / 2, c.resident_blocks = 3;
    // Where all blocks share a few columns tiles wait for each other, and larger tiles wait less.
    if (has_few_rows(b) && s.length_class >= length_class::very_long && c.each > 1 && !c.narrow)
        c.threads = 2 * most_threads, c.resident_blocks = 1;
    const std::uint32_t narrow_across = parts(31, c.each);  // of the widest narrow array
    const auto tile_columns = [&] { return std::max(most_across(b, s, c), narrow_across) * c.each; };
    const auto beside = [&] {  // the part of a block's shared memory that is not the tile
        std::uint32_t bytes = 1024 + 8 * tile_columns();
        for (const node_id scan : s.scans)
            bytes += c.each * (c.threads + tile_columns()) * scan_bytes(b, scan) + 8 * tile_columns();
        return bytes;
    };
    while (c.threads > 32 && beside() > most_beside) c.threads /= 2;
    const std::uint32_t unit = std::max(unit_bytes(c), 4u);
    const auto most = [&] {
        const std::uint32_t memory = multiprocessor_bytes(b) / c.resident_blocks;
        return (memory - std::min(memory, beside())) / (c.threads * unit);
    };
    while (c.resident_blocks > 1 && most() < fewest_chunks) --c.resident_blocks;
    while (c.threads > 32 && most() < fewest_chunks) c.threads /= 2;
    // As many chunks as leave room for the blocks; odd, so that neighbours' rows begin in different banks.
    const std::uint32_t fit = std::clamp(most(), 1u, most_column_chunks);
    c.chunks = fit - (fit + 1) % 2;
    c.across = c.narrow ? narrow_across : most_across(b, s, c);
    c.tile_columns = tile_columns();
    c.tile_rows = c.height() * c.chunks;
    // For many short columns the slots of tiles that do not exist would take much memory.
    if (s.length_class < length_class::very_long)
        while (c.run > 1 && std::uint64_t{c.run / 2} * c.tile_rows >= longest_of(s.length_class)) c.run /= 2;
    c.columns_per_warp = std::clamp(c.tile_columns / (c.threads / 32), 1u, 2u);
    finish_columns(b, s, c);
    return c;
}

kernel_shape long_column_scan_layout::shape() const { return shape_of("look-back columns", thread_exchange::scratch); }

std::string long_column_scan_layout::reason() const {
    return rows_and_columns() + "tiles of " + std::to_string(threads) +
           " threads in shared memory look back: what is scanned is read once";
}

void long_column_scan_layout::write(cuda_kernel& b, const scanning& s) const { column_scan(b, s, *this).write(); }

}  // namespace ingot::codegen
