// A kernel reports an error into a record, which keeps the first of a stream.

//// error_record
/// The first error on a stream that has not been thrown yet.
struct error_record {
    unsigned long long statement;
    unsigned int kind;
    int axis;
    long long index, extent;
};

//// report_error needs error_record
__device__ __noinline__ void report_error(error_record* record, unsigned long long statement, unsigned int kind, int axis,
                  long long index, long long extent) {
    if (atomicCAS(&record->statement, 0ull, statement) != 0) return;
    record->axis = axis;
    record->index = index;
    record->extent = extent;
    __threadfence_system();
    *(volatile unsigned int*)&record->kind = kind;
}

//// host_report_error needs error_record
static void report_error(error_record* record, unsigned long long statement, unsigned int kind, int axis,
                  long long index, long long extent) {
    unsigned long long none = 0;
    if (!__atomic_compare_exchange_n(&record->statement, &none, statement, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
        return;
    record->axis = axis;
    record->index = index;
    record->extent = extent;
    __atomic_store_n(&record->kind, kind, __ATOMIC_RELEASE);
}
