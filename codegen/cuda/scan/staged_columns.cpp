// See cuda/scan/staged_columns.hpp.
#include "codegen/cuda/scan/staged_columns.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace ingot::codegen {

using namespace detail;

namespace {

/// Whether every array that moves across the columns is contiguous there and aligned.
bool columns_have_vectors(const cuda_kernel& b) {
    if (!b.generators.empty()) return false;
    const auto fits = [&](const array_argument& at) {
        const stride_class along = inner_class(at, b.rank - 1);
        return along == stride_class::broadcast || (along == stride_class::unit && at.at->head.vector);
    };
    return std::ranges::all_of(b.inputs, fits) && std::ranges::all_of(b.outputs, fits);
}

/// Turns to unroll of a loop over a thread's chunks: a divisor of their number within the compiler's budget.
std::uint32_t unroll_of(std::uint32_t chunks, std::uint32_t operations) {
    constexpr std::uint32_t most = 17;
    const std::uint32_t fit = std::min(std::max(statement_budget / std::max(operations, 1u), 1u), most);
    std::uint32_t pieces = parts(chunks, fit);
    while (chunks % pieces != 0) ++pieces;
    return chunks / pieces;
}

}  // namespace

column_tile begin_columns(const cuda_kernel& b, const scanning& s, std::uint32_t threads) {
    constexpr std::uint32_t most_columns = 4;  // of a thread
    const auto inner = static_cast<std::size_t>(b.rank - 1);
    column_tile c;
    c.threads = threads;
    c.narrow = (b.key.axes[inner].flags & axis_flags::short_inner) != 0;
    if (columns_have_vectors(b)) c.each = std::min(16 / widest_element(b, s), most_columns);
    while (c.each > 1 && c.each * element_cost(b, s) > statement_budget) c.each /= 2;
    for (const array_argument* in : inputs_along(b, s)) {
        const bool moves_across = inner_class(*in, b.rank - 1) != stride_class::broadcast;
        c.staged.push_back({in, bytes_of(*in), moves_across ? c.each : 1});
    }
    for (std::size_t o = 0; c.narrow && o < b.outputs.size(); ++o) {
        const column_tile::staged_array result{&b.outputs[o], bytes_of(b.outputs[o]), c.each, true};
        auto free = std::ranges::find_if(c.staged, [&](const column_tile::staged_array& a) {
            return !a.has_result && a.bytes == result.bytes && a.each == result.each;
        });
        if (free == c.staged.end()) free = c.staged.insert(free, result);
        free->has_result = true;
        c.results.push_back(static_cast<std::size_t>(free - c.staged.begin()));
    }
    return c;
}

std::uint32_t most_across(const cuda_kernel& b, const scanning& s, const column_tile& c) {
    constexpr std::uint32_t across_bytes = 128;
    return std::clamp(across_bytes / (c.each * widest_element(b, s)), 1u, c.threads);
}

std::uint32_t unit_bytes(const column_tile& c) {
    std::uint32_t bytes = 0;
    for (const column_tile::staged_array& a : c.staged) bytes += a.unit();
    return bytes;
}

std::uint32_t multiprocessor_bytes(const cuda_kernel& b) {
    const std::uint32_t a = b.key.header.architecture;
    const std::uint32_t kibibytes = a < 80 ? 64 : a == 80 || a == 87 ? 164 : a >= 90 && a < 120 ? 228 : 100;
    return kibibytes << 10;
}

void finish_columns(const cuda_kernel& b, const scanning& s, column_tile& c) {
    c.shared_bytes = unit_bytes(c) * c.chunks * c.threads;
    for (const column_tile::staged_array& a : c.staged) c.shared_bytes += a.spare;
    c.copy_unroll = unroll_of(c.chunks, c.each);
    c.fold_unroll = generators_along(b, s).empty() ? unroll_of(c.chunks, c.each * element_cost(b, s)) : 1;
}

