// Random trees, three evaluators: the compiled kernel (on the current device), the interpreter over the same key, and the
// plain reading of the program must agree bit for bit, in strict arithmetic. A failing tree is shrunk, and its seed
// printed: INGOT_TEST_SEED replays a run, INGOT_TEST_TREES sets how many trees it has.
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>

#include <ingot/counters.hpp>
#include <ingot/device.hpp>

#include "runtime/classify.hpp"
#include "runtime/evaluate.hpp"
#include "runtime/executable.hpp"
#include "runtime/launch.hpp"
#include "runtime/transfer.hpp"
#include "tree.hpp"

namespace ingot::tests {

namespace {

using namespace detail;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// The leaves of some trees on a device, as operands. The same leaf data becomes the same buffer, so that equal views
/// are seen as equal.
class placed {
public:
    placed(const std::vector<random_tree>& trees, device_id device) {
        std::size_t count = 0;
        for (const random_tree& t : trees) count += t.leaves.size();
        memory_.reserve(count);
        for (const random_tree& t : trees)
            for (const random_leaf& leaf : t.leaves) {
                operand o;
                o.kind = leaf.kind;
                o.type = leaf.type;
                if (leaf.kind == operand_kind::scalar) {
                    o.bits[0] = leaf.bits;
                    o.serial = next_serial();
                } else {
                    o.where = &leaf.where;
                    o.memory = memory_of(leaf, device);
                }
                operands_.push_back(o);
            }
        for (const random_tree& t : trees) program_.insert(program_.end(), t.program.begin(), t.program.end());
    }
    std::span<const word> program() const { return program_; }
    std::span<const operand> operands() const { return operands_; }

private:
    const buffer* memory_of(const random_leaf& leaf, device_id device) {
        for (std::size_t i = 0; i < seen_.size(); ++i)
            if (seen_[i]->bytes == leaf.bytes) return memory_[i].get();
        const with_device guard(device);
        buffer_ref b = allocate_buffer(leaf.bytes.size());
        runtime::copy_from_host(*b, 0, leaf.bytes.size(), leaf.bytes.data(), *runtime::current().stream);
        seen_.push_back(&leaf);
        memory_.push_back(std::move(b));
        return memory_.back().get();
    }
    std::vector<word> program_;
    std::vector<operand> operands_;
    std::vector<const random_leaf*> seen_;
    std::vector<buffer_ref> memory_;
};

using results = std::vector<std::vector<std::byte>>;

/// All trees as outputs of one kernel on `device`; compiled, or interpreted.
results evaluate_together(const std::vector<random_tree>& trees, device_id device, bool interpreted) {
    const with_device guard(device);
    const with_math math(strict);
    const placed leaves(trees, device);
    std::vector<buffer_ref> memory(trees.size());
    std::vector<layout> layouts(trees.size());
    std::vector<output> outputs;
    for (std::size_t k = 0; k < trees.size(); ++k) outputs.push_back({trees[k].type, &memory[k], &layouts[k]});
    if (interpreted) {
        const runtime::statement s{leaves.program(), leaves.operands(), {}, outputs};
        runtime::classifier classifier;
        const runtime::classified& c = classifier.classify(s, {target::host, 0, math_mode::strict});
        for (std::size_t k = 0; k < trees.size(); ++k) {
            memory[k] = allocate_buffer(static_cast<std::size_t>(c.size) * size_of(trees[k].type));
            layouts[k] = contiguous_layout(c.shape);
        }
        if (c.size != 0) {
            std::vector<std::uint32_t> key;
            runtime::classifier::full_key(c, s.program, key);
            runtime::executable e;
            e.key = codegen::decode(key);
            e.graph = codegen::lower(e.key);
            runtime::run_interpreted(e, c, s);
        }
    } else {
        slot cache;
        v1::evaluate(cache, leaves.program(), leaves.operands(), {}, outputs);
    }
    results r;
    for (std::size_t k = 0; k < trees.size(); ++k) {
        r.emplace_back(static_cast<std::size_t>(layouts[k].size()) * size_of(trees[k].type));
        runtime::copy_to_host(*memory[k], 0, r.back().size(), r.back().data(), *runtime::current().stream);
    }
    return r;
}

/// Empty where every evaluator agrees with the plain reading.
std::string disagreement(const random_tree& tree) {
    const std::vector<std::byte> wanted = plain_value(tree);
    const auto check = [&](const char* who, device_id device, bool interpreted) -> std::string {
        try {
            const std::string what = difference(tree.type, evaluate_together({tree}, device, interpreted)[0], wanted);
            return what.empty() ? "" : std::string(who) + ": " + what;
        } catch (const std::exception& e) {
            return std::string(who) + " threw: " + e.what();
        }
    };
    for (const std::string& text : {check("interpreter", device::host(), true), check("host", device::host(), false),
                                    device::cuda_count() ? check("cuda", device::cuda(), false) : std::string()})
        if (!text.empty()) return text;
    return "";
}

/// The smallest tree of the same seed and shape that still fails.
std::string shrunk(const random_tree& failing, tree_options options) {
    for (int nodes = 0; nodes <= options.nodes; ++nodes) {
        tree_options smaller = options;
        smaller.nodes = nodes;
        const random_tree t = grow(failing.seed, failing.shape, smaller);
        const std::string what = disagreement(t);
        if (!what.empty()) return what + "\n  " + describe(t);
    }
    return "only together with other outputs: " + describe(failing);
}

}  // namespace

TEST_CASE("compiled kernels, the interpreter and the plain reading agree on random trees") {
    const std::uint64_t seed = number_from("INGOT_TEST_SEED", 20260101);
    const std::uint64_t trees = number_from("INGOT_TEST_TREES", 1000);
    constexpr std::uint64_t together = 4;  // outputs of one kernel: fewer keys to compile
    MESSAGE("seed " << seed << ", " << trees << " trees");
    const tree_options options{.nodes = 8};
    for (std::uint64_t first = 0; first < trees; first += together) {
        std::mt19937_64 random(seed + first);
        const std::vector<index_t> shape = random_shape(random);
        std::vector<random_tree> group;
        for (std::uint64_t i = 0; i < together; ++i) group.push_back(grow(random(), shape, options));
        std::vector<std::vector<std::byte>> wanted;
        for (const random_tree& t : group) wanted.push_back(plain_value(t));
        const auto compare = [&](const char* who, device_id device, bool interpreted) {
            results got;
            try {
                got = evaluate_together(group, device, interpreted);
            } catch (const std::exception& e) {
                FAIL_CHECK(who << " threw " << e.what());
            }
            for (std::size_t i = 0; i < got.size(); ++i) {
                const std::string what = difference(group[i].type, got[i], wanted[i]);
                if (!what.empty()) FAIL_CHECK(who << ": " << what << "\n  shrunk: " << shrunk(group[i], options));
            }
        };
        compare("interpreter", device::host(), true);
        compare("host", device::host(), false);
        if (device::cuda_count() != 0) compare("cuda", device::cuda(), false);
    }
}

}  // namespace ingot::tests
