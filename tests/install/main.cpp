// A user's program: Ingot's headers are found, its library links, its exceptions are caught across the boundary.
#include <cstdio>
#include <ingot/error.hpp>

int main() {
    try {
        throw ingot::shape_error("[add] shapes (2, 3) and (4,) do not broadcast");
    } catch (const ingot::error& e) {
        std::puts(e.what());
        return 0;
    }
    return 1;
}
