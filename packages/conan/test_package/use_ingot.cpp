// The package's headers compile, its library links, and a statement runs.
#include <iostream>

#include <ingot/ingot.hpp>

int main() {
    using namespace ingot;
    const array<float> x{1, 2, 8}, y{3, 1, 5};
    const array<float> z = where(x - 2 > y, x * y, x + y);
    std::cout << z << '\n';
    return array_equal(z, array<float>{4, 3, 40}).item() ? 0 : 1;
}
