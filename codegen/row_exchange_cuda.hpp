// How the lanes of a row join what each of them has folded, so that every one gets the row's results: in a warp by
// shuffles, in a block through shared memory, in a cluster by sending to all its blocks.
#pragma once

#include <string>
#include <vector>

#include "codegen/cuda_kernel.hpp"
#include "codegen/fold.hpp"
#include "codegen/register_rows.hpp"

namespace ingot::codegen {

class row_exchange {
public:
    row_exchange(cuda_kernel& b, const register_rows& s) : b_(b), s_(s) {}

    /// Before anything is loaded, and before the first exchange: blocks of a cluster see that all of them run.
    void begin(std::vector<std::vector<fold_writer>>& phases);
    void meet();
    /// Each fold's variable, from what a lane has to what its row has.
    void write(std::vector<fold_writer>& folds);

private:
    void along(std::vector<fold_writer>& folds);
    void beside(std::vector<fold_writer>& folds);
    void give_out(std::vector<fold_writer>& folds);
    static bool is_sent(const std::vector<fold_writer>& folds);
    void put(const fold_writer& f, const std::string& slot, const std::string& block, bool sent);
    void await(bool sent);
    std::string expect();
    std::string send();
    std::string wait_for();
    std::string in_block();
    std::string cluster_barrier(const std::string& name, const std::string& instruction);

    cuda_kernel& b_;
    const register_rows& s_;
    std::size_t phase_ = 0;  // of the exchange, from 1
};

}  // namespace ingot::codegen
