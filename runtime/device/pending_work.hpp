// What streams had to do at some moment, of which one can ask later whether it is over: an event of each stream, given
// back to its backend when it has passed.
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

    /// Adds all present work of the stream; of a synchronous one there is none. What throws adds nothing.
    void add(const stream_state&);
    bool empty() const noexcept { return events_.empty(); }
    /// Whether all of it is done. Then it is empty.
    bool is_over();
    void wait();

private:
    void forget_last() noexcept;

    std::vector<std::pair<backend*, native_event>> events_;
};

}  // namespace ingot::runtime
