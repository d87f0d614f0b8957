// How the lanes of a row join their folds, so that every lane gets the row's results: in a warp by shuffles, in a block
// through shared memory, in a cluster by sending to all its blocks.
#pragma once

#include <string>
#include <vector>

#include "codegen/cuda/kernel.hpp"
#include "codegen/cuda/row/register_rows.hpp"
#include "codegen/text/fold.hpp"

namespace ingot::codegen {

class row_exchange {
public:
    row_exchange(cuda_kernel& b, const register_rows& choice) : b_(b), choice_(choice) {}

    /// Called before any load, and before the first exchange: blocks of a cluster make sure that all of them run.
    void begin(std::vector<std::vector<fold_writer>>& phases);
    void meet();
    /// Turns each fold's variable from a lane's fold into its row's.
    void write(std::vector<fold_writer>& folds);

private:
    void along(std::vector<fold_writer>& folds);
    void across(std::vector<fold_writer>& folds);
    void give_out(std::vector<fold_writer>& folds);
    /// Whether the blocks of a cluster send the folds of this phase.
    bool is_sent() const { return choice_.sends_words[phase_ - 1]; }
    void put(const fold_writer& f, const std::string& slot, const std::string& block);
    void await();
    std::string expect();
    std::string send();
    std::string wait_for();
    std::string in_block();
    std::string cluster_barrier(const std::string& name, const std::string& instruction);

    cuda_kernel& b_;
    const register_rows& choice_;
    std::size_t phase_ = 0;  // of the exchange, from 1
};

}  // namespace ingot::codegen
