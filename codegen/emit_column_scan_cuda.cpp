// Scans across memory for CUDA, with the trees before and after them. Short columns: a thread has a column, neighbours
// read neighbours. Longer ones are cut into tiles that look back (cuda_scan.hpp), of up to 128 bytes across: a thread
// has a few rows of up to 16 bytes of neighbouring columns in registers, `across` threads lie beside each other, the
// others below.
#include <algorithm>

#include "codegen/cuda_scan.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

constexpr std::uint8_t tile_bucket = 6;      // columns of more than 512 elements
constexpr std::uint32_t threads = 256;       // of a block
constexpr std::uint32_t column_loads = 8;    // of a thread with a whole column, in flight
constexpr std::uint32_t across_bytes = 128;  // of a row of a tile
constexpr std::uint32_t thread_bytes = 128;  // of one array's elements that a thread holds
constexpr std::uint32_t most_columns = 4;    // of a thread

class column_scan : cuda_scan {
public:
    column_scan(const key& k, const graph& g, const scanning& s)
        : cuda_scan(k, g, s), kept_(axes_without(b_.rank, s.axis)), inner_(b_.rank - 1) {
        outer_.assign(kept_.begin(), kept_.end() - 1);
        tiles_ = s.bucket >= tile_bucket;
        if (!tiles_) {
            unroll_ = column_loads;
            return;
        }
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
        b_.step.pattern = "column scan";
        tiles_ ? write_tiles() : write_threads();
        b_.step.reason = tiles_ ? std::to_string(unroll_) + " rows of " + std::to_string(columns_) +
                                      " columns a thread, tiles of them look back"
                                : "a thread a column, neighbours read neighbours";
        finish(p, threads, std::to_string(threads) + (tiles_ ? ", 3" : ""));
    }

private:
    std::uint64_t outer_bits() const { return kept_bits() & ~axis_bit(inner_); }

    // ---- a thread a column

    void write_threads() {
        source_writer& out = b_.code;
        const std::string index = b_.linear(), n = scanned();
        b_.step.grid[0] = {.axes = kept_bits(), .divide_by = threads};
        out.line("const ", index, " row = ", b_.thread_index(threads), ";");
        out.line("if (row >= ", b_.count({.axes = kept_bits()}, "rows"), ") return;");
        b_.write_digits("row", kept_);
        read_fixed();
        for (fold_writer& f : folds_) out.line(f.wide_type(), ' ', f.name(), " = ", f.wide_start(), ";");
        const std::string unroll = std::to_string(unroll_);
        out.line(index, " first = 0;");
        out.open("for (; first + ", unroll, " <= ", n, "; first += ", unroll, ")");
        write_part(unroll_);
        out.close();
        out.open("for (; first < ", n, "; ++first)");
        write_part(1);
        out.close();
    }

    void write_part(std::uint32_t count) {
        source_writer& out = b_.code;
        const auto outside = b_.body.scope();
        const std::vector<const place*> inputs = inputs_along();
        for (const place* in : inputs) {
            out.line(b_.needs.type(in->at->head.type), ' ', in->name, '[', count, "];");
            b_.body.name(in->node, in->name + "[u]");
        }
        if (!inputs.empty()) {
            open_unrolled("u", count);
            b_.write_digits("first + u", {s_.axis});
            for (const place* in : inputs)
                out.line(in->name, "[u] = ", b_.element(*in, b_.offset(*in, all_bits())), ";");
            out.close();
        }
        open_unrolled("u", count);
        b_.write_digits("first + u", {s_.axis});
        for (const node_id g : generators_along()) b_.body.name(g, random_element(g, all_bits()));
        for (fold_writer& f : folds_) {
            out.line(f.name(), " = ", f.wide_joiner(), "::join(", f.name(), ", ", b_.body.value(f.value(), out), ");");
            b_.body.name(f.reduction(), f.wide_type() == f.type() ? f.name() : f.type() + '(' + f.name() + ')');
        }
        std::vector<std::string> values;
        for (const node_id root : b_.graph.roots) values.push_back(b_.body.value(root, out));
        for (std::size_t k = 0; k < b_.outputs.size(); ++k)
            b_.store_element(b_.outputs[k], b_.offset(b_.outputs[k], all_bits()), values[k]);
        out.close();
        b_.body.leave(outside);
    }

    // ---- tiles

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
            out.open("for (", b_.linear(), " t = begin + down; mine && t < end; t += height)");
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
        open_unrolled("e", columns_);
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
        open_unrolled("u", unroll_);
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
        open_unrolled("u", unroll_);
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
        declare_scan_down();
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

