// The sweep of the operator table: every row over every dtype that it computes in, on special and random values,
// against NumPy 2. It takes any evaluator: the interpreter, the host target, the GPU.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <ingot/operators.hpp>

namespace ingot::testing {

/// A row over operands of these dtypes, with NumPy's answers. Where `exact` is false the answers are in the next wider
/// float, and so are the scales: an error is measured in last places of the answer or of its scale, the greater one.
/// The row `astype` casts from `first` to `result`.
struct sweep_case {
    detail::op row;
    dtype first, others, result;
    bool exact;
    std::size_t count = 0;
    std::vector<std::byte> operands[3];
    std::vector<std::byte> answers, scales;

    int arity() const { return detail::facts(row).arity; }
    dtype type_of_operand(int i) const { return i == 0 ? first : others; }
    /// The dtype that decides the body: the first operand of `where` is only a condition.
    dtype computes() const { return detail::facts(row).rule == detail::rule::selection ? others : first; }
    std::string name() const;
};

/// All cases, computed once in a process by `tests/oracle/rows.py`; $INGOT_PYTHON names a python3 that has NumPy 2.
const std::vector<sweep_case>& sweep_cases();

/// Computes a case's row over its operands into `out`, `count` elements of `result`.
using row_evaluator = std::function<void(const sweep_case&, void* out)>;

struct verdict {
    std::size_t wrong = 0;
    double worst_ulp = 0;
    std::string first_wrong;  // "add float32: (1, 2) gave 4, wanted 3"
};

/// Compares an evaluator with NumPy: bit for bit where the case is exact (the payload of a NaN aside), within `ulp`
/// elsewhere.
verdict judge(const sweep_case& c, const row_evaluator& evaluate, double ulp);

}  // namespace ingot::testing
