// Scans of long columns for CUDA, with the trees before and after them, in one pass: columns are cut into tiles that
// look back (cuda_scan.hpp), of up to 128 bytes across. A tile is in shared memory (staged_columns_cuda.hpp), for the
// larger the tiles are, the less do they ask of each other and the longer may they wait. Of narrow arrays a tile is all
// that lies between its first row and its last.
#include <algorithm>

#include "codegen/staged_columns_cuda.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

constexpr std::uint32_t most_threads = 512;  // of a block, where several share a multiprocessor
constexpr std::uint32_t most_rows = 65;      // of a thread
constexpr std::uint8_t short_bucket = 7;     // up to 2048 rows: of large tiles too much would be idle

class column_scan final : staged_columns {
public:
    column_scan(const key& k, const graph& g, const scanning& s) : staged_columns(k, g, s, most_threads) {}

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

    void choose_shape() {
        if (s_.bucket <= short_bucket && !narrow_) threads_ = most_threads / 2, blocks_ = 3;
        // Where all blocks share a few columns the tiles wait for each other, the less the larger they are.
        const bool few = (b_.key.axes[0].bucket & bucket::few_rows) != 0;
        if (few && s_.bucket >= bucket::very_long && columns_ > 1 && !narrow_) threads_ = 2 * most_threads, blocks_ = 1;
        constexpr std::uint32_t most_beside = 40 << 10;  // of a block's shared memory
        while (threads_ > 32 && other_bytes() > most_beside) threads_ /= 2;
        const std::uint32_t unit = std::max(unit_bytes(), 4u);
        const auto most = [&] {
            const std::uint32_t memory = memory_of_processor() / blocks_;
            return (memory - std::min(memory, other_bytes())) / (threads_ * unit);
        };
        while (blocks_ > 1 && most() < 3) --blocks_;
        while (threads_ > 32 && most() < 3) threads_ /= 2;
        // As many as leave room for the blocks, and odd: neighbours' rows then begin in different banks.
        const std::uint32_t fit = std::clamp(most(), 1u, most_rows);
        rows_ = fit - (fit + 1) % 2;
        // Of many short columns slots for tiles that none has would be much memory.
        if (s_.bucket < bucket::very_long)
            while (run_ > 1 && std::uint64_t{run_ / 2} * least_tile() >= std::uint64_t{16} << s_.bucket) run_ /= 2;
    }
    /// Rows of the shortest tile.
    std::uint32_t least_tile() const { return (narrow_ ? threads_ / narrow_vectors() : height()) * rows_; }
    /// What of a block's shared memory is not the tile.
    std::uint32_t other_bytes() const {
        std::uint32_t bytes = 1024 + 8 * tile_columns();
        for (const node_id scan : s_.scans)
            bytes += columns_ * (threads_ + tile_columns()) *
                         static_cast<std::uint32_t>(size_of(b_.graph.nodes[scan].type)) +
                     8 * tile_columns();
        return bytes;
    }

    /// Rows of threads: of a narrow array as many as its rows leave room for.
    std::uint32_t height() const { return threads_ / most_across(); }
    /// Of the widest narrow array.
    std::uint32_t narrow_vectors() const { return (31 + columns_ - 1) / columns_; }
    /// Columns of a tile.
    std::uint32_t tile_columns() const { return std::max(most_across(), narrow_vectors()) * columns_; }

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
    void write_copied_place() override {
        source_writer& out = b_.code;
        out.line("const ", b_.linear(), " place = u * ", threads_,
                 " + threadIdx.x, row = quotient(place, p.by_across);");
        out.line("const ", b_.linear(), " at = tile * height * ", rows_, " + row, column = (place - row * p.across) * ",
                 columns_, ";");
        out.line("const bool inside = row < height * ", rows_, " && at < ", scanned(), ";");
    }

    void look_back() {
        source_writer& out = b_.code;
        const std::uint32_t words = slot_words();
        declare_scan_lanes();
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
            const std::string joiner = f.joiner(), wide_joiner = f.wide_joiner();
            out.line("before_columns<", joiner, ", ", wide_joiner, ", ", words, ">(room_", f.name(), ", told_",
                     f.name(), ", numbers, slots", at(i), ", ", all_columns(), ", tile, p.across * ", columns_,
                     ", height, ", f.start(), ", ", f.wide_start(), ");");
        }
        out.line("__syncthreads();");
        write_arrival(threads_);
    }
    std::string room_place() const { return "(x * " + std::to_string(columns_) + " + e) * (height | 1) + down"; }

    std::string base_of(fold_writer& f) override {
        return behind(f, "told_" + f.name() + "[x * " + std::to_string(columns_) + " + e]",
                      "room_" + f.name() + '[' + room_place() + ']');
    }
};

}  // namespace

void emit_column_scan_cuda(const key& k, const graph& g, const scanning& s, plan& p) { column_scan(k, g, s).write(p); }

}  // namespace ingot::codegen
