// Rows too short for a warp each, along memory, for CUDA. A block's rows are one run of memory: they are copied into
// shared memory 16 bytes a thread whatever their length, then a thread works on a row, and results along the rows go
// back through the same place.
//
// Threads side by side read places one row apart. Rows of an odd number of words meet all banks as they lie. Rows of
// whole 16-byte chunks are read a chunk at a time; where four or more divide their number, chunk q lies at
// q ^ (q >> skew & 7), 2^skew being the power of two in the number and 8 at least, for asynchronous copies are slow
// unless the chunks of 128 bytes stay together. What is left meets each bank twice or thrice.
#include <algorithm>
#include <bit>

#include "codegen/cuda_kernel.hpp"
#include "codegen/fold.hpp"
#include "codegen/short_rows.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

constexpr std::uint32_t threads = 128;
constexpr std::uint32_t wanted_bytes = 16 * 1024, most_bytes = 48 * 1024;  // of shared memory
constexpr std::uint32_t loose_group = 4;  // elements at once of rows that are not whole chunks
constexpr std::uint32_t dear = 8;         // operations worth a place in shared memory: a transcendental function

bool moves_on(const operand_class& o, int axis) {
    return o.strides[static_cast<std::size_t>(axis)] != stride_class::broadcast;
}
bool moves_on(const node& n, int axis) { return (n.axes & axis_bit(axis)) != 0; }

/// Rows in shared memory: of an input, then of values that one phase keeps for later ones, then of an output.
struct slab {
    dtype type;
    bool chunked;                // a row is whole 16-byte chunks
    std::vector<node_id> holds;  // what each phase finds in it
    int output = -1;

    std::uint32_t bytes() const { return static_cast<std::uint32_t>(size_of(type)); }
    bool is_loaded() const { return holds[0] != no_node; }
    /// What a phase leaves in it for the next ones.
    node_id kept_by(std::size_t phase) const {
        return phase + 1 < holds.size() && holds[phase + 1] != holds[phase] ? holds[phase + 1] : no_node;
    }
};

/// What is held where, and which phase uses what.
class row_slabs {
public:
    row_slabs(const key& k, const graph& g, const row_program& rows) : phases_(rows.phases.size() + 1) {
        find_uses(g, rows);
        for (node_id i = 0; i < g.nodes.size(); ++i) {
            const node& n = g.nodes[i];
            const std::uint64_t wanted = rows.kept_bits() | axis_bit(rows.inner());
            if (n.kind != node_kind::operand || (n.axes & wanted) != wanted || uses_[i] == 0) continue;
            const operand_head& head = k.operands[n.index].head;
            if (head.kind == operand_kind::array) hold(i, n.type, head.vector, 0);
        }
        find_groups(k, rows);
        for (node_id i = 0; i < g.nodes.size(); ++i)
            if (made_[i] != 0) hold(i, g.nodes[i].type, is_whole(g.nodes[i].type), made_[i]);
        for (std::size_t o = 0; o < k.outputs.size(); ++o)
            if (moves_on(k.outputs[o], rows.inner())) give_out(static_cast<int>(o), k.outputs[o].head);
    }

    const std::vector<slab>& slabs() const { return slabs_; }
    bool uses(std::size_t phase, node_id n) const { return (uses_[n] >> phase & 1u) != 0; }
    /// Elements of a row that are read at once; rows are whole groups, or not.
    std::uint32_t group() const { return group_; }
    bool whole_groups() const { return whole_ > 1; }

private:
    /// From the last node to the first, each knows its users before it is met. What is dear, moves along the row and is
    /// wanted by a later phase again is made in the first and kept.
    void find_uses(const graph& g, const row_program& rows) {
        uses_.assign(g.nodes.size(), 0);
        made_.assign(g.nodes.size(), 0);
        for (std::size_t phase = 0; phase < phases_; ++phase)
            for (const node_id n : rows.wanted(g, phase)) uses_[n] |= std::uint64_t{1} << phase;
        for (node_id i = static_cast<node_id>(g.nodes.size()); i-- > 0;) {
            const node& n = g.nodes[i];
            const std::uint64_t first = uses_[i] & -uses_[i], later = uses_[i] & ~first;
            if (n.kind == node_kind::reduce) continue;
            const bool kept = later != 0 && moves_on(n, rows.inner()) && cost_of(g, {i}) >= dear;
            if (kept) made_[i] = static_cast<std::uint8_t>(std::countr_zero(first) + 1);
            for (int a = 0; a < n.arity; ++a) uses_[n.arguments[a]] |= kept ? first : uses_[i];
        }
    }

