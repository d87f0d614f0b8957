// FFTW as a typed table. Plans are made under a lock, because all threads share one planner, and may be executed by any
// number of threads: a batch is cut into pieces for Ingot's workers. A single large transform is cut by FFTW, if its
// threads library is found; the workers run those pieces too.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <ingot/core/error.hpp>

#include "runtime/device/host_workers.hpp"
#include "runtime/fft/transform.hpp"
#include "runtime/system/fork.hpp"
#include "runtime/system/opened_library.hpp"

namespace ingot::runtime {

namespace {

// The interface's constants, and the functions of its 64-bit guru interface.
constexpr unsigned destroy_input = 1u << 0, unaligned = 1u << 1, preserve_input = 1u << 4, estimate = 1u << 6;
struct dimension {
    std::ptrdiff_t n, is, os;
};
struct fftw_plan_s;
using fftw_plan = fftw_plan_s*;

template <class R>
struct fftw_functions : api_table {
    using api_table::api_table;
    static constexpr bool single = sizeof(R) == 4;
    any_function named(const char* name) const { return function((single ? "fftwf_" : "fftw_") + std::string(name)); }
};

template <class R>
struct fftw_api : fftw_functions<R> {
    using fftw_functions<R>::fftw_functions, fftw_functions<R>::named;
    static library_files files() {
        const std::string file = fftw_api::single ? "libfftw3f.so.3" : "libfftw3.so.3";
        return {{file},
                file + " is wanted on the host and was not found (Debian: " +
                    (fftw_api::single ? "libfftw3-single3)" : "libfftw3-double3)")};
    }

    fftw_plan (*plan_dft)(int rank, const dimension*, int batch_rank, const dimension* batch, void* in, void* out,
                          int sign, unsigned flags) = named("plan_guru64_dft");
    fftw_plan (*plan_r2c)(int rank, const dimension*, int batch_rank, const dimension* batch, R* in, void* out,
                          unsigned flags) = named("plan_guru64_dft_r2c");
    fftw_plan (*plan_c2r)(int rank, const dimension*, int batch_rank, const dimension* batch, void* in, R* out,
                          unsigned flags) = named("plan_guru64_dft_c2r");
    void (*execute_dft)(fftw_plan, void* in, void* out) = named("execute_dft");
    void (*execute_r2c)(fftw_plan, R* in, void* out) = named("execute_dft_r2c");
    void (*execute_c2r)(fftw_plan, void* in, R* out) = named("execute_dft_c2r");
    void (*destroy_plan)(fftw_plan) = named("destroy_plan");
    int (*alignment_of)(R*) = named("alignment_of");
};

template <class R>
const fftw_api<R>& fftw() {
    return opened_library<fftw_api<R>>::get("fft");
}

/// Runs FFTW's loop over the parts of a transform on Ingot's workers.
void run_parts(void* (*part)(char*), char* all, std::size_t bytes_each, int parts, void*) {
    run_on_workers(static_cast<std::size_t>(parts), [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) part(all + i * bytes_each);
    });
}

/// FFTW's threads, which are opened before any plan is made.
template <class R>
struct fftw_threads : fftw_functions<R> {
    using fftw_functions<R>::named;
    explicit fftw_threads(const dynamic_library& library) : fftw_functions<R>(library) {
        if (initialise() == 0) throw library_error("[fft] FFTW does not start its threads");
        set_loop(run_parts, nullptr);
    }
    static library_files files() {
        return {{fftw_threads::single ? "libfftw3f_threads.so.3" : "libfftw3_threads.so.3"}, {}};
    }

    int (*initialise)() = named("init_threads");
    void (*set_loop)(decltype(&run_parts), void*) = named("threads_set_callback");  // since FFTW 3.3.9
    // The number of threads is global: it holds for all plans made from then on.
    void (*plan_with)(int) = named("plan_with_nthreads");
    int (*planned_with)() = named("planner_nthreads");  // since FFTW 3.3.9
};

/// Plans are made for that many threads while this object exists; afterwards the process's old number is restored. Used
/// under the planner's lock.
template <class R>
class planning_with {
public:
    explicit planning_with(int threads) {
        if (threads_ == nullptr) return;
        before_ = threads_->planned_with();
        threads_->plan_with(threads);
    }
    planning_with(const planning_with&) = delete;
    ~planning_with() {
        if (threads_ != nullptr) threads_->plan_with(before_);
    }

private:
    const fftw_threads<R>* const threads_ = opened_library<fftw_threads<R>>::find();  // null: there is one thread
    int before_ = 1;
};

std::mutex& planner() {
    static std::mutex& mutex = lock_across_fork(mutex_rank::planners, *new std::mutex);
    return mutex;
}

/// Plans of one precision, the most recently used first.
template <class R>
class plan_cache {
public:
    using key = std::vector<index_t>;
    using plan_ref = std::shared_ptr<fftw_plan_s>;

    /// Throws library_error where FFTW has no such plan.
    plan_ref find(const transform& t, bool aligned, int threads) {
        const key wanted = key_of(t, aligned, threads);
        plan_ref found, dropped;  // destroying a plan locks the planner, so these are destroyed after the unlock
        const std::lock_guard lock(planner());
        const auto known = plans_.find(wanted);
        if (known != plans_.end()) {
            order_.splice(order_.begin(), order_, known->second.position);
            return known->second.plan;
        }
        found = plan_ref(plan_of(t, aligned, threads), [](fftw_plan p) {
            const std::lock_guard last(planner());
            fftw<R>().destroy_plan(p);
        });
        if (plans_.size() >= most_plans) {
            dropped = std::move(plans_.find(order_.back())->second.plan);
            plans_.erase(order_.back());
            order_.pop_back();
        }
        order_.push_front(wanted);
        plans_[wanted] = {found, order_.begin()};
        return found;
    }

private:
    static constexpr std::size_t most_plans = 128;
    struct entry {
        plan_ref plan;
        std::list<key>::iterator position;
    };

