// Users' texts compute with complex numbers of this class. Its layout is that of the numbers in memory, which have the
// members re and im. Friends, not templates, take part, so that 2 * z converts. A float's number becomes a double's by
// itself, and the reverse when written.

/// A complex number with operators.
template <class T>
class alignas(2 * sizeof(T)) complex {
public:
    __device__ __forceinline__ complex(T re = 0, T im = 0) : re_(re), im_(im) {}
    template <class Z, class = decltype(Z::re)>
    __device__ __forceinline__ complex(const Z& z) : re_(z.re), im_(z.im) {}
    template <class U, char (*)[sizeof(U) < sizeof(T) ? 1 : -1] = nullptr>
    __device__ __forceinline__ complex(const complex<U>& z) : re_(z.real()), im_(z.imag()) {}
    template <class U, char (*)[sizeof(U) > sizeof(T) ? 1 : -1] = nullptr>
    __device__ __forceinline__ explicit complex(const complex<U>& z) : re_(T(z.real())), im_(T(z.imag())) {}
    __device__ __forceinline__ T real() const { return re_; }
    __device__ __forceinline__ T imag() const { return im_; }
    __device__ __forceinline__ void real(T re) { re_ = re; }
    __device__ __forceinline__ void imag(T im) { im_ = im; }
    __device__ __forceinline__ complex operator+() const { return *this; }
    __device__ __forceinline__ complex operator-() const { return complex(-re_, -im_); }
    __device__ __forceinline__ friend complex operator+(const complex& a, const complex& b) { return complex(a.re_ + b.re_, a.im_ + b.im_); }
    __device__ __forceinline__ friend complex operator-(const complex& a, const complex& b) { return complex(a.re_ - b.re_, a.im_ - b.im_); }
    __device__ __forceinline__ friend complex operator*(const complex& a, const complex& b) {
        return complex(a.re_ * b.re_ - a.im_ * b.im_, a.re_ * b.im_ + a.im_ * b.re_);
    }
    /// Scaled by the larger part of b (Smith, 1962).
    __device__ __forceinline__ friend complex operator/(const complex& a, const complex& b) {
        const bool by_re = (b.re_ < 0 ? -b.re_ : b.re_) >= (b.im_ < 0 ? -b.im_ : b.im_);
        if (by_re && b.re_ == 0) return complex(a.re_ / b.re_, a.im_ / b.re_);
        const T ratio = by_re ? b.im_ / b.re_ : b.re_ / b.im_, scale = by_re ? b.re_ + b.im_ * ratio : b.im_ + b.re_ * ratio;
        return by_re ? complex((a.re_ + a.im_ * ratio) / scale, (a.im_ - a.re_ * ratio) / scale)
                     : complex((a.re_ * ratio + a.im_) / scale, (a.im_ * ratio - a.re_) / scale);
    }
    __device__ __forceinline__ friend bool operator==(const complex& a, const complex& b) { return a.re_ == b.re_ && a.im_ == b.im_; }
    __device__ __forceinline__ friend bool operator!=(const complex& a, const complex& b) { return !(a == b); }
    __device__ __forceinline__ complex& operator+=(const complex& b) { return *this = *this + b; }
    __device__ __forceinline__ complex& operator-=(const complex& b) { return *this = *this - b; }
    __device__ __forceinline__ complex& operator*=(const complex& b) { return *this = *this * b; }
    __device__ __forceinline__ complex& operator/=(const complex& b) { return *this = *this / b; }

private:
    T re_, im_;
};
