// Runs a program without a shell and waits for it. The child gets a clean signal mask, LC_ALL=C and the descriptors
// that the caller lists, as 0, 1, 2, ...; Ingot's other descriptors are close-on-exec.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace ingot::runtime {

/// How a program ended. `unknown`: other code collected its status (a SIGCHLD handler, or an ignored SIGCHLD).
struct program_end {
    enum class kind { exited, killed, not_started, unknown };
    kind how = kind::unknown;
    int value = 0;  ///< exit status, signal, or errno
};

/// `arguments[0]` is the program's path; `descriptors[i]` becomes the child's descriptor i.
program_end run_program(const std::vector<std::string>& arguments, std::span<const int> descriptors);

/// The path of a program, found along $PATH (a name with a slash is the path itself); empty where there is none.
std::filesystem::path find_program(const std::string& name);

}  // namespace ingot::runtime
