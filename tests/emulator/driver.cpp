// libcuda for tests without a GPU: memory is the host's, streams are done with everything at once, kernels are what
// nvrtc.cpp made of them. EMULATED_ARCHITECTURE (90) and EMULATED_PROCESSORS (132) say what GPU it claims to be,
// EMULATOR_SEED in what order threads run.
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>

#include "bench/stub_driver.hpp"
#include "grid.hpp"
#include "image.hpp"

namespace {

constexpr int junk = 0xcd;
constexpr std::size_t most_memory = std::size_t{8} << 30;

unsigned long number_from(const char* variable, unsigned long otherwise) {
    const char* const text = std::getenv(variable);
    return text != nullptr ? std::strtoul(text, nullptr, 10) : otherwise;
}

template <class T>
T as(auto handle) {
    return reinterpret_cast<T>(handle);
}

emulator::device_memory& memory() {
    static emulator::device_memory& all = *new emulator::device_memory;  // arrays may outlive main
    return all;
}

// ---- Kernels.

struct loaded_library {
    void* object = nullptr;
    std::map<std::string, emulator::kernel_entry> kernels;
};

loaded_library* load(const void* image) {
    const std::string_view bytes = emulator::unpack_image(image);
    const int file = memfd_create("emulated kernel", MFD_CLOEXEC);
    std::size_t written = 0;
    while (written < bytes.size()) {
        const ssize_t n = write(file, bytes.data() + written, bytes.size() - written);
        if (n <= 0) return nullptr;
        written += static_cast<std::size_t>(n);
    }
    // A path of its own for each: the loader knows libraries by their paths, and descriptors are used again.
    static std::atomic<int> serial{0};
    const std::string link = "/tmp/emulated-" + std::to_string(getpid()) + '-' + std::to_string(++serial);
    if (symlink(("/proc/self/fd/" + std::to_string(file)).c_str(), link.c_str()) != 0) return nullptr;
    void* const object = dlopen(link.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (object == nullptr) std::fprintf(stderr, "emulated driver: %s\n", dlerror());
    unlink(link.c_str());
    close(file);
    return object != nullptr ? new loaded_library{object, {}} : nullptr;
}

emulator::kernel_entry* find(loaded_library& library, const char* name) {
    const auto symbol = [&](const std::string& of) { return dlsym(library.object, of.c_str()); };
    void* const run = symbol("emulated_" + std::string(name));
    if (run == nullptr) return nullptr;
    const auto shared = as<char* (*)(bool)>(symbol("emulated_shared"));
    emulator::kernel_entry& k = library.kernels[name];
    k.name = name;
    k.source = as<const char*>(symbol("emulated_source"));
    k.run = as<void (*)(void**)>(run);
    k.to_machine = as<emulator::machine**>(symbol("emulated_machine"));
    k.shared = shared(false);
    k.shared_bytes = static_cast<std::size_t>(shared(true) - shared(false));
    Dl_info where{};
    dladdr(run, &where);
    k.image = static_cast<const char*>(where.dli_fbase);
    return &k;
}

CUresult run(CUfunction function, const emulator::launch_shape& shape, unsigned shared_bytes, void** arguments) {
    if (shape.grid.x % shape.cluster != 0 || shape.threads.x * shape.threads.y * shape.threads.z > 1024 ||
        shape.grid.x == 0 || shape.grid.y == 0 || shape.grid.z == 0 || shape.grid.y > 65535 || shape.grid.z > 65535 ||
        shared_bytes > 227 * 1024)
        return CUDA_ERROR_INVALID_VALUE;
    static std::mutex one_at_a_time;  // the machine and shared memory are the library's
    static std::uint64_t launches = 0;
    static const std::uint64_t seed = number_from("EMULATOR_SEED", 1);
    const std::lock_guard lock(one_at_a_time);
    emulator::run_grid(*as<const emulator::kernel_entry*>(function), shape, arguments, memory(), seed + ++launches);
    return CUDA_SUCCESS;
}

// ---- The table.

using clock_type = std::chrono::steady_clock;

void put_memory(ingot::runtime::driver_api& api) {
    static constexpr auto allocate = [](std::size_t bytes) -> void* {
        constexpr std::size_t apart = 512;  // what is beyond an allocation belongs to nobody
        if (bytes > most_memory || memory().in_use() + bytes > most_memory) return nullptr;
        void* const data = std::aligned_alloc(apart, (bytes + 2 * apart - 1) / apart * apart);
        if (data == nullptr) return nullptr;
        memory().add(data, bytes);
        return std::memset(data, junk, bytes);
    };
    static constexpr auto release = [](void* data) {
        if (memory().remove(data) != 0) std::free(data);
    };
    api.cuMemGetInfo = [](std::size_t* free, std::size_t* total) {
        return *total = most_memory, *free = most_memory - memory().in_use(), CUDA_SUCCESS;
    };
    api.cuMemAlloc = [](CUdeviceptr* data, std::size_t bytes) {
        *data = as<CUdeviceptr>(allocate(bytes));
        return *data != 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    };
    api.cuMemFree = [](CUdeviceptr data) { return release(as<void*>(data)), CUDA_SUCCESS; };
    api.cuMemHostAlloc = [](void** data, std::size_t bytes, unsigned) {
        *data = allocate(bytes);
        return *data != nullptr ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    };
    api.cuMemFreeHost = [](void* data) { return release(data), CUDA_SUCCESS; };
    api.cuMemcpyHtoDAsync = [](CUdeviceptr to, const void* from, std::size_t bytes, CUstream) {
        return std::memcpy(as<void*>(to), from, bytes), CUDA_SUCCESS;
    };
    api.cuMemcpyDtoHAsync = [](void* to, CUdeviceptr from, std::size_t bytes, CUstream) {
        return std::memcpy(to, as<const void*>(from), bytes), CUDA_SUCCESS;
    };
    api.cuMemcpyDtoDAsync = [](CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream) {
        return std::memmove(as<void*>(to), as<const void*>(from), bytes), CUDA_SUCCESS;
    };
    api.cuMemsetD8Async = [](CUdeviceptr to, unsigned char value, std::size_t bytes, CUstream) {
        return std::memset(as<void*>(to), value, bytes), CUDA_SUCCESS;
    };
}

void put_kernels(ingot::runtime::driver_api& api) {
    api.cuLibraryLoadData = [](CUlibrary* library, const void* image, CUjit_option*, void**, unsigned, CUlibraryOption*,
                               void**, unsigned) {
        *library = as<CUlibrary>(load(image));
        return *library != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
    };
    api.cuLibraryGetKernel = [](CUkernel* kernel, CUlibrary library, const char* name) {
        *kernel = as<CUkernel>(find(*as<loaded_library*>(library), name));
        return *kernel != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
    };
    api.cuKernelGetFunction = [](CUfunction* function, CUkernel kernel) {
        return *function = as<CUfunction>(kernel), CUDA_SUCCESS;
    };
    api.cuLaunchKernel = [](CUfunction function, unsigned x, unsigned y, unsigned z, unsigned threads_x,
                            unsigned threads_y, unsigned threads_z, unsigned shared, CUstream, void** arguments,
                            void**) {
        return run(function, {{x, y, z}, {threads_x, threads_y, threads_z}, 1}, shared, arguments);
    };
    api.cuLaunchKernelEx = [](const CUlaunchConfig* c, CUfunction function, void** arguments, void**) {
        emulator::launch_shape shape{
            {c->gridDimX, c->gridDimY, c->gridDimZ}, {c->blockDimX, c->blockDimY, c->blockDimZ}, 1};
        for (unsigned i = 0; i < c->numAttrs; ++i)
            if (c->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) shape.cluster = c->attrs[i].value.clusterDim.x;
        return run(function, shape, c->sharedMemBytes, arguments);
    };
}

void put_times(ingot::runtime::driver_api& api) {
    api.cuStreamCreate = [](CUstream* stream, unsigned) { return *stream = as<CUstream>(new char), CUDA_SUCCESS; };
    api.cuEventCreate = [](CUevent* event, unsigned) {
        return *event = as<CUevent>(new clock_type::time_point), CUDA_SUCCESS;
    };
    api.cuEventDestroy = [](CUevent event) { return delete as<clock_type::time_point*>(event), CUDA_SUCCESS; };
    api.cuEventRecord = [](CUevent event, CUstream) {
        return *as<clock_type::time_point*>(event) = clock_type::now(), CUDA_SUCCESS;
    };
    api.cuEventElapsedTime = [](float* milliseconds, CUevent from, CUevent to) {
        const std::chrono::duration<float, std::milli> passed =
            *as<clock_type::time_point*>(to) - *as<clock_type::time_point*>(from);
        return *milliseconds = passed.count(), CUDA_SUCCESS;
    };
    api.cuLaunchHostFunc = [](CUstream, CUhostFn function, void* argument) { return function(argument), CUDA_SUCCESS; };
}

const ingot::runtime::driver_api& table() {
    static const ingot::runtime::driver_api made = [] {
        ingot::runtime::driver_api api = bench::stub_driver();
        put_memory(api);
        put_kernels(api);
        put_times(api);
        api.cuDeviceGetName = [](char* name, int size, CUdevice) {
            return std::strncpy(name, "emulated", static_cast<std::size_t>(size)), CUDA_SUCCESS;
        };
        api.cuDeviceGetAttribute = [](int* value, CUdevice_attribute attribute, CUdevice) {
            const auto architecture = static_cast<int>(number_from("EMULATED_ARCHITECTURE", 90));
            switch (attribute) {
                case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
                    *value = architecture / 10;
                    break;
                case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
                    *value = architecture % 10;
                    break;
                case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
                    *value = static_cast<int>(number_from("EMULATED_PROCESSORS", 132));
                    break;
                default:
                    *value = 1;
            }
            return CUDA_SUCCESS;
        };
        return api;
    }();
    return made;
}

}  // namespace

extern "C" CUresult cuGetProcAddress_v2(const char* name, void** function, int, cuuint64_t,
                                        CUdriverProcAddressQueryResult*) {
#define INGOT_DRIVER_ENTRY(entry, version) \
    if (std::strcmp(name, #entry) == 0) return *function = as<void*>(table().entry), CUDA_SUCCESS;
#include "runtime/driver_entries.inc"
    return CUDA_ERROR_NOT_FOUND;
}
