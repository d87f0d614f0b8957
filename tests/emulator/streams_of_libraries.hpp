// How an emulated library calls the emulated driver, which the program has loaded.
#pragma once

#include <cuda.h>
#include <dlfcn.h>
#include <driver_types.h>

namespace emulator {

template <class F>
F* entry_of_driver(const char* name) {
    void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    const auto find = reinterpret_cast<decltype(&cuGetProcAddress)>(dlsym(driver, "cuGetProcAddress_v2"));
    void* found = nullptr;
    CUdriverProcAddressQueryResult result{};
    find(name, &found, 12000, 0, &result);
    return reinterpret_cast<F*>(found);
}

inline void wait_for(cudaStream_t stream) {
    static const auto synchronize = entry_of_driver<decltype(cuStreamSynchronize)>("cuStreamSynchronize");
    synchronize(reinterpret_cast<CUstream>(stream));
}

inline int current_gpu() {
    static const auto get = entry_of_driver<decltype(cuCtxGetDevice)>("cuCtxGetDevice");
    int gpu = -1;
    get(&gpu);
    return gpu;
}

}  // namespace emulator
