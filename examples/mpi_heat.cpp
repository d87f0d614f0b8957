// Heat on a ring that processes share, by MPI: each has a part of the ring, and sends its ends from the array's own
// memory, x.data(). On a GPU that takes an MPI that knows of GPUs (Open MPI with CUDA); else arrays are on the host.
// mpirun -n 4 mpi_heat [CELLS OF A PROCESS] [STEPS]
#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>

#include <ingot/ingot.hpp>

using namespace ingot;

namespace {

bool knows_of_gpus() {
#if defined(MPIX_CUDA_AWARE_SUPPORT) && MPIX_CUDA_AWARE_SUPPORT
    return MPIX_Query_cuda_support() != 0;
#else
    return false;
#endif
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, processes = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    {
        const int gpus = device::cuda_count();
        const with_device here(gpus > 0 && knows_of_gpus() ? device::cuda(rank % gpus) : device::host());
        const int n = argc > 1 ? std::atoi(argv[1]) : 100'000, steps = argc > 2 ? std::atoi(argv[2]) : 200;
        const double whole = static_cast<double>(n) * processes, r = 0.25, turn = 2 * std::numbers::pi / whole;

        // The part, and a cell of each neighbour beside it.
        const auto cell = arange<double>(static_cast<double>(n + 2)) + (static_cast<double>(n) * rank - 1);
        array<double> x = sin(cell * turn);
        const array<double> first = x;
        const int left = (rank + processes - 1) % processes, right = (rank + 1) % processes;
        for (int step = 0; step < steps; ++step) {
            x(slice(1, -1)) = x(slice(1, -1)) + r * (x(slice(0, -2)) - 2 * x(slice(1, -1)) + x(slice(2)));
            double* const to = x.mutable_data();
            const double* const from = x.data();
            synchronize();  // MPI knows nothing of streams
            MPI_Sendrecv(from + n, 1, MPI_DOUBLE, right, 0, to, 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            MPI_Sendrecv(from + 1, 1, MPI_DOUBLE, left, 1, to + n + 1, 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
        }
        const double decayed = std::pow(1 - 4 * r * std::pow(std::sin(turn / 2), 2), steps);
        double worst = max(abs(x - decayed * first)).item(), worst_of_all = 0;
        MPI_Reduce(&worst, &worst_of_all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0)
            std::printf("%d processes, %d steps, %.0f cells on %s; off what it should be: %.1e\n", processes, steps,
                        whole, to_string(current_device()).c_str(), worst_of_all);
    }
    MPI_Finalize();
}
