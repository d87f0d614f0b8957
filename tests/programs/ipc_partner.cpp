// The other of two processes that share an array of a GPU: `open FILE` opens the array and the event whose handles the
// file holds, adds 1 to the elements, and lets go of them when a line comes; `give FILE` writes handles and ends;
// `keep FILE` gives an array and waits for a line.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>

#include <ingot/ingot.hpp>

using namespace ingot;

int main(int, char** arguments) try {
    const with_device on_the_gpu(device::cuda());
    struct {
        ipc_handle array;
        ipc_event_handle event;
    } handles;
    if (std::strcmp(arguments[1], "give") == 0) {
        array<float> x{1, 2, 3};
        const ipc_event ready;
        handles = {to_ipc_handle(x), ready.handle()};
        std::ofstream(arguments[2], std::ios::binary).write(reinterpret_cast<const char*>(&handles), sizeof handles);
        return 0;
    }
    if (std::strcmp(arguments[1], "keep") == 0) {
        array<float> x{1, 2, 3};
        (void)to_ipc_handle(x);
        std::cout << "given" << std::endl;
        std::string line;
        std::getline(std::cin, line);
        return 0;
    }
    std::ifstream(arguments[2], std::ios::binary).read(reinterpret_cast<char*>(&handles), sizeof handles);
    array<float> x = from_ipc_handle<float>(handles.array);
    const ipc_event ready(handles.event);
    current_stream().wait(ready);
    std::cout << x << std::endl;
    try {
        x += 1;
        synchronize();
        std::cout << "written" << std::endl;
    } catch (const read_only_error&) {
        std::cout << "read alone" << std::endl;
    }
    std::string line;
    std::getline(std::cin, line);
    std::cout << x << std::endl;
} catch (const std::exception& e) {
    std::cout << "error: " << e.what() << std::endl;
}
