// cuFFT as a typed table. Plans are cached, because making one takes long; they belong to one stream, and their number
// and memory are bounded. Their work areas come from Ingot's pool for the time of a call.
#include "runtime/fft/transform.hpp"

#include <ingot/core/error.hpp>

#if defined(INGOT_HAS_CUDA_HEADERS) && __has_include(<cufft.h>)

#include <cufft.h>

#include <algorithm>
#include <iterator>
#include <list>
#include <mutex>
#include <utility>

#include <ingot/core/buffer.hpp>

#include "runtime/device/of_stream.hpp"
#include "runtime/device/ordering.hpp"
#include "runtime/device/pool.hpp"
#include "runtime/system/opened_library.hpp"

namespace ingot::runtime {

namespace {

using direction = transform::direction;

struct cufft_api : api_table {
    using api_table::api_table;
    static library_files files() { return files_of_cuda_library("cufft", {12, 11}); }

    decltype(&::cufftCreate) create = function("cufftCreate");
    decltype(&::cufftDestroy) destroy = function("cufftDestroy");
    decltype(&::cufftSetAutoAllocation) set_auto_allocation = function("cufftSetAutoAllocation");
    decltype(&::cufftSetStream) set_stream = function("cufftSetStream");
    decltype(&::cufftSetWorkArea) set_work_area = function("cufftSetWorkArea");
    decltype(&::cufftMakePlanMany64) make_plan = function("cufftMakePlanMany64");
    decltype(&::cufftExecC2C) c2c = function("cufftExecC2C");
    decltype(&::cufftExecR2C) r2c = function("cufftExecR2C");
    decltype(&::cufftExecC2R) c2r = function("cufftExecC2R");
    decltype(&::cufftExecZ2Z) z2z = function("cufftExecZ2Z");
    decltype(&::cufftExecD2Z) d2z = function("cufftExecD2Z");
    decltype(&::cufftExecZ2D) z2d = function("cufftExecZ2D");
};

const cufft_api& cufft() { return opened_library<cufft_api>::get("fft"); }

std::string name_of(cufftResult status) {
    switch (status) {
        case CUFFT_ALLOC_FAILED:
            return "there is not enough memory";
        case CUFFT_INVALID_SIZE:
            return "it has no transform of this size";
        case CUFFT_NOT_SUPPORTED:
        case CUFFT_NOT_IMPLEMENTED:
            return "it does not do this";
        default:
            return "status " + std::to_string(static_cast<int>(status));
    }
}
void check(cufftResult status, const transform& t) {
    if (status != CUFFT_SUCCESS) throw library_error("[fft] cuFFT: " + name_of(status) + ", of " + t.text());
}

cufftType type_of(const transform& t) {
    const bool single = t.part == dtype::f4;
    switch (t.how) {
        case direction::to_complex:
            return single ? CUFFT_R2C : CUFFT_D2Z;
        case direction::to_real:
            return single ? CUFFT_C2R : CUFFT_Z2D;
        default:
            return single ? CUFFT_C2C : CUFFT_Z2Z;
    }
}

/// An array in cuFFT's advanced layout: element (i, j, k) of transform b is number b * distance + ((i * embed[1] + j) *
/// embed[2] + k) * step.
struct lattice {
    long long embed[3], step, distance;

    lattice(const transform& t, index_t transform::axis::*stride, index_t last_extent, index_t between) {
        const std::size_t rank = t.own.size();
        const auto extent = [&](std::size_t k) { return k + 1 == rank ? last_extent : t.own[k].extent; };
        step = extent(rank - 1) == 1 ? 1 : t.own.back().*stride;
        long long inner = step;
        for (std::size_t k = rank - 1; k > 0; --k) {
            const long long outer = t.own[k - 1].*stride;
            embed[k] = outer / inner;
            if (outer % inner != 0 || embed[k] < extent(k))
                throw library_error("[fft] the strides of an operand are not as cuFFT takes them, of " + t.text());
            inner = outer;
        }
        embed[0] = extent(0);
        distance = between != 0 ? between : inner * extent(0);
    }
};

struct layout_of_plan {
    cufftType type;
    std::vector<long long> extents;
    lattice from, to;
    long long times;

    layout_of_plan(const transform& t, std::size_t along)
        : type(type_of(t)),
          from(t, &transform::axis::from, t.last_from(), along < t.batch.size() ? t.batch[along].from : 0),
          to(t, &transform::axis::to, t.last_to(), along < t.batch.size() ? t.batch[along].to : 0),
          times(along < t.batch.size() ? t.batch[along].extent : 1) {
        for (const transform::axis& a : t.own) extents.push_back(a.extent);
    }
    std::vector<long long> key() const {
        std::vector<long long> k{type, times, from.step, from.distance, to.step, to.distance};
        for (std::size_t j = 0; j < extents.size(); ++j)
            k.insert(k.end(), {extents[j], j == 0 ? 0 : from.embed[j], j == 0 ? 0 : to.embed[j]});
        return k;
    }
};

struct plan {
    std::vector<long long> key;
    cufftHandle handle = CUFFT_PLAN_NULL;
    std::size_t work_bytes = 0;
    std::size_t table_bytes = 0;  // estimate: a table of roots for each axis
};

/// A stream's plans, the most recently used first. One thread uses them at a time.
class plan_cache {
public:
    std::mutex mutex;

