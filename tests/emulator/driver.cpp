// libcuda for tests without a GPU: memory is the host's, streams run their work as late as they may, and kernels are
// those that nvrtc.cpp made. EMULATED_ARCHITECTURE (90) and EMULATED_PROCESSORS (132) describe the GPU; EMULATOR_SEED
// decides the order in which threads and streams run. EMULATED_DEVICES (1) is the number of GPUs, which access each
// other's memory unless EMULATED_PEERS is 0. With EMULATOR_TRAFFIC it prints the memory traffic of each launch.
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "bench/stub_driver.hpp"
#include "grid.hpp"
#include "image.hpp"
#include "streams.hpp"

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

int architecture() { return static_cast<int>(number_from("EMULATED_ARCHITECTURE", 90)); }

/// Bytes that a block may ask for (CUDA C++ Programming Guide, technical specifications per compute capability).
unsigned most_shared(int of) {
    constexpr unsigned kibibyte = 1024;
    if (of < 80) return 64 * kibibyte;
    if (of == 86 || of == 89 || of >= 120) return 99 * kibibyte;
    return (of < 90 ? 163 : 227) * kibibyte;
}

std::uint64_t seed() {
    static const std::uint64_t value = number_from("EMULATOR_SEED", 1);
    return value;
}

emulator::streams& all_streams() {
    static emulator::streams& all = *new emulator::streams(seed());
    return all;
}

emulator::device_memory& memory() {
    static emulator::device_memory& all = *new emulator::device_memory;  // arrays may outlive main
    return all;
}

// ---- Streams.

/// CUDA's names of the default streams are no addresses: null and 1 are the legacy one, 2 is the calling thread's.
emulator::stream* stream_of(CUstream s) {
    if (s == nullptr || s == CU_STREAM_LEGACY) return nullptr;
    if (s != CU_STREAM_PER_THREAD) return as<emulator::stream*>(s);
    static thread_local emulator::stream* const own = all_streams().make();
    return own;
}
bool is_alive(CUstream s) {
    const emulator::stream* const known = stream_of(s);
    return known == nullptr || !known->is_destroyed;
}

// ---- GPUs, all alike.

constexpr int most_devices = 8;
int device_count() {
    static const int count = std::min(static_cast<int>(number_from("EMULATED_DEVICES", 1)), most_devices);
    return count;
}
char primary_contexts[most_devices];
thread_local CUcontext current_context = as<CUcontext>(&primary_contexts[0]);

/// For a context that a test made, the first GPU.
int number_of(CUcontext c) {
    const auto n = as<char*>(c) - primary_contexts;
    return n >= 0 && n < most_devices ? static_cast<int>(n) : 0;
}
int current_device() { return number_of(current_context); }

/// Bit mask, for each GPU, of the GPUs whose memory its kernels can access.
std::atomic<unsigned> reached_by[most_devices] = {1, 2, 4, 8, 16, 32, 64, 128};
bool may_reach(int from, int to) { return from != to && number_from("EMULATED_PEERS", 1) != 0; }

CUresult check_device(CUdevice d) { return d >= 0 && d < device_count() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE; }

bool is_recording(CUstream s) {
    const emulator::stream* const known = stream_of(s);
    return known != nullptr && known->recording != nullptr;
}

/// A call on a stream: returns the driver's error for a destroyed one.
template <class F>
CUresult on_stream(CUstream s, F f) {
    if (!is_alive(s)) return CUDA_ERROR_INVALID_HANDLE;
    return f(stream_of(s)), CUDA_SUCCESS;
}
/// A call that cannot be recorded: also returns the error for a stream that records.
template <class F>
CUresult now_on_stream(CUstream s, F f) {
    return is_recording(s) ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : on_stream(s, f);
}

// ---- Kernels.

struct loaded_library {
    void* object = nullptr;
    std::vector<emulator::shared_array> arrays;
    std::mutex mutex;
    std::map<std::string, emulator::kernel_entry> kernels;  // under the mutex; one that is there changes no more
};

