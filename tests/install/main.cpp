// A user's program: Ingot's headers are found, its library links, and its exceptions are caught on this side.
#include <iostream>

#include <ingot/core/device.hpp>
#include <ingot/core/error.hpp>

int main() {
    if (ingot::device::parse("host:1") != ingot::device::host(1)) return 1;
    try {
        ingot::device::parse("abacus");
    } catch (const ingot::device_error& e) {
        std::cout << ingot::device::host() << " is a device. " << e.what() << '\n';
        return 0;
    }
    return 2;
}
