#include <algorithm>

#include "evaluators.hpp"

#include "runtime/device/transfer.hpp"
#include "runtime/front/classify.hpp"
#include "runtime/front/launch.hpp"
#include "runtime/kernels/executable.hpp"

namespace ingot::tests {

namespace {

using namespace detail;
using contents = std::vector<std::vector<std::byte>>;

enum class overlap : std::uint8_t { kept, avoided };

/// Some trees as one statement on the current device. The same leaf data becomes the same buffer, so that equal views
/// are seen as equal.
class placed {
public:
    placed(const std::vector<random_tree>& trees, overlap targets) : memory_(trees.size()), layouts_(trees.size()) {
        for (std::size_t k = 0; k < trees.size(); ++k) {
            const random_tree& t = trees[k];
            for (const random_leaf& leaf : t.leaves) operands_.push_back(operand_of(leaf));
            program_.insert(program_.end(), t.program.begin(), t.program.end());
            attributes_.insert(attributes_.end(), t.attributes.begin(), t.attributes.end());
            if (t.target) {
                layouts_[k] = t.target->where;
                memory_[k] = t.target->leaf >= 0 && targets == overlap::kept
                                 ? memory_of(t.leaves[static_cast<std::size_t>(t.target->leaf)])
                                 : filled_buffer(t.target->bytes);
            }
            outputs_.push_back({t.type, &memory_[k], &layouts_[k]});
        }
    }
    runtime::statement statement() const { return {program_, operands_, attributes_, outputs_}; }

    /// Memory for results that have none yet.
    void allocate(const extents& shape) {
        for (std::size_t k = 0; k < outputs_.size(); ++k) {
            if (memory_[k]) continue;
            layouts_[k] = contiguous_layout(shape);
            memory_[k] = allocate_buffer(static_cast<std::size_t>(layouts_[k].size()) * size_of(outputs_[k].type));
        }
    }
    contents read() const {
        contents all;
        for (const buffer_ref& b : memory_) {
            all.emplace_back(b->bytes);
            runtime::copy_to_host(*b, 0, b->bytes, all.back().data(), *runtime::current().stream);
        }
        return all;
    }

private:
    operand operand_of(const random_leaf& leaf) {
        operand o;
        o.kind = leaf.kind;
        o.type = leaf.type;
        o.device = current_device();
        std::copy_n(leaf.bits, 2, o.bits);
        o.serial = leaf.last;
        if (leaf.kind == operand_kind::scalar) {
            o.serial = next_serial();
            return o;
        }
        o.where = &leaf.where;
        if (leaf.kind == operand_kind::array) o.memory = memory_of(leaf).get();
        return o;
    }
    static buffer_ref filled_buffer(const std::vector<std::byte>& bytes) {
        buffer_ref b = allocate_buffer(bytes.size());
        runtime::copy_from_host(*b, 0, bytes.size(), bytes.data(), *runtime::current().stream);
        return b;
    }
    const buffer_ref& memory_of(const random_leaf& leaf) {
        for (const auto& [other, b] : leaves_)
            if (other->bytes == leaf.bytes) return b;
        return leaves_.emplace_back(&leaf, filled_buffer(leaf.bytes)).second;
    }

    std::vector<word> program_, attributes_;
    std::vector<operand> operands_;
    std::vector<std::pair<const random_leaf*, buffer_ref>> leaves_;
    std::vector<buffer_ref> memory_;
    std::vector<layout> layouts_;
    std::vector<output> outputs_;
};

}  // namespace

contents evaluate_together(const std::vector<random_tree>& trees, device_id device) {
    const with_device guard(device);
    const with_math math(strict);
    const placed p(trees, overlap::kept);
    const runtime::statement s = p.statement();
    slot cache;
    cache.next = slot::ways;  // publishes nothing: what it would point to is never freed
    ingot::detail::evaluate(cache, s.program, s.operands, s.attributes, s.outputs);
    return p.read();
}

std::vector<std::byte> evaluate_in(ingot::detail::slot& cache, const random_tree& tree,
                                   ingot::detail::device_id device) {
    const with_device guard(device);
    const with_math math(strict);
    const std::vector<random_tree> alone{tree};  // layouts stay where they are
    const placed p(alone, overlap::kept);
    const runtime::statement s = p.statement();
    ingot::detail::evaluate(cache, s.program, s.operands, s.attributes, s.outputs);
    return p.read()[0];
}

contents interpret_together(const std::vector<random_tree>& trees) {
    const with_device guard(device::host());
    placed p(trees, overlap::avoided);
    const runtime::statement s = p.statement();
    runtime::classifier classifier;
    const runtime::classified& c = classifier.classify(s, {target::host, 0, math_mode::strict});
    p.allocate(c.shape);
    if (c.size == 0) return p.read();
    std::vector<std::uint32_t> key;
    runtime::classifier::full_key(c, s.program, key);
    runtime::executable e;
    e.key = codegen::decode(key);
    e.graph = codegen::lower(e.key);
    runtime::run_interpreted(e, c, s);
    return p.read();
}

}  // namespace ingot::tests
