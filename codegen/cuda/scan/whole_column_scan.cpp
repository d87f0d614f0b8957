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
    using staged_columns::staged_columns;

    void write(plan& p) {
        write_columns();
        read_own();
        const auto outside = b_.body.scope();
        stage();
        fold();
        scan_down();
        write_results();
        b_.body.leave(outside);
        finish(p);
    }

private:
    /// Lanes of a column of a narrow array, and the groups of such lanes in a block.
    formula lanes() const { return ceil_divide(points_of(s_.bit()), rows_); }
    formula groups() const { return points_per_room(choice_.height(), lanes()); }

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
        out.line("constexpr ", type, " across = ", choice_.across, ";");
        const std::string height = b_.count(lanes(), "height"), all_groups = b_.count(groups(), "groups");
        out.line("const ", type, " height = ", height, ", groups = ", all_groups, ";");
        out.line("const ", type, " slot = threadIdx.x / across, x = threadIdx.x - slot * across;");
        out.line("const ", type, " group = quotient(slot, ", b_.divisor(lanes(), "by_height"),
                 "), down = slot - group * height;");
        out.line("const ", type, " first_outer = ", b_.wide() ? type + "(blockIdx.x)" : "blockIdx.x", " * groups;");
        out.line("const bool mine = group < groups && first_outer + group < ", outers, ";");
        if (!outer_.empty()) out.line("const ", type, " outer = min(first_outer + group, ", outers, " - 1);");
        out.line("const ", type, " column = x * ", columns_, ";");
        out.line("const ", type, " gap = ", scanned(), " * ", choice_.width, "u % 16 == 0 ? ", choice_.gap / columns_,
                 " : 0;");
    }
    void write_strip() {
        source_writer& out = b_.code;
        const even_pieces strips = balanced(vectors(), choice_.across);
        const std::string type = b_.linear(), all = b_.count(vectors(), "vectors"),
                          count = b_.count(strips.size, "across"), by = b_.divisor(strips.size, "by_across");
        b_.step.grid[0] = strips.count;
        out.line("constexpr ", type, " height = ", choice_.height(), ";");
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
        out.line("const ", type, " cells = ", scanned(), " * ", choice_.width, "u, first_cell = first_outer * cells;");
        out.line("const ", type, " end_cell = min(first_outer + groups, p.outers) * cells;");
        for (const staged_array& a : staged_)
            if (a.is_run || (a.has_result && choice_.stores_runs))
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
        const array_argument& of = *staged_[choice_.results[output]].of;
        const dtype type = b_.outputs[output].at->head.type;
        const std::string name = of.name + "_staged";
        return type == of.at->head.type ? name : "reinterpret_cast<const " + b_.needs.type(type) + "*>(" + name + ')';
    }
    void store_tile() override {
        source_writer& out = b_.code;
        out.line("__syncthreads();");
        if (!choice_.stores_runs) {
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
};

}  // namespace

void emit_whole_column_scan_cuda(cuda_kernel& b, const scanning& s, const scan_choice& c, plan& p) {
    whole_column_scan(b, s, c).write(p);
}

}  // namespace ingot::codegen
