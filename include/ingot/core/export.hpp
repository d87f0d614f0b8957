// INGOT_API marks exported functions. Everything else is hidden, so that two shared objects that use Ingot never bind
// to each other's inner functions.
#pragma once

#define INGOT_API __attribute__((visibility("default")))
