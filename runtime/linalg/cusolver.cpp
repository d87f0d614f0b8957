// Chooses the solver that a call on a GPU runs; throws the error where Ingot was built without cuSOLVER.
#include "runtime/linalg/solvers.hpp"

#include <string>

#include <ingot/core/error.hpp>

#if defined(INGOT_HAS_CUDA_HEADERS) && __has_include(<cusolverDn.h>) && __has_include(<cublas_v2.h>)

#include "runtime/linalg/cusolver_call.hpp"

namespace ingot::runtime {

void gpu_call::run(solver which) {
    switch (which) {
        case solver::cholesky:
            return cholesky();
        case solver::qr:
            return qr();
        case solver::svd:
            return svd(option_ != 0 ? 'A' : 'S');
        case solver::svdvals:
            return svd('N');
        case solver::eigh:
            return eigh(true);
        case solver::eigvalsh:
            return eigh(false);
        case solver::eig:
            return eig(true);
        case solver::eigvals:
            return eig(false);
        case solver::solve:
            return solve(false);
        case solver::inv:
            return solve(true);
        case solver::det:
        case solver::slogdet:
            return det(which == solver::slogdet);
        case solver::lu:
            return lu();
        case solver::triangular:
            return triangular();
        case solver::lstsq:
            break;  // built from other solvers
    }
}

void call_cusolver(const solver_call& c, stream_state& stream) {
    gpu_call(c.operation, c.option, c.type, c.operands, c.results, stream).run(c.which);
}

}  // namespace ingot::runtime

#else

namespace ingot::runtime {

void call_cusolver(const solver_call& c, stream_state&) {
    throw library_error("[" + std::string(c.operation) +
                        "] Ingot was built without the headers of cuSOLVER (from NVIDIA's repository: "
                        "libcusolver-dev-13-0)");
}

}  // namespace ingot::runtime

#endif
