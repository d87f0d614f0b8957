// Rows on CUDA: how lanes share them (row_fold_cuda.hpp).
#include "codegen/row_fold_cuda.hpp"

#include <algorithm>

namespace ingot::codegen {

using namespace detail;

namespace {

constexpr std::uint32_t usual_threads = 256;
constexpr std::uint32_t resident_threads = 1024;  // of a multiprocessor, where blocks share rows

}  // namespace

row_fold::row_fold(const key& k, const graph& g, const folding& f) : cuda_fold(k, g, f, usual_threads) {
    const bool few = few_results(b_.key, b_.rank);
    split_ = few && bucket_ >= long_row_bucket;
    if (split_ && is_light() && !are_bytes()) threads_ = 2 * usual_threads;
    lanes_ = choose_lanes(few);
    // Of many rows that are not long, more blocks at once: some load while others join what they have.
    constexpr std::uint8_t longest_bucket = 10;
    if (lanes_ == threads_ && !few && bucket_ <= longest_bucket) lanes_ = threads_ = usual_threads / 2;
    if (split_) least_blocks_ = resident_blocks();
    deals_tiles_ = can_deal_tiles();
    deals_rounds_ = can_deal_rounds();
}

std::uint32_t row_fold::choose_lanes(bool few) const {
    const std::uint32_t vectors = (16u << bucket_) / vector_elements(spaces_[longest_]);
    constexpr std::uint32_t vectors_a_lane = 4, warp = 32;
    if (bucket_ >= long_row_bucket || (few ? vectors > warp : vectors > 4 * vectors_a_lane * warp)) return threads_;
    return few ? warp : std::clamp(vectors / vectors_a_lane, 8u, warp);
}

bool row_fold::is_light() const {
    constexpr std::uint32_t double_bytes = 8, few_words = 5;
    return words_ <= few_words && std::ranges::all_of(b_.inputs, [this](const place& in) {
               return bytes_of(in) < double_bytes || words_ == 1;
           });
}

bool row_fold::are_bytes() const {
    return std::ranges::all_of(b_.inputs, [](const place& in) { return bytes_of(in) == 1; });
}

bool row_fold::can_deal_rounds() const {
    return split_ && b_.rank == 0 && spaces_.size() == 1 && vector_elements(spaces_[0]) > 1 &&
           std::ranges::all_of(folds_[0], [](const fold_writer& f) { return f.is_in_any_order(); });
}

bool row_fold::counts_alone() const { return folds_[longest_].size() == 1 && folds_[longest_][0].counts_entries(); }

bool row_fold::is_moments() const { return counts_alone() && folds_[longest_][0].is_moments(); }

bool row_fold::is_exponentials() const { return counts_alone() && !is_moments(); }

std::uint32_t row_fold::resident_blocks() const {
    const std::uint32_t quarters = is_light() ? 4 : is_moments() ? 2 : is_exponentials() ? 3 : 4;
    return resident_threads / 4 * quarters / threads_;
}

bool row_fold::has_rounds(const std::vector<fold_writer>& folds) const {
    constexpr std::uint32_t most_vectors = 64;
    return rounds(folds) && (bucket_ >= long_row_bucket || (16u << bucket_) > most_vectors * lanes_);
}

void row_fold::write_place() {
    if (deals_tiles_) return;
    source_writer& out = b_.code;
    if (lanes_ < threads_) out.line("const ", b_.needs.type(dtype::u4), " lane = threadIdx.x % ", lanes_, "u;");
    if (b_.rank > 0 && lanes_ == threads_) {
        out.line("const ", b_.linear(), " row = blockIdx.x;");
    } else if (b_.rank > 0) {
        // Lanes without a row help with the last one and keep what they find to themselves.
        out.line("const ", b_.linear(), " mine = ", b_.wide() ? b_.linear() + "(blockIdx.x)" : "blockIdx.x", " * ",
                 threads_ / lanes_, "u + threadIdx.x / ", lanes_, "u;");
        out.line("const ", b_.linear(), " row = mine < ", rows(), " ? mine : ", rows(), " - 1;");
    }
    b_.write_digits("row", kept_);
    load_kept(kept_bits());
    b_.step.grid[0] = {.axes = kept_bits(), .divide_by = threads_ / lanes_};
}

void row_fold::write_space(std::size_t number) {
    if (deals_tiles_) return write_dealt_tiles();
    const folded_space& s = spaces_[number];
    const std::string n = b_.count({.axes = s.bits()}, "folded" + suffix(number));
    declare_results(folds_[number]);
    const auto outside = b_.body.scope();
    b_.code.open();
    declare_parts(folds_[number]);
    const std::uint32_t each = vector_elements(s);
    each > 1 ? write_vectors(number, each, n) : write_elements(number, n);
    b_.body.leave(outside);
    join_parts(folds_[number]);
    b_.code.close();
}

void row_fold::write_vectors(std::size_t number, std::uint32_t each, const std::string& n) {
    source_writer& out = b_.code;
    const folded_space& s = spaces_[number];
    std::vector<fold_writer>& folds = folds_[number];
    const std::vector<const place*> inputs = inputs_of(s);
    const std::uint32_t unroll = unroll_of(s, each);
    const std::string type = b_.linear(), size = std::to_string(each);
    const bool shared = split_;  // shorter spaces too: what each block has is joined
    if (split_ && number == longest_) split_rows(each, bytes_at_once(s) * each);
    const bool aligned = is_aligned(s);
    if (!aligned) write_head(*inputs[0], n);
    out.line("const ", type, " vectors = ", aligned ? n : "(" + n + " - head)", " / ", each, ";");
    // What no vector holds is loaded first, so that nobody waits for it.
    const std::string edges = n + " - vectors * " + size, first = shared ? "blockIdx.y == 0 && " : "";
    const std::string k = aligned ? "vectors * " + size + " + " : "";
    const bool at_once = lanes_ >= (aligned ? 0 : head_unit(*inputs[0])) + each;
    if (at_once) {
        out.line("const ", type, " edge = ",
                 aligned ? k + lane() : lane() + " < head ? " + lane() + " : " + lane() + " + vectors * " + size, ";");
        load_edges(s, first + lane() + " < " + edges);
    }
    declare_rows(s, aligned);
    const auto outside = b_.body.scope();
    for (std::size_t i = 0; i < folds.size(); ++i)
        if (const place* in = packed_by(folds[i], s, each); in != nullptr) {
            const std::string packed = add_packed(folds[i], *in);
            out.line("unsigned int packed", i, "[2] = {", packed, "::start, ", packed, "::start};");
        }
    if (shared) {
        write_rounds(number, each, unroll, aligned);
    } else {
        out.margin("#pragma unroll 1");  // few rows want a second tile, all of them registers
        out.open("for (", type, " v = ", lane(), "; v < vectors; v += ", lanes_ * unroll, "u)");
        write_vector_tile(number, each, unroll, aligned, "vectors");
        out.close();
    }
    b_.body.leave(outside);
    for (std::size_t i = 0; i < folds.size(); ++i)
        if (const place* in = packed_by(folds[i], s, each); in != nullptr) {
            const std::string whole = add_packed(folds[i], *in) + "::whole(packed" + std::to_string(i) + ')';
            out.line(own(folds[i].part()), " = ", folds[i].joined(own(folds[i].part()), whole), ";");
        }

    if (at_once) {
        for (const place* in : inputs) b_.body.name(in->node, in->name + "_edge");
        out.open("if (", first, lane(), " < ", edges, ")");
        for (fold_writer& f : folds) join_one(f, f.entry(b_.body.value(f.value(), out), "edge"));
        if (!s.outputs.empty()) b_.write_digits("edge", s.axes);
        store_element_outputs(s);
    } else {
        out.open("for (", type, " r = ", lane(), "; ", first, "r < ", edges, "; r += ", lanes(), ")");
        out.line("const ", type, " edge = ", aligned ? k + "r" : "r < head ? r : r + vectors * " + size, ";");
        b_.write_digits("edge", s.axes);
        write_element(number, "edge");
    }
    out.close();
}

void row_fold::write_rounds(std::size_t number, std::uint32_t each, std::uint32_t unroll, bool aligned) {
    source_writer& out = b_.code;
    const std::string type = b_.linear(), tile = std::to_string(lanes_ * unroll) + 'u';
    const auto outside = b_.body.scope();
    out.line("const ", type, " round = gridDim.y * ", tile, ';');
    std::string shared_evenly = "vectors";
    if (deals_rounds_) {
        // Of many rounds two and a sixteenth are dealt: differences add up.
        shared_evenly = "even";
        out.line("const bool deals = gridDim.y > 1 && vectors >= 6 * round;");
        out.line("const ", type, " even = deals ? vectors - vectors / 16 - 2 * round : vectors;");
    }
    // No quotient by what is known at run time: the first loads would wait for it.
    out.line(type, " rounds = 0;");
    out.open("for (; rounds + round <= ", shared_evenly, "; rounds += round)");
    out.line("const ", type, " v = rounds + blockIdx.y * ", tile, " + ", lane(), ';');
    write_vector_tile(number, each, unroll, aligned, "");
    out.close();
    b_.body.leave(outside);
    const std::string even = "((vectors - rounds + gridDim.y - 1) / gridDim.y + 7) / 8 * 8;";  // whole lines of caches
    out.line("const ", type, " piece = ", deals_rounds_ ? "deals ? " + tile + " : " : "", even);
    if (deals_rounds_) return write_dealt_rounds(number, each, unroll, aligned);
    out.line("const ", type, " v = rounds + blockIdx.y * piece + ", lane(),
             ", end = min(vectors, rounds + (blockIdx.y + 1) * piece);");
    out.open("if (v < end)");
    write_vector_tile(number, each, unroll, aligned, "end");
    out.close();
}

void row_fold::write_dealt_rounds(std::size_t number, std::uint32_t each, std::uint32_t unroll, bool aligned) {
    source_writer& out = b_.code;
    const std::string type = b_.linear();
    b_.step.scratch_before = sizeof(std::uint64_t);  // how many pieces have been asked for
    out.line("__shared__ ", type, " asked[2];");
    out.open("for (", type, " at = blockIdx.y, turn = 0; at * piece < vectors - rounds; turn ^= 1)");
    out.line("const ", type, " v = rounds + at * piece + ", lane(), ", end = min(vectors, rounds + (at + 1) * piece);");
    out.line(type, " number = at;");
    // A piece in advance, and nobody waits for the answer. For what could be written as atomicAdd a warp would: the
    // compiler adds up what its threads ask for and shuffles the answer.
    out.line("if (deals && threadIdx.x == 0) number = atomicInc(reinterpret_cast<", b_.needs.type(dtype::u4), "*>(",
             scratch_pointer(), "), 0x7fffffffu);");
    out.open("if (v < end)");  // the first thread's always is
    load_vector_tile(number, each, unroll, "end");
    out.line("if (threadIdx.x == 0) asked[turn] = gridDim.y + number;");
    join_vector_tile(number, each, unroll, aligned, "end");
    out.close();
    out.line("__syncthreads();");
    out.line("at = asked[turn];");
    out.close();
}

void row_fold::load_edges(const folded_space& s, const std::string& present) {
    for (const place* in : inputs_of(s)) b_.code.line(b_.needs.type(in->at->head.type), ' ', in->name, "_edge;");
    b_.code.open("if (", present, ")");
    b_.write_digits("edge", s.axes);
    for (const place* in : inputs_of(s))
        b_.code.line(in->name, "_edge = ", b_.element(*in, b_.offset(*in, kept_bits() | s.bits())), ";");
    b_.code.close();
}

void row_fold::declare_rows(const folded_space& s, bool aligned) {
    for (const place* in : inputs_of(s))
        b_.code.line("const ", b_.needs.type(in->at->head.type), "* const ", in->name, "_row = ", b_.pointer(*in),
                     b_.offset(*in, kept_bits()), aligned ? ";" : " + head;");
}

void row_fold::write_vector_tile(std::size_t number, std::uint32_t each, std::uint32_t unroll, bool aligned,
                                 const std::string& end) {
    load_vector_tile(number, each, unroll, end);
    join_vector_tile(number, each, unroll, aligned, end);
}

void row_fold::load_vector_tile(std::size_t number, std::uint32_t each, std::uint32_t unroll, const std::string& end) {
    source_writer& out = b_.code;
    const folded_space& s = spaces_[number];
    const std::vector<const place*> inputs = inputs_of(s);
    for (const place* in : inputs) {
        out.line("alignas(", bytes_of(*in) * each, ") ", b_.needs.type(in->at->head.type), ' ', in->name, '[', unroll,
                 "][", each, "];");
        b_.body.name(in->node, in->name + "[u][e]");
    }
    const std::string vector = vector_of(unroll);
    b_.open_unrolled("u", unroll);
    if (unroll > 1 && !end.empty()) out.line("if (", vector, " >= ", end, ") continue;");
    for (const place* in : inputs) {  // apart by what is known: one address for all of them
        const std::string_view word = word_of(bytes_of(*in) * each, in->at->head.type);
        out.line(b_.loader(b_.reading_of(*in, kept_bits() | s.bits()), word), '<', word, ">(", in->name, "[u], ",
                 in->name, "_row + v * ", each, unroll == 1 ? "" : " + u * " + std::to_string(lanes_ * each) + 'u',
                 ");");
    }
    out.close();
}

void row_fold::join_vector_tile(std::size_t number, std::uint32_t each, std::uint32_t unroll, bool aligned,
                                const std::string& end) {
    source_writer& out = b_.code;
    const folded_space& s = spaces_[number];
    std::vector<fold_writer>& folds = folds_[number];
    const std::string vector = vector_of(unroll);
    if (end.empty() && s.outputs.empty() && number == longest_ && counts_alone())
        return join_whole_tile(number, each, unroll);
    declare_outputs(s, unroll, each);
    b_.open_unrolled("u", unroll);
    if (unroll > 1 && !end.empty()) out.line("if (", vector, " >= ", end, ") break;");
    std::vector<std::size_t> plain;
    for (std::size_t i = 0; i < folds.size(); ++i) {
        if (const place* in = packed_by(folds[i], s, each); in != nullptr)
            out.line(add_packed(folds[i], *in), "::take(packed", i, ", ", in->name, "[u]);");
        else
            plain.push_back(i);
    }
    if (!plain.empty() || !s.outputs.empty()) {
        const std::string first = std::string(aligned ? "" : "head + ") + '(' + vector + ") * " + std::to_string(each);
        for (const std::size_t i : plain) out.line(folds[i].entry_type(), " value", i, '[', each, "];");
        b_.open_unrolled("e", each);
        for (const std::size_t i : plain)
            out.line("value", i, "[e] = ", folds[i].entry(b_.body.value(folds[i].value(), out), first + " + e"), ";");
        put_outputs(s, "[u][e]");
        out.close();
        if (!s.outputs.empty())
            store_outputs(s, each, s.inner(), [&](bool element) {
                out.line("const ", b_.signed_index(), ' ', digit(s.inner()), " = ", b_.signed_index(), '(', first,
                         element ? " + e" : "", ");");
            });
        for (const std::size_t i : plain) join_entries(folds[i], "value" + std::to_string(i), each);
    }
    out.close();
    flush_parts(folds, unroll);
}

void row_fold::join_whole_tile(std::size_t number, std::uint32_t each, std::uint32_t unroll) {
    fold_writer& f = folds_[number][0];
    b_.code.line(f.entry_type(), " value0[", unroll * each, "];");
    b_.open_unrolled("u", unroll);
    b_.open_unrolled("e", each);
    b_.code.line("value0[u * ", each, " + e] = ", f.entry(b_.body.value(f.value(), b_.code), ""), ";");
    b_.code.close();
    b_.code.close();
    join_entries(f, "value0", unroll * each);
    flush_parts(folds_[number], unroll);
}

std::uint32_t row_fold::unroll_of(const folded_space& s, std::uint32_t each) const {
    // A whole row at once, where registers hold it: what is left for a second time would wait for itself.
    constexpr std::uint32_t bytes_in_flight = 64, whole_row_bytes = 128;
    const std::size_t number = static_cast<std::size_t>(&s - spaces_.data());
    const bool all_packed = s.outputs.empty() && std::ranges::all_of(folds_[number], [&](const fold_writer& f) {
                                return packed_by(f, s, each) != nullptr;
                            });
    return cuda_fold::unroll_of(
        s, bytes_at_once(s) * each, lanes_ * each, all_packed ? 0 : each,
        (split_ && !is_light() && !is_moments()) || lanes_ < threads_ ? bytes_in_flight : whole_row_bytes);
}

std::uint32_t row_fold::head_unit(const place& in) const {
    constexpr std::uint32_t line = 128, vector = 16;
    const std::uint32_t bytes = bytes_of(in);
    return (lanes_ >= (line + vector) / bytes ? line : vector) / bytes;
}

void row_fold::write_head(const place& in, const std::string& n) {
    const std::string start = b_.pointer(in) + b_.offset(in, kept_bits()), u8 = b_.needs.type(dtype::u8);
    b_.code.line("const ", b_.linear(), " head = min(", n, ", ", b_.linear(), "(-(reinterpret_cast<", u8, ">(", start,
                 ") / ", bytes_of(in), ") % ", head_unit(in), "));");
}

void row_fold::write_elements(std::size_t number, const std::string& n) {
    const folded_space& s = spaces_[number];
    const std::uint32_t unroll = unroll_of(s, bytes_at_once(s), lanes_, 1), tile = lanes_ * unroll;
    const bool shared = split_;  // shorter spaces too: what each block has is joined
    if (split_ && number == longest_) split_rows(1, bytes_at_once(s));
    write_tiles(number, unroll, (shared ? "blockIdx.y * " + std::to_string(tile) + "u + " : "") + lane(),
                " * " + lanes(), n, (shared ? "gridDim.y * " : "") + std::to_string(tile) + 'u');
}

void row_fold::split_rows(std::uint32_t each, std::uint32_t bytes) {
    constexpr std::uint32_t piece_bytes = 32 * 1024;
    split(0, each * std::max(threads_, piece_bytes / std::max(bytes, 4u)), resident_blocks(), 0, 1);
}

std::uint32_t row_fold::vector_elements(const folded_space& s) const {
    const std::vector<const place*> inputs = inputs_of(s);
    if (s.axes.size() != 1 || inputs.empty() || !generators_of(s).empty()) return 1;
    if (!is_aligned(s) && (inputs.size() != 1 || inputs[0]->at->head.aliased)) return 1;
    std::uint32_t widest = 1;
    for (const place* in : inputs) {
        if (!is_unit(*in, s.inner())) return 1;
        widest = std::max(widest, bytes_of(*in));
    }
    for (const std::size_t k : s.outputs) widest = std::max(widest, bytes_of(b_.outputs[k]));
    std::uint32_t each = 16 / widest;
    while (each > 1 && each * cost_of(b_.graph, s.wanted(b_.graph)) > statement_budget) each /= 2;
    return each;
}

bool row_fold::is_aligned(const folded_space& s) const {
    const std::vector<const place*> inputs = inputs_of(s);
    return std::all_of(inputs.begin(), inputs.end(), [](const place* in) { return in->at->head.vector; });
}

void row_fold::combine(fold_writer& f, const std::string& joiner, const std::string& variable) {
    lanes_ < threads_ ? combine_lanes(f, joiner, variable, lanes_) : combine_block(f, joiner, variable);
}

void row_fold::write_ending() {
    if (!deals_tiles_) cuda_fold::write_ending();
}

std::string row_fold::owner() {
    if (lanes_ == threads_ || b_.rank == 0) return "if (threadIdx.x == 0)";
    return "if (lane == 0 && mine < " + rows() + ")";
}

void row_fold::describe(launch& step) const {
    step.pattern = split_ ? "split reduction" : "row reduction";
    step.reason =
        std::to_string(lanes_) + " lanes a row" +
        (deals_tiles_    ? ", tiles of all rows dealt to the blocks in turn: the rows are too few to fill the GPU"
         : deals_rounds_ ? ", several blocks a row, the last of it dealt to those that come for it: rows are too "
                           "few to fill the GPU, and no block waits for a slow one"
         : split_        ? ", several blocks a row: rows are too few to fill the GPU"
                         : ": each has several vectors of it under way");
}

void emit_row_fold_cuda(const key& k, const graph& g, const folding& f, plan& p) { row_fold(k, g, f).write(p); }

}  // namespace ingot::codegen