    /// From this phase to its last use; in place of what is not wanted any more where that has the same form.
    void hold(node_id n, dtype type, bool chunked, std::size_t from) {
        const auto last = static_cast<std::size_t>(std::bit_width(uses_[n]));
        auto at = std::find_if(slabs_.begin(), slabs_.end(), [&](const slab& s) {
            return s.type == type && s.chunked == chunked &&
                   std::all_of(s.holds.begin() + static_cast<std::ptrdiff_t>(from), s.holds.end(),
                               [](node_id held) { return held == no_node; });
        });
        if (from == 0 || at == slabs_.end())
            at = slabs_.insert(slabs_.end(), {type, chunked, std::vector<node_id>(phases_, no_node)});
        std::fill(at->holds.begin() + static_cast<std::ptrdiff_t>(from),
                  at->holds.begin() + static_cast<std::ptrdiff_t>(last), n);
    }
    /// The last phase writes an element after all that it reads there.
    void give_out(int output, const operand_head& head) {
        auto at = std::find_if(slabs_.begin(), slabs_.end(), [&](const slab& s) {
            return s.output < 0 && s.type == head.type && s.chunked == head.vector;
        });
        if (at == slabs_.end())
            at = slabs_.insert(slabs_.end(), {head.type, head.vector, std::vector<node_id>(phases_, no_node)});
        at->output = output;
    }

    /// Where one array's rows are whole chunks the length is a multiple of what a chunk holds, for all.
    void find_groups(const key& k, const row_program& rows) {
        std::uint32_t widest = 1;
        const auto consider = [&](dtype type, bool chunked) {
            const auto bytes = static_cast<std::uint32_t>(size_of(type));
            widest = std::max(widest, bytes);
            if (chunked) whole_ = std::max(whole_, 16 / bytes);
        };
        for (const slab& s : slabs_) consider(s.type, s.chunked);
        for (const operand_class& o : k.outputs)
            if (moves_on(o, rows.inner())) consider(o.head.type, o.head.vector);
        group_ = whole_groups() ? std::min(whole_, 16 / widest) : loose_group;
    }
    bool is_whole(dtype type) const { return whole_ * size_of(type) % 16 == 0; }

    std::size_t phases_;
    std::vector<std::uint64_t> uses_;  // of each node: bit p: phase p reads it or computes it
    std::vector<std::uint8_t> made_;   // of each node that is kept: the phase after that which makes it
    std::vector<slab> slabs_;
    std::uint32_t whole_ = 1, group_ = 1;
};

/// How much of its slabs a block fills: about `elements`, for its rows are a multiple of some, so that every block's
/// memory begins with one of the caches' sectors.
struct room {
    std::uint32_t bytes, multiple, capacity, elements;

    room(const std::vector<slab>& slabs, std::uint8_t bucket) {
        constexpr std::uint32_t sector = 32;
        std::uint32_t smallest = 8, each = 0;
        for (const slab& s : slabs) each += s.bytes(), smallest = std::min(smallest, s.bytes());
        multiple = sector / smallest;
        const std::uint32_t uneven = multiple * (16u << bucket);  // what the last rows may add
        capacity = std::max(std::bit_floor(wanted_bytes / std::max(each, 1u)), uneven + (64u << bucket));
        elements = capacity - uneven;
        bytes = capacity * each;
    }
};

class short_rows {
public:
    short_rows(const key& k, const graph& g, const row_program& rows)
        : b_(k, g), rows_(rows), staged_(k, g, rows), slabs_(staged_.slabs()), room_(slabs_, rows.bucket) {}

