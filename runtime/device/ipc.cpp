// See ipc.hpp and ingot/interop/ipc.hpp.
#include "runtime/device/ipc.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <ingot/core/error.hpp>
#include <ingot/interop/ipc.hpp>

#include "runtime/device/device.hpp"
#include "runtime/device/driver.hpp"
#include "runtime/device/foreign_memory.hpp"
#include "runtime/device/graphs.hpp"
#include "runtime/device/ordering.hpp"
#include "runtime/system/hash.hpp"

namespace ingot {
namespace runtime {

namespace {

using detail::index_t;

constexpr std::uint64_t mark_of_array = 0x0041'4350'4954'4721, mark_of_event = 0x0045'4350'4954'4721;
constexpr std::size_t page_bytes = 4096;

/// A process and its start time, which distinguishes it from a later one with the same number. 0 is none.
struct process_name {
    std::uint64_t word = 0;
    friend bool operator==(const process_name&, const process_name&) = default;
};

/// 0 where the process has ended.
process_name name_of(pid_t process) {
    std::FILE* const file = std::fopen(("/proc/" + std::to_string(process) + "/stat").c_str(), "re");
    if (file == nullptr) return {};
    char text[1024];
    const std::size_t n = std::fread(text, 1, sizeof text - 1, file);
    std::fclose(file);
    text[n] = 0;
    const char* at = std::strrchr(text, ')');  // the name before may have anything in it
    if (at == nullptr || at[1] == 0 || at[2] == 'Z' || at[2] == 'X') return {};
    constexpr int fields_to_start = 20;  // from the state, which is the third
    for (int k = 0; k < fields_to_start && at != nullptr; ++k) at = std::strchr(at + 1, ' ');
    if (at == nullptr) return {};
    constexpr int bits_of_start = 40;
    const std::uint64_t start = std::strtoull(at, nullptr, 10);
    return {static_cast<std::uint64_t>(process) << bits_of_start | (start & ((std::uint64_t{1} << bits_of_start) - 1))};
}
process_name name_of(process_name p) {
    constexpr int bits_of_start = 40;
    return name_of(static_cast<pid_t>(p.word >> bits_of_start));
}
process_name own_name() {
    const process_name own = name_of(getpid());
    if (own.word == 0) throw device_error("[ipc] /proc/" + std::to_string(getpid()) + "/stat cannot be read");
    return own;
}
/// Only /proc decides: a file that cannot be opened now does not mean that its process has ended.
bool has_ended(process_name p) {
    errno = 0;
    if (name_of(p).word == p.word) return false;
    return errno != EMFILE && errno != ENFILE && errno != ENOMEM && errno != EACCES;
}

/// The processes that have opened an array.
struct openers {
    std::atomic<std::uint64_t> is_over;  // the memory is released
    std::uint64_t namespace_of_owner;    // the namespace of the process numbers in the file's name
    std::array<std::atomic<std::uint64_t>, 500> processes;
};
static_assert(sizeof(openers) <= page_bytes && std::atomic<std::uint64_t>::is_always_lock_free);

std::string page_name(process_name of, std::uint64_t serial) {
    return "/dev/shm/ingot-" + std::to_string(of.word) + '-' + std::to_string(serial);
}

/// Maps the page of a file; null where there is none.
openers* map_page(const std::string& name, int flags) {
    const int file = open(name.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, S_IRUSR | S_IWUSR);
    if (file < 0) return nullptr;
    void* page = MAP_FAILED;
    if ((flags & O_CREAT) == 0 || ftruncate(file, page_bytes) == 0)
        page = mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    const int why = errno;
    close(file);
    errno = why;
    return page == MAP_FAILED ? nullptr : static_cast<openers*>(page);
}

/// The namespace of process numbers; 0 where it is unknown.
std::uint64_t own_namespace() {
    struct stat of {};
    return stat("/proc/self/ns/pid", &of) == 0 ? of.st_ino : 0;
}

/// Removes the files of processes that were killed. Files of another namespace are left, because their processes may
/// live.
void remove_files_of_ended() {
    DIR* const folder = opendir("/dev/shm");
    if (folder == nullptr) return;
    const std::uint64_t here = own_namespace();
    while (const dirent* const entry = readdir(folder)) {
        constexpr std::string_view prefix = "ingot-";
        const std::string name = entry->d_name;
        if (here == 0 || !name.starts_with(prefix)) continue;
        char* end = nullptr;
        const process_name owner{std::strtoull(name.c_str() + prefix.size(), &end, 10)};
        if (*end != '-' || !has_ended(owner)) continue;
        const int file = openat(dirfd(folder), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (file < 0) continue;
        std::uint64_t there = 0;
        const bool is_read =
            pread(file, &there, sizeof there, offsetof(openers, namespace_of_owner)) == ssize_t{sizeof there};
        close(file);
        if (is_read && there == here) unlinkat(dirfd(folder), name.c_str(), 0);
    }
    closedir(folder);
}

bool is_opened(openers& page) {
    bool found = false;
    for (auto& slot : page.processes) {
        std::uint64_t word = slot.load();
        if (word == 0) continue;
        if (!has_ended(process_name{word}))
            found = true;
        else
            slot.compare_exchange_strong(word, 0);  // the process ended without releasing the array
    }
    return found;
}

struct exported_memory {
    buffer_ref memory;
    bool shares;  // written in place: the reference makes no write split
    pid_t owner;
    std::string file;
    std::uint64_t serial;
    openers* page;

    /// Ends the export unless it is opened. A process that opens it meanwhile either sees `is_over` or is seen here.
    bool end() {
        if (is_opened(*page)) return false;
        page->is_over = 1;
        if (!is_opened(*page)) return true;
        page->is_over = 0;
        return false;
    }
    void let_go() noexcept {
        unlink(file.c_str());
        munmap(page, page_bytes);
        if (shares) memory->exports.fetch_sub(1, std::memory_order_release);
    }
};

struct all_exports {
    std::mutex mutex;
    std::map<std::pair<const buffer*, bool>, exported_memory> of;
    std::uint64_t next = 0;
};
all_exports& exports() {
    static auto& all_there_are = *new all_exports;
    return all_there_are;
}
constinit std::atomic<bool> has_exports{false};

void remove_files() {
    all_exports& table = exports();
    const std::lock_guard lock(table.mutex);
    for (auto& [key, e] : table.of)
        if (e.owner == getpid()) unlink(e.file.c_str());
}

}  // namespace

void release_finished_exports() noexcept {
    if (!has_exports.load(std::memory_order_acquire)) return;
    settle_references();
    std::vector<buffer_ref> dropped;  // destroyed outside the mutex: ending foreign memory may call this function
    try {
        all_exports& table = exports();
        const std::unique_lock lock(table.mutex, std::try_to_lock);
        if (!lock) return;
        // An array may be exported twice, for writing and for reading.
        const auto is_used_here = [&](const buffer_ref& memory) {
            const auto own = memory->exports.load(std::memory_order_acquire) + table.of.count({memory.get(), false}) +
                             static_cast<std::size_t>(std::ranges::count(dropped, memory));
            return memory->references.load(std::memory_order_acquire) > own;
        };
        for (auto at = table.of.begin(); at != table.of.end();) {
            exported_memory& e = at->second;
            if (e.owner != getpid() || is_used_here(e.memory) || !e.end()) {
                ++at;
                continue;
            }
            dropped.push_back(e.memory);
            e.let_go();
            at = table.of.erase(at);
        }
        has_exports.store(!table.of.empty(), std::memory_order_release);
    } catch (...) {  // no memory for the list: tried again next time
    }
}

#ifdef INGOT_HAS_CUDA_HEADERS

namespace {

/// The first bytes of a handle.
struct handle_head {
    std::uint64_t mark;
    hash128 checksum;  // of the bytes behind the head
};
struct array_handle {
    handle_head head;
    process_name process;
    std::uint64_t serial, offset, bytes;  // in the driver's allocation
    CUuuid gpu;
    CUipcMemHandle memory;
    std::uint8_t type, read_only, rank;
    index_t shape[detail::max_rank];
};
struct event_handle {
    handle_head head;
    process_name process;
    CUuuid gpu;
    CUipcEventHandle event;
};
static_assert(sizeof(array_handle) <= sizeof(ipc_handle) && sizeof(event_handle) <= sizeof(ipc_event_handle));

template <class H>
hash128 checksum_of(const H& h) {
    return hash_of(std::as_bytes(std::span(&h, 1)).subspan(sizeof(handle_head)));
}

template <class Bytes, class H>
Bytes packed(H& h, std::uint64_t mark) {
    h.head.mark = mark;
    h.head.checksum = checksum_of(h);
    Bytes made;
    std::memcpy(made.bytes, &h, sizeof h);
    return made;
}
template <class H, class Bytes>
H unpacked(const Bytes& from, std::uint64_t mark, const char* what) {
    H h;
    std::memcpy(&h, from.bytes, sizeof h);
    if (h.head.mark != mark || h.head.checksum != checksum_of(h)) throw error(what);
    return h;
}

CUdevice gpu_handle(device_id d) {
    CUdevice of = 0;
    check(need_driver("ipc").cuDeviceGet(&of, d.index()), "finding a GPU");
    return of;
}
CUuuid uuid_of(device_id d) {
    CUuuid id{};
    check(driver()->cuDeviceGetUuid(&id, gpu_handle(d)), "asking a GPU's UUID");
    return id;
}
device_id find_gpu(const char* operation, const CUuuid& id) {
    for (int i = 0; i < device::cuda_count(); ++i) {
        const CUuuid known = uuid_of(device::cuda(i));
        if (std::memcmp(known.bytes, id.bytes, sizeof id.bytes) == 0) return device::cuda(i);
    }
    throw device_error("[" + std::string(operation) +
                       "] the handle is of a GPU that this process does not have; usable "
                       "GPUs: " +
                       std::to_string(device::cuda_count()));
}

void check_alive(const char* operation, process_name p) {
    if (has_ended(p)) throw device_error("[" + std::string(operation) + "] the process that gave the handle is gone");
}

/// An array of another process, while it is used here.
struct opened_memory {
    backend* of = nullptr;
    CUdeviceptr base = 0;
    openers* page = nullptr;
    std::atomic<std::uint64_t>* slot = nullptr;
    pid_t owner = getpid();