staged_columns::staged_columns(cuda_kernel& b, const scanning& s, const column_tile& c, std::string across,
                               std::uint32_t run)
    : cuda_scan(b, s, c.threads, c.each, run),
      kept_axes_(axes_without(b.rank, s.axis)),
      outer_(kept_axes_.begin(), kept_axes_.end() - 1),
      inner_(b.rank - 1),
      narrow_(c.narrow),
      columns_(c.each),
      rows_(c.chunks),
      across_(std::move(across)),
      staged_(c.staged),
      tile_(c) {
    b.step.shared_bytes = c.shared_bytes;
}

kernel_shape column_tile::shape_of(std::string_view layout, thread_exchange exchange) const {
    return {.name = layout,
            .threads = threads,
            .lanes = height(),
            .each = each,
            .chunks = chunks,
            .source = element_source::staged,
            .exchange = exchange,
            .resident_blocks = resident_blocks};
}

std::string column_tile::rows_and_columns() const {
    return std::to_string(chunks) + " rows of " + std::to_string(each) + " columns a thread, ";
}

std::string staged_columns::columns_from(const std::string& column) {
    if (columns_ == 1) return "1";
    return "min(" + b_.linear() + '(' + std::to_string(columns_) + "), " + width() + " - " + column + ')';
}

void staged_columns::open_columns(bool digits) {
    b_.open_unrolled("e", columns_);
    if (digits && columns_ > 1)
        b_.code.line("const ", b_.signed_index(), ' ', digit(inner_), " = ", b_.signed_index(), "(column + e);");
}

void staged_columns::read_own() {
    source_writer& out = b_.code;
    if (columns_ == 1) return read_fixed();
    for (const array_argument& in : b_.inputs) {
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
    b_.body.hoist(outer_bits(), roots(), out);
}

void staged_columns::open_rows(std::uint32_t unroll) {
    b_.code.margin("#pragma unroll " + std::to_string(unroll));
    b_.code.open("for (unsigned int u = 0; u < ", rows_, "; ++u)");
}

void staged_columns::open_own_rows(std::uint32_t unroll, const std::string& condition) {
    b_.code.open("if (", condition, ")");
    open_rows(unroll);
    b_.code.line("const ", b_.linear(), " at = first + u, smem_index = own_smem_index + ", row_of_thread(), " * ",
                 across_, ";");
    b_.write_digits("at", {s_.axis});
}

void staged_columns::for_own_rows(std::uint32_t unroll, const std::function<void()>& write) {
    const auto write_as = [&](columns_are known, std::uint32_t times, const std::string& condition) {
        const auto outside = b_.body.scope();
        known_ = known;
        open_own_rows(times, condition);
        write();
        close_own_rows();
        known_ = columns_are::any;
        b_.body.leave(outside);
    };
    if (columns_ == 1 || narrow_) return write_as(columns_are::any, unroll, "mine");
    const std::string vector = "columns == " + std::to_string(columns_);
    write_as(columns_are::vectors, unroll, vector);
    write_as(columns_are::elements, 1, "mine && columns < " + std::to_string(columns_));
}

void staged_columns::open_if_vector() {
    if (known_ == columns_are::any) b_.code.open("if (columns == ", columns_, ")");
}

void staged_columns::open_else_elements() {
    if (known_ == columns_are::any) b_.code.otherwise();  // the array ends within a vector
}

void staged_columns::close_if_vector() {
    if (known_ == columns_are::any) b_.code.close();
}

void staged_columns::open_copies() {
    source_writer& out = b_.code;
    open_rows(tile_.copy_unroll);
    write_copied_index();
    if (columns_ > 1) out.line("const ", b_.linear(), " columns = ", columns_from("column"), ";");
    b_.write_digits("at", {s_.axis});
    out.line("const ", b_.signed_index(), ' ', digit(inner_), " = ", b_.signed_index(), "(column);");
}

void staged_columns::close_own_rows() {
    b_.code.close();
    b_.code.close();
}

std::string staged_columns::staged_at(const staged_array& a) const {
    return a.of->name + "_staged + smem_index" + (a.each > 1 ? " * " + std::to_string(a.each) : "");
}

void staged_columns::declare_staged() {
    source_writer& out = b_.code;
    out.line("extern __shared__ uint4 staged[];");
    std::uint32_t offset = 0;
    for (const staged_array& a : staged_) {
        const std::string type = b_.needs.type(a.of->at->head.type);
        out.line(type, a.spare > 0 ? "* " : "* const ", a.of->name, "_staged = reinterpret_cast<", type, "*>(staged",
                 offset == 0 ? "" : " + " + std::to_string(offset / 16), ");");
        offset += rows_ * threads_ * a.unit() + a.spare;
    }
}

void staged_columns::stage() {
    source_writer& out = b_.code;
    declare_staged();
    if (inputs_.empty()) return;
    const auto copy_row = [&](const std::string& inside) {
        out.open("if (", inside, ")");
        for (std::size_t i = 0; i < inputs_.size(); ++i) copy(*inputs_[i], staged_[i]);
        out.otherwise();  // zeros, so that no result depends on stale shared memory
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            const std::string word(word_of(staged_[i].unit()));
            out.line("*reinterpret_cast<", word, "*>(", staged_at(staged_[i]), ") = {};");
        }
        out.close();
    };
    if (narrow_) {
        open_copies();
        copy_row("inside");
        out.close();
    } else {
        for_own_rows(tile_.copy_unroll, [&] { copy_row("at < " + scanned()); });
    }
    b_.wait_for_copies();
    if (narrow_) out.line("__syncthreads();");
}