    void write(plan& p) {
        b_.name_scalars();
        write_loads();
        b_.code.open("for (", u4(), " mine = threadIdx.x; mine < rows; mine += ", threads, ")");
        read_row();
        for (std::size_t phase = 0; phase <= rows_.phases.size(); ++phase) write_phase(phase);
        write_results();
        b_.code.close();
        write_stores();
        describe(p);
    }

private:
    std::string u4() { return b_.needs.type(dtype::u4); }
    std::uint64_t kept_bits() const { return rows_.kept_bits(); }
    std::uint64_t all_bits() const { return kept_bits() | axis_bit(rows_.inner()); }
    /// "rows0": the array in shared memory.
    std::string array_of(const slab& s) const { return "rows" + std::to_string(&s - slabs_.data()); }
    /// The variable by which a slab's chunks are skewed.
    static std::string skew_of(const slab& s) { return s.chunked ? "skew" + std::to_string(s.bytes()) : "31"; }

    /// The block's rows, and their way into shared memory.
    void write_loads() {
        source_writer& out = b_.code;
        const std::string count = b_.count({.axes = kept_bits()}, "rows"), type = u4(), index = b_.linear();
        const std::string n = b_.count({.axes = axis_bit(rows_.inner())}, "n");
        const std::string multiple = std::to_string(room_.multiple);
        out.line("const ", type, " n = ", b_.wide() ? type + '(' + n + ')' : n, ";");
        out.line("const ", type, " share = ", b_.wide() ? type + "((" : "(", count, " + gridDim.x - 1) / gridDim.x",
                 b_.wide() ? ");" : ";");
        out.line("const ", type, " height = ",
                 room_.multiple == 1 ? "share" : "(share + " + multiple + " - 1) / " + multiple + " * " + multiple,
                 ";");
        out.line("const ", index, " first = ", b_.wide() ? index + "(blockIdx.x)" : "blockIdx.x", " * height;");
        out.line("if (first >= ", count, ") return;");
        out.line("const ", type, " rows = ", count, " - first < height ? ",
                 b_.wide() ? type + '(' + count + " - first)" : count + " - first", " : height;");
        std::vector<std::uint32_t> skewed;
        for (const slab& s : slabs_) {
            if (!s.chunked || std::find(skewed.begin(), skewed.end(), s.bytes()) != skewed.end()) continue;
            skewed.push_back(s.bytes());
            b_.needs.add("skew_of", function("By how much rows of so many chunks are skewed; 31 is not at all.") +
                                        "unsigned int skew_of(unsigned int chunks) {\n"
                                        "    return chunks % 4 != 0 ? 31 : max(__ffs(chunks) - 1, 3);\n}\n");
            out.line("const ", type, ' ', skew_of(s), " = skew_of(n / ", 16 / s.bytes(), ");");
        }
        for (const slab& s : slabs_)
            out.line("__shared__ alignas(128) ", b_.needs.type(s.type), ' ', array_of(s), '[', room_.capacity, "];");
        add_skew();
        const bool asynchronous = b_.key.header.architecture >= 80;
        b_.needs.add("copy_chunk",
                     function("16 bytes into shared memory, past registers and the first-level cache.") +
                         "void copy_chunk(uint4* to, const uint4* from) {\n" +
                         (asynchronous ? "    asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16;\" :: "
                                         "\"r\"(unsigned(__cvta_generic_to_shared(to))), \"l\"(from) : \"memory\");\n"
                                       : "    *to = *from;\n") +
                         "}\n");
        b_.needs.add("load_rows",
                     "template <class type>\n__device__ __forceinline__ void load_rows(type* to, const type* "
                     "from, unsigned int n, unsigned int skew) {\n" +
                         over_chunks("copy_chunk(reinterpret_cast<uint4*>(to) + skewed(q, skew), "
                                     "reinterpret_cast<const uint4*>(from) + q)",
                                     "to[i] = from[i]") +
                         "}\n");
        for (const slab& s : slabs_)
            if (s.is_loaded())
                out.line("load_rows(", array_of(s), ", p.", b_.names[b_.graph.nodes[s.holds[0]].index],
                         " + first * n, rows * n, ", skew_of(s), ");");
        if (asynchronous) out.line("asm volatile(\"cp.async.wait_all;\" ::: \"memory\");");
        out.line("__syncthreads();");
    }

