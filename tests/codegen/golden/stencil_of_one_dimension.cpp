// complex_of(real(x0) - real(x1), imag(x0) - imag(x1))
using int32 = int;
using uint32 = unsigned int;

//// complex64, independent

struct arguments {
    const complex64* x0;
    const complex64* x1;
    complex64* z0;
    uint32 n0;
};

extern "C" void map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const int32 i0 = int32(block * 32768);
        const int32 n = p.n0 - i0 < 32768 ? int32(p.n0) - i0 : 32768;
        const complex64* const x0_row = p.x0 + i0;
        const complex64* const x1_row = p.x1 + i0;
        complex64* const z0_row = p.z0 + i0;
        independent
        for (int32 j = 0; j < n; ++j) {
            const complex64 x0 = x0_row[j];
            const complex64 x1 = x1_row[j];
            const float t0 = real(x0);
            const float t1 = imag(x0);
            const float t2 = real(x1);
            const float t3 = imag(x1);
            const float t4 = t0 - t2;
            const float t5 = t1 - t3;
            z0_row[j] = complex64(t4, t5);
        }
    }
}
