// Row programs for CUDA, in one kernel and one read: a row lies in the registers of its lanes (register_rows.hpp) from
// its loads to its stores. Loops over a lane's elements are unrolled, so arrays are registers; a chunk that lies behind
// the row's end is passed over, and elements past the end are what the fold starts with. Rows that begin anywhere are
// held from the last aligned place before them, so that all but their ends are accessed by vectors. A lane's loads are
// all under way before it waits for one of them: tests of single elements, and branches, stand behind them.
#include <algorithm>

#include "codegen/cuda_join.hpp"
#include "codegen/cuda_kernel.hpp"
#include "codegen/reduction.hpp"
#include "codegen/register_rows.hpp"
#include "codegen/row_exchange_cuda.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

class cuda_rows {
public:
    cuda_rows(const key& k, const graph& g, const row_program& r, register_rows s)
        : b_(k, g), r_(r), s_(std::move(s)), exchange_(b_, s_) {
        std::size_t number = 0;
        for (const std::vector<node_id>& phase : r.phases) {
            std::vector<fold_writer>& folds = folds_.emplace_back();
            for (const node_id fold : phase) folds.emplace_back(g, fold, number++, b_.needs);
        }
        for (const place& in : b_.inputs) leaves_.push_back(in);
        for (const node_id g_ : b_.generators) {
            const std::uint16_t index = g.nodes[g_].index;
            leaves_.push_back({&k.operands[index], b_.names[index], index, false, g_});
        }
        along_.assign(s_.each > 1 ? "[u][e]" : "[u]");
    }

    void write(plan& p) {
        b_.name_scalars();
        if (s_.together > 1) {
            load_rows();
        } else {
            write_place();
            read_still();
            exchange_.begin(folds_);
            load_streams();
            exchange_.meet();
        }
        for (std::size_t phase = 0; phase < folds_.size(); ++phase) {
            write_folds(phase);
            for (fold_writer& f : folds_[phase]) b_.body.name(f.reduction(), f.result());
            exchange_.write(folds_[phase]);
            hoist();
        }
        write_outputs();
        if (s_.together > 1) b_.code.close();
        launch& step = b_.step;
        step.kernel = "rows";
        step.threads = s_.threads;
        step.cluster = s_.cluster;
        step.grid[0] = {.axes = s_.in_runs ? r_.kept_bits() & ~axis_bit(r_.kept.back()) : r_.kept_bits(),
                        .divide_by = s_.rows};
        step.pattern = "row program";
        step.reason = reason();
        count_work();
        p.source =
            b_.assemble(p.expression, "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(s_.threads) +
                                          (s_.blocks > 1 ? ", " + std::to_string(s_.blocks) : "") +
                                          ")\nrows(const __grid_constant__ arguments p)");
        p.steps.push_back(std::move(step));
    }

private:
    std::uint64_t all_axes() const { return r_.kept_bits() | r_.row_bits(); }
    bool along_row(node_id n) const { return (b_.graph.nodes[n].axes & r_.row_bits()) != 0; }
    bool along_row(const place& out) const { return b_.moves_along(out, r_.row_bits()); }
    bool is_stream(const place& leaf) const {
        return along_row(leaf.node) && (r_.kept.empty() || (b_.graph.nodes[leaf.node].axes & r_.kept_bits()) != 0);
    }
    /// Accessed by vectors, where these are whole.
    bool packed(const place& at) const { return s_.each > 1 && is_packed(*at.at, b_.graph, r_); }
    std::string u4() { return b_.needs.type(dtype::u4); }
    std::string length() { return b_.count({.axes = r_.row_bits()}, "length"); }
    std::string rows() { return b_.count({.axes = r_.kept_bits()}, "rows"); }
    bool shares_block() const { return s_.rows > 1 && !r_.kept.empty(); }

    std::string reason() const {
        std::string text = std::to_string(s_.elements()) + " elements a lane in registers, ";
        if (s_.in_runs) return text + "the rows of a run of memory a block";
        if (s_.across)
            return text + std::to_string(s_.lanes) + " lanes a row, neighbours read neighbouring rows" +
                   (s_.together > 1 ? ", " + std::to_string(s_.together) + " rows a thread" : "") +
                   (s_.cluster > 1 ? ", a cluster of " + std::to_string(s_.cluster) + " blocks" : "");
        if (s_.cluster > 1) return text + "a cluster of " + std::to_string(s_.cluster) + " blocks a row";
        return text + (s_.rows > 1 ? std::to_string(s_.lanes) + " lanes a row" : "a block a row");
    }

