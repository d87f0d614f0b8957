// Rows too short for a warp each, along memory, for CUDA. A block's rows are one run of memory: they are copied into
// shared memory 16 bytes a thread whatever their length, then a thread works on a row, and results along the rows go
// back through the same place.
//
// Threads side by side read places one row apart. Rows of an odd number of words meet all banks as they lie. Rows of
// whole 16-byte chunks are read a chunk at a time, and chunk q lies at q ^ (q >> skew & 7), 2^skew being the power of
// two in the number of chunks: eight rows' chunks then meet all banks too. What is left meets each bank twice.
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

/// Rows of one array in shared memory: read from an input, written to an output, or both.
struct slab {
    const operand_class* at;
    node_id input = no_node;
    int output = -1;

    bool chunked() const { return at->head.vector; }
    std::uint32_t bytes() const { return static_cast<std::uint32_t>(size_of(at->head.type)); }
};

bool moves_on(const operand_class& o, int axis) {
    return o.strides[static_cast<std::size_t>(axis)] != stride_class::broadcast;
}

/// An output takes the place of an input of its own type: a thread reads an element before it writes it.
std::vector<slab> slabs_of(const key& k, const graph& g, const row_shape& rows) {
    std::vector<slab> slabs;
    for (node_id i = 0; i < g.nodes.size(); ++i) {
        const node& n = g.nodes[i];
        const std::uint64_t wanted = rows.kept_bits() | axis_bit(rows.along);
        if (n.kind == node_kind::operand && k.operands[n.index].head.kind == operand_kind::array &&
            (n.axes & wanted) == wanted)
            slabs.push_back({&k.operands[n.index], i});
    }
    for (std::size_t o = 0; o < k.outputs.size(); ++o) {
        const operand_head& head = k.outputs[o].head;
        if (!moves_on(k.outputs[o], rows.along)) continue;
        const auto free = std::find_if(slabs.begin(), slabs.end(), [&](const slab& s) {
            return s.output < 0 && s.at->head.type == head.type && s.at->head.vector == head.vector;
        });
        if (free != slabs.end())
            free->output = static_cast<int>(o);
        else
            slabs.push_back({&k.outputs[o], no_node, static_cast<int>(o)});
    }
    return slabs;
}

/// How much of its slabs a block fills: some `elements`, and up to `multiple` rows more, for its rows are a multiple of
/// that so that the next block's memory begins on 16 bytes.
struct room {
    std::uint32_t elements, multiple, longest;

    room(const std::vector<slab>& slabs, std::uint8_t bucket) : longest(16u << bucket) {
        std::uint32_t smallest = 16;
        for (const slab& s : slabs) bytes_ += s.bytes(), smallest = std::min(smallest, s.bytes());
        multiple = 16 / smallest;
        elements = std::max(std::bit_floor(wanted_bytes / std::max(bytes_, 1u)), 4 * longest);
    }
    std::uint32_t capacity() const { return elements + multiple * longest; }
    std::uint32_t bytes() const { return capacity() * bytes_; }

private:
    std::uint32_t bytes_ = 0;  // of an element in all slabs
};

class short_rows {
public:
    short_rows(const key& k, const graph& g, const row_shape& rows)
        : b_(k, g), rows_(rows), slabs_(slabs_of(k, g, rows)), room_(slabs_, rows.bucket) {
        std::uint32_t widest = 1;
        for (const slab& s : slabs_) {
            widest = std::max(widest, s.bytes());
            if (s.chunked()) group_ = std::max(group_, 16 / s.bytes());
        }
        chunked_ = group_ > 1;
        group_ = chunked_ ? std::min(group_, 16 / widest) : loose_group;
    }

