// Scans of whole columns in a block, for CUDA, with the trees before and after them: no block waits for another. A
// block has up to 128 bytes of neighbouring columns in shared memory (cuda/scan/staged_columns.hpp); in narrow arrays,
// whose width is in the key, it has as many places of the outer axes as it has threads for.
#include <algorithm>

#include "codegen/cuda/scan/staged_columns.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

class whole_column_scan final : staged_columns {
public:
    whole_column_scan(cuda_kernel& b, const scanning& s, const whole_column_scan_layout& c)
        : staged_columns(b, s, c, c.narrow ? "across" : "p.across"), layout_(c) {}

    void write() {
        write_columns();
        read_own();
        const auto outside = b_.body.scope();
        stage();
        fold();
        scan_down();
        write_results();
        b_.body.leave(outside);
    }

private:
    /// Lanes of a column of a narrow array, and the groups of such lanes in a block.
    formula lanes() const { return ceil_divide(points_of(s_.bit()), rows_); }
    formula groups() const { return points_per_room(layout_.height(), lanes()); }

    /// This thread's columns, and its place among the threads that share them.
    void write_columns() {
        source_writer& out = b_.code;
        narrow_ ? write_groups() : write_strip();
        const std::string type = b_.linear();
        if (!outer_.empty()) b_.write_digits("outer", outer_);
        out.line("const ", type, " columns = mine ? ", columns_from("column"), " : 0;");
        out.line("const ", b_.signed_index(), ' ', digit(inner_), " = ", b_.signed_index(), "(column);");
        out.line("const ", type, " first = down * ", rows_,
                 ", own_smem_index = ", narrow_ ? "group * (" + scanned() + " * across + gap) + " : "", "first * ",
                 across_, " + x;");
        if (narrow_) out.line("const ", type, " last = ", scanned(), " - 1 - first;");
    }
    void write_groups() {
        source_writer& out = b_.code;
        const std::string type = b_.linear(), outers = b_.count(points_of(outer_bits()), "outers");
        b_.step.grid[0] = ceil_divide(points_of(outer_bits()), groups());
        out.line("constexpr ", type, " across = ", layout_.across, ";");
        const std::string height = b_.count(lanes(), "height"), all_groups = b_.count(groups(), "groups");
        out.line("const ", type, " height = ", height, ", groups = ", all_groups, ";");
        out.line("const ", type, " slot = threadIdx.x / across, x = threadIdx.x - slot * across;");
        out.line("const ", type, " group = quotient(slot, ", b_.divisor(lanes(), "by_height"),
                 "), down = slot - group * height;");
        out.line("const ", type, " first_outer = ", b_.wide() ? type + "(blockIdx.x)" : "blockIdx.x", " * groups;");
        out.line("const bool mine = group < groups && first_outer + group < ", outers, ";");
        if (!outer_.empty()) out.line("const ", type, " outer = min(first_outer + group, ", outers, " - 1);");
        out.line("const ", type, " column = x * ", columns_, ";");
        out.line("const ", type, " gap = ", scanned(), " * ", layout_.width, "u % 16 == 0 ? ", layout_.gap / columns_,
                 " : 0;");
    }
    void write_strip() {
        source_writer& out = b_.code;
        const even_pieces strips = balanced(vectors(), layout_.across);
        const std::string type = b_.linear(), all = b_.count(vectors(), "vectors"),
                          count = b_.count(strips.size, "across"), by = b_.divisor(strips.size, "by_across");
        b_.step.grid[0] = strips.count;
        out.line("constexpr ", type, " height = ", layout_.height(), ";");
        out.line("const ", type, " down = quotient(threadIdx.x, ", by, "), x = threadIdx.x - down * ", count, ";");
        out.line("const ", type, " own = ", b_.wide() ? type + "(blockIdx.x)" : "blockIdx.x", " * ", count, " + x;");
        out.line("const bool mine = own < ", all, " && down < height;");
        out.line("const ", type, " vector = min(own, ", all, " - 1);");
        if (outer_.empty()) {
            out.line("const ", type, " column = vector * ", columns_, ";");
        } else {
            out.line("const ", type, " outer = quotient(vector, ", b_.divisor(row_vectors(), "by_row"), ");");
            out.line("const ", type, " column = (vector - outer * ", b_.count(row_vectors(), "row_vectors"), ") * ",
                     columns_, ";");
        }
    }

