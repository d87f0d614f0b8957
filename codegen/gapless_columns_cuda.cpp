// Columns that lie in memory without gaps, folded by vectors of the run that they are: a thread meets each column in
// turn, and in the end has one (column_fold_cuda.hpp).
#include "codegen/column_fold_cuda.hpp"

#include <algorithm>

namespace ingot::codegen {

using namespace detail;

bool column_fold::is_gapless() const {
    constexpr std::uint8_t least_bucket = 4;  // some vectors for each thread
    if ((inner_bucket() & bucket::gapless_columns) == 0 || spaces_.size() != 1 || !spaces_[0].outputs.empty() ||
        spaces_[0].axes.size() != 1 || bucket_ < least_bucket || !b_.generators.empty() || !b_.unravellings.empty())
        return false;
    const folded_space& s = spaces_[0];
    const std::vector<bool> below = nodes_below(b_.graph, s.values);
    const std::vector<const place*> inputs = inputs_of(s);
    if (b_.rank > 1 && !split_ && std::ranges::all_of(inputs, [](const place* in) { return in->at->head.vector; }))
        return false;  // groups of threads read them as well where they lie
    for (const place& in : b_.inputs)
        if (below[in.node] && (loops_of(in) & axis_bit(inner_)) != 0 &&
            ((loops_of(in) & s.bits()) == 0 || bytes_of(in) != bytes_of(*inputs[0])))
            return false;
    for (const place* in : inputs)
        if (loops_of(*in) != (kept_bits() | s.bits())) return false;
    return !inputs.empty() &&
           std::none_of(folds_[0].begin(), folds_[0].end(), [](const fold_writer& f) { return f.places(); });
}

void column_fold::choose_gapless() {
    constexpr std::uint32_t most_words = 20, beside = 4 * 1024;  // of shared memory, for blocks that meet
    // The longer columns are, the fewer rows of them; of what has much to join, sooner.
    constexpr std::uint8_t joined_bucket = 9, long_bucket = 11, longest_bucket = 13;
    const bool one = b_.rank == 1, many_words = words_ > 2;
    layout_ = layout::gapless;
    each_ = std::min(4u, 16 / bytes_of(*inputs_of(spaces_[0])[0]));
    light_ = words_ == 1 && inputs_of(spaces_[0]).size() == 1;
    ahead_ = split_ && gains_from_tiles_ahead();
    while (each_ > 1 &&
           (each_ * cost_of(b_.graph, spaces_[0].values) > statement_budget || each_ * words_ > most_words))
        each_ /= 2;
    const bool few_columns = (inner_bucket() & bucket::short_inner) != 0;
    threads_ =
        one ? (many_words || light_ ? medium_block : large_block) : (many_words || light_ ? small_block : medium_block);
    // Parts of several words want registers.
    std::uint32_t bytes = 0;
    for (const fold_writer& f : folds_[0]) bytes += f.bytes();
    const bool wide_parts = bytes > wide_part_bytes;
    resident_ = many_words && (one || wide_parts) ? resident_threads / 2 : resident_threads;
    // While a small block of moments joins what its threads have, others read.
    if (many_words && few_columns && !one) threads_ = wide_parts ? least_block / 2 : least_block;
    // A small block holds few whole rows of many columns, and what many blocks have of them is much for the last.
    const bool several = !one && !few_columns;
    if (ahead_) {
        resident_ = blocks_ahead * small_block;
        b_.step.blocks_in_waves = blocks_ahead_in_waves;
        threads_ = small_block;
        each_ = 1;
    } else if (is_exponentials()) {
        const bool doubles = bytes_of(*inputs_of(spaces_[0])[0]) == 8;
        resident_ = doubles || (several && bucket_ >= joined_bucket) ? resident_threads / 2 : resident_threads;
        threads_ = one ? resident_ : few_columns ? small_block : medium_block;
    } else if (several && bucket_ >= (many_words ? joined_bucket : long_bucket)) {
        threads_ = medium_block;
        if (many_words || bucket_ >= longest_bucket) resident_ = medium_block;
        if (many_words && bucket_ >= long_bucket) each_ = std::min(each_, 2u);
    }
    const std::uint32_t room = shared_bytes - (shares_results() ? beside : 0);
    while (threads_ * (each_ + 1) * widest_part() > room) threads_ /= 2;
    least_blocks_ = blocks_ = resident_ / threads_;
}

void column_fold::write_run() {
    source_writer& out = b_.code;
    const std::string type = b_.linear(), width = b_.count({.axes = axis_bit(inner_)}, "width"),
                      by_width = b_.divisor({.axes = axis_bit(inner_)}, "by_width"), all = std::to_string(threads_);
    constexpr std::uint32_t vectors_a_thread = 8;
    b_.step.grid[0] = {.axes = outer_bits(),
                       .inner = spaces_[0].bits() | axis_bit(inner_),
                       .inner_divide = each_ * vectors_a_thread,
                       .room = threads_};
    if (b_.rank == 1) {
        const std::string most = "quotient(" + all + "u, " + by_width + ')';
        if (light_)  // steps of whole sectors, which are two vectors, cost no more than a row of threads of many
            out.line("const ", type, " most = ", most, ", height = most > 8 ? most - (most & ", width, " & 1) : most;");
        out.line("const ", type, light_ ? "" : " height = " + most + ',', " active = height * ", width,
                 ", lane = threadIdx.x;");
        out.line("const ", type, " down = quotient(lane, ", by_width, ");");
        out.line("const bool mine = down < height;");
    } else {
        const std::string outers = b_.count({.axes = outer_bits()}, "outers");
        out.line("const ", type, " groups = (", outers, " + gridDim.x - 1) / gridDim.x;");
        out.line("const ", type, " height = quotient(", all, "u, ", by_width, ") / groups, active = height * ", width,
                 ";");
        out.line("const ", type, " group = threadIdx.x / active, lane = threadIdx.x - group * active;");
        out.line("const ", type, " at = ", block(), " * groups + group;");
        out.line("const bool mine = group < groups && at < ", outers, ";");
        // Threads for which there is no whole group stand below all others.
        out.line("const ", type, " down = group < groups ? quotient(lane, ", by_width, ") : height;");
        out.line("const ", type, " outer = at < ", outers, " ? at : ", outers, " - 1;");
    }
    column_ = "(lane - quotient(lane, " + by_width + ") * " + width + ')';
}

std::uint32_t column_fold::run_unroll() const {
    const std::uint32_t wanted =
        ahead_ ? bytes_ahead : (light_ ? 128 : 64) * 1024 / resident_;  // of a thread, in flight
    const folded_space& s = spaces_[0];
    return unroll_of(s, static_cast<std::uint32_t>(inputs_of(s).size()) * bytes_of(*inputs_of(s)[0]) * each_, each_,
                     each_, wanted);
}

std::string column_fold::address_in_run(const place& in, const std::string& at) const {
    return in.name + "_from + (" + at + ')' + (each_ == 1 ? "" : " * " + std::to_string(each_));
}

void column_fold::load_run(const folded_space& s, const std::string& at) {
    for (const place* in : inputs_of(s)) {
        const std::uint32_t bytes = bytes_of(*in) * each_;
        const std::string from = address_in_run(*in, at);
        if (each_ == 1)
            b_.code.line(in->name, "[u] = ", in->at->head.aliased ? "*(" : "__ldg(", from, ");");
        else
            b_.code.line(b_.loader(b_.reading_of(*in, kept_bits() | s.bits()), word_of(bytes, in->at->head.type)), '<',
                         word_of(bytes, in->at->head.type), ">(", in->name, "[u], ", from, ");");
    }
}

void column_fold::write_gapless() {
    source_writer& out = b_.code;
    const folded_space& s = spaces_[0];
    std::vector<fold_writer>& folds = folds_[0];
    const std::vector<const place*> inputs = inputs_of(s);
    const std::string type = b_.linear(), u8 = b_.needs.type(dtype::u8), u4 = b_.needs.type(dtype::u4);
    const std::uint64_t cells = s.bits() | axis_bit(inner_);
    const std::string n = b_.count({.axes = cells}, "cells"), each = std::to_string(each_);
    if (split_) {
        constexpr std::uint32_t piece_bytes = 32 * 1024, least_threads = 256;  // of a multiprocessor
        constexpr std::uint32_t waves_of_large_blocks = 6;
        const std::uint32_t blocks_of_one = b_.rank == 1 ? 0 : std::max(1u, least_threads / threads_);
        split(axis_bit(inner_), piece_bytes / bytes_of(*inputs[0]), blocks_, blocks_of_one, threads_,
              is_of_large_blocks() ? waves_of_large_blocks : waves_of_columns());
    }
    if (shares_results()) declare_sharing();
    declare_results(folds);
    const auto outside = b_.body.scope();
    out.open();
    columns_ = each_;
    for (const place* in : inputs)
        out.line("const ", b_.needs.type(in->at->head.type), "* const ", in->name, "_run = ", b_.pointer(*in),
                 b_.offset(*in, outer_bits()), ";");
    out.line("const ", type, " head = min(", n, ", ", type, "(-(reinterpret_cast<", u8, ">(", inputs[0]->name,
             "_run) / ", bytes_of(*inputs[0]), ") % ", each, "));");
    out.line("const ", type, " vectors = (", n, " - head) / ", each, ", edges = ", n, " - vectors * ", each, ";");
    for (fold_writer& f : folds) out.line(f.type(), ' ', f.edge(), " = ", f.start(), ";");
    out.open("if (", split_ ? "blockIdx.y == 0 && " : "", "mine && lane < edges)");
    out.line("const ", type, " at = lane < head ? lane : lane + vectors * ", each, ";");
    for (const place* in : inputs) {
        out.line("const ", b_.needs.type(in->at->head.type), ' ', in->name, " = ", in->name, "_run[at];");
        b_.body.name(in->node, in->name);
    }
    for (fold_writer& f : folds) {
        const std::string value = f.entry(b_.body.value(f.value(), out), "at");
        out.line(f.edge(), " = ", f.of_one(value), ";");
    }
    out.close();
    b_.body.leave(outside);
    for (const place* in : inputs)
        out.line("const ", b_.needs.type(in->at->head.type), "* const ", in->name, "_from = ", in->name,
                 "_run + head;");
    for (fold_writer& f : folds) declare(f.type(), f.held(), f.start());
    declare_parts(folds);
    const std::uint32_t tile = run_unroll();
    const std::string tiles = std::to_string(tile) + " * active";
    if (split_) {  // rounds of whole tiles, then even pieces of what is left
        const std::string width = b_.count({.axes = axis_bit(inner_)}, "width");
        out.line("const ", type, " round = gridDim.y * ", tiles, ", rounds = vectors / round * round;");
        write_rounds(tile);
        b_.body.leave(outside);
        if (shares_results()) ask_rule();
        out.line("const ", type, " pieces = gridDim.y * ", width,
                 ", piece = (vectors - rounds + pieces - 1) / pieces * ", width, ";");
        out.line("const ", type, " k = rounds + blockIdx.y * piece + lane;");
        out.line("const ", type, " end = mine ? min(vectors, rounds + (blockIdx.y + 1) * piece) : 0;");
        out.open("if (k < end)");
        write_tile(0, tile, " * active", "end");
        out.close();
        b_.body.leave(outside);
    } else {
        out.line("const ", type, " end = mine ? vectors : 0;");
        write_tiles(0, tile, "lane", " * active", "end", tiles);
    }
    join_parts(folds);
    columns_ = 1;
    add_run_of_columns();
    out.line("const run_of_columns run{", b_.count({.axes = axis_bit(inner_)}, "width"), ", ", column_, ", down, ",
             "height, head, vectors * ", each, ", edges, ",
             b_.rank == 1 ? std::string("0") : "group < groups ? group * active : 0", ", ",
             b_.divisor({.axes = axis_bit(inner_)}, "by_width"), "};");
    for (fold_writer& f : folds)
        out.line(f.name(), " = ", add_join_run(f), '<', f.joiner(), ", ", each_, ", ", threads_, ">(",
                 each_ == 1 ? "&" : "", f.held(), ", ", f.edge(), ", ", f.start(), ", room, run);");
    b_.body.leave(outside);
    out.close();
}

void column_fold::write_rounds(std::uint32_t tile) {
    source_writer& out = b_.code;
    const std::string first = b_.linear() + " k = blockIdx.y * " + std::to_string(tile) + " * active + lane;";
    if (ahead_) {
        out.open();
        out.line(first);
        write_tiles_ahead(
            0, tile, " * active", "round", "active",
            [](const std::string& at) { return "mine && " + at + " < rounds"; },
            [&](const place& in, const std::string& at) { return address_in_run(in, at); });
    } else {
        out.open("for (", first, " mine && k < rounds; k += round)");
        write_tile(0, tile, " * active", "");
    }
    out.close();
}

void column_fold::add_run_of_columns() {
    b_.needs.add("run_of_columns",
                 "/// Where this thread's column is found among the vectors of its group of threads.\n"
                 "struct run_of_columns {\n    " +
                     b_.linear() +
                     " width, column, down, height, head, tail, edges, first_thread;\n    divisor by_width;\n};\n");
}

std::string column_fold::add_join_run(const fold_writer& f) {
    const std::string index = b_.linear(), name = f.joins_at_once() ? "join_run_at_once" : "join_run";
    const std::string all = f.joins_at_once() ? "fold::join_all(parts)" : b_.join_pairs("fold", each_, "parts");
    b_.needs.add(
        name,
        "/// What the threads have of a column, each n variables and perhaps an edge. Every thread gets a part:\n"
        "/// those with the same column, `height` of them, have all of it together.\n"
        "template <class fold, int n, int threads, class type>\n"
        "__device__ __forceinline__ type " +
            name +
            "(const type* v, type edge, type start, void* room, run_of_columns run) {\n"
            "    type* const cells = static_cast<type*>(room);\n"
            "    type* const edges = cells + n * threads;\n"
            "    __syncthreads();\n"
            "#pragma unroll\n"
            "    for (int i = 0; i < n; ++i) cells[threadIdx.x * n + i] = v[i];\n"
            "    edges[threadIdx.x] = edge;\n"
            "    __syncthreads();\n"
            "    if (run.down >= run.height) return start;\n"
            "    const " +
            index +
            " shift = run.head - quotient(run.head, run.by_width) * run.width;\n"
            "    const " +
            index +
            " first = run.column < shift ? run.column + run.width - shift : run.column - shift;\n"
            "    const type* const own = cells + run.first_thread * n + first;\n"
            "    type parts[n];\n"
            "#pragma unroll\n"
            "    for (int i = 0; i < n; ++i) parts[i] = own[(run.down + i * run.height) * run.width];\n"
            "    type all = " +
            all + ";\n    for (" + index +
            " i = 0; run.down == 0 && i < run.edges; ++i) {\n"
            "        const " +
            index +
            " at = i < run.head ? i : i + run.tail;\n"
            "        if (at - quotient(at, run.by_width) * run.width == run.column)\n"
            "            all = fold::join(all, edges[run.first_thread + i]);\n"
            "    }\n"
            "    return all;\n}\n");
    return name;
}

}  // namespace ingot::codegen