    void write(plan& p) {
        b_.name_scalars();
        write_loads();
        b_.code.open("for (", u4(), " mine = threadIdx.x; mine < rows; mine += ", threads, ")");
        read_row();
        std::size_t number = 0;
        for (const std::vector<node_id>& phase : rows_.phases) {
            std::vector<fold_writer> folds;
            for (const node_id r : phase) folds.emplace_back(b_.graph, r, number++, b_.needs);
            write_pass(folds, {});
        }
        write_pass({}, outputs_along_rows());
        write_results();
        b_.code.close();
        write_stores();
        describe(p);
    }

private:
    std::string u4() { return b_.needs.type(dtype::u4); }
    std::uint64_t kept_bits() const { return rows_.kept_bits(); }
    std::uint64_t all_bits() const { return kept_bits() | axis_bit(rows_.along); }
    std::string name_of(const slab& s) const {
        return s.input != no_node ? b_.names[b_.graph.nodes[s.input].index] : "z" + std::to_string(s.output);
    }
    std::string array_of(const slab& s) const { return name_of(s) + "_rows"; }
    /// The variable by which a slab's chunks are skewed.
    std::string skew_of(const slab& s) const { return s.chunked() ? "skew" + std::to_string(s.bytes()) : "31"; }
    const slab* output_slab(std::size_t output) const {
        for (const slab& s : slabs_)
            if (s.output == static_cast<int>(output)) return &s;
        return nullptr;
    }

