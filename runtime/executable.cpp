// The table of executables, and how one is made.
#include "runtime/executable.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <unordered_map>

#include "codegen/schedule.hpp"
#include "runtime/compile_host.hpp"
#include "runtime/driver.hpp"
#include "runtime/fork.hpp"
#include "runtime/warning.hpp"

namespace ingot::runtime {

namespace {

using key_words = std::vector<std::uint32_t>;

struct words_hash {
    using is_transparent = void;
    std::size_t operator()(std::span<const std::uint32_t> words) const noexcept {
        std::uint64_t h = 0x9e3779b97f4a7c15u ^ words.size();
        for (std::uint32_t w : words) {
            h = (h ^ w) * 0xff51afd7ed558ccdu;
            h ^= h >> 32;
        }
        return static_cast<std::size_t>(h);
    }
};
struct words_equal {
    using is_transparent = void;
    bool operator()(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) const noexcept {
        return std::ranges::equal(a, b);
    }
};

struct shard {
    std::shared_mutex mutex;
    std::unordered_map<key_words, std::unique_ptr<const executable>, words_hash, words_equal> table;
};

constexpr std::size_t shard_count = 16;

/// Who holds such a lock is known by the thread's number, which a child's thread does not have: it gets a new one.
void hold_shard_over_fork(shard& s) {
    hold_over_fork(
        mutex_of::executables, [&s] { s.mutex.lock(); }, [&s] { s.mutex.unlock(); },
        [&s] { ::new (&s.mutex) std::shared_mutex; });
}

shard& shard_of(std::span<const std::uint32_t> key) {
    static shard* const shards = [] {
        auto* const made = new shard[shard_count];  // leaked: plans outlive main
        std::for_each_n(made, shard_count, hold_shard_over_fork);
        return made;
    }();
    return shards[words_hash{}(key) / 7 % shard_count];
}

constinit std::atomic<key_observer> observer{nullptr};

std::unique_ptr<const executable> make_executable(std::span<const std::uint32_t> words) {
    auto e = std::make_unique<executable>();
    e->key = codegen::decode(words);
    e->plan = codegen::make_plan(e->key);
    if (!e->plan.missing.empty()) throw error(e->plan.missing);
    try {
        e->module = load(source_of(e->key, e->plan));
        for (const codegen::launch& step : e->plan.steps) {
#ifdef INGOT_HAS_CUDA_HEADERS
            if (e->key.header.where == detail::target::cuda) {
                e->kernels.emplace_back(e->module->kernel(step.kernel));
                continue;
            }
#endif
            e->kernels.emplace_back(e->module->host_function(step.kernel));
        }
    } catch (const compiler_unavailable& reason) {
        warn_once(std::string("expressions are interpreted: ") + reason.what());
        e->graph = codegen::lower(e->key);
        e->interpreted = true;
    }
    return e;
}

}  // namespace

void* loaded_kernel::on_gpu([[maybe_unused]] int device, [[maybe_unused]] const codegen::launch& step) const {
#ifdef INGOT_HAS_CUDA_HEADERS
    const auto index = static_cast<std::size_t>(device);
    if (index < remembered)
        if (void* const known = functions_[index].load(std::memory_order_acquire)) return known;
    CUfunction function = nullptr;
    check(driver()->cuKernelGetFunction(&function, static_cast<CUkernel>(kernel_)), "finding a kernel's function");
    constexpr std::uint32_t shared_without_asking = 32 * 1024;  // of 48 KiB, with what the kernel declares itself
    if (step.shared_bytes > shared_without_asking)
        check(driver()->cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                           static_cast<int>(step.shared_bytes)),
              "asking for shared memory");
    constexpr std::uint32_t cluster_without_asking = 8;
    if (step.cluster > cluster_without_asking)
        check(driver()->cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
              "asking for large clusters");
    if (index < remembered) functions_[index].store(function, std::memory_order_release);
    return function;
#else
    return nullptr;
#endif
}

key_observer observe_new_keys(key_observer o) { return observer.exchange(o); }

source_text source_of(const codegen::key& key, const codegen::plan& plan) {
    source_text source;
    const bool cuda = key.header.where == detail::target::cuda;
    source.where = cuda ? target::cuda : target::host;
    source.architecture = cuda ? "sm_" + std::to_string(key.header.architecture) : host_architecture();
    source.text = plan.source;
    if (cuda && plan.approximate)
        source.options = {"--use_fast_math"};
    else if (cuda)
        source.options = {plan.contract ? "-fmad=true" : "-fmad=false"};
    else
        source.options = {plan.contract ? "-ffp-contract=fast" : "-ffp-contract=off"};
    for (const codegen::launch& step : plan.steps) source.kernels.push_back(step.kernel);
    return source;
}

bool is_loaded(std::span<const std::uint32_t> key) {
    shard& s = shard_of(key);
    std::shared_lock lock(s.mutex);
    return s.table.find(key) != s.table.end();
}

const executable& executable_for(std::span<const std::uint32_t> key) {
    shard& s = shard_of(key);
    {
        std::shared_lock lock(s.mutex);
        if (const auto found = s.table.find(key); found != s.table.end()) return *found->second;
    }
    if (const key_observer o = observer.load()) o(key);
    // Outside the lock; threads that race on one key share its compile in `load`, and the first to get here wins.
    std::unique_ptr<const executable> made = make_executable(key);
    std::unique_lock lock(s.mutex);
    return *s.table.try_emplace(key_words(key.begin(), key.end()), std::move(made)).first->second;
}

}  // namespace ingot::runtime
