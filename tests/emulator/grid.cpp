#include "grid.hpp"

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <iterator>
#include <list>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "random_order.hpp"
#include "watch.hpp"

extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start[], _end[];  // of this library

namespace emulator {

namespace {

namespace context = boost::context;

constexpr std::size_t stack_bytes = std::size_t{128} << 10;
constexpr unsigned char junk = 0xcd;
constexpr int patience = 20000;  // rounds in which nothing but looking was done

enum class state : std::uint8_t { unstarted, ready, looking, at_block_barrier, at_cluster_barrier, in_exchange, ended };

struct pending_copy {
    void* to;
    const void* from;
    std::size_t bytes;
};

struct block;
struct fiber_of_threads;

struct thread {
    place at;
    state now = state::unstarted;
    block* of = nullptr;
    fiber_of_threads* fiber = nullptr;
    unsigned int mask = 0;  // of the exchange that it waits for
    const char* function = nullptr;
    std::uint64_t given = 0;
    std::uint64_t all[lanes_of_warp];
    unsigned int cluster_phase = 0;  // in which it has arrived
    std::deque<std::vector<pending_copy>> copies;
    std::vector<pending_copy> open_copies;
};

struct cluster {
    std::vector<std::unique_ptr<block>> blocks;
    unsigned int phase = 0, arrived = 0, alive = 0;
};

struct block {
    cluster* of = nullptr;
    std::vector<thread> threads;
    std::vector<char> image;                                         // its shared memory while another block runs
    unsigned int number = 0, alive = 0, at_barrier = 0, halted = 0;  // for so many turns
    bool any_comes = false, any_came = false;                        // to this barrier, to the last one, with true
    std::uint32_t epoch = 0;
    std::vector<std::uint32_t> warp_epochs;
    shared_traces traces;
};

/// Runs threads one after the other, until one of them has to wait.
struct fiber_of_threads {
    context::fiber self, scheduler;
    thread* job = nullptr;
};

class grid_run final : public machine {
public:
    grid_run(const kernel_entry& kernel, const launch_shape& shape, void** arguments, const device_memory& memory,
             launch_number number)
        : kernel_(kernel),
          shape_(shape),
          arguments_(arguments),
          number_(number),
          watch_(*this, memory),
          random_(number.seed + number.launch),
          known_arrays_(kernel.arrays.size()) {}

    void run() {
        *kernel_.to_machine = this;
        const unsigned int at_once = 1 + random_.below(4);  // and no more: a block that waits for one to begin may wait
        int idle_rounds = 0;
        choose_order();
        while (start_next(at_once) || !resident_.empty()) {
            bool progress = false;
            for (auto at = resident_.begin(); at != resident_.end();) {
                progress = advance(**at) || progress;
                at = (*at)->alive == 0 ? resident_.erase(at) : std::next(at);
            }
            idle_rounds = progress ? 0 : idle_rounds + 1;
            if (idle_rounds > patience)
                fault(next_ == order_.size()
                          ? "its threads wait for each other for ever"
                          : "its blocks wait for others, which may begin when one of them has ended");
        }
        tell_traffic();
    }

    bool block_barrier(bool mine) override {
        thread& t = *current_;
        block& b = *t.of;
        ++b.at_barrier;
        b.any_comes |= mine;
        t.now = state::at_block_barrier;
        open_block_barrier(b);
        pause();
        return b.any_came;  // no barrier opens again before this thread comes to it
    }

    void cluster_arrive() override {
        cluster& c = *current_->of->of;
        current_->cluster_phase = c.phase;
        ++c.arrived;
        open_cluster_barrier(c);
    }
    void cluster_wait() override {
        if (current_->of->of->phase != current_->cluster_phase) return;
        current_->now = state::at_cluster_barrier;
        pause();
    }

