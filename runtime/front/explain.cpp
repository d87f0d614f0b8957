// explain, source, to_dot: classifies and plans a statement as if it were to run, and every part that must be an array
// before it. Nothing runs: a part's result is a buffer without memory.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <ostream>
#include <sstream>

#include <ingot/kernels/compiling.hpp>
#include <ingot/kernels/measure.hpp>

#include "codegen/graph/dot.hpp"
#include "codegen/plan/schedule.hpp"
#include "runtime/device/device_facts.hpp"
#include "runtime/front/classify.hpp"
#include "runtime/front/evaluate.hpp"
#include "runtime/front/joint_outputs.hpp"
#include "runtime/front/launch.hpp"
#include "runtime/front/plan_steps.hpp"
#include "runtime/kernels/executable.hpp"
#include "runtime/kernels/precompile.hpp"
#include "runtime/system/per_thread.hpp"
#include "runtime/trees/joins_in_parts.hpp"
#include "runtime/trees/reversed_scans.hpp"

namespace ingot {

namespace runtime {

namespace {

struct planned {
    codegen::key key;
    codegen::plan plan;
    bool in_memory;
};

/// A part of a statement that a plan of its own evaluates. `again`: an earlier part of the list has the same plan,
/// which is made once and evaluated in loops.
struct part {
    const statement& s;
    const classified& classes;
    const planned& plan;
    const stream_state& stream;
    bool again;
    std::span<const std::uint32_t> words;             // its key
    bool empty() const { return classes.size == 0; }  // an empty part has no plan
};

/// Makes a buffer with the class of pool memory: aligned, on that device, shared with no other buffer.
buffer_ref without_memory(device_id device) {
    buffer_ref b = unowned_buffer(nullptr, 0, device, nullptr, nullptr);
    b->unowned = false;
    return b;
}

/// Calls a function with each part of a statement, in order of evaluation.
class part_visitor {
public:
    using function = std::function<void(const part&)>;
    explicit part_visitor(function f) : f_(std::move(f)) {}

    void visit(const joint_outputs& trees) {
        const statement s{trees.program, trees.operands, trees.attributes, trees.outputs};
        if (trees.shapes.empty()) return visit(s);
        for_each_by_shape(trees, [&](const statement& joint) { visit(joint); });
    }

private:
    void visit(const statement& s) {
        if (is_flat(s)) return plan(s);
        detail::view_room flip;
        if (const detail::tree_ref reversed = reversed_scan(s, flip)) {
            buffer_ref memory = without_memory(context_of(s).stream->device);
            detail::layout where = detail::contiguous_layout(reversed->extents().span());
            const reversed_statement backwards(reversed, flip, {s.outputs[0].type, &memory, &where});
            const flat_statement flat(backwards.get(), [this](const statement& below) { visit(below); });
            plan(flat.get());
            *s.outputs[0].memory = std::move(memory);
            *s.outputs[0].where = std::move(where);
            return;
        }
        const auto visit_below = [this](const statement& below) { visit(below); };
        if (const joined_statement joined(s); joined) {
            buffer_ref memory = without_memory(context_of(s).stream->device);
            detail::layout where = detail::contiguous_layout(joined.shape());
            joined.evaluate_into({s.outputs[0].type, &memory, &where}, visit_below);
            *s.outputs[0].memory = std::move(memory);
            *s.outputs[0].where = std::move(where);
            return;
        }
        const flat_statement flat(s, visit_below);
        plan(flat.get());
    }

