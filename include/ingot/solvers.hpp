// Solvers for what a user has: linear systems of operators.
#pragma once

#include <ingot/solvers/krylov.hpp>
