// Conway's Game of Life on a torus: eight rolls of the board and the rule are one kernel a generation. A glider goes
// one cell down and to the right in four generations, so on a board of n by n it is where it was after 4 n.
// game_of_life [N]
#include <cstdio>
#include <cstdlib>

#include <ingot/ingot.hpp>

using namespace ingot;

namespace {

array<std::uint8_t> next(const array<std::uint8_t>& board) {
    const auto beside = roll(board, 1, 1) + roll(board, -1, 1);
    const auto above = roll(board, 1, 0), below = roll(board, -1, 0);
    const auto neighbours =
        beside + above + below + roll(above, 1, 1) + roll(above, -1, 1) + roll(below, 1, 1) + roll(below, -1, 1);
    return astype<std::uint8_t>(neighbours == 3 || (board != 0 && neighbours == 2));
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): an error ends the program with its text
int main(int argc, char** argv) {
    const index_t n = argc > 1 ? std::atoll(argv[1]) : 64;
    array<std::uint8_t> board = zeros<std::uint8_t>({n, n});
    board(slice(0, 3), slice(0, 3)) = array<std::uint8_t>{{0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
    const array<std::uint8_t> start = board;

    const auto before = counters().kernel_launches;
    for (index_t generation = 0; generation < 4 * n; ++generation) board = next(board);
    const auto launched = counters().kernel_launches - before;
    std::printf("%lld by %lld cells, %lld generations, %llu kernels\n", static_cast<long long>(n),
                static_cast<long long>(n), static_cast<long long>(4 * n), static_cast<unsigned long long>(launched));
    std::printf("alive: %lld, where they were: %s\n", static_cast<long long>(sum(board).item()),
                array_equal(board, start).item() ? "yes" : "no");
}
