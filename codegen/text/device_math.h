// Functions of device math on the host are printed behind these, which round and convert as a GPU does.

//// uncontracted
/// Returns the same number, but the compiler contracts no operations across the call.
template <class number>
static inline number uncontracted(number a) {
#if defined(__x86_64__)
    asm("" : "+x"(a));
#elif defined(__aarch64__)
    asm("" : "+w"(a));
#else
    asm("" : "+m"(a));
#endif
    return a;
}

//// rounding
extern "C" int fegetround();
extern "C" int fesetround(int);
/// Sets the rounding mode during its lifetime. Results rounded in that mode must be volatile, so that the
/// compiler does not move their computation out of it.
struct rounding {
#if defined(__x86_64__) || defined(__i386__)
    enum : int { rd = 0x400, ru = 0x800, rz = 0xc00 };
#elif defined(__aarch64__)
    enum : int { rd = 0x800000, ru = 0x400000, rz = 0xc00000 };
#elif defined(__riscv)
    enum : int { rd = 2, ru = 3, rz = 1 };
#else
    enum : int { rd = 3, ru = 2, rz = 1 };
#endif
    int before = fegetround();
    explicit rounding(int way) { fesetround(way); }
    ~rounding() { fesetround(before); }
};

//// to_integer
/// Converts a whole number to the nearest representable integer; NaN gives `of_nan`.
template <class integer>
static inline integer to_integer(double a, integer of_nan) {
    const bool negative = integer(-1) < integer(0);
    const int bits = 8 * sizeof(integer) - negative;
    const double end = 2.0 * double(1ull << (bits - 1));
    const integer most = integer(~0ull >> (64 - bits)), least = negative ? integer(-most - 1) : integer(0);
    if (a != a) return of_nan;
    return a >= end ? most : a < double(least) ? least : integer(a);
}
