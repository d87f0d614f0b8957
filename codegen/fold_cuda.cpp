// The frame of a fold's kernel and the text that both schedules write: values, parts, results, and how the blocks of a
// result meet in the scratch.
#include "codegen/fold_cuda.hpp"

#include <algorithm>

#include "codegen/cuda_join.hpp"

namespace ingot::codegen {

using namespace detail;

cuda_fold::cuda_fold(const key& k, const graph& g, const folding& f, std::uint32_t threads)
    : b_(k, g), spaces_(f.spaces), results_(f.results), folds_(folds_of(f, g, b_.needs)), threads_(threads) {
    for (std::size_t s = 0; s < spaces_.size(); ++s) {
        if (spaces_[s].bucket > spaces_[longest_].bucket) longest_ = s;
        for (const fold_writer& fold : folds_[s]) words_ += fold.words(), slots_ += fold.slots();
    }
    bucket_ = spaces_[longest_].bucket;
    for (int a = 0; a < b_.rank; ++a) kept_.push_back(a);
}

void cuda_fold::write(plan& p) {
    b_.name_scalars();
    unplaced_ = b_.body.scope();
    write_place();
    for (std::size_t s = 0; s < spaces_.size(); ++s) write_space(s);
    write_ending();
    write_end();
    launch& step = b_.step;
    step.kernel = "reduce";
    step.threads = threads_;
    describe(step);
    for (const folded_space& s : spaces_)  // what is folded, and an operation to join it
        step.work.push_back({kept_bits() | s.bits(), cost_of(b_.graph, s.wanted(b_.graph)) + s.reductions.size()});
    std::vector<node_id> roots;
    for (const std::size_t k : results_) roots.push_back(b_.graph.roots[k]);
    step.work.push_back({kept_bits(), cost_of(b_.graph, roots)});
    const std::string blocks = least_blocks_ != 0 ? ", " + std::to_string(least_blocks_) : "";
    p.source = b_.assemble(p.expression, "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(threads_) +
                                             blocks + ")\nreduce(const __grid_constant__ arguments p)");
    p.steps.push_back(std::move(step));
}

std::vector<const place*> cuda_fold::inputs_of(const folded_space& s) const {
    const std::vector<bool> below = nodes_below(b_.graph, s.wanted(b_.graph));
    std::vector<const place*> inputs;
    for (const place& in : b_.inputs)
        if (below[in.node] && (loops_of(in) & s.bits()) != 0) inputs.push_back(&in);
    return inputs;
}

std::vector<node_id> cuda_fold::generators_of(const folded_space& s) const {
    const std::vector<bool> below = nodes_below(b_.graph, s.wanted(b_.graph));
    std::vector<node_id> generators;
    for (const node_id g : b_.generators)
        if (below[g] && (b_.graph.nodes[g].axes & s.bits()) != 0) generators.push_back(g);
    return generators;
}

std::string cuda_fold::random_element(node_id g, std::uint64_t axes) {
    return b_.generator_call(g, b_.generator_index(g, axes));
}

std::vector<node_id> cuda_fold::values() const {
    std::vector<node_id> all;
    for (const folded_space& s : spaces_) {
        const std::vector<node_id> wanted = s.wanted(b_.graph);
        all.insert(all.end(), wanted.begin(), wanted.end());
    }
    return all;
}

bool cuda_fold::rounds(const std::vector<fold_writer>& folds) {
    return std::any_of(folds.begin(), folds.end(), [](const fold_writer& f) { return f.rounds(); });
}

std::uint32_t cuda_fold::unroll_of(const folded_space& s, std::uint32_t bytes, std::uint32_t tile_elements,
                                   std::uint32_t lane_elements, std::uint32_t bytes_in_flight) const {
    bytes = std::max(bytes, 4u);
    const std::uint64_t longest = std::uint64_t{1} << (s.bucket + 4);
    std::uint32_t unroll = 1;
    while (2 * unroll * bytes <= bytes_in_flight && std::uint64_t{2} * unroll * tile_elements <= longest &&
           2 * unroll * lane_elements * cost_of(b_.graph, s.wanted(b_.graph)) <= statement_budget)
        unroll *= 2;
    return unroll;
}

void cuda_fold::open_columns(const std::string& count) {
    if (columns_ == 1) return;
    b_.open_unrolled("e", columns_);  // always: an index that is not constant puts arrays into memory
    if (!count.empty()) b_.code.line("if (e >= ", count, ") break;");
}

void cuda_fold::close_columns() {
    if (columns_ != 1) b_.code.close();
}

void cuda_fold::write_column() {
    if (columns_ == 1) return;
    b_.code.line("const ", b_.signed_index(), ' ', digit(b_.rank - 1), " = ", b_.signed_index(), "(column + e);");
}

void cuda_fold::declare(const std::string& type, const std::string& name, const std::string& start) {
    if (columns_ == 1) return b_.code.line(type, ' ', name, " = ", start, ";");
    std::string starts = start;
    for (std::uint32_t e = 1; e < columns_; ++e) starts += ", " + start;
    b_.code.line(type, ' ', name, '[', columns_, "] = {", starts, "};");
}

void cuda_fold::declare_results(std::vector<fold_writer>& folds) {
    for (fold_writer& f : folds) {
        declare(f.type(), f.name(), f.start());
        b_.body.name(f.reduction(), f.result(own(f.name())));
    }
}

void cuda_fold::declare_parts(std::vector<fold_writer>& folds) {
    for (fold_writer& f : folds) declare(f.part_type(), f.part(), f.part_start());
    if (has_rounds(folds)) b_.code.line(b_.needs.type(dtype::u4), " tiles = 0;");
}

void cuda_fold::join_entries(fold_writer& f, const std::string& array, std::uint32_t n, const std::string& present) {
    const std::string part = own(f.part());
    const std::string with = f.counts_entries() ? f.with(part, array, present)
                             : n == 1           ? f.joined(part, array + "[0]")
                                                : f.joined(part, b_.join_pairs(f.joiner(), n, array));
    b_.code.line(part, " = ", with, ";");
}

void cuda_fold::join_one(fold_writer& f, const std::string& entry) {
    b_.code.line(own(f.part()), " = ", f.with_one(own(f.part()), entry), ";");
}

void cuda_fold::flush_parts(std::vector<fold_writer>& folds, std::uint32_t entries) {
    constexpr std::uint32_t most_entries = 64;
    if (!has_rounds(folds)) return;
    b_.code.open("if (++tiles % ", std::max(1u, most_entries / entries), " == 0)");
    open_columns();
    for (fold_writer& f : folds) {
        if (!f.rounds()) continue;
        b_.code.line(results_of(f), " = ", f.joined(results_of(f), f.of_part(own(f.part()))), ";");
        b_.code.line(own(f.part()), " = ", f.part_start(), ";");
    }
    close_columns();
    b_.code.close();
}

void cuda_fold::join_parts(std::vector<fold_writer>& folds) {
    open_columns();
    for (fold_writer& f : folds)
        b_.code.line(results_of(f), " = ", f.joined(results_of(f), f.of_part(own(f.part()))), ";");
    close_columns();
}

std::uint32_t cuda_fold::widest_part() const {
    std::uint32_t widest = 1;
    for (const std::vector<fold_writer>& folds : folds_)
        for (const fold_writer& f : folds) widest = std::max(widest, f.bytes());
    return widest;
}

void cuda_fold::declare_outputs(const folded_space& s, std::uint32_t unroll, std::uint32_t each) {
    for (const std::size_t k : s.outputs)
        b_.code.line("alignas(", bytes_of(b_.outputs[k]) * each, ") ", b_.needs.type(b_.outputs[k].at->head.type), ' ',
                     result(k), '[', unroll, "][", each, "];");
}

bool cuda_fold::is_unit(const place& at, int along) const {
    for (std::size_t a = 0; a < at.at->strides.size(); ++a)
        if (at.at->strides[a] == stride_class::unit && b_.graph.loop_axis[a] == along) return true;
    return false;
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
        const place& to = b_.outputs[k];
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

void cuda_fold::write_element(std::size_t number, const std::string& at) {
    const folded_space& s = spaces_[number];
    for (const place* in : inputs_of(s)) {
        b_.code.line("const ", b_.needs.type(in->at->head.type), ' ', in->name, " = ",
                     b_.element(*in, b_.offset(*in, kept_bits() | s.bits())), ";");
        b_.body.name(in->node, in->name);
    }
    for (const node_id g : generators_of(s)) b_.body.name(g, random_element(g, kept_bits() | s.bits()));
    for (fold_writer& f : folds_[number]) join_one(f, f.entry(b_.body.value(f.value(), b_.code), at));
    store_element_outputs(s);
}

void cuda_fold::load_kept(std::uint64_t axes) {
    for (const place& in : b_.inputs) {
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
                 "/// Joins over a block; every thread has the result.\n"
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
                     "    __syncthreads();  // the next fold writes the same place\n"
                     "    return v;\n}\n");
    b_.code.line(variable, " = ", name, "<", joiner, ", ", threads_ / 32, ">(", variable, ");");
}

void cuda_fold::split(std::uint64_t along, std::uint32_t piece, std::uint32_t blocks, std::uint32_t blocks_of_one,
                      std::uint32_t results, std::uint32_t waves) {
    const std::uint64_t bits = spaces_[longest_].bits() | along;
    b_.step.grid[1] = {.axes = bits, .divide_by = piece, .per_processor = blocks_of_one};
    b_.step.resident_blocks = blocks;
    b_.step.waves = waves;
    b_.step.scratch_bytes = 8 * slots_;
    b_.step.scratch_count = {.axes = kept_bits(),
                             .per_processor = std::max(blocks, b_.step.blocks_in_waves) * results * waves,
                             .inner = bits,
                             .inner_divide = piece};
}

std::uint32_t cuda_fold::waves_of_columns() const { return b_.rank == 1 ? 1 : 4; }

void cuda_fold::combine_all() {
    if (lanes() == "1") return;
    for (std::vector<fold_writer>& folds : folds_)
        for (fold_writer& f : folds) combine(f, f.joiner(), f.name());
}

void cuda_fold::write_ending() {
    combine_all();
    if (split_) write_finish();
    write_results(owner());
}

void cuda_fold::write_results(const std::string& owner) {
    source_writer& out = b_.code;
    const auto packs = [&](std::size_t k) {
        const place& to = b_.outputs[k];
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
    if (std::ranges::any_of(results_, packs)) {  // elements one by one would be written as many parts of sectors
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
