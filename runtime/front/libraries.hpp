// All functions of libraries, and those of Ingot's own that stand for one: what computes each on the host and on a GPU,
// and whether it waits. Steps of plans (library_functions.cpp), solvers, selections and compactions go through these
// rows.
#pragma once

#include "runtime/device/graphs.hpp"
#include "runtime/fft/transform.hpp"
#include "runtime/linalg/matrix_product.hpp"
#include "runtime/linalg/solvers.hpp"
#include "runtime/ndimage/connected_parts.hpp"
#include "runtime/sorting/compaction.hpp"
#include "runtime/sorting/sort_rows.hpp"
#include "runtime/sparse/merge.hpp"
#include "runtime/sparse/product.hpp"
#include "runtime/sparse/triangular_solve.hpp"

namespace ingot::runtime {

/// `Call` says what is computed, and where its arrays are.
template <class Call>
struct library_row {
    const char* name;
    void (*on_host)(const Call&);
    void (*on_gpu)(const Call&, stream_state&);
    bool waits = false;  // for its results or its errors, so that no graph can record it

    void operator()(const Call& call, stream_state& stream) const {
        if (waits) check_not_recorded(stream, name);
        if (stream.device.is_cuda()) return on_gpu(call, stream);
        on_host(call);
    }
};

namespace libraries {

inline constexpr library_row<product_call> products{"a product", call_cblas, call_cublas};
inline constexpr library_row<transform> transforms{"a transform", call_fftw, call_cufft};
inline constexpr library_row<row_sort> sorts{"a sort", sort_on_host, sort_on_gpu};
inline constexpr library_row<row_selection> selections{"a selection", select_on_host, select_on_gpu};
inline constexpr library_row<compaction> counts{"a count", count_on_host, count_on_gpu};
inline constexpr library_row<compaction> compactions{"a compaction", write_on_host, write_on_gpu};
inline constexpr library_row<sparse_product> sparse_products{"a sparse product", sparse_product_on_host,
                                                             sparse_product_on_gpu};
inline constexpr library_row<sparse_merge> merge_counts{"a merge of sparse matrices", count_merged_on_host,
                                                        count_merged_on_gpu};
inline constexpr library_row<sparse_merge> merges{"a merge of sparse matrices", write_merged_on_host,
                                                  write_merged_on_gpu};
inline constexpr library_row<connected_parts> parts{"connected parts", connect_on_host, connect_on_gpu};
inline constexpr library_row<triangular_solve> triangular_solves{"a triangular solve", solve_triangular_on_host,
                                                                 solve_triangular_on_gpu};
inline constexpr library_row<solver_call> solvers{"a solver", call_lapack, call_cusolver, true};

}  // namespace libraries
}  // namespace ingot::runtime
