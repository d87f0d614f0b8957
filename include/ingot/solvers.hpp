// Krylov solvers, minimisers, and integrals of samples and of differential equations. It is not part of ingot.hpp.
#pragma once

#include <ingot/solvers/krylov.hpp>
#include <ingot/solvers/minimizers.hpp>
#include <ingot/solvers/ode.hpp>
#include <ingot/solvers/quadrature.hpp>
