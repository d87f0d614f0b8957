// Makes a statement's key: aligns every layout with the axes of the space in which it is computed, collapses dimensions
// jointly, and writes the class words. It runs on every evaluation and allocates nothing once its workspace has grown
// to the size of the statement.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/front/class_stages.hpp"
#include "runtime/front/contiguous_fast_path.hpp"
#include "runtime/front/statement.hpp"

namespace ingot::runtime {

class classifier {
public:
    /// The reference is valid until the next call.
    const classified& classify(const statement&, environment_class);
    contiguous_classifier& contiguous() noexcept { return contiguous_; }
    /// The complete key: the class words with the program inserted behind the header.
    static void full_key(const classified&, std::span<const detail::word> program, std::vector<std::uint32_t>& key);

private:
    contiguous_classifier contiguous_;
    class_stages stages_;
    axis_classes classes_;
    class_words words_;
    classified c_;
};

}  // namespace ingot::runtime
