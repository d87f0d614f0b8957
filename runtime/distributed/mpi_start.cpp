// Finds and opens the module for MPI, lets ranks meet through it, and ends MPI with the process.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

#include <ingot/core/error.hpp>

#include "runtime/distributed/mpi_start.hpp"
#include "runtime/distributed/start.hpp"
#include "runtime/system/dynamic_library.hpp"
#include "runtime/system/environment.hpp"
#include "runtime/system/log.hpp"

namespace ingot::runtime {

namespace {

namespace fs = std::filesystem;

constexpr char module_file[] = "libingot_mpi.so";

const ingot_mpi_table* opened_module = nullptr;
bool has_begun_mpi = false;
/// Sessions that have begun, but for those that ended and of which no rank has failed.
constinit std::atomic<int> unfinished_sessions{0};

/// Where the module may lie: beside the library, beside the program, and where the build puts it and installs it.
std::vector<fs::path> possible_modules() {
    std::vector<fs::path> folders;
    Dl_info own{};
    if (dladdr(reinterpret_cast<void*>(end_mpi_session), &own) != 0 && own.dli_fname != nullptr)
        folders.push_back(fs::path(own.dli_fname).parent_path());
    std::error_code failure;
    folders.push_back(fs::read_symlink("/proc/self/exe", failure).parent_path());
    for (const char* const folder : {INGOT_MPI_BUILD_FOLDER, INGOT_MPI_INSTALL_FOLDER}) folders.emplace_back(folder);
    std::vector<fs::path> files;
    for (const fs::path& folder : folders)
        if (folder.is_absolute())
            files.push_back(folder / module_file);  // else the loader would look in its own places
    return files;
}

/// Opens the module. Throws library_error where it is not found, or cannot be used.
const ingot_mpi_table& open_module() {
    if (opened_module != nullptr) return *opened_module;
    std::string path, where;
    const auto given = environment_text("INGOT_MPI_MODULE");
    for (const fs::path& file : given ? std::vector<fs::path>{*given} : possible_modules()) {
        std::error_code failure;
        if (path.empty() && fs::exists(file, failure)) path = fs::absolute(file).string();
        where += (where.empty() ? "" : ", ") + file.string();
    }
    if (path.empty())
        throw library_error("[distributed] ranks use MPI by the module " + std::string(module_file) +
                            ", and there is none at " + where +
                            "; build Ingot where MPI is (Debian and Ubuntu: libopenmpi-dev), or name the file in "
                            "INGOT_MPI_MODULE");
    dynamic_library library(path);
    decltype(&ingot_mpi) table_of_module = nullptr;
    library.get(table_of_module, "ingot_mpi");
    const ingot_mpi_table& table = *table_of_module();
    if (table.version != ingot_mpi_version)
        throw library_error("[distributed] " + path + " has version " + std::to_string(table.version) +
                            " of its functions, and version " + std::to_string(ingot_mpi_version) + " is wanted");
    const std::string met = name_of_mpi(table);
    if (met.starts_with("Open MPI") != (table.is_open_mpi != 0))
        throw library_error("[distributed] " + path + " was built for another MPI than the process has, which is " +
                            met);
    library.keep_loaded();
    return *(opened_module = &table);
}

/// Whether a launcher has started this process that this MPI knows. Under another one each rank would be alone, or the
/// start would end the process.
bool knows_launcher(const ingot_mpi_table& mpi) {
    const auto has = [](const char* name) { return std::getenv(name) != nullptr; };
    if (mpi.is_initialized() != 0) return true;
    if (mpi.is_open_mpi != 0) return has("OMPI_COMM_WORLD_SIZE") || has("PMIX_RANK");
    return has("PMI_SIZE") || has("PMI_RANK") || has("PMI_FD");
}

/// The ranks of the session that ended last, of which one may fail that has not ended it.
std::shared_ptr<rank_group>& latest_group() {
    static auto& group = *new std::shared_ptr<rank_group>;
    return group;
}

bool has_failed(rank_group& group) noexcept {
    try {
        group.throw_if_failed();
        return false;
    } catch (...) {
        return true;
    }
}

/// Waits until all ranks have come to their end. False where one has failed and will not.
bool all_have_come() {
    void* request = nullptr;
    int has_come = 0;
    for (int error = opened_module->meet(&request); error == 0; error = opened_module->test(&request, &has_come)) {
        if (has_come != 0) return true;
        if (latest_group() && has_failed(*latest_group())) return false;
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return false;
}

/// At the exit of a process in which Ingot has begun MPI. MPI_Finalize waits for all ranks, so none calls it where one
/// has failed.
void end_mpi() {
    if (unfinished_sessions == 0 && all_have_come()) {
        opened_module->finish();
        latest_group().reset();
        return;
    }
    // Open MPI's mpirun stops all ranks once one ends without MPI_Finalize: they get the time to say of what they were
    // told.
    std::fflush(nullptr);
    std::this_thread::sleep_for(std::chrono::seconds(1));
}

void check(const char* call, int error) {
    if (error != 0)
        throw distributed_error("[distributed::session] " + std::string(call) + ": " +
                                text_of_mpi_error(*opened_module, error));
}

void log_start(const std::string& text) {
    if (is_logging()) emit_log({.kind = log_kind::session, .text = text});
}

/// The name by which other hosts know this one.
std::string name_of_host() {
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    return name;
}

/// Makes rank 0's host and port those of all ranks: rank 0 says them once it listens.
void share_address(meeting_place& own) {
    struct address {
        char host[256] = "";
        int port = 0;
    };
    const auto broadcast = [](address& a) { check("MPI_Bcast", opened_module->broadcast(&a, sizeof a)); };
    if (own.rank == 0) {
        own.tell_port = [broadcast, host = own.host](int port) {
            address a{"", port};
            host.copy(a.host, sizeof a.host - 1);
            broadcast(a);
        };
    } else {
        address a;
        broadcast(a);
        own.host = a.host;
        own.port = a.port;
    }
}

/// Opens the module, if it is there and is of the launcher's MPI. Throws where it must be there and is not.
bool opens_for_launcher(bool is_wanted) {
    try {
        return knows_launcher(open_module()) || is_wanted;
    } catch (const library_error& e) {
        if (is_wanted || environment_text("INGOT_MPI_MODULE")) throw;
        log_start("ranks do not use MPI: " + std::string(e.what()));
        return false;
    }
}

}  // namespace

std::string name_of_mpi(const ingot_mpi_table& mpi) {
    char text[256] = "";
    mpi.name_library(text, sizeof text);
    std::string name = text;
    std::ranges::replace(name, '\t', ' ');  // which MPICH has in it
    return name;
}

std::string text_of_mpi_error(const ingot_mpi_table& mpi, int error) {
    char text[512] = "";
    mpi.describe(error, text, sizeof text);
    return text;
}

const ingot_mpi_table& mpi_of_process() { return *opened_module; }

bool meet_by_mpi(std::optional<meeting_place>& at) {
    const std::string wish = environment_text("INGOT_TRANSPORT").value_or("");
    if (!wish.empty() && wish != "mpi" && wish != "tcp")
        throw distributed_error("[distributed::session] INGOT_TRANSPORT is \"" + wish + "\"; mpi or tcp is wanted");
    const bool is_launched = at && at->size > 1 && (at->launcher == "mpirun" || at->launcher == "srun");
    if (wish == "tcp" || (wish.empty() && !is_launched) || !opens_for_launcher(wish == "mpi")) return false;

    const ingot_mpi_table& mpi = *opened_module;
    meeting_place own;
    int local_size = 0, has_begun = 0;
    check("MPI_Init_thread", mpi.start(&own.rank, &own.size, &own.local_rank, &local_size, &has_begun));
    if (has_begun != 0) {
        has_begun_mpi = true;
        std::atexit(end_mpi);
    }
    if (at && at->size != own.size) {
        const std::string differing = at->launcher + " says " + std::to_string(at->size) + " ranks, and " +
                                      name_of_mpi(mpi) + ", which is not that launcher's, " + std::to_string(own.size);
        if (wish == "mpi") throw distributed_error("[distributed::session] " + differing);
        log_start("ranks do not use MPI: " + differing);
        return false;
    }
    ++unfinished_sessions;
    own.launcher = "MPI";
    own.host = local_size == own.size ? "127.0.0.1" : name_of_host();
    read_host(own);
    share_address(own);
    at = own;
    return true;
}

void end_mpi_session(const std::shared_ptr<rank_group>& group) noexcept {
    if (has_failed(*group)) return;
    --unfinished_sessions;
    group->leave();
    if (has_begun_mpi) latest_group() = group;
}

}  // namespace ingot::runtime
