// A fold's tiles: what a thread loads at once, and joins to its parts. They are loaded where they are joined, or are on
// their way into shared memory while the one before is joined: that is for folds that compute as long as they load.
// Registers would hold fewer tiles, and fewer threads.
#include <algorithm>

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

void cuda_fold::declare_tile(std::size_t number, std::uint32_t unroll) {
    for (const array_argument* in : inputs_of(spaces_[number])) {
        const std::string type = b_.needs.type(in->at->head.type);
        const std::uint32_t wide = columns_of(*in);
        if (wide > 1)
            b_.code.line("alignas(", bytes_of(*in) * wide, ") ", type, ' ', in->name, '[', unroll, "][", wide, "];");
        else
            b_.code.line(type, ' ', in->name, '[', unroll, "];");
    }
}

void cuda_fold::write_tile(std::size_t number, std::uint32_t unroll, const std::string& apart, const std::string& n,
                           bool loaded) {
    source_writer& out = b_.code;
    const folded_space& s = spaces_[number];
    std::vector<fold_writer>& folds = folds_[number];
    const std::vector<node_id> generators = generators_of(s);
    if (!loaded) declare_tile(number, unroll);
    for (const array_argument* in : inputs_of(s)) b_.body.name(in->node, in->name + (columns_of(*in) > 1 ? "[u][e]" : "[u]"));
    for (const node_id g : generators) {
        const array_argument leaf = b_.leaf_of(g);
        const std::uint32_t wide = columns_of(leaf);
        out.line(b_.needs.type(b_.graph.nodes[g].type), ' ', leaf.name, '[', unroll, ']',
                 wide > 1 ? '[' + std::to_string(wide) + "];" : "];");
        b_.body.name(g, leaf.name + (wide > 1 ? "[u][e]" : "[u]"));
    }
    const bool whole = unroll == 1 || n.empty();
    const bool counted =
        !whole && std::any_of(folds.begin(), folds.end(), [](const fold_writer& f) { return f.counts_entries(); });
    const std::string at = unroll == 1 ? "k" : "k + u" + apart;
    if (counted) out.line("unsigned int present = 0;");
    if (!loaded) {
        b_.open_unrolled("u", unroll);
        if (!whole) out.line("if (", at, " >= ", n, ") break;");
        if (counted) out.line("++present;");
        write_loads(s, at);
        for (const node_id g : generators) {
            const array_argument leaf = b_.leaf_of(g);
            if (columns_of(leaf) > 1)
                b_.draw_groups(g, leaf.name + "[u]", tile_columns_, b_.generator_index(g, kept_bits() | s.bits()));
            else
                out.line(leaf.name, "[u] = ", random_element(g, kept_bits() | s.bits()), ";");
        }
        out.close();
    }
    declare_outputs(s, unroll, tile_columns_);
    open_tile_columns();
    for (std::size_t i = 0; i < folds.size(); ++i) out.line(folds[i].entry_type(), " value", i, '[', unroll, "];");
    b_.open_unrolled("u", unroll);
    for (std::size_t i = 0; i < folds.size(); ++i) {
        const std::string value = folds[i].entry(b_.body.value(folds[i].value(), out), at);
        out.line("value", i, "[u] = ", whole ? value : at + " < " + n + " ? " + value + " : " + folds[i].entry_start(),
                 ";");
    }
    put_outputs(s, tile_columns_ == 1 ? "[u][0]" : "[u][e]");
    out.close();
    for (std::size_t i = 0; i < folds.size(); ++i)
        join_entries(folds[i], "value" + std::to_string(i), unroll, counted ? "present" : "");
    close_tile_columns();
    if (!s.outputs.empty()) {
        b_.open_unrolled("u", unroll);
        if (!whole) out.line("if (", at, " >= ", n, ") break;");
        b_.write_digits(at, s.axes);
        store_outputs(s, tile_columns_, b_.rank - 1, [&](bool element) { element ? write_column() : void(); });
        out.close();
    }
    flush_parts(folds);
}

bool cuda_fold::rest_in_halves(const std::vector<fold_writer>& folds, std::uint32_t unroll) const {
    constexpr std::uint32_t few = 4;
    return frame_.rest_in_halves ||
           (unroll > few && std::ranges::any_of(folds, [](const fold_writer& f) { return f.counts_entries(); }));
}

/// Whole tiles first, of which nothing is asked; what is left is less than one.
void cuda_fold::write_tiles(std::size_t number, std::uint32_t unroll, const std::string& first,
                            const std::string& apart, const std::string& n, const std::string& step) {
    source_writer& out = b_.code;
    const auto outside = b_.body.scope();
    const bool one = unroll == 1;
    out.line(b_.linear(), " k = ", first, ";");
    out.open("for (; k ", one ? "" : "+ " + std::to_string(unroll - 1) + apart + ' ', "< ", n, "; k += ", step, ")");
    write_tile(number, unroll, apart, "");
    out.close();
    b_.body.leave(outside);
    if (!one) write_rest(number, unroll, apart, n);
}

void cuda_fold::write_rest(std::size_t number, std::uint32_t unroll, const std::string& apart, const std::string& n) {
    source_writer& out = b_.code;
    const auto outside = b_.body.scope();
    const auto write_part = [&](std::uint32_t rest, const std::string& bound) {
        out.open("if (k ", rest == 1 || !bound.empty() ? "" : "+ " + std::to_string(rest - 1) + apart + ' ', "< ", n,
                 ")");
        write_tile(number, rest, apart, bound);
        if (bound.empty() && rest > 1) out.line("k += ", rest, apart, ";");
        out.close();
        b_.body.leave(outside);
    };
    if (!rest_in_halves(folds_[number], unroll)) return write_part(unroll, n);
    while ((unroll /= 2) > 0) write_part(unroll, "");
}

void cuda_fold::write_tiles_ahead(std::size_t number, std::uint32_t unroll, const std::string& apart,
                                  const std::string& step, const std::string& distance,
                                  const std::function<std::string(const std::string&)>& there,
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
    declare_tile(number, unroll);
    b_.open_unrolled("u", unroll);
    for (const array_argument* in : inputs) out.line(in->name, "[u] = ", in->name, "_ahead[stage][u][threadIdx.x];");
    out.close();
    out.line("stage ^= 1;");
    write_tile(number, unroll, apart, "", true);
    out.close();
    b_.body.leave(outside);
}

}  // namespace ingot::codegen