void staged_columns::copy(const array_argument& in, const staged_array& to) {
    source_writer& out = b_.code;
    if (to.each == 1) return copy_vector(in, to);
    open_if_vector();
    if (known_ != columns_are::elements) copy_vector(in, to);
    if (known_ == columns_are::vectors) return;
    open_else_elements();
    open_columns(true);
    out.line('(', staged_at(to), ")[e] = e < columns ? ", b_.element(in, b_.offset(in, all_bits())), " : ",
             spell_constant(in.at->head.type, 0, b_.needs), ";");
    out.close();
    close_if_vector();
}

void staged_columns::copy_vector(const array_argument& in, const staged_array& to) {
    source_writer& out = b_.code;
    const std::string offset = b_.offset(in, all_bits()), word(word_of(to.unit()));
    if (to.unit() >= 4)
        out.line(b_.copier(to.unit()), '(', staged_at(to), ", ", b_.pointer(in), offset, ");");
    else if (to.each == 1)  // too short for an asynchronous copy
        out.line('(', staged_at(to), ")[0] = ", b_.element(in, offset), ";");
    else
        out.line("*reinterpret_cast<", word, "*>(", staged_at(to), ") = *reinterpret_cast<const ", word, "*>(",
                 b_.pointer(in), offset, ");");
}

void staged_columns::read_row(const std::vector<node_id>& required) {
    source_writer& out = b_.code;
    const std::vector<bool> below = nodes_below(b_.graph, required);
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        const staged_array& a = staged_[i];
        const array_argument& in = *inputs_[i];
        if (!below[in.node]) continue;
        const std::string word(word_of(a.unit()));
        out.line(a.each > 1 ? "alignas(" + std::to_string(a.unit()) + ") " : "", b_.needs.type(in.at->head.type), ' ',
                 in.name, '[', a.each, "];");
        out.line("reinterpret_cast<", word, "&>(", in.name, ") = *reinterpret_cast<const ", word, "*>(", staged_at(a),
                 ");");
        b_.body.name(in.node, in.name + (a.each > 1 ? "[e]" : "[0]"));
    }
    for (const node_id g : generators_) {
        if (!below[g]) continue;
        const std::string& name = b_.names[b_.graph.nodes[g].index];
        out.line("const ", b_.needs.type(b_.graph.nodes[g].type), ' ', name, " = ", random_element(g, all_bits()), ";");
        b_.body.name(g, name);
    }
}

void staged_columns::fold() {
    source_writer& out = b_.code;
    for (fold_writer& f : folds_) {
        out.line(f.type(), ' ', f.part(), '[', columns_, "];");
        open_columns();
        out.line(f.part(), "[e] = ", f.start(), ";");
        out.close();
    }
    const auto outside = b_.body.scope();
    open_own_rows(tile_.fold_unroll);
    read_row(s_.values);
    open_columns();
    for (fold_writer& f : folds_)
        out.line(f.part(), "[e] = ", f.joined(f.part() + "[e]", b_.body.value(f.value(), out)), ";");
    out.close();
    close_own_rows();
    b_.body.leave(outside);
}

