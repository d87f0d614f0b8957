// Evaluates two expressions, one of them twice and compiled, for a profiler and for INGOT_LOG. The last line says that
// all was computed.
#include <iostream>

#include <ingot/ingot.hpp>

using namespace ingot;

int main() {
    const array<double> x = arange<double>(6);
    for (int k = 0; k < 2; ++k) {
        array<double> y = x * 3 - 1;
        if (y(2).item() != 5) return 1;
    }
    const array<double> z = x / norm(x);
    std::cout << "computed " << z.size() << '\n';
}
