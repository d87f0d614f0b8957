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
    using staged_columns::staged_columns;

    void write(plan& p) {
        write_tiles();
        finish(p);
    }

private:
    formula across() const { return narrow_ ? row_vectors() : balanced(vectors(), choice_.across).size; }
    formula strip_count() const {
        return narrow_ ? points_of(outer_bits()) : balanced(vectors(), choice_.across).count;
    }
    std::string strips() { return b_.count(strip_count(), "strips"); }
    formula tile_count() const {
        const formula rows = points_of(s_.bit());
        if (!narrow_) return ceil_divide(rows, choice_.tile_rows);
        return ceil_divide(ceil_divide(rows, points_per_room(threads_, row_vectors())), rows_);
    }
    std::string tiles() { return b_.count(tile_count(), "tiles"); }
    std::string all_columns() { return b_.count(points_of(kept_bits()), "rows"); }

    // ---- the tile

    void write_tiles() {
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
            out.line("constexpr ", type, " height = ", choice_.height(), ";");
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
        b_.step.scratch_count = points_of(kept_bits()) * ceil_divide(points_of(s_.bit()), run_ * choice_.tile_rows);
        declare_before_columns(b_, choice_);
        out.line("__shared__ ", b_.linear(), " numbers[", choice_.tile_columns, "];");
        open_columns();
        out.line("if (down == 0) numbers[x * ", columns_, " + e] = e < columns ? first_column + e : ~", b_.linear(),
                 "(0);");
        out.close();
        for (fold_writer& f : folds_) {
            out.line("__shared__ ", f.type(), " room_", f.name(), '[', columns_ * (threads_ + choice_.tile_columns),
                     "];");
            out.line("__shared__ ", f.wide_type(), " prefix_", f.name(), '[', choice_.tile_columns, "];");
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
};

}  // namespace

void emit_column_scan_cuda(cuda_kernel& b, const scanning& s, const scan_choice& c, plan& p) {
    column_scan(b, s, c).write(p);
}

}  // namespace ingot::codegen
