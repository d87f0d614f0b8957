// The inside of a strip (host/walk.hpp): the innermost loop, which is vectorised, and the stores of a strip.
#include <algorithm>

#include "codegen/host/walk.hpp"

namespace ingot::codegen {

using namespace detail;

/// Names the inputs' elements in the strip of this turn; `read` has named those of the first strip.
void host_walk::name_for_turn() {
    for (const in_turn& i : in_turn_) {
        if (turn_ == 0) return;
        const std::string at = i.along + std::to_string(turn_) + i.step;
        b_.body.name(i.of.at.node, i.of.random ? generated(i.of, i.start + " + " + at)
                                               : as_read(i.of.at.node, i.start + '[' + at + ']'));
    }
}

/// Where the values contain choices, memory is read before them: a compiler does not load speculatively for both sides
/// of a choice, and so makes no vectors.
void host_walk::read_before_choices(const std::vector<node_id>& values, int& elements_read) {
    const std::vector<bool> required = b_.body.required_by(values);
    const auto chooses = [&](node_id i) {
        const node& n = b_.graph.nodes[i];
        return required[i] && n.kind == node_kind::map && static_cast<op>(n.code) == op::where;
    };
    bool any = false;
    for (node_id i = 0; i < required.size(); ++i) any = any || chooses(i);
    for (node_id i = 0; any && i < required.size(); ++i) {
        const bool named = required[i] && b_.body.has_name(i) && b_.graph.nodes[i].kind != node_kind::reduce;
        if (!named || b_.body.name_of(i).find("[j") == std::string::npos) continue;
        const std::string name = "e" + std::to_string(elements_read++);
        b_.code.line("const ", b_.needs.type(b_.graph.nodes[i].type), ' ', name, " = ", b_.body.name_of(i), ";");
        b_.body.name(i, name);
    }
}

void host_walk::elements(const std::vector<node_id>& values, const statements& of) {
    source_writer& out = b_.code;
    const auto outside = b_.body.scope();
    const bool whole = wants_whole_strips(values);
    std::vector<std::string> texts(values.size());
    const auto first = [&](std::size_t i) {  // the first with the same value
        return static_cast<std::size_t>(std::ranges::find(values, values[i]) - values.begin());
    };
    const int arrays = arrays_;
    const auto array = [&](std::size_t i) { return "value" + std::to_string(arrays + static_cast<int>(first(i))); };
    if (whole) {
        arrays_ += static_cast<int>(values.size());
        for (std::size_t i = 0; i < values.size(); ++i)
            if (first(i) == i)
                out.line("alignas(64) ", b_.needs.type(b_.graph.nodes[values[i]].type), ' ', array(i), '[', strip_,
                         "];");
    }
    int elements_read = 0;
    if (whole) {
        open_whole_vectors(b_);
    } else {
        b_.declare_independent();
        out.open("for (int j = 0; j < m; ++j)");
    }
    for (turn_ = 0; turn_ + 1 < at_once_; ++turn_) {
        const auto before = b_.body.scope();
        name_for_turn();
        read_before_choices(values, elements_read);
        for (std::size_t i = 0; i < values.size(); ++i) texts[i] = b_.body.value(values[i], out);
        of(texts);
        b_.body.leave(before);
    }
    name_for_turn();
    read_before_choices(values, elements_read);
    for (std::size_t i = 0; i < values.size(); ++i) {
        texts[i] = b_.body.value(values[i], out);
        if (whole && first(i) == i) out.line(array(i), "[j] = ", texts[i], ";");
    }
    if (whole) {
        close_whole_vectors(b_);
        b_.declare_independent();
        out.open("for (int j = 0; j < m; ++j)");
        for (std::size_t i = 0; i < values.size(); ++i) texts[i] = as_read(values[i], array(i) + "[j]");
    }
    of(texts);
    out.close();
    turn_ = 0;
    b_.body.leave(outside);
}

std::string host_walk::strip_number(const std::string& from) const {
    const std::string turn = turn_ == 0 ? "" : " + " + std::to_string(turn_);
    if (across()) return "k" + turn + (from == "0" ? "" : " - " + from);
    return (from == "0" ? "first" : "(first - " + from + ')') + " / " + std::to_string(strip_);
}

void host_walk::open_outputs(const folded_space& s) {
    for (const std::size_t k : s.outputs) {
        const array_argument& z = b_.outputs[k];
        const std::string type = b_.needs.type(z.at->head.type);
        if (has_runs(s) || (packed_ && !(staged_ && is_staged(z, s))))
            b_.code.line("alignas(64) ", type, ' ', z.name, "_strip[", strip_, "];");
        else if (staged_ && is_staged(z, s))
            b_.code.line(type, "* const ", z.name, "_strip = ", z.name, " + k * ", pitch(), ";");
        else
            b_.code.line(type, "* const ", z.name, "_strip = ", b_.pointer(z), b_.offset(z, kept_axes() | s.bits()),
                         ";");
    }
}

void host_walk::put(const folded_space& s, std::span<const std::string> values) {
    assign(&s, s.outputs, values, has_runs(s) ? -1 : lane_axis(s));
}

void host_walk::close_outputs(const folded_space& s) {
    if (packed_)
        for (const std::size_t k : s.outputs)
            if (const array_argument& z = b_.outputs[k]; !(staged_ && is_staged(z, s)))
                scatter(z, kept_axes() | s.bits());
    if (s.outputs.empty() || !has_runs(s)) return;
    over_runs(s, [&] {
        for (const std::size_t k : s.outputs) {
            const array_argument& z = b_.outputs[k];
            b_.code.line("for (int j = 0; j < run; ++j) (", b_.pointer(z), b_.offset(z, kept_axes() | s.bits()), ")[j",
                         b_.times_stride(z, s.inner()), "] = ", z.name, "_strip[filled + j];");
        }
    });
}

void host_walk::store_rows(const std::vector<std::size_t>& outputs) {
    std::vector<node_id> roots;
    for (const std::size_t k : outputs) {
        const array_argument& z = b_.outputs[k];
        roots.push_back(b_.graph.roots[k]);
        const std::string type = b_.needs.type(z.at->head.type);
        if (packed_)
            b_.code.line("alignas(64) ", type, ' ', z.name, "_strip[", strip_, "];");
        else
            b_.code.line(type, "* const ", z.name, "_strip = ", b_.pointer(z), b_.offset(z, kept_axes()), ";");
    }
    elements(roots,
             [&](const std::vector<std::string>& values) { assign(nullptr, outputs, values, kept_axes_.back()); });
    for (const std::size_t k : outputs)
        if (packed_) scatter(b_.outputs[k], kept_axes());
}

/// Packed lanes are stored after the loop that computes them, as few CPUs have vector scatters.
void host_walk::scatter(const array_argument& z, std::uint64_t known) {
    b_.code.line("for (int j = 0; j < m; ++j) (", b_.pointer(z), b_.offset(z, known), ")[", packed_strips::offset_of(z),
                 "] = ", z.name, "_strip[j];");
}

/// Stores element j of each output's strip; without a lane all strips are copies. All is read before the first store,
/// as an output may be an input's own array.
void host_walk::assign(const folded_space* s, const std::vector<std::size_t>& outputs,
                       std::span<const std::string> values, int lane) {
    std::vector<std::string> read(values.begin(), values.end());
    for (std::size_t i = 0; outputs.size() > 1 && i < outputs.size(); ++i) {
        read[i] = "r" + std::to_string(i);
        b_.code.line("const ", b_.needs.type(b_.outputs[outputs[i]].at->head.type), ' ', read[i], " = ", values[i],
                     ";");
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const array_argument& z = b_.outputs[outputs[i]];
        const bool copied = lane < 0 || packed_ || (s != nullptr && staged_ && is_staged(z, *s));
        b_.code.line(z.name, "_strip[j", copied ? "" : b_.times_stride(z, lane), "] = ", read[i], ";");
    }
}

}  // namespace ingot::codegen
