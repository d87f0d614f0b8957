// See kernel_shape.hpp.
#include "codegen/plan/kernel_shape.hpp"

namespace ingot::codegen {

namespace {

constexpr std::string_view text_of(element_source s) {
    switch (s) {
        case element_source::direct:
            return "read where they lie";
        case element_source::run:
            return "read by vectors of their run of memory";
        case element_source::staged:
            return "staged in shared memory";
    }
    return "";
}

constexpr std::string_view text_of(thread_exchange e) {
    switch (e) {
        case thread_exchange::none:
            return "";
        case thread_exchange::lanes:
            return ", joined by shuffles";
        case thread_exchange::block:
            return ", joined in shared memory";
        case thread_exchange::cluster:
            return ", joined in the cluster's shared memory";
        case thread_exchange::scratch:
            return ", joined through the scratch";
    }
    return "";
}

}  // namespace

std::string describe(const kernel_shape& s) {
    if (s.threads == 0) return "";
    std::string text = std::string(s.name) + ": blocks of " + std::to_string(s.threads) + " threads";
    if (s.cluster > 1) text += ", clusters of " + std::to_string(s.cluster);
    if (s.lanes > 1) text += ", " + std::to_string(s.lanes) + " lanes a row";
    const bool several = s.chunks > 1 && s.each > 1;
    text += ", " + (several ? std::to_string(s.chunks) + " times " : "") +
            std::to_string(several ? s.each : s.each * s.chunks) + (s.each * s.chunks > 1 ? " elements" : " element") +
            " a thread, ";
    text += text_of(s.source);
    if (s.tile > 0) text += " by tiles of " + std::to_string(s.tile) + " elements";
    text += text_of(s.exchange);
    if (s.read_ahead > 0) text += ", " + std::to_string(s.read_ahead) + " ahead";
    if (s.resident_blocks > 0)
        text += ", " + std::to_string(s.resident_blocks) + (s.resident_blocks > 1 ? " blocks" : " block") +
                " a multiprocessor";
    return text;
}

}  // namespace ingot::codegen