    const plan& find(const transform& t, const layout_of_plan& wanted, const stream_state& stream) {
        const std::vector<long long> key = wanted.key();
        for (auto p = plans_.begin(); p != plans_.end(); ++p)
            if (p->key == key) {
                plans_.splice(plans_.begin(), plans_, p);
                return plans_.front();
            }
        plan made{key};
        for (const transform::axis& a : t.own)
            made.table_bytes += static_cast<std::size_t>(a.extent) * 2 * detail::size_of(t.part);
        // A recorded graph uses its plans' tables, and a capture cannot wait, so its stream keeps all plans.
        const bool is_recorded = stream.capture.load(std::memory_order_relaxed) != nullptr;
        while (!is_recorded && !plans_.empty() &&
               (plans_.size() >= most_plans || bytes_ + made.table_bytes > most_bytes))
            drop_last(stream);
        cufftResult status = make(made, wanted);
        if (status == CUFFT_ALLOC_FAILED && !is_recorded) {  // again, after freeing cached plans and blocks
            while (!plans_.empty()) drop_last(stream);
            stream.pool->free_all_blocks();
            status = make(made, wanted);
        }
        check(status, t);
        bytes_ += made.table_bytes;
        plans_.push_front(std::move(made));
        return plans_.front();
    }

private:
    static constexpr std::size_t most_plans = 32, most_bytes = std::size_t{512} << 20;

    cufftResult make(plan& p, const layout_of_plan& l) {
        const cufft_api& api = cufft();
        lattice from = l.from, to = l.to;
        std::vector<long long> extents = l.extents;
        cufftResult status = api.create(&p.handle);
        if (status != CUFFT_SUCCESS) return status;
        const auto next = [&](auto step) {
            if (status == CUFFT_SUCCESS) status = step();
        };
        next([&] { return api.set_auto_allocation(p.handle, 0); });
        next([&] {
            return api.make_plan(p.handle, static_cast<int>(extents.size()), extents.data(), from.embed, from.step,
                                 from.distance, to.embed, to.step, to.distance, l.type, l.times, &p.work_bytes);
        });
        if (status != CUFFT_SUCCESS) api.destroy(std::exchange(p.handle, CUFFT_PLAN_NULL));
        return status;
    }
    /// Waits first, because the plan's last call may still run.
    void drop_last(const stream_state& stream) {
        stream.backend->synchronize(stream.native);
        cufft().destroy(plans_.back().handle);
        bytes_ -= plans_.back().table_bytes;
        plans_.pop_back();
    }

    std::list<plan> plans_;
    std::size_t bytes_ = 0;
};

cufftResult execute(const transform& t, cufftHandle plan, void* from, void* to) {
    const cufft_api& api = cufft();
    const int way = t.how == direction::forward ? CUFFT_FORWARD : CUFFT_INVERSE;
    switch (type_of(t)) {
        case CUFFT_R2C:
            return api.r2c(plan, static_cast<cufftReal*>(from), static_cast<cufftComplex*>(to));
        case CUFFT_D2Z:
            return api.d2z(plan, static_cast<cufftDoubleReal*>(from), static_cast<cufftDoubleComplex*>(to));
        case CUFFT_C2R:
            return api.c2r(plan, static_cast<cufftComplex*>(from), static_cast<cufftReal*>(to));
        case CUFFT_Z2D:
            return api.z2d(plan, static_cast<cufftDoubleComplex*>(from), static_cast<cufftDoubleReal*>(to));
        case CUFFT_C2C:
            return api.c2c(plan, static_cast<cufftComplex*>(from), static_cast<cufftComplex*>(to), way);
        default:
            return api.z2z(plan, static_cast<cufftDoubleComplex*>(from), static_cast<cufftDoubleComplex*>(to), way);
    }
}

buffer_ref room(std::size_t bytes, stream_state& stream) {
    buffer_ref made = allocate_buffer(std::max<std::size_t>(bytes, 1), stream.device, stream);
    order_write(*made, stream);
    return made;
}

void run(const transform& t, stream_state& stream) {
    const cufft_api& api = cufft();
    plan_cache& plans = of_stream<plan_cache>(stream);
    const std::size_t along = t.longest_of_batch();
    const layout_of_plan wanted(t, along);
    const std::lock_guard lock(plans.mutex);
    stream.backend->bind_thread();
    const plan& p = plans.find(t, wanted, stream);
    const buffer_ref work = room(p.work_bytes, stream);
    check(api.set_stream(p.handle, reinterpret_cast<cudaStream_t>(stream.native)), t);
    check(api.set_work_area(p.handle, work->data), t);
    for_each_of_batch(t, along, [&](void* from, void* to) { check(execute(t, p.handle, from, to), t); });
}

}  // namespace

void call_cufft(const transform& t, stream_state& stream) {
    // cuFFT writes real numbers in pairs.
    const auto address = reinterpret_cast<std::uintptr_t>(t.to);
    if (t.how != direction::to_real || address % (2 * detail::size_of(t.part)) == 0) return run(t, stream);
    std::size_t bytes = t.bytes_to();  // a result has no gaps
    for (const auto* axes : {&t.own, &t.batch})
        for (const transform::axis& a : *axes) bytes *= static_cast<std::size_t>(a.extent);
    const buffer_ref aligned = room(bytes, stream);
    transform elsewhere = t;
    elsewhere.to = aligned->data;
    run(elsewhere, stream);
    stream.backend->copy(t.to, aligned->data, bytes, copy_direction::within, stream.native);
}

}  // namespace ingot::runtime

#else

namespace ingot::runtime {

void call_cufft(const transform&, stream_state&) {
    throw library_error(
        "[fft] Ingot was built without the headers of cuFFT (from NVIDIA's repository: libcufft-dev-13-0)");
}

}  // namespace ingot::runtime

#endif
