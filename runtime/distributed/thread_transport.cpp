// Ranks that are threads of one process: a sender posts the address of its bytes, the receiver copies them.
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>

#include <ingot/core/error.hpp>

#include "runtime/distributed/transport.hpp"

namespace ingot::runtime {

namespace {

/// The state that the threads share.
class shared_group {
public:
    explicit shared_group(int ranks) : ranks_(ranks), boxes_(static_cast<std::size_t>(ranks * ranks)) {}

    /// One sender's bytes. The sender waits until they are copied, or until a rank has failed and nobody copies them.
    struct post {
        const void* data;
        std::size_t bytes;
        int to;
        enum { posted, taken, copied } state = posted;
    };

    void send(int from, int to, post& p) {
        const std::lock_guard lock(mutex_);
        throw_if_failed_locked();
        box(from, to).push_back(&p);
        changed_.notify_all();
    }
    /// The next post of a sender, whose bytes the caller copies before it calls finish.
    post& receive(int from, int to, std::size_t bytes) {
        std::unique_lock lock(mutex_);
        auto& waiting = box(from, to);
        changed_.wait(lock, [&] { return failure_ || has_left(from) || !waiting.empty(); });
        throw_if_failed_locked();
        if (waiting.empty()) throw_left(from);
        post& next = *waiting.front();
        if (next.bytes != bytes)
            throw distributed_error("[distributed] rank " + std::to_string(from) + " sent " +
                                    std::to_string(next.bytes) + " bytes where rank " + std::to_string(to) +
                                    " expected " + std::to_string(bytes) +
                                    "; every rank must evaluate the same statements in the same order");
        waiting.erase(waiting.begin());
        next.state = post::taken;
        return next;
    }
    void finish(post& p) noexcept {
        const std::lock_guard lock(mutex_);
        p.state = post::copied;
        changed_.notify_all();
    }
    /// Returns when nobody will read the posts any more.
    void wait_for(int from, std::span<post> posts) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] {
            if (failure_)
                for (int to = 0; to < ranks_; ++to) box(from, to).clear();
            for (const post& p : posts)
                if (p.state == post::taken || (p.state == post::posted && !failure_ && !has_left(p.to))) return false;
            return true;
        });
        throw_if_failed_locked();
        for (const post& p : posts)
            if (p.state == post::posted) {
                std::erase(box(from, p.to), &p);
                throw_left(p.to);
            }
    }

    bool all_agree(bool own) {
        std::unique_lock lock(mutex_);
        throw_if_failed_locked();
        const std::uint64_t round = round_;
        agree_ = agree_ && own;
        if (++arrived_ == ranks_) {
            arrived_ = 0;
            ++round_;
            agreed_ = std::exchange(agree_, true);
            changed_.notify_all();
            return agreed_;
        }
        const auto left = [&] { return std::ranges::find(left_, true); };
        changed_.wait(lock, [&] { return failure_ || round_ != round || left() != left_.end(); });
        if (round_ != round) return agreed_;
        throw_if_failed_locked();
        throw_left(static_cast<int>(left() - left_.begin()));
    }
    void fail(const std::string& why) noexcept {
        std::vector<std::function<void()>> told;
        {
            const std::lock_guard lock(mutex_);
            if (failure_) return;
            failure_ = why;
            told.swap(told_);
            changed_.notify_all();
        }
        for (const auto& f : told) f();
    }
    void leave(int rank) noexcept {
        const std::lock_guard lock(mutex_);
        left_[static_cast<std::size_t>(rank)] = true;
        changed_.notify_all();
    }
    void throw_if_failed() {
        const std::lock_guard lock(mutex_);
        throw_if_failed_locked();
    }
    void when_failed(std::function<void()> f) {
        {
            const std::lock_guard lock(mutex_);
            if (!failure_) {
                told_.push_back(std::move(f));
                return;
            }
        }
        f();
    }
    std::vector<std::byte>& shared_bytes() noexcept { return shared_; }