/// The arrays in the .bss of a shared object, from its image: kernels have their shared memory there.
std::vector<emulator::shared_array> shared_arrays_of(std::string_view object) {
    constexpr std::size_t least_dynamic = std::size_t{227} << 10;  // as device.hpp declares it, minus a part
    const auto at = [&](std::uint64_t offset) { return object.data() + offset; };
    const auto* const header = reinterpret_cast<const Elf64_Ehdr*>(object.data());
    const auto* const sections = reinterpret_cast<const Elf64_Shdr*>(at(header->e_shoff));
    const char* const names = at(sections[header->e_shstrndx].sh_offset);
    std::vector<emulator::shared_array> arrays;
    for (std::size_t s = 0; s < header->e_shnum; ++s) {
        if (sections[s].sh_type != SHT_SYMTAB) continue;
        const auto* const symbols = reinterpret_cast<const Elf64_Sym*>(at(sections[s].sh_offset));
        for (std::size_t i = 0; i < sections[s].sh_size / sizeof(Elf64_Sym); ++i) {
            const Elf64_Sym& symbol = symbols[i];
            if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx >= header->e_shnum) continue;
            const Elf64_Shdr& in = sections[symbol.st_shndx];
            if (std::strcmp(names + in.sh_name, ".bss") != 0) continue;
            const std::size_t begin = symbol.st_value;
            arrays.push_back({begin, begin + symbol.st_size, symbol.st_size > least_dynamic - 16});
        }
    }
    std::ranges::sort(arrays, {}, &emulator::shared_array::begin);
    return arrays;
}

loaded_library* load(const void* image) {
    const std::string_view bytes = emulator::unpack_image(image);
    if (bytes.empty()) return nullptr;
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
    if (object == nullptr) return nullptr;
    auto* const library = new loaded_library;
    library->object = object;
    library->arrays = shared_arrays_of(bytes);
    return library;
}

emulator::kernel_entry* find(loaded_library& library, const char* name) {
    const std::lock_guard lock(library.mutex);
    if (const auto known = library.kernels.find(name); known != library.kernels.end()) return &known->second;
    const auto symbol = [&](const std::string& of) { return dlsym(library.object, of.c_str()); };
    void* const run = symbol("emulated_" + std::string(name));
    if (run == nullptr) return nullptr;
    const auto shared = as<char* (*)(bool)>(symbol("emulated_shared"));
    emulator::kernel_entry& k = library.kernels[name];
    k.name = name;
    k.source = as<const char*>(symbol("emulated_source"));
    k.sizes = as<const std::size_t* (*)()>(symbol("emulated_sizes_" + std::string(name)))();
    k.run = as<void (*)(void**)>(run);
    k.to_machine = as<emulator::machine**>(symbol("emulated_machine"));
    k.shared = shared(false);
    k.shared_bytes = static_cast<std::size_t>(shared(true) - shared(false));
    Dl_info where{};
    dladdr(run, &where);
    k.image = static_cast<const char*>(where.dli_fbase);
    const auto before_shared = static_cast<std::size_t>(k.shared - k.image);
    for (const emulator::shared_array& a : library.arrays)
        k.arrays.push_back({a.begin - before_shared, a.end - before_shared, a.dynamic});
    return &k;
}

/// A launch takes its arguments along.
class kept_arguments {
public:
    kept_arguments(const emulator::kernel_entry& kernel, void** arguments) {
        for (std::size_t i = 0; i < kernel.sizes[0]; ++i) {
            constexpr std::size_t unit = sizeof(aligned_bytes);
            const std::size_t bytes = kernel.sizes[i + 1];
            std::memcpy(values_.emplace_back((bytes + unit - 1) / unit).data(), arguments[i], bytes);
        }
    }
    void** pointers() {
        pointers_.clear();
        for (auto& value : values_) pointers_.push_back(value.data());
        return pointers_.data();
    }

private:
    struct alignas(64) aligned_bytes {
        char bytes[64];
    };
    std::vector<std::vector<aligned_bytes>> values_;
    std::vector<void*> pointers_;
};

int device_of(CUstream s) {
    const emulator::stream* const known = stream_of(s);
    return known != nullptr && known->context != nullptr ? number_of(as<CUcontext>(const_cast<void*>(known->context)))
                                                         : current_device();
}