    void declare_scan_down() {
        const std::string index = b_.linear(), block = std::to_string(threads);
        b_.needs.add(
            "scan_down",
            "/// Makes of each column's v what lies before it in the rows of threads above. Returns, to the threads of "
            "the\n"
            "/// first rows, what all of column number `down` of those that lie here folds to.\n"
            "template <class fold, class type, int n>\n"
            "__device__ __forceinline__ type scan_down(type (&v)[n], void* room, type start, " +
                index + " across, " + index + " x,\n                                          " + index + " down, " +
                index +
                " height) {\n"
                "    type* const own = static_cast<type*>(room) + threadIdx.x;\n"
                "#pragma unroll\n"
                "    for (int e = 0; e < n; ++e) own[e * " +
                block +
                "] = v[e];\n"
                "    for (" +
                index +
                " far = 1; far < height; far *= 2) {\n"
                "        __syncthreads();\n"
                "        type left[n];\n"
                "#pragma unroll\n"
                "        for (int e = 0; e < n; ++e) left[e] = down < far ? start : (own - far * across)[e * " +
                block +
                "];\n"
                "        __syncthreads();\n"
                "#pragma unroll\n"
                "        for (int e = 0; e < n; ++e)\n"
                "            if (down >= far) own[e * " +
                block +
                "] = v[e] = fold::join(left[e], v[e]);\n"
                "    }\n"
                "    __syncthreads();\n"
                "#pragma unroll\n"
                "    for (int e = 0; e < n; ++e) v[e] = down == 0 ? start : (own - across)[e * " +
                block +
                "];\n"
                "    const type all = static_cast<type*>(room)[min(down, " +
                index + "(n - 1)) * " + block +
                " + (height - 1) * across + x];\n"
                "    __syncthreads();  // the next fold writes the same place\n"
                "    return all;\n}\n");
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
        declare_before_tile();
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

    void declare_before_tile() {
        const std::string index = b_.linear();
        std::string text =
            "/// A row of slots of a thread's columns, into shared memory; waits for them.\n"
            "template <int words, int n, class type>\n"
            "__device__ __forceinline__ void ask_row(type* told, const uint64* slot, INDEX columns) {\n"
            "    type v[n];\n"
            "    for (bool all = false; !all;) {\n"
            "        all = true;\n"
            "#pragma unroll\n"
            "        for (int e = 0; e < n; ++e)\n"
            "            if (e < columns) all = ask(slot + e * words, v[e]) && all;\n"
            "    }\n"
            "#pragma unroll\n"
            "    for (int e = 0; e < n; ++e)\n"
            "        if (e < columns) told[e] = v[e];\n"
            "}\n\n"
            "/// What lies before a tile in each of its columns, into the last of the 32 rows of `told`; tells what "
            "others\n"
            "/// wait for. The thread of column x and row `down` answers for column number `down` of those of its x, "
            "which\n"
            "/// here folds to `own`.\n"
            "template <class fold, int words, int n, class type>\n"
            "__device__ __forceinline__ void before_tile(type* told, uint64* first, uint64 further, uint64 tile, type "
            "own,\n                                            type start, INDEX across, INDEX x, INDEX down, INDEX "
            "height,\n                                            INDEX columns) {\n"
            "    const uint32 number = uint32(tile % 256), tiles = number % 16, sixteens = number / 16;\n"
            "    const INDEX width = across * n;\n"
            "    uint64* const slot = first + down * words;\n"
            "    if (down < columns && tiles != 15) tell(slot, own);\n"
            "    for (INDEX r = down; r < tiles; r += height)\n"
            "        ask_row<words, n>(told + r * width + x * n, first - (tiles - r) * further, columns);\n"
            "    __syncthreads();\n"
            "    type near = start;\n"
            "    if (down < columns) {\n"
            "        for (uint32 r = 0; r < tiles; ++r) near = fold::join(near, told[r * width + x * n + down]);\n"
            "        if (tiles == 15 && sixteens != 15) tell(slot, fold::join(near, own));\n"
            "    }\n"
            "    type* const farther = told + 15 * width;\n"
            "    for (INDEX r = down; r <= sixteens; r += height)\n"
            "        if (r > 0 || tile >= 256)\n"
            "            ask_row<words, n>(farther + r * width + x * n, first - (number + 1 - 16 * r) * further, "
            "columns);\n"
            "    __syncthreads();\n"
            "    if (down < columns) {\n"
            "        type before = start;\n"
            "        for (uint32 r = tile < 256 ? 1 : 0; r <= sixteens; ++r)\n"
            "            before = fold::join(before, farther[r * width + x * n + down]);\n"
            "        before = fold::join(before, near);\n"
            "        if (number == 255) tell(slot, fold::join(before, own));\n"
            "        told[31 * width + x * n + down] = before;\n"
            "    }\n"
            "    __syncthreads();\n}\n";
        for (std::size_t i = 0; (i = text.find("INDEX", i)) != std::string::npos;) text.replace(i, 5, index);
        b_.needs.add("before_tile", text);
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
        open_unrolled("u", unroll_);
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
    bool tiles_ = false, narrow_ = false;
    std::uint32_t columns_ = 1, unroll_ = 1;
};

}  // namespace

void emit_column_scan_cuda(const key& k, const graph& g, const scanning& s, plan& p) { column_scan(k, g, s).write(p); }

}  // namespace ingot::codegen
