// Every row of the operator table compiled for the current device, in strict arithmetic, against NumPy. Cases of equal
// size are outputs of one kernel, so that the whole table takes few compiles.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
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

/// Elements of one dtype as another's, by C++'s conversions.
template <class To, class From>
std::vector<std::byte> converted(const std::vector<std::byte>& from) {
    std::vector<std::byte> to(from.size() / sizeof(From) * sizeof(To));
    for (std::size_t i = 0; i < from.size() / sizeof(From); ++i) {
        From x;
        std::memcpy(&x, from.data() + i * sizeof(From), sizeof(From));
        const To y(x);
        std::memcpy(to.data() + i * sizeof(To), &y, sizeof(To));
    }
    return to;
}

/// Elements of T that differ, NaN aside; of inexact results by more than a last place.
template <class T>
std::size_t count_different(const std::vector<std::byte>& a, const std::vector<std::byte>& b, bool exact) {
    std::size_t different = a.size() == b.size() ? 0 : 1;
    for (std::size_t i = 0; i < a.size() / sizeof(T); ++i) {
        T x, y;
        std::memcpy(&x, a.data() + i * sizeof(T), sizeof(T));
        std::memcpy(&y, b.data() + i * sizeof(T), sizeof(T));
        if constexpr (detail::half_float<T>) {
            const int apart = std::abs(static_cast<int>(x.bits()) - static_cast<int>(y.bits()));
            different += (x != x && y != y) || apart <= (exact ? 0 : 1) ? 0u : 1u;
        } else {
            different += std::memcmp(&x, &y, sizeof(T)) == 0 ? 0u : 1u;
        }
    }
    return different;
}

/// NumPy's cases of float32 with their operands rounded to T: as T's, and as float32's, which T's are compared with.
template <class T>
void check_rows_of_halves() {
    constexpr dtype half = detail::dtype_of<T>;
    std::vector<sweep_case> narrow, wide;
    for (const sweep_case& c : testing::sweep_cases()) {
        if (c.computes() != dtype::f4 || c.row == detail::op::astype) continue;
        sweep_case n = c, w = c;
        detail::operand_type types[3];
        for (int i = 0; i < c.arity(); ++i) {
            if (c.type_of_operand(i) == dtype::f4) {
                n.operands[i] = converted<T, float>(c.operands[i]);
                w.operands[i] = converted<float, T>(n.operands[i]);
            }
            types[i] = {c.type_of_operand(i) == dtype::f4 ? half : c.type_of_operand(i)};
        }
        if (!detail::resolve(c.row, types).legal) continue;
        n.first = types[0].type, n.others = c.arity() > 1 ? types[1].type : half;
        n.result = c.result == dtype::f4 ? half : c.result;
        narrow.push_back(std::move(n)), wide.push_back(std::move(w));
    }
    CHECK(narrow.size() > 80);
    std::map<std::size_t, std::vector<std::size_t>> by_size;
    for (std::size_t k = 0; k < narrow.size(); ++k) by_size[narrow[k].count].push_back(k);
    for (const auto& [count, all] : by_size)
        for (std::size_t first = 0; first < all.size(); first += together) {
            const auto some = std::span(all).subspan(first, std::min(together, all.size() - first));
            std::vector<const sweep_case*> of_halves, of_floats;
            for (const std::size_t k : some) of_halves.push_back(&narrow[k]), of_floats.push_back(&wide[k]);
            const auto got = evaluate_together(of_halves), in_float32 = evaluate_together(of_floats);
            for (std::size_t k = 0; k < some.size(); ++k) {
                const sweep_case& c = *of_halves[k];
                // Special functions are rounded from float64, here by way of float32.
                const bool exact = detail::facts(c.row).rule != detail::rule::special;
                // A GPU's conversion from float16 keeps no NaN's sign.
                if (c.row == detail::op::signbit || c.row == detail::op::copysign) continue;
                const std::size_t different =
                    c.result == half ? count_different<T>(got[k], converted<T, float>(in_float32[k]), exact)
                                     : count_different<std::byte>(got[k], in_float32[k], true);
                CHECK_MESSAGE(different == 0, c.name(), ": ", different, " of ", c.count);
            }
        }
}

}  // namespace

TEST_CASE_TEMPLATE("every row of 16-bit floats computes what float32 computes, rounded", T, float16, bfloat16) {
    check_rows_of_halves<T>();
}

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
