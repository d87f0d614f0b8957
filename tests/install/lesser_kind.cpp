// What a compiler is to refuse, and to say how it is written.
#include <ingot/ingot.hpp>

ingot::array<int> truncated(const ingot::array<double>& x) {
    ingot::array<int> k = x;
    k = k + 0.5;
    return k;
}