    void count_work() {
        std::uint32_t along = 0, still = 0;
        for (const node& n : b_.graph.nodes) {
            if (n.kind == node_kind::map)
                ((n.axes & r_.row_bits()) != 0 ? along : still) += facts(static_cast<op>(n.code)).cost;
            if (n.kind == node_kind::reduce) ++along;
        }
        b_.step.work = {{all_axes(), along}, {r_.kept_bits(), still}};
    }

    // Where a thread is.

    /// A thread that has several rows loads all of them before it computes the first.
    void load_rows() {
        for (const place& leaf : leaves_)
            if (is_stream(leaf))
                b_.code.line(b_.needs.type(leaf.at->head.type), ' ', leaf.name, '[', s_.together, "][", s_.chunks,
                             "];");
        open_unrolled("r", s_.together);
        write_place();
        load_streams();
        b_.code.close();
        open_unrolled("r", s_.together);
        write_place();
        read_still();
    }
    std::string of_stream() const { return s_.together > 1 ? "[r][u]" : "[u]"; }

    void write_place() {
        source_writer& out = b_.code;
        const std::string block = b_.wide() ? b_.linear() + "(blockIdx.x)" : "blockIdx.x", lanes = of(s_.lanes),
                          threads = of(s_.threads);
        lane_ = "lane";
        if (s_.in_runs) {
            out.line("constexpr ", u4(), " side = ", s_.side, ", lanes = ", s_.lanes, ";");
            out.line("const ", u4(), " lane = threadIdx.x / side;");
            // Threads that are left over do what the first ones do a chunk later; nobody asks for what they find.
            out.line("const ", b_.linear(), " row = ", block, " * side + threadIdx.x % side;");
        } else if (s_.across && s_.cluster > 1) {
            out.line("const ", u4(), " lane = blockIdx.x % ", of(s_.cluster), " * ", of(s_.lanes / s_.cluster),
                     " + threadIdx.x / ", of(s_.rows), ";");
        } else if (s_.cluster > 1) {
            out.line("const ", u4(), " lane = blockIdx.x % ", of(s_.cluster), " * ", threads, " + threadIdx.x;");
        } else if (s_.rows == 1) {
            lane_ = "threadIdx.x";
        } else if (s_.across) {
            if (s_.lanes > 1) out.line("const ", u4(), " lane = threadIdx.x / ", of(s_.rows), ";");
        } else {
            out.line("const ", u4(), " lane = threadIdx.x % ", lanes, ";");
        }
        if (shares_block()) {
            // Threads without a row help with the last one and keep what they find to themselves.
            const std::string own = s_.together > 1 ? "r * " + threads + " + threadIdx.x"
                                    : s_.across     ? "threadIdx.x % " + of(s_.rows)
                                                    : "threadIdx.x / " + lanes;
            out.line("const ", b_.linear(), " mine = ", block, s_.cluster > 1 ? " / " + of(s_.cluster) : "", " * ",
                     of(s_.rows), " + ", own, ";");
            out.line("const ", b_.linear(), " row = mine < ", rows(), " ? mine : ", rows(), " - 1;");
        } else if (!r_.kept.empty() && !s_.in_runs) {
            out.line("const ", b_.linear(), " row = ", block, s_.cluster > 1 ? " / " + of(s_.cluster) : "", ";");
        }
        b_.write_digits("row", r_.kept);
    }

    /// What does not move along the row.
    void read_still() {
        source_writer& out = b_.code;
        for (const place& leaf : leaves_) {
            if (along_row(leaf.node)) continue;
            out.line("const ", b_.needs.type(leaf.at->head.type), ' ', leaf.name, " = ", one(leaf, r_.kept_bits()),
                     ";");
            b_.body.name(leaf.node, leaf.name);
        }
        if (s_.shifted) write_shift();
        hoist();
    }
    static std::string of(std::uint32_t n) { return std::to_string(n) + 'u'; }

