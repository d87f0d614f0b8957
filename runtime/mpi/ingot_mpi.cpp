// The module libingot_mpi.so: the table of ingot_mpi.hpp over the MPI that it was built against.
#define OMPI_SKIP_MPICXX 1  // MPI's old classes for C++ would be one more library to link
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <cstdio>
#include <cstring>

#include "runtime/mpi/ingot_mpi.hpp"

namespace {

MPI_Comm all = MPI_COMM_NULL;  // Ingot's own, so that its messages are not taken for the program's
int local_rank_here = 0, local_size_here = 1;

/// An int or a pointer, which the table's pointer holds.
struct held_request {
    MPI_Request native;
    void put(void** at) const { std::memcpy(at, this, sizeof *this); }
};
static_assert(sizeof(held_request) <= sizeof(void*));
held_request request_in(void* const* at) {
    held_request r;
    std::memcpy(&r, at, sizeof r);
    return r;
}

void name_library(char* text, int bytes) {
    char name[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(name, &length);
    name[std::strcspn(name, ",\n")] = '\0';
    std::snprintf(text, static_cast<std::size_t>(bytes), "%s", name);
}

int is_initialized() {
    int is = 0;
    MPI_Initialized(&is);
    return is;
}
int is_finalized() {
    int is = 0;
    MPI_Finalized(&is);
    return is;
}

/// The communicator, and the place of this rank among those of its host.
int make_communicator() {
    MPI_Comm on_host = MPI_COMM_NULL;
    int failed = MPI_Comm_dup(MPI_COMM_WORLD, &all);
    if (failed == MPI_SUCCESS) failed = MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    if (failed == MPI_SUCCESS) failed = MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &on_host);
    if (failed == MPI_SUCCESS) failed = MPI_Comm_rank(on_host, &local_rank_here);
    if (failed == MPI_SUCCESS) failed = MPI_Comm_size(on_host, &local_size_here);
    if (failed == MPI_SUCCESS) failed = MPI_Comm_free(&on_host);
    return failed;
}

int start(int* rank, int* size, int* local_rank, int* local_size, int* has_begun) {
    int failed = MPI_SUCCESS, provided = 0;
    *has_begun = 0;
    if (is_finalized() != 0) return MPI_ERR_OTHER;
    if (is_initialized() == 0) {
        failed = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
        *has_begun = failed == MPI_SUCCESS;
    }
    if (failed == MPI_SUCCESS && all == MPI_COMM_NULL) failed = make_communicator();
    if (failed == MPI_SUCCESS) failed = MPI_Comm_rank(all, rank);
    if (failed == MPI_SUCCESS) failed = MPI_Comm_size(all, size);
    *local_rank = local_rank_here;
    *local_size = local_size_here;
    return failed;
}

int broadcast(void* data, int bytes) { return MPI_Bcast(data, bytes, MPI_BYTE, 0, all); }

int send(const void* data, int bytes, int peer, int tag, void** request) {
    held_request r{MPI_REQUEST_NULL};
    const int failed = MPI_Isend(data, bytes, MPI_BYTE, peer, tag, all, &r.native);
    r.put(request);
    return failed;
}

int receive(void* data, int bytes, int peer, int tag, void** request) {
    held_request r{MPI_REQUEST_NULL};
    const int failed = MPI_Irecv(data, bytes, MPI_BYTE, peer, tag, all, &r.native);
    r.put(request);
    return failed;
}

int test(void** request, int* is_done) {
    held_request r = request_in(request);
    const int failed = MPI_Test(&r.native, is_done, MPI_STATUS_IGNORE);
    r.put(request);
    return failed;
}

int cancel(void** request) {
    held_request r = request_in(request);
    return MPI_Cancel(&r.native);
}

int progress() {
    int is_there = 0;
    return MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, all, &is_there, MPI_STATUS_IGNORE);
}

int meet(void** request) {
    held_request r{MPI_REQUEST_NULL};
    const int failed = MPI_Ibarrier(all, &r.native);
    r.put(request);
    return failed;
}

int finish() { return is_finalized() != 0 ? MPI_SUCCESS : MPI_Finalize(); }

void describe(int error, char* text, int bytes) {
    char described[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(error, described, &length);
    std::snprintf(text, static_cast<std::size_t>(bytes), "%s", described);
}

}  // namespace

const ingot_mpi_table* ingot_mpi() {
#ifdef OPEN_MPI
    constexpr int is_open_mpi = 1;
#else
    constexpr int is_open_mpi = 0;
#endif
    static const ingot_mpi_table table{ingot_mpi_version, is_open_mpi, name_library, is_initialized, start,
                                       broadcast,         send,        receive,      test,           cancel,
                                       progress,          meet,        finish,       describe};
    return &table;
}
