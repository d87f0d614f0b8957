// Functions of networks that NumPy lacks: convolutions of batches and channels. It is not part of ingot.hpp.
#pragma once

#include <ingot/nn/convolutions.hpp>
