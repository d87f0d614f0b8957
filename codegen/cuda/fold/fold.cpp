// The frame of a fold's kernel and the text that all its schedules write: values, parts and results.
#include "codegen/cuda/fold/fold.hpp"

#include <algorithm>
#include <functional>

#include "codegen/cuda/join.hpp"

namespace ingot::codegen {

using namespace detail;

cuda_fold::cuda_fold(cuda_kernel& b, const folded_kernel& f, const fold_choice& c)
    : folded_kernel(f),
      b_(b),
      frame_(c),
      threads_(c.threads),
      columns_(c.columns),
      tile_columns_(c.tile_columns),
      split_(c.split.has_value()) {
    std::size_t number = 0;
    for (const folded_space& s : spaces_) {
        std::vector<fold_writer>& folds = folds_.emplace_back();
        for (const node_id r : s.reductions) folds.emplace_back(b_.graph, r, number++, b_.needs);
    }
    for (int a = 0; a < b_.rank; ++a) kept_axes_.push_back(a);
}

void cuda_fold::write() {
    b_.name_scalars();
    outer_names_ = b_.body.scope();
    if (frame_.split) launch_split(*frame_.split);
    if (split_ && !shares_results()) take_ticket(counters(" + blockIdx.x"));
    locate_thread();
    for (std::size_t s = 0; s < spaces_.size(); ++s) write_space(s);
    write_ending();
    write_end();
    launch& step = b_.step;
    for (const folded_space& s : spaces_)  // the cost of the folded values, and one operation to join each
        step.work.push_back(
            {kept_bits() | s.bits(), cost_of(b_.graph, s.computed_nodes(b_.graph)) + s.reductions.size()});
    std::vector<node_id> roots;
    for (const std::size_t k : results_) roots.push_back(b_.graph.roots[k]);
    step.work.push_back({kept_bits(), cost_of(b_.graph, roots)});
}

std::string cuda_fold::random_element(node_id g, std::uint64_t axes) {
    return b_.generator_call(g, b_.generator_index(g, axes));
}

bool cuda_fold::rounds(const std::vector<fold_writer>& folds) {
    return std::any_of(folds.begin(), folds.end(), [](const fold_writer& f) { return f.rounds(); });
}

void cuda_fold::open_columns(std::uint32_t columns, const std::string& count) {
    if (columns == 1) return;
    b_.open_unrolled("e", columns);  // always unrolled: an index that is not constant puts arrays into local memory
    if (!count.empty()) b_.code.line("if (e >= ", count, ") break;");
}

void cuda_fold::close_columns(std::uint32_t columns) {
    if (columns != 1) b_.code.close();
}

void cuda_fold::write_column() {
    if (columns_ == 1) return;
    b_.code.line("const ", b_.signed_index(), ' ', digit(b_.rank - 1), " = ", b_.signed_index(), "(column + e);");
}

void cuda_fold::declare(std::uint32_t columns, const std::string& type, const std::string& name,
                        const std::string& start) {
    if (columns == 1) return b_.code.line(type, ' ', name, " = ", start, ";");
    std::string starts = start;
    for (std::uint32_t e = 1; e < columns; ++e) starts += ", " + start;
    b_.code.line(type, ' ', name, '[', columns, "] = {", starts, "};");
}

void cuda_fold::declare_results(std::vector<fold_writer>& folds) {
    for (fold_writer& f : folds) {
        declare(f.type(), f.name(), f.start());
        b_.body.name(f.reduction(), f.result(own(f.name())));
    }
}

void cuda_fold::declare_parts(std::vector<fold_writer>& folds, bool counts_tiles) {
    for (fold_writer& f : folds) declare_in_tile(f.part_type(), f.part(), f.part_start());
    if (counts_tiles && has_rounds(folds)) b_.code.line(b_.needs.type(dtype::u4), " tiles = 0;");
}

void cuda_fold::join_entries(fold_writer& f, const std::string& array, std::uint32_t n, const std::string& present) {
    const std::string part = own_in_tile(f.part());
    if (f.counts_entries()) return b_.code.line(part, " = ", f.with(part, array, present), ";");
    const std::string joiner = f.ordered_joiner();
    b_.code.line(part, " = ", joiner, "::join(", part, ", ", n == 1 ? array + "[0]" : b_.join_pairs(joiner, n, array),
                 ");");
}

void cuda_fold::join_one(fold_writer& f, const std::string& entry) {
    b_.code.line(own_in_tile(f.part()), " = ", f.with_one(own_in_tile(f.part()), entry), ";");
}

void cuda_fold::flush_parts(std::vector<fold_writer>& folds, std::uint32_t entries, const std::string& ends) {
    if (!has_rounds(folds)) return;
    b_.code.open("if (++tiles % ", std::max(1u, most_entries / entries), " == 0", ends.empty() ? "" : " || " + ends,
                 ")");
    open_tile_columns();
    for (fold_writer& f : folds) {
        if (!f.rounds() && ends.empty()) continue;
        b_.code.line(results_of(f), " = ", f.joined(results_of(f), f.of_part(own_in_tile(f.part()))), ";");
        b_.code.line(own_in_tile(f.part()), " = ", f.part_start(), ";");
    }
    close_tile_columns();
    b_.code.close();
}

void cuda_fold::join_parts(std::vector<fold_writer>& folds) {
    open_tile_columns();
    for (fold_writer& f : folds)
        b_.code.line(results_of(f), " = ", f.joined(results_of(f), f.of_part(own_in_tile(f.part()))), ";");
    close_tile_columns();
}

void cuda_fold::declare_outputs(const folded_space& s, std::uint32_t unroll, std::uint32_t each) {
    for (const std::size_t k : s.outputs)
        b_.code.line("alignas(", bytes_of(b_.outputs[k]) * each, ") ", b_.needs.type(b_.outputs[k].at->head.type), ' ',
                     result(k), '[', unroll, "][", each, "];");
}

void cuda_fold::put_outputs(const folded_space& s, const std::string& at) {
    for (const std::size_t k : s.outputs)
        b_.code.line(result(k), at, " = ", b_.body.value(b_.graph.roots[k], b_.code), ";");
}

void cuda_fold::store_outputs(const folded_space& s, std::uint32_t each, int along,
                              const std::function<void(bool)>& write_digit) {
    source_writer& out = b_.code;
    const std::uint64_t bits = kept_bits() | s.bits();
    const auto packs = [&](std::size_t k) {
        const array_argument& to = b_.outputs[k];
        return each > 1 && to.at->head.vector && is_unit(to, along) && bytes_of(to) * each <= 16;
    };
    if (!std::ranges::all_of(s.outputs, packs)) {
        if (each > 1) b_.open_unrolled("e", each);
        write_digit(true);
        for (const std::size_t k : s.outputs)
            if (!packs(k))
                b_.store_element(b_.outputs[k], b_.offset(b_.outputs[k], bits),
                                 result(k) + (each > 1 ? "[u][e]" : "[u][0]"));
        if (each > 1) out.close();
    }
    if (std::ranges::none_of(s.outputs, packs)) return;
    write_digit(false);
    for (const std::size_t k : s.outputs)
        if (packs(k))
            out.line(b_.storer(), '<', word_of(bytes_of(b_.outputs[k]) * each), ">(", b_.pointer(b_.outputs[k]),
                     b_.offset(b_.outputs[k], bits), ", ", result(k), "[u]);");
}

void cuda_fold::store_element_outputs(const folded_space& s) {
    for (const std::size_t k : s.outputs)
        b_.store_element(b_.outputs[k], b_.offset(b_.outputs[k], kept_bits() | s.bits()),
                         b_.body.value(b_.graph.roots[k], b_.code));
}

void cuda_fold::write_element(std::size_t number, const std::string& at, bool behind) {
    const folded_space& s = spaces_[number];
    for (const array_argument* in : inputs_of(s)) {
        b_.code.line("const ", b_.needs.type(in->at->head.type), ' ', in->name, " = ",
                     b_.element(*in, b_.offset(*in, kept_bits() | s.bits())), ";");
        b_.body.name(in->node, in->name);
    }
    for (const node_id g : generators_of(s)) {
        const array_argument leaf = b_.leaf_of(g);
        if (columns_of(leaf) == 1)
            b_.code.line("const ", b_.needs.type(b_.graph.nodes[g].type), ' ', leaf.name, " = ",
                         random_element(g, kept_bits() | s.bits()), ";");
        b_.body.name(g, leaf.name + (columns_of(leaf) == 1 ? "" : "[e]"));
    }
    for (fold_writer& f : folds_[number]) {
        const std::string entry = f.entry(b_.body.value(f.value(), b_.code), at), part = own_in_tile(f.part());
        if (behind && f.is_arg_reduction())
            b_.code.line(part, " = ", f.ordered_joiner(), "::join(", part, ", ", entry, ");");
        else
            join_one(f, entry);
    }
    store_element_outputs(s);
}

void cuda_fold::load_invariants(std::uint64_t axes) {
    for (const array_argument& in : b_.inputs) {
        if ((loops_of(in) & ~axes) != 0 || b_.body.has_name(in.node)) continue;
        b_.code.line("const ", b_.needs.type(in.at->head.type), ' ', in.name, " = ",
                     b_.element(in, b_.offset(in, kept_bits())), ";");
        b_.body.name(in.node, in.name);
    }
    for (const node_id g : b_.generators) {
        if ((b_.graph.nodes[g].axes & ~axes) != 0) continue;
        const std::string name = b_.names[b_.graph.nodes[g].index];
        b_.code.line("const ", b_.needs.type(b_.graph.nodes[g].type), ' ', name, " = ", random_element(g, kept_bits()),
                     ";");
        b_.body.name(g, name);
    }
    b_.body.hoist(axes, values(), b_.code);
}

void cuda_fold::combine_lanes(fold_writer& f, const std::string& joiner, const std::string& variable,
                              std::uint32_t lanes) {
    if (f.joins_at_once()) return b_.code.line(variable, " = ", joiner, "::join_lanes<", lanes, ">(", variable, ");");
    b_.code.line(variable, " = ", join_lanes(f, b_.needs), "<", joiner, ", ", lanes, ">(", variable, ");");
}

void cuda_fold::combine_block(fold_writer& f, const std::string& joiner, const std::string& variable) {
    const bool at_once = f.joins_at_once();
    const std::string name = at_once ? "join_block_at_once" : "join_block";
    if (!at_once) join_lanes(f, b_.needs);
    const auto joined = [at_once](const std::string& lanes, const std::string& value) {
        return (at_once ? "fold::template join_lanes<" + lanes : "join_lanes<fold, " + lanes) + ">(" + value + ");\n";
    };
    b_.needs.add(name,
                 "/// Combines one value per thread of the block; every thread gets the result.\n"
                 "template <class fold, int n, class type>\n"
                 "__device__ __forceinline__ type " +
                     name +
                     "(type v) {\n"
                     "    __shared__ type warps[n];\n"
                     "    v = " +
                     joined("32", "v") +
                     "    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;\n"
                     "    __syncthreads();\n"
                     "    v = " +
                     joined("n", "warps[threadIdx.x % n]") +
                     "    __syncthreads();  // the next reduction overwrites the same shared memory\n"
                     "    return v;\n}\n");
    b_.code.line(variable, " = ", name, "<", joiner, ", ", threads_ / 32, ">(", variable, ");");
}

void cuda_fold::launch_split(const block_split& s) {
    const std::uint64_t bits = spaces_[longest_].bits() | s.along;
    const formula pieces = ceil_divide(points_of(bits), s.piece);
    b_.step.grid[1] = s.blocks_of_one == 0 ? pieces : min(pieces, s.blocks_of_one * processors());
    b_.step.resident_blocks = frame_.resident_blocks;
    b_.step.waves = s.waves;
    b_.step.blocks_in_waves = s.blocks_in_waves;
    b_.step.scratch_bytes = 8 * (slots_ + (shares_results() ? 0 : 1));  // there are fewer tickets than slots
    const std::uint32_t most = std::max(frame_.resident_blocks, s.blocks_in_waves) * s.results * s.waves;
    b_.step.scratch_count = points_of(kept_bits()) * pieces;
    if (most != 0) b_.step.scratch_count = min(b_.step.scratch_count, most * processors());
}

void cuda_fold::combine_all() {
    if (lanes() == "1") return;
    for (std::vector<fold_writer>& folds : folds_)
        for (fold_writer& f : folds) combine(f, f.joiner(), f.name());
}

/// Where the blocks' parts have the type of threads' parts, one text joins both.
void cuda_fold::write_ending() {
    if (split_ && joins_blocks_alike()) {
        b_.code.margin("#pragma unroll 1");
        b_.code.open("for (bool of_blocks = false;; of_blocks = true)");
        combine_all();
        b_.code.line("if (of_blocks || gridDim.y == 1) break;");
        write_meeting();
        b_.code.close();
    } else {
        combine_all();
        if (split_) write_finish();
    }
    write_results(owner());
}

bool cuda_fold::joins_blocks_alike() {
    return lanes() != "1" && std::ranges::all_of(folds_, [](std::vector<fold_writer>& folds) {
               return std::ranges::all_of(folds, [](fold_writer& f) { return f.wide_type() == f.type(); });
           });
}

void cuda_fold::write_results(const std::string& owner) {
    source_writer& out = b_.code;
    const auto packs = [&](std::size_t k) {
        const array_argument& to = b_.outputs[k];
        return columns_ > 1 && to.at->head.vector && is_unit(to, b_.rank - 1) && bytes_of(to) * columns_ <= 16;
    };
    const auto offset = [&](std::size_t k) { return b_.offset(b_.outputs[k], kept_bits()); };
    out.open(owner);
    for (const std::size_t k : results_)
        if (packs(k))
            out.line("alignas(", bytes_of(b_.outputs[k]) * columns_, ") ", b_.needs.type(b_.outputs[k].at->head.type),
                     ' ', result(k), '[', columns_, "];");
    open_columns("columns");
    write_column();
    for (const std::size_t k : results_) {
        const std::string value = b_.body.value(b_.graph.roots[k], out);
        packs(k) ? out.line(result(k), "[e] = ", value, ";") : b_.store_element(b_.outputs[k], offset(k), value);
    }
    close_columns();
    if (std::ranges::any_of(results_, packs)) {  // element by element each store would write a part of a sector
        const std::string index = b_.signed_index(),
                          first = "const " + index + ' ' + digit(b_.rank - 1) + " = " + index;
        out.open("if (columns == ", columns_, ")");
        out.line(first, "(column);");
        for (const std::size_t k : results_)
            if (packs(k))
                out.line(b_.storer(), '<', word_of(bytes_of(b_.outputs[k]) * columns_), ">(", b_.pointer(b_.outputs[k]),
                         offset(k), ", ", result(k), ");");
        out.otherwise();
        open_columns("columns");
        write_column();
        for (const std::size_t k : results_)
            if (packs(k)) b_.store_element(b_.outputs[k], offset(k), result(k) + "[e]");
        close_columns();
        out.close();
    }
    out.close();
}

}  // namespace ingot::codegen
