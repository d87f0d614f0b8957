// Reads what a launcher leaves in the environment: torchrun, Open MPI's and MPICH's mpirun, srun, or INGOT_RANKS.
#include "runtime/distributed/start.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <random>

#include <ingot/core/error.hpp>

#include "runtime/device/device.hpp"
#include "runtime/distributed/mpi_start.hpp"
#include "runtime/system/log.hpp"

namespace ingot::runtime {

namespace {

const char* text_of(const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : nullptr;
}

int number_of(const char* name, int otherwise) {
    const char* const value = text_of(name);
    if (value == nullptr) return otherwise;
    int number = 0;
    const auto [end, failure] = std::from_chars(value, value + std::strlen(value), number);
    if (failure != std::errc{} || *end != '\0')
        throw distributed_error("[distributed::session] " + std::string(name) + " is \"" + value +
                                "\"; a number is wanted");
    return number;
}

/// A port that depends on a job's name, so that jobs of one host do not meet.
int port_of_job(std::string_view name) {
    std::uint32_t hash = 2166136261U;  // FNV-1a
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    return 20000 + static_cast<int>(hash % 12000U);
}

/// The first host of "node[004-007,009],other": node004.
std::string first_host(const std::string& list) {
    const std::size_t bracket = list.find('['), comma = list.find(',');
    if (bracket == std::string::npos || comma < bracket) return list.substr(0, comma);
    const std::size_t end = list.find_first_of("-,]", bracket);
    return list.substr(0, bracket) + list.substr(bracket + 1, end - bracket - 1);
}

}  // namespace

void read_host(meeting_place& at) {
    const char* const given = text_of("INGOT_HOST");
    if (given == nullptr) return;
    const std::string text = given;
    const std::size_t colon = text.rfind(':');
    int port = 0;
    const char* const end = text.data() + text.size();
    if (colon == std::string::npos || std::from_chars(text.data() + colon + 1, end, port).ptr != end || port < 1 ||
        port > 65535)
        throw distributed_error("[distributed::session] INGOT_HOST is \"" + text + "\"; address:port is wanted");
    at.host = text.substr(0, colon);
    at.port = port;
}

std::optional<meeting_place> meeting_place_of_environment() {
    meeting_place at;
    const char *ranks = nullptr, *rank = nullptr;
    if (text_of("INGOT_RANKS") != nullptr) {
        ranks = "INGOT_RANKS", rank = "INGOT_RANK";
        at = {0, 1, number_of("INGOT_LOCAL_RANK", number_of("INGOT_RANK", 0)), "127.0.0.1", 29400, "INGOT_RANKS"};
    } else if (text_of("WORLD_SIZE") != nullptr && text_of("RANK") != nullptr && text_of("MASTER_ADDR") != nullptr) {
        ranks = "WORLD_SIZE", rank = "RANK";
        // torchrun itself listens at its port.
        at = {0,         1, number_of("LOCAL_RANK", 0), text_of("MASTER_ADDR"), number_of("MASTER_PORT", 29400) + 1,
              "torchrun"};
    } else if (text_of("OMPI_COMM_WORLD_SIZE") != nullptr) {
        ranks = "OMPI_COMM_WORLD_SIZE", rank = "OMPI_COMM_WORLD_RANK";
        const char* job = text_of("PMIX_NAMESPACE");
        if (job == nullptr) job = text_of("OMPI_MCA_ess_base_jobid");
        const bool one_host = number_of("OMPI_COMM_WORLD_LOCAL_SIZE", 0) == number_of(ranks, 1);
        at = {0,
              1,
              number_of("OMPI_COMM_WORLD_LOCAL_RANK", 0),
              one_host ? "127.0.0.1" : "",
              port_of_job(job != nullptr ? job : ""),
              "mpirun"};
    } else if (text_of("SLURM_PROCID") != nullptr && text_of("SLURM_STEP_NUM_TASKS") != nullptr) {
        ranks = "SLURM_STEP_NUM_TASKS", rank = "SLURM_PROCID";
        const char* const hosts = text_of("SLURM_STEP_NODELIST");
        at = {0,
              1,
              number_of("SLURM_LOCALID", 0),
              hosts != nullptr ? first_host(hosts) : "",
              port_of_job(std::string(text_of("SLURM_JOB_ID") != nullptr ? text_of("SLURM_JOB_ID") : "") + "." +
                          (text_of("SLURM_STEP_ID") != nullptr ? text_of("SLURM_STEP_ID") : "")),
              "srun"};
    } else if (text_of("PMI_SIZE") != nullptr) {
        ranks = "PMI_SIZE", rank = "PMI_RANK";
        const bool one_host = number_of("MPI_LOCALNRANKS", 0) == number_of(ranks, 1);
        at = {0,
              1,
              number_of("MPI_LOCALRANKID", 0),
              one_host ? "127.0.0.1" : "",
              port_of_job(text_of("PMI_ID") != nullptr ? "" : "mpich"),
              "mpirun"};
    } else {
        return {};
    }
    at.size = number_of(ranks, 1);
    at.rank = number_of(rank, -1);
    if (at.rank < 0 || at.rank >= at.size)
        throw distributed_error("[distributed::session] " + at.launcher + " says rank " + std::to_string(at.rank) +
                                " of " + std::to_string(at.size));
    read_host(at);
    return at;
}

std::uint64_t new_seed() {
    std::random_device entropy;
    return static_cast<std::uint64_t>(entropy()) << 32 | entropy();
}

std::shared_ptr<rank_session> start_session() {
    std::optional<meeting_place> at = meeting_place_of_environment();
    const bool by_mpi = meet_by_mpi(at);
    if (!at || at->size == 1) {
        const auto lone = std::make_shared<rank_session>(make_lone_group(), current().device, nullptr, new_seed());
        lone->has_met_by_mpi = by_mpi;
        return lone;
    }
    if (!by_mpi && at->host.empty())
        throw distributed_error("[distributed::session] " + at->launcher +
                                " does not say where rank 0 is: set INGOT_HOST=address:port, on all ranks the same");
    const std::shared_ptr<rank_group> group = make_socket_group(*at);
    device_id own = default_device();
    bool has_own_gpu = own.is_cuda();
    if (own.is_cuda()) {
        const int gpus = device::cuda_count();
        // A launcher may show each rank its own GPU alone.
        const char* const visible = text_of("CUDA_VISIBLE_DEVICES");
        has_own_gpu = at->local_rank < gpus || (gpus == 1 && visible != nullptr);
        own = device::cuda(at->local_rank % std::max(gpus, 1));
    }
    const bool by_nccl = group->all_agree(has_own_gpu);
    std::uint64_t seed = new_seed();
    const std::vector<std::byte> common = group->broadcast(std::as_bytes(std::span(&seed, 1)));
    std::memcpy(&seed, common.data(), sizeof seed);
    if (own.is_cuda()) state_of(own).backend->bind_thread();
    auto session = std::make_shared<rank_session>(group, own,
                                                  by_nccl  ? make_nccl_transport(group, own)
                                                  : by_mpi ? make_mpi_transport(group)
                                                           : make_socket_transport(group),
                                                  seed);
    session->has_met_by_mpi = by_mpi;
    if (is_logging()) {
        const std::string meeting = by_mpi ? name_of_mpi(mpi_of_process()) : "TCP";
        const char* const exchanging = by_nccl ? "NCCL" : by_mpi ? "MPI" : "TCP";
        const std::string text = "rank " + std::to_string(at->rank) + " of " + std::to_string(at->size) + " on " +
                                 to_string(own) + " met the others by " + meeting + " and exchanges by " + exchanging;
        emit_log({.kind = log_kind::session, .text = text, .device = own});
    }
    return session;
}

}  // namespace ingot::runtime