    /// The loop of a block over chunks, and over the elements behind the last whole one.
    static std::string over_chunks(const std::string& chunk, const std::string& element) {
        return "    constexpr unsigned int each = 16 / sizeof(type), threads = " + std::to_string(threads) +
               ";\n"
               "    const unsigned int chunks = n / each;\n"
               "    for (unsigned int q = threadIdx.x; q < chunks; q += threads) " +
               chunk +
               ";\n"
               "    for (unsigned int i = chunks * each + threadIdx.x; i < n; i += threads) " +
               element + ";\n";
    }
    void add_skew() {
        b_.needs.add("skewed", function("Where chunk q lies, so that the chunks of neighbouring rows meet all banks.") +
                                   "unsigned int skewed(unsigned int q, unsigned int skew) {\n"
                                   "    return q ^ (q >> skew & 7);\n}\n");
    }
    std::string function(const std::string& why) const { return b_.function(why); }

    /// What the row's thread needs of everything that does not move along it.
    void read_row() {
        source_writer& out = b_.code;
        const bool digits = std::any_of(b_.inputs.begin(), b_.inputs.end(),
                                        [&](const place& in) {
                                            return (b_.graph.nodes[in.node].axes & axis_bit(rows_.inner())) == 0;
                                        }) ||
                            std::any_of(b_.outputs.begin(), b_.outputs.end(),
                                        [&](const place& z) { return !moves_on(*z.at, rows_.inner()); });
        if (digits) {
            out.line("const ", b_.linear(), " row = first + mine;");
            b_.write_digits("row", rows_.kept);
        }
        out.line("const ", u4(), " at = mine * n;");
        for (const place& in : b_.inputs) {
            if (moves_on(b_.graph.nodes[in.node], rows_.inner())) continue;
            const std::string value = b_.element(in, b_.offset(in, kept_bits()));
            out.line("const ", b_.needs.type(in.at->head.type), ' ', in.name, " = ", value, ";");
            b_.body.name(in.node, in.name);
        }
    }

    /// A value that a phase leaves in a slab, for later phases or as an output.
    struct leaving {
        const slab* to;
        node_id value;
        std::string name;
    };
    std::vector<leaving> leaving_of(std::size_t phase) const {
        std::vector<leaving> all;
        for (const slab& s : slabs_) {
            const std::string number = std::to_string(&s - slabs_.data());
            if (const node_id kept = s.kept_by(phase); kept != no_node) all.push_back({&s, kept, "kept" + number});
            if (phase == rows_.phases.size() && s.output >= 0)
                all.push_back({&s, b_.graph.roots[static_cast<std::size_t>(s.output)], "z" + std::to_string(s.output)});
        }
        return all;
    }

    /// One walk along the row: joins what the phase folds, and leaves what is wanted later.
    void write_phase(std::size_t phase) {
        source_writer& out = b_.code;
        std::vector<fold_writer> folds;
        if (phase < rows_.phases.size())
            for (const node_id r : rows_.phases[phase]) folds.emplace_back(b_.graph, r, folds_++, b_.needs);
        const std::vector<leaving> leaves = leaving_of(phase);
        if (folds.empty() && leaves.empty()) return;
        std::vector<node_id> values;
        for (const fold_writer& f : folds) values.push_back(f.value());
        for (const leaving& l : leaves) values.push_back(l.value);
        b_.body.hoist(kept_bits(), values, out);
        for (fold_writer& f : folds) out.line(f.type(), ' ', f.name(), " = ", f.start(), ";");
        const std::string index = u4(), step = std::to_string(staged_.group());
        const auto outside = b_.body.scope();
        if (staged_.whole_groups()) {
            out.open("for (", index, " k = 0; k < n; k += ", step, ")");
            write_group(phase, folds, leaves);
            out.close();
        } else {
            out.open();
            out.line(index, " k = 0;");
            out.open("for (; k + ", step, " <= n; k += ", step, ")");
            write_group(phase, folds, leaves);
            out.close();
            b_.body.leave(outside);
            out.open("for (; k < n; ++k)");
            write_element(phase, leaves, "k");
            for (fold_writer& f : folds) {
                const std::string element = f.element(b_.body.value(f.value(), out), "k");
                out.line(f.name(), " = ", f.joined(f.name(), element), ";");
            }
            out.close();
            out.close();
        }
        b_.body.leave(outside);
        for (fold_writer& f : folds) b_.body.name(f.reduction(), f.result());
    }

