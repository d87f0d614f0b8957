#include "runtime/device/driver.hpp"

#ifdef INGOT_HAS_CUDA_HEADERS

#include <atomic>
#include <ingot/core/error.hpp>
#include <memory>

#include "runtime/system/dynamic_library.hpp"

namespace ingot::runtime {

namespace {

/// Sets the entry to null where the driver has none.
template <typename Function>
void find(PFN_cuGetProcAddress_v12000 address_of, const char* name, int version, Function& function) {
    void* found = nullptr;
    CUdriverProcAddressQueryResult reason{};
    const CUresult status = address_of(name, &found, version, CU_GET_PROC_ADDRESS_LEGACY_STREAM, &reason);
    function = status == CUDA_SUCCESS ? reinterpret_cast<Function>(found) : nullptr;
}

template <typename Function>
void resolve(PFN_cuGetProcAddress_v12000 address_of, const char* name, int version, Function& function) {
    find(address_of, name, version, function);
    if (function == nullptr)
        throw library_error(std::string("the driver has no ") + name + " of version " + std::to_string(version));
}

const driver_api* open_driver() {
    dynamic_library library("libcuda.so.1");
    // This entry came with 12.0, the oldest supported driver.
    auto* const address_of = reinterpret_cast<PFN_cuGetProcAddress_v12000>(library.find("cuGetProcAddress_v2"));
    if (address_of == nullptr) throw library_error("the driver is older than 12.0");

    auto api = std::make_unique<driver_api>();
#define INGOT_DRIVER_ENTRY(name, version) resolve(address_of, #name, version, api->name);
#define INGOT_OPTIONAL_DRIVER_ENTRY(name, version) find(address_of, #name, version, api->name);
#include "runtime/device/driver_entries.inc"

    const auto start = [&](CUresult status, const char* call) {
        const char* text = nullptr;
        if (status == CUDA_SUCCESS) return;
        api->cuGetErrorName(status, &text);
        throw library_error(std::string(call) + ": " + (text != nullptr ? text : "unknown error"));
    };
    int devices = 0;
    start(api->cuInit(0), "cuInit");
    start(api->cuDeviceGetCount(&devices), "cuDeviceGetCount");
    if (devices == 0) throw library_error("no CUDA device");
    library.keep_loaded();
    return api.release();  // leaked on purpose, as the library is: arrays may outlive main
}

struct driver_state {
    std::atomic<const driver_api*> api{nullptr};
    std::string absence;

    driver_state() {
        try {
            api = open_driver();
        } catch (const error& reason) {
            absence = reason.what();
        }
    }
};

constinit std::atomic<driver_state*> known_state{nullptr};

driver_state& state() {
    static driver_state& opened = [&]() -> driver_state& {
        auto* const made = new driver_state;
        known_state.store(made, std::memory_order_release);
        return *made;
    }();
    return opened;
}

}  // namespace

const driver_api* driver() { return state().api.load(std::memory_order_acquire); }
const driver_api* opened_driver() noexcept {
    const driver_state* const known = known_state.load(std::memory_order_acquire);
    return known ? known->api.load(std::memory_order_acquire) : nullptr;
}
bool has_driver() { return driver() != nullptr; }
const std::string& why_no_driver() { return state().absence; }

const driver_api& need_driver(const char* doing) {
    const driver_api* const api = driver();
    if (api == nullptr) throw device_error("[" + std::string(doing) + "] there is no CUDA device: " + why_no_driver());
    return *api;
}

void throw_driver_error(CUresult status, const char* doing) {
    if (status == CUDA_ERROR_DEINITIALIZED)  // it has no names for errors by then
        throw device_error("[" + std::string(doing) +
                           "] the CUDA driver has shut down, as it does at a program's end: what static objects still "
                           "evaluate in their destructors has to be on the host by then");
    const char *name = nullptr, *meaning = nullptr;
    if (const driver_api* const api = driver()) {
        api->cuGetErrorName(status, &name);
        api->cuGetErrorString(status, &meaning);
    }
    std::string text = "[" + std::string(doing) + "] ";
    text += name != nullptr ? name : "CUDA error " + std::to_string(static_cast<int>(status));
    if (meaning != nullptr) text += std::string(": ") + meaning;
    if (status == CUDA_ERROR_OUT_OF_MEMORY) throw out_of_memory(text);
    throw device_error(text);
}

driver_replacement::driver_replacement(const driver_api& table) : replaced_(state().api.exchange(&table)) {}
driver_replacement::~driver_replacement() { state().api.store(replaced_); }

}  // namespace ingot::runtime

#else

namespace ingot::runtime {

bool has_driver() { return false; }

const std::string& why_no_driver() {
    static const std::string& reason = *new std::string("this Ingot was built without CUDA's headers");
    return reason;
}

}  // namespace ingot::runtime

#endif
