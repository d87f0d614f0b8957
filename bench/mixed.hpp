// Numbers that look random, each a function of the one before it or of its index alone.
#pragma once

#include <cstdint>

namespace bench {

inline std::uint64_t mixed(std::uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

}  // namespace bench