    /// The block's rows, and their way into shared memory.
    void write_loads() {
        source_writer& out = b_.code;
        const std::string count = b_.count({.axes = kept_bits()}, "rows"), type = u4(), index = b_.linear();
        const std::string n = b_.count({.axes = axis_bit(rows_.along)}, "n");
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
            if (!s.chunked() || std::find(skewed.begin(), skewed.end(), s.bytes()) != skewed.end()) continue;
            skewed.push_back(s.bytes());
            b_.needs.add("power_in",
                         function("The power of two in n; of odd numbers one that shifts everything away.") +
                             "unsigned int power_in(unsigned int n) {\n    return n & 1 ? 31 : __ffs(n) - 1;\n}\n");
            out.line("const ", type, ' ', skew_of(s), " = power_in(n / ", 16 / s.bytes(), ");");
        }
        for (const slab& s : slabs_)
            out.line("__shared__ alignas(128) ", b_.needs.type(s.at->head.type), ' ', array_of(s), '[',
                     room_.capacity(), "];");
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
            if (s.input != no_node)
                out.line("load_rows(", array_of(s), ", p.", name_of(s), " + first * n, rows * n, ", skew_of(s), ");");
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
        const bool digits =
            std::any_of(b_.inputs.begin(), b_.inputs.end(),
                        [&](const place& in) { return (b_.graph.nodes[in.node].axes & axis_bit(rows_.along)) == 0; }) ||
            std::any_of(b_.outputs.begin(), b_.outputs.end(),
                        [&](const place& z) { return !moves_on(*z.at, rows_.along); });
        if (digits) {
            out.line("const ", b_.linear(), " row = first + mine;");
            b_.write_digits("row", rows_.kept);
        }
        out.line("const ", u4(), " at = mine * n;");
        for (const place& in : b_.inputs) {
            if ((b_.graph.nodes[in.node].axes & axis_bit(rows_.along)) != 0) continue;
            const std::string value = b_.element(in, b_.offset(in, kept_bits()));
            out.line("const ", b_.needs.type(in.at->head.type), ' ', in.name, " = ", value, ";");
            b_.body.name(in.node, in.name);
        }
    }

    std::vector<std::size_t> outputs_along_rows() const {
        std::vector<std::size_t> along;
        for (const slab& s : slabs_)
            if (s.output >= 0) along.push_back(static_cast<std::size_t>(s.output));
        return along;
    }

    /// One walk along the row: joins what the folds fold, writes the outputs' elements.
    void write_pass(std::vector<fold_writer> folds, const std::vector<std::size_t>& outputs) {
        if (folds.empty() && outputs.empty()) return;
        source_writer& out = b_.code;
        std::vector<node_id> values;
        for (const fold_writer& f : folds) values.push_back(f.value());
        for (const std::size_t o : outputs) values.push_back(b_.graph.roots[o]);
        b_.body.hoist(kept_bits(), values, out);
        for (fold_writer& f : folds) out.line(f.type(), ' ', f.name(), " = ", f.start(), ";");
        const std::string index = u4(), step = std::to_string(group_);
        const auto outside = b_.body.scope();
        if (chunked_) {
            out.open("for (", index, " k = 0; k < n; k += ", step, ")");
            write_group(folds, outputs, values);
            out.close();
        } else {
            out.open();
            out.line(index, " k = 0;");
            out.open("for (; k + ", step, " <= n; k += ", step, ")");
            write_group(folds, outputs, values);
            out.close();
            b_.body.leave(outside);
            out.open("for (; k < n; ++k)");
            write_element(outputs, values, "k");
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

    /// `group_` elements, joined with each other before they are joined with those before them.
    void write_group(std::vector<fold_writer>& folds, const std::vector<std::size_t>& outputs,
                     const std::vector<node_id>& values) {
        source_writer& out = b_.code;
        for (const slab& s : slabs_) {
            if (!chunked_) break;
            const std::string type = b_.needs.type(s.at->head.type);
            const std::uint32_t bytes = group_ * s.bytes();
            if (is_read(s, values)) {
                out.line("alignas(", bytes, ") ", type, ' ', name_of(s), '[', group_, "];");
                out.line("reinterpret_cast<", word_of(bytes), "&>(", name_of(s), ") = ", word_in(s, "const "), ";");
                b_.body.name(s.input, name_of(s) + "[e]");
            }
            if (is_written(s, outputs)) out.line("alignas(", bytes, ") ", type, " z", s.output, '[', group_, "];");
        }
        for (std::size_t i = 0; i < folds.size(); ++i) out.line(folds[i].type(), " value", i, '[', group_, "];");
        out.margin("#pragma unroll");
        out.open("for (unsigned int e = 0; e < ", group_, "; ++e)");
        write_element(outputs, values, "k + e");
        for (std::size_t i = 0; i < folds.size(); ++i) {
            const std::string element = folds[i].element(b_.body.value(folds[i].value(), out), "k + e");
            out.line("value", i, "[e] = ", element, ";");
        }
        out.close();
        for (std::size_t i = 0; i < folds.size(); ++i) {
            const std::string pairs = b_.join_pairs() + '<' + folds[i].joiner() + ", " + std::to_string(group_) +
                                      ">(value" + std::to_string(i) + ')';
            out.line(folds[i].name(), " = ", folds[i].joined(folds[i].name(), pairs), ";");
        }
        for (const slab& s : slabs_) {
            if (!chunked_ || !is_written(s, outputs)) continue;
            out.line(word_in(s, ""), " = reinterpret_cast<const ", word_of(group_ * s.bytes()), "&>(z", s.output, ");");
        }
    }

    /// Reads what moves along the row at place `k`, and writes the outputs there.
    void write_element(const std::vector<std::size_t>& outputs, const std::vector<node_id>& values,
                       const std::string& k) {
        source_writer& out = b_.code;
        const std::vector<bool> below = nodes_below(b_.graph, values);
        bool digit_known = false;
        for (const place& in : b_.inputs) {
            const std::uint64_t axes = b_.graph.nodes[in.node].axes;
            if (!below[in.node] || (axes & axis_bit(rows_.along)) == 0) continue;
            const auto own =
                std::find_if(slabs_.begin(), slabs_.end(), [&](const slab& s) { return s.input == in.node; });
            if (own != slabs_.end() && chunked_) continue;
            if (own == slabs_.end() && !digit_known) {
                out.line("const ", b_.signed_index(), ' ', digit(rows_.along), " = ", k, ";");
                digit_known = true;
            }
            const std::string value =
                own != slabs_.end() ? array_of(*own) + "[at + " + k + ']' : b_.element(in, b_.offset(in, all_bits()));
            out.line("const ", b_.needs.type(in.at->head.type), ' ', in.name, " = ", value, ";");
            b_.body.name(in.node, in.name);
        }
        for (const std::size_t o : outputs) {
            const std::string value = b_.body.value(b_.graph.roots[o], out);
            out.line(chunked_ ? "z" + std::to_string(o) + "[e]" : array_of(*output_slab(o)) + "[at + " + k + ']', " = ",
                     value, ";");
        }
    }

    bool is_read(const slab& s, const std::vector<node_id>& values) const {
        return s.input != no_node && nodes_below(b_.graph, values)[s.input];
    }
    static bool is_written(const slab& s, const std::vector<std::size_t>& outputs) {
        return s.output >= 0 &&
               std::find(outputs.begin(), outputs.end(), static_cast<std::size_t>(s.output)) != outputs.end();
    }
    /// Where the group at k of the thread's row lies.
    std::string group_at(const slab& s) {
        if (!s.chunked()) return "at + k";
        const std::uint32_t each = 16 / s.bytes();
        const std::string chunk =
            "skewed((at + k) / " + std::to_string(each) + ", " + skew_of(s) + ") * " + std::to_string(each);
        return each == group_ ? chunk : chunk + " + k % " + std::to_string(each);
    }
    /// The group as one word of shared memory.
    std::string word_in(const slab& s, const std::string& constant) {
        return "reinterpret_cast<" + constant + std::string(word_of(group_ * s.bytes())) + "&>(" + array_of(s) + '[' +
               group_at(s) + "])";
    }

    void write_results() {
        for (std::size_t o = 0; o < b_.outputs.size(); ++o) {
            if (output_slab(o) != nullptr) continue;
            const std::string value = b_.body.value(b_.graph.roots[o], b_.code);
            b_.store_element(b_.outputs[o], b_.offset(b_.outputs[o], kept_bits()), value);
        }
    }

    void write_stores() {
        if (outputs_along_rows().empty()) return;
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
        step.work.push_back({outputs_along_rows().empty() ? kept_bits() : all_bits(), b_.cost});
        p.source =
            b_.assemble(p.expression, "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(threads) +
                                          ")\nshort_rows(const __grid_constant__ arguments p)");
        p.steps.push_back(std::move(step));
    }

    cuda_kernel b_;
    const row_shape& rows_;
    std::vector<slab> slabs_;
    room room_;
    std::uint32_t group_ = 1;  // elements of a row at once
    bool chunked_ = false;     // rows are whole groups
};

}  // namespace

