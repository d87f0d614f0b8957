// The layout of an argument struct. Members are sorted by width, stably, so that a reader finds them in the order in
// which the emitter asked for them.
#include "codegen/text/writer.hpp"

#include <algorithm>

namespace ingot::codegen {

std::string argument_struct::member(argument requested, std::string type, std::string name) {
    const auto same = std::find_if(entries_.begin(), entries_.end(), [&](const entry& e) { return e.name == name; });
    if (same == entries_.end()) entries_.push_back({requested, std::move(type), name});
    return "p." + name;
}

void argument_struct::declare(source_writer& out, std::string_view name, launch& to) const {
    std::vector<entry> sorted = entries_;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const entry& a, const entry& b) { return a.argument.bytes > b.argument.bytes; });
    out.open("struct ", name);
    std::uint32_t at = 0;
    for (entry& e : sorted) {
        out.line(e.type, " ", e.name, ";");
        e.argument.at = at;
        at += e.argument.bytes * members_of(e.argument.kind);
        to.arguments.push_back(e.argument);
    }
    out.close(";");
    const std::uint32_t aligned = !sorted.empty() && sorted[0].argument.bytes > 8 ? 16 : 8;
    to.argument_bytes = (at + aligned - 1) / aligned * aligned;
}

}  // namespace ingot::codegen
