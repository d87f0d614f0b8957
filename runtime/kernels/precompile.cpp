// Compiles in the background, with as many threads as there are kernels, up to the machine's cores. The end of the
// process waits for compiles that run, because a compiler must not be unloaded under them, and starts no others.
#include "runtime/kernels/precompile.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include <ingot/kernels/compiling.hpp>

#include "runtime/kernels/executable.hpp"
#include "runtime/system/fork.hpp"

namespace ingot {
namespace runtime {

namespace {

/// The compiling threads.
struct running_threads {
    std::mutex& mutex = lock_across_fork(mutex_rank::tables, *new std::mutex);
    std::condition_variable one_ended;
    std::size_t count = 0;
    bool process_ends = false;
    pid_t process = getpid();  // a child of fork has none of these threads
};
running_threads& running() {
    static running_threads& all_threads = *new running_threads;
    return all_threads;
}

void end_with_process() {
    running_threads& r = running();
    if (r.process != getpid()) return;
    std::unique_lock lock(r.mutex);
    r.process_ends = true;
    r.one_ended.wait(lock, [&] { return r.count == 0; });
}

bool process_ends() {
    const std::lock_guard lock(running().mutex);
    return running().process_ends;
}

void compile_keys(precompile_state& s) noexcept {
    for (;;) {
        std::size_t mine = 0;
        {
            const std::lock_guard lock(s.mutex);
            if (s.next == s.keys.size()) return;
            mine = s.next++;
        }
        std::exception_ptr failure;
        try {
            if (!process_ends()) executable_for(s.keys[mine]);
        } catch (...) {
            failure = std::current_exception();
        }
        const std::lock_guard lock(s.mutex);
        if (failure && !s.error) s.error = failure;
        if (++s.finished == s.keys.size()) s.all_done.notify_all();
    }
}

void run_thread(precompile_state& s) {
    compile_keys(s);
    detail::drop_precompile(s);
    running_threads& r = running();
    const std::lock_guard lock(r.mutex);
    --r.count;
    r.one_ended.notify_all();
}

}  // namespace
}  // namespace runtime

namespace detail {

runtime::precompile_state* begin_precompile() { return new runtime::precompile_state; }

void start_precompile(runtime::precompile_state& s) {
    using namespace runtime;
    // Longest first, because the last compile runs alone. A key's length grows with the number of its tree's nodes.
    std::ranges::sort(s.keys,
                      [](const auto& a, const auto& b) { return a.size() != b.size() ? a.size() > b.size() : a < b; });
    s.keys.erase(std::unique(s.keys.begin(), s.keys.end()), s.keys.end());
    std::erase_if(s.keys, [](const std::vector<std::uint32_t>& key) { return is_loaded(key); });
    [[maybe_unused]] static const int at_exit = std::atexit(end_with_process);
    const std::size_t most = std::max(1u, std::thread::hardware_concurrency());
    for (std::size_t i = 0; i < std::min(most, s.keys.size()); ++i) {
        keep_precompile(s);
        {
            const std::lock_guard lock(running().mutex);
            ++running().count;
        }
        try {
            std::thread([&s] { run_thread(s); }).detach();
        } catch (const std::system_error&) {  // no more threads: the remaining keys are compiled on use
            if (i == 0) {
                const std::lock_guard lock(s.mutex);
                s.keys.clear();
            }
            drop_precompile(s);
            const std::lock_guard lock(running().mutex);
            --running().count;
            return;
        }
    }
}

void keep_precompile(runtime::precompile_state& s) noexcept { s.references.fetch_add(1, std::memory_order_relaxed); }
void drop_precompile(runtime::precompile_state& s) noexcept {
    if (s.references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete &s;
}

}  // namespace detail

void precompiled::wait() const {
    std::unique_lock lock(state_->mutex);
    state_->all_done.wait(lock, [&] { return state_->finished == state_->keys.size(); });
    if (state_->error) std::rethrow_exception(state_->error);
}

bool precompiled::done() const {
    const std::lock_guard lock(state_->mutex);
    return state_->finished == state_->keys.size();
}

}  // namespace ingot