bool can_stage_rows(const key& k, const graph& g, const row_shape& rows) {
    if (rows.along < 0 || rows.kept.empty() || rows.bucket > bucket::longest_short) return false;
    const std::uint64_t along = axis_bit(rows.along);
    for (const node& n : g.nodes) {
        if (n.kind == node_kind::scan || n.kind == node_kind::gather || n.kind == node_kind::unravel) return false;
        if (n.kind != node_kind::operand || (n.axes & along) == 0) continue;
        const operand_head& head = k.operands[n.index].head;
        const bool every_row = (n.axes & rows.kept_bits()) == rows.kept_bits();
        if (head.kind != operand_kind::array) return false;
        if (every_row ? !head.dense : (n.axes & rows.kept_bits()) != 0) return false;
    }
    for (const operand_class& o : k.outputs) {
        if (!moves_on(o, rows.along)) continue;
        const bool every_row = std::all_of(rows.kept.begin(), rows.kept.end(), [&](int a) { return moves_on(o, a); });
        if (!every_row || !o.head.dense) return false;
    }
    const std::vector<slab> slabs = slabs_of(k, g, rows);
    return !slabs.empty() && room(slabs, rows.bucket).bytes() <= most_bytes;
}

void emit_short_rows_cuda(const key& k, const graph& g, const row_shape& rows, plan& p) {
    short_rows(k, g, rows).write(p);
}

}  // namespace ingot::codegen
