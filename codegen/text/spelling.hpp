// Spelling of scalar computation in generated source: type names, constants, casts, and the rows of the operator table.
// Both targets share one spelling; they differ only where the table or a target demands it.
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
#include "codegen/type_names.hpp"

namespace ingot::codegen {

/// The type of linear indices and offsets.
constexpr std::string_view index_name(bool wide) { return wide ? "int64" : "int"; }

/// Everything that a source needs before its kernel: type names, functions of long rows, declarations. They are
/// collected while the kernel is written, and each is printed once.
class prelude {
public:
    explicit prelude(detail::target where) : where_(where) {}

    detail::target where() const { return where_; }
    /// Marks a named type as used and returns its name.
    std::string type(dtype t);
    /// Adds a function or declaration, identified by its name; they are printed in the order of first use.
    void add(std::string_view name, std::string_view text);
    bool has(std::string_view name) const;
    /// Notes a call of a math function of the target's library (exp, erf, ...) in this dtype.
    void calls(std::string_view function, dtype t);
    /// An element of an array, as it is read.
    std::string element(dtype t, std::string at);
    /// Whether a called function rounds differently when vectorised.
    bool inexact() const { return inexact_; }
    /// "__device__ __forceinline__" or "static inline".
    std::string_view function_prefix() const;

    /// Whether rows with a quick body use it; that body sets `rare`, which the kernel declares.
    void use_quick(bool on) { quick_ = on; }
    bool quick() const { return quick_; }

    /// Whether a row needs the signs of NaN, which a GPU's conversion of a float16 NaN drops.
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

/// Whether every evaluator rounds a function of the mathematical library alike. The host's overloads of these are the
/// compiler's builtins; for others C's own names are declared.
bool is_exact_function(std::string_view);

/// A text of CUDA for the prelude's target: on the host, `host_prefix` stands in front of functions.
std::string for_target(std::string_view text, const prelude& needs, std::string_view host_prefix = "static inline ");

/// `value` as a constant of this dtype.
std::string spell_constant(dtype t, double value, prelude& needs);
/// Adds bits_of and from_bits for float.
void add_reinterpretations(prelude& needs);
/// Adds one of the GPU's own instructions that operators.def names: rcp_approx, rsqrt_approx, ...
void add_instruction(std::string_view name, dtype t, prelude& needs);
/// The expression that converts `from` (a name or a call) as astype does.
std::string spell_cast(const std::string& from, dtype from_type, dtype to, prelude& needs);
/// Whether a node's row has a quick body in its dtype.
bool has_quick_body(const node& n);
/// The statements of a row's quick body before its test for rare values, one a line.
std::string quick_statements(detail::op o, dtype t);
/// Applies a row of the operator table to arguments that are names, constants or calls. `shared`: several elements have
/// the same second argument.
std::string spell_map(const node& n, const std::vector<dtype>& argument_types,
                      const std::vector<std::string>& arguments, prelude& needs, bool shared = false);

/// For tests: while set, the texts of rows come from here instead of the operator table; quick bodies stay the table's.
/// Null restores the table; not to be changed during printing.
using text_lookup = std::string_view (*)(detail::op, detail::evaluator, dtype first, dtype second);
void replace_texts(text_lookup) noexcept;

}  // namespace ingot::codegen
