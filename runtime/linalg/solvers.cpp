// Where solvers go: to LAPACK on the host, to cuSOLVER on a GPU; and the checks of what a norm, least squares and a
// power of a matrix are asked for.
#include <ingot/linalg/solvers.hpp>

#include <complex>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <ingot/core/error.hpp>

#include "runtime/front/evaluate.hpp"
#include "runtime/front/libraries.hpp"
#include "runtime/linalg/lapack_call.hpp"
#include "runtime/system/counters.hpp"
#include "runtime/system/number_text.hpp"

namespace ingot::runtime {

void call_lapack(const solver_call& c) {
    const auto run = [&]<class T>(std::type_identity<T>) {
        lapack_call<T>(c.operation, c.option, c.number, c.operands, c.results, c.stream).run(c.which);
    };
    switch (c.type) {
        case dtype::f4:
            return run(std::type_identity<float>{});
        case dtype::f8:
            return run(std::type_identity<double>{});
        case dtype::c8:
            return run(std::type_identity<std::complex<float>>{});
        default:
            return run(std::type_identity<std::complex<double>>{});
    }
}

}  // namespace ingot::runtime

namespace ingot::detail {

void run_solver(const char* operation, solver which, int option, double number, dtype type,
                std::span<const matrix_operand> operands, std::span<const destination> results) {
    device_id device = runtime::current().device;
    for (const matrix_operand& o : operands)
        if (o.memory) device = o.memory->device;
    runtime::stream_state& stream = *runtime::context_on(device).stream;
    if (!device.is_host() && operands[0].where.size() == 0) {
        // The results for no elements are known; they are made on the host.
        const with_device there(ingot::device::host());
        std::vector<matrix_operand> nothing;
        const buffer_ref none;
        for (const matrix_operand& o : operands) nothing.push_back({none, o.where});
        run_solver(operation, which, option, number, type, nothing, results);
        for (const destination& to : results) to.memory = copy_of(to.memory, device);
        return;
    }
    runtime::libraries::solvers({operation, which, option, number, type, operands, results, stream}, stream);
    runtime::add(runtime::counter::library_calls);
}

void check_least_squares(const shape_like& a, const shape_like& b) {
    const auto fail = [&](const char* why) {
        throw shape_error("[lstsq] shapes " + to_text(a.values()) + " and " + to_text(b.values()) + ": " + why);
    };
    if (a.count() != 2) fail("one matrix is wanted");
    if (b.count() == 0 || b.count() > 2 || b[0] != a[0])
        fail("the second has to be a vector or a matrix of as many rows as the first");
}

void throw_no_such_norm(int axes, const linalg::norm_order& order) {
    using linalg::norm_order;
    const std::string name = order.kind() == norm_order::fro   ? "\"fro\""
                             : order.kind() == norm_order::nuc ? "\"nuc\""
                                                               : runtime::number_text(order.value());
    throw shape_error("[norm] " + std::string(axes == 1 ? "vectors" : "matrices") + " have no norm of order " + name);
}

axes axes_of_norm(extents_ref shape, const axes* over, const linalg::norm_order& order) {
    std::vector<index_t> along;
    if (over != nullptr)
        for (const index_t axis : *over) along.push_back(checked_axis("norm", axis, shape.rank));
    else
        for (int j = 0; j < shape.rank; ++j) along.push_back(j);
    if (along.empty() || along.size() > 2 || (along.size() == 2 && along[0] == along[1]))
        throw shape_error(
            "[norm] shape " + to_text(shape.span()) + ": a norm is over one axis or two" +
            (over == nullptr && order.kind() != linalg::norm_order::unsaid ? ", which have to be named" : ""));
    return axes(along);
}

void throw_no_inverse(dtype type) {
    throw dtype_error("[matrix_power] " + std::string(name(type)) +
                      " has no inverse matrices: a negative power wants float32, float64 or complex numbers");
}

}  // namespace ingot::detail

namespace ingot::linalg {

norm_order::kinds norm_order::named(std::string_view name) {
    if (name == "fro") return fro;
    if (name == "nuc") return nuc;
    throw shape_error("[norm] \"" + std::string(name) +
                      "\" is no order of a norm: a number, \"fro\" or \"nuc\" is wanted");
}

}  // namespace ingot::linalg