    /// Where a row begins behind an aligned place: by so many elements the lanes' chunks are moved. Arrays beside the
    /// first whose rows do not begin alike are accessed element by element.
    void write_shift() {
        source_writer& out = b_.code;
        std::vector<const place*> all;
        for (const auto* places : {&leaves_, &b_.outputs})
            for (const place& at : *places)
                if (packed(at)) all.push_back(&at);
        const place* leader =
            *std::find_if(all.begin(), all.end(), [](const place* at) { return !at->at->head.vector; });
        const auto address = [&](const place& at) {
            const std::string from = b_.pointer(at) + b_.offset(at, r_.kept_bits());
            return "reinterpret_cast<" + b_.needs.type(dtype::u8) + ">(" + from + ')';
        };
        out.line("const ", u4(), " shift = ", address(*leader), " / ", bytes_of(*leader), " % ", s_.each, ";");
        for (const place* at : all)
            if (at != leader)
                out.line("const bool ", at->name, "_fits = ", address(*at), " % ", bytes_of(*at) * s_.each,
                         " == shift * ", bytes_of(*at), ";");
        leader_ = leader->name;
    }

    /// What does not move along the row is computed as soon as what it needs is there.
    void hoist() {
        std::vector<node_id> values;
        for (std::size_t phase = 0; phase <= folds_.size(); ++phase) {
            const std::vector<node_id> wanted = r_.wanted(b_.graph, phase);
            values.insert(values.end(), wanted.begin(), wanted.end());
        }
        b_.body.hoist(r_.kept_bits(), values, b_.code);
    }

    // A lane's elements.

    void open_unrolled(const char* variable, std::uint32_t n) {
        b_.code.margin("#pragma unroll");
        b_.code.open("for (unsigned int ", variable, " = 0; ", variable, " < ", n, "; ++", variable, ")");
    }
    std::string lanes() const { return s_.in_runs ? "lanes" : of(s_.lanes); }
    void open_chunks() {
        open_unrolled("u", s_.chunks);
        const std::string chunk = s_.across && s_.lanes == 1 && !s_.in_runs ? "u" : "u * " + lanes() + " + " + lane_;
        b_.code.line("const ", u4(), " at = ", s_.each > 1 ? '(' + chunk + ") * " + of(s_.each) : chunk,
                     s_.shifted ? " - shift;" : ";");
    }
    std::string position() const { return s_.each > 1 ? "at + e" : "at"; }
    /// How many chunks every row of this length class has, in each lane.
    std::uint32_t sure_chunks() const { return r_.fewest() / (s_.lanes * s_.each); }
    /// Holds for the chunks that every row of this length class has whole, and else where `test` does.
    std::string known_or(const std::string& test) const {
        const std::uint32_t sure = sure_chunks();
        if (sure == 0 || (s_.shifted && sure == 1)) return test;
        return (s_.shifted ? "u - 1 < " + std::to_string(sure - 1) : "u < " + std::to_string(sure)) + " || " + test;
    }
    std::string is_whole() {
        const std::string end = "at + " + std::to_string(s_.each) + " <= " + length();
        if (s_.shifted) return known_or("(at < " + length() + " && " + end + ')');
        return known_or(s_.each > 1 ? end : "at < " + length());
    }
    /// Of a chunk that is there.
    std::string is_inside() { return s_.each == 1 ? "" : known_or(position() + " < " + length()); }
    void open_inside() {
        if (s_.each > 1) b_.code.open("if (", is_inside(), ")");
    }
    void close_inside() {
        if (s_.each > 1) b_.code.close();
    }
    /// Whether a lane has elements in a chunk; nothing where every lane has.
    std::string is_present() {
        if (sure_chunks() >= s_.chunks) return "";
        const std::string first = "at < " + length();
        const std::string test =
            s_.shifted ? first + " || at + " + std::to_string(s_.each - 1) + " < " + length() : first;
        return sure_chunks() == 0 ? test : "u < " + std::to_string(sure_chunks()) + " || " + test;
    }
    void leave_absent() {
        if (const std::string present = is_present(); !present.empty()) b_.code.line("if (!(", present, ")) break;");
    }