    // ---- narrow arrays: the block's places of the outer axes lie behind each other, with gaps where their
    // neighbouring threads would meet the same banks

    std::string row_of_thread() const override { return narrow_ ? "(u < last ? u : last)" : "u"; }

    /// Copies whole vectors of a run of memory: in shared memory it begins at the same offset within a vector.
    void add_runs() {
        const std::string begin =
            "(type* to, const type* from, index first, index end, unsigned int gap, divisor run) "
            "{\n"
            "    constexpr unsigned int each = 16 / sizeof(type), threads = " +
            std::to_string(threads_) +
            ";\n"
            "    const unsigned int begin = first % each, n = end - first + begin, chunks = n / "
            "each;\n"
            "    const auto padded = [=](unsigned int q) { return q + gap / each * (unsigned "
            "int)quotient(q * each, run); };\n";
        const auto function = [](const char* name) {
            return std::string("template <class type, class index>\n__device__ __forceinline__ void ") + name;
        };
        b_.needs.add(
            "load_run",
            "/// Copies elements [first, end) to shared memory by whole vectors, with a gap after each run.\n" +
                function("load_run") + begin +
                "    to -= begin, from += first - begin;\n"
                "    for (unsigned int q = threadIdx.x; q < chunks; q += threads)\n        " +
                b_.copier(16) +
                "(reinterpret_cast<uint4*>(to) + padded(q), reinterpret_cast<const uint4*>(from) + "
                "q);\n"
                "    const unsigned int i = chunks * each + threadIdx.x;\n"
                "    if (i < n) to[i] = from[i];\n}\n");
        b_.needs.add("store_run", "/// Stores elements [first, end) from shared memory, where load_run() put them.\n" +
                                      function("store_run") + begin +
                                      "    to += first - begin, from -= begin;\n"
                                      "    for (unsigned int q = threadIdx.x + (begin > 0); q < chunks; q += threads)\n"
                                      "        __stcs(reinterpret_cast<uint4*>(to) + q, reinterpret_cast<const "
                                      "uint4*>(from)[padded(q)]);\n"
                                      "    const unsigned int i = begin + threadIdx.x, k = max(chunks * each, begin) + "
                                      "threadIdx.x;\n"
                                      "    if (i < min(n, begin > 0 ? each : 0)) to[i] = from[i];\n"
                                      "    if (k < n) to[k] = from[k];\n}\n");
    }
    /// The last arguments of load_run and store_run.
    std::string run_text() {
        return ", first_cell, end_cell, gap * " + std::to_string(columns_) + ", " +
               b_.divisor(points_of(s_.bit() | axis_bit(inner_)), "by_cells");
    }

