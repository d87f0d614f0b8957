// Where a statement runs.
#pragma once

#include "runtime/classify.hpp"
#include "runtime/lazy.hpp"
#include "runtime/stream.hpp"

namespace ingot::runtime {

struct place {
    stream_state* stream = nullptr;
    environment_class environment{};
};

/// The device of the statement's arrays (the current device where it has none) and its stream: the current one, or the
/// device's default where another device is current.
place place_of(const statement&);
place place_on(device_id);

/// Calls `f` with the statement, its lazy trees spliced in.
template <class F>
auto with_flat(const statement& s, F f) {
    if (!has_lazy(s)) return f(s);
    const flat_statement flat(s);
    return f(flat.get());
}

}  // namespace ingot::runtime
