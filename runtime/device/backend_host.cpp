// The host as a device: its streams run work at once, on the calling thread and the shared workers.
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>

#include "runtime/device/backend.hpp"
#include "runtime/device/pool.hpp"
#include "runtime/device/transfer.hpp"

namespace ingot::runtime {

namespace {

using clock = std::chrono::steady_clock;

/// Blocks of this size and more are mapped, in huge pages where the system has them. The first touch of fresh memory
/// takes most of the time of a large evaluation, and a huge page takes 1 fault in place of 512.
constexpr std::size_t mapped_from = std::size_t{2} << 20;
constexpr std::size_t huge_page = std::size_t{2} << 20;

void* map_aligned(std::size_t bytes) {
    void* const all = mmap(nullptr, bytes + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) return nullptr;
    const auto begin = reinterpret_cast<std::uintptr_t>(all);
    const std::uintptr_t aligned = (begin + huge_page - 1) / huge_page * huge_page;
    if (aligned != begin) munmap(all, aligned - begin);
    if (const std::size_t rest = begin + huge_page - aligned) munmap(reinterpret_cast<void*>(aligned + bytes), rest);
    void* const data = reinterpret_cast<void*>(aligned);
    madvise(data, bytes, MADV_HUGEPAGE);  // a hint: without it the pages are small
    return data;
}

class host_backend final : public backend {
public:
    bool synchronous() const noexcept override { return true; }
    bool host_accessible() const noexcept override { return true; }

    std::string name() const override {
        std::ifstream info("/proc/cpuinfo");
        for (std::string line; std::getline(info, line);)
            if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
        return "host";
    }

    void check_memory(const void* data, std::size_t) override { check_host_memory(data); }

    memory_info memory() const override {
        const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        return {static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) * page,
                static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * page};
    }

    void* allocate(std::size_t bytes) override {
        if (bytes >= mapped_from) return map_aligned(bytes);
        const std::size_t whole =
            (bytes + block_granule - 1) / block_granule * block_granule;  // as aligned_alloc wants
        return std::aligned_alloc(block_granule, whole);
    }
    void release(void* data, std::size_t bytes) noexcept override {
        if (bytes < mapped_from)
            std::free(data);
        else
            munmap(data, bytes);
    }
    void* allocate_pinned(std::size_t bytes) override { return allocate(bytes); }
    void release_pinned(void* data, std::size_t bytes) noexcept override { release(data, bytes); }

    native_stream create_stream() override { return native_stream{0}; }
    bool idle(native_stream) override { return true; }
    void synchronize(native_stream) override {}

    native_event create_event(bool timed, bool) override {
        return native_event{timed ? reinterpret_cast<std::uintptr_t>(new clock::time_point{}) : 0};
    }
    void destroy_event(native_event e) noexcept override { delete time_of(e); }
    void record(native_event e, native_stream) override {
        if (clock::time_point* t = time_of(e)) *t = clock::now();
    }
    void wait(native_stream, native_event) override {}
    bool done(native_event) override { return true; }
    void synchronize(native_event) override {}
    float elapsed(native_event from, native_event to) override {
        return std::chrono::duration<float, std::milli>(*time_of(to) - *time_of(from)).count();
    }

    void copy(void* to, const void* from, std::size_t bytes, copy_direction, native_stream) override {
        copy_on_host(to, from, bytes);
    }
    void fill(void* to, unsigned char value, std::size_t bytes, native_stream) override {
        fill_on_host(to, value, bytes);
    }
    void launch(native_stream, const launch_record& r) override { r.body(r.argument); }

private:
    static clock::time_point* time_of(native_event e) {
        return reinterpret_cast<clock::time_point*>(static_cast<std::uintptr_t>(e));
    }
};

}  // namespace

std::unique_ptr<backend> make_host_backend() { return std::make_unique<host_backend>(); }

}  // namespace ingot::runtime
