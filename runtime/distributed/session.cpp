// Sessions and meshes; the ranks of run_local.
#include "runtime/distributed/session.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <random>
#include <thread>

#include <ingot/core/error.hpp>

#include "runtime/device/device.hpp"
#include "runtime/distributed/evaluate.hpp"
#include "runtime/distributed/mpi_start.hpp"
#include "runtime/distributed/plan.hpp"
#include "runtime/distributed/start.hpp"
#include "runtime/front/evaluate.hpp"
#include "runtime/random/generator_of_ranks.hpp"

namespace ingot {

namespace runtime {

namespace {
constinit thread_local rank_session* session_of_thread = nullptr;
}  // namespace

rank_session::rank_session(std::shared_ptr<rank_group> all, device_id on, std::unique_ptr<transport> t,
                           std::uint64_t seed)
    : rank(all->rank), size(all->size), device(on), group(std::move(all)), transport_(std::move(t)), generator_(seed) {
    serve_distributed_arrays();
    after_wait.store([] {
        if (session_of_thread != nullptr) session_of_thread->throw_failure_once();
    });
}

void rank_session::throw_failure_once() {
    if (has_thrown_) return;
    try {
        group->throw_if_failed();
    } catch (...) {
        has_thrown_ = true;
        throw;
    }
}

void rank_session::enter() {
    before_ = current();
    if (!(before_.device == device)) {
        current_of_thread.stream = state_of(device).default_stream;
        current_of_thread.device = device;
    }
    generator_before_ = std::exchange(generator_of_ranks, &generator_);
    session_of_thread = this;
}

rank_session::~rank_session() = default;

std::shared_ptr<const placement> rank_session::shared(std::shared_ptr<const placement> made) {
    constexpr std::size_t most = 1024;
    for (const auto& known : placements_)
        if (*known == *made) return known;
    auto complete = std::make_shared<placement>(*made);
    complete->find_own_parts();
    made = std::move(complete);
    if (has_ended_) return made;
    if (placements_.size() == most) placements_.clear();
    return placements_.emplace_back(std::move(made));
}

plan_table& rank_session::plans() {
    if (!plans_) plans_ = std::make_unique<plan_table>();
    return *plans_;
}

void rank_session::leave() noexcept {
    has_ended_ = true;
    session_of_thread = nullptr;
    plans_.reset();
    placements_.clear();
    generator_of_ranks = generator_before_;
    current_of_thread = before_;
    if (has_met_by_mpi) end_mpi_session(group);
}

void rank_session::exchange(std::span<const message> messages) {
    if (messages.empty()) return;
    ++counted.exchanges;
    for (const message& m : messages) {
        counted.messages += m.is_sent;
        counted.bytes += m.is_sent ? m.bytes : 0;
    }
    transport_->exchange(messages, *context_on(device).stream);
}

void rank_session::gather(std::span<const int> ranks, void* all, std::size_t bytes_of_each) {
    const bool are_all = static_cast<int>(ranks.size()) == size && std::ranges::is_sorted(ranks);
    if (are_all && size > 1 && transport_->all_gather(all, bytes_of_each, *context_on(device).stream)) {
        ++counted.exchanges;
        ++counted.messages;
        counted.bytes += bytes_of_each * static_cast<std::size_t>(size - 1);
        return;
    }
    const auto part = [&](std::size_t k) { return static_cast<std::byte*>(all) + k * bytes_of_each; };
    std::byte* const own = part(static_cast<std::size_t>(std::ranges::find(ranks, rank) - ranks.begin()));
    gathered_.clear();
    for (std::size_t k = 0; k < ranks.size(); ++k) {
        if (ranks[k] == rank) continue;
        gathered_.push_back({ranks[k], own, bytes_of_each, true});
        gathered_.push_back({ranks[k], part(k), bytes_of_each, false});
    }
    exchange(gathered_);
}

int rank_mesh::find(const std::string& name) const noexcept {
    const auto found = std::ranges::find(names, name);
    return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

namespace {

/// The devices of ranks that are threads: GPUs of their own where there are enough, else one kind for all.
device_id device_of_thread(int rank, int ranks) {
    const device_id first = default_device();
    if (first.is_host()) return device::host(rank % 64);
    return device::cuda(rank % std::max(std::min(device::cuda_count(), ranks), 1));
}

void run_rank(const std::shared_ptr<rank_group>& group, std::uint64_t seed,
              const std::function<void(distributed::session&)>& f) {
    const device_id own = device_of_thread(group->rank, group->size);
    const bool has_own_gpu = own.is_cuda() && group->size > 1 && device::cuda_count() >= group->size;
    if (own.is_cuda()) state_of(own).backend->bind_thread();
    const auto state = std::make_shared<rank_session>(
        group, own, has_own_gpu ? make_nccl_transport(group, own) : make_thread_transport(group), seed);
    state->is_thread = true;
    distributed::session s(state);
    f(s);
    own.synchronize();
    group->leave();
}

[[noreturn]] void throw_no_axis(const rank_mesh& m, const char* name) {
    std::string names;
    for (const std::string& n : m.names) names += (names.empty() ? "" : ", ") + n;
    throw distributed_error("[distributed] the mesh has no axis \"" + std::string(name) + "\"; it has " + names);
}

int axis_of(const rank_mesh& m, const char* name) {
    const int axis = m.find(name);
    if (axis < 0) throw_no_axis(m, name);
    return axis;
}

}  // namespace

}  // namespace runtime

namespace distributed {

session::session(std::shared_ptr<runtime::rank_session> state)
    : state_(std::move(state)), exceptions_(std::uncaught_exceptions()) {
    state_->enter();
}
session::session() : session(runtime::start_session()) {}
session::~session() {
    if (std::uncaught_exceptions() > exceptions_ && !state_->is_thread)
        state_->group->fail("rank " + std::to_string(rank()) + " failed: an exception ended its session");
    state_->leave();
}

int session::rank() const noexcept { return state_->rank; }
int session::size() const noexcept { return state_->size; }
detail::device_id session::device() const noexcept { return state_->device; }
void session::barrier() const {
    state_->device.synchronize();
    state_->group->all_agree(true);
}

void run_local(int ranks, const std::function<void(session&)>& f) {
    if (ranks < 1 || ranks > 256)
        throw distributed_error("[distributed::run_local] " + std::to_string(ranks) + " ranks; 1 to 256 are wanted");
    const std::vector<std::shared_ptr<runtime::rank_group>> groups = runtime::make_thread_groups(ranks);
    const std::uint64_t seed = runtime::new_seed();
    std::mutex mutex;
    std::exception_ptr first;
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&, rank] {
            try {
                runtime::run_rank(groups[static_cast<std::size_t>(rank)], seed, f);
            } catch (...) {
                {
                    const std::lock_guard lock(mutex);
                    if (!first) first = std::current_exception();
                }
                std::string why = "an exception that is no std::exception";
                try {
                    throw;
                } catch (const std::exception& e) {
                    why = e.what();
                } catch (...) {
                }
                groups[static_cast<std::size_t>(rank)]->fail("rank " + std::to_string(rank) + " failed: " + why);
            }
        });
    for (std::thread& t : threads) t.join();
    if (first) std::rethrow_exception(first);
}

void run(const std::function<void(session&)>& f, int ranks_alone) {
    if (runtime::meeting_place_of_environment()) {
        session own;
        f(own);
        own.device().synchronize();
        return;
    }
    const bool on_gpus = runtime::default_device().is_cuda();
    run_local(ranks_alone > 0 ? ranks_alone : on_gpus ? device::cuda_count() : 4, f);
}

mesh::mesh(const session& s)
    : state_(std::make_shared<runtime::rank_mesh>(runtime::rank_mesh{s.state(), {"ranks"}, {s.size()}})) {}

mesh::mesh(const session& s, std::initializer_list<const char*> names, std::initializer_list<int> extents) {
    auto made =
        std::make_shared<runtime::rank_mesh>(runtime::rank_mesh{s.state(), {names.begin(), names.end()}, extents});
    long long product = 1;
    for (const int e : extents) product *= std::max(e, 0);
    if (names.size() != extents.size() || product != s.size())
        throw distributed_error("[distributed::mesh] " + std::to_string(names.size()) + " names and " +
                                std::to_string(extents.size()) + " extents with " + std::to_string(product) +
                                " places for " + std::to_string(s.size()) + " ranks");
    for (std::size_t k = 0; k < made->names.size(); ++k)
        if (made->find(made->names[k]) != static_cast<int>(k))
            throw distributed_error("[distributed::mesh] two axes are named \"" + made->names[k] + "\"");
    state_ = std::move(made);
}

int mesh::extent(const char* axis) const {
    return state_->extents[static_cast<std::size_t>(runtime::axis_of(*state_, axis))];
}
int mesh::coordinate(const char* axis) const {
    return state_->coordinate(state_->session->rank, runtime::axis_of(*state_, axis));
}

partition split(const mesh& m, std::initializer_list<const char*> names, ghost layers) {
    if (layers.width < 0)
        throw distributed_error("[distributed::split] ghost layers of width " + std::to_string(layers.width));
    runtime::split_axes made{m.state(), {}, layers.width};
    for (const char* name : names) {
        const int axis = *name == '\0' ? -1 : runtime::axis_of(*m.state(), name);
        if (axis >= 0 && std::ranges::find(made.over, axis) != made.over.end())
            throw distributed_error("[distributed::split] two axes are split over \"" + std::string(name) + "\"");
        made.over.push_back(axis);
    }
    return partition(std::make_shared<runtime::split_axes>(std::move(made)));
}

partition split(const mesh& m, ghost layers) { return split(m, {m.state()->names[0].c_str()}, layers); }
partition replicated(const mesh& m) { return split(m, {}, ghost(0)); }

traffic counters(const session& s) { return s.state()->counted; }

}  // namespace distributed
}  // namespace ingot