    void stage() override {
        if (!narrow_) return staged_columns::stage();
        source_writer& out = b_.code;
        declare_staged();
        add_runs();
        const std::string type = b_.linear();
        out.line("const ", type, " cells = ", scanned(), " * ", layout_.width, "u, first_cell = first_outer * cells;");
        out.line("const ", type, " end_cell = min(first_outer + groups, p.outers) * cells;");
        for (const staged_array& a : staged_)
            if (a.is_run || (a.has_result && layout_.stores_runs))
                out.line(a.of->name, "_staged += first_cell % ", 16 / a.bytes, ";");
        bool all_runs = true;
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            all_runs = all_runs && staged_[i].is_run;
            if (staged_[i].is_run)
                out.line("load_run(", inputs_[i]->name, "_staged, ", b_.pointer(*inputs_[i]), run_text(), ");");
        }
        if (!all_runs) {
            open_copied_elements();
            for (std::size_t i = 0; i < inputs_.size(); ++i)
                if (!staged_[i].is_run) copy(*inputs_[i], staged_[i]);
            out.close();
        }
        if (inputs_.empty()) return;
        b_.wait_for_copies();
        out.line("__syncthreads();");
    }

    /// The loop over the block's places.
    void open_copied_elements() {
        source_writer& out = b_.code;
        const std::string type = b_.linear();
        out.margin("#pragma unroll 4");
        out.open("for (", type, " i = threadIdx.x; i < (min(first_outer + groups, p.outers) - first_outer) * ",
                 scanned(), " * across; i += ", threads_, ")");
        out.line("const ", type, " row = i / across, group = quotient(row, ",
                 b_.divisor(points_of(s_.bit()), "by_scanned"), "), at = row - group * ", scanned(), ";");
        out.line("const ", type,
                 " smem_index = i + group * gap, outer = first_outer + group, column = (i - row * across) * ", columns_,
                 ";");
        if (columns_ > 1) out.line("const ", type, " columns = ", columns_from("column"), ";");
        if (!outer_.empty()) b_.write_digits("outer", outer_);
        b_.write_digits("at", {s_.axis});
        out.line("const ", b_.signed_index(), ' ', digit(inner_), " = ", b_.signed_index(), "(column);");
    }

    void stage_row() override {
        b_.code.open("if (at < ", scanned(), ")");
        staged_columns::stage_row();
        b_.code.close();
    }
    /// The address of an output's elements; the input that they replace may be of another type.
    std::string staged_result(std::size_t output) {
        const array_argument& of = *staged_[layout_.results[output]].of;
        const dtype type = b_.outputs[output].at->head.type;
        const std::string name = of.name + "_staged";
        return type == of.at->head.type ? name : "reinterpret_cast<const " + b_.needs.type(type) + "*>(" + name + ')';
    }
    void store_tile() override {
        source_writer& out = b_.code;
        out.line("__syncthreads();");
        if (!layout_.stores_runs) {
            open_copied_elements();
            store_staged_row();
            out.close();
            return;
        }
        for (std::size_t o = 0; o < b_.outputs.size(); ++o)
            out.line("store_run(", b_.pointer(b_.outputs[o]), ", ", staged_result(o), run_text(), ");");
    }

    /// The prefix ahead of each thread's rows, in as many steps as the number of threads has binary digits.
    void scan_down() {
        source_writer& out = b_.code;
        std::string text =
            "/// Scans n values per thread exclusively down the thread rows of a block; each row has `across` "
            "threads.\n"
            "template <class fold, int threads, class type, int n>\n"
            "__device__ __forceinline__ void scan_down(type (&v)[n], type* room, INDEX down, INDEX height, INDEX "
            "across,\n                                          type start) {\n"
            "    type* const own = room + threadIdx.x;\n"
            "    for (INDEX far = 1; far < height; far *= 2) {\n"
            "#pragma unroll\n"
            "        for (int e = 0; e < n; ++e) own[e * threads] = v[e];\n"
            "        __syncthreads();\n"
            "#pragma unroll\n"
            "        for (int e = 0; e < n; ++e)\n"
            "            if (down >= far) v[e] = fold::join(own[int(e * threads) - int(far * across)], v[e]);\n"
            "        __syncthreads();\n"
            "    }\n"
            "#pragma unroll\n"
            "    for (int e = 0; e < n; ++e) own[e * threads] = v[e];\n"
            "    __syncthreads();\n"
            "#pragma unroll\n"
            "    for (int e = 0; e < n; ++e) v[e] = down == 0 ? start : own[int(e * threads) - int(across)];\n}\n";
        for (std::size_t i = 0; (i = text.find("INDEX", i)) != std::string::npos;) text.replace(i, 5, b_.linear());
        b_.needs.add("scan_down", text);
        for (fold_writer& f : folds_) {
            out.line("__shared__ ", f.type(), " room_", f.name(), '[', columns_ * threads_, "];");
            out.line("scan_down<", f.joiner(), ", ", threads_, ">(", f.part(), ", room_", f.name(), ", down, height, ",
                     across_, ", ", f.start(), ");");
        }
    }
    std::string base_of(fold_writer& f) override { return f.part() + "[e]"; }

    const whole_column_scan_layout& layout_;
};

/// Whether an array lies in memory as the block has it in shared memory, all outer places behind each other.
bool is_run(const cuda_kernel& b, const scanning& s, const whole_column_scan_layout& c, const array_argument& at,
            std::uint64_t moves) {
    return at.at->head.dense && moves == axis_range(0, b.rank) && s.axis == b.rank - 2 && c.width % c.each == 0;
}

