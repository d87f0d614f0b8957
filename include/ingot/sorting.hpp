// Sorting, selection, searching in sorted arrays, interpolation, sets.
#pragma once

#include <ingot/sorting/searching.hpp>
#include <ingot/sorting/sets.hpp>
#include <ingot/sorting/sorts.hpp>
