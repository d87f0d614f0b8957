// A fold's tiles: the elements that a thread loads at once and joins to its parts. They are loaded where they are
// joined; for folds that compute as long as they load, a tile is copied into shared memory while the one before it is
// joined. Registers would hold fewer tiles, and leave room for fewer threads.
#include <algorithm>
#include <functional>

#include "codegen/cuda/fold/fold.hpp"

namespace ingot::codegen {

using namespace detail;

void cuda_fold::write_loads(const folded_space& s, const std::string& at) {
    source_writer& out = b_.code;
    b_.write_digits(at, s.axes);
    for (const array_argument* in : inputs_of(s)) {
        const std::string offset = b_.offset(*in, kept_bits() | s.bits());
        if (const std::uint32_t bytes = bytes_of(*in) * columns_of(*in); columns_of(*in) > 1) {
            out.line(b_.loader(b_.reading_of(*in, kept_bits() | s.bits()), bytes), '<', word_of(bytes), ">(", in->name,
                     "[u], ", b_.pointer(*in), offset, ");");
        } else {
            out.line(in->name, "[u] = ", b_.element(*in, offset), ";");
        }
    }
}

void cuda_fold::declare_tile(std::size_t number, std::uint32_t unroll, bool zeros) {
    const auto declare = [&](const array_argument& leaf) {
        const std::string type = b_.needs.type(leaf.at->head.type), end = zeros ? "] = {};" : "];";
        const std::uint32_t wide = columns_of(leaf);
        if (wide > 1)
            b_.code.line("alignas(", bytes_of(leaf) * wide, ") ", type, ' ', leaf.name, '[', unroll, "][", wide, end);
        else
            b_.code.line(type, ' ', leaf.name, '[', unroll, end);
    };
    for (const array_argument* in : inputs_of(spaces_[number])) declare(*in);
    for (const node_id g : generators_of(spaces_[number])) declare(b_.leaf_of(g));
}

void cuda_fold::name_tile(const folded_space& s) {
    const auto name = [&](const array_argument& leaf) {
        b_.body.name(leaf.node, leaf.name + (columns_of(leaf) > 1 ? "[u][e]" : "[u]"));
    };
    for (const array_argument* in : inputs_of(s)) name(*in);
    for (const node_id g : generators_of(s)) name(b_.leaf_of(g));
}

void cuda_fold::load_tile(const folded_space& s, std::uint32_t unroll, const std::string& stride,
                          const std::string& end, bool counted) {
    source_writer& out = b_.code;
    const std::string at = offset_in_tile(unroll, stride);
    b_.open_unrolled("u", unroll);
    if (!end.empty()) out.line("if (", at, " >= ", end, ") break;");
    if (counted) out.line("++present;");
    write_loads(s, at);
    for (const node_id g : generators_of(s)) {
        const array_argument leaf = b_.leaf_of(g);
        const std::string index = b_.generator_index(g, kept_bits() | s.bits());
        if (columns_of(leaf) > 1)
            b_.draw_groups(g, leaf.name + "[u]", tile_columns_, index);
        else
            out.line(leaf.name, "[u] = ", b_.generator_call(g, index), ";");
    }
    out.close();
}

void cuda_fold::write_tile(std::size_t number, std::uint32_t unroll, const std::string& stride, const std::string& n,
                           bool loaded) {
    source_writer& out = b_.code;
    const folded_space& s = spaces_[number];
    std::vector<fold_writer>& folds = folds_[number];
    const bool all = unroll == 1 || n.empty();
    const bool counted =
        !all && std::any_of(folds.begin(), folds.end(), [](const fold_writer& f) { return f.counts_entries(); });
    const std::string at = offset_in_tile(unroll, stride);
    if (!loaded) declare_tile(number, unroll, !all);
    name_tile(s);
    if (!all) out.line("const bool whole = k + ", unroll - 1, stride, " < ", n, ";");
    if (counted) out.line("unsigned int present = whole ? ", unroll, " : 0;");
    if (!loaded) {
        if (!all) out.open("if (whole)");
        load_tile(s, unroll, stride, "", false);
        if (!all) {
            out.otherwise();
            load_tile(s, unroll, stride, n, counted);
            out.close();
        }
    }
    declare_outputs(s, unroll, tile_columns_);
    open_tile_columns();
    for (std::size_t i = 0; i < folds.size(); ++i) out.line(folds[i].entry_type(), " value", i, '[', unroll, "];");
    b_.open_unrolled("u", unroll);
    for (std::size_t i = 0; i < folds.size(); ++i)
        out.line("value", i, "[u] = ", folds[i].entry(b_.body.value(folds[i].value(), out), at), ";");
    put_outputs(s, tile_columns_ == 1 ? "[u][0]" : "[u][e]");
    out.close();
    const auto is_left_out = [](const fold_writer& f) { return !f.counts_entries(); };
    if (!all && std::ranges::any_of(folds, is_left_out)) {
        out.open("if (!whole)");
        b_.open_unrolled("u", unroll);
        for (std::size_t i = 0; i < folds.size(); ++i)
            if (is_left_out(folds[i]))
                out.line("if (", at, " >= ", n, ") value", i, "[u] = ", folds[i].entry_start(), ";");
        out.close();
        out.close();
    }
    for (std::size_t i = 0; i < folds.size(); ++i)
        join_entries(folds[i], "value" + std::to_string(i), unroll, counted ? "present" : "");
    close_tile_columns();
    if (s.outputs.empty()) return;
    b_.open_unrolled("u", unroll);
    if (!all) out.line("if (", at, " >= ", n, ") break;");
    b_.write_digits(at, s.axes);
    store_outputs(s, tile_columns_, b_.rank - 1, [&](bool element) { element ? write_column() : void(); });
    out.close();
}

/// One text serves the whole tiles and the last one; its loads are conditional.
void cuda_fold::write_tiles(std::size_t number, std::uint32_t unroll, const std::string& stride, const std::string& n,
                            const std::string& step, bool in_rounds) {
    source_writer& out = b_.code;
    const auto outside = b_.body.scope();
    if (in_rounds && has_rounds(folds_[number]))
        out.open("for (", b_.needs.type(dtype::u4), " tiles = 0; k < ", n, " && tiles < ", most_entries,
                 "; ++tiles, k += ", step, ")");
    else
        out.open("for (; k < ", n, "; k += ", step, ")");
    write_tile(number, unroll, stride, n);
    if (!in_rounds) flush_parts(folds_[number]);
    out.close();
    b_.body.leave(outside);
}

void cuda_fold::open_rounds(const std::vector<fold_writer>& folds) {
    if (has_rounds(folds)) b_.code.open("do");
}

void cuda_fold::close_rounds(std::vector<fold_writer>& folds, const std::string& n) {
    join_parts(folds);
    if (!has_rounds(folds)) return;
    open_tile_columns();
    for (fold_writer& f : folds) b_.code.line(own_in_tile(f.part()), " = ", f.part_start(), ";");
    close_tile_columns();
    b_.code.close(" while (k < ", n, ");");
}

void cuda_fold::write_rest(std::size_t number, std::uint32_t unroll, const std::string& stride, const std::string& n) {
    source_writer& out = b_.code;
    const auto outside = b_.body.scope();
    while ((unroll /= 2) > 0) {
        out.open("if (k ", unroll == 1 ? "" : "+ " + std::to_string(unroll - 1) + stride + ' ', "< ", n, ")");
        write_tile(number, unroll, stride, "");
        flush_parts(folds_[number]);
        if (unroll > 1) out.line("k += ", unroll, stride, ";");
        out.close();
        b_.body.leave(outside);
    }
}

void cuda_fold::write_tiles_ahead(
    std::size_t number, std::uint32_t unroll, const std::string& stride, const std::string& step,
    const std::string& distance, const std::function<std::string(const std::string&)>& there,
    const std::function<std::string(const array_argument&, const std::string&)>& address) {
    source_writer& out = b_.code;
    const auto outside = b_.body.scope();
    const std::vector<const array_argument*> inputs = inputs_of(spaces_[number]);
    const bool asynchronous = b_.copies_asynchronously();
    for (const array_argument* in : inputs)
        out.line("__shared__ ", b_.needs.type(in->at->head.type), ' ', in->name, "_ahead[2][", unroll, "][", threads_,
                 "];");
    const auto fetch = [&](const std::string& at, const std::string& stage) {
        out.open("if (", there(at), ")");
        for (const array_argument* in : inputs)
            out.line("const ", b_.needs.type(in->at->head.type), "* const ", in->name, "_next = ", address(*in, at),
                     ";");
        b_.open_unrolled("u", unroll);
        for (const array_argument* in : inputs)
            out.line(b_.copier(bytes_of(*in)), "(&", in->name, "_ahead[", stage, "][u][threadIdx.x], ", in->name,
                     "_next + u * ", b_.needs.type(dtype::u8), '(', distance, "));");
        out.close();
        out.close();
        if (asynchronous) out.line("asm volatile(\"cp.async.commit_group;\" ::: \"memory\");");
    };
    out.line(b_.needs.type(dtype::u4), " stage = 0;");
    fetch("k", "0");
    out.open("for (; ", there("k"), "; k += ", step, ")");
    fetch("k + " + step, "stage ^ 1");
    if (asynchronous) out.line("asm volatile(\"cp.async.wait_group 1;\" ::: \"memory\");");
    declare_tile(number, unroll, false);
    b_.open_unrolled("u", unroll);
    for (const array_argument* in : inputs) out.line(in->name, "[u] = ", in->name, "_ahead[stage][u][threadIdx.x];");
    out.close();
    out.line("stage ^= 1;");
    write_tile(number, unroll, stride, "", true);
    flush_parts(folds_[number]);
    out.close();
    b_.body.leave(outside);
}

}  // namespace ingot::codegen
