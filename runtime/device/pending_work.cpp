// See pending_work.hpp.
#include "runtime/device/pending_work.hpp"

#include "runtime/device/stream.hpp"

namespace ingot::runtime {

void pending_work::add(const stream_state& s) {
    if (s.synchronous) return;
    events_.emplace_back(s.backend, native_event{});  // first, so that the event, once made, has an entry
    try {
        events_.back().second = s.backend->create_event(false);
    } catch (...) {
        events_.pop_back();
        throw;
    }
    try {
        record(events_.back().second, s);
    } catch (...) {
        drop_last();
        throw;
    }
}

bool pending_work::is_over() {
    while (!events_.empty()) {
        if (!events_.back().first->done(events_.back().second)) return false;
        drop_last();
    }
    return true;
}

void pending_work::wait() {
    while (!events_.empty()) {
        events_.back().first->synchronize(events_.back().second);
        drop_last();
    }
}

void pending_work::drop_last() noexcept {
    events_.back().first->recycle_event(events_.back().second);
    events_.pop_back();
}

}  // namespace ingot::runtime