    const std::uint64_t* exchange(unsigned int mask, const char* function, std::uint64_t mine) override {
        thread& t = *current_;
        if ((mask >> t.at.lane & 1u) == 0) fault("a lane calls for a mask that it is not in");
        t.mask = mask;
        t.function = function;
        t.given = mine;
        t.now = state::in_exchange;
        finish_exchange(t);
        pause();
        return t.all;
    }

    void let_others() override {
        current_->now = state::looking;
        pause();
    }

    std::uint32_t shared_address(const void* generic) override {
        const auto offset = static_cast<const char*>(generic) - kernel_.shared;
        if (offset < 0 || static_cast<std::size_t>(offset) >= kernel_.shared_bytes)
            fault("an address that is not in shared memory is used as if it were");
        return static_cast<std::uint32_t>(offset);
    }
    char* shared_memory(std::uint32_t address) override {
        const std::uint32_t rank = address >> rank_shift, offset = address & ((1u << rank_shift) - 1);
        if (rank == 0 || rank - 1 == now->cluster_rank) return kernel_.shared + offset;
        std::vector<std::unique_ptr<block>>& blocks = current_->of->of->blocks;
        if (rank > blocks.size()) fault("a cluster has no such block");
        if (blocks[rank - 1]->alive == 0) fault("shared memory of a block that has ended is used");
        return blocks[rank - 1]->image.data() + offset;
    }

    void copy_later(void* to, const void* from, std::size_t bytes) override {
        touch_shared(to, bytes, true);
        current_->open_copies.push_back({to, from, bytes});
    }
    void close_copies() override {
        current_->copies.push_back(std::move(current_->open_copies));
        current_->open_copies.clear();
    }
    void wait_for_copies(std::size_t groups_left) override {
        auto& groups = current_->copies;
        for (; groups.size() > groups_left; groups.pop_front())
            for (const pending_copy& c : groups.front()) {
                std::memcpy(c.to, c.from, c.bytes);
                touch_shared(c.to, c.bytes, true);
            }
    }

    void touch(const void* at, std::size_t bytes, bool writes, const void* code) override {
        const char* const p = static_cast<const char*>(at);
        if (p >= kernel_.shared && p < kernel_.shared + kernel_.shared_bytes)
            touch_shared(p, bytes, writes, code);
        else if (!is_own(at))
            watch_.touch(p, bytes, writes, code, present());
    }
    void touch_ordering(const void* at, std::size_t bytes) override {
        const char* const p = static_cast<const char*>(at);
        if (p >= kernel_.shared && p < kernel_.shared + kernel_.shared_bytes)
            check_shared_room(shared_address(at), bytes);  // atomics race with none of a block
        else
            watch_.touch_ordering(at, bytes);
    }

    [[noreturn]] void fault(const char* what) override {
        std::fprintf(stderr, "emulated kernel %s: %s", kernel_.name.c_str(), what);
        if (now != nullptr)
            std::fprintf(stderr, " (block %u %u %u of %u %u %u, thread %u of %u)", now->block.x, now->block.y,
                         now->block.z, now->grid.x, now->grid.y, now->grid.z, now->thread.x, now->threads.x);
        std::fprintf(stderr, ", launch %llu of EMULATOR_SEED=%llu\n%s\n",
                     static_cast<unsigned long long>(number_.launch), static_cast<unsigned long long>(number_.seed),
                     kernel_.source);
        std::abort();
    }

private:
    // ---- Memory.

    moment present() const {
        const block& b = *current_->of;
        const auto thread = static_cast<std::uint16_t>(current_ - b.threads.data());
        return {b.number, b.number / shape_.cluster, b.epoch, b.warp_epochs[thread / lanes_of_warp], thread};
    }

    void touch_shared(const void* at, std::size_t bytes, bool writes, const void* code = nullptr) {
        block& b = *current_->of;
        if (b.traces.empty()) b.traces.resize(kernel_.shared_bytes);
        const std::uint32_t offset = shared_address(at);
        check_shared_room(offset, bytes);
        watch_.touch_shared(kernel_.shared, offset, bytes, writes, code, present(), b.traces);
    }

