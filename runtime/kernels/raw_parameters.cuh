// The words on a kernel's parameters (raw_parameter), which the kernel's compiler makes from their types. Stands behind
// a user's text.

namespace ingot_raw {
template <class T> struct kind { enum { value = 0 }; };
template <> struct kind<bool> { enum { value = 1 }; };
template <> struct kind<char> { enum { value = 2 }; };
template <> struct kind<signed char> { enum { value = 2 }; };
template <> struct kind<short> { enum { value = 2 }; };
template <> struct kind<int> { enum { value = 2 }; };
template <> struct kind<long> { enum { value = 2 }; };
template <> struct kind<long long> { enum { value = 2 }; };
template <> struct kind<unsigned char> { enum { value = 3 }; };
template <> struct kind<unsigned short> { enum { value = 3 }; };
template <> struct kind<unsigned int> { enum { value = 3 }; };
template <> struct kind<unsigned long> { enum { value = 3 }; };
template <> struct kind<unsigned long long> { enum { value = 3 }; };
template <> struct kind<float> { enum { value = 4 }; };
template <> struct kind<double> { enum { value = 4 }; };
template <class T> struct value_word { enum : unsigned long long { word = kind<T>::value | sizeof(T) << 8 }; };
template <> struct value_word<void> { enum : unsigned long long { word = 64 }; };
template <class T> struct target_word { enum : unsigned long long { word = 16 | value_word<T>::word }; };
template <class T> struct target_word<const T> { enum : unsigned long long { word = 32 | target_word<T>::word }; };
template <class T> struct target_word<volatile T> { enum : unsigned long long { word = target_word<T>::word }; };
template <class T> struct target_word<const volatile T> {
    enum : unsigned long long { word = 32 | target_word<T>::word };
};
template <class T> struct parameter { enum : unsigned long long { word = value_word<T>::word }; };
template <class T> struct parameter<const T> { enum : unsigned long long { word = value_word<T>::word }; };
template <class T> struct parameter<T*> { enum : unsigned long long { word = target_word<T>::word }; };
template <class T> struct parameter<T* const> { enum : unsigned long long { word = target_word<T>::word }; };
template <unsigned n> struct words { unsigned long long count, word[n + 1]; };
template <class F> struct signature;
template <class... P> struct signature<void (*)(P...)> {
    static __device__ constexpr words<sizeof...(P)> all() {
        return {sizeof...(P), {static_cast<unsigned long long>(parameter<P>::word)..., 0}};
    }
};
}
