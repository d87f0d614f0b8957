// See host/lanes.hpp.
#include "codegen/host/lanes.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

dtype integer_as_wide_as(dtype t) {
    switch (size_of(t)) {
        case 1:
            return dtype::i1;
        case 2:
            return dtype::i2;
        case 4:
            return dtype::i4;
        default:
            return dtype::i8;
    }
}

constexpr std::string_view join_lanes_text =
    "/// Combines all lanes as a balanced tree.\n"
    "template <class joiner, int n, class type>\n"
    "static inline type join_lanes(type* lanes) {\n"
    "    if constexpr (n > 1) {\n"
    "        for (int l = 0; l < n / 2; ++l) lanes[l] = joiner::join(lanes[l], lanes[l + n / 2]);\n"
    "        return join_lanes<joiner, n / 2>(lanes);\n"
    "    } else {\n"
    "        return lanes[0];\n"
    "    }\n"
    "}\n";

constexpr std::string_view first_of_lanes_text =
    "struct earlier {\n"
    "    static int join(int a, int b) { return a < b ? a : b; }\n"
    "};\n\n"
    "/// Returns the first index of the best value; lane j of strip s has index s * n + j. A NaN is best.\n"
    "template <class joiner, int n, class type, class number>\n"
    "static inline int first_of_lanes(const type* lanes, const number* strips, type& best) {\n"
    "    alignas(64) type values[n];\n"
    "    alignas(64) int indices[n];\n"
    "    for (int l = 0; l < n; ++l) values[l] = lanes[l];\n"
    "    best = join_lanes<joiner, n>(values);\n"
    "    for (int l = 0; l < n; ++l)\n"
    "        indices[l] = (lanes[l] == best) | (lanes[l] != lanes[l]) ? int(strips[l]) * n + l : 128 * n;\n"
    "    return join_lanes<earlier, n>(indices);\n"
    "}\n";

}  // namespace

lane_fold::lane_fold(fold_writer& f, const graph& g, std::size_t number, std::uint32_t width, bool of_one_row,
                     prelude& needs)
    : lanes_("lanes" + std::to_string(number)), fold_(&f), width_(width), needs_(&needs) {
    if (f.is_shifted()) shifted_.emplace(f, lanes_, width, of_one_row);
    if (!f.is_arg_reduction()) return;
    const dtype value = g.nodes[f.value()].type;
    strips_ = "strips" + std::to_string(number);
    value_type_ = needs.type(value);
    value_start_ = f.value_start();
    strip_type_ = needs.type(integer_as_wide_as(value));
    keep_ = "keep_" + f.extreme_joiner();
    const bool greatest = f.greatest(), nan = kind_of(value) == kind::floating;
    // As masks, which keep a NaN: from conditions that depend on each other a compiler makes branches.
    const std::string mask = "-" + strip_type_ + '(';
    const std::string wins = nan ? "const " + strip_type_ + " wins = " + mask + "!(v " + (greatest ? "<=" : ">=") +
                                       " best)) & " + mask + "best == best);"
                                 : std::string("const bool wins = v ") + (greatest ? ">" : "<") + " best;";
    needs.add(keep_, "/// Updates a lane's best element and the number of its strip" +
                         std::string(nan ? "; a NaN stays best" : "") + ".\nstatic inline void " + keep_ + '(' +
                         value_type_ + " v, " + strip_type_ + " strip, " + value_type_ + "& best, " + strip_type_ +
                         "& best_strip) {\n    " + wins +
                         "\n    best = wins ? v : best;\n    best_strip = wins ? strip : best_strip;\n}\n");
}

void lane_fold::declare(source_writer& out) const {
    if (shifted_) return shifted_->declare(out);
    out.line("alignas(64) ", fold_->is_arg_reduction() ? value_type_ : fold_->type(), ' ', lanes_, '[', width_, "];");
    if (fold_->is_arg_reduction()) out.line("alignas(64) ", strip_type_, ' ', strips_, '[', width_, "];");
}

void lane_fold::start(source_writer& out, const std::string& count) const {
    if (shifted_) return shifted_->start(out, count);
    const std::string head = "for (int j = 0; j < " + count + "; ++j) ";
    if (fold_->is_arg_reduction())
        out.line(head, lanes_, "[j] = ", value_start_, ", ", strips_, "[j] = 0;");
    else
        out.line(head, lanes_, "[j] = ", fold_->start(), ";");
}

std::string lane_fold::join(const std::string& value, const std::string& strip, int turn) const {
    if (shifted_) return shifted_->join(value, strip, turn);
    if (fold_->is_arg_reduction())
        return keep_ + '(' + value + ", " + strip_type_ + '(' + strip + "), " + lanes_ + "[j], " + strips_ + "[j]);";
    return lanes_ + "[j] = " + fold_->joined(lanes_ + "[j]", fold_->element(value, "")) + ';';
}

void lane_fold::end_strips(source_writer& out, const std::string& strip, int strips) const {
    if (shifted_) shifted_->end_strips(out, strip, strips);
}

std::string lane_fold::joined(const std::string& from, const std::string& to) const {
    if (shifted_) return shifted_->joined(from, to);
    const std::string width = std::to_string(width_);
    needs_->add("join_lanes", join_lanes_text);
    if (!fold_->is_arg_reduction()) return "join_lanes<" + fold_->joiner() + ", " + width + ">(" + lanes_ + ')';
    needs_->add("first_of_lanes", first_of_lanes_text);
    const std::string name = "first_" + fold_->joiner(), at = needs_->type(dtype::i8);
    needs_->add(name, "/// Returns the best element of all lanes and its index.\ntemplate <int n>\nstatic inline " +
                          fold_->type() + ' ' + name + "(const " + value_type_ + "* lanes, const " + strip_type_ +
                          "* strips, " + at + " from) {\n    " + value_type_ +
                          " best;\n    const int index = first_of_lanes<" + fold_->extreme_joiner() +
                          ", n>(lanes, strips, best);\n    return {best, from + index};\n}\n");
    return name + '<' + width + ">(" + lanes_ + ", " + strips_ + ", " + from + ')';
}

std::string lane_fold::lane(const std::string& from, const std::string& to) const {
    if (shifted_) return shifted_->lane(from, to);
    if (!fold_->is_arg_reduction()) return lanes_ + "[j]";
    return fold_->type() + '{' + lanes_ + "[j], " + needs_->type(dtype::i8) + '(' + from + ") + " + strips_ + "[j]}";
}

}  // namespace ingot::codegen