    /// Checks that the arrays that the kernel has used so far fit, and that the touched offset lies within the launch's
    /// memory.
    void check_shared_room(std::size_t offset, std::size_t bytes) {
        const auto next = std::ranges::upper_bound(kernel_.arrays, offset, {}, &shared_array::begin);
        if (next == kernel_.arrays.begin()) return;
        const shared_array& a = *std::prev(next);
        if (offset >= a.end) return;
        if (a.dynamic) {
            if (offset + bytes - a.begin > shape_.dynamic_shared)
                fault("shared memory beyond what the launch asked for is touched");
            return;
        }
        const auto index = static_cast<std::size_t>(&a - kernel_.arrays.data());
        if (known_arrays_[index]) return;
        known_arrays_[index] = true;
        static_shared_ += a.end - a.begin;
        if (static_shared_ > usual_shared) fault("static arrays in shared memory are more than 48 KiB");
        if (static_shared_ + shape_.dynamic_shared > shape_.most_shared)
            fault("a block has not as much shared memory as its static arrays and the launch ask for");
    }

    /// The emulator's, which kernels look at too; shared memory of other blocks of the cluster among it.
    bool is_own(const void* at) const {
        const auto within = [at](const auto* begin, const auto* end) {
            return !std::less<const void*>()(at, begin) && std::less<const void*>()(at, end);
        };
        const std::vector<thread>& threads = current_->of->threads;
        const auto is_image = [&](const auto& b) { return within(b->image.data(), b->image.data() + b->image.size()); };
        return within(this, this + 1) || within(threads.data(), threads.data() + threads.size()) ||
               within(kernel_.image, kernel_.shared + kernel_.shared_bytes) || within(__ehdr_start, _end) ||
               std::ranges::any_of(current_->of->of->blocks, is_image);
    }

    void tell_traffic() const {
        const std::string moved = watch_.moved();
        if (moved.empty()) return;
        const char* const line = std::strstr(kernel_.source, "// ");  // its expression, where it is one of Ingot's
        std::fprintf(stderr, "%s: %.*s\n  %s\n", kernel_.name.c_str(),
                     line != nullptr ? static_cast<int>(std::strcspn(line, "\n")) : 0, line != nullptr ? line : "",
                     moved.c_str());
    }

    // ---- Threads.

    void resume(thread& t) {
        if (t.fiber == nullptr) {
            t.fiber = free_fiber();
            t.fiber->job = &t;
        }
        current_ = &t;
        now = &t.at;
        t.now = state::ready;
        t.fiber->self = std::move(t.fiber->self).resume();
        if (t.now == state::ended) {
            free_.push_back(t.fiber);
            t.fiber = nullptr;
        }
    }

    fiber_of_threads* free_fiber() {
        if (!free_.empty()) {
            fiber_of_threads* const fiber = free_.back();
            free_.pop_back();
            return fiber;
        }
        fiber_of_threads& made = *all_.emplace_back(std::make_unique<fiber_of_threads>());
        made.self = context::fiber(std::allocator_arg, context::fixedsize_stack(stack_bytes),
                                   [this, &made](context::fiber&& scheduler) {
                                       made.scheduler = std::move(scheduler);
                                       for (;;) {
                                           kernel_.run(arguments_);
                                           end(*made.job);
                                           made.scheduler = std::move(made.scheduler).resume();
                                       }
                                       return context::fiber();
                                   });
        return &made;
    }

    /// Suspends the running thread until the scheduler resumes it.
    void pause() {
        watch_.check_twice_written();
        fiber_of_threads& fiber = *current_->fiber;
        fiber.scheduler = std::move(fiber.scheduler).resume();
    }

