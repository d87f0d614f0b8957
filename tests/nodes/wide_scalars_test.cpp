// Scalars of 16 bytes on their way from a leaf into a kernel, bit for bit.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <ingot/ingot.hpp>

#include "codegen/graph/graph.hpp"
#include "codegen/text/writer.hpp"
#include "runtime/front/classify.hpp"
#include "runtime/front/evaluate.hpp"
#include "runtime/front/launch.hpp"
#include "runtime/kernels/executable.hpp"
#include "runtime/trees/lazy.hpp"
#include "tests/nodes/reference.hpp"

using namespace ingot;

namespace {

struct wide_leaf : detail::scalar_leaf {
    static constexpr std::array<detail::word, 1> program{detail::make_word(detail::word_kind::scalar, dtype::c16)};
    using scalar_leaf::scalar_leaf;
};

constexpr std::array<std::uint64_t, 2> value{0x0123456789abcdef, 0xfedcba9876543210};
constexpr index_t elements = 5;

/// A statement that fills an array with a scalar.
struct filling {
    explicit filling(const wide_leaf& scalar) : given(reference::gather(scalar)) {}
    runtime::statement statement() const { return {given.program, given.operands, {}, {&out, 1}}; }
    codegen::key classify() {
        classes = classifier.classify(statement(), {detail::target::host, 0, detail::math_mode::standard});
        std::vector<std::uint32_t> words;
        runtime::classifier::full_key(classes, given.program, words);
        return codegen::decode(words);
    }
    bool is_full() const {
        const auto* const words = static_cast<const std::uint64_t*>(memory->data);
        for (index_t i = 0; i < 2 * elements; ++i)
            if (words[i] != value[static_cast<std::size_t>(i % 2)]) return false;
        return true;
    }

    with_device on_host{device::host()};
    reference::gathered given;
    array<double> room = zeros<double>({2 * elements}).eval();
    ingot::detail::buffer_ref memory = room.as_leaf().memory();
    detail::layout where = detail::contiguous_layout(std::array<index_t, 1>{elements});
    ingot::detail::output out{dtype::c16, &memory, &where};
    runtime::classifier classifier;
    runtime::classified classes;
};

class no_results final : public runtime::materialized_results {
public:
    const ingot::detail::buffer* find(const runtime::tree_node&) const override { return nullptr; }
};

}  // namespace

TEST_CASE("a scalar of 16 bytes goes from its leaf through the key into the interpreter") {
    filling f(wide_leaf(value, dtype::c16));
    runtime::executable e;
    e.key = f.classify();
    CHECK(e.key.operands[0].head.kind == detail::operand_kind::scalar);
    CHECK(e.key.operands[0].head.type == dtype::c16);
    e.graph = codegen::lower(e.key);
    runtime::run_interpreted(e, f.classes, f.statement());
    CHECK(f.is_full());
}

TEST_CASE("a scalar of 16 bytes is an argument of a kernel, aligned as its type is") {
    filling f(wide_leaf(value, dtype::c16));
    runtime::executable e;
    e.key = f.classify();
    auto& step = std::get<codegen::launch>(e.plan.steps.emplace_back());
    step.kernel = "fill";
    step.grid[0] = codegen::points_of(1);
    codegen::argument_struct arguments;
    arguments.member({codegen::argument_kind::output_pointer, 8, 0}, "wide*", "y");
    arguments.member({codegen::argument_kind::scalar_value, 16, 0}, "wide", "s");
    codegen::source_writer out;
    out.line("struct alignas(16) wide {");
    out.line("    unsigned long long first, second;");
    out.line("};");
    arguments.declare(out, "arguments", step);
    out.line("static_assert(sizeof(arguments) == ", step.argument_bytes, ");");
    out.open("extern \"C\" void fill(const arguments* p, unsigned long long begin, unsigned long long end)");
    out.line("for (; begin != end; ++begin) p->y[begin] = p->s;");
    out.close();
    e.plan.source = out.text();
    CHECK(step.argument_bytes == 32);
    e.module = runtime::load(runtime::source_of(e.key, e.plan));
    e.kernels.emplace_back(e.module->host_function(step.kernel));
    runtime::run(e, f.classes, f.statement(), *runtime::context_of(f.statement()).stream);
    CHECK(f.is_full());
}

TEST_CASE("scalars that differ in their last eight bytes are different scalars") {
    const std::array<std::uint64_t, 2> other{value[0], value[1] + 1};
    const wide_leaf a(value, dtype::c16), b(other, dtype::c16);
    ingot::detail::operand one = reference::gather(a).operands[0], two = one;
    CHECK(runtime::have_one_origin(one, two));
    two.bits[1] = other[1];
    CHECK(!runtime::have_one_origin(one, two));
}

TEST_CASE("a run-time tree keeps a scalar of 16 bytes") {
    const wide_leaf scalar(value, dtype::c16);
    const reference::gathered g = reference::gather(scalar);
    const detail::tree_ref tree = detail::make_tree(g.program, g.operands, {});
    runtime::spliced out;
    runtime::splice(out, *tree, no_results());
    REQUIRE(out.operands.size() == 1);
    CHECK(out.program == g.program);
    CHECK(out.operands[0].type == dtype::c16);
    CHECK(std::equal(value.begin(), value.end(), out.operands[0].bits));
    CHECK(out.operands[0].serial == g.operands[0].serial);

    std::vector<ingot::detail::operand> changed = g.operands;
    changed[0].bits[1] ^= 1;
    CHECK(!(detail::make_tree(g.program, changed, {})->hash == tree->hash));
}
