// Sparse matrices: their formats, products, elementwise functions, triangular systems, and functions that build them.
// ingot.hpp does not include it.
#pragma once

#include <ingot/sparse/building.hpp>
#include <ingot/sparse/elementwise.hpp>
#include <ingot/sparse/matrices.hpp>
#include <ingot/sparse/products.hpp>
#include <ingot/sparse/solvers.hpp>
