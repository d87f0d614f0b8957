// Solvers share their dtypes, arrays of their own, and iterations whose end is found on the device.
#pragma once

#include <ingot/core/array.hpp>
#include <ingot/core/assignment.hpp>
#include <ingot/core/binders.hpp>
#include <ingot/core/creation.hpp>
#include <ingot/core/error.hpp>
#include <ingot/kernels/graphs.hpp>

namespace ingot::detail {

/// Integers are solved in float64.
template <class E>
using unknown_of = type_of<kind_of(node_of<E>::type) < kind::floating ? dtype::f8 : node_of<E>::type>;
template <class T>
using norm_type = type_of<kind_of(dtype_of<T>) == kind::complex ? part_of(dtype_of<T>) : dtype_of<T>>;

/// Values in memory that no other array shares.
template <class T, class E>
array<T> own_copy(const E& e) {
    array<T> to = zeros<T>(e.shape());
    assign(to, e);
    return to;
}

/// Repeats `body` while `goes_on`: on a GPU as one launch that ends by itself, where the body's work can be recorded;
/// elsewhere the host reads the condition each time.
template <class C, class F>
void repeat_on_device(const C& goes_on, const F& body) {
    if (!is_recording() && current_device().is_cuda()) {
        graph whole;
        try {
            whole = graph::loop(goes_on, body);
        } catch (const device_error&) {
            return loop_while(goes_on, body);  // the body waits for something, or the driver has no loops
        }
        return whole.launch();
    }
    loop_while(goes_on, body);
}

}  // namespace ingot::detail
