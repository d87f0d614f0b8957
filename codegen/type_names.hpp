// The names of dtypes in sources.
#pragma once

#include <string>

#include <ingot/core/dtype.hpp>

namespace ingot::codegen {

/// "float", "double", "bool"; integers by NumPy's names (int32), which the prelude defines.
inline std::string type_name(dtype t) {
    if (t == dtype::f4) return "float";
    if (t == dtype::f8) return "double";
    return std::string(name(t));
}
/// Whether a user's text can compute in this dtype.
constexpr bool has_spelling(dtype t) { return detail::kind_of(t) <= detail::kind::floating; }

}  // namespace ingot::codegen
