// The content of <cupy/complex.cuh>: Thrust's complex under its own name.

namespace thrust {
template <class T> struct alignas(2 * sizeof(T)) complex {
    typedef T value_type;
    T re, im;
    complex() = default;
    __host__ __device__ complex(T r, T i = T()) : re(r), im(i) {}
    template <class U> __host__ __device__ explicit complex(const complex<U>& z) : re(T(z.real())), im(T(z.imag())) {}
    __host__ __device__ T real() const { return re; }
    __host__ __device__ T imag() const { return im; }
    __host__ __device__ void real(T r) { re = r; }
    __host__ __device__ void imag(T i) { im = i; }
    __host__ __device__ complex& operator+=(complex z) { re += z.re; im += z.im; return *this; }
    __host__ __device__ complex& operator-=(complex z) { re -= z.re; im -= z.im; return *this; }
    __host__ __device__ complex& operator*=(complex z) { return *this = *this * z; }
    __host__ __device__ complex& operator/=(complex z) { return *this = *this / z; }
    friend __host__ __device__ complex operator+(complex a, complex b) { return complex(a.re + b.re, a.im + b.im); }
    friend __host__ __device__ complex operator-(complex a, complex b) { return complex(a.re - b.re, a.im - b.im); }
    friend __host__ __device__ complex operator*(complex a, complex b) {
        return complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
    }
    friend __host__ __device__ complex operator/(complex a, complex b) {
        // Smith's way, which does not overflow on the way.
        const bool by_real = (b.re < 0 ? -b.re : b.re) >= (b.im < 0 ? -b.im : b.im);
        const T r = by_real ? b.im / b.re : b.re / b.im, d = by_real ? b.re + b.im * r : b.im + b.re * r;
        return by_real ? complex((a.re + a.im * r) / d, (a.im - a.re * r) / d)
                       : complex((a.re * r + a.im) / d, (a.im * r - a.re) / d);
    }
    friend __host__ __device__ complex operator+(complex z) { return z; }
    friend __host__ __device__ complex operator-(complex z) { return complex(-z.re, -z.im); }
    friend __host__ __device__ bool operator==(complex a, complex b) { return a.re == b.re && a.im == b.im; }
    friend __host__ __device__ bool operator!=(complex a, complex b) { return !(a == b); }
};
template <class T> __host__ __device__ T real(const complex<T>& z) { return z.re; }
template <class T> __host__ __device__ T imag(const complex<T>& z) { return z.im; }
template <class T> __host__ __device__ complex<T> conj(const complex<T>& z) { return complex<T>(z.re, -z.im); }
template <class T> __host__ __device__ T norm(const complex<T>& z) { return z.re * z.re + z.im * z.im; }
__host__ __device__ inline float abs(const complex<float>& z) { return hypotf(z.re, z.im); }
__host__ __device__ inline double abs(const complex<double>& z) { return hypot(z.re, z.im); }
__host__ __device__ inline float arg(const complex<float>& z) { return atan2f(z.im, z.re); }
__host__ __device__ inline double arg(const complex<double>& z) { return atan2(z.im, z.re); }
__host__ __device__ inline complex<float> polar(float r, float t) { return {r * cosf(t), r * sinf(t)}; }
__host__ __device__ inline complex<double> polar(double r, double t) { return {r * cos(t), r * sin(t)}; }
__host__ __device__ inline complex<float> exp(const complex<float>& z) { return polar(expf(z.re), z.im); }
__host__ __device__ inline complex<double> exp(const complex<double>& z) { return polar(::exp(z.re), z.im); }
}
using thrust::complex;
using thrust::real;
using thrust::imag;
using thrust::conj;
using thrust::norm;
using thrust::arg;
using thrust::polar;
