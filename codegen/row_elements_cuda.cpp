#include "codegen/row_elements_cuda.hpp"

#include <algorithm>

#include "codegen/cuda_join.hpp"

namespace ingot::codegen {

using namespace detail;

row_elements::row_elements(const key& k, const graph& g, const row_program& r, register_rows s)
    : b_(k, g), r_(r), s_(std::move(s)) {
    for (const place& in : b_.inputs) leaves_.push_back(in);
    for (const node_id leaf : b_.generators) {
        const std::uint16_t index = g.nodes[leaf].index;
        leaves_.push_back({&k.operands[index], b_.names[index], index, false, leaf});
    }
    along_.assign(s_.each > 1 ? "[u][e]" : "[u]");
}

void row_elements::write_place() {
    source_writer& out = b_.code;
    const std::string lanes = of(s_.lanes), threads = of(s_.threads);
    lane_ = "lane";
    std::string own = s_.across ? "r * " + threads + " + threadIdx.x" : "threadIdx.x / " + lanes;
    if (s_.is_beside()) {
        write_place_beside();
        own = "column";
    } else if (s_.cluster > 1) {
        out.line("const ", u4(), " lane = blockIdx.x % ", of(s_.cluster), " * ", threads, " + threadIdx.x;");
    } else if (s_.rows == 1) {
        lane_ = "threadIdx.x";
    } else if (!s_.across) {
        out.line("const ", u4(), " lane = threadIdx.x % ", lanes, ";");
    } else if (s_.together == 1) {
        own = "threadIdx.x";
    }
    if (shares_block()) {
        // Threads without a row help with the last one and keep what they find to themselves.
        out.line("const ", b_.linear(), " mine = ", group(), " * ", s_.fitted ? "side" : of(s_.rows), " + ", own, ";");
        out.line("const ", b_.linear(), " row = mine < ", rows(), " ? mine : ", rows(), " - 1;");
    } else if (!r_.kept.empty()) {
        out.line("const ", b_.linear(), " row = ", group(), s_.in_runs ? " * side + column;" : ";");
    }
    b_.write_digits("row", r_.kept);
}

formula row_elements::fitted_rows() const {
    return {.axes = r_.kept_bits(),
            .inner = r_.row_bits(),
            .inner_divide = s_.cluster * s_.most_held,
            .room = s_.threads,
            .threads = s_.piece,
            .of_room = true};
}

void row_elements::write_place_beside() {
    source_writer& out = b_.code;
    const auto narrow = [&](const std::string& value) { return b_.wide() ? u4() + '(' + value + ')' : value; };
    if (s_.in_runs) {
        out.line("constexpr ", u4(), " side = ", s_.side, ", height = ", s_.threads / s_.side, ";");
        out.line("const ", u4(), " down = threadIdx.x / side, column = threadIdx.x % side;");
    } else {
        const std::string by_side = b_.divisor(fitted_rows(), "by_side");
        out.line("const ", u4(), " side = ", narrow(b_.count(fitted_rows(), "side")),
                 ", height = ", narrow("quotient(" + of(s_.threads) + ", " + by_side + ')'), ";");
        out.line("const ", u4(), " down = ", narrow("quotient(threadIdx.x, " + by_side + ')'),
                 ", column = threadIdx.x - down * side;");
    }
    // Threads that are left over do what the first ones do a chunk later; nobody asks for what they find.
    const std::string blocks = of(s_.cluster);
    out.line("const ", u4(), " lane = ", s_.cluster > 1 ? "blockIdx.x % " + blocks + " * height + down" : "down",
             ", lanes = ", s_.cluster > 1 ? blocks + " * height" : "height", ";");
}

void row_elements::write_shift() {
    source_writer& out = b_.code;
    std::vector<const place*> all;
    for (const auto* places : {&leaves_, &b_.outputs})
        for (const place& at : *places)
            if (packed(at)) all.push_back(&at);
    const place* leader = *std::find_if(all.begin(), all.end(), [](const place* at) { return !at->at->head.vector; });
    const auto address = [&](const place& at) {
        const std::string from = b_.pointer(at) + b_.offset(at, r_.kept_bits());
        return "reinterpret_cast<" + b_.needs.type(dtype::u8) + ">(" + from + ')';
    };
    out.line("const ", u4(), " shift = ", address(*leader), " / ", bytes_of(*leader), " % ", s_.sector(), ";");
    const std::string in_vector = begins_before() ? "shift % " + of(s_.each) : "shift";
    for (const place* at : all)
        if (at != leader)
            out.line("const bool ", at->name, "_fits = ", address(*at), " % ", bytes_of(*at) * s_.each,
                     " == ", in_vector, " * ", bytes_of(*at), ";");
    leader_ = leader->name;
}

void row_elements::open_chunks() {
    b_.open_unrolled("u", s_.chunks);
    const std::string chunk = s_.across && !s_.is_beside() ? "u" : "u * " + lanes() + " + " + lane_;
    b_.code.line("const ", u4(), " at = ", s_.each > 1 ? '(' + chunk + ") * " + of(s_.each) : chunk,
                 s_.shifted ? " - shift;" : ";");
}

std::string row_elements::known_or(const std::string& test) const {
    const std::uint32_t sure = sure_chunks();
    if (sure == 0 || (s_.shifted && sure == 1)) return test;
    return (s_.shifted ? "u - 1 < " + std::to_string(sure - 1) : "u < " + std::to_string(sure)) + " || " + test;
}

std::string row_elements::is_whole() {
    const std::string end = "at + " + std::to_string(s_.each) + " <= " + length();
    if (s_.shifted) return known_or("(at < " + length() + " && " + end + ')');
    return known_or(s_.each > 1 ? end : "at < " + length());
}

void row_elements::open_inside() {
    if (s_.each > 1) b_.code.open("if (", is_inside(), ")");
}

void row_elements::close_inside() {
    if (s_.each > 1) b_.code.close();
}

std::string row_elements::is_present() {
    if (sure_chunks() >= s_.chunks) return "";
    const std::string end = length(), beside = std::to_string(s_.each - 1);
    // A shifted row may be shorter than the vector in whose midst it lies.
    const std::string test = s_.shifted ? "at + " + beside + " < " + end + " + " + beside : "at < " + end;
    if (begins_before()) return known_or(test);
    return sure_chunks() == 0 ? test : "u < " + std::to_string(sure_chunks()) + " || " + test;
}

void row_elements::leave_absent() {
    if (const std::string present = is_present(); !present.empty())
        b_.code.line("if (!(", present, ")) ", begins_before() ? "continue;" : "break;");
}

std::string row_elements::one(const place& leaf, std::uint64_t axes) {
    if (leaf.at->head.kind == operand_kind::generator)
        return b_.generator_call(leaf.node, b_.generator_index(leaf.node, axes));
    return b_.element(leaf, b_.offset(leaf, axes));
}

std::vector<std::vector<const place*>> row_elements::by_fit(const std::vector<const place*>& places) const {
    std::vector<std::vector<const place*>> groups;
    for (const place* at : places)
        if (!s_.shifted && !groups.empty())
            groups[0].push_back(at);
        else
            groups.push_back({at});
    return groups;
}

void row_elements::load_elements(const std::vector<const place*>& leaves, const std::string& suffix, bool streamed) {
    source_writer& out = b_.code;
    open_elements();
    if (s_.each > 1) out.line("const ", u4(), " own = ", is_inside(), " ? at + e : 0;");
    b_.write_digits(s_.each > 1 ? "own" : "at", r_.row);
    for (const place* leaf : leaves)
        out.line(leaf->name, suffix, s_.each > 1 ? "[e] = " : " = ",
                 streamed && is_streamed(*leaf) ? streamed_element(*leaf) : one(*leaf, all_axes()), ";");
    close_elements();
}

bool row_elements::is_array_of_words(const place& leaf) {
    return leaf.at->head.kind == operand_kind::array && bytes_of(leaf) % 4 == 0 && bytes_of(leaf) <= 8;
}

bool row_elements::is_streamed(const place& leaf) const {
    return s_.each == 1 && is_array_of_words(leaf) && b_.reading_of(leaf, all_axes()) == reading::once;
}

std::string row_elements::streamed_element(const place& leaf) {
    const std::string word(word_of(bytes_of(leaf))), type = b_.needs.type(leaf.at->head.type);
    (void)b_.loader(reading::once, word);
    b_.needs.add("stream_element",
                 b_.function("An element that nobody reads again.", "template <class word, class type>\n") +
                     "type stream_element(const type* from) {\n"
                     "    const word w = stream(reinterpret_cast<const word*>(from));\n"
                     "    return reinterpret_cast<const type&>(w);\n}\n");
    return "stream_element<" + word + ">(" + b_.pointer(leaf) + b_.offset(leaf, all_axes()) + ')';
}

void row_elements::open_vectors(const std::vector<const place*>& leaves, const std::string& suffix,
                                const std::string& test) {
    source_writer& out = b_.code;
    out.open("if (", test, ")");
    b_.write_digits("at", r_.row);
    for (const place* leaf : leaves) {
        const std::string_view word = word_of(bytes_of(*leaf) * s_.each, leaf->at->head.type);
        out.line(b_.loader(b_.reading_of(*leaf, all_axes()), word), '<', word, ">(", leaf->name, suffix, ", ",
                 b_.pointer(*leaf), b_.offset(*leaf, all_axes()), ");");
    }
}

std::string row_elements::and_fits(const place& at, const std::string& test) const {
    const std::string fit = fits(at);
    return fit.empty() ? test : fit + '(' + test + ')';
}

std::string row_elements::is_loaded(const place& at) {
    return lies_amid() ? and_fits(at, known_or("at + slack < reach")) : is_vector(at);
}

void row_elements::load_streams() {
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
        out.line("const ", u4(), " slack = row > 0 && row + 1 < ", many, " ? ", beside, " : 0, reach = ", all, " - ",
                 beside, " + 2 * slack;");
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

void row_elements::load_late() {
    if (s_.late.empty()) return;
    source_writer& out = b_.code;
    out.line("extern __shared__ uint4 places[];");
    std::vector<const place*> vectors, singles;
    std::uint32_t at = 0;
    for (const place& leaf : leaves_) {
        if (!is_late(leaf)) continue;
        (packed(leaf) ? vectors : singles).push_back(&leaf);
        const std::string type = b_.needs.type(leaf.at->head.type), name = leaf.name + "_late";
        out.line(type, s_.each > 1 ? " (*const " + name + ")" + of_chunk() : "* const " + name, " = reinterpret_cast<",
                 type, s_.each > 1 ? "(*)" + of_chunk() : "*", ">(places + ", at, ") + threadIdx.x;");
        at += s_.elements() * s_.threads * bytes_of(leaf) / 16;
    }
    const auto copy = [&](const place& leaf, std::uint32_t bytes) {
        out.line(b_.copier(bytes), "(&", leaf.name, late_chunk(), ", ", b_.pointer(leaf), b_.offset(leaf, all_axes()),
                 ");");
    };
    open_chunks();
    leave_absent();
    for (const std::vector<const place*>& some : by_fit(vectors)) {
        out.open("if (", is_vector(*some[0]), ")");
        b_.write_digits("at", r_.row);
        for (const place* leaf : some) copy(*leaf, bytes_of(*leaf) * s_.each);
        out.otherwise();
        load_elements(some, late_chunk());
        out.close();
    }
    if (!singles.empty() && s_.each > 1) load_elements(singles, late_chunk());
    if (!singles.empty() && s_.each == 1) {
        b_.write_digits("at", r_.row);
        for (const place* leaf : singles) copy(*leaf, bytes_of(*leaf));
    }
    out.close();
}

void row_elements::load_singles(const std::vector<const place*>& leaves) {
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

std::string row_elements::may_be_ragged(const std::vector<const place*>& vectors) {
    const std::string each = of(s_.each);
    std::string test = length() + " % " + each + " != 0";
    const std::string first = begins_before() ? "shift / " + each : "0";
    if (s_.shifted)
        test = lane_ + " == " + first + " || " + lane_ + " == (shift + " + length() + ") / " + each + " % " + lanes();
    if (lies_amid()) test = "slack == 0 && (" + test + ')';
    if (!s_.shifted) return test;
    for (const place* leaf : vectors)
        if (leaf->name != leader_) test += " || !" + leaf->name + "_fits";
    return test;
}

void row_elements::declare(dtype t, const std::string& name, bool vectors) {
    const std::string aligned = vectors ? "alignas(" + std::to_string(size_of(t) * s_.each) + ") " : "";
    b_.code.line(aligned, b_.needs.type(t), ' ', name, '[', s_.chunks, ']',
                 s_.each > 1 ? '[' + std::to_string(s_.each) + ']' : "", ";");
}

void row_elements::load_chunk(const std::vector<const place*>& leaves) {
    std::vector<const place*> vectors, singles;
    for (const place* leaf : leaves) (packed(*leaf) ? vectors : singles).push_back(leaf);
    for (const std::vector<const place*>& some : by_fit(vectors)) {
        open_vectors(some, "", is_vector(*some[0]));
        b_.code.otherwise();
        load_elements(some, "");
        b_.code.close();
    }
    if (singles.empty()) return;
    const bool bare = s_.each == 1;  // the digits are found once more where results are stored
    if (bare) b_.code.open();
    load_elements(singles, "");
    if (bare) b_.code.close();
}

void row_elements::load_shared(const std::vector<node_id>& values) {
    source_writer& out = b_.code;
    std::vector<const place*> leaves;
    const std::vector<bool> below = nodes_below(b_.graph, values);
    for (const place& leaf : leaves_) {
        if (!below[leaf.node] || !along_row(leaf.node) || is_stream(leaf)) continue;
        if (is_late(leaf)) {
            b_.body.name(leaf.node, leaf.name + late_chunk() + (s_.each > 1 ? "[e]" : ""));
            continue;
        }
        leaves.push_back(&leaf);
        const std::string type = b_.needs.type(leaf.at->head.type);
        if (s_.each > 1)
            out.line("alignas(", size_of(leaf.at->head.type) * s_.each, ") ", type, ' ', leaf.name, '[', s_.each, "];");
        else
            out.line(type, ' ', leaf.name, " = ", type, "();");
        b_.body.name(leaf.node, leaf.name + (s_.each > 1 ? "[e]" : ""));
    }
    if (!leaves.empty()) load_chunk(leaves);
}

void row_elements::open_elements() {
    if (s_.each > 1) b_.open_unrolled("e", s_.each);
}

void row_elements::close_elements() {
    if (s_.each > 1) b_.code.close();
}

}  // namespace ingot::codegen
