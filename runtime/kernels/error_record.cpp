#include "runtime/kernels/error_record.hpp"

#include <atomic>
#include <cstddef>
#include <new>
#include <optional>
#include <string>

#include <ingot/core/error.hpp>

#include "runtime/kernels/executable.hpp"

namespace ingot::runtime {

using codegen::error_record;
using codegen::report_kind;

// Kernels declare the struct in their text.
static_assert(sizeof(error_record) == 32 && offsetof(error_record, kind) == 8 && offsetof(error_record, axis) == 12 &&
              offsetof(error_record, index) == 16 && offsetof(error_record, extent) == 24);

error_record& error_record_of(stream_state& s) {
    if (error_record* const known = s.errors.load(std::memory_order_acquire)) return *known;
    const std::lock_guard lock(s.scratch_mutex);
    if (error_record* const known = s.errors.load(std::memory_order_relaxed)) return *known;
    void* const room = s.backend->allocate_pinned(sizeof(error_record));
    if (room == nullptr) throw out_of_memory("[evaluate] no pinned memory for the error record of a stream");
    error_record* const made = ::new (room) error_record{};
    s.errors.store(made, std::memory_order_release);
    return *made;
}

std::uint64_t statement_number(const executable& e) noexcept { return reinterpret_cast<std::uintptr_t>(&e); }

void report_error(error_record& record, std::uint64_t statement, report_kind kind, std::int32_t axis,
                  std::int64_t index, std::int64_t extent) noexcept {
    std::uint64_t none = 0;
    if (!std::atomic_ref(record.statement).compare_exchange_strong(none, statement, std::memory_order_acquire)) return;
    record.axis = axis;
    record.index = index;
    record.extent = extent;
    std::atomic_ref(record.kind).store(kind, std::memory_order_release);
}

namespace {

std::string operation(std::uint64_t statement) {
    if (statement == unknown_statement) return "[evaluate] ";
    return "[" + reinterpret_cast<const executable*>(static_cast<std::uintptr_t>(statement))->plan.expression + "] ";
}

/// Takes the record's content; of two threads only one gets it.
std::optional<error_record> take(error_record& record) noexcept {
    error_record taken{};
    taken.kind = std::atomic_ref(record.kind).exchange(report_kind::none, std::memory_order_acquire);
    if (taken.kind == report_kind::none) return {};
    taken.axis = record.axis;
    taken.index = record.index;
    taken.extent = record.extent;
    taken.statement = std::atomic_ref(record.statement).exchange(0, std::memory_order_acq_rel);
    return taken;
}

}  // namespace

void throw_recorded(error_record& record) {
    if (std::atomic_ref(record.kind).load(std::memory_order_relaxed) == report_kind::none) return;
    const std::optional<error_record> found = take(record);
    if (!found) return;
    const std::string of = operation(found->statement), index = std::to_string(found->index);
    switch (found->kind) {
        case report_kind::none:
            return;
        case report_kind::index:
            throw index_error(
                of + "index " + index + " is outside " +
                (found->axis < 0 ? "an axis of " : "axis " + std::to_string(found->axis) + ", which has ") +
                std::to_string(found->extent) + " elements");
        case report_kind::singular:
            throw linalg_error(of + "matrix " + index + " is singular");
        case report_kind::not_definite:
            throw linalg_error(of + "matrix " + index + " is not positive definite");
        case report_kind::not_converged:
            throw linalg_error(of + "the iteration for matrix " + index + " did not converge");
        case report_kind::library:
            throw library_error(of + "the library returned status " + index);
    }
}

void clear(error_record& record) noexcept { take(record); }

}  // namespace ingot::runtime
