#include "runtime/system/subprocess.hpp"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "runtime/system/environment.hpp"

namespace ingot::runtime {

namespace {

struct spawn_settings {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;

    explicit spawn_settings(std::span<const int> descriptors) {
        posix_spawn_file_actions_init(&files);
        for (std::size_t i = 0; i < descriptors.size(); ++i) {
            posix_spawn_file_actions_adddup2(&files, descriptors[i], static_cast<int>(i));
        }

        // A compiler driver waits for its own children, which fails with an inherited SIGCHLD that is ignored.
        sigset_t none, reset;
        sigemptyset(&none);
        sigemptyset(&reset);
        sigaddset(&reset, SIGCHLD);
        sigaddset(&reset, SIGPIPE);
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &reset);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    spawn_settings(const spawn_settings&) = delete;
    ~spawn_settings() {
        posix_spawn_file_actions_destroy(&files);
        posix_spawnattr_destroy(&attributes);
    }
};

/// The environment with LC_ALL=C, because compile_host parses messages in English.
std::vector<char*> environment_of_child() {
    static char locale[] = "LC_ALL=C";
    std::vector<char*> entries{locale};
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        if (!std::string_view(*entry).starts_with("LC_ALL=")) entries.push_back(*entry);
    }
    entries.push_back(nullptr);
    return entries;
}

}  // namespace

program_end run_program(const std::vector<std::string>& arguments, std::span<const int> descriptors) {
    std::vector<char*> argv;
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    const spawn_settings settings(descriptors);

    pid_t child = 0;
    const int failure =
        posix_spawn(&child, argv[0], &settings.files, &settings.attributes, argv.data(), environment_of_child().data());
    if (failure != 0) return {program_end::kind::not_started, failure};

    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) return {program_end::kind::unknown, errno};
    }
    if (WIFSIGNALED(status)) return {program_end::kind::killed, WTERMSIG(status)};
    return {program_end::kind::exited, WEXITSTATUS(status)};
}

std::filesystem::path find_program(const std::string& name) {
    const auto executable = [](const std::filesystem::path& path) {
        std::error_code ignored;
        return std::filesystem::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
    };
    if (name.find('/') != name.npos) return executable(name) ? std::filesystem::path(name) : std::filesystem::path();

    for (const std::filesystem::path& folder : path_list("PATH")) {
        if (executable(folder / name)) return folder / name;
    }
    return {};
}

}  // namespace ingot::runtime
