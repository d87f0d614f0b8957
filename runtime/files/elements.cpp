// See elements.hpp.
#include "runtime/files/elements.hpp"

#include <algorithm>
#include <cstring>

namespace ingot::runtime {

namespace {

constexpr std::size_t cached_piece = std::size_t{1} << 18;  // a piece is swapped while it is in a cache

template <class Word>
void swap_words(std::span<std::byte> bytes) {
    for (std::size_t i = 0; i < bytes.size(); i += sizeof(Word)) {
        Word word = 0;
        std::memcpy(&word, bytes.data() + i, sizeof word);
        if constexpr (sizeof(Word) == 2)
            word = __builtin_bswap16(word);
        else if constexpr (sizeof(Word) == 4)
            word = __builtin_bswap32(word);
        else
            word = __builtin_bswap64(word);
        std::memcpy(bytes.data() + i, &word, sizeof word);
    }
}

/// Size of the unit that has a byte order: a number, or a part of a complex number.
std::size_t number_size(dtype t) { return detail::size_of(t) / (detail::kind_of(t) == detail::kind::complex ? 2 : 1); }

}  // namespace

void read_elements(byte_stream& from, const npy_contents& file, std::span<std::byte> to) {
    while (!to.empty()) {
        const std::span<std::byte> piece = to.first(std::min(to.size(), cached_piece));
        from.read(piece);
        if (file.type == dtype::b1)
            for (std::byte& b : piece) b = static_cast<std::byte>(b != std::byte{});
        if (file.swapped) switch (number_size(file.type)) {
                case 2:
                    swap_words<std::uint16_t>(piece);
                    break;
                case 4:
                    swap_words<std::uint32_t>(piece);
                    break;
                case 8:
                    swap_words<std::uint64_t>(piece);
                    break;
                default:
                    break;
            }
        to = to.subspan(piece.size());
    }
}

}  // namespace ingot::runtime
