// Finds memory accesses that nothing orders: it records which thread last touched each byte, and when.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "machine.hpp"

namespace emulator {

/// A thread at work. A barrier of its block ends an epoch of the block, a function of its warp one of the warp.
struct moment {
    std::uint32_t block = 0, cluster = 0, epoch = 0, warp_epoch = 0;
    std::uint16_t thread = 0;
};

/// The thread that last touched a byte.
struct toucher {
    static constexpr std::uint16_t nobody = 0xffff, several_blocks = 0xfffe, several_warps = 0xfffd, ordered = 0xfffc,
                                   several_lanes = 0x8000;
    std::uint32_t block = 0, cluster = 0, epoch = 0, warp_epoch = 0;
    std::uint16_t by = nobody;  // a thread; several_lanes | one of them; another of the above

    toucher() = default;
    explicit toucher(const moment& m)
        : block(m.block), cluster(m.cluster), epoch(m.epoch), warp_epoch(m.warp_epoch), by(m.thread) {}

    bool is_one(const moment& m) const { return by == m.thread && block == m.block; }
    bool same_warp(const moment& m) const {
        return by < several_warps && (by & (several_lanes - 1)) / lanes_of_warp == m.thread / lanes_of_warp;
    }
    /// The order within a cluster is not known here.
    bool conflicts_with(const moment& m) const {
        if (by == nobody || by == ordered || is_one(m)) return false;
        if (by == several_blocks) return true;
        if (block != m.block) return cluster != m.cluster;
        return epoch == m.epoch && (!same_warp(m) || warp_epoch == m.warp_epoch);
    }
    /// The known readers and this one.
    toucher joined(const moment& m) const {
        toucher all(m);
        if (by == nobody || is_one(m)) return all;
        if (by == ordered) return *this;
        if (by == several_blocks || block != m.block)
            all.by = several_blocks;
        else if (epoch != m.epoch)
            return all;
        else if (!same_warp(m))
            all.by = several_warps;
        else if (warp_epoch == m.warp_epoch)
            all.by = static_cast<std::uint16_t>(several_lanes | m.thread);
        return all;
    }
    std::string name() const {
        return by < several_lanes ? "thread " + std::to_string(by) + " of block " + std::to_string(block)
                                  : "several threads";
    }
};

/// Two accesses that nothing orders.
struct race {
    const char *mine, *theirs;
    toucher other;

    bool is_of_writes() const { return mine == theirs; }
    std::string text() const {
        return std::string(" is ") + mine + " after it was " + theirs + " by " + other.name() +
               ", and nothing orders the two";
    }
};

struct trace {
    toucher written, read;

    std::optional<race> touch(const moment& m, bool writes) {
        static constexpr char was_written[] = "written", was_read[] = "read";
        if (written.by == toucher::ordered) return {};
        std::optional<race> found;
        if (writes && read.conflicts_with(m)) found = race{was_written, was_read, read};
        if (!found && written.conflicts_with(m)) found = race{writes ? was_written : was_read, was_written, written};
        if (writes) {
            written = toucher(m);
            read = toucher();
        } else {
            read = read.joined(m);
        }
        return found;
    }
};

/// The traces of all memory that a launch touches, up to a limit.
class memory_traces {
public:
    std::optional<race> touch(const void* at, std::size_t bytes, const moment& m, bool writes) {
        std::optional<race> found;
        for_each(at, bytes, [&](trace& t) { found = found ? found : t.touch(m, writes); });
        return found;
    }
    /// An access that orders others: its bytes are traced no more.
    void touch_ordering(const void* at, std::size_t bytes) {
        for_each(at, bytes, [](trace& t) { t.written.by = toucher::ordered; });
    }

private:
    static constexpr std::size_t page_bytes = 1024, word = 4, most_pages = 8192;

    /// A word's first byte stands for all of it until a part of a word is touched.
    struct page {
        bool in_bytes = false;
        trace traces[page_bytes];

        void split() {
            for (std::size_t i = 0; i < page_bytes; ++i) traces[i] = traces[i / word * word];
            in_bytes = true;
        }
    };

    template <class F>
    void for_each(const void* at, std::size_t bytes, F&& act) {
        auto a = reinterpret_cast<std::uintptr_t>(at);
        const bool words = a % word == 0 && bytes % word == 0;
        for (const auto end = a + bytes; a < end;) {
            page* const p = find(a / page_bytes);
            if (p == nullptr) return;
            if (!words && !p->in_bytes) p->split();
            act(p->traces[a % page_bytes]);
            a += p->in_bytes ? 1 : word;
        }
    }

    page* find(std::uintptr_t number) {
        if (number == last_number_) return last_;
        const auto found = pages_.find(number);
        if (found == pages_.end() && pages_.size() == most_pages) return nullptr;
        last_number_ = number;
        last_ = (found != pages_.end() ? found->second : pages_[number] = std::make_unique<page>()).get();
        return last_;
    }

    std::unordered_map<std::uintptr_t, std::unique_ptr<page>> pages_;
    std::uintptr_t last_number_ = 0;
    page* last_ = nullptr;
};

}  // namespace emulator
