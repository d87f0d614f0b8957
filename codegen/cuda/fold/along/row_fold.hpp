// Folds along memory. A few lanes share a short row, a warp or a block a longer one; several blocks share a row where
// there are few long ones. Where rows are runs of aligned elements, or the only operand's rows begin anywhere, a lane
// loads 16 bytes at once, and the few elements before the first whole vector and behind the last are loaded one by one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/cuda/fold/along/choice.hpp"
#include "codegen/cuda/fold/fold.hpp"

namespace ingot::codegen {

class row_fold : public cuda_fold {
public:
    row_fold(cuda_kernel& b, const folded_kernel& f, const row_layout& c)
        : cuda_fold(b, f, c), choice_(c), lanes_(c.lanes) {}

protected:
    using space_choice = row_layout::space;

    std::string lane() const override { return choice_.is_block_wide() ? "threadIdx.x" : "lane"; }
    std::string vector_of(std::uint32_t unroll) const {
        return unroll == 1 ? "v" : "v + u * " + std::to_string(lanes_) + 'u';
    }
    std::string lanes() const override { return std::to_string(lanes_) + 'u'; }
    std::string first_result() const override { return b_.rank == 0 ? "" : "row"; }
    void locate_thread() override;
    void write_space(std::size_t number) override;
    /// A row of whole vectors, v of them from `head` on, dealt to the lanes in turn.
    void write_vectors(std::size_t number, const std::string& n);
    /// A row of random numbers only, by whole groups.
    void write_draws(std::size_t number, const std::string& n);
    /// Loads the element at `edge`, outside all vectors, where `present`; declares where each operand's row begins.
    void load_edges(const folded_space& s, const std::string& present);
    void declare_rows(const folded_space& s, bool aligned);
    /// The share of a row's block: rounds of whole tiles, then a piece of the rest.
    void write_rounds(std::size_t number);
    void write_dealt_rounds(std::size_t number);
    /// The `unroll` vectors v, v + 1 `lanes`, ...: all, or those before `end`.
    void write_vector_tile(std::size_t number, const std::string& end);
    /// The loads of such a tile, and the joins.
    void load_vector_tile(std::size_t number, const std::string& end);
    void join_vector_tile(std::size_t number, const std::string& end);
    void join_whole_tile(std::size_t number);
    /// The struct that joins several narrow elements by one instruction (cuda/fold/along/packed_fold.cpp).
    std::string add_packed(fold_writer& f, const array_argument& in);
    /// The number of elements before the first vector of a row that begins anywhere.
    void write_head(std::size_t number, const std::string& n);
    /// Rows whose elements lie anywhere: a lane's are `lanes` apart, so that neighbouring lanes read neighbours.
    void write_elements(std::size_t number, const std::string& n);
    void combine(fold_writer& f, const std::string& joiner, const std::string& variable) override;
    std::string owner() override;

    const row_layout& choice_;
    const std::uint32_t lanes_;
};

}  // namespace ingot::codegen
