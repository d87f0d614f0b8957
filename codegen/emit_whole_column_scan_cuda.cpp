// Scans of columns that a block has whole, for CUDA, with the trees before and after them: nobody waits for another
// block. A block has up to 128 bytes of neighbouring columns in shared memory (staged_columns_cuda.hpp); of narrow
// arrays, whose width the key tells, as many places of the outer axes as it has threads for.
#include <algorithm>

#include "codegen/staged_columns_cuda.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

constexpr std::uint32_t most_rows = 65, fine_rows = 33;  // of a thread
constexpr std::uint32_t least_threads = 256, most_threads = 512;

std::uint32_t odd(std::uint32_t n) { return n | 1; }
std::uint32_t parts(std::uint32_t n, std::uint32_t size) { return (n + size - 1) / size; }

class whole_column_scan final : staged_columns {
public:
    whole_column_scan(const key& k, const graph& g, const scanning& s) : staged_columns(k, g, s, least_threads) {
        wide_ = k.axes[static_cast<std::size_t>(inner_)].fine;
        if (narrow_) across_ = "across";
    }

    /// Whether a block has room for the longest columns of the class.
    bool choose_shape() {
        constexpr std::uint8_t shortest = 2, longest_of_strip = 5;  // classes
        if (narrow_ ? wide_ == 0 : s_.bucket < shortest || s_.bucket > longest_of_strip) return false;
        const std::uint32_t longest = 16u << s_.bucket;
        if (narrow_) {
            static constexpr std::uint32_t rows[] = {5, 9, 17, 17, 33, 33};  // of columns of each length class
            rows_ = s_.bucket <= std::size(rows) ? rows[s_.bucket - 1] : most_rows;
            while (rows_ < most_rows && vectors_beside() * parts(longest, rows_) > threads_) rows_ += 16;
            while (threads_ < most_threads && vectors_beside() * parts(longest, rows_) > threads_) threads_ *= 2;
            if (vectors_beside() * parts(longest, rows_) > threads_) return false;
        } else {
            while (threads_ < most_threads && parts(longest, height()) > fine_rows) threads_ *= 2;
            rows_ = odd(parts(longest, height()));
        }
        if (rows_ > most_rows) return false;
        const std::uint32_t bytes = staged_bytes() + room_bytes() + 1024, memory = memory_of_processor();
        constexpr std::uint32_t most_resident = 1024;  // threads, whose registers suffice
        constexpr std::uint32_t most_room = 40 << 10;
        blocks_ = std::min(memory / bytes, most_resident / threads_);
        return blocks_ > 0 && room_bytes() <= most_room;
    }

    void write(plan& p) {
        b_.name_scalars();
        write_columns();
        read_own();
        const auto outside = b_.body.scope();
        stage();
        fold();
        scan_down();
        write_results();
        b_.body.leave(outside);
        b_.step.pattern = "column scan";
        b_.step.reason = std::to_string(rows_) + " rows of " + std::to_string(columns_) + " columns a thread, " +
                         (narrow_ ? "some outer places' columns" : "whole columns") + " a block of " +
                         std::to_string(threads_) +
                         " threads in shared memory: they fit, what is scanned is read once, none waits for another";
        b_.step.shared_bytes = staged_bytes();
        finish(p, threads_, std::to_string(threads_) + ", " + std::to_string(blocks_));
    }

private:
    /// Threads beside each other of a narrow array.
    std::uint32_t vectors_beside() const { return parts(wide_, columns_); }
    std::uint32_t height() const { return threads_ / most_across(); }
    std::uint32_t room_bytes() const { return columns_ * threads_ * 8 * static_cast<std::uint32_t>(s_.scans.size()); }
    /// Lanes of a column of a narrow array, and how many groups of them a block has.
    formula lanes() const { return {.axes = s_.bit(), .divide_by = rows_}; }
    formula groups() const {
        return {.axes = outer_bits(), .inner = s_.bit(), .inner_divide = rows_, .room = threads_ / vectors_beside()};
    }

