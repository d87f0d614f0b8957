// See host/packed_strips.hpp.
#include "codegen/host/packed_strips.hpp"

#include <algorithm>

namespace ingot::codegen {

using namespace detail;

std::uint64_t packed_strips::bits() const {
    std::uint64_t bits = 0;
    for (const int a : axes_) bits |= axis_bit(a);
    return bits;
}

void packed_strips::declare() {
    const std::string type = b_.linear();
    const auto replaced = [&](std::string text) {
        for (std::size_t i; (i = text.find('@')) != std::string::npos;) text.replace(i, 1, type);
        return text;
    };
    b_.needs.add("packing",
                 replaced("/// Consecutive strips in linear order; each covers whole points of the axis that is cut.\n"
                          "struct packing {\n"
                          "    @ span, step;  // elements of all points of that axis, and of a strip\n"
                          "    /// Returns the start of the first strip at or after `at`.\n"
                          "    @ first(@ at) const {\n"
                          "        const @ within = (at % span + step - 1) / step * step;\n"
                          "        return at / span * span + (within < span ? within : span);\n"
                          "    }\n"
                          "    /// Returns the number of elements of the strip that starts at `at`.\n"
                          "    int length(@ at) const {\n"
                          "        const @ left = span - at % span;\n"
                          "        return int(left < step ? left : step);\n"
                          "    }\n"
                          "};\n"
                          "/// Cuts the innermost axis that exceeds `room`. A strip is a whole number of vectors if "
                          "`room` has space\n"
                          "/// for enough points.\n"
                          "template <class... extents>\n"
                          "static inline packing pack(@ room, @ vector, @ inner, extents... outer) {\n"
                          "    const @ sizes[] = {outer...};\n"
                          "    @ point = 1, span = inner;\n"
                          "    for (const @ n : sizes) {\n"
                          "        if (span > room) break;\n"
                          "        point = span;\n"
                          "        span *= n;\n"
                          "    }\n"
                          "    const @ common = (point | vector) & -(point | vector);\n"
                          "    @ most = room / point, multiple = vector / common;\n"
                          "    if (multiple > most) multiple = 1;\n"
                          "    most = most / multiple * multiple;\n"
                          "    const @ points = span / point, strips = (points + most - 1) / most;\n"
                          "    const @ each = ((points + strips - 1) / strips + multiple - 1) / multiple * multiple;\n"
                          "    return {span, (each < points ? each : points) * point};\n"
                          "}\n"));
    std::string extents;
    for (std::size_t k = axes_.size(); k-- > 0;) extents += ", " + b_.extent(axes_[k]);
    b_.code.line("const packing strips = pack(", room_, ", ", lanes_of_whole_vectors(b_.graph), extents, ");");
}

void packed_strips::add_table(const array_argument& at, bool flagged) {
    // Several reshapes may read at one place.
    if (std::ranges::any_of(tables_, [&](const table& t) { return t.of.name == at.name; })) return;
    const bool narrow = (at.is_output || at.at->head.kind == operand_kind::array) && !at.at->head.wide;
    const table t{at, b_.needs.type(narrow ? dtype::i4 : dtype::i8), flagged};
    b_.code.line(t.type, ' ', at.name, "_at[", room_, "];");
    if (flagged) b_.code.line("bool ", dense(at), " = true;");
    tables_.push_back(t);
}

std::string packed_strips::gather(const array_argument& at, const std::string& copy, const std::string& row) {
    if (inner_class(at, axes_.back()) == stride_class::broadcast) return spread(copy, row, at.name + "_at");
    b_.needs.add("gather_lanes",
                 "/// Loads the lanes of a strip, which are contiguous or have one offset each.\n"
                 "template <class type, class offset>\n"
                 "static inline void gather_lanes(type* to, const type* row, const offset* at, bool dense, int m) {\n"
                 "    if (dense)\n"
                 "        for (int j = 0; j < m; ++j) to[j] = row[j];\n"
                 "    else\n"
                 "        for (int j = 0; j < m; ++j) to[j] = row[at[j]];\n"
                 "}\n");
    return "gather_lanes(" + copy + ", " + row + ", " + at.name + "_at, " + dense(at) + ", m);";
}

std::string packed_strips::scatter(const array_argument& at, const std::string& copy, const std::string& row) {
    b_.needs.add(
        "scatter_lanes",
        "/// Stores the lanes of a strip, which are contiguous or have one offset each.\n"
        "template <class type, class offset>\n"
        "static inline void scatter_lanes(const type* from, type* row, const offset* at, bool dense, int m) {\n"
        "    if (dense)\n"
        "        for (int j = 0; j < m; ++j) row[j] = from[j];\n"
        "    else\n"
        "        for (int j = 0; j < m; ++j) row[at[j]] = from[j];\n"
        "}\n");
    return "scatter_lanes(" + copy + ", " + row + ", " + at.name + "_at, " + dense(at) + ", m);";
}

std::string packed_strips::spread(const std::string& copy, const std::string& row, const std::string& offsets) {
    b_.needs.add(
        "spread_lanes",
        "/// Repeats one element over each row of n lanes. For very short rows one offset per lane is cheaper.\n"
        "template <class type, class offset>\n"
        "static inline void spread_lanes(type* to, const type* from, const offset* at, int n, int m) {\n"
        "    if (n < 16) {\n"
        "        for (int j = 0; j < m; ++j) to[j] = from[at[j]];\n"
        "        return;\n"
        "    }\n"
        "    for (int j = 0; j < m; j += n) {\n"
        "        const type value = from[at[j]];\n"
        "        const int end = m - j < n ? m : j + n;\n"
        "        for (int k = j; k < end; ++k) to[k] = value;\n"
        "    }\n"
        "}\n");
    const std::string n = b_.extent(axes_.back());
    return "spread_lanes(" + copy + ", " + row + ", " + offsets + ", int(" + n + "), m);";
}

void packed_strips::open_lanes() {
    std::string digits;
    for (const int a : axes_) digits += (digits.empty() ? " " : ", ") + digit(a) + " = 0";
    b_.code.open();
    b_.code.line(b_.signed_index(), digits, ";");
    b_.code.open("for (int j = 0; j < int(strips.step); ++j)");
}

void packed_strips::close_lanes() {
    for (const table& t : tables_) {
        b_.code.line(t.of.name, "_at[j] = ", t.type, '(', b_.index(t.of, bits()), ");");
        if (t.flagged) b_.code.line(dense(t.of), " &= ", t.of.name, "_at[j] == j;");
    }
    b_.code.line("++", digit(axes_.back()), ";");
    carry_digits(b_, axes_);
    b_.code.close();
    b_.code.close();
}

void packed_strips::open(const std::string& from, const std::string& to) {
    source_writer& out = b_.code;
    out.open("for (", b_.linear(), " start = strips.first(", from, "); start < ", to,
             "; start += strips.length(start))");
    out.line("const int m = strips.length(start);");
    out.line(b_.linear(), " rest = start;");
    write_digits(b_, "rest", axes_);
}

}  // namespace ingot::codegen