CUresult launch(CUfunction function, emulator::launch_shape shape, unsigned shared_bytes, CUstream in,
                void** arguments) {
    if (shape.grid.x % shape.cluster != 0 || shape.threads.x * shape.threads.y * shape.threads.z > 1024 ||
        shape.grid.x == 0 || shape.grid.y == 0 || shape.grid.z == 0 || shape.grid.y > 65535 || shape.grid.z > 65535 ||
        shared_bytes > most_shared(architecture()))
        return CUDA_ERROR_INVALID_VALUE;
    const auto& kernel = *as<const emulator::kernel_entry*>(function);
    const bool asked = kernel.most_dynamic != 0;
    if (shared_bytes > (asked ? kernel.most_dynamic : emulator::usual_shared)) return CUDA_ERROR_INVALID_VALUE;
    shape.dynamic_shared = shared_bytes;
    shape.most_shared = asked ? most_shared(architecture()) : emulator::usual_shared;
    if (!is_alive(in)) return CUDA_ERROR_INVALID_HANDLE;
    static std::atomic<std::uint64_t> launches{0};
    all_streams().add(stream_of(in), [&kernel, shape, kept = kept_arguments(kernel, arguments), number = ++launches,
                                      reached = reached_by[device_of(in)].load()]() mutable {
        emulator::device_memory::reached = reached;
        emulator::run_grid(kernel, shape, kept.pointers(), memory(), {seed(), number});
        emulator::device_memory::reached = ~0u;
    });
    return CUDA_SUCCESS;
}

// ---- Memory that other processes open: its pages become those of a file, and the handle names its descriptor.

constexpr std::size_t page = 4096;
struct shared_pages {
    int file;
    std::size_t bytes;
};
std::map<void*, shared_pages>& all_shared() {
    static auto& shared = *new std::map<void*, shared_pages>;
    return shared;
}
std::mutex& shared_mutex() {
    static auto& mutex = *new std::mutex;
    return mutex;
}

