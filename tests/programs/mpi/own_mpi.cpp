// A program that begins and ends MPI itself, with two of Ingot's sessions between: its sums are those of its own
// messages and of an array.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <cstdio>

#include <ingot/distributed.hpp>
#include <ingot/ingot.hpp>

using namespace ingot;
namespace dist = ingot::distributed;

namespace {

int ranks_that_say_so() {
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

double sum_of_array(const dist::session& s) {
    const dist::mesh m(s);
    const array<double> rows = dist::redistribute(reshape(arange<double>(24), {6, 4}), dist::split(m));
    const array<double> columns = dist::redistribute(rows, dist::split(m, {"", "ranks"}));
    return sum(columns).item();
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int before = ranks_that_say_so();
    int beside = 0;
    double first = 0, second = 0;
    {
        dist::session s;
        first = sum_of_array(s);
        beside = ranks_that_say_so();
    }
    {
        dist::session s;
        second = sum_of_array(s);
    }
    const int after = ranks_that_say_so();
    std::printf("before %d, beside %d, array %g, again %g, after %d\n", before, beside, first, second, after);
    MPI_Finalize();
}
