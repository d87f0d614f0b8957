#include "runtime/sorting/key_order.hpp"

namespace ingot::runtime {

radix::key_order order_of(dtype type, bool merges) {
    const std::size_t size = detail::size_of(type);
    const radix::bits sign = radix::bits{1} << (8 * size - 1);
    const auto floating = [&](radix::bits infinity) {
        return radix::key_order{sign, sign - 1, sign - 1 - infinity, infinity, 0, merges};
    };
    switch (type) {
        case dtype::f2:
            return floating(0x7c00);
        case dtype::bf:
            return floating(0x7f80);
        case dtype::f4:
            return floating(0x7f800000);
        case dtype::f8:
            return floating(0x7ff0000000000000);
        case dtype::i1:
        case dtype::i2:
        case dtype::i4:
        case dtype::i8:
            return {sign, 0, 0, 0, 0, false};
        default:
            return {};
    }
}

std::string key_order_text(dtype type, bool merges) {
    const std::size_t size = detail::size_of(type);
    const radix::key_order order = order_of(type, merges);
    std::string text = size == 1   ? "typedef unsigned char value;\ntypedef unsigned key;\n"
                       : size == 2 ? "typedef unsigned short value;\ntypedef unsigned key;\n"
                       : size == 4 ? "typedef unsigned value;\ntypedef unsigned key;\n"
                                   : "typedef unsigned long long value;\ntypedef unsigned long long key;\n";
    const auto constant = [&](const char* name, radix::bits value) {
        text += std::string("constexpr value ") + name + " = " + std::to_string(value) + "ull;\n";
    };
    constant("flip", order.flip);
    constant("negative", order.negative);
    constant("least", order.least);
    if (order.merges != 0) constant("infinity", order.infinity);
    text += "__device__ key into_order(value v) {\n";
    if (order.merges != 0) {
        text +=
            "    if (value(v & negative) > infinity) return value(-1);\n"
            "    if (value(v & negative) == 0) v = 0;\n";
    }
    const std::string sign = "v >> " + std::to_string(8 * size - 1);
    text += "    v ^= flip ^ (" + sign + " ? negative : value(0));\n";
    text += "    return value(v - least);\n}\n";
    text += "__device__ value out_of_order(key k) {\n    value v = value(k + least);\n";
    text += "    return value(v ^ flip ^ (" + sign + " ? value(0) : negative));\n}\n";
    return text;
}

}  // namespace ingot::runtime
