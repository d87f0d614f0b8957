// The work that streams had at some moment, and whether it is complete: an event for each stream, which goes back to
// its backend when it has passed.
#pragma once

#include <utility>
#include <vector>

#include "runtime/device/backend.hpp"

namespace ingot::runtime {

struct stream_state;

class pending_work {
public:
    pending_work() = default;
    pending_work(pending_work&&) noexcept = default;
    pending_work& operator=(pending_work&& other) noexcept {
        events_.swap(other.events_);
        return *this;
    }
    ~pending_work() {
        for (const auto& [owner, e] : events_) owner->destroy_event(e);
    }

    /// Adds all present work of the stream; a synchronous one has none. A call that throws adds nothing.
    void add(const stream_state&);
    bool empty() const noexcept { return events_.empty(); }
    /// Whether all of it is complete; it is then empty.
    bool is_over();
    void wait();

private:
    void drop_last() noexcept;

    std::vector<std::pair<backend*, native_event>> events_;
};

}  // namespace ingot::runtime
