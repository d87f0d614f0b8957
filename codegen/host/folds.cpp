// See host/folds.hpp.
#include "codegen/host/folds.hpp"

#include <algorithm>

namespace ingot::codegen {

void row_folds::write(const folded_space& s, const std::string& number, bool only, std::span<lane_fold> folds,
                      const std::vector<host_walk::cached_value>& cached) {
    source_writer& out = b_.code;
    const std::string index = b_.linear();
    const std::string n = b_.count(points_of(s.bits()), "folded" + number);
    const bool groups = reach_.has_groups(s.length_class, walk_.split());
    const bool several = groups || (walk_.split() && !only);
    for (const lane_fold& l : folds) {
        fold_writer& f = l.fold();
        out.line(walk_.across() ? "alignas(64) " : "", whole_type(f), ' ', f.name(),
                 walk_.across() ? '[' + std::to_string(walk_.strip()) + ']' : "", ";");
        if (several) start(f);
        const std::string result = f.result(whole(f));
        b_.body.name(f.reduction(), whole_type(f) == f.type() ? result : f.type() + '(' + result + ')');
    }
    if (walk_.split() && !only)
        out.open("for (", index, " from = piece * ", reach_.piece, "; from < ", n, "; from += pieces * ", reach_.piece,
                 ")");
    else
        out.open();
    std::string from = "0", to = n;
    if (walk_.split()) {
        if (only) out.line("const ", index, " from = piece * ", reach_.piece, ";");
        out.line("const ", index, " to = ", n, " - from < ", reach_.piece, " ? ", n, " : from + ", reach_.piece, ";");
        from = "from", to = "to";
    }
    if (groups) {
        out.open("for (", index, " group = ", from, "; group < ", to, "; group += ", reach_.group, ")");
        out.line("const ", index, " end_of_group = ", to, " - group < ", reach_.group, " ? ", to, " : group + ",
                 reach_.group, ";");
        from = "group", to = "end_of_group";
    }
    write_group(s, folds, cached, from, to, several);
    if (groups) out.close();
    out.close();
}

void row_folds::start(fold_writer& f) {
    const std::string nothing = walk_.across() ? f.wide_start() : f.start();
    b_.code.line(walk_.across() ? "for (int j = 0; j < m; ++j) " : "", whole(f), " = ", nothing, ";");
}

void row_folds::write_group(const folded_space& s, std::span<lane_fold> folds,
                            const std::vector<host_walk::cached_value>& cached, const std::string& from,
                            const std::string& to, bool one_of_many) {
    source_writer& out = b_.code;
    for (const lane_fold& l : folds) {
        l.declare(out);
        l.start(out, walk_.across() ? "m" : std::to_string(walk_.strip()));
    }
    std::vector<node_id> computed = s.computed_nodes(b_.graph);
    for (const host_walk::cached_value& k : cached) computed.push_back(k.node);
    const auto fold_strip = [&] {
        walk_.open_outputs(s);
        walk_.elements(computed, [&](const std::vector<std::string>& values) {
            const std::span<const std::string> all(values);
            for (std::size_t i = 0; i < folds.size(); ++i)
                out.line(folds[i].join(values[i], walk_.strip_number(from), walk_.strip_in_turn()));
            walk_.put(s, all.subspan(folds.size(), s.outputs.size()));
            for (std::size_t i = 0; i < cached.size(); ++i)
                out.line(cached[i].to(), " = ", all.last(cached.size())[i], ";");
        });
        walk_.close_outputs(s);
        for (const lane_fold& l : folds) l.end_strips(out, walk_.strip_number(from), walk_.strips_at_once());
    };
    walk_.strips(s, from, to, computed, fold_strip, cached, true);
    for (const lane_fold& l : folds) {
        const std::string name = whole(l.fold());
        const std::string part = walk_.across() ? l.lane(from, to) : l.joined(from, to);
        const std::string joiner = walk_.across() ? l.fold().wide_joiner() : l.fold().joiner();
        out.line(walk_.across() ? "for (int j = 0; j < m; ++j) " : "", name, " = ",
                 one_of_many ? joiner + "::join(" + name + ", " + part + ')' : part, ";");
    }
}

}  // namespace ingot::codegen