    /// Several elements, joined with each other before they are joined with those before them.
    void write_group(std::size_t phase, std::vector<fold_writer>& folds, const std::vector<leaving>& leaves) {
        source_writer& out = b_.code;
        const std::uint32_t group = staged_.group();
        if (staged_.whole_groups()) {
            for (const slab& s : slabs_) {
                if (!reads(phase, s)) continue;
                const std::string name = name_of(s.holds[phase], s);
                out.line("alignas(", group * s.bytes(), ") ", b_.needs.type(s.type), ' ', name, '[', group, "];");
                out.line("reinterpret_cast<", word_of(group * s.bytes()), "&>(", name, ") = ", word_in(s, "const "),
                         ";");
                b_.body.name(s.holds[phase], name + "[e]");
            }
            for (const leaving& l : leaves)
                out.line("alignas(", group * l.to->bytes(), ") ", b_.needs.type(l.to->type), ' ', l.name, '[', group,
                         "];");
        }
        for (std::size_t i = 0; i < folds.size(); ++i) out.line(folds[i].type(), " value", i, '[', group, "];");
        out.margin("#pragma unroll");
        out.open("for (unsigned int e = 0; e < ", group, "; ++e)");
        write_element(phase, leaves, "k + e");
        for (std::size_t i = 0; i < folds.size(); ++i) {
            const std::string element = folds[i].element(b_.body.value(folds[i].value(), out), "k + e");
            out.line("value", i, "[e] = ", element, ";");
        }
        out.close();
        for (std::size_t i = 0; i < folds.size(); ++i) {
            const std::string pairs = b_.join_pairs(folds[i].joiner(), group, "value" + std::to_string(i));
            out.line(folds[i].name(), " = ", folds[i].joined(folds[i].name(), pairs), ";");
        }
        if (staged_.whole_groups())
            for (const leaving& l : leaves)
                out.line(word_in(*l.to, ""), " = reinterpret_cast<const ", word_of(group * l.to->bytes()), "&>(",
                         l.name, ");");
    }

    /// Reads what moves along the row at place `k`, and leaves there what is wanted later.
    void write_element(std::size_t phase, const std::vector<leaving>& leaves, const std::string& k) {
        source_writer& out = b_.code;
        const bool grouped = staged_.whole_groups();
        bool digit_known = false;
        for (const place& in : b_.inputs) {  // the same numbers for every row
            const node& n = b_.graph.nodes[in.node];
            if (!staged_.uses(phase, in.node) || !moves_on(n, rows_.inner()) || (n.axes & kept_bits()) != 0) continue;
            if (!digit_known) out.line("const ", b_.signed_index(), ' ', digit(rows_.inner()), " = ", k, ";");
            digit_known = true;
            const std::string value = b_.element(in, b_.offset(in, all_bits()));
            out.line("const ", b_.needs.type(n.type), ' ', in.name, " = ", value, ";");
            b_.body.name(in.node, in.name);
        }
        for (const slab& s : slabs_) {
            if (grouped || !reads(phase, s)) continue;
            const std::string name = name_of(s.holds[phase], s);
            out.line("const ", b_.needs.type(s.type), ' ', name, " = ", array_of(s), "[at + ", k, "];");
            b_.body.name(s.holds[phase], name);
        }
        for (const leaving& l : leaves) {
            const std::string value = b_.body.value(l.value, out);
            out.line(grouped ? l.name + "[e]" : array_of(*l.to) + "[at + " + k + ']', " = ", value, ";");
        }
    }

    bool reads(std::size_t phase, const slab& s) const {
        return s.holds[phase] != no_node && staged_.uses(phase, s.holds[phase]);
    }
    std::string name_of(node_id held, const slab& s) const {
        const node& n = b_.graph.nodes[held];
        return n.kind == node_kind::operand ? b_.names[n.index] : "kept" + std::to_string(&s - slabs_.data());
    }
    /// The group at k of the thread's row, as one word of shared memory.
    std::string word_in(const slab& s, const std::string& constant) const {
        std::string at = "at + k";
        if (const std::uint32_t each = 16 / s.bytes(); s.chunked) {
            const std::string size = std::to_string(each);
            at = "skewed((at + k) / " + size + ", " + skew_of(s) + ") * " + size +
                 (each == staged_.group() ? "" : " + k % " + size);
        }
        return "reinterpret_cast<" + constant + std::string(word_of(staged_.group() * s.bytes())) + "&>(" +
               array_of(s) + '[' + at + "])";
    }