    /// One element of a leaf, at the digits in scope.
    std::string one(const place& leaf, std::uint64_t axes) {
        if (leaf.at->head.kind == operand_kind::generator)
            return b_.generator_name(leaf.node) + '(' + b_.generator_key(leaf.node) + ", " +
                   b_.generator_index(leaf.node, axes) + ')';
        return b_.element(leaf, b_.offset(leaf, axes));
    }

    /// Arrays whose chunks are vectors under the same condition: those that begin as the leader does, each other.
    std::vector<std::vector<const place*>> by_fit(const std::vector<const place*>& places) const {
        std::vector<std::vector<const place*>> groups;
        for (const place* at : places)
            if (!s_.shifted && !groups.empty())
                groups[0].push_back(at);
            else
                groups.push_back({at});
        return groups;
    }
    std::string fits(const place& at) const { return s_.shifted && at.name != leader_ ? at.name + "_fits && " : ""; }

    /// Loads of one chunk into `name + suffix`, element by element. Beside the row's elements stand others of it, so
    /// that nothing is computed from what is not there.
    void load_elements(const std::vector<const place*>& leaves, const std::string& suffix, bool streamed = false) {
        source_writer& out = b_.code;
        open_elements();
        if (s_.each > 1) out.line("const ", u4(), " own = ", is_inside(), " ? at + e : 0;");
        b_.write_digits(s_.each > 1 ? "own" : "at", r_.row);
        for (const place* leaf : leaves)
            out.line(leaf->name, suffix, s_.each > 1 ? "[e] = " : " = ",
                     streamed && is_streamed(*leaf) ? streamed_element(*leaf) : one(*leaf, all_axes()), ";");
        close_elements();
    }
    /// Whether an element is loaded by an instruction that the compiler leaves where it is, before all uses.
    bool is_streamed(const place& leaf) const {
        return s_.each == 1 && leaf.at->head.kind == operand_kind::array && bytes_of(leaf) % 4 == 0 &&
               bytes_of(leaf) <= 8 && b_.reading_of(leaf, all_axes()) == reading::once;
    }
    std::string streamed_element(const place& leaf) {
        const std::string word(word_of(bytes_of(leaf))), type = b_.needs.type(leaf.at->head.type);
        (void)b_.loader(reading::once, word);
        b_.needs.add("stream_element",
                     b_.function("An element that nobody reads again.", "template <class word, class type>\n") +
                         "type stream_element(const type* from) {\n"
                         "    const word w = stream(reinterpret_cast<const word*>(from));\n"
                         "    return reinterpret_cast<const type&>(w);\n}\n");
        return "stream_element<" + word + ">(" + b_.pointer(leaf) + b_.offset(leaf, all_axes()) + ')';
    }
    /// Opens the loads of a chunk by vectors.
    void open_vectors(const std::vector<const place*>& leaves, const std::string& suffix, const std::string& test) {
        source_writer& out = b_.code;
        out.open("if (", test, ")");
        b_.write_digits("at", r_.row);
        for (const place* leaf : leaves) {
            const std::string_view word = word_of(bytes_of(*leaf) * s_.each, leaf->at->head.type);
            out.line(b_.loader(b_.reading_of(*leaf, all_axes()), word), '<', word, ">(", leaf->name, suffix, ", ",
                     b_.pointer(*leaf), b_.offset(*leaf, all_axes()), ");");
        }
    }
    /// Whether an array's chunk is accessed as a vector.
    std::string is_vector(const place& at) { return and_fits(at, is_whole()); }
    std::string and_fits(const place& at, const std::string& test) const {
        const std::string fit = fits(at);
        return fit.empty() ? test : fit + '(' + test + ')';
    }
    /// Whether the chunk of an array of rows is loaded as a vector. Between the first row and the last what stands
    /// around a row may be read too.
    std::string is_loaded(const place& at) {
        return lies_amid() ? and_fits(at, known_or("at + slack < reach")) : is_vector(at);
    }
    bool lies_amid() const { return s_.each > 1 && r_.kept.size() == 1 && r_.bucket > 1; }

