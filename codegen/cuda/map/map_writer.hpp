// The common part of the writers of maps for CUDA that compute each of a thread's elements for itself. A layout's own
// writer is in the layout's file.
#pragma once

#include <cstdint>
#include <string>

#include "codegen/cuda/map/choice.hpp"

namespace ingot::codegen {

class map_writer {
public:
    /// Writes the kernel's body.
    void write();

protected:
    static constexpr std::uint32_t threads = map_threads;

    /// `elements`: of a thread.
    map_writer(cuda_kernel& b, std::uint32_t elements) : b_(b), inner_(b.rank - 1), elements_(elements) {}
    ~map_writer() = default;

    /// Reads, computes and stores the thread's elements.
    virtual void write_elements() = 0;

    bool moves(const array_argument& at) const { return b_.moves_along(at, all_axes()); }
    std::uint64_t all_axes() const { return axis_range(0, b_.rank) | b_.unravelled_axes(); }
    void declare_random(const array_argument& g) {
        b_.code.line(b_.needs.type(b_.graph.nodes[g.node].type), ' ', g.name, '[', elements_, "];");
        b_.body.name(g.node, g.name + "[e]");
    }
    void write_random(const array_argument& g, const std::string& to, const std::string& further) {
        b_.code.line(to, " = ", b_.generator_call(g.node, b_.generator_index(g.node, all_axes()) + further), ";");
    }
    void open_elements(const std::string& count) {
        b_.code.open("for (", b_.wide() ? "int" : "unsigned int", " e = 0; e < ", count, "; ++e)");
    }
    void open_unrolled_elements() {
        b_.code.margin("#pragma unroll");
        open_elements(std::to_string(elements_));
    }

    cuda_kernel& b_;
    const int inner_;
    const std::uint32_t elements_;
};

/// For layouts in which a thread's elements lie apart: spread, along and counted.
class apart_writer : public map_writer {
protected:
    using map_writer::map_writer;
    ~apart_writer() = default;

    /// The linear number of element e, and the variable for its element of an input.
    virtual std::string number_of_element() const { return "first + e * " + std::to_string(threads) + 'u'; }
    /// The condition that element e and those after it do not exist.
    virtual std::string is_absent() {
        return number_of_element() + " >= " + b_.count(points_of(axis_range(0, b_.rank)), "n");
    }
    virtual std::string slot_of(const array_argument& in) const { return in.name + own_; }
    /// Reads all operands of element e into arrays: first those of an index, then those at its place.
    void read_elements();
    /// The places of a thread's scattered elements, and whether each has one.
    static std::string indices_of(const array_argument& z) { return z.name + "_at"; }
    void declare_indices() {
        for (const array_argument& z : b_.outputs)
            if (b_.is_scattered(z)) b_.code.line(b_.needs.type(dtype::i8), ' ', indices_of(z), '[', elements_, "];");
    }
    /// Computes the thread's elements, by quick bodies where there are such; once more where one was rare.
    void compute_elements();

    std::string own_ = "[e]";  // of what a thread has for each element; empty where they go one by one
};

}  // namespace ingot::codegen
