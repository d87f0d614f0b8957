// Counts a launch's memory traffic: requests of warps in sectors of 32 bytes, and cycles of shared memory's 32 banks.
// Lanes at one position of the code for the n-th time are taken to be there together, which counts too many requests
// where some lanes skip a turn of a loop.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "machine.hpp"

namespace emulator {

class traffic {
public:
    /// An access of a thread of a block; `at` is an address, or an offset in shared memory.
    void touch(std::uint32_t block, std::uint32_t thread, const void* code, std::uintptr_t at, std::size_t bytes,
               bool writes, bool shared) {
        const std::uint32_t nth = counts_[{block, thread, code}]++;
        request& r = requests_[{block, thread / lanes_of_warp, code, nth}];
        r.writes = writes;
        r.shared = shared;
        r.bytes = std::max(r.bytes, bytes);
        r.at.push_back(at);
    }
    void end_block(std::uint32_t block) {
        const auto begin = requests_.lower_bound({block, 0, nullptr, 0});
        auto end = begin;
        for (; end != requests_.end() && std::get<0>(end->first) == block; ++end) fold(end->second);
        requests_.erase(begin, end);
        counts_.erase(counts_.lower_bound({block, 0, nullptr}), counts_.lower_bound({block + 1, 0, nullptr}));
    }
    /// Sectors that were read and written, beside the distinct ones; cycles of the banks, beside the fewest possible.
    std::string text() const {
        std::string out;
        const auto add = [&](const char* what, std::uint64_t seen, std::uint64_t least) {
            if (seen == 0) return;
            char line[160];
            std::snprintf(line, sizeof line, "%s%s %llu of %llu (%.2f)", out.empty() ? "" : ", ", what,
                          static_cast<unsigned long long>(seen), static_cast<unsigned long long>(least),
                          static_cast<double>(seen) / static_cast<double>(least));
            out += line;
        };
        add("sectors read", sectors_[0], different_[0].size());
        add("written", sectors_[1], different_[1].size());
        add("turns of banks", turns_, least_turns_);
        return out;
    }

private:
    struct request {
        bool writes = false, shared = false;
        std::size_t bytes = 0;
        std::vector<std::uintptr_t> at;
    };
    static constexpr std::uintptr_t sector = 32, bank = 4, banks = 32;

    void fold(const request& r) {
        if (r.shared) return fold_shared(r);
        std::set<std::uintptr_t> own;
        for (const std::uintptr_t at : r.at)
            for (std::uintptr_t s = at / sector; s <= (at + r.bytes - 1) / sector; ++s) own.insert(s);
        sectors_[r.writes ? 1 : 0] += own.size();
        different_[r.writes ? 1 : 0].insert(own.begin(), own.end());
    }
    /// 8 and 16 bytes a lane go by halves and quarters of the warp.
    void fold_shared(const request& r) {
        const std::size_t words = std::max<std::size_t>(1, r.bytes / bank), together = lanes_of_warp / words;
        for (std::size_t first = 0; first < r.at.size(); first += together) {
            std::map<std::uintptr_t, std::set<std::uintptr_t>> of_bank;
            for (std::size_t i = first; i < std::min(first + together, r.at.size()); ++i)
                for (std::size_t w = 0; w < words; ++w) {
                    const std::uintptr_t word = r.at[i] / bank + w;
                    of_bank[word % banks].insert(word);
                }
            std::size_t turns = 0;
            for (const auto& [number, of] : of_bank) turns = std::max(turns, of.size());
            turns_ += turns;
            ++least_turns_;
        }
    }

    std::map<std::tuple<std::uint32_t, std::uint32_t, const void*>, std::uint32_t> counts_;
    std::map<std::tuple<std::uint32_t, std::uint32_t, const void*, std::uint32_t>, request> requests_;
    std::uint64_t sectors_[2] = {}, turns_ = 0, least_turns_ = 0;
    std::unordered_set<std::uintptr_t> different_[2];
};

}  // namespace emulator
