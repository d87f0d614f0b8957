// Captures, graphs and their launches.
#include <ingot/kernels/graphs.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <ingot/core/error.hpp>

#include "runtime/device/device.hpp"
#include "runtime/device/device_facts.hpp"
#include "runtime/device/driver.hpp"
#include "runtime/device/graphs.hpp"
#include "runtime/device/ordering.hpp"
#include "runtime/device/pool.hpp"
#include "runtime/front/evaluate.hpp"
#include "runtime/kernels/kernel_module.hpp"
#include "runtime/kernels/raw_kernels.hpp"
#include "runtime/system/counters.hpp"
#include "runtime/system/fork.hpp"

namespace ingot {
namespace runtime {

namespace {

constinit thread_local graph_capture* current_capture = nullptr;

/// A stream and a pool for one graph at a time. It is never freed, because arrays may hold memory of the pool.
struct capture_room {
    device_id device;
    std::unique_ptr<pool> memory;
    stream_state* stream = nullptr;
    std::vector<native_stream> of_loops;  // one for each depth
};

struct room_table {
    std::mutex& mutex = lock_across_fork(mutex_rank::tables, *new std::mutex);
    std::vector<capture_room*> free;
};
room_table& rooms() {
    static auto& all = *new room_table;
    return all;
}

capture_room& take_room(device_state& d) {
    {
        const std::lock_guard lock(rooms().mutex);
        auto& all_free = rooms().free;
        const auto found = std::ranges::find(all_free, d.id, [](const capture_room* r) { return r->device; });
        if (found != all_free.end()) {
            capture_room* const room = *found;
            all_free.erase(found);
            return *room;
        }
    }
    auto* const room = new capture_room{d.id, nullptr, nullptr, {}};
    // Guard bands are checked when memory is released; during a recording nothing has run by then.
    room->memory = std::make_unique<pool>(d.id, *d.backend, pool_options{.is_permanent = true, .guard_bytes = 0});
    lock_across_fork(mutex_rank::pools, room->memory->mutex());
    room->stream = &make_capture_stream(d, *room->memory);
    return *room;
}

void return_room(capture_room& room) noexcept try {
    room.memory->free_all_blocks();
    const std::lock_guard lock(rooms().mutex);
    rooms().free.push_back(&room);
} catch (...) {  // the driver is gone
}

#ifdef INGOT_HAS_CUDA_HEADERS
CUstream cu(native_stream s) { return reinterpret_cast<CUstream>(static_cast<std::uintptr_t>(s)); }
#endif

}  // namespace

graph_capture* capture_of_thread() noexcept { return current_capture; }

void throw_not_recorded(const char* what) {
    const std::string text = what;
    const bool waits = text.find("wait") == text.npos && text.find("work") == text.npos;
    throw device_error("[graph] " + text + (waits ? " waits for a result, which" : "") + " cannot be recorded");
}
void check_not_recorded(const stream_state& s, const char* what) {
    if (s.capture.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
        throw_not_recorded(what);
}
void check_stream_of_capture(const stream_state& s) {
    if (current_capture != nullptr && &s != &current_capture->stream) [[unlikely]]
        throw_not_recorded("work on another stream or device");
}

source_text condition_source(std::uint32_t architecture) {
    source_text source;
    source.where = target::cuda;
    source.architecture = "sm_" + std::to_string(architecture);
    source.kernels = {"set_condition"};
    source.text =
        "extern \"C\" __device__ void cudaGraphSetConditional(unsigned long long handle, unsigned int value);\n"
        "extern \"C\" __global__ void set_condition(unsigned long long handle, const bool* condition) {\n"
        "    cudaGraphSetConditional(handle, *condition);\n"
        "}\n";
    return source;
}

void graph_capture::touch(buffer& b, bool writes) {
    const auto [at, is_new] = touched.try_emplace(&b, touched_buffer{held_buffer(b), false});
    at->second.is_written |= writes;
    if (is_new) b.externally_visible = true;
}

void graph_capture::check_may_move(const buffer& b) const {
    const auto made = made_at_.find(&b);
    if (made == made_at_.end() || made->second != depth)
        throw error(
            "[graph] an array is written that shares its memory with a copy or an expression from before; the "
            "write would move it to new memory, which later launches would not use. Write to it once before the "
            "recording");
}

std::vector<held_buffer> graph_capture::own_in_use() const {
    std::vector<buffer*> all = own_;
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    settle_references();
    std::vector<held_buffer> used;
    for (buffer* const b : all)
        if (b->references.load(std::memory_order_acquire) != 0) used.emplace_back(*b);
    return used;
}

namespace {

/// At the end of a capture, makes the default stream the writer of memory that the capture made: nothing on the
/// capture's stream wrote it, and the next capture uses that stream too.
struct leave_memory_behind {
    const graph_capture& capture;
    ~leave_memory_behind() try {
        const stream_state& present = *state_of(capture.stream.device).default_stream;
        for (const held_buffer& own : capture.own_in_use())
            (*own).writer.store(present.index, std::memory_order_relaxed);
    } catch (...) {  // no memory for the list
    }
};

}  // namespace

struct graph_state {
    capture_room* room = nullptr;
    std::string moved;  // why it can no longer be launched; under the mutex of watched_memory
    std::vector<touched_buffer> touched;
    std::vector<buffer_ref> constants;
    std::vector<const raw_program*> programs;
    std::vector<host_step> steps;
    std::size_t size = 0;
    std::mutex mutex;  // of launches
    native_event launched{};
    bool is_launched = false;
#ifdef INGOT_HAS_CUDA_HEADERS
    CUgraph recorded = nullptr;
    CUgraphExec executable = nullptr;
#endif

    graph_state() = default;
    graph_state(const graph_state&) = delete;
    graph_state& operator=(const graph_state&) = delete;
    ~graph_state();
};

namespace {

/// Memory from before a capture, and the graphs that use it.
struct watched_memory {
    std::mutex& mutex = lock_across_fork(mutex_rank::tables, *new std::mutex);
    std::unordered_multimap<const buffer*, graph_state*> graphs;
};
watched_memory& watched() {
    static auto& all = *new watched_memory;
    return all;
}

}  // namespace

bool is_in_graphs(const buffer& b) noexcept {
    if (b.exports.load(std::memory_order_acquire) == 0) return false;
    watched_memory& table = watched();
    const std::lock_guard lock(table.mutex);
    return table.graphs.contains(&b);
}

void move_to(buffer_ref& memory, buffer_ref fresh) {
    if (memory && is_in_graphs(*memory)) {
        const std::string what = std::to_string(memory->bytes) + " bytes";
        watched_memory& table = watched();
        const std::lock_guard lock(table.mutex);
        const auto [first, last] = table.graphs.equal_range(memory.get());
        for (auto at = first; at != last; ++at)
            if (at->second->moved.empty()) at->second->moved = what;
    }
    memory = std::move(fresh);
}

graph_state::~graph_state() {
    {
        watched_memory& table = watched();
        const std::lock_guard lock(table.mutex);
        for (const touched_buffer& t : touched) {
            const auto [first, last] = table.graphs.equal_range(&*t.memory);
            for (auto at = first; at != last;) at = at->second == this ? table.graphs.erase(at) : std::next(at);
        }
    }
    if (room == nullptr) return;
    backend& b = *room->stream->backend;
    try {
        if (is_launched) b.synchronize(launched);
        b.bind_thread();
    } catch (...) {  // the driver is gone
    }
    if (is_launched) b.recycle_event(launched);
#ifdef INGOT_HAS_CUDA_HEADERS
    if (executable != nullptr) driver()->cuGraphExecDestroy(executable);
    if (recorded != nullptr) driver()->cuGraphDestroy(recorded);
#endif
    steps.clear();
    touched.clear();
    constants.clear();
    return_room(*room);
}

namespace {

/// Makes the capture's stream current and records its work until the end.
class recording {
public:
    explicit recording(graph_capture& c) : capture_(c), before_(current()) {
#ifdef INGOT_HAS_CUDA_HEADERS
        if (c.stream.device.is_cuda()) {
            c.stream.backend->bind_thread();
            check(driver()->cuStreamBeginCapture(cu(c.stream.native), CU_STREAM_CAPTURE_MODE_RELAXED),
                  "beginning a graph");
        }
#endif
        c.stream.capture.store(&c, std::memory_order_relaxed);
        current_capture = &c;
        current().device = c.stream.device;
        current().stream = &c.stream;
        current().records = true;
    }
    recording(const recording&) = delete;
    /// Runs also if the body threw.
    ~recording() {
        if (is_over_) return;
        leave();
#ifdef INGOT_HAS_CUDA_HEADERS
        CUgraph graph = nullptr;
        if (capture_.stream.device.is_cuda() &&
            driver()->cuStreamEndCapture(cu(capture_.stream.native), &graph) == CUDA_SUCCESS && graph != nullptr)
            driver()->cuGraphDestroy(graph);
#endif
    }
    void end([[maybe_unused]] graph_state& to) {
        leave();
        is_over_ = true;
#ifdef INGOT_HAS_CUDA_HEADERS
        if (!capture_.stream.device.is_cuda()) return;
        check(driver()->cuStreamEndCapture(cu(capture_.stream.native), &to.recorded), "ending a graph");
        check(driver()->cuGraphInstantiateWithFlags(&to.executable, to.recorded, 0),
              "making a graph that can be launched");
#endif
    }

private:
    void leave() noexcept {
        capture_.stream.capture.store(nullptr, std::memory_order_relaxed);
        current_capture = nullptr;
        current().device = before_.device;
        current().stream = before_.stream;
        current().records = false;
    }

    graph_capture& capture_;
    current_state before_;
    bool is_over_ = false;
};

[[noreturn]] void throw_moved(const char* in) {
    throw error(
        std::string("[graph] ") + in +
        " moved an array to new memory, which the next run would not use; write the array in place, by assign(x, e)");
}

#ifdef INGOT_HAS_CUDA_HEADERS

CUfunction condition_setter(device_id device) {
    CUfunction function = nullptr;
    check(driver()->cuKernelGetFunction(&function,
                                        load(condition_source(architecture_of(device)))->kernel("set_condition")),
          "finding a kernel's function");
    return function;
}

void set_condition(const stream_state& s, CUfunction setter, CUgraphConditionalHandle handle, const void* condition) {
    void* parameters[] = {&handle, &condition};
    check(driver()->cuLaunchKernel(setter, 1, 1, 1, 1, 1, 1, 0, cu(s.native), parameters, nullptr),
          "setting a loop's condition");
}

/// Adds a node that repeats a graph, behind the recorded work.
CUgraph add_loop(const stream_state& s, CUgraphConditionalHandle& handle, CUfunction setter, const void* condition) {
    const driver_api& api = *driver();
    if (api.cuGraphConditionalHandleCreate == nullptr || api.cuGraphAddNode == nullptr ||
        api.cuStreamBeginCaptureToGraph == nullptr)
        throw device_error("[graph] the driver has no conditional nodes, which 12.4 and newer have");
    CUstreamCaptureStatus status{};
    cuuint64_t id = 0;
    CUgraph graph = nullptr;
    const CUgraphNode* before = nullptr;
    std::size_t count = 0;
    const auto ask = [&] {
        check(api.cuStreamGetCaptureInfo(cu(s.native), &status, &id, &graph, &before, &count),
              "asking what is recorded");
    };
    ask();
    CUcontext context = nullptr;
    check(api.cuCtxGetCurrent(&context), "asking the context");
    check(api.cuGraphConditionalHandleCreate(&handle, graph, context, 0, 0), "making a loop's condition");
    set_condition(s, setter, handle, condition);
    ask();
    CUgraphNodeParams node{};
    node.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    node.conditional.handle = handle;
    node.conditional.type = CU_GRAPH_COND_TYPE_WHILE;
    node.conditional.size = 1;
    node.conditional.ctx = context;
    CUgraphNode made = nullptr;
    check(api.cuGraphAddNode(&made, graph, before, nullptr, count, &node), "making a loop");
    check(api.cuStreamUpdateCaptureDependencies(cu(s.native), &made, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES),
          "putting what comes next behind a loop");
    return node.conditional.phGraph_out[0];
}

/// Redirects the work of a stream to the graph of a loop's body.
class recording_of_body {
public:
    recording_of_body(stream_state& s, native_stream inner, CUgraph body) : stream_(s), outer_(s.native) {
        check(
            driver()->cuStreamBeginCaptureToGraph(cu(inner), body, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_RELAXED),
            "beginning a loop's body");
        s.native = inner;
    }
    recording_of_body(const recording_of_body&) = delete;
    ~recording_of_body() {
        if (!is_over_) static_cast<void>(leave());
    }
    void end() {
        is_over_ = true;
        check(leave(), "ending a loop's body");
    }

private:
    CUresult leave() noexcept {
        CUgraph same = nullptr;
        return driver()->cuStreamEndCapture(cu(std::exchange(stream_.native, outer_)), &same);
    }

    stream_state& stream_;
    native_stream outer_;
    bool is_over_ = false;
};

constinit thread_local capture_room* room_of_thread = nullptr;

native_stream stream_of_loop(unsigned depth) {
    auto& all_streams = room_of_thread->of_loops;
    while (all_streams.size() <= depth)
        all_streams.push_back(room_of_thread->stream->backend->create_non_blocking_stream());
    return all_streams[depth];
}

#endif

/// Calls the body, evaluates the condition again, and checks that arrays from before the loop still have their memory.
template <class Body>
void turn(graph_capture& c, Body body) {
    const std::vector<held_buffer> before = c.own_in_use();
    struct deeper {
        explicit deeper(unsigned& d) : depth(d) { ++depth; }
        ~deeper() { --depth; }
        unsigned& depth;
    };
    {
        const deeper within(c.depth);
        body();
    }
    for (const held_buffer& b : before)
        if (!b.is_shared()) throw_moved("a loop's body");
}

const bool* address_of(const array<bool>& value) { return value.data(); }

}  // namespace
}  // namespace runtime

namespace detail {

bool is_recording() noexcept { return runtime::current_capture != nullptr; }

void check_condition(extents_ref shape) {
    if (shape.rank != 0)
        throw shape_error("[graph] a loop's condition has no axes, and one of shape " + to_text(shape.span()) +
                          " was given; any(...) and all(...) of it have none");
}

runtime::graph_state* record_graph(void (*body)(void*), void* argument) {
    using namespace runtime;
    if (current_capture != nullptr) throw device_error("[graph] a capture within a capture cannot be recorded");
    if (const device_id d = current().device; !d.is_cuda() && !d.is_host())
        throw device_error("[graph] " + to_string(d) + " records nothing");
    auto made = std::make_unique<graph_state>();
    capture_room& room = take_room(state_of(current().device));
    made->room = &room;
    graph_capture capture(*room.stream);
    const leave_memory_behind leaving{capture};
    {
        recording now(capture);
#ifdef INGOT_HAS_CUDA_HEADERS
        room_of_thread = &room;
#endif
        body(argument);
        // Throws where the body dropped an array that it read or wrote: nothing can change its elements any more, or
        // see them.
        for (const auto& [memory, touched] : capture.touched)
            if (!touched.memory.is_shared() && !capture.is_constant(*memory)) throw_moved("what is recorded");
        now.end(*made);
    }
    for (auto& [memory, touched] : capture.touched) made->touched.push_back(std::move(touched));
    for (held_buffer& own : capture.own_in_use()) {
        (*own).externally_visible = true;
        made->touched.push_back({std::move(own), true});
    }
    {
        watched_memory& table = watched();
        const std::lock_guard lock(table.mutex);
        for (const touched_buffer& t : made->touched) table.graphs.emplace(&*t.memory, made.get());
    }
    made->constants = std::move(capture.constants);
    made->programs = std::move(capture.programs);
    made->steps = std::move(capture.all_steps);
    made->size = capture.size;
    return made.release();
}

void record_loop(void (*condition)(void*, array<bool>&), void* of_condition, void (*body)(void*), void* of_body) {
    using namespace runtime;
    graph_capture& c = *current_capture;
    stream_state& s = c.stream;
    array<bool> asked;
    condition(of_condition, asked);
    const bool* const first = address_of(asked);
    if (s.synchronous) {
        auto inner = std::make_shared<std::vector<host_step>>();
        std::vector<host_step>* const outer = std::exchange(c.steps, inner.get());
        const bool* again = nullptr;
        try {
            turn(c, [&] {
                body(of_body);
                array<bool> once_more;
                condition(of_condition, once_more);
                again = address_of(once_more);
            });
        } catch (...) {
            c.steps = outer;
            throw;
        }
        c.steps = outer;
        return c.record([first, again, inner] {
            for (bool more = *first; more; more = *again)
                for (host_step& step : *inner) step();
        });
    }
#ifdef INGOT_HAS_CUDA_HEADERS
    if (s.device.is_cuda()) {
        const CUfunction setter = condition_setter(s.device);
        CUgraphConditionalHandle handle{};
        CUgraph repeated = add_loop(s, handle, setter, first);
        recording_of_body now(s, stream_of_loop(c.depth), repeated);
        turn(c, [&] {
            body(of_body);
            array<bool> once_more;
            condition(of_condition, once_more);
            set_condition(s, setter, handle, address_of(once_more));
        });
        return now.end();
    }
#endif
    throw device_error("[graph] " + to_string(s.device) + " has no loops");
}

void drop_graph(runtime::graph_state* state) noexcept { delete state; }

}  // namespace detail

void graph::launch() const {
    using namespace runtime;
    if (state_ == nullptr) throw device_error("[graph] an empty graph was launched");
    if (current_capture != nullptr) throw device_error("[graph] launching a graph is work that cannot be recorded");
    graph_state& g = *state_;
    stream_state& own = *g.room->stream;
    stream_state& s = *context_on(own.device).stream;
    const std::lock_guard lock(g.mutex);
    {
        watched_memory& table = watched();
        const std::lock_guard of_table(table.mutex);
        if (!g.moved.empty())
            throw error("[graph] an array of the graph, of " + g.moved +
                        ", was written while a copy or an expression from before the capture held its memory, and "
                        "moved to new memory: the graph would use the old elements. Record it anew, or drop such "
                        "copies before they or the array are written");
    }
    for (const touched_buffer& t : g.touched) t.is_written ? order_write(*t.memory, s) : order_read(*t.memory, s);
    for (const raw_program* const p : g.programs) order_variables(*p, s);
    s.backend->bind_thread();
#ifdef INGOT_HAS_CUDA_HEADERS
    if (own.device.is_cuda()) check(driver()->cuGraphLaunch(g.executable, cu(s.native)), "launching a graph");
#endif
    for (host_step& step : g.steps) step();
    if (!g.is_launched) g.launched = s.backend->create_event(false);
    g.is_launched = true;
    runtime::record(g.launched, s);
    add(counter::kernel_launches);
    if (codegen::error_record* const errors = own.errors.load(std::memory_order_acquire)) {
        const std::lock_guard of_stream(s.native_mutex);
        if (std::ranges::find(s.graph_errors, errors) == s.graph_errors.end()) s.graph_errors.push_back(errors);
    }
}

std::size_t graph::size() const noexcept { return state_ != nullptr ? state_->size : 0; }

}  // namespace ingot
