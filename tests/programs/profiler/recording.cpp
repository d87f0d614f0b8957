// A profiler as far as NVTX is concerned: prints the ranges of a process on its standard output, an indented line each,
// with the domain's name before each. By NVTX's own headers where they are, and else by the same layouts.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

#if __has_include(<nvtx3/nvToolsExt.h>)
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#else
struct nvtxEventAttributes_t {
    std::uint16_t version, size;
    std::uint32_t category;
    std::int32_t colorType;
    std::uint32_t color;
    std::int32_t payloadType, reserved0;
    std::uint64_t payload;
    std::int32_t messageType;
    union {
        const char* ascii;
    } message;
};
using NvtxFunctionPointer = void (*)();
using NvtxFunctionTable = NvtxFunctionPointer**;
enum NvtxCallbackModule { NVTX_CB_MODULE_CORE = 1, NVTX_CB_MODULE_CUDA = 2, NVTX_CB_MODULE_CORE2 = 5 };
enum {
    NVTX_VERSION = 3,
    NVTX_MESSAGE_TYPE_ASCII = 1,
    NVTX_ETID_CALLBACKS = 1,
    NVTX_ETID_VERSIONINFO = 3,
    NVTX_CBID_CORE_SIZE = 16,
    NVTX_CBID_CORE2_DomainRangePushEx = 4,
    NVTX_CBID_CORE2_DomainRangePop = 5,
    NVTX_CBID_CORE2_DomainCreateA = 12,
    NVTX_CBID_CORE2_SIZE = 16,
};
struct NvtxExportTableCallbacks {
    std::size_t struct_size;
    int (*GetModuleFunctionTable)(NvtxCallbackModule, NvtxFunctionTable*, unsigned*);
};
struct NvtxExportTableVersionInfo {
    std::size_t struct_size;
    std::uint32_t version, reserved0;
    void (*SetInjectionNvtxVersion)(std::uint32_t);
};
using NvtxGetExportTableFunc_t = const void* (*)(std::uint32_t);
#endif

namespace {

std::string domain_name;
thread_local int depth = 0;

void* create(const char* name) {
    domain_name = name;
    return &domain_name;
}

int push(void* domain, const void* given) {
    const auto& attributes = *static_cast<const nvtxEventAttributes_t*>(given);
    const bool whole = attributes.version == NVTX_VERSION && attributes.size == sizeof(nvtxEventAttributes_t) &&
                       static_cast<int>(attributes.messageType) == NVTX_MESSAGE_TYPE_ASCII;
    std::printf("%*s%s: %s\n", 2 * depth, "", static_cast<std::string*>(domain)->c_str(),
                whole ? attributes.message.ascii : "attributes of another layout");
    return depth++;
}

int pop(void*) { return --depth; }

/// Puts a function in its place, where the table has one.
template <class F>
bool put(NvtxFunctionTable table, unsigned size, unsigned number, F* function) {
    if (number >= size || table[number] == nullptr) return false;
    *table[number] = reinterpret_cast<NvtxFunctionPointer>(function);
    return true;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t tables) {
    const auto* version =
        static_cast<const NvtxExportTableVersionInfo*>(tables(static_cast<std::uint32_t>(NVTX_ETID_VERSIONINFO)));
    if (version == nullptr || version->struct_size < sizeof *version || version->version < 2) return 0;
    version->SetInjectionNvtxVersion(NVTX_VERSION);
    const auto* functions =
        static_cast<const NvtxExportTableCallbacks*>(tables(static_cast<std::uint32_t>(NVTX_ETID_CALLBACKS)));
    if (functions == nullptr || functions->struct_size < sizeof *functions) return 0;
    NvtxFunctionTable table = nullptr;
    unsigned size = 0;
    if (functions->GetModuleFunctionTable(NVTX_CB_MODULE_CUDA, &table, &size) != 0)
        return 0;  // Ingot names nothing there
    if (functions->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) == 0 || size != NVTX_CBID_CORE_SIZE ||
        table[0] != nullptr || table[size - 1] == nullptr || table[size] != nullptr)
        return 0;
    if (functions->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0 || size != NVTX_CBID_CORE2_SIZE ||
        table[size] != nullptr)
        return 0;
    return put(table, size, NVTX_CBID_CORE2_DomainCreateA, create) &&
           put(table, size, NVTX_CBID_CORE2_DomainRangePushEx, push) &&
           put(table, size, NVTX_CBID_CORE2_DomainRangePop, pop);
}
