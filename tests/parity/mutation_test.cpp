// The sweep through the mutation check: a body put in another's place must be found.
#include <doctest/doctest.h>

#include <span>
#include <vector>

#include "runtime/kernels/interpreter.hpp"
#include "tests/parity/sweep.hpp"

namespace {

using namespace ingot;
using detail::op;
using testing::arrangement;
using testing::sweep_case;
using testing::sweep_group;

op row_to_replace, replacement;

/// Parts of complex numbers; the sweeps of complex functions find their mutations.
bool is_part(op row) { return detail::facts(row).rule == detail::rule::part; }

bool is_wrong(const sweep_group& g, std::span<const sweep_case* const> cases, std::size_t most) {
    const auto values = testing::interpret(g, cases, arrangement::contiguous, most);
    const std::size_t count = testing::elements(g, arrangement::contiguous, most);
    for (std::size_t k = 0; k < cases.size(); ++k)
        if (testing::judge(g, *cases[k], values[k], count, cases[k]->bound(detail::evaluator::interpreter)).wrong > 0)
            return true;
    return false;
}

/// Whether the sweep of `row` notices that `other` is computed in its place.
bool notices(op row, op other) {
    row_to_replace = row;
    replacement = other;
    runtime::replace_bodies([](op o, dtype first, dtype others) {
        return runtime::bodies::map_for(o == row_to_replace ? replacement : o, first, others);
    });
    bool noticed = false;
    for (const sweep_group& g : testing::sweep_groups()) {
        if (noticed) break;
        std::vector<const sweep_case*> cases;
        for (const sweep_case& c : g.cases) {
            const detail::kind kind = detail::kind_of(c.decides());
            const bool of_row = is_part(row) ? c.decides() == dtype::c8 : c.row == row && kind != detail::kind::complex;
            if (of_row && !g.promotes(c) && (is_part(row) || detail::facts(other).has(kind))) cases.push_back(&c);
        }
        if (!cases.empty()) noticed = is_wrong(g, cases, is_part(row) ? 256 : testing::all_elements);
    }
    runtime::replace_bodies(nullptr);
    return noticed;
}

}  // namespace

TEST_CASE("a row with another row's body fails its sweep") {
    for (std::size_t i = 0; i < detail::op_count; ++i)
        for (std::size_t k = 0; k < detail::op_count; ++k) {
            const op row = static_cast<op>(i), other = static_cast<op>(k);
            const detail::op_facts &own = detail::facts(row), &its = detail::facts(other);
            const auto is_cast = [](op o) { return o == op::astype || o == op::bit_cast || o == op::complex_of; };
            if (row == other || is_cast(row) || is_cast(other)) continue;
            if (own.rule != its.rule || own.arity != its.arity) continue;
            if (own.rule == detail::rule::words) continue;  // of random integers; tests/random compares each
            const detail::row_bodies &mine = detail::bodies_of(row), &others = detail::bodies_of(other);
            if (mine.integer == others.integer && mine.floating == others.floating) continue;  // `real` and `positive`
            CHECK_MESSAGE(notices(row, other), own.name, " computed as ", its.name);
        }
}
