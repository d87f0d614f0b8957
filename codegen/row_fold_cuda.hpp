// Folds along memory: lanes share a row, a few for short rows, a warp, a block; where there are few long rows several
// blocks share one. Where the row is one run of aligned elements, or one operand's that begins anywhere, a lane loads
// 16 bytes at once, and the few elements before the first whole vector and behind the last go one by one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/fold_cuda.hpp"

namespace ingot::codegen {

class row_fold final : public cuda_fold {
public:
    row_fold(const key& k, const graph& g, const folding& f);

private:
    /// So many that each has four vectors, or four times that; then a block. Few rows are wanted soon: as many lanes as
    /// have something to do.
    std::uint32_t choose_lanes(bool few) const;
    /// Whether registers hold twice as many loads as else, beside the parts.
    bool is_light() const;
    /// A row of bytes is soon read: smaller blocks begin and end in less time.
    bool are_bytes() const;
    /// Whether all that is folded is one fold that counts its entries, and which of the two.
    bool counts_alone() const;
    bool is_moments() const;
    bool is_exponentials() const;
    /// Whether the last of a row's rounds go to whoever comes for them, and no longer in even shares: not all
    /// multiprocessors read equally fast, and the slowest would be waited for.
    bool can_deal_rounds() const;
    /// Of a multiprocessor, where blocks share rows. Moments and exponentials of doubles want registers.
    std::uint32_t resident_blocks() const;
    /// A row whose lanes fold but few tiles each is a short sum.
    bool has_rounds(const std::vector<fold_writer>& folds) const override;
    std::string lane() const override { return lanes_ == threads_ ? "threadIdx.x" : "lane"; }
    std::string vector_of(std::uint32_t unroll) const {
        return unroll == 1 ? "v" : "v + u * " + std::to_string(lanes_) + 'u';
    }
    std::string lanes() const override { return std::to_string(lanes_) + 'u'; }
    std::uint32_t slots_at_once() const override { return 4; }
    std::string first_result() const override { return b_.rank == 0 ? "" : "row"; }
    void write_place() override;
    void write_space(std::size_t number) override;
    /// A row of whole vectors, v of them from `head` on, dealt to the lanes in turn.
    void write_vectors(std::size_t number, std::uint32_t each, const std::string& n);
    /// Of the elements that no vector holds the one at `edge`, where it is present; where each operand's row begins.
    void load_edges(const folded_space& s, const std::string& present);
    void declare_rows(const folded_space& s, bool aligned);
    /// What the blocks of a row share: rounds of whole tiles, then what is left.
    void write_rounds(std::size_t number, std::uint32_t each, std::uint32_t unroll, bool aligned);
    void write_dealt_rounds(std::size_t number, std::uint32_t each, std::uint32_t unroll, bool aligned);
    /// The vectors v, v + 1 `lanes`, ..., `unroll` of them: all, or those before `end`.
    void write_vector_tile(std::size_t number, std::uint32_t each, std::uint32_t unroll, bool aligned,
                           const std::string& end);
    /// Its loads, and what is done with them.
    void load_vector_tile(std::size_t number, std::uint32_t each, std::uint32_t unroll, const std::string& end);
    void join_vector_tile(std::size_t number, std::uint32_t each, std::uint32_t unroll, bool aligned,
                          const std::string& end);
    /// Where entries are counted a whole tile is joined at once.
    void join_whole_tile(std::size_t number, std::uint32_t each, std::uint32_t unroll);
    /// The array of narrow elements whose extreme or sum a fold is after, where several are joined at once; the struct
    /// that does it (packed_fold_cuda.cpp).
    const place* packed_by(const fold_writer& f, const folded_space& s, std::uint32_t each) const;
    std::string add_packed(fold_writer& f, const place& in);
    using cuda_fold::unroll_of;
    std::uint32_t unroll_of(const folded_space& s, std::uint32_t each) const;
    /// Elements before the first vector of a row that begins anywhere: up to a line of the caches, of which warps then
    /// read whole ones, where there are lanes enough to load them at once.
    std::uint32_t head_unit(const place& in) const;
    void write_head(const place& in, const std::string& n);
    /// Rows whose elements lie anywhere: a lane's are apart, so that lanes read neighbours.
    void write_elements(std::size_t number, const std::string& n);
    /// As many blocks as are resident, each with some vectors at least for every thread.
    void split_rows(std::uint32_t each, std::uint32_t bytes);
    /// How many elements a lane loads at once: more than one where a single bound axis runs along memory, and every
    /// input is aligned or there is but one.
    std::uint32_t vector_elements(const folded_space& s) const;
    bool is_aligned(const folded_space& s) const;
    void combine(fold_writer& f, const std::string& joiner, const std::string& variable) override;
    void write_ending() override;
    std::string owner() override;
    void describe(launch& step) const override;

    // Tiles of rows dealt to the blocks in the order of memory (row_tiles_cuda.cpp).

    bool can_deal_tiles() const;
    void write_dealt_tiles();
    void tell_held();

    std::uint32_t lanes_;
    bool deals_tiles_ = false, deals_rounds_ = false;
};

}  // namespace ingot::codegen
