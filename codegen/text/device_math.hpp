// CUDA's device math for texts on the host, where no header declares anything: the standard functions, CUDA's
// additional ones, and its intrinsics for integers, conversions and rounding. NVRTC has all of them built in.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "codegen/text/spelling.hpp"

namespace ingot::codegen {

/// A function that texts may call on both targets. `signature` has a letter for the result's type and one for each
/// parameter: f float, d double, b bool, i u l L U for int, unsigned int, long, long long and unsigned long long, s a
/// string, v nothing, t unsigned short; F and I point to float and int, p and P to constant floats and doubles. x
/// stands for float and for double, X for a pointer to it: the name then has both overloads, and with an f appended it
/// is float's.
struct device_function {
    std::string_view name, signature, body;

    bool has_both_precisions() const {
        return signature.find('x') != signature.npos || signature.find('X') != signature.npos;
    }
};
/// The table; @ in a name stands for the rounding modes rn, rd, ru and rz.
std::span<const device_function> device_functions();

/// Declares a name of a text on the host, where it is a function of the table.
void declare_device_function(std::string_view name, prelude& needs);
/// Declares the functions for a text that includes <math.h>: all but C's, which the header declares, and those made
/// from rows of the operator table.
std::string declare_beside_c(std::string_view text);

}  // namespace ingot::codegen