    /// All vectors are under way before anything waits for one, so what ends a row in the midst of a chunk comes later.
    void load_streams() {
        source_writer& out = b_.code;
        std::vector<const place*> vectors, singles;
        for (const place& leaf : leaves_) {
            if (!is_stream(leaf)) continue;
            (packed(leaf) ? vectors : singles).push_back(&leaf);
            if (s_.together == 1) declare(leaf.at->head.type, leaf.name, packed(leaf));
            b_.body.name(leaf.node, leaf.name + (s_.together > 1 ? of_stream() : along_));
        }
        if (vectors.empty() && singles.empty()) return;
        if (!vectors.empty() && lies_amid()) {
            const std::string beside = std::to_string(s_.each - 1);
            const std::string all = length(), many = rows();  // one after the other: each may become an argument
            out.line("const ", u4(), " slack = row > 0 && row + 1 < ", many, " ? ", beside, " : 0, reach = ", all,
                     " - ", beside, " + 2 * slack;");
        }
        if (vectors.empty()) return load_singles(singles);
        open_chunks();
        for (const std::vector<const place*>& some : by_fit(vectors)) {
            open_vectors(some, "[u]", is_loaded(*some[0]));
            out.close();
        }
        out.close();
        if (!singles.empty()) load_singles(singles);
        out.open("if (", may_be_ragged(vectors), ")");
        open_chunks();
        leave_absent();
        for (const std::vector<const place*>& some : by_fit(vectors)) {
            out.open("if (!(", is_loaded(*some[0]), "))");
            load_elements(some, "[u]");
            out.close();
        }
        out.close();
        out.close();
    }
    /// Few single elements are under way at once too; of many each is tested for being there after the one before it,
    /// which takes fewer registers.
    void load_singles(const std::vector<const place*>& leaves) {
        constexpr std::uint32_t few = 8;
        open_chunks();
        if (s_.each > 1 || s_.chunks > few) {
            leave_absent();
            load_elements(leaves, of_stream());
        } else {
            const std::string present = is_present();
            if (!present.empty()) b_.code.open("if (", present, ")");
            load_elements(leaves, of_stream(), true);
            if (!present.empty()) b_.code.close();
        }
        b_.code.close();
    }
    /// Holds where a lane has elements in a chunk that is not loaded as a vector.
    std::string may_be_ragged(const std::vector<const place*>& vectors) {
        const std::string each = of(s_.each);
        std::string test = length() + " % " + each + " != 0";
        if (s_.shifted)
            test = lane_ + " == 0 || " + lane_ + " == (shift + " + length() + ") / " + each + " % " + lanes();
        if (lies_amid()) test = "slack == 0 && (" + test + ')';
        if (!s_.shifted) return test;
        for (const place* leaf : vectors)
            if (leaf->name != leader_) test += " || !" + leaf->name + "_fits";
        return test;
    }
    void declare(dtype t, const std::string& name, bool vectors) {
        const std::string aligned = vectors ? "alignas(" + std::to_string(size_of(t) * s_.each) + ") " : "";
        b_.code.line(aligned, b_.needs.type(t), ' ', name, '[', s_.chunks, ']',
                     s_.each > 1 ? '[' + std::to_string(s_.each) + ']' : "", ";");
    }

    /// Loads of one chunk, by vectors where they are whole.
    void load_chunk(const std::vector<const place*>& leaves) {
        std::vector<const place*> vectors, singles;
        for (const place* leaf : leaves) (packed(*leaf) ? vectors : singles).push_back(leaf);
        for (const std::vector<const place*>& some : by_fit(vectors)) {
            open_vectors(some, "", is_vector(*some[0]));
            b_.code.otherwise();
            load_elements(some, "");
            b_.code.close();
        }
        if (!singles.empty()) load_elements(singles, "");
    }

