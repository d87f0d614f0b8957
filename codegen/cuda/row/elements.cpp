// See elements.hpp.
#include "codegen/cuda/row/elements.hpp"

#include <algorithm>

#include "codegen/text/random.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

std::vector<array_argument> leaves_of(const cuda_kernel& b) {
    std::vector<array_argument> leaves = b.inputs;
    for (const node_id leaf : b.generators) {
        const std::uint16_t index = b.graph.nodes[leaf].index;
        leaves.push_back({&b.key.operands[index], b.names[index], index, false, leaf});
    }
    return leaves;
}

}  // namespace

row_elements::row_elements(const key& k, const graph& g, const row_program& r, const register_rows& choice)
    : b_(k, g),
      r_(r),
      choice_(choice),
      leaves_(leaves_of(b_)),
      lane_(choice.has_one_lane()                                                        ? "0"
            : choice.rows_per_block == 1 && choice.cluster == 1 && !choice.has_columns() ? "threadIdx.x"
                                                                                         : "lane"),
      along_(choice.each > 1 ? "[u][e]" : "[u]"),
      leader_(choice.shifted ? leader()->name : "") {}

void row_elements::write_position() {
    source_writer& out = b_.code;
    const std::string lanes = of(choice_.lanes), threads = of(choice_.threads);
    std::string row_of_block = choice_.is_across() ? "r * " + threads + " + threadIdx.x" : "threadIdx.x / " + lanes;
    if (choice_.has_columns()) {
        write_column_position();
        row_of_block = "column";
    } else if (choice_.cluster > 1) {
        out.line("const ", u4(), " lane = blockIdx.x % ", of(choice_.cluster), " * ", threads, " + threadIdx.x;");
    } else if (choice_.rows_per_block > 1 && !choice_.has_one_lane()) {
        out.line("const ", u4(), " lane = threadIdx.x % ", lanes, ";");
    } else if (choice_.rows_per_thread == 1) {
        row_of_block = "threadIdx.x";
    }
    if (shares_block()) {
        // Threads without a row work on the last one and store nothing.
        out.line("const ", b_.linear(), " mine = ", group(), " * ",
                 choice_.fitted() ? "side" : of(choice_.rows_per_block), " + ", row_of_block, ";");
        out.line("const ", b_.linear(), " row = mine < ", rows(), " ? mine : ", rows(), " - 1;");
    } else if (!r_.kept_axes.empty()) {
        out.line("const ", b_.linear(), " row = ", group(), choice_.run() ? " * side + column;" : ";");
    }
    b_.write_digits("row", r_.kept_axes);
}

formula row_elements::fitted_rows() const {
    const fitted_columns& f = *choice_.fitted();
    return points_per_room(choice_.threads, ceil_divide(points_of(r_.row_bits()), choice_.cluster * f.max_chunks),
                           f.multiple, 1);
}

void row_elements::write_column_position() {
    source_writer& out = b_.code;
    const auto narrow = [&](const std::string& value) { return b_.wide() ? u4() + '(' + value + ')' : value; };
    if (choice_.run()) {
        out.line("constexpr ", u4(), " side = ", choice_.columns(), ", height = ", choice_.threads / choice_.columns(),
                 ";");
        out.line("const ", u4(), " down = threadIdx.x / side, column = threadIdx.x % side;");
    } else {
        const std::string by_side = b_.divisor(fitted_rows(), "by_side");
        out.line("const ", u4(), " side = ", narrow(b_.count(fitted_rows(), "side")),
                 ", height = ", narrow("quotient(" + of(choice_.threads) + ", " + by_side + ')'), ";");
        out.line("const ", u4(), " down = ", narrow("quotient(threadIdx.x, " + by_side + ')'),
                 ", column = threadIdx.x - down * side;");
    }
    // Threads left over work as the first ones do a chunk later; their results are not used.
    const std::string blocks = of(choice_.cluster);
    out.line("const ", u4(), " lane = ", choice_.cluster > 1 ? "blockIdx.x % " + blocks + " * height + down" : "down",
             ", lanes = ", choice_.cluster > 1 ? blocks + " * height" : "height", ";");
}

std::vector<const array_argument*> row_elements::packed_arrays() const {
    std::vector<const array_argument*> found;
    for (const auto* arrays : {&leaves_, &b_.outputs})
        for (const array_argument& at : *arrays)
            if (packed(at)) found.push_back(&at);
    return found;
}

const array_argument* row_elements::leader() const {
    const std::vector<const array_argument*> all = packed_arrays();
    return *std::ranges::find_if(all, [](const array_argument* at) { return !at->at->head.vector; });
}

