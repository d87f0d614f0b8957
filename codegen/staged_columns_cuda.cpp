// See staged_columns_cuda.hpp.
#include "codegen/staged_columns_cuda.hpp"

#include <algorithm>

namespace ingot::codegen {

using namespace detail;

namespace {

constexpr std::uint32_t across_bytes = 128;  // of a row of a block
constexpr std::uint32_t most_columns = 4;    // of a thread
constexpr std::uint32_t unrolled_rows = 17;

}  // namespace

staged_columns::staged_columns(const key& k, const graph& g, const scanning& s, std::uint32_t threads)
    : cuda_scan(k, g, s), kept_(axes_without(b_.rank, s.axis)), inner_(b_.rank - 1), threads_(threads) {
    outer_.assign(kept_.begin(), kept_.end() - 1);
    narrow_ = (k.axes[static_cast<std::size_t>(inner_)].bucket & bucket::short_inner) != 0;
    if (has_vectors()) columns_ = std::min(16 / widest(), most_columns);
    while (columns_ > 1 && columns_ * cost() > statement_budget) columns_ /= 2;
    for (const place* in : inputs_along())
        staged_.push_back({in->name, b_.needs.type(in->at->head.type), bytes_of(*in), columns_of(*in)});
    for (std::size_t o = 0; narrow_ && o < b_.outputs.size(); ++o) {
        const std::string type = b_.needs.type(b_.outputs[o].at->head.type);
        const staged_rows wanted{"z" + std::to_string(o), type, bytes_of(b_.outputs[o]), columns_, true};
        auto free = std::ranges::find_if(staged_, [&](const staged_rows& r) {
            return !r.has_result && r.bytes == wanted.bytes && r.each == wanted.each;
        });
        if (free == staged_.end()) free = staged_.insert(free, wanted);
        free->has_result = true;
        results_.push_back(static_cast<std::size_t>(free - staged_.begin()));
    }
}

bool staged_columns::has_vectors() const {
    if (!b_.generators.empty()) return false;
    const auto fits = [&](const place& at) {
        const stride_class along = inner_class(at, inner_);
        return along == stride_class::broadcast || (along == stride_class::unit && at.at->head.vector);
    };
    return std::ranges::all_of(b_.inputs, fits) && std::ranges::all_of(b_.outputs, fits);
}

std::uint32_t staged_columns::unit_bytes() const {
    std::uint32_t bytes = 0;
    for (const staged_rows& s : staged_) bytes += s.unit();
    return bytes;
}

std::uint32_t staged_columns::staged_bytes() const {
    std::uint32_t bytes = unit_bytes() * rows_ * threads_;
    for (const staged_rows& s : staged_) bytes += s.spare;
    return bytes;
}

std::uint32_t staged_columns::memory_of_processor() const {
    const std::uint32_t a = b_.key.header.architecture;
    const std::uint32_t kibibytes = a < 80 ? 64 : a == 80 || a == 87 ? 164 : a >= 90 && a < 120 ? 228 : 100;
    return kibibytes << 10;
}

std::uint32_t staged_columns::most_across() const {
    return std::clamp(across_bytes / (columns_ * widest()), 1u, threads_);
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

void staged_columns::open_rows(std::uint32_t operations) {
    const std::uint32_t fit = std::max(statement_budget / std::max(operations, 1u), 1u);
    std::uint32_t pieces = (rows_ + std::min(fit, unrolled_rows) - 1) / std::min(fit, unrolled_rows);
    while (rows_ % pieces != 0) ++pieces;
    b_.code.margin("#pragma unroll " + std::to_string(rows_ / pieces));
    b_.code.open("for (unsigned int u = 0; u < ", rows_, "; ++u)");
}

void staged_columns::open_own_rows(std::uint32_t operations) {
    b_.code.open("if (mine)");
    open_rows(operations);
    b_.code.line("const ", b_.linear(), " at = first + u, place = own_place + ", row_of_thread(), " * ", across_, ";");
    b_.write_digits("at", {s_.axis});
}

void staged_columns::open_copies() {
    source_writer& out = b_.code;
    if (!narrow_) {
        open_own_rows(columns_);
        out.line("const bool inside = at < ", scanned(), ";");
        return;
    }
    open_rows(columns_);
    write_copied_place();
    if (columns_ > 1) out.line("const ", b_.linear(), " columns = ", columns_from("column"), ";");
    b_.write_digits("at", {s_.axis});
    out.line("const ", b_.signed_index(), ' ', digit(inner_), " = ", b_.signed_index(), "(column);");
}

void staged_columns::close_own_rows() {
    b_.code.close();
    b_.code.close();
}

void staged_columns::close_copies() {
    b_.code.close();
    if (!narrow_) b_.code.close();
}

std::string staged_columns::staged_at(const staged_rows& s) const {
    return s.name + "_staged + place" + (s.each > 1 ? " * " + std::to_string(s.each) : "");
}

void staged_columns::declare_staged() {
    source_writer& out = b_.code;
    out.line("extern __shared__ uint4 staged[];");
    std::uint32_t offset = 0;
    for (const staged_rows& s : staged_) {
        out.line(s.type, s.spare > 0 ? "* " : "* const ", s.name, "_staged = reinterpret_cast<", s.type, "*>(staged",
                 offset == 0 ? "" : " + " + std::to_string(offset / 16), ");");
        offset += rows_ * threads_ * s.unit() + s.spare;
    }
}

void staged_columns::stage() {
    source_writer& out = b_.code;
    declare_staged();
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

void staged_columns::copy(const place& in, const staged_rows& to) {
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

void staged_columns::read_row(const std::vector<node_id>& wanted) {
    source_writer& out = b_.code;
    const std::vector<bool> below = nodes_below(b_.graph, wanted);
    const std::vector<const place*> inputs = inputs_along();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const staged_rows& s = staged_[i];
        if (!below[inputs[i]->node]) continue;
        const std::string word(word_of(s.unit()));
        out.line(s.each > 1 ? "alignas(" + std::to_string(s.unit()) + ") " : "", s.type, ' ', s.name, '[', s.each,
                 "];");
        out.line("reinterpret_cast<", word, "&>(", s.name, ") = *reinterpret_cast<const ", word, "*>(", staged_at(s),
                 ");");
        b_.body.name(inputs[i]->node, s.name + (s.each > 1 ? "[e]" : "[0]"));
    }
    for (const node_id g : generators_along())
        if (below[g]) b_.body.name(g, random_element(g, all_bits()));
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
    open_own_rows(columns_ * cost());
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
        out.line("const ", f.type(), " all_", f.name(), " = ", f.joined("base_" + f.name() + "[e]", f.name() + "[e]"),
                 ";");
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

void staged_columns::keep_row() {
    for (std::size_t k = 0; k < b_.outputs.size(); ++k) {
        const staged_rows& s = staged_[results_[k]];
        const std::string word(word_of(s.unit()));
        b_.code.line("*reinterpret_cast<", word, "*>(", staged_at(s), ") = reinterpret_cast<const ", word, "&>(r", k,
                     ");");
    }
}

void staged_columns::store_tile() {
    b_.code.line("__syncthreads();");
    open_copies();
    b_.code.open("if (inside)");
    store_kept_row();
    b_.code.close();
    close_copies();
}

void staged_columns::store_kept_row() {
    source_writer& out = b_.code;
    for (std::size_t k = 0; k < b_.outputs.size(); ++k) {
        const staged_rows& s = staged_[results_[k]];
        const std::string type = b_.needs.type(b_.outputs[k].at->head.type), word(word_of(s.unit()));
        out.line(columns_ > 1 ? "alignas(" + std::to_string(s.unit()) + ") " : "", type, " r", k, '[', columns_, "];");
        out.line("reinterpret_cast<", word, "&>(r", k, ") = *reinterpret_cast<const ", word, "*>(", staged_at(s), ");");
    }
    store_row();
}

void staged_columns::store_row() {
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

}  // namespace ingot::codegen
