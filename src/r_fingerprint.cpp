// Fingerprints (hashes) of R's values.
#include <Rcpp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

namespace {

// Takes in 8 bytes at a time; the result is the same on every machine and in every version of R.
class Hash {
 public:
  void word(std::uint64_t x) {
    a_ = (a_ ^ x) * 0x9e3779b97f4a7c15u;
    a_ ^= a_ >> 32;
    b_ = (b_ + x) * 0xd6e8feb86659fd93u;
    b_ ^= b_ >> 29;
  }
  void number(double x) {
    std::uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    word(!std::isnan(x) ? bits : R_IsNA(x) ? na : nan);
  }
  void text(const char* from, std::size_t n) {
    word(n);
    std::size_t at = 0;
    for (; at + 8 <= n; at += 8) word(bytes(from + at, 8));
    if (at < n) word(bytes(from + at, n - at));
  }
  void text(const char* from) { text(from, std::strlen(from)); }
  std::uint64_t first() const { return a_; }
  std::uint64_t second() const { return b_ ^ (a_ * 31); }

 private:
  static std::uint64_t bytes(const char* from, std::size_t n) {
    std::uint64_t x = 0;
    for (std::size_t i = 0; i < n; ++i)
      x |= static_cast<std::uint64_t>(static_cast<unsigned char>(from[i])) << (8 * i);
    return x;
  }

  static constexpr std::uint64_t na = 0x7ff00000000007a2u, nan = 0x7ff8000000000000u;

  std::uint64_t a_ = 1, b_ = 2;
};

void take(Hash& to, SEXP x, int depth);

void take_string(Hash& to, SEXP x) {
  if (x == NA_STRING) return to.word(~std::uint64_t{0});
  const char* from = CHAR(x);
  const auto n = static_cast<std::size_t>(Rf_xlength(x));
  const bool plain = std::all_of(from, from + n, [](char c) { return static_cast<unsigned char>(c) < 128; });
  if (plain || Rf_getCharCE(x) == CE_BYTES)
    to.text(from, n);
  else
    to.text(Rf_translateCharUTF8(x));
}

// srcrefs and their environments do not change a value.
bool counts(SEXP tag) {
  const char* name = CHAR(PRINTNAME(tag));
  return std::strcmp(name, "srcref") != 0 && std::strcmp(name, "srcfile") != 0 &&
         std::strcmp(name, "wholeSrcref") != 0;
}

// Independent of the order, since attributes have none.
void take_attributes(Hash& to, SEXP x, int depth) {
  std::uint64_t first = 0, second = 0;
  for (SEXP at = ATTRIB(x); at != R_NilValue; at = CDR(at)) {
    if (!counts(TAG(at))) continue;
    Hash own;
    own.text(CHAR(PRINTNAME(TAG(at))));
    take(own, CAR(at), depth);
    first += own.first();
    second += own.second();
  }
  to.word(first);
  to.word(second);
}

void take_list(Hash& to, SEXP x, int depth) {
  for (; x != R_NilValue && TYPEOF(x) != NILSXP; x = CDR(x)) {
    if (TYPEOF(x) != LISTSXP && TYPEOF(x) != LANGSXP && TYPEOF(x) != DOTSXP) return take(to, x, depth);
    to.text(TAG(x) == R_NilValue ? "" : CHAR(PRINTNAME(TAG(x))));
    take(to, CAR(x), depth);
  }
  to.word(3);
}

void take(Hash& to, SEXP x, int depth) {
  if (depth > 500) Rcpp::stop("lists within lists, too deep to be read");
  const int type = TYPEOF(x) == BUILTINSXP ? SPECIALSXP : TYPEOF(x) == DOTSXP ? LISTSXP : TYPEOF(x);
  to.word(static_cast<std::uint64_t>(type));
  ++depth;
  switch (type) {
    case LGLSXP:
    case INTSXP: {
      const R_xlen_t n = Rf_xlength(x);
      to.word(static_cast<std::uint64_t>(n));
      const int* v = type == INTSXP ? INTEGER(x) : LOGICAL(x);
      R_xlen_t i = 0;
      for (; i + 1 < n; i += 2)
        to.word(std::uint64_t{static_cast<std::uint32_t>(v[i])} << 32 | static_cast<std::uint32_t>(v[i + 1]));
      if (i < n) to.word(static_cast<std::uint32_t>(v[i]));
      break;
    }
    case REALSXP:
    case CPLXSXP: {
      const R_xlen_t n = Rf_xlength(x) * (type == CPLXSXP ? 2 : 1);
      to.word(static_cast<std::uint64_t>(n));
      const double* v = type == REALSXP ? REAL(x) : reinterpret_cast<const double*>(COMPLEX(x));
      for (R_xlen_t i = 0; i < n; ++i) to.number(v[i]);
      break;
    }
    case RAWSXP:
      to.word(static_cast<std::uint64_t>(Rf_xlength(x)));
      for (R_xlen_t i = 0; i < Rf_xlength(x); ++i) to.word(RAW(x)[i]);
      break;
    case STRSXP:
      to.word(static_cast<std::uint64_t>(Rf_xlength(x)));
      for (R_xlen_t i = 0; i < Rf_xlength(x); ++i) take_string(to, STRING_ELT(x, i));
      break;
    case VECSXP:
    case EXPRSXP:
      to.word(static_cast<std::uint64_t>(Rf_xlength(x)));
      for (R_xlen_t i = 0; i < Rf_xlength(x); ++i) take(to, VECTOR_ELT(x, i), depth);
      break;
    case SYMSXP:
      to.text(x == R_MissingArg ? "" : CHAR(PRINTNAME(x)));
      return;
    case LISTSXP:
    case LANGSXP:
      take_list(to, x, depth);
      break;
    case CLOSXP:
      take(to, FORMALS(x), depth);
      take(to, R_ClosureExpr(x), depth);
      break;
    default:
      break;  // environments, pointers, functions of R itself
  }
  if (type != CHARSXP && type != NILSXP) take_attributes(to, x, depth);
}

}  // namespace

// 32 hex digits that depend only on the value of x: not on the encoding of text, nor on the order of
// attributes; for functions and formulas on their code, and not on where they were made. The same in all
// versions of R and on all machines.
// [[Rcpp::export]]
std::string engine_value_fingerprint(SEXP x) {
  Hash all;
  take(all, x, 0);
  std::string out;
  for (const std::uint64_t half : {all.first(), all.second()})
    for (int shift = 60; shift >= 0; shift -= 4) out += "0123456789abcdef"[half >> shift & 15];
  return out;
}