/// A block has as many outer places of narrow arrays as it has threads for, with gaps against bank conflicts between
/// them. Returns whether the longest columns of the class fit.
bool fit_narrow_columns(const cuda_kernel& b, const scanning& s, whole_column_scan_layout& c, std::uint32_t longest,
                        std::uint32_t most_threads) {
    constexpr std::uint32_t few = 17, some = 33;            // chunks
    constexpr std::uint8_t middling = 5, long_columns = 7;  // classes
    c.width = b.key.axes[static_cast<std::size_t>(b.rank - 1)].extent;
    if (c.width == 0) return false;
    c.across = parts(c.width, c.each);
    c.chunks = s.length_class < middling       ? std::min(few, longest)
               : s.length_class < long_columns ? some
                                               : most_column_chunks;
    const auto lanes = [&] { return c.across * parts(longest, c.chunks); };
    while (c.threads < most_threads && lanes() > c.threads) c.threads *= 2;
    while (c.chunks < most_column_chunks && lanes() > c.threads) c.chunks += 16;
    if (lanes() > c.threads) return false;
    std::uint32_t least = 8;  // bytes of an element, so that a gap is whole vectors of all arrays
    for (const column_tile::staged_array& a : c.staged) least = std::min(least, a.bytes);
    c.gap = std::max(16 / least, c.each);
    for (column_tile::staged_array& a : c.staged) a.spare = 16 + c.height() * c.gap * a.bytes;
    const std::vector<const array_argument*> inputs = inputs_along(b, s);
    for (std::size_t i = 0; i < inputs.size(); ++i)
        c.staged[i].is_run = is_run(b, s, c, *inputs[i], b.graph.nodes[inputs[i]->node].axes);
    c.stores_runs = std::ranges::all_of(
        b.outputs, [&](const array_argument& z) { return is_run(b, s, c, z, axis_range(0, b.rank)); });
    return true;
}

bool fit_strips_of_columns(const cuda_kernel& b, const scanning& s, whole_column_scan_layout& c, std::uint32_t longest,
                           std::uint32_t most_threads) {
    constexpr std::uint8_t shortest_class = 2, longest_class = 5;
    constexpr std::uint32_t some = 33;  // chunks
    if (s.length_class < shortest_class || s.length_class > longest_class) return false;
    const auto chunks = [&] {
        c.across = most_across(b, s, c);
        return parts(longest, c.height());
    };
    while (chunks() > some && c.threads < most_threads) c.threads *= 2;
    c.chunks = chunks() | 1;  // odd: neighbours' rows then begin in different banks
    return true;
}

}  // namespace

std::optional<whole_column_scan_layout> choose_whole_columns(const cuda_kernel& b, const scanning& s) {
    constexpr std::uint32_t least_threads = 256, most_threads = 512;
    constexpr std::uint32_t resident_threads = 1024;  // for which there are registers enough
    constexpr std::uint32_t most_bytes = 40 << 10;    // of the values that threads exchange
    whole_column_scan_layout c{begin_columns(b, s, least_threads)};
    const std::uint32_t longest = s.longest();
    if (!(c.narrow ? fit_narrow_columns : fit_strips_of_columns)(b, s, c, longest, most_threads)) return std::nullopt;
    if (c.chunks > most_column_chunks) return std::nullopt;
    finish_columns(b, s, c);
    const std::uint32_t exchange = c.each * c.threads * 8 * static_cast<std::uint32_t>(s.scans.size());
    c.resident_blocks =
        std::min(multiprocessor_bytes(b) / (c.shared_bytes + exchange + 1024), resident_threads / c.threads);
    if (c.resident_blocks == 0 || exchange > most_bytes) return std::nullopt;
    return c;
}

kernel_shape whole_column_scan_layout::shape() const { return shape_of("whole columns", thread_exchange::block); }

std::string whole_column_scan_layout::reason() const {
    return rows_and_columns() + (narrow ? "some outer places' columns" : "whole columns") + " a block of " +
           std::to_string(threads) +
           " threads in shared memory: they fit, what is scanned is read once, none waits for another";
}

void whole_column_scan_layout::write(cuda_kernel& b, const scanning& s) const {
    whole_column_scan(b, s, *this).write();
}

}  // namespace ingot::codegen
