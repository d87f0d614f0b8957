// The table of executables, and the making of one.
#include "runtime/kernels/executable.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <unordered_map>

#include "codegen/plan/schedule.hpp"
#include "runtime/device/driver.hpp"
#include "runtime/device/nvtx.hpp"
#include "runtime/kernels/compile_host.hpp"
#include "runtime/system/fork.hpp"
#include "runtime/system/log.hpp"
#include "runtime/system/warning.hpp"

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

constexpr std::chrono::milliseconds first_pause{50};
constexpr std::chrono::minutes longest_pause{1};

/// A shared lock knows its holder by the thread's number, and the child's thread has another one; so the child gets a
/// new lock.
void lock_shard_across_fork(shard& s) {
    lock_across_fork(
        mutex_rank::executables, [&s] { s.mutex.lock(); }, [&s] { s.mutex.unlock(); },
        [&s] { ::new (&s.mutex) std::shared_mutex; });
}

shard& shard_of(std::span<const std::uint32_t> key) {
    static shard* const shards = [] {
        auto* const made = new shard[shard_count];  // leaked: plans outlive main
        std::for_each_n(made, shard_count, lock_shard_across_fork);
        return made;
    }();
    return shards[words_hash{}(key) / 7 % shard_count];
}

constinit std::atomic<key_observer> observer{nullptr};

device device_of(const codegen::key& k) {
    return k.header.where == detail::target::cuda ? device::cuda() : device::host();
}

/// Logs the steps of a statement with more than one, and the reasons.
void log_cut(const executable& e) {
    if (e.plan.steps.size() < 2 || !is_logging()) return;
    std::string text = e.plan.expression + ": " + std::to_string(e.plan.steps.size()) + " steps";
    for (const codegen::plan_step& step : e.plan.steps) text += "; " + codegen::describe(step);
    emit_log({.kind = log_kind::cut,
              .text = text,
              .name = e.plan.expression,
              .kernels = e.plan.steps.size(),
              .device = device_of(e.key)});
}

void log_memory_hit(const executable& e) {
    if (!is_logging()) return;
    const std::string text = "loaded already: " + e.plan.expression;
    emit_log({.kind = log_kind::memory_hit, .text = text, .name = e.plan.expression, .device = device_of(e.key)});
}

std::unique_ptr<const executable> make_executable(std::span<const std::uint32_t> words) {
    auto e = std::make_unique<executable>();
    e->key = codegen::decode(words);
    e->plan = codegen::make_plan(e->key);
    if (!e->plan.missing.empty()) throw error(e->plan.missing);
    look_for_profiler();
    log_cut(*e);
    const auto start = retry_schedule::clock::now();
    try {
        load_steps(*e);
    } catch (const compiler_unavailable& reason) {
        warn_once(std::string("expressions are interpreted: ") + reason.what());
        e->graph = codegen::lower(e->key);
        e->interpreted = true;
        e->retry.failed(retry_schedule::clock::now() - start);
    }
    return e;
}

/// Null where the compiler is still unavailable.
std::unique_ptr<const executable> make_successor(const executable& e) {
    auto made = std::make_unique<executable>();
    try {
        made->key = e.key;
        made->plan = e.plan;
        load_steps(*made);
    } catch (const compile_error&) {
        made->interpreted = true;
        made->rejected = std::current_exception();
    } catch (const error&) {  // compiler or loader failed: the interpreter is used again
        return nullptr;
    }
    return made;
}

}  // namespace

void* loaded_kernel::on_gpu([[maybe_unused]] int device, [[maybe_unused]] const codegen::launch& step) const {
#ifdef INGOT_HAS_CUDA_HEADERS
    const auto index = static_cast<std::size_t>(device);
    if (index < cached_devices)
        if (void* const known = functions_[index].load(std::memory_order_acquire)) return known;
    CUfunction function = nullptr;
    check(driver()->cuKernelGetFunction(&function, static_cast<CUkernel>(kernel_)), "finding a kernel's function");
    constexpr std::uint32_t shared_without_asking = 32 * 1024;  // of 48 KiB, static shared memory included
    if (step.shared_bytes > shared_without_asking)
        check(driver()->cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                           static_cast<int>(step.shared_bytes)),
              "asking for shared memory");
    constexpr std::uint32_t cluster_without_asking = 8;
    if (step.cluster > cluster_without_asking)
        check(driver()->cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
              "asking for large clusters");
    if (index < cached_devices) functions_[index].store(function, std::memory_order_release);
    return function;
#else
    return nullptr;
#endif
}

bool retry_schedule::claim() noexcept {
    clock::rep due = next_.load(std::memory_order_relaxed);
    const clock::time_point now = clock::now();
    if (now.time_since_epoch().count() < due) return false;
    return next_.compare_exchange_strong(due, (now + longest_pause).time_since_epoch().count());
}

