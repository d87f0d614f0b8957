// Ranks that are processes, two connections between each pair: one for data, which this thread alone uses, and one on
// which a watcher learns of failures. A connection that ends without a farewell is a rank that has ended: the system
// closes the connections of a killed process at once, and those of a host that is gone after some seconds of silence.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>

#include <ingot/core/error.hpp>

#include "runtime/distributed/host_messages.hpp"
#include "runtime/system/file_descriptor.hpp"

namespace ingot::runtime {

namespace {

using clock_type = std::chrono::steady_clock;

constexpr auto longest_start = std::chrono::minutes(10);
constexpr std::uint32_t greeting = 0x1607'0001;  // changes with what is sent

enum class purpose : std::uint32_t { introduction, data, watch };
struct hello {
    std::uint32_t magic = greeting;
    std::uint32_t size = 0, rank = 0;
    purpose use = purpose::introduction;
    std::uint32_t port = 0;  // at which the rank listens
};
struct address {
    std::uint32_t ip = 0;  // IPv4, in the network's order
    std::uint32_t port = 0;
};
enum class notice : std::uint32_t { failure, farewell };

[[noreturn]] void throw_start(const std::string& what) {
    throw distributed_error("[distributed::session] " + what + ": " + std::strerror(errno));
}

void set_options(int socket) {
    const int on = 1, idle = 4, interval = 2, count = 2;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
}

/// Blocking transfers of the start; false where the other side ends, or at the deadline.
template <class T>
bool send_to(int socket, const T& what, std::size_t bytes = sizeof(T)) {
    const auto* from = reinterpret_cast<const char*>(&what);
    for (std::size_t done = 0; done < bytes;) {
        const ssize_t n = ::send(socket, from + done, bytes - done, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        done += static_cast<std::size_t>(n);
    }
    return true;
}
template <class T>
bool receive_from(int socket, T& what, clock_type::time_point deadline, std::size_t bytes = sizeof(T)) {
    auto* to = reinterpret_cast<char*>(&what);
    for (std::size_t done = 0; done < bytes;) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - clock_type::now()).count();
        pollfd p{socket, POLLIN, 0};
        const int ready = left <= 0 ? 0 : ::poll(&p, 1, static_cast<int>(left));
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) return errno = ETIMEDOUT, false;
        const ssize_t n = ::recv(socket, to + done, bytes - done, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return errno = n == 0 ? ECONNRESET : errno, false;
        done += static_cast<std::size_t>(n);
    }
    return true;
}

file_descriptor listen_at(int& port) {
    file_descriptor s(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!s) throw_start("no socket");
    const int on = 1;
    setsockopt(s.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_ANY);
    a.sin_port = htons(static_cast<std::uint16_t>(port));
    if (::bind(s.get(), reinterpret_cast<sockaddr*>(&a), sizeof a) != 0 || ::listen(s.get(), 1024) != 0)
        throw_start("port " + std::to_string(port) + " cannot be listened at");
    socklen_t length = sizeof a;
    getsockname(s.get(), reinterpret_cast<sockaddr*>(&a), &length);
    port = ntohs(a.sin_port);
    return s;
}

std::uint32_t look_up_host(const std::string& host) {
    addrinfo wanted{}, *found = nullptr;
    wanted.ai_family = AF_INET;
    wanted.ai_socktype = SOCK_STREAM;
    if (const int failed = getaddrinfo(host.c_str(), nullptr, &wanted, &found); failed != 0)
        throw distributed_error("[distributed::session] rank 0's host \"" + host + "\": " + gai_strerror(failed));
    const std::uint32_t ip = reinterpret_cast<const sockaddr_in*>(found->ai_addr)->sin_addr.s_addr;
    freeaddrinfo(found);
    return ip;
}

/// Connects to an address at which nobody may listen yet.
file_descriptor connect_to(address to, const hello& who, clock_type::time_point deadline, const std::string& name) {
    for (auto pause = std::chrono::milliseconds(5);; pause = std::min(2 * pause, std::chrono::milliseconds(200))) {
        file_descriptor s(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        if (!s) throw_start("no socket");
        sockaddr_in a{};
        a.sin_family = AF_INET;
        a.sin_addr.s_addr = to.ip;
        a.sin_port = htons(static_cast<std::uint16_t>(to.port));
        if (::connect(s.get(), reinterpret_cast<sockaddr*>(&a), sizeof a) == 0 && send_to(s.get(), who)) {
            set_options(s.get());
            return s;
        }
        if (clock_type::now() > deadline) throw_start(name + " did not answer within ten minutes");
        std::this_thread::sleep_for(pause);
    }
}

class socket_group final : public rank_group {
public:
    explicit socket_group(const meeting_place& at)
        : rank_group(at.rank, at.size),
          data(static_cast<std::size_t>(at.size)),
          watched_(static_cast<std::size_t>(at.size)) {
        meet(at);
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) throw_start("no pipe");
        wake_ = file_descriptor(ends[0]);
        waker_ = file_descriptor(ends[1]);
        for (const file_descriptor& s : data)
            if (s) ::fcntl(s.get(), F_SETFL, O_NONBLOCK);
        watcher_ = std::thread([this] { watch(); });
    }
    ~socket_group() override {
        leave();
        is_ending_ = true;
        ::shutdown(stop_.get(), SHUT_RDWR);
        wake();
        watcher_.join();
    }

    bool all_agree(bool own) override {
        std::uint8_t all = own ? 1 : 0;
        if (rank == 0) {
            for (int r = 1; r < size; ++r) {
                std::uint8_t theirs = 0;
                transfer(r, &theirs, 1, false);
                all &= theirs;
            }
            for (int r = 1; r < size; ++r) transfer(r, &all, 1, true);
        } else {
            transfer(0, &all, 1, true);
            transfer(0, &all, 1, false);
        }
        return all != 0;
    }
    std::vector<std::byte> broadcast(std::span<const std::byte> of_rank_0) override {
        std::uint64_t bytes = of_rank_0.size();
        std::vector<std::byte> all(of_rank_0.begin(), of_rank_0.end());
        for (int r = 1; rank == 0 && r < size; ++r) {
            transfer(r, &bytes, sizeof bytes, true);
            transfer(r, all.data(), all.size(), true);
        }
        if (rank != 0) {
            transfer(0, &bytes, sizeof bytes, false);
            all.resize(bytes);
            transfer(0, all.data(), all.size(), false);
        }
        return all;
    }
    void fail(const std::string& why) noexcept override {
        // A rank that ends because another has failed says nothing of its own.
        if (note_failure(why)) tell(notice::failure, why);
    }
    void leave() noexcept override {
        if (std::exchange(has_left_, true)) return;
        std::optional<std::string> failure;
        {
            const std::lock_guard lock(mutex_);
            failure = failure_;
        }
        // A rank that was not told of the failure yet learns it from the first that ends.
        tell(failure ? notice::failure : notice::farewell, failure.value_or(""));
        for (const file_descriptor& s : data)
            if (s) ::shutdown(s.get(), SHUT_RDWR);
    }
    void throw_if_failed() override {
        const std::lock_guard lock(mutex_);
        if (failure_) throw distributed_error("[distributed] " + *failure_);
    }
    void when_failed(std::function<void()> f) override {
        const std::lock_guard lock(mutex_);
        if (!failure_) return told_.push_back(std::move(f));
        f();
    }
    bool has_left(int peer) noexcept override {
        char byte;
        const ssize_t n = ::recv(data[static_cast<std::size_t>(peer)].get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
        return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
    }
    void while_waiting(const std::function<void()>& f) override { while_waiting_ = f; }

    /// Waits until one of the sockets is ready. Throws where a rank has failed.
    void wait_for(std::vector<pollfd>& sockets) {
        sockets.push_back({wake_.get(), POLLIN, 0});
        for (int ready = 0; ready <= 0;) {
            ready = ::poll(sockets.data(), sockets.size(), while_waiting_ ? 10 : -1);
            if (ready < 0 && errno != EINTR) throw_start("poll");
            if (ready == 0) while_waiting_();
        }
        const bool is_woken = sockets.back().revents != 0;
        sockets.pop_back();
        if (is_woken) throw_if_failed();
    }
    [[noreturn]] void throw_lost(int peer) {
        // The watcher may know more: a failure's text is sent before the connections end.
        const auto deadline = clock_type::now() + std::chrono::seconds(1);
        while (clock_type::now() < deadline) {
            throw_if_failed();
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        note_failure("rank " + std::to_string(peer) + " has ended");
        throw_if_failed();
        std::abort();  // unreachable
    }

    std::vector<file_descriptor> data;  // of each other rank

private:
    void meet(const meeting_place& at) {
        const auto deadline = clock_type::now() + longest_start;
        int port = rank == 0 ? at.port : 0;
        const file_descriptor listener = listen_at(port);
        if (rank == 0 && at.tell_port) at.tell_port(port);
        const auto own_hello = [&](purpose p) {
            return hello{greeting, static_cast<std::uint32_t>(size), static_cast<std::uint32_t>(rank), p,
                         static_cast<std::uint32_t>(port)};
        };
        std::vector<address> table(static_cast<std::size_t>(size));
        const std::size_t table_bytes = table.size() * sizeof(address);
        if (rank == 0) {
            std::vector<file_descriptor> guests(table.size());
            for (int missing = size - 1; missing > 0;) {
                address from;
                hello who;
                file_descriptor s = accept_hello(listener, who, from, deadline, missing);
                if (!s || who.use != purpose::introduction || who.rank == 0 || guests[who.rank]) continue;
                table[who.rank] = {from.ip, who.port};
                guests[who.rank] = std::move(s);
                --missing;
            }
            for (int r = 1; r < size; ++r)
                if (!send_to(guests[static_cast<std::size_t>(r)].get(), table[0], table_bytes))
                    throw_start("rank " + std::to_string(r) + " left at the start");
        } else {
            const address host{look_up_host(at.host), static_cast<std::uint32_t>(at.port)};
            const file_descriptor s = connect_to(host, own_hello(purpose::introduction), deadline,
                                                 "rank 0 at " + at.host + ":" + std::to_string(at.port));
            if (!receive_from(s.get(), table[0], deadline, table_bytes)) throw_start("rank 0 did not say who is there");
            table[0] = host;
            // The ranks of rank 0's host came to it by the loopback address.
            const auto is_loopback = [](std::uint32_t ip) { return ntohl(ip) >> 24 == 127; };
            for (address& a : table)
                if (is_loopback(a.ip) && !is_loopback(host.ip)) a.ip = host.ip;
        }
        // Each rank calls those below it.
        for (int r = 0; r < rank; ++r)
            for (const purpose p : {purpose::data, purpose::watch})
                of(p)[static_cast<std::size_t>(r)] =
                    connect_to(table[static_cast<std::size_t>(r)], own_hello(p), deadline, "rank " + std::to_string(r));
        for (int missing = 2 * (size - 1 - rank); missing > 0;) {
            address from;
            hello who;
            file_descriptor s = accept_hello(listener, who, from, deadline, missing);
            if (!s || who.use == purpose::introduction || of(who.use)[who.rank]) continue;
            of(who.use)[who.rank] = std::move(s);
            --missing;
        }
        // Ends the watcher's poll.
        int ends[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw_start("no socket");
        stop_ = file_descriptor(ends[0]);
        stopped_ = file_descriptor(ends[1]);
    }

    std::vector<file_descriptor>& of(purpose p) { return p == purpose::data ? data : watched_; }

    /// A connection of another rank of this session; none where it is something else's.
    file_descriptor accept_hello(const file_descriptor& listener, hello& who, address& from,
                                 clock_type::time_point deadline, int missing) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - clock_type::now()).count();
        pollfd p{listener.get(), POLLIN, 0};
        if (left <= 0 || ::poll(&p, 1, static_cast<int>(left)) == 0)
            throw distributed_error("[distributed::session] " + std::to_string(missing) + " of " +
                                    std::to_string(size - 1) + " connections were missing after ten minutes");
        sockaddr_in a{};
        socklen_t length = sizeof a;
        file_descriptor s(::accept4(listener.get(), reinterpret_cast<sockaddr*>(&a), &length, SOCK_CLOEXEC));
        const auto soon = std::min(deadline, clock_type::now() + std::chrono::seconds(5));
        if (!s || !receive_from(s.get(), who, soon) || who.magic != greeting) return {};
        if (who.size != static_cast<std::uint32_t>(size) || who.rank >= who.size)
            throw distributed_error("[distributed::session] a process came as rank " + std::to_string(who.rank) +
                                    " of " + std::to_string(who.size) + ", and this session has " +
                                    std::to_string(size) + " ranks");
        set_options(s.get());
        from.ip = a.sin_addr.s_addr;
        return s;
    }

    /// A few bytes to or from a peer.
    void transfer(int peer, void* bytes, std::size_t count, bool sends) {
        throw_if_failed();
        auto* at = static_cast<char*>(bytes);
        const int s = data[static_cast<std::size_t>(peer)].get();
        for (std::size_t done = 0; done < count;) {
            const ssize_t n =
                sends ? ::send(s, at + done, count - done, MSG_NOSIGNAL) : ::recv(s, at + done, count - done, 0);
            if (n > 0) {
                done += static_cast<std::size_t>(n);
            } else if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
                std::vector<pollfd> one{{s, static_cast<short>(sends ? POLLOUT : POLLIN), 0}};
                wait_for(one);
            } else {
                throw_lost(peer);
            }
        }
    }

    void tell(notice what, const std::string& text) noexcept {
        const std::uint32_t head[] = {static_cast<std::uint32_t>(what), static_cast<std::uint32_t>(text.size())};
        const std::lock_guard lock(telling_);
        for (const file_descriptor& s : watched_)
            if (s && ::send(s.get(), head, sizeof head, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof head && !text.empty())
                (void)!::send(s.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    bool note_failure(const std::string& why) noexcept {
        std::vector<std::function<void()>> told;
        {
            const std::lock_guard lock(mutex_);
            if (failure_) return false;
            failure_ = why;
            told.swap(told_);
        }
        wake();
        for (const auto& f : told) f();
        return true;
    }
    void wake() noexcept { (void)!::write(waker_.get(), "x", 1); }

    /// The watcher's thread.
    void watch() {
        std::vector<bool> has_left(watched_.size(), false);
        while (true) {
            std::vector<pollfd> sockets{{stopped_.get(), POLLIN, 0}};
            std::vector<int> ranks{-1};
            for (int r = 0; r < size; ++r)
                if (watched_[static_cast<std::size_t>(r)] && !has_left[static_cast<std::size_t>(r)]) {
                    sockets.push_back({watched_[static_cast<std::size_t>(r)].get(), POLLIN, 0});
                    ranks.push_back(r);
                }
            if (::poll(sockets.data(), sockets.size(), -1) < 0 && errno != EINTR) return;
            if (sockets[0].revents != 0 || is_ending_) return;
            for (std::size_t k = 1; k < sockets.size(); ++k) {
                if (sockets[k].revents == 0) continue;
                const auto r = static_cast<std::size_t>(ranks[k]);
                std::uint32_t head[2];
                const auto soon = clock_type::now() + std::chrono::seconds(1);
                if (!receive_from(sockets[k].fd, head, soon)) {
                    has_left[r] = true;
                    note_failure("rank " + std::to_string(ranks[k]) + " has ended");
                } else if (static_cast<notice>(head[0]) == notice::farewell) {
                    has_left[r] = true;
                } else {
                    std::string text(head[1], ' ');
                    receive_from(sockets[k].fd, text[0], soon, text.size());
                    has_left[r] = true;
                    note_failure(text);
                }
            }
        }
    }

    std::vector<file_descriptor> watched_;
    file_descriptor wake_, waker_, stop_, stopped_;
    std::mutex mutex_, telling_;
    std::optional<std::string> failure_;
    std::vector<std::function<void()>> told_;
    std::function<void()> while_waiting_;
    bool has_left_ = false;
    std::atomic<bool> is_ending_{false};
    std::thread watcher_;
};

class socket_transport final : public transport {
public:
    explicit socket_transport(std::shared_ptr<rank_group> group)
        : kept_(std::move(group)), group_(static_cast<socket_group&>(*kept_)), numbers_(group_.size) {}

    void exchange(std::span<const message> messages, stream_state& stream) override {
        group_.throw_if_failed();
        host_messages here(messages, stream);
        std::vector<flow> flows;
        for (const message& m : here.all()) flows.push_back({m, numbers_.next(m)});
        while (true) {
            std::vector<pollfd> sockets;
            std::vector<flow*> of;
            for (flow& f : flows)
                if (!f.is_done()) {
                    sockets.push_back({socket_of(f), static_cast<short>(f.m.is_sent ? POLLOUT : POLLIN), 0});
                    of.push_back(&f);
                }
            if (sockets.empty()) break;
            group_.wait_for(sockets);
            for (std::size_t k = 0; k < sockets.size(); ++k)
                if (sockets[k].revents != 0) advance(*of[k]);
        }
        here.finish();
    }

private:
    struct flow {
        message m;
        label own;          // what is sent, or expected
        label theirs = {};  // what comes
        std::size_t done = 0;
        bool is_done() const noexcept { return done == sizeof(label) + m.bytes; }
    };

    int socket_of(const flow& f) const { return group_.data[static_cast<std::size_t>(f.m.peer)].get(); }

    void advance(flow& f) {
        while (!f.is_done()) {
            const bool in_label = f.done < sizeof(label);
            auto* const from = in_label ? reinterpret_cast<std::byte*>(f.m.is_sent ? &f.own : &f.theirs) + f.done
                                        : static_cast<std::byte*>(f.m.data) + (f.done - sizeof(label));
            const std::size_t left = in_label ? sizeof(label) - f.done : sizeof(label) + f.m.bytes - f.done;
            const ssize_t n =
                f.m.is_sent ? ::send(socket_of(f), from, left, MSG_NOSIGNAL) : ::recv(socket_of(f), from, left, 0);
            if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
            if (n <= 0) group_.throw_lost(f.m.peer);
            f.done += static_cast<std::size_t>(n);
            if (!f.m.is_sent && in_label && f.done == sizeof(label)) check_label(group_, f.m.peer, f.theirs, f.own);
        }
    }

    std::shared_ptr<rank_group> kept_;
    socket_group& group_;
    message_numbers numbers_;
};

}  // namespace

std::shared_ptr<rank_group> make_socket_group(const meeting_place& at) { return std::make_shared<socket_group>(at); }
std::unique_ptr<transport> make_socket_transport(std::shared_ptr<rank_group> group) {
    return std::make_unique<socket_transport>(std::move(group));
}

}  // namespace ingot::runtime
