// A rank's session, meshes of ranks, and the split of an array's axes over them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <ingot/core/layout.hpp>
#include <ingot/core/random.hpp>
#include <ingot/distributed/session.hpp>

#include "runtime/distributed/transport.hpp"

namespace ingot::runtime {

using detail::index_t;

struct placement;
struct plan_table;

class rank_session {
public:
    /// `seed` is that of all ranks.
    rank_session(std::shared_ptr<rank_group>, device_id on, std::unique_ptr<transport>, std::uint64_t seed);

    ~rank_session();

    /// Makes the device and the generator current for the calling thread until it leaves.
    void enter();
    void leave() noexcept;

    const int rank, size;
    const device_id device;
    const std::shared_ptr<rank_group> group;
    distributed::traffic counted;

    bool is_thread = false;  // of run_local, which tells the others of an exception
    bool has_met_by_mpi = false;
    bool has_ended() const noexcept { return has_ended_; }
    /// Throws where a rank has failed, the first time only: what is here stays readable.
    void throw_failure_once();

    /// An exchange on the current stream of the rank's device.
    void exchange(std::span<const message>);
    /// The parts of as many bytes that these ranks have, in the order in which they lie in `all`; this rank's is there.
    void gather(std::span<const int> ranks, void* all, std::size_t bytes_of_each);

    /// The session's own object of this content, so that placements are compared by address.
    std::shared_ptr<const placement> shared(std::shared_ptr<const placement>);
    plan_table& plans();

private:
    const std::unique_ptr<transport> transport_;
    std::vector<message> gathered_;  // workspace
    random::generator generator_;
    random::generator* generator_before_ = nullptr;
    current_state before_;
    bool has_ended_ = false, has_thrown_ = false;
    // Both name the session in turn: leave() clears them.
    std::vector<std::shared_ptr<const placement>> placements_;
    std::unique_ptr<plan_table> plans_;
};

struct rank_mesh {
    std::shared_ptr<rank_session> session;
    std::vector<std::string> names;
    std::vector<int> extents;

    int axes() const noexcept { return static_cast<int>(extents.size()); }
    int coordinate(int rank, int axis) const noexcept {
        for (int k = axes() - 1; k > axis; --k) rank /= extents[static_cast<std::size_t>(k)];
        return rank % extents[static_cast<std::size_t>(axis)];
    }
    /// The axis of this name, or -1.
    int find(const std::string& name) const noexcept;
};

/// The mesh axis that each array axis is split over; -1: none.
struct split_axes {
    std::shared_ptr<const rank_mesh> mesh;
    std::vector<int> over;
    index_t ghost = 0;
};

}  // namespace ingot::runtime