    ~opened_memory() {
        if (owner != getpid()) return;  // after a fork the parent has it open
        try {
            if (base != 0) {
                of->bind_thread();
                driver()->cuIpcCloseMemHandle(base);
            }
        } catch (...) {  // the driver is gone
        }
        if (slot != nullptr) slot->store(0);
        if (page != nullptr) munmap(page, page_bytes);
    }
};

void take_slot(opened_memory& o, process_name self) {
    for (auto& slot : o.page->processes) {
        std::uint64_t free = 0;
        if (!slot.compare_exchange_strong(free, self.word)) continue;
        o.slot = &slot;
        return;
    }
    throw device_error("[from_ipc_handle] the array is opened " + std::to_string(o.page->processes.size()) +
                       " times already, and cannot be opened more often");
}

}  // namespace

#endif

}  // namespace runtime

namespace detail {

namespace {

/// Throws where an array cannot be exported; returns the stream whose work must be waited for.
runtime::stream_state& check_exportable(const buffer_ref& memory, const layout& where) {
    const device_id d = memory ? memory->device : runtime::current().device;
    if (!d.is_cuda())
        throw device_error("[to_ipc_handle] the array is on " + to_string(d) + "; handles are of memory of GPUs");
    if (!memory || where.size() == 0) throw shape_error("[to_ipc_handle] an array without elements has no memory");
    index_t expected = 1;
    for (int j = where.rank() - 1; j >= 0; --j) {
        if (where.shape()[j] != 1 && where.strides()[j] != expected)
            throw shape_error("[to_ipc_handle] the array is not in C order: shape " + to_text(where.extents()));
        expected *= where.shape()[j];
    }
    runtime::stream_state& s = runtime::stream_for_foreign_use("to_ipc_handle", d, nullptr);
    runtime::check_not_recorded(s, "giving an array to another process");
    return s;
}

}  // namespace

ipc_handle export_memory_to_write(dtype type, buffer_ref& memory, const layout& where) {
    check_exportable(memory, where);
    if (!memory->read_only) runtime::expose_for_writing(memory);
    return export_memory(type, memory, where, memory->read_only);
}

ipc_handle export_memory(dtype type, const buffer_ref& memory, const layout& where, bool read_only) {
    [[maybe_unused]] runtime::stream_state& s = check_exportable(memory, where);
#ifdef INGOT_HAS_CUDA_HEADERS
    using namespace runtime;
    const device_id d = memory->device;
    // A process that may write must also wait for readers.
    read_only ? order_read(*memory, s) : order_write(*memory, s);
    synchronize(s);
    array_handle h{};
    std::memset(static_cast<void*>(&h), 0, sizeof h);
    s.backend->bind_thread();
    CUdeviceptr base = 0;
    std::size_t whole = 0;
    const auto first = reinterpret_cast<CUdeviceptr>(memory->data);
    check(driver()->cuMemGetAddressRange(&base, &whole, first), "finding an array's allocation");
    check(driver()->cuIpcGetMemHandle(&h.memory, first), "to_ipc_handle: asking for a handle of the array's memory");
    h.process = own_name();
    h.offset = first - base + static_cast<std::uint64_t>(where.offset) * size_of(type);
    h.bytes = static_cast<std::uint64_t>(where.size()) * size_of(type);
    h.gpu = uuid_of(d);
    h.type = static_cast<std::uint8_t>(type);
    h.read_only = read_only;
    h.rank = static_cast<std::uint8_t>(where.rank());
    std::copy_n(where.shape(), where.rank(), h.shape);
    release_finished_exports();
    all_exports& table = exports();
    const std::lock_guard lock(table.mutex);
    const auto key = std::pair<const buffer*, bool>(memory.get(), !read_only);
    auto known = table.of.find(key);
    if (known == table.of.end() || known->second.owner != getpid()) {
        [[maybe_unused]] static const int at_exit = std::atexit(remove_files);
        exported_memory made{memory, !read_only, getpid(), page_name(h.process, table.next), table.next, nullptr};
        ++table.next;
        remove_files_of_ended();
        made.page = map_page(made.file, O_CREAT | O_EXCL);
        if (made.page == nullptr) throw device_error("[to_ipc_handle] " + made.file + ": " + std::strerror(errno));
        made.page->namespace_of_owner = own_namespace();
        if (made.shares) memory->exports.fetch_add(1, std::memory_order_acq_rel);
        known = table.of.insert_or_assign(key, std::move(made)).first;
        has_exports.store(true, std::memory_order_release);
    }
    h.serial = known->second.serial;
    return packed<ipc_handle>(h, mark_of_array);
#else
    static_cast<void>(type), static_cast<void>(where), static_cast<void>(read_only);
    throw device_error("[to_ipc_handle] " + runtime::why_no_driver());
#endif
}

void open_memory([[maybe_unused]] destination to, [[maybe_unused]] const ipc_handle& bytes) {
#ifdef INGOT_HAS_CUDA_HEADERS
    using namespace runtime;
    constexpr const char* operation = "from_ipc_handle";
    const auto h =
        unpacked<array_handle>(bytes, mark_of_array, "[from_ipc_handle] the bytes given are no handle of an array");
    const auto type = static_cast<dtype>(h.type);
    if (type != to.type)
        throw dtype_error("[from_ipc_handle] the array holds " + std::string(name(type)) + ", and " +
                          std::string(name(to.type)) + " is wanted");
    const process_name self = own_name();
    if (h.process == self)
        throw device_error("[from_ipc_handle] the handle is of this process' own array, which only others can open");
    check_alive(operation, h.process);
    const device_id d = find_gpu(operation, h.gpu);
    device_state& there = state_of(d);
    auto opened = std::make_unique<opened_memory>();
    opened->of = there.backend.get();
    constexpr const char* gone = "[from_ipc_handle] the array that the handle is of is gone";
    opened->page = map_page(page_name(h.process, h.serial), 0);
    if (opened->page == nullptr) {
        if (errno == ENOENT) throw device_error(gone);
        throw device_error("[from_ipc_handle] " + page_name(h.process, h.serial) + ": " + std::strerror(errno));
    }
    take_slot(*opened, self);
    if (opened->page->is_over != 0) throw device_error(gone);
    there.backend->bind_thread();
    check(driver()->cuIpcOpenMemHandle(&opened->base, h.memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
          "from_ipc_handle: opening the memory of another process");
    buffer_ref memory = unowned_buffer(
        reinterpret_cast<void*>(opened->base + h.offset), h.bytes, d,
        [](void* kept) { delete static_cast<opened_memory*>(kept); }, opened.get());
    static_cast<void>(opened.release());
    memory->read_only = h.read_only != 0;
    to.where = contiguous_layout({h.shape, static_cast<std::size_t>(h.rank)});
    to.memory = std::move(memory);
#else
    throw error("[from_ipc_handle] the bytes given are no handle of an array");
#endif
}

}  // namespace detail

ipc_event::~ipc_event() {
    if (native_ == nullptr) return;
    event_ = event();  // drops the event over the native one
    backend_->destroy_event(runtime::native_event{reinterpret_cast<std::uintptr_t>(native_)});
}

ipc_event::ipc_event() {
    const detail::device_id d = current_device();
    if (!d.is_cuda())
        throw device_error("[ipc_event] " + to_string(d) + " has no events for other processes, which GPUs have");
#ifdef INGOT_HAS_CUDA_HEADERS
    runtime::backend& backend = *runtime::state_of(d).backend;
    backend.bind_thread();
    CUevent made = nullptr;
    runtime::check(runtime::driver()->cuEventCreate(&made, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING),
                   "making an event for other processes");
    backend_ = &backend;
    native_ = made;
    event_ = event::from_native(made);
#endif
}

ipc_event::ipc_event([[maybe_unused]] const ipc_event_handle& bytes) : is_opened_(true) {
#ifdef INGOT_HAS_CUDA_HEADERS
    using namespace runtime;
    const auto h =
        unpacked<event_handle>(bytes, mark_of_event, "[ipc_event] the bytes given are no handle of an event");
    if (h.process == own_name())
        throw device_error("[ipc_event] the handle is of this process' own event, which only others can open");
    check_alive("ipc_event", h.process);
    const device_id d = find_gpu("ipc_event", h.gpu);
    runtime::backend& backend = *state_of(d).backend;
    backend.bind_thread();
    CUevent opened = nullptr;
    check(driver()->cuIpcOpenEventHandle(&opened, h.event), "ipc_event: opening the event of another process");
    backend_ = &backend;
    native_ = opened;
    const with_device there(d);
    event_ = event::from_native(opened);
#else
    throw error("[ipc_event] the bytes given are no handle of an event");
#endif
}

ipc_event_handle ipc_event::handle() const {
    if (native_ == nullptr || is_opened_)
        throw device_error(
            "[ipc_event] the event belongs to another process, and only that process can make its handle");
#ifdef INGOT_HAS_CUDA_HEADERS
    using namespace runtime;
    event_handle h{};
    std::memset(static_cast<void*>(&h), 0, sizeof h);
    h.process = own_name();
    CUdevice of = 0;
    backend_->bind_thread();
    check(driver()->cuCtxGetDevice(&of), "asking a context's GPU");
    check(driver()->cuDeviceGetUuid(&h.gpu, of), "asking a GPU's UUID");
    check(driver()->cuIpcGetEventHandle(&h.event, static_cast<CUevent>(native_)),
          "ipc_event: asking for a handle of the event");
    return packed<ipc_event_handle>(h, mark_of_event);
#else
    return {};
#endif
}

}  // namespace ingot