    void end(thread& t) {
        watch_.check_twice_written();
        t.now = state::ended;
        --t.of->alive;
        if (t.of->alive == 0) watch_.end_block(t.of->number);
        --t.of->of->alive;
        open_block_barrier(*t.of);
        open_cluster_barrier(*t.of->of);
        block& b = *t.of;
        const std::size_t first = static_cast<std::size_t>(&t - b.threads.data()) / lanes_of_warp * lanes_of_warp;
        for (std::size_t i = first; i < std::min(first + lanes_of_warp, b.threads.size()); ++i)
            if (b.threads[i].now == state::in_exchange) finish_exchange(b.threads[i]);
    }

    // ---- What they wait for.

    static void open_block_barrier(block& b) {
        if (b.at_barrier == 0 || b.at_barrier != b.alive) return;
        b.at_barrier = 0;
        b.any_came = std::exchange(b.any_comes, false);
        ++b.epoch;
        for (thread& t : b.threads)
            if (t.now == state::at_block_barrier) t.now = state::ready;
    }

    static void open_cluster_barrier(cluster& c) {
        if (c.arrived == 0 || c.arrived != c.alive) return;
        c.arrived = 0;
        ++c.phase;
        for (auto& b : c.blocks) {
            ++b->epoch;
            for (thread& t : b->threads)
                if (t.now == state::at_cluster_barrier) t.now = state::ready;
        }
    }

    void finish_exchange(const thread& one) {
        block& b = *one.of;
        const unsigned int mask = one.mask;
        const std::size_t first = static_cast<std::size_t>(&one - b.threads.data()) / lanes_of_warp * lanes_of_warp;
        const std::size_t lanes = std::min<std::size_t>(lanes_of_warp, b.threads.size() - first);
        thread* const warp = &b.threads[first];
        for (std::size_t l = 0; l < lanes; ++l) {
            if ((mask >> l & 1u) == 0 || warp[l].now == state::ended) continue;
            if (warp[l].now != state::in_exchange) return;
            if (warp[l].mask != mask) fault("lanes of one warp call for other masks");
            if (warp[l].function != one.function && std::strcmp(warp[l].function, one.function) != 0)
                fault("lanes of one warp are at different functions of a warp");
        }
        ++b.warp_epochs[first / lanes_of_warp];
        std::uint64_t all[lanes_of_warp];
        std::memset(all, junk, sizeof all);
        for (std::size_t l = 0; l < lanes; ++l)
            if ((mask >> l & 1u) != 0 && warp[l].now != state::ended) all[l] = warp[l].given;
        for (std::size_t l = 0; l < lanes; ++l) {
            if ((mask >> l & 1u) == 0 || warp[l].now == state::ended) continue;
            std::memcpy(warp[l].all, all, sizeof all);
            warp[l].now = state::ready;
        }
    }

    // ---- Blocks.

    /// Clusters begin in their order, as they most often do on a GPU, the other way round, or in any order.
    void choose_order() {
        order_.resize(std::size_t{shape_.grid.x / shape_.cluster} * shape_.grid.y * shape_.grid.z);
        std::iota(order_.begin(), order_.end(), 0u);
        const std::uint32_t way = random_.below(4);
        if (way == 1) std::ranges::reverse(order_);
        for (std::size_t i = way < 2 ? 0 : order_.size(); i > 1; --i)
            std::swap(order_[i - 1], order_[random_.below(static_cast<std::uint32_t>(i))]);
    }

    /// Starts clusters while fewer than that many are resident; returns whether one has started.
    bool start_next(unsigned int clusters) {
        if (resident_.size() >= clusters || next_ == order_.size()) return false;
        while (resident_.size() < clusters && next_ < order_.size()) start(order_[next_++]);
        return true;
    }