void row_elements::write_shift() {
    source_writer& out = b_.code;
    const array_argument& first = *leader();
    const auto address = [&](const array_argument& at) {
        const std::string from = b_.pointer(at) + b_.offset(at, still_axes());
        return "reinterpret_cast<" + b_.needs.type(dtype::u8) + ">(" + from + ')';
    };
    out.line("const ", u4(), " shift = ", address(first), " / ", bytes_of(first), " % ", choice_.sector, ";");
    const std::string in_vector = choice_.begins_before() ? "shift % " + of(choice_.each) : "shift";
    for (const array_argument* at : packed_arrays())
        if (at != &first)
            out.line("const bool ", at->name, "_fits = ", address(*at), " % ", bytes_of(*at) * choice_.each,
                     " == ", in_vector, " * ", bytes_of(*at), ";");
}

std::string row_elements::row_index() {
    return choice_.shifted && b_.wide() ? b_.needs.type(dtype::i4) + "(at)" : "at";
}

void row_elements::open_chunks() {
    b_.open_unrolled("u", choice_.chunks);
    const std::string chunk = choice_.has_one_lane() ? "u" : "u * " + lanes() + " + " + lane_;
    b_.code.line("const ", u4(), " at = ", choice_.each > 1 ? '(' + chunk + ") * " + of(choice_.each) : chunk,
                 choice_.shifted ? " - shift;" : ";");
}

std::string row_elements::known_or(const std::string& test) const {
    const std::uint32_t n = choice_.min_chunks;
    if (n == 0 || (choice_.shifted && n == 1)) return test;
    return (choice_.shifted ? "u - 1 < " + std::to_string(n - 1) : "u < " + std::to_string(n)) + " || " + test;
}

std::string row_elements::is_whole() {
    const std::string end = "at + " + std::to_string(choice_.each) + " <= " + length();
    if (choice_.shifted) return known_or("(at < " + length() + " && " + end + ')');
    return known_or(choice_.each > 1 ? end : "at < " + length());
}

void row_elements::open_inside() {
    if (choice_.each > 1) b_.code.open("if (", is_inside(), ")");
}

void row_elements::close_inside() {
    if (choice_.each > 1) b_.code.close();
}

std::string row_elements::is_present() {
    if (choice_.min_chunks >= choice_.chunks) return "";
    const std::string end = length(), beside = std::to_string(choice_.each - 1);
    // A shifted row may be shorter than the vector within which it lies.
    const std::string test = choice_.shifted ? "at + " + beside + " < " + end + " + " + beside : "at < " + end;
    if (choice_.begins_before()) return known_or(test);
    return choice_.min_chunks == 0 ? test : "u < " + std::to_string(choice_.min_chunks) + " || " + test;
}

void row_elements::leave_absent() {
    if (const std::string present = is_present(); !present.empty())
        b_.code.line("if (!(", present, ")) ", choice_.begins_before() ? "continue;" : "break;");
}

std::string row_elements::one(const array_argument& leaf, std::uint64_t axes) {
    if (leaf.at->head.kind == operand_kind::generator)
        return b_.generator_call(leaf.node, b_.generator_index(leaf.node, axes));
    return b_.element(leaf, b_.offset(leaf, axes));
}

std::vector<std::vector<const array_argument*>> row_elements::by_fit(
    const std::vector<const array_argument*>& arrays) const {
    std::vector<std::vector<const array_argument*>> groups;
    for (const array_argument* at : arrays)
        if (!choice_.shifted && !groups.empty())
            groups[0].push_back(at);
        else
            groups.push_back({at});
    return groups;
}

void row_elements::load_elements(const std::vector<const array_argument*>& leaves, const std::string& suffix,
                                 bool streamed) {
    source_writer& out = b_.code;
    open_elements();
    if (choice_.each > 1) out.line("const ", u4(), " own = ", is_inside(), " ? at + e : 0;");
    b_.write_digits(choice_.each > 1 ? "own" : row_index(), r_.row);
    for (const array_argument* leaf : leaves)
        out.line(leaf->name, suffix, choice_.each > 1 ? "[e] = " : " = ",
                 streamed && is_streamed(*leaf) ? streamed_element(*leaf) : one(*leaf, all_axes()), ";");
    close_elements();
}

bool row_elements::is_array_of_words(const array_argument& leaf) {
    return leaf.at->head.kind == operand_kind::array && bytes_of(leaf) % 4 == 0 && bytes_of(leaf) <= 8;
}

bool row_elements::is_streamed(const array_argument& leaf) const {
    return choice_.each == 1 && is_array_of_words(leaf) && b_.reading_of(leaf, all_axes()) == reading::once;
}