    static key key_of(const transform& t, bool aligned, int threads) {
        key k{static_cast<index_t>(t.how), aligned, threads, static_cast<index_t>(t.own.size())};
        for (const auto* axes : {&t.own, &t.batch})
            for (const transform::axis& a : *axes) k.insert(k.end(), {a.extent, a.from, a.to});
        return k;
    }
    static fftw_plan plan_of(const transform& t, bool aligned, int threads) {
        const auto dimensions = [](const std::vector<transform::axis>& axes) {
            std::vector<dimension> all;
            for (const transform::axis& a : axes) all.push_back({a.extent, a.from, a.to});
            return all;
        };
        const std::vector<dimension> own = dimensions(t.own), batch = dimensions(t.batch);
        const int rank = static_cast<int>(own.size()), batch_rank = static_cast<int>(batch.size());
        const unsigned flags = estimate | (aligned ? 0 : unaligned);
        const fftw_api<R>& api = fftw<R>();
        fftw_plan made = nullptr;
        const planning_with<R> these(threads);
        if (t.how == transform::direction::to_complex)
            made = api.plan_r2c(rank, own.data(), batch_rank, batch.data(), static_cast<R*>(t.from), t.to,
                                flags | preserve_input);
        else if (t.how == transform::direction::to_real)
            made = api.plan_c2r(rank, own.data(), batch_rank, batch.data(), t.from, static_cast<R*>(t.to),
                                flags | destroy_input);
        else
            made = api.plan_dft(rank, own.data(), batch_rank, batch.data(), t.from, t.to,
                                t.how == transform::direction::forward ? -1 : 1, flags | preserve_input);
        if (made == nullptr) throw library_error("[fft] FFTW has no plan for " + t.text());
        return made;
    }

    std::map<key, entry> plans_;
    std::list<key> order_;
};

template <class R>
plan_cache<R>& plans() {
    static auto& all = *new plan_cache<R>;
    return all;
}

template <class R>
void execute(fftw_plan plan, const transform& t, std::byte* from, std::byte* to) {
    const fftw_api<R>& api = fftw<R>();
    if (t.how == transform::direction::to_complex)
        api.execute_r2c(plan, reinterpret_cast<R*>(from), to);
    else if (t.how == transform::direction::to_real)
        api.execute_c2r(plan, from, reinterpret_cast<R*>(to));
    else
        api.execute_dft(plan, from, to);
}

double operations_of_one(const transform& t) {
    double operations = 5;
    for (const transform::axis& a : t.own) operations *= static_cast<double>(a.extent);
    return operations * std::log2(std::max(operations, 2.0));
}
/// The number of transforms worth a worker: they take some tens of microseconds.
index_t worth_a_piece(const transform& t, index_t times) {
    const double wanted = 1e5 / (operations_of_one(t) * static_cast<double>(times));
    return static_cast<index_t>(std::clamp(std::ceil(wanted), 1.0, 1e9));
}

template <class R>
void run_in(const transform& t) {
    const std::size_t cut = t.longest_of_batch();
    const index_t extent = t.batch.empty() ? 1 : t.batch[cut].extent;
    index_t times = 1;
    for (std::size_t j = 0; j < t.batch.size(); ++j) times *= j == cut ? 1 : t.batch[j].extent;
    const auto target_pieces = static_cast<index_t>(worker_count() == 1 ? 1 : 4 * worker_count());
    const index_t each = std::max((extent + target_pieces - 1) / target_pieces, worth_a_piece(t, times));
    const index_t pieces = (extent + each - 1) / each;
    const auto is_aligned = [](void* at) { return fftw<R>().alignment_of(static_cast<R*>(at)) == 0; };
    if (extent == 1) {  // so is every axis of the batch
        constexpr double worth_threads = 2e6;
        const int threads = operations_of_one(t) < worth_threads ? 1 : static_cast<int>(worker_count());
        const auto plan = plans<R>().find(t, is_aligned(t.from) && is_aligned(t.to), threads);
        return execute<R>(plan.get(), t, static_cast<std::byte*>(t.from), static_cast<std::byte*>(t.to));
    }
    run_on_workers(static_cast<std::size_t>(pieces), [&](std::size_t begin, std::size_t end) {
        for (auto p = static_cast<index_t>(begin); p < static_cast<index_t>(end); ++p) {
            transform piece = t;
            const index_t first = p * each;
            if (!t.batch.empty()) {
                const transform::axis& along = t.batch[cut];
                piece.batch[cut].extent = std::min(each, extent - first);
                piece.from =
                    static_cast<std::byte*>(t.from) + first * along.from * static_cast<index_t>(t.bytes_from());
                piece.to = static_cast<std::byte*>(t.to) + first * along.to * static_cast<index_t>(t.bytes_to());
            }
            const auto plan = plans<R>().find(piece, is_aligned(piece.from) && is_aligned(piece.to), 1);
            execute<R>(plan.get(), piece, static_cast<std::byte*>(piece.from), static_cast<std::byte*>(piece.to));
        }
    });
}

}  // namespace

void call_fftw(const transform& t) { t.part == dtype::f4 ? run_in<float>(t) : run_in<double>(t); }

}  // namespace ingot::runtime