    /// This thread's columns, and its place among those that share them.
    void write_columns() {
        source_writer& out = b_.code;
        narrow_ ? write_groups() : write_strip();
        const std::string type = b_.linear();
        if (!outer_.empty()) b_.write_digits("outer", outer_);
        out.line("const ", type, " columns = mine ? ", columns_from("column"), " : 0;");
        out.line("const ", b_.signed_index(), ' ', digit(inner_), " = ", b_.signed_index(), "(column);");
        out.line("const ", type, " first = down * ", rows_, ", own_place = ", narrow_ ? "slot" : "down", " * ", rows_,
                 " * ", across_, " + x;");
    }
    void write_groups() {
        source_writer& out = b_.code;
        const std::string type = b_.linear(), outers = b_.count({.axes = outer_bits()}, "outers");
        formula together = groups();
        b_.step.grid[0] = together;
        together.of_room = true;
        out.line("constexpr ", type, " across = ", vectors_beside(), ";");
        out.line("const ", type, " height = ", b_.count(lanes(), "height"), ", groups = ", b_.count(together, "groups"),
                 ";");
        out.line("const ", type, " slot = threadIdx.x / across, x = threadIdx.x - slot * across;");
        out.line("const ", type, " group = quotient(slot, ", b_.divisor(lanes(), "by_height"),
                 "), down = slot - group * height;");
        out.line("const ", type, " first_outer = ", b_.wide() ? type + "(blockIdx.x)" : "blockIdx.x", " * groups;");
        out.line("const bool mine = group < groups && first_outer + group < ", outers, ";");
        if (!outer_.empty()) out.line("const ", type, " outer = min(first_outer + group, ", outers, " - 1);");
        out.line("const ", type, " column = x * ", columns_, ";");
    }
    void write_strip() {
        source_writer& out = b_.code;
        formula f = vectors();
        f.evenly = most_across();
        const std::string type = b_.linear(), all = b_.count(vectors(), "vectors"), count = b_.count(f, "across"),
                          by = b_.divisor(f, "by_across");
        b_.step.grid[0] = f;
        b_.step.grid[0].strips = true;
        out.line("constexpr ", type, " height = ", height(), ";");
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

    void write_copied_place() override {
        source_writer& out = b_.code;
        const std::string type = b_.linear(), rows = std::to_string(rows_);
        out.line("const ", type, " place = u * ", threads_, " + threadIdx.x, row = place / across, slot = row / ", rows,
                 ";");
        out.line("const ", type, " group = quotient(slot, p.by_height), outer = first_outer + group;");
        out.line("const ", type, " at = (slot - group * height) * ", rows, " + row % ", rows,
                 ", column = (place - row * across) * ", columns_, ";");
        out.line("const bool inside = group < groups && outer < p.outers && at < ", scanned(), ";");
        if (!outer_.empty()) b_.write_digits("outer", outer_);
    }

    /// What lies before each thread's rows, in as many steps as their number has digits.
    void scan_down() {
        source_writer& out = b_.code;
        std::string text =
            "/// Makes of what threads above each other have, `across` of them beside each other, what lies before "
            "each.\n"
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
            out.line("scan_down<", f.joiner(), ", ", threads_, ">(", f.part(), ", room_", f.name(),
                     ", down, height, ", across_, ", ", f.start(), ");");
        }
    }
    std::string base_of(fold_writer& f) override { return f.part() + "[e]"; }

    std::uint32_t wide_ = 0;  // columns of a narrow array
};

}  // namespace

bool emit_whole_column_scan_cuda(const key& k, const graph& g, const scanning& s, plan& p) {
    whole_column_scan scan(k, g, s);
    if (!scan.choose_shape()) return false;
    scan.write(p);
    return true;
}

}  // namespace ingot::codegen
