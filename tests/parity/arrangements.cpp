// A group's operands in memory, and a statement of several rows over them.
#include <algorithm>
#include <cstring>

#include <ingot/core/device.hpp>
#include <ingot/core/door.hpp>

#include "runtime/device/transfer.hpp"
#include "runtime/front/classify.hpp"
#include "runtime/front/launch.hpp"
#include "runtime/kernels/executable.hpp"
#include "tests/parity/sweep.hpp"

namespace ingot::testing {

namespace {

using detail::index_t;
using detail::layout;

constexpr index_t columns = 64;

struct placed_operand {
    layout where;
    ingot::detail::buffer_ref memory;
};

std::vector<index_t> shape_of(const sweep_group& g, arrangement a, std::size_t most) {
    const auto n = static_cast<index_t>(elements(g, a, most));
    if (a == arrangement::transposed || a == arrangement::padded) return {n / columns, columns};
    if (a == arrangement::across_axes) return {g.grid.begin(), g.grid.end()};
    return {n};
}

/// The layout of operand k, and its elements in C order along the axes on which it moves.
layout layout_of(std::span<const index_t> shape, std::size_t k, arrangement a) {
    layout l = detail::contiguous_layout(shape);
    switch (a) {
        case arrangement::contiguous:
            break;
        case arrangement::misaligned:
            l.offset = 1;
            break;
        case arrangement::apart:
            l.strides()[0] = k == 0 ? 2 : k == 1 ? -1 : 3;
            if (k == 1) l.offset = shape[0] - 1;
            break;
        case arrangement::transposed:
            if (k > 0) break;
            l.strides()[0] = 1;
            l.strides()[1] = shape[0];
            break;
        case arrangement::padded:
            l.strides()[0] = columns + 3;
            break;
        case arrangement::across_axes:
            for (std::size_t axis = 0; axis < shape.size(); ++axis) l.strides()[axis] = axis == k ? 1 : 0;
            break;
    }
    return l;
}

/// The operand's bytes where its layout says that they are.
bytes laid_out(const sweep_group& g, std::size_t k, const layout& l) {
    const std::size_t size = detail::size_of(g.types[k]);
    std::vector<index_t> at(static_cast<std::size_t>(l.rank()), 0);
    bytes memory;
    for (std::size_t i = 0, n = static_cast<std::size_t>(l.size()); i < n; ++i) {
        index_t place = l.offset;
        for (std::size_t j = 0; j < at.size(); ++j) place += at[j] * l.strides()[j];
        const std::size_t begin = static_cast<std::size_t>(place) * size;
        if (memory.size() < begin + size) memory.resize(begin + size);
        std::memcpy(memory.data() + begin, g.operands[k].data() + i * size, size);
        for (std::size_t j = at.size(); j-- > 0 && ++at[j] == l.shape()[j];) at[j] = 0;
    }
    return memory;
}

ingot::detail::buffer_ref on_device(const bytes& values) {
    ingot::detail::buffer_ref b = ingot::detail::allocate_buffer(values.size());
    runtime::copy_from_host(*b, 0, values.size(), values.data(), *runtime::current().stream);
    return b;
}

/// Each row over leaves of the same memory, so that a kernel reads every operand once.
class rows_statement {
public:
    rows_statement(const sweep_group& g, std::span<const sweep_case* const> cases, arrangement a, std::size_t most)
        : cases_(cases), shape_(shape_of(g, a, most)), results_(cases.size()), layouts_(cases.size()) {
        placed_.resize(g.types.size());
        for (std::size_t k = 0; k < placed_.size(); ++k) {
            placed_[k].where = layout_of(shape_, k, a);
            placed_[k].memory = on_device(laid_out(g, k, placed_[k].where));
        }
        for (std::size_t c = 0; c < cases.size(); ++c) {
            for (int i = 0; i < cases[c]->arity(); ++i) {
                const std::size_t k = cases[c]->first_operand + static_cast<std::size_t>(i);
                ingot::detail::operand o;
                o.type = g.types[k];
                o.where = &placed_[k].where;
                o.memory = placed_[k].memory.get();
                operands_.push_back(o);
                program_.push_back(detail::make_word(detail::word_kind::leaf, o.type));
            }
            program_.push_back(
                detail::make_word(detail::word_kind::map, cases[c]->result, static_cast<std::uint32_t>(cases[c]->row)));
            outputs_.push_back({cases[c]->result, &results_[c], &layouts_[c]});
        }
    }
    runtime::statement statement() const { return {program_, operands_, {}, outputs_}; }
    void allocate_results() {
        for (std::size_t c = 0; c < cases_.size(); ++c) {
            layouts_[c] = detail::contiguous_layout(shape_);
            results_[c] = ingot::detail::allocate_buffer(static_cast<std::size_t>(layouts_[c].size()) *
                                                         detail::size_of(cases_[c]->result));
        }
    }
    std::vector<bytes> values() const {
        std::vector<bytes> all;
        for (std::size_t c = 0; c < cases_.size(); ++c) {
            all.emplace_back(static_cast<std::size_t>(layouts_[c].size()) * detail::size_of(cases_[c]->result));
            runtime::copy_to_host(*results_[c], 0, all[c].size(), all[c].data(), *runtime::current().stream);
        }
        return all;
    }

private:
    std::span<const sweep_case* const> cases_;
    std::vector<index_t> shape_;
    std::vector<placed_operand> placed_;
    std::vector<detail::word> program_;
    std::vector<ingot::detail::operand> operands_;
    std::vector<ingot::detail::buffer_ref> results_;
    std::vector<layout> layouts_;
    std::vector<ingot::detail::output> outputs_;
};

}  // namespace

std::string name(arrangement a) {
    constexpr const char* names[] = {"contiguous", "misaligned", "apart", "transposed", "padded", "across axes"};
    return names[static_cast<std::size_t>(a)];
}

std::size_t elements(const sweep_group& g, arrangement a, std::size_t most) {
    if (a == arrangement::across_axes) return g.types.size() < 2 ? 0 : g.grid_size();
    return std::min(g.count, std::max(most, (g.grid_size() + 63) / 64 * 64));
}

std::vector<bytes> evaluate(const sweep_group& g, std::span<const sweep_case* const> cases, arrangement a,
                            std::size_t most) {
    const with_math math(strict);
    const rows_statement rows(g, cases, a, most);
    const runtime::statement s = rows.statement();
    ingot::detail::slot cache;
    cache.next = ingot::detail::slot::ways;  // publishes nothing: what it would point to is never freed
    ingot::detail::evaluate(cache, s.program, s.operands, s.attributes, s.outputs);
    return rows.values();
}

std::vector<bytes> interpret(const sweep_group& g, std::span<const sweep_case* const> cases, arrangement a,
                             std::size_t most) {
    const with_device host(device::host());
    rows_statement rows(g, cases, a, most);
    rows.allocate_results();
    const runtime::statement s = rows.statement();
    runtime::classifier classifier;
    const runtime::classified& c = classifier.classify(s, {detail::target::host, 0, detail::math_mode::strict});
    std::vector<std::uint32_t> key;
    runtime::classifier::full_key(c, s.program, key);
    runtime::executable e;
    e.key = codegen::decode(key);
    e.graph = codegen::lower(e.key);
    runtime::run_interpreted(e, c, s);
    return rows.values();
}

}  // namespace ingot::testing
