// libnccl for ranks that are threads on emulated GPUs. A group ends once its sends and receives have met and the bytes
// are copied; a real one has only put them on the stream by then. It checks what NCCL leaves undefined: calls outside a
// group, groups that do not end, a count that differs between the two sides, a device that two ranks have, calls on a
// communicator that is over.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "streams_of_libraries.hpp"

namespace {

enum result : int { success = 0, internal_error = 3, invalid_argument = 4, invalid_usage = 5 };

struct id {
    char bytes[128];
};
struct post {
    const void* data;
    std::size_t bytes;
    bool is_copied = false;
};

/// The ranks that were made with one id.
struct world {
    std::mutex mutex;
    std::condition_variable changed;
    int size = 0, present = 0;
    std::vector<int> devices;
    std::map<std::pair<int, int>, std::deque<post*>> boxes;
    bool is_aborted = false;
};

std::mutex table_mutex;
std::map<int, std::shared_ptr<world>>& worlds() {
    static auto& all = *new std::map<int, std::shared_ptr<world>>;
    return all;
}

[[noreturn]] void misuse(const char* what) {
    std::fprintf(stderr, "emulated NCCL: %s\n", what);
    std::abort();
}

}  // namespace

struct communicator;

struct call {
    communicator* c;
    void* data;
    std::size_t bytes;
    int peer;
    bool sends;
    void* stream;
};

struct communicator {
    std::shared_ptr<world> all;
    int rank;
    bool is_final = false;
    std::vector<call> receives = {};  // of the groups that have ended and are not complete
    std::deque<post> sends = {};
};

namespace {

thread_local int depth = 0;
thread_local std::vector<call> calls;

/// Copies what has come. Returns whether all has.
bool progress(communicator& c) {
    world& w = *c.all;
    const std::size_t before = c.receives.size();
    std::erase_if(c.receives, [&](const call& k) {
        auto& box = w.boxes[{k.peer, c.rank}];
        if (box.empty()) return false;
        post& p = *box.front();
        if (p.bytes != k.bytes) misuse("a receive is of another size than its send");
        box.pop_front();
        std::memcpy(k.data, p.data, k.bytes);
        p.is_copied = true;
        return true;
    });
    if (c.receives.size() != before) w.changed.notify_all();
    while (!c.sends.empty() && c.sends.front().is_copied) c.sends.pop_front();
    return c.receives.empty() && c.sends.empty();
}

result run_group() {
    std::vector<call> now;
    now.swap(calls);
    if (now.empty()) return success;
    for (const call& k : now) emulator::wait_for(static_cast<cudaStream_t>(k.stream));
    communicator& c = *now[0].c;
    std::unique_lock lock(c.all->mutex);
    for (const call& k : now)
        if (k.sends)
            c.all->boxes[{c.rank, k.peer}].push_back(&c.sends.emplace_back(post{k.data, k.bytes}));
        else
            c.receives.push_back(k);
    c.all->changed.notify_all();
    c.all->changed.wait(lock, [&] { return c.all->is_aborted || progress(c); });
    return c.all->is_aborted ? internal_error : success;
}

result add(const call& k) {
    if (depth == 0) misuse("a call outside a group");
    if (k.c == nullptr || k.c->is_final) misuse("a call on a communicator that is over");
    if (k.peer < 0 || k.peer >= k.c->all->size || k.peer == k.c->rank) return invalid_argument;
    calls.push_back(k);
    return success;
}

}  // namespace

extern "C" {

result ncclGetVersion(int* version) {
    *version = 22809;
    return success;
}
result ncclGetUniqueId(id* made) {
    static int next = 0;
    const std::lock_guard lock(table_mutex);
    std::memset(made->bytes, 0, sizeof made->bytes);
    const int number = ++next;
    std::memcpy(made->bytes, &number, sizeof number);
    worlds()[number] = std::make_shared<world>();
    return success;
}
result ncclCommInitRankConfig(communicator** made, int size, id which, int rank, void* config) {
    if (config == nullptr) misuse("a communicator without a configuration");
    const int device = emulator::current_gpu();
    if (device < 0) misuse("no device is current");
    int number = 0;
    std::memcpy(&number, which.bytes, sizeof number);
    std::shared_ptr<world> w;
    {
        const std::lock_guard lock(table_mutex);
        w = worlds().at(number);
    }
    std::unique_lock lock(w->mutex);
    w->size = size;
    if (std::find(w->devices.begin(), w->devices.end(), device) != w->devices.end()) return invalid_usage;
    w->devices.push_back(device);
    *made = new communicator{w, rank, false, {}, {}};
    ++w->present;
    w->changed.notify_all();
    w->changed.wait(lock, [&] { return w->is_aborted || w->present == size; });
    return w->is_aborted ? internal_error : success;
}
result ncclSend(const void* data, std::size_t count, int, int peer, communicator* c, void* stream) {
    return add({c, const_cast<void*>(data), count, peer, true, stream});
}
result ncclRecv(void* data, std::size_t count, int, int peer, communicator* c, void* stream) {
    return add({c, data, count, peer, false, stream});
}
result ncclAllGather(const void* own, void* all, std::size_t count, int, communicator* c, void* stream) {
    if (depth != 0) misuse("a collective within a group of messages");
    emulator::wait_for(static_cast<cudaStream_t>(stream));
    ++depth;
    for (int r = 0; r < c->all->size; ++r) {
        auto* const part = static_cast<char*>(all) + count * static_cast<std::size_t>(r);
        if (r == c->rank) {
            if (part != own) std::memcpy(part, own, count);
            continue;
        }
        add({c, const_cast<void*>(own), count, r, true, stream});
        add({c, part, count, r, false, stream});
    }
    --depth;
    return run_group();
}
result ncclGroupStart() {
    ++depth;
    return success;
}
result ncclGroupEnd() {
    if (depth == 0) misuse("a group ends that did not start");
    return --depth == 0 ? run_group() : success;
}
result ncclCommGetAsyncError(communicator* c, result* state) {
    const std::lock_guard lock(c->all->mutex);
    *state = c->all->is_aborted ? internal_error : success;
    return success;
}
result ncclCommAbort(communicator* c) {
    const std::lock_guard lock(c->all->mutex);
    c->all->is_aborted = true;
    c->is_final = true;
    c->all->boxes.clear();  // the posts end with their communicators
    c->all->changed.notify_all();
    return success;
}
result ncclCommDestroy(communicator* c) {
    if (depth != 0) misuse("a communicator ends within a group");
    if (!c->sends.empty() && !c->all->is_aborted) misuse("a communicator ends before its sends");
    delete c;
    return success;
}
const char* ncclGetErrorString(result r) {
    return r == success          ? "no error"
           : r == internal_error ? "aborted"
           : r == invalid_usage  ? "a device twice"
                                 : "error";
}
}
