// A kernel being written: its operands and outputs, found in the graph, and its arguments, added as the text asks for
// them.
#include "codegen/text/kernel.hpp"

#include <algorithm>

#include <ingot/core/error.hpp>

#include "codegen/graph/rows.hpp"
#include "codegen/plan/thread_folds.hpp"
#include "codegen/text/complex_in_text.hpp"
#include "codegen/text/error_report.hpp"
#include "codegen/text/random.hpp"
#include "codegen/text/scatter.hpp"
#include "codegen/text/user_text.hpp"

namespace ingot::codegen {

using detail::operand_kind;

namespace {

/// The loops along which a pick moves.
std::uint64_t axes_of_pick(const graph& g, const node& n, const key& k) {
    std::uint64_t axes = 0;
    for (std::size_t a = 0; a < k.axes.size(); ++a)
        if (k.operands[n.pick].strides[a] != stride_class::broadcast) axes |= axis_bit(g.loop_axis[a]);
    return axes;
}

/// All loops along which a node or anything below it moves, the loops bound there included.
std::uint64_t axes_beneath(const graph& g, node_id root, const key& k) {
    std::vector<bool> below(root + 1);
    below[root] = true;
    std::uint64_t axes = 0;
    for (node_id i = root + 1; i-- > 0;) {
        if (!below[i]) continue;
        const node& n = g.nodes[i];
        axes |= n.axes;
        if (n.kind == node_kind::unravel) axes |= axes_of_pick(g, n, k);
        for (int a = 0; a < n.arity; ++a) below[n.arguments[a]] = true;
    }
    return axes;
}

}  // namespace

kernel_builder::kernel_builder(const codegen::key& k, const codegen::graph& g)
    : key(k), graph(g), names(operand_names(g, k)), needs(k.header.where), body(g, needs), code(1) {
    needs.keep_nan_signs(std::ranges::any_of(g.nodes, [](const node& n) {
        return n.kind == node_kind::map &&
               (n.code == std::uint16_t(detail::op::signbit) || n.code == std::uint16_t(detail::op::copysign));
    }));
    loops = thread_loops(k, g);
    if (loops != 0) body.set_loops(loops, *this);
    for (node_id i = 0; i < g.nodes.size(); ++i) {
        const node& n = g.nodes[i];
        if (n.kind != node_kind::operand) continue;
        const operand_class& o = k.operands[n.index];
        const bool in_loop = (n.axes & loops) != 0;
        if (o.head.kind == operand_kind::array)
            (in_loop ? looped : inputs).push_back({&o, names[n.index], n.index, false, i});
        if (o.head.kind == operand_kind::generator && !in_loop) generators.push_back(i);
    }
    find_unravellings();
    for (std::size_t i = 0; i < k.outputs.size(); ++i)
        outputs.push_back({&k.outputs[i], "z" + std::to_string(i), static_cast<std::uint16_t>(i), true});
    rank = static_cast<int>(std::count_if(k.axes.begin(), k.axes.end(), [](axis_class a) { return a.owner == 0; }));
    for (const auto* arrays : {&inputs, &looped})
        for (const array_argument& in : *arrays) {  // a view that two loops read counts once
            const std::uint16_t view = in.at->head.same_as;
            if (std::find(step.reads.begin(), step.reads.end(), view) == step.reads.end()) step.reads.push_back(view);
        }
    for (const array_argument& out : outputs) step.writes.push_back(out.index);
    cost = cost_of(g, g.roots);
    for (const node& n : g.nodes)
        if (n.kind == node_kind::thread_fold) {
            const std::uint32_t turn = cost_of(g, {n.arguments[0]});
            step.work.push_back({g.nodes[n.arguments[0]].axes, turn});
            cost += turn;
        }
    for (const auto* arrays : {&inputs, &looped, &outputs})
        for (const array_argument& at : *arrays) pointer(at);
}

void kernel_builder::find_unravellings() {
    std::vector<unravelling> found;
    std::vector<std::uint64_t> wants;  // the digits that its place is made of, of all loops
    for (node_id i = static_cast<node_id>(graph.nodes.size()); i-- > 0;) {
        const node& n = graph.nodes[i];
        if (n.kind != node_kind::unravel && n.kind != node_kind::gather) continue;
        unravelling u;
        for (std::size_t a = 0; a < key.axes.size(); ++a)
            if (key.axes[a].owner == n.index + 1) u.axes.push_back(graph.loop_axis[a]);
        const auto known = [&](const auto& what) { return std::ranges::any_of(found, what); };
        if (known([&](const unravelling& other) { return other.axes == u.axes; })) continue;
        if (n.kind == node_kind::gather) {
            u.index = n.arguments[1];
            u.mode = static_cast<index_mode>(n.code);
            u.name = "outside" + std::to_string(u.axes.front());
            wants.push_back(axes_beneath(graph, u.index, key));
        } else {
            // Two scans of one length have loops of their own, and are read at one place.
            const bool twice =
                known([&](const unravelling& other) { return !other.gathers() && other.pick.index == n.pick; });
            u.pick = {&key.operands[n.pick], names[n.pick], n.pick, false};
            u.name = names[n.pick] + (twice ? '_' + digit(u.axes.front()) : "");
            u.rule = rule_of(n);
            wants.push_back(axes_of_pick(graph, n, key));
        }
        found.push_back(std::move(u));
    }
    const auto own = [](const unravelling& u) {
        std::uint64_t axes = 0;
        for (const int a : u.axes) axes |= axis_bit(a);
        return axes;
    };
    std::uint64_t missing = 0;
    for (const unravelling& u : found) missing |= own(u);
    for (std::vector<bool> resolved(found.size()); unravellings.size() < found.size();) {
        const std::size_t before = unravellings.size();
        for (std::size_t i = 0; i < found.size(); ++i) {
            if (resolved[i] || (wants[i] & missing) != 0) continue;
            resolved[i] = true;
            missing &= ~own(found[i]);
            unravellings.push_back(found[i]);
        }
        if (unravellings.size() == before) throw error("[emit] places are made of each other");
    }
}

std::uint32_t kernel_builder::exact_extent(int axis) const {
    for (std::size_t a = 0; a < key.axes.size(); ++a)
        if (graph.loop_axis[a] == axis && key.axes[a].extent != 0) return key.axes[a].extent;
    return 0;
}

stride_class kernel_builder::class_along(const array_argument& at, int loop) const {
    stride_class found = stride_class::broadcast;
    for (std::size_t a = 0; a < key.axes.size(); ++a) {
        if (graph.loop_axis[a] != loop || at.at->strides[a] == stride_class::broadcast) continue;
        found = found == stride_class::broadcast ? at.at->strides[a] : stride_class::strided;
    }
    return found;
}

std::string kernel_builder::turns(int axis) {
    if ((looping.unrolled & axis_bit(axis)) != 0) return std::to_string(exact_extent(axis));
    return signed_extent(axis);
}

std::string kernel_builder::element(const array_argument& at, const std::string& offset) {
    return offset.empty() ? '*' + pointer(at) : "*(" + pointer(at) + offset + ')';
}

bool kernel_builder::is_drawn_in_groups(node_id operand) const {
    const node& n = graph.nodes[operand];
    return n.kind == node_kind::operand && key.operands[n.index].head.kind == operand_kind::generator &&
           static_cast<detail::generator_kind>(n.code) != detail::generator_kind::position;
}

void kernel_builder::declare_group(node_id operand, source_writer& out) {
    const node& n = graph.nodes[operand];
    out.line(needs.type(n.type), ' ', names[n.index], "_group[", generator_group(n.type), "] = {};");
    out.line(needs.type(dtype::u8), ' ', names[n.index], "_drawn = ~0ull;  // number of the group in the buffer");
}

std::string kernel_builder::element_at_digits(node_id operand, source_writer& out) {
    const std::uint64_t axes = graph.nodes[operand].axes;
    const std::uint16_t index = graph.nodes[operand].index;
    if (is_drawn_in_groups(operand)) {
        const std::string &name = names[index], number = name + "_number", group = name + "_group";
        const std::string size = std::to_string(generator_group(graph.nodes[operand].type));
        const std::string at = generator_index(operand, axes), draw = generator_name(operand);
        out.line("const ", needs.type(dtype::u8), ' ', number, " = ", at, ";");
        out.open("if (", number, " / ", size, " != ", name, "_drawn)");
        out.line(name, "_drawn = ", number, " / ", size, ";");
        out.line(draw, '(', group, ", ", generator_key(operand), ", ", name, "_drawn);");
        out.close();
        const auto pair = [&](int first) {
            return '(' + number + " & 1 ? " + group + '[' + std::to_string(first + 1) + "] : " + group + '[' +
                   std::to_string(first) + "])";
        };
        return size == "4" ? '(' + number + " & 2 ? " + pair(2) + " : " + pair(0) + ')' : pair(0);
    }
    if (key.operands[index].head.kind == operand_kind::generator)
        return generator_call(operand, generator_index(operand, axes));
    const array_argument at{&key.operands[index], names[index], index, false, operand};
    return element(at, offset(at, axes));
}

array_argument kernel_builder::array_of(const loop_choice::row& row) const {
    const std::uint16_t index = graph.nodes[row.operand].index;
    return {&key.operands[index], names[index], index, false, row.operand};
}

std::uint32_t kernel_builder::length_of(const loop_choice::row& row) const {
    return row.axis == looping.along ? looping.elements
                                     : exact_extent(row.axis) + (row.window ? looping.elements - 1 : 0);
}

void kernel_builder::load_row(const loop_choice::row& row, const std::string& to, source_writer& out) {
    const array_argument at = array_of(row);
    const bool of_elements = row.axis == looping.along;
    const std::string n = std::to_string(length_of(row)), i = of_elements ? element_digit() : digit(row.axis);
    out.line(needs.type(at.at->head.type), ' ', to, dimensions_of(row), ";");
    if (of_elements || row.each) open_elements(out);
    if (!of_elements) {
        out.margin("#pragma unroll");
        out.open("for (", signed_index(), ' ', i, " = 0; ", i, " < ", n, "; ++", i, ")");
    }
    const std::string from = element(at, offset(at, graph.nodes[row.operand].axes));
    out.line(to, row.each ? '[' + element_digit() + ']' : "", '[', i, "] = ", from, ";");
    if (!of_elements) out.close();
    if (of_elements || row.each) out.close();
}

std::string kernel_builder::dimensions_of(const loop_choice::row& row) const {
    const auto dimension = [](std::uint32_t n) { return '[' + std::to_string(n) + ']'; };
    return (row.each ? dimension(looping.elements) : "") + dimension(length_of(row));
}

void kernel_builder::open_elements(source_writer& out) {
    const std::string type = element_axis < 0 ? signed_index()
                             : wide()         ? "int"
                                              : "unsigned int",
                      variable = element_digit();
    out.margin("#pragma unroll");
    out.open("for (", type, ' ', variable, " = 0; ", variable, " < ", looping.elements, "; ++", variable, ")");
}

std::vector<int> kernel_builder::loops_of(node_id fold) const {
    return loops_of_binder(key, graph, graph.nodes[fold].index);
}

bool kernel_builder::is_short(node_id fold) const {
    for (const axis_class& a : key.axes)
        if (a.owner == graph.nodes[fold].index + 1 && a.length_class > 1) return false;
    return true;
}

std::string kernel_builder::pointer(const array_argument& at) {
    const argument_kind kind = at.is_output ? argument_kind::output_pointer : argument_kind::operand_pointer;
    return arguments.member({kind, 8, at.index}, (at.is_output ? "" : "const ") + needs.type(at.at->head.type) + '*',
                            at.name);
}

std::string kernel_builder::count(const formula& f, const std::string& name) {
    return arguments.member({argument_kind::count, static_cast<std::uint8_t>(index_bytes()), step.index_of(f)},
                            linear(), name);
}

std::string kernel_builder::divisor(const formula& f, const std::string& name) {
    const std::string type = linear();
    needs.add("divisor",
              "/// Division by multiplication: n / d is the high word of 2 n * multiplier, shifted.\n"
              "struct divisor { " +
                  type +
                  " multiplier, shift; };\n"
                  "__device__ __forceinline__ " +
                  type + " quotient(" + type +
                  " n, divisor d) {\n"
                  "    return " +
                  (wide() ? "__umul64hi" : "__umulhi") + "(n << 1, d.multiplier) >> d.shift;\n}\n");
    return arguments.member({argument_kind::divisor, static_cast<std::uint8_t>(index_bytes()), step.index_of(f)},
                            "divisor", name);
}

std::uint32_t kernel_builder::stride_of_run(const operand_class& at, std::size_t axis) const {
    if (!at.head.dense || at.head.kind != detail::operand_kind::array) return 0;
    std::uint32_t run = 0;  // elements of the axes inside
    for (std::size_t a = key.axes.size(); a-- > axis + 1;) {
        if (at.strides[a] == stride_class::broadcast) continue;
        if (key.axes[a].extent == 0 || (run == 0 && at.strides[a] != stride_class::unit)) return 0;
        run = std::max(run, 1u) * key.axes[a].extent;
    }
    return run;
}

std::uint32_t kernel_builder::known_stride(const array_argument& at) const {
    const auto of_one_axis = [&](const operand_class& o) -> std::size_t {
        const auto strided = std::ranges::find(o.strides, stride_class::strided);
        const bool one = std::ranges::count(o.strides, stride_class::strided) == 1;
        return one ? static_cast<std::size_t>(strided - o.strides.begin()) : o.strides.size();
    };
    const auto known = [&](const operand_class& o) {
        const std::size_t axis = of_one_axis(o);
        return axis == o.strides.size() ? 0 : stride_of_run(o, axis);
    };
    if (of_one_axis(*at.at) == at.at->strides.size()) return 0;
    const std::uint32_t own = known(*at.at);
    // The same view along other axes has the same strides.
    return own != 0 || at.is_output ? own : known(key.operands[at.at->head.same_as]);
}

std::string kernel_builder::stride_argument(const array_argument& at, std::size_t axis) {
    if (const std::uint32_t run = stride_of_run(*at.at, axis); run != 0) return std::to_string(run);
    if (const std::uint32_t run = known_stride(at); run != 0) return std::to_string(run);
    const bool wide_stride = at.at->head.wide;
    return arguments.member(
        {at.is_output ? argument_kind::output_stride : argument_kind::operand_stride,
         static_cast<std::uint8_t>(wide_stride ? 8 : 4), at.index, static_cast<std::uint16_t>(axis)},
        needs.type(wide_stride ? dtype::i8 : dtype::i4), at.name + "_stride" + std::to_string(axis));
}

std::string kernel_builder::stride(const array_argument& at, int loop) {
    for (std::size_t a = 0; a < at.at->strides.size(); ++a)
        if (graph.loop_axis[a] == loop && at.at->strides[a] != stride_class::broadcast)
            return at.at->strides[a] == stride_class::unit ? "1" : stride_argument(at, a);
    return "0";
}

std::string kernel_builder::times_stride(const array_argument& at, int loop) {
    const std::string factor = stride(at, loop);
    return factor == "1" ? "" : " * " + factor;
}

std::string kernel_builder::index(const array_argument& at, std::uint64_t axes) {
    std::string sum;
    int terms = 0;
    for (std::size_t a = 0; a < key.axes.size(); ++a) {
        const stride_class s = at.at->strides[a];
        const int loop = graph.loop_axis[a];
        if ((axes & axis_bit(loop)) == 0 || s == stride_class::broadcast) continue;
        if (++terms > 1) sum += " + ";
        sum += loop == element_axis ? '(' + digit(loop) + " + " + element_number + ')' : digit(loop);
        if (s == stride_class::strided) sum += " * " + stride_argument(at, a);
    }
    // A CUDA compiler would add one term after the other to a pointer, each in 64 bits.
    return terms > 1 && key.header.where == detail::target::cuda ? '(' + sum + ')' : sum;
}

std::string kernel_builder::offset(const array_argument& at, std::uint64_t axes) {
    const std::string moved = index(at, axes);
    return moved.empty() ? moved : " + " + moved;
}

std::string kernel_builder::generator_index(node_id generator, std::uint64_t axes) {
    const std::uint16_t index = graph.nodes[generator].index;
    const array_argument at{&key.operands[index], names[index], index, false, generator};
    return arguments.member({argument_kind::generator_offset, 8, index}, needs.type(dtype::i8),
                            names[index] + "_first") +
           offset(at, axes);
}

std::string kernel_builder::unravelled_index(const unravelling& u, std::uint64_t axes, const std::string& further) {
    const std::string first =
        arguments.member({argument_kind::pick_offset, 8, u.pick.index}, needs.type(dtype::i8), u.pick.name + "_first");
    const std::string rest = offset(u.pick, axes) + further;
    if (u.rule == detail::place_rule::digits) return first + rest;
    return add_border_index(u.rule) + '(' + signed_index() + '(' + first + ')' + rest + ", " +
           signed_extent(u.axes[0]) + ')';
}

std::string kernel_builder::add_border_index(detail::place_rule rule) {
    const std::string type = signed_index();
    const auto add = [&](const std::string& name, const std::string& why, const std::string& statements) {
        needs.add(name, function("Maps an index into [0, n) " + why) + type + ' ' + name + '(' + type + " at, " + type +
                            " n) {\n" + statements + "}\n");
        return name;
    };
    // Most places are within one length of the axis: only others need a division.
    const auto mirrored = [&](const std::string& before, const std::string& behind, const std::string& period) {
        return "    at = at < 0 ? " + before + " : at;\n    if (at < n) return at;\n    const " + type +
               " back = " + behind + " - (at - n);\n    if (back >= 0) return back;\n    const " + type +
               " period = " + period + ";\n    at %= period;\n    return at < n ? at : " + behind + " - (at - n);\n";
    };
    switch (rule) {
        case detail::place_rule::reflect:
            return add("reflect", "by reflection that does not repeat the end elements.",
                       mirrored("-at", "n - 2", "n > 1 ? 2 * n - 2 : 1"));
        case detail::place_rule::symmetric:
            return add("symmetric", "by reflection that repeats the end elements.",
                       mirrored("-1 - at", "n - 1", "2 * n"));
        case detail::place_rule::wrap:
            return add("wrap", "from [-n, 2 n).", "    at = at < 0 ? at + n : at;\n    return at < n ? at : at - n;\n");
        default:
            return add("nearest", "by clamping.", "    at = at < n - 1 ? at : n - 1;\n    return at > 0 ? at : 0;\n");
    }
}

std::string kernel_builder::gathered_index(const unravelling& u, const std::string& value) {
    const dtype given = graph.nodes[u.index].type;
    // Unsigned indices do not count from the end.
    if (u.mode == detail::unchecked_mode && (given == dtype::u4 || given == dtype::u8))
        return signed_index() + '(' + value + ')';
    const bool narrow = !wide() && (detail::size_of(given) < 4 || given == dtype::i4);
    const std::string type = needs.type(narrow ? dtype::i4 : dtype::i8), result = signed_index();
    const std::string n = type + '(' + extent(u.axes[0]) + ')';
    const std::string suffix = narrow ? "" : "_wide";
    const auto call = [&](const std::string& name, const std::string& why, const std::string& statements,
                          const std::string& parameters = "", const std::string& further = "") {
        needs.add(name + suffix, function(why) + result + ' ' + name + suffix + '(' + type + " at, " + type + " n" +
                                     parameters + ") {\n" + statements + "}\n");
        return name + suffix + '(' + type + '(' + value + "), " + n + further + ')';
    };
    const std::string from_end = "    at = at < 0 ? at + n : at;\n", as_result = "    return " + result + "(at);\n";
    if (u.mode == detail::unchecked_mode)
        return call("index_from_end", "Converts an index that counts from the end if it is negative.",
                    from_end + as_result);
    switch (u.mode) {
        case index_mode::wrap:
            return call("wrapped_index", "Returns an index modulo n.", "    at %= n;\n" + from_end + as_result);
        case index_mode::clip:
            return call("clipped_index", "Clamps an index to [0, n).",
                        "    at = at < n - 1 ? at : n - 1;\n    return " + result + "(at > 0 ? at : 0);\n");
        case index_mode::check:
            break;
    }
    const std::string why =
        "Converts an index, which may be negative, for an axis of n. One out of range gives 0 and is ";
    const std::string errors = arguments.member({argument_kind::error_record, 8}, "error_record*", "errors");
    const std::string statement = arguments.member({argument_kind::statement, 8}, needs.type(dtype::u8), "statement");
    needs.add("report", error_report_text(needs.where()));
    const auto is_inside = [&](const std::string& otherwise) {
        return "    const " + type + " index = at < 0 ? at + n : at;\n    if (index >= 0 && index < n) return " +
               result + "(index);\n" + otherwise + "    return 0;\n";
    };
    if (needs.where() == detail::target::host)
        return call(
            "checked_index", why + "reported.",
            is_inside("    report_error(errors, statement, " + std::to_string(static_cast<int>(report_kind::index)) +
                      ", -1, at, n);\n    outside = true;\n"),
            ", error_record* errors, unsigned long long statement, bool& outside",
            ", " + errors + ", " + statement + ", " + u.name);
    needs.add("outside",
              "/// An index that was out of range, and whether the most recent index was.\n"
              "struct outside_index { bool found, last; " +
                  needs.type(dtype::i8) + " index; };\n");
    return call("checked_index", why + "recorded.", is_inside("    outside = {true, true, at};\n"),
                ", outside_index& outside", ", " + u.name);
}

std::string kernel_builder::all_inside() const {
    std::string all;
    for (const unravelling& u : unravellings)
        if (u.is_checked())
            all += (all.empty() ? "!" : " && !") + u.name + (needs.where() == detail::target::host ? "" : ".last");
    return all;
}

void kernel_builder::store_scattered(const array_argument& output, const std::string& index, const std::string& value,
                                     const std::string& condition) {
    const auto rule = static_cast<detail::scatter_rule>(graph.nodes[graph.roots[output.index]].code);
    const std::string at = pointer(output) + '[' + index + ']';
    const std::string when = "if (" + index + " >= 0" + (condition.empty() ? "" : " && " + condition) + ") ";
    if (rule == detail::scatter_rule::set)
        code.line(when, at, " = ", value, ";");
    else
        code.line(when, spell_scatter(rule, output.at->head.type, needs), "(&", at, ", ", value, ");");
}

void kernel_builder::declare_outside_indices() {
    if (needs.where() == detail::target::host) return;
    for (const unravelling& u : unravellings)
        if (u.is_checked()) code.line("outside_index ", u.name, " = {};");
}

void kernel_builder::report_outside_indices() {
    if (needs.where() == detail::target::host) return;
    for (const unravelling& u : unravellings)
        if (u.is_checked())
            code.line("if (", u.name, ".found) report_error(p.errors, p.statement, ",
                      static_cast<int>(report_kind::index), ", -1, ", u.name, ".index, ", "p.n", u.axes[0], ");");
}

std::uint64_t kernel_builder::unravelled_axes() const {
    std::uint64_t axes = 0;
    for (const unravelling& u : unravellings)
        for (const int a : u.axes) axes |= axis_bit(a);
    return axes;
}

std::string kernel_builder::generator_name(node_id generator) {
    const node& n = graph.nodes[generator];
    return spell_generator(static_cast<detail::generator_kind>(n.code), n.type,
                           key.header.math == detail::math_mode::fast, needs);
}

std::string kernel_builder::generator_key(node_id generator) {
    const node& n = graph.nodes[generator];
    const bool rounds = key.header.where == detail::target::cuda;
    const auto of = static_cast<detail::generator_kind>(n.code);
    const auto kind = of == detail::generator_kind::integers
                          ? (rounds ? argument_kind::ranged_rounds : argument_kind::ranged_key)
                          : (rounds ? argument_kind::generator_rounds : argument_kind::generator_key);
    return arguments.member({kind, 8, n.index}, std::string(key_type_of(of)), names[n.index] + "_key");
}

std::string kernel_builder::generator_call(node_id generator, const std::string& number) {
    const std::string name = generator_name(generator), seed = generator_key(generator);
    return name + '(' + seed + ", " + number + ')';
}

void add_independent(prelude& needs) {
    needs.add("independent",
              "/// Declares that the iterations of the next loop are independent.\n"
              "#ifdef __clang__\n"
              "#define independent _Pragma(\"clang loop vectorize(assume_safety)\")\n"
              "#else\n"
              "#define independent _Pragma(\"GCC ivdep\")\n"
              "#endif\n");
}

void kernel_builder::declare_independent() {
    add_independent(needs);
    code.line("independent");
}

std::string kernel_builder::function(const std::string& why, const std::string& templated) const {
    return (why.empty() ? "" : "/// " + why + '\n') + templated + std::string(needs.function_prefix()) + ' ';
}

void kernel_builder::name_raw(node_id id) {
    const node& n = graph.nodes[id];
    const std::string &name = names[n.index], type = needs.type(n.type);
    const std::string from = needs.where() == detail::target::host ? "given->" : "";
    const std::string data =
        arguments.member({argument_kind::operand_pointer, 8, n.index}, "const " + type + '*', name);
    const std::string count =
        arguments.member({argument_kind::raw_count, 8, n.index}, needs.type(dtype::i8), name + "_count");
    const auto member = [&](const std::string& m) { return from.empty() ? m : from + m.substr(m.find('.') + 1); };
    add_raw_array(needs);
    const std::string axes = arguments.member({argument_kind::raw_axes, 8, n.index}, "array_axes", name + "_axes");
    const std::string element = type_in_text(n.type, needs);
    code.line("const raw_array<", element, "> ", name, "_all = {", member(axes), ", (", element, "*)", member(data),
              ", ", member(count), "};");
    body.name(id, name + "_all");
}

void kernel_builder::name_scalars() {
    for (node_id i = 0; i < graph.nodes.size(); ++i) {
        const node& n = graph.nodes[i];
        if (n.kind == node_kind::operand && key.operands[n.index].head.kind == operand_kind::raw) name_raw(i);
        if (n.kind != node_kind::operand || key.operands[n.index].head.kind != operand_kind::scalar) continue;
        const argument scalar{argument_kind::scalar_value, static_cast<std::uint8_t>(detail::size_of(n.type)), n.index};
        const std::string type = needs.type(n.type), &name = names[n.index];
        std::string member = arguments.member(scalar, type, name);
        if (needs.where() == detail::target::host) {
            code.line("const ", type, ' ', name, " = given->", name, ";");
            member = name;
        }
        body.name(i, std::move(member));
    }
}

std::string kernel_builder::assemble(const std::string& comment, const std::string& signature) {
    source_writer structure;
    arguments.declare(structure, "arguments", step);
    const std::string before = needs.text();
    source_writer whole;
    whole.line("// ", comment);
    whole.paste(before);
    if (!before.empty()) whole.blank();
    whole.paste(structure.text());
    whole.blank();
    whole.line(signature, " {");
    step.programmatic_launch = key.header.where == detail::target::cuda && key.header.architecture >= 90;
    if (step.programmatic_launch)
        whole.line(
            "    asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");  // waits for the writes of earlier kernels");
    whole.paste(code.text());
    whole.line("}");
    return whole.text();
}

void kernel_builder::add_to(plan& p, const std::string& comment, const std::string& qualifiers, const std::string& name,
                            const std::string& parameters) {
    step.kernel = p.kernel_prefix + name;
    p.source = assemble(comment, qualifiers + step.kernel + parameters);
    p.steps.push_back(std::move(step));
}

std::string digit(int axis) { return "i" + std::to_string(axis); }

stride_class inner_class(const array_argument& at, int axis) {
    return axis < 0 ? stride_class::broadcast : at.at->strides[static_cast<std::size_t>(axis)];
}

transposed_operands find_transposed(const kernel_builder& b) {
    const int inner = b.rank - 1;
    const auto is_short = [&](int axis, std::uint16_t flag) {
        return (b.key.axes[static_cast<std::size_t>(axis)].flags & flag) != 0;
    };
    transposed_operands most;
    if (b.rank < 2 || b.loops != 0 || !b.unravellings.empty() || b.scatters() || b.has_raw() ||
        is_short(inner, detail::axis_flags::short_inner) ||
        std::ranges::any_of(b.outputs,
                            [&](const array_argument& z) { return inner_class(z, inner) != stride_class::unit; }))
        return most;
    for (int side = 0; side < inner; ++side) {
        if (is_short(side, detail::axis_flags::short_side)) continue;
        transposed_operands found{.side = side};
        for (const array_argument& in : b.inputs) {
            if (!lies_across(in, side, inner)) continue;
            const auto bytes = static_cast<std::uint32_t>(detail::size_of(in.at->head.type));
            found.bytes += bytes;
            found.widest = std::max(found.widest, bytes);
        }
        if (found.bytes > most.bytes) most = found;
    }
    return most;
}

}  // namespace ingot::codegen