    bool writes_rows() const {
        return std::any_of(slabs_.begin(), slabs_.end(), [](const slab& s) { return s.output >= 0; });
    }

    void write_results() {
        for (std::size_t o = 0; o < b_.outputs.size(); ++o) {
            if (moves_on(*b_.outputs[o].at, rows_.inner())) continue;
            const std::string value = b_.body.value(b_.graph.roots[o], b_.code);
            b_.store_element(b_.outputs[o], b_.offset(b_.outputs[o], kept_bits()), value);
        }
    }

    void write_stores() {
        if (!writes_rows()) return;
        b_.needs.add("store_rows",
                     "template <class type>\n__device__ __forceinline__ void store_rows(type* to, const type* from, "
                     "unsigned int n, unsigned int skew) {\n" +
                         over_chunks("__stcs(reinterpret_cast<uint4*>(to) + q, reinterpret_cast<const "
                                     "uint4*>(from)[skewed(q, skew)])",
                                     "to[i] = from[i]") +
                         "}\n");
        b_.code.line("__syncthreads();");
        for (const slab& s : slabs_)
            if (s.output >= 0)
                b_.code.line("store_rows(p.z", s.output, " + first * n, ", array_of(s), ", rows * n, ", skew_of(s),
                             ");");
    }

    void describe(plan& p) {
        launch& step = b_.step;
        step.kernel = "short_rows";
        step.threads = threads;
        step.grid[0] = {.axes = all_bits(), .divide_by = room_.elements};
        step.pattern = "row reduction";
        step.reason = "rows staged in shared memory, a thread a row";
        for (const std::vector<node_id>& phase : rows_.phases) {
            std::vector<node_id> values;
            for (const node_id r : phase) values.push_back(b_.graph.nodes[r].arguments[0]);
            step.work.push_back({all_bits(), cost_of(b_.graph, values) + phase.size()});
        }
        step.work.push_back({writes_rows() ? all_bits() : kept_bits(), b_.cost});
        p.source =
            b_.assemble(p.expression, "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(threads) +
                                          ")\nshort_rows(const __grid_constant__ arguments p)");
        p.steps.push_back(std::move(step));
    }

    cuda_kernel b_;
    const row_program& rows_;
    const row_slabs staged_;
    const std::vector<slab>& slabs_;
    const room room_;
    std::size_t folds_ = 0;  // so far
};

}  // namespace

bool can_stage_rows(const key& k, const graph& g, const row_program& rows) {
    if (rows.row.size() != 1 || rows.kept.empty() || rows.bucket > bucket::longest_short) return false;
    if (rows.inner() < rows.kept.back()) return false;
    const std::uint64_t along = axis_bit(rows.inner());
    for (const node& n : g.nodes) {
        if (n.kind == node_kind::scan || n.kind == node_kind::gather || n.kind == node_kind::unravel) return false;
        if (n.kind != node_kind::operand || (n.axes & along) == 0) continue;
        const operand_head& head = k.operands[n.index].head;
        const bool every_row = (n.axes & rows.kept_bits()) == rows.kept_bits();
        if (head.kind != operand_kind::array) return false;
        if (every_row ? !head.dense : (n.axes & rows.kept_bits()) != 0) return false;
    }
    for (const operand_class& o : k.outputs) {
        if (!moves_on(o, rows.inner())) continue;
        const bool every_row = std::all_of(rows.kept.begin(), rows.kept.end(), [&](int a) { return moves_on(o, a); });
        if (!every_row || !o.head.dense) return false;
    }
    const row_slabs staged(k, g, rows);
    const bool reads =
        std::any_of(staged.slabs().begin(), staged.slabs().end(), [](const slab& s) { return s.is_loaded(); });
    return reads && room(staged.slabs(), rows.bucket).bytes <= most_bytes;
}

void emit_short_rows_cuda(const key& k, const graph& g, const row_program& rows, plan& p) {
    short_rows(k, g, rows).write(p);
}

}  // namespace ingot::codegen
