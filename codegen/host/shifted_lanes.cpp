// See host/shifted_lanes.hpp.
#include "codegen/host/shifted_lanes.hpp"

#include "codegen/host/walk.hpp"

namespace ingot::codegen {

void shifted_lanes::declare(source_writer& out) const {
    const std::string type = fold_->entry_type(), array = '[' + std::to_string(width_) + ']';
    if (has_one_near()) out.line(type, ' ', near(""), ";");
    out.line("alignas(64) ", type, ' ', has_one_near() ? "" : near(array) + ", ", sum(), array, ", ", third(), array,
             ";");
    if (fold_->is_moments()) return;
    out.line("alignas(64) ", type, ' ', name_, "_strip[", host_walk::most_at_once * width_, "];");
    out.line("int ", name_, "_far = 0;");
}

void shifted_lanes::start(source_writer& out, const std::string& count) const {
    const std::string least = fold_->is_moments() ? "0" : "-largest<" + fold_->entry_type() + ">()";
    if (has_one_near()) out.line(near(""), " = 0;");
    out.line("for (int j = 0; j < ", count, "; ++j) ", has_one_near() ? "" : near("[j]") + " = " + least + ", ", sum(),
             "[j] = 0, ", third(), "[j] = ", least, ";");
}

std::string shifted_lanes::join(const std::string& value, const std::string& strip, int turn) const {
    if (!fold_->is_moments()) {
        const std::string at = (turn == 0 ? "[" : '[' + std::to_string(turn * static_cast<int>(width_)) + " + ") + "j]";
        return call("keep") + value + ", " + name_ + "_strip" + at + ", " + name_ + "_far, " + near("[j]") + ", " +
               third() + "[j]);";
    }
    const std::string first = turn == 0 ? strip + " == 0" : "false";
    return (of_one_row_ ? call("keep") + value : call("keep_first") + value + ", " + first) + ", " + near("[j]") +
           ", " + sum() + "[j], " + third() + "[j]);";
}

void shifted_lanes::end_strips(source_writer& out, const std::string& strip, int strips) const {
    const std::string all = near("") + ", " + sum() + ", " + third() + ");", several = std::to_string(strips);
    if (!fold_->is_moments())
        out.line(call("end_strips<" + several + ", " + std::to_string(width_) + (of_one_row_ ? ", true>" : ", false>")),
                 name_, "_strip, ", name_, "_far, m, ", all);
    else if (of_one_row_)
        out.line("if (", strip, " == 0) ", call("begin"), "m, ", all);
    else if (strips > 1)
        out.line("if (", strip, " == 0) ", call("begin_lanes<" + several + '>'), "m, ", all);
}

std::string shifted_lanes::joined(const std::string& from, const std::string& to) const {
    return call("of_lanes<" + std::to_string(width_) + '>') + near("") + ", " + sum() + ", " + third() + ", " + to +
           (from == "0" ? ")" : " - " + from + ')');
}

std::string shifted_lanes::lane(const std::string& from, const std::string& to) const {
    return call("of_lane") + near("[j]") + ", " + sum() + "[j], " + third() + "[j], " + to +
           (from == "0" ? ")" : " - " + from + ')');
}

}  // namespace ingot::codegen
