#include "runtime/system/log.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <utility>

#include "runtime/system/environment.hpp"
#include "runtime/system/fork.hpp"
#include "runtime/system/warning.hpp"

namespace ingot::runtime {

namespace {

constexpr std::array<std::pair<std::string_view, unsigned>, 6> groups{{
    {"compile", 1u << static_cast<int>(log_kind::compile)},
    {"cache", 1u << static_cast<int>(log_kind::memory_hit) | 1u << static_cast<int>(log_kind::disk_hit) |
                  1u << static_cast<int>(log_kind::bundle_hit)},
    {"cut", 1u << static_cast<int>(log_kind::cut)},
    {"memory", 1u << static_cast<int>(log_kind::allocation) | 1u << static_cast<int>(log_kind::deallocation)},
    {"session", 1u << static_cast<int>(log_kind::session)},
    {"all", ~0u},
}};

/// The kinds that INGOT_LOG names.
unsigned kinds_of_environment() {
    unsigned kinds = 0;
    std::istringstream list(environment_text("INGOT_LOG").value_or(""));
    for (std::string word; std::getline(list, word, ',');) {
        bool known = false;
        for (const auto& [name, bits] : groups)
            if (word == name) known = true, kinds |= bits;
        if (!known)
            warn_once("INGOT_LOG: \"" + word + "\" is unknown; known are compile, cache, cut, memory, session and all");
    }
    return kinds;
}

void print(const log_record& r) {
    std::fprintf(stderr, "ingot: %.*s\n", static_cast<int>(r.text.size()), r.text.data());
}

/// The logger, with a mutex for changing it.
struct listener {
    std::mutex mutex;
    std::shared_ptr<const logger> given;  // null: INGOT_LOG decides
    unsigned printed = 0;                 // kinds
    std::atomic<bool> is_there{false};

    listener() {
        lock_across_fork(mutex_rank::loggers, mutex);
        printed = kinds_of_environment();
        is_there = printed != 0;
    }
};
listener& the_listener() {
    static listener& one = *new listener;
    return one;
}

thread_local bool is_inside = false;
thread_local memory_log* outermost = nullptr;

}  // namespace

bool is_logging() noexcept try {
    return the_listener().is_there.load(std::memory_order_relaxed);
} catch (...) {  // no memory for it
    return false;
}

void emit_log(const log_record& r) noexcept {
    if (is_inside) return;
    is_inside = true;
    try {
        listener& l = the_listener();
        std::shared_ptr<const logger> to;
        unsigned printed = 0;
        {
            const std::lock_guard lock(l.mutex);
            to = l.given;
            printed = l.printed;
        }
        if (to)
            (*to)(r);
        else if ((printed >> static_cast<int>(r.kind) & 1) != 0)
            print(r);
    } catch (...) {  // a logger's failure does not affect the computation
    }
    is_inside = false;
}

memory_log::memory_log() noexcept : is_outermost_(outermost == nullptr && is_logging()) {
    if (is_outermost_) outermost = this;
}

memory_log::~memory_log() {
    if (!is_outermost_) return;
    outermost = nullptr;
    try {
        for (const entry& e : entries_) {
            const bool taken = e.kind == log_kind::allocation;
            const std::string text = (taken ? "took " : "gave back ") + std::to_string(e.bytes) +
                                     (taken ? " bytes from " : " bytes to ") + e.whose + to_string(e.device);
            emit_log({.kind = e.kind, .text = text, .bytes = e.bytes, .device = e.device});
        }
    } catch (...) {  // no memory for the text
    }
}

void memory_log::add(log_kind kind, std::size_t bytes, const char* whose, device_id device) noexcept try {
    if (outermost != nullptr) outermost->entries_.push_back({kind, bytes, whose, device});
} catch (...) {  // no memory: the record is dropped
}

}  // namespace ingot::runtime

namespace ingot {

logger set_logger(logger next) {
    runtime::listener& l = runtime::the_listener();
    auto given = next ? std::make_shared<const logger>(std::move(next)) : nullptr;
    const std::lock_guard lock(l.mutex);
    l.given.swap(given);
    l.is_there = l.given != nullptr || l.printed != 0;
    return given ? *given : logger();
}

}  // namespace ingot
