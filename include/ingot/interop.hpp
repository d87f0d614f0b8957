// Memory of other libraries and processes: DLPack, pointers, mdspan, IPC.
#pragma once

#include <ingot/interop/dlpack.hpp>
#include <ingot/interop/exchange.hpp>
#include <ingot/interop/ipc.hpp>
#include <ingot/interop/mdspan.hpp>
