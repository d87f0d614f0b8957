// Arrays in files: .npy, .npz, text, images and plots.
#pragma once

#include <ingot/files/images.hpp>
#include <ingot/files/npy.hpp>
#include <ingot/files/text_files.hpp>