std::string row_elements::streamed_element(const array_argument& leaf) {
    const std::string word(word_of(bytes_of(leaf))), type = b_.needs.type(leaf.at->head.type);
    (void)b_.loader(reading::once, word);
    b_.needs.add("stream_element",
                 b_.function("Loads an element that is read only once.", "template <class word, class type>\n") +
                     "type stream_element(const type* from) {\n"
                     "    const word w = stream(reinterpret_cast<const word*>(from));\n"
                     "    return reinterpret_cast<const type&>(w);\n}\n");
    return "stream_element<" + word + ">(" + b_.pointer(leaf) + b_.offset(leaf, all_axes()) + ')';
}

void row_elements::open_vectors(const std::vector<const array_argument*>& leaves, const std::string& suffix,
                                const std::string& test) {
    source_writer& out = b_.code;
    out.open("if (", test, ")");
    b_.write_digits(row_index(), r_.row);
    for (const array_argument* leaf : leaves) {
        const std::string_view word = word_of(bytes_of(*leaf) * choice_.each, leaf->at->head.type);
        out.line(b_.loader(b_.reading_of(*leaf, all_axes()), word), '<', word, ">(", leaf->name, suffix, ", ",
                 b_.pointer(*leaf), b_.offset(*leaf, all_axes()), ");");
    }
}

std::string row_elements::and_fits(const array_argument& at, const std::string& test) const {
    const std::string fit = fits(at);
    return fit.empty() ? test : fit + '(' + test + ')';
}

std::string row_elements::is_loaded(const array_argument& at) {
    return choice_.loads.read_around ? and_fits(at, known_or("at + slack < reach")) : is_vector(at);
}

void row_elements::load_streams() {
    source_writer& out = b_.code;
    std::vector<const array_argument*> vectors, singles, drawn;
    for (const array_argument& leaf : leaves_) {
        if (!is_stream(leaf)) continue;
        const bool draws = choice_.each > 1 && leaf.at->head.kind == operand_kind::generator;
        (draws ? drawn : packed(leaf) ? vectors : singles).push_back(&leaf);
        if (choice_.rows_per_thread == 1) declare(leaf.at->head.type, leaf.name, packed(leaf));
        b_.body.name(leaf.node, leaf.name + (choice_.rows_per_thread > 1 ? of_stream() : along_));
    }
    if (!drawn.empty()) draw_groups(drawn);
    if (vectors.empty() && singles.empty()) return;
    if (!vectors.empty() && choice_.loads.read_around) {
        const std::string beside = std::to_string(choice_.each - 1);
        const std::string all = length(), many = rows();  // separate statements: each call may add an argument
        out.line("const ", u4(), " slack = row > 0 && row + 1 < ", many, " ? ", beside, " : 0, reach = ", all, " - ",
                 beside, " + 2 * slack;");
    }
    if (vectors.empty()) return load_singles(singles);
    open_chunks();
    for (const std::vector<const array_argument*>& some : by_fit(vectors)) {
        open_vectors(some, "[u]", is_loaded(*some[0]));
        out.close();
    }
    out.close();
    if (!singles.empty()) load_singles(singles);
    out.open("if (", may_be_ragged(vectors), ")");
    open_chunks();
    leave_absent();
    for (const std::vector<const array_argument*>& some : by_fit(vectors)) {
        out.open("if (!(", is_loaded(*some[0]), "))");
        load_elements(some, "[u]");
        out.close();
    }
    out.close();
    out.close();
}

void row_elements::load_deferred() {
    if (choice_.held.deferred_loads.empty()) return;
    source_writer& out = b_.code;
    out.line("extern __shared__ uint4 shared_values[];");
    std::vector<const array_argument*> vectors, singles;
    for (const auto& [node, bytes_before] : choice_.held.deferred_loads) {
        const array_argument& leaf = *std::ranges::find(leaves_, node, &array_argument::node);
        const std::uint32_t at = bytes_before * choice_.elements() * choice_.threads / 16;
        (packed(leaf) ? vectors : singles).push_back(&leaf);
        const std::string type = b_.needs.type(leaf.at->head.type), name = leaf.name + "_deferred";
        out.line(type, choice_.each > 1 ? " (*const " + name + ")" + of_chunk() : "* const " + name,
                 " = reinterpret_cast<", type, choice_.each > 1 ? "(*)" + of_chunk() : "*", ">(shared_values + ", at,
                 ") + threadIdx.x;");
    }
    const auto copy = [&](const array_argument& leaf, std::uint32_t bytes) {
        out.line(b_.copier(bytes), "(&", leaf.name, deferred_chunk(), ", ", b_.pointer(leaf),
                 b_.offset(leaf, all_axes()), ");");
    };
    open_chunks();
    leave_absent();
    for (const std::vector<const array_argument*>& some : by_fit(vectors)) {
        out.open("if (", is_vector(*some[0]), ")");
        b_.write_digits(row_index(), r_.row);
        for (const array_argument* leaf : some) copy(*leaf, bytes_of(*leaf) * choice_.each);
        out.otherwise();
        load_elements(some, deferred_chunk());
        out.close();
    }
    if (!singles.empty() && choice_.each > 1) load_elements(singles, deferred_chunk());
    if (!singles.empty() && choice_.each == 1) {
        b_.write_digits(row_index(), r_.row);
        for (const array_argument* leaf : singles) copy(*leaf, bytes_of(*leaf));
    }
    out.close();
}

