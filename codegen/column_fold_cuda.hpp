// Folds across memory: a thread folds up to 16 bytes of neighbouring columns, `across` threads lie beside each other
// and read neighbours, and below them as many rows of threads as the block has room for. Few columns have many rows of
// threads, so narrow arrays are read as whole as wide ones; long columns are shared by several blocks.
//
// Narrow columns without gaps between them are read as the run of memory that they are, 16 bytes a thread whatever
// their number: as many threads as columns read so many vectors that each thread's next one, so many further on, lies
// in the same columns again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/fold_cuda.hpp"

namespace ingot::codegen {

class column_fold final : public cuda_fold {
public:
    column_fold(const key& k, const graph& g, const folding& f);

private:
    /// Columns longer than 2^(bucket + 4) elements for this bucket are shared by several blocks. Where the results are
    /// few, these are large ones: the fewer there are, the sooner the last has joined what they found.
    static constexpr std::uint8_t split_bucket = 6;
    static constexpr std::uint32_t least_block = 128, small_block = 256, medium_block = 512, large_block = 1024;
    static constexpr std::uint32_t resident_threads = 1024;  // of a multiprocessor: they keep memory busy
    static constexpr std::uint32_t most_across = 64;
    static constexpr std::uint32_t shared_bytes = 48 * 1024;
    static constexpr std::uint32_t wide_part_bytes = 16;

    /// How a block's threads lie over the columns and down along them.
    enum class layout {
        alone,    // all beside each other, over all kept axes taken together: no two share a column
        wide,     // up to 64 beside each other, over all kept axes taken together
        narrow,   // beside each other over the innermost kept axis, which is short: memory goes on below
        packed,   // the same for columns so short that several such groups are a block
        gapless,  // by vectors of the run of memory that the columns are; in the end a thread has one column
    };

    std::uint8_t inner_bucket() const { return b_.key.axes[static_cast<std::size_t>(inner_)].bucket; }
    /// The class promises that what is folded has no gaps. Nothing else may be wanted along the columns, nor where in
    /// its column an element is.
    bool is_gapless() const;
    /// As many blocks as are resident at once, where there are not more places of the outer axes. Without such axes
    /// these are large: the fewer there are, the less is told.
    void choose_gapless();
    /// Nothing but a sum of exponentials, which keeps a multiprocessor busy while what it reads next is on its way.
    bool is_exponentials() const { return words_ == 2 && folds_[0].size() == 1 && folds_[0][0].counts_entries(); }
    bool alone() const { return layout_ == layout::alone; }
    bool gapless() const { return layout_ == layout::gapless; }
    /// One a multiprocessor: registers for more slots at once, and more turns of them leave fewer idle in the end.
    bool is_of_large_blocks() const { return gapless() && b_.rank > 1 && threads_ == resident_; }
    std::string lane() const override { return alone() ? "0" : "down"; }
    std::string lanes() const override { return alone() ? "1" : "height"; }
    std::string first_result() const override { return "first"; }
    std::string mine() const override { return "mine && "; }
    /// Of columns that all blocks fold the last one would have much to load.
    bool shares_results() const { return gapless() && split_ && b_.rank == 1; }
    void write_ending() override;
    std::string owner() override { return alone() ? "if (mine)" : "if (mine && down == 0)"; }
    /// Neighbouring columns that a thread folds: more than one where all that moves along them and is folded does so by
    /// one element and is aligned.
    std::uint32_t vector_columns() const;
    /// Vectors of columns, all kept axes taken together.
    formula vectors() const { return {.axes = outer_bits(), .inner = axis_bit(inner_), .inner_divide = columns_}; }
    std::uint32_t unroll(const folded_space& s) const;
    /// Rows of threads of a packed group: so many that each folds a tile, and that the widest group has room.
    std::uint32_t packed_height() const;
    void write_place() override;
    std::string block() { return b_.wide() ? b_.linear() + "(blockIdx.x)" : "blockIdx.x"; }
    void write_alone();
    void write_wide();
    /// Threads beside each other of columns that several blocks share: a line of memory. The fewer columns there are,
    /// the fewer are a block's, for the more blocks share a column, the more does the last of them join.
    std::uint32_t fewest_across() const;
    /// A thread without columns takes the last ones and folds nothing of them.
    void write_vector(const std::string& all);
    formula row_vectors() const { return {.axes = 0, .inner = axis_bit(inner_), .inner_divide = columns_}; }
    void write_narrow();
    /// A block has the columns of one place of the outer axes, or of several where these are few vectors.
    void write_run();
    std::uint32_t run_unroll() const;
    void write_column_digits();
    /// Operands that move along the columns and are not folded: those of the thread's own.
    void load_own();
    /// As many as there are, about, where registers hold them.
    std::uint32_t slots_at_once() const override;
    bool has_rounds(const std::vector<fold_writer>& folds) const override;
    std::string results_of(const fold_writer& f) const override { return own(gapless() ? f.held() : f.name()); }
    /// The loads of a tile of vectors.
    void write_loads(const folded_space& s, const std::string& at) override;
    std::string address_in_run(const place& in, const std::string& at) const;
    void load_run(const folded_space& s, const std::string& at);
    /// The elements before the first whole vector and behind the last are fewer than two vectors: a thread each.
    void write_gapless();
    void write_rounds(std::uint32_t tile);
    void add_run_of_columns();
    std::string add_join_run(const fold_writer& f);
    void write_space(std::size_t number) override;
    void combine(fold_writer& f, const std::string& joiner, const std::string& variable) override;
    void describe(launch& step) const override;

    int inner_;
    layout layout_ = layout::wide;
    bool light_ = false;                         // one array and one word: registers for twice as many loads
    bool ahead_ = false;                         // tiles are on their way while others are joined
    std::uint32_t each_ = 1;                     // elements that a thread of a gapless layout loads at once
    std::uint32_t resident_ = resident_threads;  // threads of a multiprocessor
    std::uint32_t blocks_ = 1;                   // of a multiprocessor, where several share columns
    std::string column_;                         // the text of this thread's vector of columns
};

}  // namespace ingot::codegen
