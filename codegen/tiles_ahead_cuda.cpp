// A fold's tiles on their way into shared memory while the one before is joined: for folds that compute as long as they
// load. Registers would hold fewer tiles, and fewer threads.
#include "codegen/fold_cuda.hpp"

namespace ingot::codegen {

void cuda_fold::write_tiles_ahead(std::size_t number, std::uint32_t unroll, const std::string& apart,
                                  const std::string& step, const std::string& distance,
                                  const std::function<std::string(const std::string&)>& there,
                                  const std::function<std::string(const place&, const std::string&)>& address) {
    source_writer& out = b_.code;
    const auto outside = b_.body.scope();
    const std::vector<const place*> inputs = inputs_of(spaces_[number]);
    const bool asynchronous = b_.copies_asynchronously();
    for (const place* in : inputs)
        out.line("__shared__ ", b_.needs.type(in->at->head.type), ' ', in->name, "_ahead[2][", unroll, "][", threads_,
                 "];");
    const auto fetch = [&](const std::string& at, const std::string& stage) {
        out.open("if (", there(at), ")");
        for (const place* in : inputs)
            out.line("const ", b_.needs.type(in->at->head.type), "* const ", in->name, "_next = ", address(*in, at),
                     ";");
        b_.open_unrolled("u", unroll);
        for (const place* in : inputs)
            out.line(b_.copier(bytes_of(*in)), "(&", in->name, "_ahead[", stage, "][u][threadIdx.x], ", in->name,
                     "_next + u * ", b_.needs.type(dtype::u8), '(', distance, "));");
        out.close();
        out.close();
        if (asynchronous) out.line("asm volatile(\"cp.async.commit_group;\" ::: \"memory\");");
    };
    out.line(b_.needs.type(dtype::u4), " stage = 0;");
    fetch("k", "0");
    out.open("for (; ", there("k"), "; k += ", step, ")");
    fetch("k + " + step, "stage ^ 1");
    if (asynchronous) out.line("asm volatile(\"cp.async.wait_group 1;\" ::: \"memory\");");
    declare_tile(number, unroll);
    b_.open_unrolled("u", unroll);
    for (const place* in : inputs) out.line(in->name, "[u] = ", in->name, "_ahead[stage][u][threadIdx.x];");
    out.close();
    out.line("stage ^= 1;");
    write_tile(number, unroll, apart, "", true);
    out.close();
    b_.body.leave(outside);
}

}  // namespace ingot::codegen
