// The sweep of the operator table: every row over every combination of dtypes that it takes, on every combination of
// special values and on random bit patterns, with NumPy 2's answers. It takes any evaluator.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "codegen/operator_bodies.hpp"

namespace ingot::testing {

using bytes = std::vector<std::byte>;

/// A row over its group's operands, with NumPy's answers. Where `exact` is false the answers are in the next wider
/// float, and so are the scales: an error is measured in last places of the answer or of its scale, the greater one.
/// The row `astype` casts to `result`.
struct sweep_case {
    detail::op row{};
    dtype result{};
    std::array<dtype, 3> computes{};  // the dtypes to which operands are cast
    std::size_t first_operand = 0;    // of the group's
    bool exact = true;
    bytes answers, scales, own;  // own: of complex inexact answers what NumPy gives in the result's dtype

    int arity() const { return detail::facts(row).arity; }
    /// The dtype that decides the body: the first operand of `where` is only a condition.
    dtype decides() const { return computes[detail::facts(row).rule == detail::rule::selection ? 1 : 0]; }
    /// The bound that the table states for an evaluator, in last places of the result's dtype.
    double bound(detail::evaluator where) const;
};

/// Rows over the same operands. The first elements are a grid, all combinations of the operands' special values, the
/// last operand's changing fastest.
struct sweep_group {
    std::vector<dtype> types;
    std::string places;             // "grid", or the row that has places of its own
    std::size_t random = 0;         // bit patterns behind the grid
    std::size_t count = 0;          // elements, a multiple of 64
    std::vector<std::size_t> grid;  // special values of each operand; none where there is no grid
    std::vector<bytes> operands;
    std::vector<sweep_case> cases;

    std::size_t grid_size() const;
    /// Whether an operand is cast before the row computes.
    bool promotes(const sweep_case&) const;
    std::string name(const sweep_case&) const;
};

struct sweep_options {
    unsigned seed = 1;
    bool only_inexact = false;  // functions with a bound, in the dtypes in which they compute, 20,000 patterns each
};

/// How many times 20,000 bit patterns are drawn, each by a seed of its own: 50 times, which are 10^6, on a GPU and
/// where INGOT_TEST_ALL is set, else once; $INGOT_TEST_PATTERNS says another number of patterns.
unsigned draws();

/// f(0) to f(n - 1), on as many threads as there are cores; f does not throw.
void on_all_cores(std::size_t n, const std::function<void(std::size_t)>& f);

/// Computed by `tests/oracle/parity.py`; $INGOT_PYTHON names a python3 that has NumPy 2.
std::vector<sweep_group> ask_numpy(const sweep_options&);
/// All groups, computed once in a process.
const std::vector<sweep_group>& sweep_groups();

struct verdict {
    std::size_t wrong = 0;
    double worst_ulp = 0;
    std::string first_wrong;  // "add float32: (1, 2) gave 4, wanted 3"
};

/// Compares the first `count` values with NumPy's: bit for bit where the case is exact (the payload of a NaN aside),
/// within `ulp` elsewhere.
verdict judge(const sweep_group&, const sweep_case&, const bytes& values, std::size_t count, double ulp);

/// The layout of operands in memory, and their shape there.
enum class arrangement : std::uint8_t {
    contiguous,   // (n,)
    misaligned,   // (n,), beginning an element behind where memory is aligned
    apart,        // (n,): every second element; from the end; every third
    transposed,   // (n / 64, 64), the first operand with its columns in one run
    padded,       // (n / 64, 64), rows that lie apart
    across_axes,  // the grid: each operand along an axis of its own, broadcast along the others
};
constexpr arrangement arrangements[] = {arrangement::contiguous, arrangement::misaligned, arrangement::apart,
                                        arrangement::transposed, arrangement::padded,     arrangement::across_axes};
std::string name(arrangement);
/// The number of elements that operands have in this arrangement, with at most `most` beyond the grid; 0 where the
/// arrangement does not apply.
constexpr std::size_t all_elements = static_cast<std::size_t>(-1);
std::size_t elements(const sweep_group&, arrangement, std::size_t most = all_elements);

/// The results of a group's `cases`, in strict arithmetic, by one statement: on the current device, or interpreted.
std::vector<bytes> evaluate(const sweep_group&, std::span<const sweep_case* const> cases, arrangement,
                            std::size_t most = all_elements);
std::vector<bytes> interpret(const sweep_group&, std::span<const sweep_case* const> cases, arrangement,
                             std::size_t most = all_elements);

}  // namespace ingot::testing
