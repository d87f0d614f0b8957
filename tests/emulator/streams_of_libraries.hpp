// How an emulated library waits for a stream of the emulated driver, which the program has loaded.
#pragma once

#include <cuda.h>
#include <dlfcn.h>
#include <driver_types.h>

namespace emulator {

inline void wait_for(cudaStream_t stream) {
    static const auto synchronize = [] {
        void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
        const auto find = reinterpret_cast<decltype(&cuGetProcAddress)>(dlsym(driver, "cuGetProcAddress_v2"));
        void* found = nullptr;
        CUdriverProcAddressQueryResult result{};
        find("cuStreamSynchronize", &found, 12000, 0, &result);
        return reinterpret_cast<decltype(&cuStreamSynchronize)>(found);
    }();
    synchronize(reinterpret_cast<CUstream>(stream));
}

}  // namespace emulator
