// Products of matrices, decompositions and solvers, functions of matrices, einsum.
#pragma once

#include <ingot/linalg/contraction.hpp>
#include <ingot/linalg/einsum.hpp>
#include <ingot/linalg/matrix_functions.hpp>
#include <ingot/linalg/products.hpp>
#include <ingot/linalg/solvers.hpp>
