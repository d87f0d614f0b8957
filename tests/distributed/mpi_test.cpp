// Ranks that MPI's launcher starts: they meet and exchange by MPI, or by TCP where they are told to or must.
#include <doctest/doctest.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <sys/wait.h>

#include <ingot/ingot.hpp>

#include "tests/cache/fixture.hpp"
#include "tests/untested.hpp"
#include "tests/walls/count.hpp"

namespace {

#if defined(INGOT_TEST_MPIEXEC) && defined(INGOT_TEST_MPI_MODULE)
constexpr bool can_start = true;
constexpr char mpiexec[] = INGOT_TEST_MPIEXEC;
#else
constexpr bool can_start = false;
constexpr char mpiexec[] = "";
#endif

/// The output of ranks that mpiexec starts, and its status.
struct said {
    std::vector<std::string> texts;
    int status = 0;
};

said run_by_mpi(int ranks, const std::string& environment, const std::string& program) {
    const ingot::test::scratch_directory scratch;
    const std::string folder = scratch.path().string();
    // Open MPI's rank, or MPICH's. Each writes a file of its own, for mpiexec mixes what they print.
    const std::string command =
        "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 "
        "INGOT_DEVICE=host INGOT_LOG=session " +
        environment + " timeout -k 5 60 '" + mpiexec + "' -n " + std::to_string(ranks) +
        " sh -c 'exec \"" INGOT_TEST_PROGRAMS "/\"" + program + " > " + folder +
        "/${OMPI_COMM_WORLD_RANK:-$PMI_RANK} 2>&1' > " + folder + "/mpiexec 2>&1";
    said all;
    const int ended = std::system(command.c_str());
    all.status = WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
    for (int r = 0; r < ranks; ++r) {
        std::ifstream file(scratch.path() / std::to_string(r));
        all.texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    return all;
}

bool says(const std::string& text, const std::string& what) { return text.find(what) != text.npos; }

/// The text without lines of the log and without the last line, which has the seconds.
std::string without_log(const std::string& text) {
    std::string kept;
    std::size_t last = 0;
    for (std::size_t at = 0, end; (end = text.find('\n', at)) != text.npos; at = end + 1)
        if (text.compare(at, 7, "ingot: ") != 0) {
            last = kept.size();
            kept += text.substr(at, end + 1 - at);
        }
    return kept.substr(0, last);
}

double seconds_of(const std::string& text) {
    return std::stod(text.substr(text.find_last_of('\n', text.size() - 2) + 1));
}

/// Says what is missing; false where nothing is.
bool is_untested() {
    if (thread_sanitizer || address_sanitizer)
        ingot::test::untested("not under sanitizers of threads or addresses");
    else if (!can_start)
        ingot::test::untested(
            "mpiexec, or what the module for MPI is built against, was not found when this was built");
    else
        return false;
    return true;
}

}  // namespace

TEST_CASE("ranks of mpiexec compute by MPI what one process does") {
    if (is_untested()) return;
    const said four = run_by_mpi(4, "", "ranks computes");
    CHECK(four.status == 0);
    for (int r = 0; r < 4; ++r) {
        const std::string& text = four.texts[static_cast<std::size_t>(r)];
        CAPTURE(text);
        CHECK(says(text, "rank " + std::to_string(r) + " of 4 on "));
        CHECK(says(text, "exchanges by MPI\n"));
        CHECK(without_log(text).starts_with("3540 59 1\n"));
        CHECK(without_log(text) == without_log(four.texts[0]));
    }
}

TEST_CASE("ranks of mpiexec use TCP where they are told to, and compute the same") {
    if (is_untested()) return;
    const said by_tcp = run_by_mpi(3, "INGOT_TRANSPORT=tcp", "ranks computes");
    CHECK(by_tcp.status == 0);
    for (const std::string& text : by_tcp.texts) {
        CAPTURE(text);
        CHECK(says(text, "met the others by TCP and exchanges by TCP\n"));
        CHECK(without_log(text).starts_with("3540 59 1\n"));
    }
}

TEST_CASE("ranks that want MPI and lack its module name the file and the package") {
    if (is_untested()) return;
    for (const std::string& text :
         run_by_mpi(2, "INGOT_TRANSPORT=mpi INGOT_MPI_MODULE=/nowhere/libingot_mpi.so", "ranks computes").texts) {
        CAPTURE(text);
        CHECK(says(text, "libingot_mpi.so"));
        CHECK(says(text, "libopenmpi-dev"));
    }
}

TEST_CASE("by MPI the others throw when a rank fails, and name it") {
    if (is_untested()) return;
    const auto all_say = [](const std::string& what, const std::string& wanted) {
        const said three = run_by_mpi(3, "", "ranks " + what);
        for (std::size_t r = 0; r < 2; ++r) {
            const std::string& text = three.texts[r];
            CAPTURE(text);
            REQUIRE(says(text, wanted));
            CHECK(says(text, "exchanges by MPI\n"));
            CHECK(seconds_of(text) < 8);
        }
    };
    all_say("throws", "rank 2 failed: an exception ended its session");
    all_say("differs", "every rank must evaluate the same statements in the same order");
    all_say("leaves", "rank 2 has ended");
}

TEST_CASE("a rank that is late is no failure by MPI") {
    if (is_untested()) return;
    const said three = run_by_mpi(3, "", "ranks late");
    CHECK(three.status == 0);
    for (const std::string& text : three.texts) CHECK(without_log(text) == "done\n");
}

TEST_CASE("a process may have a session by MPI after another") {
    if (is_untested()) return;
    const said three = run_by_mpi(3, "", "ranks twice");
    CHECK(three.status == 0);
    for (const std::string& text : three.texts) {
        CAPTURE(text);
        CHECK(says(text, "exchanges by MPI\n"));
        const std::string lines = without_log(text);
        const std::size_t half = lines.find("done\n") + 5;
        CHECK(lines.starts_with("3540 59 1\n"));
        CHECK(lines.compare(half, 10, "3540 59 1\n") == 0);
    }
}

TEST_CASE("a program's own MPI goes on before, beside and after sessions") {
    if (is_untested()) return;
    const said three = run_by_mpi(3, "", "own_mpi");
    CHECK(three.status == 0);
    for (const std::string& text : three.texts) {
        CAPTURE(text);
        CHECK(says(text, "exchanges by MPI\n"));
        CHECK(says(text, "before 3, beside 3, array 276, again 276, after 3\n"));
    }
}