void unshare(void* data) {
    const std::lock_guard lock(shared_mutex());
    const auto found = all_shared().find(data);
    if (found == all_shared().end()) return;
    mmap(data, found->second.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    close(found->second.file);
    all_shared().erase(found);
}

/// The descriptor of the file; -1 where there is none.
int share(void* data, std::size_t bytes) {
    const std::lock_guard lock(shared_mutex());
    if (const auto known = all_shared().find(data); known != all_shared().end()) return known->second.file;
    if (bytes < page) return -1;
    const std::size_t whole = (bytes + page - 1) / page * page;
    const int file = memfd_create("emulated memory", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(whole)) != 0) return -1;
    void* const copy = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (copy == MAP_FAILED) return -1;
    std::memcpy(copy, data, bytes);
    munmap(copy, whole);
    if (mmap(data, whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED) return -1;
    all_shared()[data] = {file, whole};
    return file;
}

struct memory_handle {
    pid_t process;
    int file;
    std::size_t bytes;
};

void put_sharing(ingot::runtime::driver_api& api) {
    api.cuIpcGetMemHandle = [](CUipcMemHandle* handle, CUdeviceptr p) {
        all_streams().finish_all();
        const auto found = memory().around(as<const void*>(p));
        const std::size_t bytes = found.end - found.begin;
        const memory_handle made{getpid(), share(as<void*>(found.begin), bytes), bytes};
        if (made.file < 0) return CUDA_ERROR_INVALID_VALUE;
        *handle = {};
        std::memcpy(handle->reserved, &made, sizeof made);
        return CUDA_SUCCESS;
    };
    api.cuIpcOpenMemHandle = [](CUdeviceptr* base, CUipcMemHandle handle, unsigned) {
        memory_handle given;
        std::memcpy(&given, handle.reserved, sizeof given);
        if (given.process == getpid()) return CUDA_ERROR_INVALID_CONTEXT;
        const std::string path = "/proc/" + std::to_string(given.process) + "/fd/" + std::to_string(given.file);
        const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
        if (file < 0) return CUDA_ERROR_INVALID_VALUE;
        const std::size_t whole = (given.bytes + page - 1) / page * page;
        void* const data = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        close(file);
        if (data == MAP_FAILED) return CUDA_ERROR_MAP_FAILED;
        memory().add(data, given.bytes, current_device());
        return *base = as<CUdeviceptr>(data), CUDA_SUCCESS;
    };
    api.cuIpcCloseMemHandle = [](CUdeviceptr base) {
        all_streams().finish_all();
        const std::size_t bytes = memory().remove(as<const void*>(base));
        if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
        return munmap(as<void*>(base), (bytes + page - 1) / page * page), CUDA_SUCCESS;
    };
    api.cuIpcGetEventHandle = [](CUipcEventHandle* handle, CUevent e) {
        *handle = {};
        return as<emulator::event*>(e)->is_shared ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    };
    api.cuIpcOpenEventHandle = [](CUevent* made, CUipcEventHandle) {
        auto* const e = new emulator::event;
        e->is_shared = true;
        return *made = as<CUevent>(e), CUDA_SUCCESS;
    };
}

void put_devices(ingot::runtime::driver_api& api) {
    api.cuDeviceGetCount = [](int* count) { return *count = device_count(), CUDA_SUCCESS; };
    api.cuDeviceGet = [](CUdevice* d, int ordinal) { return *d = ordinal, check_device(ordinal); };
    api.cuCtxGetDevice = [](CUdevice* d) { return *d = current_device(), CUDA_SUCCESS; };
    api.cuDeviceGetUuid = [](CUuuid* id, CUdevice d) {
        *id = {};
        std::memcpy(id->bytes, "emulated GPU", 12);
        id->bytes[15] = static_cast<char>(d);
        return check_device(d);
    };
    api.cuDeviceCanAccessPeer = [](int* can, CUdevice from, CUdevice to) {
        *can = may_reach(from, to);
        return check_device(from) == CUDA_SUCCESS ? check_device(to) : check_device(from);
    };
    api.cuCtxEnablePeerAccess = [](CUcontext other, unsigned) {
        if (!may_reach(current_device(), number_of(other))) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
        const unsigned bit = 1u << number_of(other);
        const bool is_enabled = (reached_by[current_device()].fetch_or(bit) & bit) != 0;
        return is_enabled ? CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED : CUDA_SUCCESS;
    };
    api.cuDevicePrimaryCtxRetain = [](CUcontext* context, CUdevice d) {
        return *context = as<CUcontext>(&primary_contexts[d]), check_device(d);
    };
}

// ---- The table.

void put_memory(ingot::runtime::driver_api& api) {
    static constexpr auto allocate = [](std::size_t bytes, int gpu) -> void* {
        // Memory beyond an allocation belongs to nobody; large allocations are whole pages, which can be shared.
        const std::size_t apart = bytes < page ? 512 : page;
        if (bytes > most_memory || memory().in_use() + bytes > most_memory) return nullptr;
        void* const data = std::aligned_alloc(apart, (bytes + 2 * apart - 1) / apart * apart);
        if (data == nullptr) return nullptr;
        memory().add(data, bytes, gpu);
        return std::memset(data, junk, bytes);
    };
    static constexpr auto release = [](void* data) {
        unshare(data);
        if (memory().remove(data) != 0) std::free(data);
    };
    api.cuMemGetInfo = [](std::size_t* free, std::size_t* total) {
        return *total = most_memory, *free = most_memory - memory().in_use(), CUDA_SUCCESS;
    };
    api.cuMemAlloc = [](CUdeviceptr* data, std::size_t bytes) {
        *data = as<CUdeviceptr>(allocate(bytes, current_device()));
        return *data != 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    };
    api.cuMemFree = [](CUdeviceptr data) {
        all_streams().finish_all();
        return release(as<void*>(data)), CUDA_SUCCESS;
    };
    api.cuMemHostAlloc = [](void** data, std::size_t bytes, unsigned) {
        *data = allocate(bytes, -1);
        return *data != nullptr ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    };
    api.cuMemFreeHost = [](void* data) {
        all_streams().finish_all();
        return release(data), CUDA_SUCCESS;
    };
    // Memory that is not pinned is read at once, and written before the call returns.
    static constexpr auto is_pinned = [](const void* p) { return memory().around(p).holds(p, 1); };
    static constexpr auto copy = [](void* to, const void* from, std::size_t bytes, CUstream in) {
        if (!is_alive(in)) return CUDA_ERROR_INVALID_HANDLE;
        all_streams().add(stream_of(in), [=] { std::memmove(to, from, bytes); });
        return CUDA_SUCCESS;
    };
    api.cuPointerGetAttribute = [](void* value, CUpointer_attribute asked, CUdeviceptr p) {
        if (!is_pinned(as<const void*>(p))) return CUDA_ERROR_INVALID_VALUE;
        const int gpu = std::max(memory().gpu_of(as<const void*>(p)), 0);
        const bool is_host = memory().gpu_of(as<const void*>(p)) < 0;
        if (asked == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) return *static_cast<int*>(value) = gpu, CUDA_SUCCESS;
        if (asked == CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
            return *static_cast<unsigned*>(value) = is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE, CUDA_SUCCESS;
        if (asked == CU_POINTER_ATTRIBUTE_IS_MANAGED) return *static_cast<unsigned*>(value) = 0, CUDA_SUCCESS;
        return *static_cast<CUcontext*>(value) = as<CUcontext>(&primary_contexts[gpu]), CUDA_SUCCESS;
    };
    // For an unknown pointer the driver returns nothing, and no error.
    api.cuPointerGetAttributes = [](unsigned count, CUpointer_attribute* asked, void** values, CUdeviceptr p) {
        const auto* const data = as<const void*>(p);
        const int gpu = is_pinned(data) ? memory().gpu_of(data) : -1;
        const auto range = memory().around(data);
        for (unsigned i = 0; i < count; ++i)
            if (asked[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
                *static_cast<unsigned*>(values[i]) = !is_pinned(data) ? 0u
                                                     : gpu < 0        ? unsigned{CU_MEMORYTYPE_HOST}
                                                                      : unsigned{CU_MEMORYTYPE_DEVICE};
            else if (asked[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
                *static_cast<int*>(values[i]) = is_pinned(data) ? std::max(gpu, 0) : -2;
            else if (asked[i] == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR)
                *static_cast<CUdeviceptr*>(values[i]) = range.begin;
            else if (asked[i] == CU_POINTER_ATTRIBUTE_RANGE_SIZE)
                *static_cast<std::size_t*>(values[i]) = range.end - range.begin;
            else
                return CUDA_ERROR_NOT_SUPPORTED;
        return CUDA_SUCCESS;
    };
    api.cuMemcpyHtoDAsync = [](CUdeviceptr to, const void* from, std::size_t bytes, CUstream in) {
        if (is_pinned(from)) return copy(as<void*>(to), from, bytes, in);
        if (!is_alive(in)) return CUDA_ERROR_INVALID_HANDLE;
        const auto* const first = static_cast<const char*>(from);
        all_streams().add(stream_of(in), [to, kept = std::vector<char>(first, first + bytes)] {
            std::memcpy(as<void*>(to), kept.data(), kept.size());
        });
        return CUDA_SUCCESS;
    };
    api.cuMemcpyDtoHAsync = [](void* to, CUdeviceptr from, std::size_t bytes, CUstream in) {
        if (is_recording(in) && !is_pinned(to)) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        if (const CUresult failed = copy(to, as<const void*>(from), bytes, in); failed != CUDA_SUCCESS) return failed;
        if (!is_pinned(to)) all_streams().finish(stream_of(in));
        return CUDA_SUCCESS;
    };
    api.cuMemcpyDtoDAsync = [](CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream in) {
        return copy(as<void*>(to), as<const void*>(from), bytes, in);
    };
    api.cuMemcpyPeerAsync = [](CUdeviceptr to, CUcontext of_to, CUdeviceptr from, CUcontext of_from, std::size_t bytes,
                               CUstream in) {
        if (memory().gpu_of(as<const void*>(to)) != number_of(of_to) ||
            memory().gpu_of(as<const void*>(from)) != number_of(of_from))
            return CUDA_ERROR_INVALID_VALUE;
        return copy(as<void*>(to), as<const void*>(from), bytes, in);
    };
    api.cuMemGetAddressRange = [](CUdeviceptr* base, std::size_t* bytes, CUdeviceptr p) {
        const auto found = memory().around(as<const void*>(p));
        *base = found.begin;
        *bytes = found.end - found.begin;
        return found.end != 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
    };
    api.cuMemsetD8Async = [](CUdeviceptr to, unsigned char value, std::size_t bytes, CUstream in) {
        all_streams().add(stream_of(in), [=] { std::memset(as<void*>(to), value, bytes); });
        return CUDA_SUCCESS;
    };
    api.cuMemsetD32Async = [](CUdeviceptr to, unsigned value, std::size_t words, CUstream in) {
        all_streams().add(stream_of(in), [=] { std::fill_n(as<unsigned*>(to), words, value); });
        return CUDA_SUCCESS;
    };
}

void put_kernels(ingot::runtime::driver_api& api) {
    api.cuLibraryLoadData = [](CUlibrary* library, const void* image, CUjit_option*, void**, unsigned, CUlibraryOption*,
                               void**, unsigned) {
        if (!emulator::is_image(image)) return CUDA_ERROR_INVALID_IMAGE;  // a cubin
        *library = as<CUlibrary>(load(image));
        return *library != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
    };
    api.cuLibraryGetKernel = [](CUkernel* kernel, CUlibrary library, const char* name) {
        *kernel = as<CUkernel>(find(*as<loaded_library*>(library), name));
        return *kernel != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
    };
    api.cuLibraryGetGlobal = [](CUdeviceptr* data, std::size_t* bytes, CUlibrary library, const char* name) {
        auto& in = *as<loaded_library*>(library);
        void* const found = dlsym(in.object, name);
        Dl_info info{};
        void* symbol = nullptr;
        if (found == nullptr || dladdr1(found, &info, &symbol, RTLD_DL_SYMENT) == 0 || symbol == nullptr)
            return CUDA_ERROR_NOT_FOUND;
        *bytes = static_cast<const Elf64_Sym*>(symbol)->st_size;
        *data = as<CUdeviceptr>(found);
        if (!memory().around(found).holds(found, 1)) memory().add(found, *bytes);
        return CUDA_SUCCESS;
    };
    api.cuKernelGetParamInfo = [](CUkernel kernel, std::size_t i, std::size_t* offset, std::size_t* bytes) {
        const auto& k = *as<emulator::kernel_entry*>(kernel);
        if (i >= k.sizes[0]) return CUDA_ERROR_INVALID_VALUE;
        return *offset = 8 * i, *bytes = k.sizes[i + 1], CUDA_SUCCESS;
    };
    api.cuFuncGetAttribute = [](int* value, CUfunction_attribute which, CUfunction function) {
        const auto& k = *as<emulator::kernel_entry*>(function);
        std::size_t declared = 0;
        for (const emulator::shared_array& a : k.arrays) declared += a.dynamic ? 0 : a.end - a.begin;
        *value = which == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024
                 : which == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES   ? static_cast<int>(declared)
                 : which == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
                     ? static_cast<int>(k.most_dynamic != 0 ? k.most_dynamic : emulator::usual_shared)
                 : which == CU_FUNC_ATTRIBUTE_BINARY_VERSION ? architecture()
                                                             : 0;
        return CUDA_SUCCESS;
    };
    api.cuKernelGetFunction = [](CUfunction* function, CUkernel kernel) {
        return *function = as<CUfunction>(kernel), CUDA_SUCCESS;
    };
    static constexpr auto set = [](emulator::kernel_entry& kernel, CUfunction_attribute attribute, int value) {
        if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) return CUDA_SUCCESS;
        if (static_cast<unsigned>(value) > most_shared(architecture())) return CUDA_ERROR_INVALID_VALUE;
        kernel.most_dynamic = static_cast<std::size_t>(value);
        return CUDA_SUCCESS;
    };
    api.cuKernelSetAttribute = [](CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice) {
        return set(*as<emulator::kernel_entry*>(kernel), attribute, value);
    };
    api.cuFuncSetAttribute = [](CUfunction function, CUfunction_attribute attribute, int value) {
        return set(*as<emulator::kernel_entry*>(function), attribute, value);
    };
    api.cuLaunchKernel = [](CUfunction function, unsigned x, unsigned y, unsigned z, unsigned threads_x,
                            unsigned threads_y, unsigned threads_z, unsigned shared, CUstream in, void** arguments,
                            void**) {
        return launch(function, {{x, y, z}, {threads_x, threads_y, threads_z}, 1}, shared, in, arguments);
    };
    api.cuLaunchKernelEx = [](const CUlaunchConfig* c, CUfunction function, void** arguments, void**) {
        emulator::launch_shape shape{
            {c->gridDimX, c->gridDimY, c->gridDimZ}, {c->blockDimX, c->blockDimY, c->blockDimZ}, 1};
        for (unsigned i = 0; i < c->numAttrs; ++i)
            if (c->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) shape.cluster = c->attrs[i].value.clusterDim.x;
        return launch(function, shape, c->sharedMemBytes, c->hStream, arguments);
    };
}

void put_streams(ingot::runtime::driver_api& api) {
    api.cuCtxGetCurrent = [](CUcontext* context) { return *context = current_context, CUDA_SUCCESS; };
    api.cuCtxSetCurrent = [](CUcontext context) { return current_context = context, CUDA_SUCCESS; };
    api.cuStreamCreate = [](CUstream* made, unsigned flags) {
        emulator::stream* const s = all_streams().make((flags & CU_STREAM_NON_BLOCKING) == 0);
        s->context = current_context;
        return *made = as<CUstream>(s), CUDA_SUCCESS;
    };
    api.cuStreamDestroy = [](CUstream s) {
        return on_stream(s, [](emulator::stream* ended) { ended->is_destroyed = true; });
    };
    api.cuStreamGetCtx = [](CUstream s, CUcontext* context) {
        return on_stream(s, [&](const emulator::stream* known) {
            *context = known != nullptr && known->context != nullptr ? as<CUcontext>(const_cast<void*>(known->context))
                                                                     : current_context;
        });
    };
    api.cuStreamGetId = [](CUstream s, unsigned long long* id) {
        return on_stream(s, [&](const emulator::stream* known) { *id = known != nullptr ? known->number : 1; });
    };
    api.cuStreamSynchronize = [](CUstream s) {
        return now_on_stream(s, [](emulator::stream* known) { all_streams().finish(known); });
    };
    api.cuStreamQuery = [](CUstream s) {
        if (!is_alive(s)) return CUDA_ERROR_INVALID_HANDLE;
        if (is_recording(s)) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        return all_streams().is_done(stream_of(s)) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
    };
    api.cuStreamWaitEvent = [](CUstream s, CUevent e, unsigned) {
        if (is_recording(s)) return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;  // the event is not part of the recording
        return on_stream(s, [&](emulator::stream* known) { all_streams().wait(known, as<emulator::event*>(e)); });
    };
    api.cuEventCreate = [](CUevent* made, unsigned flags) {
        auto* const e = new emulator::event;
        e->is_shared = (flags & CU_EVENT_INTERPROCESS) != 0;
        return *made = as<CUevent>(e), CUDA_SUCCESS;
    };
    api.cuEventRecord = [](CUevent e, CUstream s) {
        return now_on_stream(s, [&](emulator::stream* known) {
            all_streams().record(as<emulator::event*>(e), known);
            if (as<emulator::event*>(e)->is_shared) all_streams().finish(known);
        });
    };
    api.cuEventQuery = [](CUevent e) {
        return all_streams().is_done(as<emulator::event*>(e)) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
    };
    api.cuEventSynchronize = [](CUevent e) { return all_streams().finish(as<emulator::event*>(e)), CUDA_SUCCESS; };
    api.cuEventElapsedTime = [](float* milliseconds, CUevent from, CUevent to) {
        const std::chrono::duration<float, std::milli> passed =
            as<emulator::event*>(to)->time - as<emulator::event*>(from)->time;
        return *milliseconds = passed.count(), CUDA_SUCCESS;
    };
    api.cuLaunchHostFunc = [](CUstream s, CUhostFn function, void* argument) {
        return on_stream(s, [&](emulator::stream* known) { all_streams().add(known, [=] { function(argument); }); });
    };
}

void put_graphs(ingot::runtime::driver_api& api) {
    api.cuStreamBeginCapture = [](CUstream s, CUstreamCaptureMode) {
        return now_on_stream(s, [](emulator::stream* known) { known->recording = new emulator::graph; });
    };
    api.cuStreamBeginCaptureToGraph = [](CUstream s, CUgraph g, const CUgraphNode*, const CUgraphEdgeData*, std::size_t,
                                         CUstreamCaptureMode) {
        return now_on_stream(s, [&](emulator::stream* known) { known->recording = as<emulator::graph*>(g); });
    };
    api.cuStreamEndCapture = [](CUstream s, CUgraph* g) {
        if (!is_recording(s)) return CUDA_ERROR_ILLEGAL_STATE;
        return *g = as<CUgraph>(std::exchange(stream_of(s)->recording, nullptr)), CUDA_SUCCESS;
    };
    api.cuStreamGetCaptureInfo = [](CUstream s, CUstreamCaptureStatus* status, cuuint64_t*, CUgraph* g,
                                    const CUgraphNode** nodes, std::size_t* count) {
        *status = is_recording(s) ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
        return *g = as<CUgraph>(stream_of(s)->recording), *nodes = nullptr, *count = 0, CUDA_SUCCESS;
    };
    api.cuStreamUpdateCaptureDependencies = [](CUstream, CUgraphNode*, std::size_t, unsigned) { return CUDA_SUCCESS; };
    api.cuGraphConditionalHandleCreate = [](CUgraphConditionalHandle* handle, CUgraph, CUcontext, unsigned value,
                                            unsigned) {
        return *handle = as<CUgraphConditionalHandle>(new unsigned(value)), CUDA_SUCCESS;  // a graph owns it
    };
    api.cuGraphAddNode = [](CUgraphNode* node, CUgraph g, const CUgraphNode*, const CUgraphEdgeData*, std::size_t,
                            CUgraphNodeParams* of) {
        if (of->type != CU_GRAPH_NODE_TYPE_CONDITIONAL || of->conditional.type != CU_GRAPH_COND_TYPE_WHILE)
            return CUDA_ERROR_NOT_SUPPORTED;
        const auto* const condition = as<const unsigned*>(of->conditional.handle);
        auto* const body = new emulator::graph;
        of->conditional.phGraph_out = new CUgraph(as<CUgraph>(body));
        as<emulator::graph*>(g)->steps.emplace_back([=] {
            while (*condition != 0) body->run();
        });
        return *node = as<CUgraphNode>(body), CUDA_SUCCESS;
    };
    api.cuGraphInstantiateWithFlags = [](CUgraphExec* made, CUgraph g, unsigned long long) {
        return *made = as<CUgraphExec>(g), CUDA_SUCCESS;
    };
    api.cuGraphLaunch = [](CUgraphExec g, CUstream s) {
        return now_on_stream(s, [&](emulator::stream* known) {
            all_streams().add(known, [recorded = as<emulator::graph*>(g)] { recorded->run(); });
        });
    };
    api.cuGraphExecDestroy = [](CUgraphExec) { return CUDA_SUCCESS; };
    api.cuGraphDestroy = [](CUgraph g) { return delete as<emulator::graph*>(g), CUDA_SUCCESS; };
}

const ingot::runtime::driver_api& table() {
    static const ingot::runtime::driver_api made = [] {
        ingot::runtime::driver_api api = bench::stub_driver();
        put_memory(api);
        put_kernels(api);
        put_streams(api);
        put_graphs(api);
        put_devices(api);
        put_sharing(api);
        bench::claimed_gpu = {"emulated", architecture(), static_cast<int>(number_from("EMULATED_PROCESSORS", 132)),
                              number_from("EMULATED_PAGEABLE", 0) != 0};
        return api;
    }();
    return made;
}

}  // namespace

extern "C" CUresult cuGetProcAddress_v2(const char* name, void** function, int, cuuint64_t,
                                        CUdriverProcAddressQueryResult*) {
#define INGOT_DRIVER_ENTRY(entry, version) \
    if (std::strcmp(name, #entry) == 0) return *function = as<void*>(table().entry), CUDA_SUCCESS;
#include "runtime/device/driver_entries.inc"
    return CUDA_ERROR_NOT_FOUND;
}