private:
    std::vector<post*>& box(int from, int to) { return boxes_[static_cast<std::size_t>(from * ranks_ + to)]; }
    bool has_left(int rank) const { return left_[static_cast<std::size_t>(rank)]; }
    [[noreturn]] static void throw_left(int rank) {
        throw distributed_error("[distributed] rank " + std::to_string(rank) +
                                " has ended; every rank must evaluate the same statements in the same order");
    }
    void throw_if_failed_locked() const {
        if (failure_) throw distributed_error("[distributed] " + *failure_);
    }

    const int ranks_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::vector<post*>> boxes_;
    std::optional<std::string> failure_;
    std::vector<std::function<void()>> told_;
    int arrived_ = 0;
    bool agree_ = true, agreed_ = true;
    std::uint64_t round_ = 0;
    std::vector<std::byte> shared_;
    std::vector<bool> left_ = std::vector<bool>(static_cast<std::size_t>(ranks_), false);
};

class thread_group final : public rank_group {
public:
    thread_group(std::shared_ptr<shared_group> all, int own_rank, int ranks)
        : rank_group(own_rank, ranks), shared(std::move(all)) {}
    bool all_agree(bool own) override { return shared->all_agree(own); }
    std::vector<std::byte> broadcast(std::span<const std::byte> of_rank_0) override {
        if (rank == 0) shared->shared_bytes().assign(of_rank_0.begin(), of_rank_0.end());
        shared->all_agree(true);
        std::vector<std::byte> own = shared->shared_bytes();
        shared->all_agree(true);
        return own;
    }
    void fail(const std::string& why) noexcept override { shared->fail(why); }
    void leave() noexcept override { shared->leave(rank); }
    void throw_if_failed() override { shared->throw_if_failed(); }
    void when_failed(std::function<void()> f) override { shared->when_failed(std::move(f)); }

    const std::shared_ptr<shared_group> shared;
};

class thread_transport final : public transport {
public:
    explicit thread_transport(std::shared_ptr<rank_group> group) : group_(std::move(group)) {}

    void exchange(std::span<const message> messages, stream_state& stream) override {
        shared_group& shared = *static_cast<thread_group&>(*group_).shared;
        const int rank = group_->rank;
        std::vector<shared_group::post>& posts = posts_;  // others point to its elements
        posts.clear();
        posts.reserve(messages.size());
        try {
            wait_on_host(stream);
            for (const message& m : messages)
                if (m.is_sent)
                    shared.send(rank, m.peer, posts.emplace_back(shared_group::post{m.data, m.bytes, m.peer}));
            for (const message& m : messages) {
                if (m.is_sent) continue;
                shared_group::post& from = shared.receive(m.peer, rank, m.bytes);
                struct finished {  // also where the copy throws, since the sender waits
                    shared_group& group;
                    shared_group::post& of;
                    ~finished() { group.finish(of); }
                } const at_last{shared, from};
                stream.backend->copy(m.data, from.data, m.bytes, copy_direction::within, stream.native);
                wait_on_host(stream);
            }
        } catch (const std::exception& e) {
            const std::string_view text = e.what(), ours = "[distributed] ";
            shared.fail(text.starts_with(ours) ? std::string(text.substr(ours.size()))
                                               : "rank " + std::to_string(rank) + " failed: " + e.what());
        }
        shared.wait_for(rank, posts);
    }

private:
    std::shared_ptr<rank_group> group_;
    std::vector<shared_group::post> posts_;
};

class lone_group final : public rank_group {
public:
    lone_group() : rank_group(0, 1) {}
    bool all_agree(bool own) override { return own; }
    std::vector<std::byte> broadcast(std::span<const std::byte> own) override { return {own.begin(), own.end()}; }
    void fail(const std::string&) noexcept override {}
    void throw_if_failed() override {}
    void when_failed(std::function<void()>) override {}
};

}  // namespace

std::shared_ptr<rank_group> make_lone_group() { return std::make_shared<lone_group>(); }

std::vector<std::shared_ptr<rank_group>> make_thread_groups(int ranks) {
    const auto shared = std::make_shared<shared_group>(ranks);
    std::vector<std::shared_ptr<rank_group>> groups;
    for (int rank = 0; rank < ranks; ++rank) groups.push_back(std::make_shared<thread_group>(shared, rank, ranks));
    return groups;
}

std::unique_ptr<transport> make_thread_transport(std::shared_ptr<rank_group> group) {
    return std::make_unique<thread_transport>(std::move(group));
}

}  // namespace ingot::runtime