    /// Loads what all rows read alike and these values need of a chunk.
    void load_shared(const std::vector<node_id>& values) {
        source_writer& out = b_.code;
        std::vector<const place*> leaves;
        const std::vector<bool> below = nodes_below(b_.graph, values);
        for (const place& leaf : leaves_) {
            if (!below[leaf.node] || !along_row(leaf.node) || is_stream(leaf)) continue;
            leaves.push_back(&leaf);
            const std::string type = b_.needs.type(leaf.at->head.type);
            if (s_.each > 1)
                out.line("alignas(", size_of(leaf.at->head.type) * s_.each, ") ", type, ' ', leaf.name, '[', s_.each,
                         "];");
            else
                out.line(type, ' ', leaf.name, " = ", type, "();");
            b_.body.name(leaf.node, leaf.name + (s_.each > 1 ? "[e]" : ""));
        }
        if (!leaves.empty()) load_chunk(leaves);
    }
    void open_elements() {
        if (s_.each > 1) open_unrolled("e", s_.each);
    }
    void close_elements() {
        if (s_.each > 1) b_.code.close();
    }
    std::string of_chunk() const { return s_.each > 1 ? '[' + std::to_string(s_.each) + ']' : ""; }
    std::string of_element() const { return s_.each > 1 ? "[e]" : ""; }

    /// The statements of a chunk's elements, by quick bodies where there are such; then again where one met a rare
    /// value.
    template <class Write>
    void compute(const std::vector<node_id>& values, Write write_element) {
        source_writer& out = b_.code;
        const std::vector<bool> wanted = b_.body.wanted_by(values);
        bool quick = false;
        for (node_id i = 0; i < wanted.size() && b_.key.header.math != math_mode::fast; ++i)
            quick = quick || (wanted[i] && along_row(i) && !b_.body.has_name(i) && has_quick_body(b_.graph.nodes[i]));
        if (quick) out.line("bool rare = false;");
        for (int turn = 0; turn < (quick ? 2 : 1); ++turn) {
            const auto outside = b_.body.scope();
            if (turn == 1) out.open("if (rare)");
            b_.needs.use_quick(quick && turn == 0);
            open_elements();
            write_element();
            close_elements();
            b_.needs.use_quick(false);
            if (turn == 1) out.close();
            b_.body.leave(outside);
        }
    }

    // Phases.

    void write_folds(std::size_t phase) {
        source_writer& out = b_.code;
        std::vector<fold_writer>& folds = folds_[phase];
        const std::vector<node_id> values = r_.wanted(b_.graph, phase);
        const std::vector<bool> below = nodes_below(b_.graph, values);
        std::vector<node_id> kept;
        for (const node_id n : s_.kept)
            if (below[n] && !b_.body.has_name(n)) kept.push_back(n);
        for (const node_id n : kept) declare(b_.graph.nodes[n].type, kept_name(n), false);
        for (fold_writer& f : folds) out.line(f.type(), ' ', f.part(), '[', s_.chunks, "];");
        const auto outside = b_.body.scope();
        open_chunks();
        const std::string present = is_present();
        if (!present.empty()) out.open("if (", present, ")");
        load_shared(values);
        if (s_.each > 1)
            for (std::size_t i = 0; i < folds.size(); ++i) out.line(folds[i].type(), ' ', value(i), of_chunk(), ";");
        compute(values, [&] {
            for (const node_id n : kept) {
                out.line(kept_name(n), along_, " = ", b_.body.value(n, out), ";");
                b_.body.name(n, kept_name(n) + along_);
            }
            for (std::size_t i = 0; i < folds.size(); ++i) {
                fold_writer& f = folds[i];
                const std::string element = f.element(b_.body.value(f.value(), out), position());
                if (s_.each == 1) {
                    out.line(f.part(), "[u] = ", element, ";");
                    continue;
                }
                out.line(value(i), "[e] = ", element, ";");
            }
        });
        if (s_.each > 1) {
            out.open("if (!(", is_whole(), "))");
            open_elements();
            for (std::size_t i = 0; i < folds.size(); ++i)
                out.line("if (!(", is_inside(), ")) ", value(i), "[e] = ", folds[i].start(), ";");
            close_elements();
            out.close();
        }
        if (s_.each > 1)
            for (std::size_t i = 0; i < folds.size(); ++i)
                out.line(folds[i].part(), "[u] = ", joined(folds[i], value(i), s_.each), ";");
        if (!present.empty()) {
            out.otherwise();
            for (fold_writer& f : folds) out.line(f.part(), "[u] = ", f.start(), ";");
            out.close();
        }
        out.close();
        b_.body.leave(outside);
        for (const node_id n : kept) b_.body.name(n, kept_name(n) + along_);
        for (fold_writer& f : folds) {
            const std::uint32_t pairs = s_.shifted && s_.chunks > 1 ? s_.chunks - 1 : s_.chunks;
            std::string all = joined(f, f.part(), pairs);
            if (pairs < s_.chunks) all = f.joined(all, f.part() + '[' + std::to_string(pairs) + ']');
            out.line(f.type(), ' ', f.name(), " = ", all, ";");
        }
    }
    static std::string value(std::size_t i) { return "value" + std::to_string(i); }
    /// The first elements of an array in pairs, their number a power of two.
    std::string joined(fold_writer& f, const std::string& array, std::uint32_t n) {
        const std::string fold = f.joiner();
        return join_pairs(b_.needs) + '<' + fold + ", " + std::to_string(n) + ">(" + array + ')';
    }
    std::string kept_name(node_id n) const {
        const auto at = std::find(s_.kept.begin(), s_.kept.end(), n);
        return "kept" + std::to_string(at - s_.kept.begin());
    }