    void plan(const statement& s) {
        struct plan_workspace {  // separate from the workspace of evaluations, whose results may still be in use
            classifier classes;
        };
        classifier& workspace = per_thread<plan_workspace>::own().classes;
        const execution_context where = context_of(s);
        const classified& c = workspace.classify(s, where.environment);
        std::vector<std::uint32_t> words;
        if (c.size != 0) classifier::full_key(c, s.program, words);
        const auto [known, is_new] = plans_.try_emplace(words);
        planned& p = known->second;
        if (is_new && c.size != 0) {
            p.key = codegen::decode(words);
            p.plan = codegen::make_plan(p.key);
            p.in_memory = is_loaded(words);
        }
        f_({s, c, p, *where.stream, !is_new, known->first});
        for (std::size_t k = 0; k < s.outputs.size(); ++k) {
            const detail::extents_ref shape = s.shapes.empty() ? detail::extents_ref::of(c.shape) : s.shapes[k];
            *s.outputs[k].memory = without_memory(where.stream->device);
            *s.outputs[k].where = detail::contiguous_layout(shape.span());
        }
    }

    function f_;
    std::map<std::vector<std::uint32_t>, planned> plans_;
};

/// Bytes of the distinct elements of one row of strides: an axis of stride 0 repeats them.
std::uint64_t distinct_bytes(const classified& c, std::size_t row, dtype type) {
    std::uint64_t n = detail::size_of(type);
    for (std::size_t a = 0; a < c.extents.size(); ++a)
        if (c.strides_of(row)[a] != 0) n *= static_cast<std::uint64_t>(c.extents[a]);
    return n;
}

/// Views of one array together count at most the bytes between their first and last element.
std::uint64_t distinct_bytes_read(const codegen::launch& step, const statement& s, const classified& c) {
    struct extent {
        const buffer* memory;
        std::uint64_t bytes;
        std::int64_t first, last;
    };
    std::vector<extent> arrays;
    for (const std::uint16_t i : step.reads) {
        const operand& o = s.operands[i];
        const std::uint64_t bytes = distinct_bytes(c, i, o.type);
        const auto size = static_cast<std::int64_t>(detail::size_of(o.type));
        std::int64_t first = o.where->offset * size, last = first + size;
        for (int j = 0; j < o.where->rank(); ++j) {
            const std::int64_t far = (o.where->shape()[j] - 1) * o.where->strides()[j] * size;
            (far < 0 ? first : last) += far;
        }
        const auto same = std::ranges::find(arrays, o.memory, &extent::memory);
        if (same == arrays.end()) {
            arrays.push_back({o.memory, bytes, first, last});
        } else {
            same->bytes += bytes;
            same->first = std::min(same->first, first);
            same->last = std::max(same->last, last);
        }
    }
    std::uint64_t all = 0;
    for (const extent& a : arrays) all += std::min(a.bytes, static_cast<std::uint64_t>(a.last - a.first));
    return all;
}

std::uint64_t bytes_of_temporary(std::uint16_t i, const planned& p, const classified& c, std::uint32_t processors) {
    const codegen::temporary& t = p.plan.temporaries[i];
    return t.bytes != 0 ? t.bytes : t.elements.value(c.extents, processors) * detail::size_of(t.type);
}

std::uint64_t flops_of(const std::vector<codegen::work>& work, const classified& c) {
    std::uint64_t flops = 0;
    for (const codegen::work& w : work) flops += w.flops * points_of(w.axes, c.extents);
    return flops;
}

kernel_explanation explain_step(const codegen::launch& step, const statement& s, const planned& p, const classified& c,
                                std::uint32_t processors) {
    kernel_explanation k;
    k.name = step.kernel;
    k.pattern = step.pattern;
    k.shape = codegen::describe(step.shape);
    k.reason = step.reason;
    k.grid = grid_of(step, c.extents, processors);
    k.grid[0] *= step.cluster;
    k.grid_formula = codegen::grid_text(step);
    k.block = step.threads;
    k.bytes_read = distinct_bytes_read(step, s, c);
    for (const std::uint16_t i : step.writes)
        k.bytes_written += distinct_bytes(c, s.operands.size() + i, s.outputs[i].type);
    for (const std::uint16_t i : step.reads_temporaries) k.bytes_read += bytes_of_temporary(i, p, c, processors);
    for (const std::uint16_t i : step.writes_temporaries) k.bytes_written += bytes_of_temporary(i, p, c, processors);
    k.flops = flops_of(step.work, c);
    return k;
}

/// Operations of a Fourier transform by the usual count: 5 n log2(n) for n complex numbers, half of it for real ones.
std::uint64_t operations_of_transform(const codegen::library_call& step, const classified& c) {
    if (step.function.find("fft") == std::string::npos) return 0;
    const bool to_real = step.function.starts_with("irfft"), of_reals = to_real || step.function.starts_with("rfft");
    const codegen::library_array& whole = to_real ? step.results[0] : step.operands[0];  // not half a spectrum
    double points = 1, times = 1;
    for (std::size_t j = 0; j < whole.axes.size(); ++j)
        (j < step.batch_axes ? times : points) *= static_cast<double>(c.extents[whole.axes[j].extent]);
    return static_cast<std::uint64_t>((of_reals ? 2.5 : 5) * points * std::log2(points) * times);
}

kernel_explanation explain_step(const codegen::library_call& step, const statement&, const planned&,
                                const classified& c, std::uint32_t) {
    kernel_explanation k;
    k.kind = step_kind::library_call;
    k.name = step.function;
    k.pattern = "library call";
    k.reason = step.reason;
    const auto bytes_of = [&](const codegen::library_array& a) {  // an axis of stride 0 repeats elements
        std::uint64_t axes = 0;
        for (const codegen::library_axis& axis : a.axes)
            if (axis.moves) axes |= std::uint64_t{1} << axis.extent;
        return points_of(axes, c.extents) * detail::size_of(a.type);
    };
    for (const codegen::library_array& a : step.operands) k.bytes_read += bytes_of(a);
    for (const codegen::library_array& a : step.results) k.bytes_written += bytes_of(a);
    k.flops = flops_of(step.work, c) + operations_of_transform(step, c);
    return k;
}

kernel_explanation explain_step(const codegen::fill& step, const statement& s, const planned& p, const classified& c,
                                std::uint32_t processors) {
    kernel_explanation k;
    k.kind = step_kind::fill;
    k.name = "fill";
    k.pattern = "fill";
    k.bytes_written = step.memory == codegen::argument_kind::output_pointer
                          ? distinct_bytes(c, s.operands.size() + step.index, s.outputs[step.index].type)
                          : bytes_of_temporary(step.index, p, c, processors);
    return k;
}

}  // namespace

}  // namespace runtime

std::uint64_t explanation::bytes_read() const {
    std::uint64_t n = 0;
    for (const kernel_explanation& k : kernels) n += k.bytes_read;
    return n;
}
std::uint64_t explanation::bytes_written() const {
    std::uint64_t n = 0;
    for (const kernel_explanation& k : kernels) n += k.bytes_written;
    return n;
}
std::uint64_t explanation::flops() const {
    std::uint64_t n = 0;
    for (const kernel_explanation& k : kernels) n += k.flops;
    return n;
}

std::ostream& operator<<(std::ostream& out, const explanation& e) {
    const auto kernels = std::ranges::count(e.kernels, step_kind::kernel, &kernel_explanation::kind);
    const auto calls = std::ranges::count(e.kernels, step_kind::library_call, &kernel_explanation::kind);
    out << e.expression << "\n  key      " << e.key << "\n  pattern  " << e.pattern << ", " << kernels
        << (kernels == 1 ? " kernel" : " kernels");
    const auto exchanges = std::ranges::count(e.kernels, step_kind::exchange, &kernel_explanation::kind);
    if (exchanges != 0) out << ", " << exchanges << (exchanges == 1 ? " exchange" : " exchanges");
    if (calls != 0) out << ", " << calls << (calls == 1 ? " library call" : " library calls");
    out << (e.in_memory ? ", loaded" : ", not compiled yet") << '\n';
    if (!e.missing.empty()) out << "  missing  " << e.missing << '\n';
    for (const kernel_explanation& k : e.kernels) {
        out << "  " << k.name << ": " << k.pattern;
        if (k.kind == step_kind::kernel)
            out << ", grid (" << k.grid[0] << ", " << k.grid[1] << ", " << k.grid[2] << "), block " << k.block;
        if (k.kind == step_kind::exchange)
            out << "; receives " << k.bytes_read << " bytes, sends " << k.bytes_written << '\n';
        else
            out << "; reads " << k.bytes_read << " bytes, writes " << k.bytes_written << ", " << k.flops
                << " operations\n";
        if (k.kind == step_kind::kernel) out << "    grid " << k.grid_formula << '\n';
        if (!k.shape.empty()) out << "    " << k.shape << '\n';
        if (!k.reason.empty()) out << "    " << k.reason << '\n';
    }
    return out;
}

inline namespace v1 {

explanation explain_statement(const detail::joint_outputs& trees) {
    using namespace runtime;
    explanation all;
    const statement whole{trees.program, trees.operands, trees.attributes, trees.outputs, 0, trees.shapes};
    if (const auto* const distributed = for_distributed.load(); distributed != nullptr && is_distributed(whole)) {
        const auto join = [](std::string& to, const std::string& from) {
            to += (to.empty() || from.empty() ? "" : "; ") + from;
        };
        all.in_memory = true;
        distributed->visit_steps(whole, {[&](const kernel_explanation& e) { all.kernels.push_back(e); },
                                         [&](const joint_outputs& share) {
                                             const explanation own = explain_statement(share);
                                             join(all.expression, own.expression);
                                             join(all.pattern, own.pattern);
                                             join(all.missing, own.missing);
                                             join(all.key, own.key);
                                             all.in_memory = all.in_memory && own.in_memory;
                                             all.kernels.insert(all.kernels.end(), own.kernels.begin(),
                                                                own.kernels.end());
                                         }});
        return all;
    }
    part_visitor([&](const part& now) {
        if (now.empty()) return;
        const planned& p = now.plan;
        const bool first = all.kernels.empty();
        all.in_memory = p.in_memory && (first || all.in_memory);
        for (const auto& [to, from] : {std::pair{&all.expression, p.plan.expression},
                                       {&all.pattern, p.plan.pattern},
                                       {&all.missing, p.plan.missing},
                                       {&all.key, codegen::describe(p.key)}})
            if (!now.again) *to += (to->empty() || from.empty() ? "" : "; ") + from;
        const std::uint32_t processors = processors_of(now.stream.device);
        for (const codegen::plan_step& step : p.plan.steps)
            all.kernels.push_back(std::visit(
                [&](const auto& kind) { return explain_step(kind, now.s, p, now.classes, processors); }, step));
    }).visit(trees);
    if (all.pattern.empty()) all.pattern = "nothing to compute: size 0";
    return all;
}

void precompile_statement(runtime::precompile_state& s, const detail::joint_outputs& trees) {
    using namespace runtime;
    part_visitor([&](const part& now) {
        if (!now.empty() && !now.again) s.keys.emplace_back(now.words.begin(), now.words.end());
    }).visit(trees);
}

std::string source_of_statement(const detail::joint_outputs& trees) {
    using namespace runtime;
    std::string text;
    part_visitor([&](const part& now) {
        if (!now.again) text += now.plan.plan.source;
    }).visit(trees);
    return text;
}

std::string dot_of_statement(const detail::joint_outputs& trees) {
    using namespace runtime;
    std::string text;
    part_visitor([&](const part& now) {
        if (now.again) return;
        text += now.empty() ? "digraph expression {}\n" : codegen::to_dot(codegen::lower(now.plan.key), now.plan.key);
    }).visit(trees);
    return text;
}

}  // namespace v1
}  // namespace ingot
