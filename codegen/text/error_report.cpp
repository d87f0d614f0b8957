#include "codegen/text/error_report.hpp"

namespace ingot::codegen {

std::string error_report_text(detail::target where) {
    const std::string record =
        "/// The first error on a stream that has not been thrown yet.\n"
        "struct error_record {\n"
        "    unsigned long long statement;\n"
        "    unsigned int kind;\n"
        "    int axis;\n"
        "    long long index, extent;\n"
        "};\n";
    const std::string parameters =
        "report_error(error_record* record, unsigned long long statement, unsigned int kind, int axis,\n"
        "                  long long index, long long extent) {\n";
    const std::string fields =
        "    record->axis = axis;\n"
        "    record->index = index;\n"
        "    record->extent = extent;\n";
    if (where == detail::target::cuda)
        return record + "__device__ __noinline__ void " + parameters +
               "    if (atomicCAS(&record->statement, 0ull, statement) != 0) return;\n" + fields +
               "    __threadfence_system();\n"
               "    *(volatile unsigned int*)&record->kind = kind;\n"
               "}\n";
    return record + "static void " + parameters +
           "    unsigned long long none = 0;\n"
           "    if (!__atomic_compare_exchange_n(&record->statement, &none, statement, false, __ATOMIC_ACQUIRE,\n"
           "                                     __ATOMIC_RELAXED))\n"
           "        return;\n" +
           fields +
           "    __atomic_store_n(&record->kind, kind, __ATOMIC_RELEASE);\n"
           "}\n";
}

}  // namespace ingot::codegen
