// SPDX-License-Identifier: BSD-3-Clause
// This is what the predefined operations make of two values (MPI-5.0, sections 6.9.2 and 6.9.4).
// The loops over many values are in op.cc.
#pragma once

#include <type_traits>

namespace lamina::datatype {

template <class T>
struct Complex {
  T re;
  T im;
};

// Signed overflow wraps around, as the application's own loop would on this machine.
template <class T>
constexpr bool kIsInteger = std::is_integral_v<T> || std::is_same_v<T, __int128>;
template <class T>
struct Wrapping {
  using Type = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
};
template <>
struct Wrapping<__int128> {
  using Type = unsigned __int128;
};

struct Sum {
  template <class T>
  static T Apply(T a, T b) {
    if constexpr (kIsInteger<T>) {
      using U = typename Wrapping<T>::Type;
      return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    } else {
      return a + b;
    }
  }
  template <class T>
  static Complex<T> Apply(Complex<T> a, Complex<T> b) {
    return {a.re + b.re, a.im + b.im};
  }
};
struct Product {
  template <class T>
  static T Apply(T a, T b) {
    if constexpr (kIsInteger<T>) {
      using U = typename Wrapping<T>::Type;
      return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
    } else {
      return a * b;
    }
  }
  template <class T>
  static Complex<T> Apply(Complex<T> a, Complex<T> b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};
struct Minimum {
  template <class T>
  static T Apply(T a, T b) {
    return a < b ? a : b;
  }
};
struct Maximum {
  template <class T>
  static T Apply(T a, T b) {
    return a > b ? a : b;
  }
};
struct LogicalAnd {
  template <class T>
  static T Apply(T a, T b) {
    return static_cast<T>((a != 0) & (b != 0));
  }
};
struct LogicalOr {
  template <class T>
  static T Apply(T a, T b) {
    return static_cast<T>((a != 0) | (b != 0));
  }
};
struct LogicalXor {
  template <class T>
  static T Apply(T a, T b) {
    return static_cast<T>((a != 0) ^ (b != 0));
  }
};
struct BitAnd {
  template <class T>
  static T Apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct BitOr {
  template <class T>
  static T Apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct BitXor {
  template <class T>
  static T Apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

// The pair types are laid out as a C struct of a value and the place where it was found.
template <class Value, class Where>
struct Pair {
  Value value;
  Where where;
};
struct MinimumLocation {
  template <class V>
  static bool IsBetter(V a, V b) {
    return a < b;
  }
};
struct MaximumLocation {
  template <class V>
  static bool IsBetter(V a, V b) {
    return a > b;
  }
};

}  // namespace lamina::datatype
