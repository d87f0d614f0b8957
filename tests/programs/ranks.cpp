// A rank of a session of processes: ranks WHAT, started by a test with INGOT_RANKS, INGOT_RANK and INGOT_HOST, or by
// mpiexec. Prints the results, or the error with which the session ended and the seconds since it began to wait.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <thread>

#include <ingot/distributed.hpp>
#include <ingot/ingot.hpp>

using namespace ingot;
namespace dist = ingot::distributed;

namespace {

void compute(dist::session& s) {
    const dist::mesh m(s);
    array<double> u = dist::redistribute(reshape(arange<double>(60), {12, 5}), dist::split(m, dist::ghost(1)));
    const slice in(1, -1), low(0, -2), high(2, none);
    u(in, all) = u(low, all) + u(high, all) - u(in, all);
    const array<double> columns = dist::redistribute(u * 2, dist::split(m, {"", "ranks"}));
    random::default_generator();
    array<float> numbers = dist::redistribute(random::uniform<float>({1000}), dist::split(m));
    std::printf("%.17g %.17g %d\n", sum(columns).item(), max(u).item(),
                static_cast<int>(array_equal(dist::gather(columns), 2 * dist::gather(u)).item()));
    std::printf("%.9g\n", sum(numbers).item());
}

void run_steps(dist::session& s, const std::string& what) {
    const dist::mesh m(s);
    array<double> u = dist::ones({64, 8}, dist::split(m, dist::ghost(1)));
    const slice in(1, -1), low(0, -2), high(2, none);
    for (int k = 0; k < 100000; ++k) {
        u(in, all) = 0.5 * (u(low, all) + u(high, all));
        if (k < 3) continue;
        if (s.rank() == s.size() - 1) {
            if (what == "leaves") return;
            if (what == "killed") ::kill(::getpid(), SIGKILL);
            if (what == "throws") throw shape_error("a mistake of rank " + std::to_string(s.rank()));
            if (what == "differs") {
                sum(u).item();
                continue;
            }
            if (what == "late" && k == 5) std::this_thread::sleep_for(std::chrono::seconds(3));
        }
        if (what == "late" && k == 10) break;
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "computes";
    const auto start = std::chrono::steady_clock::now();
    try {
        for (int sessions = what == "twice" ? 2 : 1; sessions > 0; --sessions) {
            dist::session s;
            if (what == "computes" || what == "twice")
                compute(s);
            else
                run_steps(s, what);
            std::printf("done\n");
        }
    } catch (const std::exception& e) {
        std::printf("%s\n", e.what());
    }
    std::printf("%.1f s\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}
