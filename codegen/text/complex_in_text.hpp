// The complex numbers of a user's text: complex<float> and complex<double>, with CUDA's and CuPy's members.
#pragma once

#include <string>
#include <string_view>

#include "codegen/text/spelling.hpp"

namespace ingot::codegen {

/// The type's name in a user's text; a complex one's class is added to the prelude.
std::string type_in_text(dtype t, prelude& needs);

/// Adds the function of this name for complex numbers, if there is one, where the prelude has their class.
void declare_complex_function(std::string_view name, prelude& needs);

}  // namespace ingot::codegen
