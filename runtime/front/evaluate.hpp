// The device and stream on which a statement runs.
#pragma once

#include "runtime/device/stream.hpp"
#include "runtime/front/classify.hpp"
#include "runtime/trees/lazy.hpp"

namespace ingot::runtime {

struct execution_context {
    stream_state* stream = nullptr;
    environment_class environment{};
};

/// The device of the statement's arrays and random leaves (the current one where it has neither), and its stream: the
/// current one, or the device's default where another device is current.
execution_context context_of(const statement&);
execution_context context_on(device_id);

/// Evaluates a statement; the slot belongs to its type.
void evaluate(slot&, statement);

}  // namespace ingot::runtime
