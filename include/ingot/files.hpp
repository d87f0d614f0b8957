// Arrays in files: .npy, .npz and text.
#pragma once

#include <ingot/files/npy.hpp>
#include <ingot/files/text_files.hpp>