    void start(unsigned int number) {
        cluster& c = *resident_.emplace_back(std::make_unique<cluster>());
        const unsigned int across = shape_.grid.x / shape_.cluster;
        const unsigned int threads = shape_.threads.x * shape_.threads.y * shape_.threads.z;
        for (unsigned int rank = 0; rank < shape_.cluster; ++rank) {
            block& b = *c.blocks.emplace_back(std::make_unique<block>());
            b.of = &c;
            b.number = number * shape_.cluster + rank;
            b.alive = threads;
            b.image.assign(kernel_.shared_bytes, static_cast<char>(junk));
            b.threads.resize(threads);
            b.warp_epochs.resize((threads + lanes_of_warp - 1) / lanes_of_warp);
            const index3 at{number % across * shape_.cluster + rank, number / across % shape_.grid.y,
                            number / across / shape_.grid.y};
            for (unsigned int i = 0; i < threads; ++i) {
                thread& t = b.threads[i];
                t.of = &b;
                t.at = {{i % shape_.threads.x, i / shape_.threads.x % shape_.threads.y,
                         i / shape_.threads.x / shape_.threads.y},
                        at,
                        shape_.threads,
                        shape_.grid,
                        i % lanes_of_warp,
                        rank};
            }
        }
        c.alive = threads * shape_.cluster;
    }

    bool advance(cluster& c) {
        bool progress = false;
        for (auto& b : c.blocks) {
            if (b->alive == 0) continue;
            if (kernel_.shared_bytes != 0) std::memcpy(kernel_.shared, b->image.data(), kernel_.shared_bytes);
            progress = advance(*b) || progress;
            if (kernel_.shared_bytes != 0) std::memcpy(b->image.data(), kernel_.shared, kernel_.shared_bytes);
        }
        return progress;
    }

    /// Runs until all threads of a block wait, or poll in vain; or only part of the way, because a GPU may halt a block
    /// anywhere.
    bool advance(block& b) {
        if (b.halted != 0) return --b.halted, true;
        bool any = false;
        const std::uint32_t warps = static_cast<std::uint32_t>((b.threads.size() + lanes_of_warp - 1) / lanes_of_warp);
        for (bool progress = true; progress && b.alive != 0;) {
            progress = false;
            const std::uint32_t turn = random_.below(warps), flip = random_.below(2);
            for (std::uint32_t w = 0; w < warps; ++w) {
                const std::uint32_t warp = (turn + (flip != 0 ? warps - 1 - w : w)) % warps;
                progress = advance(b, warp * lanes_of_warp) || progress;
            }
            any = any || progress;
            if (progress && random_.below(stops_) == 0) {
                b.halted = random_.below(32);
                break;
            }
        }
        return any;
    }

    bool advance(block& b, std::size_t first) {
        bool progress = false;
        const std::size_t lanes = std::min<std::size_t>(lanes_of_warp, b.threads.size() - first);
        const bool backwards = random_.below(2) != 0;
        const auto turn = random_.below(static_cast<std::uint32_t>(lanes));
        for (std::size_t i = 0; i < lanes; ++i) {
            const std::size_t lane = (turn + (backwards ? lanes - 1 - i : i)) % lanes;
            thread& t = b.threads[first + lane];
            if (t.now != state::ready && t.now != state::looking && t.now != state::unstarted) continue;
            const bool looked = t.now == state::looking;
            resume(t);
            progress = progress || !looked || t.now != state::looking;
        }
        return progress;
    }

    const kernel_entry& kernel_;
    const launch_shape& shape_;
    void** arguments_;
    launch_number number_;
    memory_watch watch_;
    random_order random_;
    std::uint32_t stops_ = 1u << random_.below(8);  // every so many rounds of a block's threads, on average
    std::vector<bool> known_arrays_;                // those that were touched, and what the static ones hold together
    std::size_t static_shared_ = 0;
    thread* current_ = nullptr;
    std::vector<unsigned int> order_;  // of the clusters; and the next one to start
    std::size_t next_ = 0;
    std::list<std::unique_ptr<cluster>> resident_;
    std::vector<std::unique_ptr<fiber_of_threads>> all_;
    std::vector<fiber_of_threads*> free_;
};

}  // namespace

void run_grid(const kernel_entry& kernel, const launch_shape& shape, void** arguments, const device_memory& memory,
              launch_number number) {
    grid_run(kernel, shape, arguments, memory, number).run();
}

}  // namespace emulator