    void write_outputs() {
        source_writer& out = b_.code;
        std::vector<const place*> along, still;
        std::vector<node_id> values;
        for (const place& z : b_.outputs) {
            (along_row(z) ? along : still).push_back(&z);
            if (along_row(z)) values.push_back(b_.graph.roots[z.index]);
        }
        if (shares_block()) out.line("if (mine >= ", rows(), s_.together > 1 ? ") break;" : ") return;");
        const auto outside = b_.body.scope();
        if (!along.empty()) write_along(along, values);
        b_.body.leave(outside);
        if (still.empty()) return;
        const bool one_lane = s_.lanes == 1 && !s_.in_runs;
        if (!one_lane) out.open("if (", lane_, " == 0)");
        for (const place* z : still)
            b_.store_element(*z, b_.offset(*z, r_.kept_bits()), b_.body.value(b_.graph.roots[z->index], out));
        if (!one_lane) out.close();
    }

    void write_along(const std::vector<const place*>& outputs, const std::vector<node_id>& values) {
        source_writer& out = b_.code;
        open_chunks();
        leave_absent();
        load_shared(values);
        for (const place* z : outputs) {
            const std::string type = b_.needs.type(z->at->head.type);
            out.line(packed(*z) ? "alignas(" + std::to_string(bytes_of(*z) * s_.each) + ") " : "", type, ' ', z->name,
                     of_chunk(), ";");
        }
        compute(values, [&] {
            for (const place* z : outputs)
                out.line(z->name, of_element(), " = ", b_.body.value(b_.graph.roots[z->index], out), ";");
        });
        std::vector<const place*> vectors, singles;
        for (const place* z : outputs) (packed(*z) ? vectors : singles).push_back(z);
        const auto store_elements = [&](const std::vector<const place*>& some) {
            open_elements();
            open_inside();
            b_.write_digits(position(), r_.row);
            for (const place* z : some) b_.store_element(*z, b_.offset(*z, all_axes()), z->name + of_element());
            close_inside();
            close_elements();
        };
        for (const std::vector<const place*>& some : by_fit(vectors)) {
            out.open("if (", is_vector(*some[0]), ")");
            b_.write_digits("at", r_.row);
            for (const place* z : some)
                out.line(b_.storer(), '<', word_of(bytes_of(*z) * s_.each), ">(", b_.pointer(*z),
                         b_.offset(*z, all_axes()), ", ", z->name, ");");
            out.otherwise();
            store_elements(some);
            out.close();
        }
        if (!singles.empty()) store_elements(singles);
        out.close();
    }

    cuda_kernel b_;
    const row_program& r_;
    register_rows s_;
    row_exchange exchange_;
    std::vector<std::vector<fold_writer>> folds_;  // of each phase
    std::vector<place> leaves_;                    // arrays and random leaves
    std::string lane_, along_;                     // this thread's lane; the element at which loops stand, "[u][e]"
    std::string leader_;                           // the array that says where rows begin
};

}  // namespace

void emit_row_cuda(const key& k, const graph& g, const row_program& r, register_rows s, plan& p) {
    cuda_rows(k, g, r, std::move(s)).write(p);
}

}  // namespace ingot::codegen
