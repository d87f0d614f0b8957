// explain, source, to_dot: a statement is classified and planned as if it were to run.
#include <ostream>
#include <sstream>

#include <ingot/measure.hpp>

#include "codegen/dot.hpp"
#include "codegen/schedule.hpp"
#include "runtime/device_facts.hpp"
#include "runtime/evaluate.hpp"
#include "runtime/executable.hpp"
#include "runtime/launch.hpp"
#include "runtime/several.hpp"

namespace ingot {

namespace runtime {

namespace {

struct planned {
    codegen::key key;
    codegen::plan plan;
    bool in_memory;
};

/// Classifies, and gives the numbers and the plan to `f`.
template <class F>
auto with_plan(const statement& s, F f) {
    static thread_local classifier workspace;
    const place where = place_of(s);
    const classified& c = workspace.classify(s, where.environment);
    if (c.size == 0) return f(planned{}, c, where);
    std::vector<std::uint32_t> words;
    classifier::full_key(c, s.program, words);
    planned p;
    p.key = codegen::decode(words);
    p.plan = codegen::make_plan(p.key);
    p.in_memory = is_loaded(words);
    return f(p, c, where);
}

/// Bytes of the distinct elements of one row of strides: an axis it does not move along repeats them.
std::uint64_t distinct_bytes(const classified& c, std::size_t row, dtype type) {
    std::uint64_t n = detail::size_of(type);
    for (std::size_t a = 0; a < c.extents.size(); ++a)
        if (c.strides_of(row)[a] != 0) n *= static_cast<std::uint64_t>(c.extents[a]);
    return n;
}

/// Views of one array count together no more than what lies between the first and the last element of them.
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

kernel_explanation explain_step(const codegen::launch& step, const statement& s, const planned& p, const classified& c,
                                std::uint32_t processors) {
    kernel_explanation k;
    k.name = step.kernel;
    k.pattern = step.pattern;
    k.reason = step.reason;
    k.grid = grid_of(step, c.extents, processors);
    k.grid[0] *= step.cluster;
    k.block = step.threads;
    k.bytes_read = distinct_bytes_read(step, s, c);
    for (const std::uint16_t i : step.writes)
        k.bytes_written += distinct_bytes(c, s.operands.size() + i, s.outputs[i].type);
    for (const std::uint16_t i : step.reads_temporaries)
        k.bytes_read += value_of(p.plan.temporaries[i].elements, c.extents, processors) *
                        detail::size_of(p.plan.temporaries[i].type);
    for (const std::uint16_t i : step.writes_temporaries)
        k.bytes_written += value_of(p.plan.temporaries[i].elements, c.extents, processors) *
                           detail::size_of(p.plan.temporaries[i].type);
    for (const codegen::work& w : step.work) k.flops += w.flops * value_of({.axes = w.axes}, c.extents, processors);
    return k;
}

/// Calls `f` with each statement that the trees are evaluated by, flat.
template <class F>
void for_each_part(const several& trees, F f) {
    const statement s{trees.program, trees.operands, trees.attributes, trees.outputs};
    if (trees.shapes.empty()) return with_flat(s, f);
    for (const joint_trees& part : split_by_shape(trees)) with_flat(part.get(), f);
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
    out << e.expression << "\n  key      " << e.key << "\n  pattern  " << e.pattern << ", " << e.kernels.size()
        << (e.kernels.size() == 1 ? " kernel" : " kernels") << (e.in_memory ? ", loaded" : ", not compiled yet")
        << '\n';
    if (!e.missing.empty()) out << "  missing  " << e.missing << '\n';
    for (const kernel_explanation& k : e.kernels) {
        out << "  " << k.name << ": " << k.pattern << ", grid (" << k.grid[0] << ", " << k.grid[1] << ", " << k.grid[2]
            << "), block " << k.block << "; reads " << k.bytes_read << " bytes, writes " << k.bytes_written << ", "
            << k.flops << " operations\n";
        if (!k.reason.empty()) out << "    " << k.reason << '\n';
    }
    return out;
}

inline namespace v1 {

explanation explain_statement(const several& several) {
    using namespace runtime;
    explanation all;
    for_each_part(several, [&](const statement& s) {
        with_plan(s, [&](const planned& p, const classified& c, const place& where) {
            if (c.size == 0) return;
            const bool first = all.kernels.empty();
            all.in_memory = p.in_memory && (first || all.in_memory);
            for (const auto& [to, from] : {std::pair{&all.expression, p.plan.expression},
                                           {&all.pattern, p.plan.pattern},
                                           {&all.missing, p.plan.missing},
                                           {&all.key, codegen::describe(p.key)}})
                *to += (to->empty() || from.empty() ? "" : "; ") + from;
            const std::uint32_t processors = processors_of(where.stream->device);
            for (const codegen::launch& step : p.plan.steps)
                all.kernels.push_back(explain_step(step, s, p, c, processors));
        });
    });
    if (all.pattern.empty()) all.pattern = "nothing to compute: size 0";
    return all;
}

std::string source_of_statement(const several& several) {
    using namespace runtime;
    std::string text;
    for_each_part(several, [&](const statement& s) {
        with_plan(s, [&](const planned& p, const classified&, const place&) { text += p.plan.source; });
    });
    return text;
}

std::string dot_of_statement(const several& several) {
    using namespace runtime;
    std::string text;
    for_each_part(several, [&](const statement& s) {
        with_plan(s, [&](const planned& p, const classified& c, const place&) {
            text += c.size == 0 ? "digraph expression {}\n" : codegen::to_dot(codegen::lower(p.key), p.key);
        });
    });
    return text;
}

}  // namespace v1
}  // namespace ingot
