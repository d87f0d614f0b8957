// Every row of the operator table compiled for the current device, in strict arithmetic, against NumPy. Cases of equal
// size are outputs of one kernel, so that the whole table takes few compiles.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <span>

#include <ingot/creation.hpp>
#include <ingot/device.hpp>
#include <ingot/door.hpp>

#include "runtime/transfer.hpp"
#include "tests/operators/sweep.hpp"

namespace {

using namespace ingot;
using testing::sweep_case;

constexpr std::size_t together = 12;

buffer_ref on_device(const std::vector<std::byte>& bytes) {
    buffer_ref b = allocate_buffer(bytes.size());
    runtime::copy_from_host(*b, 0, bytes.size(), bytes.data(), *runtime::current().stream);
    return b;
}

/// The results of all cases, by one kernel on the current device.
std::vector<std::vector<std::byte>> evaluate_together(std::span<const sweep_case* const> cases) {
    const index_t n[] = {static_cast<index_t>(cases[0]->count)};
    const detail::layout line = detail::contiguous_layout(n);
    std::vector<detail::word> program;
    std::vector<operand> operands;
    std::vector<buffer_ref> inputs, results(cases.size());
    std::vector<detail::layout> layouts(cases.size());
    std::vector<output> outputs;
    for (std::size_t k = 0; k < cases.size(); ++k) {
        const sweep_case& c = *cases[k];
        for (int i = 0; i < c.arity(); ++i) {
            inputs.push_back(on_device(c.operands[i]));
            operand o;
            o.type = c.type_of_operand(i);
            o.where = &line;
            o.memory = inputs.back().get();
            operands.push_back(o);
            program.push_back(detail::make_word(detail::word_kind::leaf, o.type));
        }
        program.push_back(detail::make_word(detail::word_kind::map, c.result, static_cast<std::uint32_t>(c.row)));
        outputs.push_back({c.result, &results[k], &layouts[k]});
    }
    const with_math math(strict);
    slot cache;
    cache.next = slot::ways;  // publishes nothing: what it would point to is never freed
    v1::evaluate(cache, program, operands, {}, outputs);
    std::vector<std::vector<std::byte>> values;
    for (std::size_t k = 0; k < cases.size(); ++k) {
        values.emplace_back(cases[k]->count * detail::size_of(cases[k]->result));
        runtime::copy_to_host(*results[k], 0, values[k].size(), values[k].data(), *runtime::current().stream);
    }
    return values;
}

}  // namespace

TEST_CASE("every row compiled for the current device computes what NumPy computes, in every dtype") {
    std::map<std::size_t, std::vector<const sweep_case*>> by_size;
    for (const sweep_case& c : testing::sweep_cases()) by_size[c.count].push_back(&c);
    const auto target = current_device().is_cuda() ? detail::evaluator::cuda : detail::evaluator::host;
    for (const auto& [count, same_size] : by_size)
        for (std::size_t first = 0; first < same_size.size(); first += together) {
            const auto cases = std::span(same_size).subspan(first, std::min(together, same_size.size() - first));
            const auto values = evaluate_together(cases);
            for (std::size_t k = 0; k < cases.size(); ++k) {
                const sweep_case& c = *cases[k];
                const auto given = [&](const sweep_case&, void* out) {
                    std::ranges::copy(values[k], static_cast<std::byte*>(out));
                };
                const testing::verdict v = testing::judge(c, given, detail::body_of(c.row, target, c.computes()).ulp);
                CHECK_MESSAGE(v.wrong == 0, v.first_wrong, " and ", v.wrong, " in all of ", c.count);
                if (std::getenv("INGOT_PRINT_ULP") != nullptr && !c.exact)
                    std::cout << c.name() << ": " << v.worst_ulp << " ulp\n";
            }
        }
}
