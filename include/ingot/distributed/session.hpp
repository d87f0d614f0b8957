// Ranks, meshes of ranks, and partitions of arrays over them.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ingot/core/device.hpp>
#include <ingot/core/error.hpp>
#include <ingot/core/export.hpp>
#include <ingot/core/layout.hpp>

namespace ingot::runtime {
class rank_session;
struct rank_mesh;
struct split_axes;
}  // namespace ingot::runtime

namespace ingot::distributed {

/// A program's part in a group of ranks that run the same program, one on each device. While it lives, its thread's
/// current device is the rank's, and the thread's random numbers are those of all ranks.
///
///     distributed::run_local(2, [](distributed::session& s) {
///         s.barrier();
///         if (s.rank() == 1) std::cout << s.rank() << " of " << s.size() << ' ' << (s.device() == current_device());
///     });
///     // prints: 1 of 2 1
class session {
public:
    /// The session of the ranks with which the process was started: by torchrun, mpirun or srun, or with INGOT_RANKS,
    /// INGOT_RANK and INGOT_HOST (rank 0's address:port) in the environment; else one of this rank alone. The device is
    /// the GPU of the rank's number on its host, or the host. Waits until every rank has come, ten minutes at most.
    /// Ranks that mpirun or srun start use MPI where Ingot's module for it is found; the thread that makes the session
    /// then makes all calls of MPI. Throws distributed_error where a rank does not come, and library_error where
    /// INGOT_TRANSPORT=mpi asks for MPI and the module is missing.
    INGOT_API session();
    // Inner
    INGOT_API explicit session(std::shared_ptr<runtime::rank_session> state);
    session(const session&) = delete;
    session& operator=(const session&) = delete;
    INGOT_API ~session();

    /// This rank's number, from 0.
    INGOT_API int rank() const noexcept;
    /// The number of ranks.
    INGOT_API int size() const noexcept;
    /// The device of this rank.
    INGOT_API ingot::device device() const noexcept;
    /// Waits until every rank has come here and its device has done its work. Throws distributed_error where a rank has
    /// failed.
    INGOT_API void barrier() const;

    // Inner
    const std::shared_ptr<runtime::rank_session>& state() const noexcept { return state_; }

private:
    std::shared_ptr<runtime::rank_session> state_;
    int exceptions_;
};

/// Runs `f` in `ranks` threads, each a rank with a session and a device of its own: the first GPUs where there are so
/// many, else the current kind of device. Returns when all have returned. Throws what the first failing rank threw; the
/// other ranks' next exchange then throws distributed_error.
///
///     distributed::run_local(3, [](distributed::session& s) {
///         distributed::mesh m(s);
///         array<double> x = distributed::ones({10}, distributed::split(m));
///         array<double> total = sum(x);
///         if (s.rank() == 2) std::cout << total << ' ' << distributed::local(x).size();
///     });
///     // prints: 10.0 3
INGOT_API void run_local(int ranks, const std::function<void(session&)>& f);

/// Runs `f` as a rank of the session that the process was started for (see `session`). A process that was started alone
/// runs it in `ranks_alone` threads, as run_local does; 0: a rank for each GPU, or four on the host.
///
///     distributed::run([](distributed::session& s) {
///         if (s.rank() == 0) std::cout << (s.size() > 0);
///     });
///     // prints: 1
INGOT_API void run(const std::function<void(session&)>& f, int ranks_alone = 0);

/// The ranks of a session as a grid with named axes; the last axis varies fastest with the rank.
///
///     distributed::run_local(4, [](distributed::session& s) {
///         distributed::mesh m(s, {"y", "x"}, {2, 2});
///         if (s.rank() == 2) std::cout << m.coordinate("y") << ' ' << m.coordinate("x") << ' ' << m.extent("x");
///     });
///     // prints: 1 0 2
class mesh {
public:
    /// All ranks along one axis, "ranks".
    INGOT_API explicit mesh(const session& s);
    /// Throws distributed_error unless the product of the extents is the number of ranks and the names differ.
    INGOT_API mesh(const session& s, std::initializer_list<const char*> names, std::initializer_list<int> extents);

    /// The extent of an axis. Throws distributed_error where there is none of this name.
    INGOT_API int extent(const char* axis) const;
    /// This rank's place along an axis. Throws distributed_error where there is none of this name.
    INGOT_API int coordinate(const char* axis) const;

    // Inner
    const std::shared_ptr<const runtime::rank_mesh>& state() const noexcept { return state_; }

private:
    std::shared_ptr<const runtime::rank_mesh> state_;
};

/// The width of the layers of neighbours' elements that each rank keeps beside its part.
struct ghost {
    std::int64_t width = 0;
    constexpr explicit ghost(std::int64_t w) noexcept : width(w) {}
};

/// The way in which an array's axes are split over a mesh.
class partition {
public:
    // Inner
    explicit partition(std::shared_ptr<const runtime::split_axes> state) noexcept : state_(std::move(state)) {}
    // Inner
    const std::shared_ptr<const runtime::split_axes>& state() const noexcept { return state_; }

private:
    std::shared_ptr<const runtime::split_axes> state_;
};

/// Splits array axis k over the mesh axis named k-th, in contiguous parts whose extents differ by at most one; ""
/// leaves an axis whole, as all later axes are. Without names the first array axis is split over the first mesh axis.
/// Every split axis has ghost layers of the width given. Throws distributed_error for an unknown name, one given twice
/// and a negative width.
///
///     distributed::run_local(2, [](distributed::session& s) {
///         distributed::mesh m(s);
///         array<float> x = distributed::zeros<float>({4, 6}, distributed::split(m, {"", "ranks"}));
///         if (s.rank() == 0) std::cout << x.shape() << ' ' << distributed::local(x).shape();
///     });
///     // prints: (4, 6) (4, 3)
INGOT_API partition split(const mesh& m, std::initializer_list<const char*> names, ghost layers = ghost(0));
INGOT_API partition split(const mesh& m, ghost layers = ghost(0));

/// Every rank has the whole array: an ordinary array on its device.
///
///     distributed::run_local(2, [](distributed::session& s) {
///         distributed::mesh m(s);
///         array<int> x = distributed::ones<int>({3}, distributed::replicated(m));
///         if (s.rank() == 1) std::cout << x;
///     });
///     // prints: [1 1 1]
INGOT_API partition replicated(const mesh& m);

/// Counts of the calling rank's exchanges since its session began.
struct traffic {
    std::uint64_t exchanges = 0;  // calls in which the rank sent or received
    std::uint64_t messages = 0;   // sent
    std::uint64_t bytes = 0;      // sent
};

/// The exchanges of this rank so far.
///
///     distributed::session alone;
///     std::cout << distributed::counters(alone).messages;
///     // prints: 0
INGOT_API traffic counters(const session& s);

}  // namespace ingot::distributed
