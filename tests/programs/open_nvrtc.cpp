// Ends with 1 when NVRTC is opened beside what a process does whose kernels are kept in a directory, with 0 when it
// stays shut.
#include <fstream>
#include <string>

#include "runtime/kernel_module.hpp"

int main(int, char** arguments) {
    using namespace ingot::runtime;
    const kernel_store store(disk_cache::open(arguments[1], std::size_t{1} << 30));
    { const auto opening = open_nvrtc_beside(store); }
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
        if (line.find("libnvrtc.so") != line.npos) return 1;
    return 0;
}
