// How scalar computing is spelled in generated source: type names, constants, casts, and the rows of the operator
// table. One spelling for both targets; only where the table or a target demands it do they differ.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <ingot/core/key.hpp>

#include "codegen/graph/graph.hpp"
#include "codegen/operator_bodies.hpp"

namespace ingot::codegen {

/// "float", "double", "bool"; integers by NumPy's names (int32), which the prelude defines.
std::string type_name(dtype t);
/// Whether a user's text can compute in it.
constexpr bool has_spelling(dtype t) { return detail::kind_of(t) <= detail::kind::floating; }
/// The type of linear indices and offsets.
constexpr std::string_view index_name(bool wide) { return wide ? "int64" : "int"; }

/// Everything a kernel's source needs before its kernel: type names, functions of long rows, declarations. Collected
/// while the kernel is written, printed before it, each thing once.
class prelude {
public:
    explicit prelude(detail::target where) : where_(where) {}

    detail::target where() const { return where_; }
    /// Marks a named type as used and returns its name.
    std::string type(dtype t);
    /// A function or declaration, told apart by its name; printed in the order of first use.
    void add(std::string_view name, std::string_view text);
    bool has(std::string_view name) const;
    /// Notes that a math function of the target's library is called (exp, erf, ...) in this dtype.
    void calls(std::string_view function, dtype t);
    /// An element of an array, as it is read.
    std::string element(dtype t, std::string at);
    /// Whether a called function rounds differently when it is vectorised.
    bool inexact() const { return inexact_; }
    /// "__device__ __forceinline__" or "static inline".
    std::string_view function_prefix() const;

    /// Whether rows that have a quick body are spelled by it; it sets `rare`, which the kernel declares.
    void use_quick(bool on) { quick_ = on; }
    bool quick() const { return quick_; }

    /// Whether a row asks for signs, which a GPU's conversion of a float16 NaN drops.
    void keep_nan_signs(bool on) { nan_signs_ = on; }
    bool keeps_nan_signs() const { return nan_signs_; }

    std::string text() const;

private:
    detail::target where_;
    bool quick_ = false, nan_signs_ = false;
    std::set<dtype> types_;
    std::vector<std::pair<std::string, std::string>> parts_;
    std::map<std::string, std::set<dtype>> calls_;
    bool inexact_ = false;
};

/// Whether every evaluator rounds a function of the mathematical library alike: the host's overloads are the compiler's
/// builtins, where of others C's own names are declared.
bool is_exact_function(std::string_view);

/// `value` as a constant of this dtype.
std::string spell_constant(dtype t, double value, prelude& needs);
/// bits_of and from_bits of float.
void add_reinterpretations(prelude& needs);
/// One of the GPU's own instructions that operators.def names: rcp_approx, rsqrt_approx, ...
void add_instruction(std::string_view name, dtype t, prelude& needs);
/// The expression that converts `from` (a name or a call) as astype does.
std::string spell_cast(const std::string& from, dtype from_type, dtype to, prelude& needs);
/// Whether a node's row has a quick body in its dtype.
bool has_quick_body(const node& n);
/// The statements of a row's quick body before it tests whether a value is rare, a line each.
std::string quick_statements(detail::op o, dtype t);
/// A row of the operator table over arguments that are names, constants or calls. `shared`: the second is the same for
/// several elements.
std::string spell_map(const node& n, const std::vector<dtype>& argument_types,
                      const std::vector<std::string>& arguments, prelude& needs, bool shared = false);

/// For tests: while set, the texts of rows come from here instead of the operator table; quick ones are the table's.
/// Null for the table's; not to be changed while something is printed.
using text_lookup = std::string_view (*)(detail::op, detail::evaluator, dtype first, dtype second);
void replace_texts(text_lookup) noexcept;

}  // namespace ingot::codegen