void row_elements::load_singles(const std::vector<const array_argument*>& leaves) {
    open_chunks();
    if (!choice_.loads.stream_elements) {
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

void row_elements::draw_groups(const std::vector<const array_argument*>& leaves) {
    open_chunks();
    leave_absent();
    b_.write_digits(row_index(), r_.row);
    for (const array_argument* leaf : leaves)
        b_.draw_groups(leaf->node, leaf->name + "[u]", choice_.each, b_.generator_index(leaf->node, all_axes()),
                       choice_.shifted);
    b_.code.close();
}

std::string row_elements::may_be_ragged(const std::vector<const array_argument*>& vectors) {
    const std::string each = of(choice_.each);
    std::string test = length() + " % " + each + " != 0";
    const std::string first = choice_.begins_before() ? "shift / " + each : "0";
    if (choice_.shifted && choice_.has_one_lane())
        test = "shift % " + each + " != 0 || (shift + " + length() + ") % " + each + " != 0";
    else if (choice_.shifted)
        test = lane_ + " == " + first + " || " + lane_ + " == (shift + " + length() + ") / " + each + " % " + lanes();
    if (choice_.loads.read_around) test = "slack == 0 && (" + test + ')';
    if (!choice_.shifted) return test;
    for (const array_argument* leaf : vectors)
        if (leaf->name != leader_) test += " || !" + leaf->name + "_fits";
    return test;
}

void row_elements::declare(dtype t, const std::string& name, bool vectors) {
    const std::string aligned = vectors ? "alignas(" + std::to_string(size_of(t) * choice_.each) + ") " : "";
    b_.code.line(aligned, b_.needs.type(t), ' ', name, '[', choice_.chunks, ']',
                 choice_.each > 1 ? '[' + std::to_string(choice_.each) + ']' : "", ";");
}

void row_elements::load_chunk(const std::vector<const array_argument*>& leaves) {
    std::vector<const array_argument*> vectors, singles;
    for (const array_argument* leaf : leaves) (packed(*leaf) ? vectors : singles).push_back(leaf);
    for (const std::vector<const array_argument*>& some : by_fit(vectors)) {
        open_vectors(some, "", is_vector(*some[0]));
        b_.code.otherwise();
        load_elements(some, "");
        b_.code.close();
    }
    if (singles.empty()) return;
    const bool bare = choice_.each == 1;  // the digits are computed again where results are stored
    if (bare) b_.code.open();
    load_elements(singles, "");
    if (bare) b_.code.close();
}

std::vector<const array_argument*> row_elements::unheld(const std::vector<node_id>& values) {
    std::vector<const array_argument*> leaves;
    const std::vector<bool> below = nodes_below(b_.graph, values);
    for (const array_argument& leaf : leaves_) {
        if (!below[leaf.node] || !along_row(leaf.node) || is_stream(leaf)) continue;
        if (!is_deferred(leaf)) leaves.push_back(&leaf);
        b_.body.name(leaf.node, leaf.name + (is_deferred(leaf) ? deferred_chunk() : "") + of_element());
    }
    return leaves;
}

void row_elements::load_unheld(const std::vector<node_id>& values) {
    const std::vector<const array_argument*> leaves = unheld(values);
    for (const array_argument* leaf : leaves) {
        const std::string type = b_.needs.type(leaf->at->head.type);
        if (choice_.each > 1)
            b_.code.line("alignas(", size_of(leaf->at->head.type) * choice_.each, ") ", type, ' ', leaf->name,
                         of_chunk(), ";");
        else
            b_.code.line(type, ' ', leaf->name, " = ", type, "();");
    }
    if (!leaves.empty()) load_chunk(leaves);
}

void row_elements::open_elements() {
    if (choice_.each > 1) b_.open_unrolled("e", choice_.each);
}

void row_elements::close_elements() {
    if (choice_.each > 1) b_.code.close();
}

}  // namespace ingot::codegen