void staged_columns::write_results() {
    source_writer& out = b_.code;
    for (fold_writer& f : folds_) {
        out.line(f.type(), " base_", f.name(), '[', columns_, "], ", f.name(), '[', columns_, "];");
        open_columns();
        out.line("if (down < height) base_", f.name(), "[e] = ", base_of(f), ";");
        out.line(f.name(), "[e] = ", f.start(), ";");
        out.close();
    }
    for_own_rows(tile_.fold_unroll, [&] { write_row(); });
    if (narrow_) store_tile();
}

void staged_columns::write_row() {
    source_writer& out = b_.code;
    read_row(roots());
    for (std::size_t k = 0; k < b_.outputs.size(); ++k)
        out.line(columns_ > 1 ? "alignas(" + std::to_string(bytes_of(b_.outputs[k]) * columns_) + ") " : "",
                 b_.needs.type(b_.outputs[k].at->head.type), " r", k, '[', columns_, "];");
    open_columns();
    for (fold_writer& f : folds_) {
        out.line(f.name(), "[e] = ", f.joined(f.name() + "[e]", b_.body.value(f.value(), out)), ";");
        out.line("const ", f.type(), " all_", f.name(), " = ", f.joined("base_" + f.name() + "[e]", f.name() + "[e]"),
                 ";");
        b_.body.name(f.reduction(), "all_" + f.name());
    }
    std::vector<std::string> values;
    for (const node_id root : b_.graph.roots) values.push_back(b_.body.value(root, out));
    for (std::size_t k = 0; k < values.size(); ++k) out.line('r', k, "[e] = ", values[k], ";");
    out.close();
    if (narrow_) {
        stage_row();
    } else {
        out.open("if (at < ", scanned(), ")");
        store_row();
        out.close();
    }
}

void staged_columns::stage_row() {
    for (std::size_t k = 0; k < b_.outputs.size(); ++k) {
        const staged_array& a = staged_[tile_.results[k]];
        const std::string word(word_of(a.unit()));
        b_.code.line("*reinterpret_cast<", word, "*>(", staged_at(a), ") = reinterpret_cast<const ", word, "&>(r", k,
                     ");");
    }
}

void staged_columns::store_tile() {
    b_.code.line("__syncthreads();");
    open_copies();
    b_.code.open("if (inside)");
    store_staged_row();
    b_.code.close();
    b_.code.close();
}

void staged_columns::store_staged_row() {
    source_writer& out = b_.code;
    for (std::size_t k = 0; k < b_.outputs.size(); ++k) {
        const staged_array& a = staged_[tile_.results[k]];
        const std::string type = b_.needs.type(b_.outputs[k].at->head.type), word(word_of(a.unit()));
        out.line(columns_ > 1 ? "alignas(" + std::to_string(a.unit()) + ") " : "", type, " r", k, '[', columns_, "];");
        out.line("reinterpret_cast<", word, "&>(r", k, ") = *reinterpret_cast<const ", word, "*>(", staged_at(a), ");");
    }
    store_row();
}

void staged_columns::store_row() {
    source_writer& out = b_.code;
    if (columns_ > 1) {
        open_if_vector();
        for (std::size_t k = 0; k < b_.outputs.size() && known_ != columns_are::elements; ++k) {
            const std::uint32_t bytes = bytes_of(b_.outputs[k]) * columns_;
            out.line(b_.storer(), '<', word_of(bytes), ">(", b_.pointer(b_.outputs[k]),
                     b_.offset(b_.outputs[k], all_bits()), ", r", k, ");");
        }
        if (known_ == columns_are::vectors) return;
        open_else_elements();
        open_columns(true);
        out.open("if (e < columns)");
    }
    for (std::size_t k = 0; k < b_.outputs.size(); ++k)
        b_.store_element(b_.outputs[k], b_.offset(b_.outputs[k], all_bits()),
                         "r" + std::to_string(k) + (columns_ > 1 ? "[e]" : "[0]"));
    if (columns_ == 1) return;
    out.close();
    out.close();
    close_if_vector();
}

}  // namespace ingot::codegen
