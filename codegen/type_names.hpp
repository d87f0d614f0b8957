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
/// The type's name in a user's text, where a complex number is a class with operators.
inline std::string type_name_in_text(dtype t) {
    return t == dtype::c8 ? "complex<float>" : t == dtype::c16 ? "complex<double>" : type_name(t);
}

}  // namespace ingot::codegen
