#include "runtime/kernels/block_threads.hpp"

#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include <ingot/core/error.hpp>

#include "runtime/system/per_thread.hpp"

namespace ingot::runtime {

namespace {

constexpr std::size_t stack_bytes = std::size_t{128} << 10;
constexpr unsigned lanes_of_warp = 32;

enum class thread_state : unsigned char { ready, at_block_barrier, at_warp_barrier, ended };

struct block_thread {
    ucontext_t context{};
    thread_state state = thread_state::ready;
};

/// Memory for stacks, which stays with the worker. Untouched pages take no memory.
struct stacks {
    std::vector<void*> memory;

    void* at(std::size_t i) {
        while (memory.size() <= i) {
            void* const made = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
            if (made == MAP_FAILED) throw out_of_memory("[raw_kernel] no memory for the stacks of a block's threads");
            memory.push_back(made);
        }
        return memory[i];
    }
};

class running_block {
public:
    running_block(unsigned threads, void (*body)(void*, unsigned), void* argument)
        : threads_(threads), body_(body), argument_(argument) {}

    void run() {
        stacks& room = per_thread<stacks>::own();
        for (std::size_t i = 0; i < threads_.size(); ++i) prepare(threads_[i].context, room.at(i));
        while (run_ready() || open_barriers()) continue;
        if (!std::ranges::all_of(threads_, [](const block_thread& t) { return t.state == thread_state::ended; }))
            throw error("[raw_kernel] threads of a block wait at a barrier that the others never reach");
    }

    void wait(bool warp) {
        block_thread& t = threads_[now_];
        t.state = warp ? thread_state::at_warp_barrier : thread_state::at_block_barrier;
        swapcontext(&t.context, &scheduler_);
    }

    static inline constinit thread_local running_block* current = nullptr;

private:
    /// A separate function, because getcontext may return twice as far as the compiler knows.
    void prepare(ucontext_t& c, void* stack) {
        getcontext(&c);
        c.uc_stack.ss_sp = stack;
        c.uc_stack.ss_size = stack_bytes;
        c.uc_link = &scheduler_;
        makecontext(&c, &begin, 0);
    }
    static void begin() {
        running_block& b = *current;
        b.body_(b.argument_, b.now_);
        b.threads_[b.now_].state = thread_state::ended;
    }

    bool run_ready() {
        bool any = false;
        for (now_ = 0; now_ < threads_.size(); ++now_) {
            if (threads_[now_].state != thread_state::ready) continue;
            any = true;
            running_block* const outer = current;  // a worker within a job may run another block
            current = this;
            swapcontext(&scheduler_, &threads_[now_].context);
            current = outer;
        }
        return any;
    }

    bool open_barriers() {
        bool any = open(0, threads_.size(), thread_state::at_block_barrier);
        for (std::size_t first = 0; first < threads_.size(); first += lanes_of_warp)
            any |= open(first, std::min(first + lanes_of_warp, threads_.size()), thread_state::at_warp_barrier);
        return any;
    }
    bool open(std::size_t first, std::size_t end, thread_state at) {
        bool any = false;
        for (std::size_t i = first; i < end; ++i) {
            if (threads_[i].state != at && threads_[i].state != thread_state::ended) return false;
            any |= threads_[i].state == at;
        }
        for (std::size_t i = first; i < end; ++i)
            if (threads_[i].state == at) threads_[i].state = thread_state::ready;
        return any;
    }

    std::vector<block_thread> threads_;
    void (*body_)(void*, unsigned);
    void* argument_;
    unsigned now_ = 0;
    ucontext_t scheduler_{};
};

}  // namespace

void run_block_threads(unsigned threads, void (*body)(void*, unsigned), void* argument) {
    running_block(threads, body, argument).run();
}

void wait_for_block(bool warp) {
    if (running_block::current == nullptr)
        throw error("[raw_kernel] on the host threads can wait only at barriers that stand in the kernel's own text");
    running_block::current->wait(warp);
}

}  // namespace ingot::runtime