void retry_schedule::failed(clock::duration attempt) noexcept {
    clock::duration pause(2 * pause_.load(std::memory_order_relaxed));
    pause = std::min<clock::duration>(std::max({pause, clock::duration(first_pause), 4 * attempt}), longest_pause);
    pause_.store(pause.count(), std::memory_order_relaxed);
    next_.store((clock::now() + pause).time_since_epoch().count(), std::memory_order_relaxed);
}

const executable& compile_again(const executable& e) {
    if (e.successor.load(std::memory_order_acquire) == nullptr && e.retry.claim()) {
        const auto start = retry_schedule::clock::now();
        std::unique_ptr<const executable> made;
        try {
            made = make_successor(e);
        } catch (...) {  // out of memory
        }
        const executable* none = nullptr;
        if (made == nullptr)
            e.retry.failed(retry_schedule::clock::now() - start);
        else if (e.successor.compare_exchange_strong(none, made.get()))
            made.release();  // never freed, as e is not
    }
    const executable& latest = e.latest();
    if (latest.rejected) std::rethrow_exception(latest.rejected);
    return latest;
}

void load_steps(executable& e) {
    for (const codegen::plan_step& s : e.plan.steps)
        if (const auto* call = std::get_if<codegen::library_call>(&s))
            e.functions.push_back(&library_function_named(call->function));
    const auto launches = codegen::launches_of(e.plan);
    if (launches.empty()) return;
    const auto can_stream = [](const codegen::launch& l) { return l.can_stream; };
    e.has_large_form = !e.key.header.past_caches && std::ranges::any_of(launches, can_stream);
    e.module = load(source_of(e.key, e.plan));
    for (const codegen::launch& step : launches) {
#ifdef INGOT_HAS_CUDA_HEADERS
        if (e.key.header.where == detail::target::cuda) {
            e.kernels.emplace_back(e.module->kernel(step.kernel));
            continue;
        }
#endif
        e.kernels.emplace_back(e.module->host_function(step.kernel));
    }
}

key_observer observe_new_keys(key_observer o) { return observer.exchange(o); }

source_text source_of(const codegen::key& key, const codegen::plan& plan) {
    source_text source;
    const bool cuda = key.header.where == detail::target::cuda;
    source.where = cuda ? target::cuda : target::host;
    source.architecture = cuda ? "sm_" + std::to_string(key.header.architecture) : host_architecture();
    source.text = plan.source;
    source.expression = plan.expression;
    for (const codegen::operand_class& o : key.operands)
        if (!o.text.empty())
            std::ranges::copy(
                codegen::text_ranges_of(codegen::read_user_text(o.text, o.binding), key.header.where, plan.source),
                std::back_inserter(source.user_texts));
    source.is_generated = source.user_texts.empty();
    if (cuda && plan.approximate)
        source.options = {"--use_fast_math"};
    else if (cuda)
        source.options = {plan.contract ? "-fmad=true" : "-fmad=false"};
    else
        source.options = {plan.contract ? "-ffp-contract=fast" : "-ffp-contract=off"};
    for (const codegen::launch& step : codegen::launches_of(plan)) source.kernels.push_back(step.kernel);
    return source;
}

const executable& large_form_of(const executable& e) {
    if (const executable* const known = e.large_form.load(std::memory_order_acquire)) return *known;
    codegen::key key = e.key;
    key.header.past_caches = true;
    const executable* large = &e;
    try {
        const executable& made = executable_for(codegen::encode(key));
        if (!made.interpreted) large = &made;
    } catch (const error&) {  // the compiler failed: e is right, and slower
    }
    e.large_form.store(large, std::memory_order_release);
    return *large;
}

bool is_loaded(std::span<const std::uint32_t> key) {
    shard& s = shard_of(key);
    std::shared_lock lock(s.mutex);
    return s.table.find(key) != s.table.end();
}

const executable& executable_for(std::span<const std::uint32_t> key) {
    shard& s = shard_of(key);
    const executable* known = nullptr;
    {
        std::shared_lock lock(s.mutex);
        if (const auto found = s.table.find(key); found != s.table.end()) known = found->second.get();
    }
    if (known != nullptr) {
        log_memory_hit(*known);
        return known->latest();
    }
    if (const key_observer o = observer.load()) o(key);
    // This runs outside the lock: threads that race on a key share its compile in `load`, and the first one here
    // inserts.
    std::unique_ptr<const executable> made = make_executable(key);
    std::unique_lock lock(s.mutex);
    return *s.table.try_emplace(key_words(key.begin(), key.end()), std::move(made)).first->second;
}

}  // namespace ingot::runtime
