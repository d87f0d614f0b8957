// The few calls of MPI that Ingot makes, as a table of C functions. MPI has no common ABI, so a module of its own is
// built against the MPI that is found and implements the table; the library opens the module and links no MPI. The
// thread that evaluates makes all calls (MPI_THREAD_FUNNELED). A change of the table raises the version.
#pragma once

extern "C" {

enum { ingot_mpi_version = 1 };

/// Functions that return int return 0, or an error code of MPI's that `describe` explains.
struct ingot_mpi_table {
    int version;
    int is_open_mpi;
    /// The name and version of the library that the module meets when it runs.
    void (*name_library)(char* text, int bytes);
    int (*is_initialized)();
    /// Initialises MPI where the program has not, and says so in `has_begun`. All ranks call it. A later call says the
    /// same ranks again.
    int (*start)(int* rank, int* size, int* local_rank, int* local_size, int* has_begun);
    /// Rank 0's bytes, on every rank.
    int (*broadcast)(void* data, int bytes);
    /// Start a transfer. The memory must stay until `test` says that the request is done.
    int (*send)(const void* data, int bytes, int peer, int tag, void** request);
    int (*receive)(void* data, int bytes, int peer, int tag, void** request);
    int (*test)(void** request, int* is_done);
    /// Asks for the end of a receive that no message may come for; `test` says when it has ended.
    int (*cancel)(void** request);
    /// Lets MPI move what earlier calls began.
    int (*progress)();
    /// A request that is done once every rank has made one.
    int (*meet)(void** request);
    /// Ends MPI, unless the program has. Waits for all ranks.
    int (*finish)();
    void (*describe)(int error, char* text, int bytes);
};

/// The module's one function, by the name that the library looks for.
__attribute__((visibility("default"))) const ingot_mpi_table* ingot_mpi();
}
