#include "inference/learn/archived.h"

namespace bnpvi {

void write(Writer& out, const NamedArrays& arrays) {
  out.integer(static_cast<std::int64_t>(arrays.size()));
  for (const NamedArray& array : arrays) {
    out.text(array.name);
    out.list(array.value);
    out.list(array.dim);
  }
}

NamedArrays read_arrays(Reader& in) {
  NamedArrays out;
  for (std::int64_t n = in.integer(); n > 0; --n) {
    NamedArray array{in.text(), in.list<Vec>(), {}};
    array.dim = in.list<std::vector<Index>>();
    out.push_back(std::move(array));
  }
  return out;
}

void write(Writer& out, const Globals& globals) {
  globals.effective.write(out);
  out.list(globals.u);
  out.list(globals.omega);
}

Globals read_globals(Reader& in) {
  Globals out;
  out.effective = Summary::read(in);
  out.u = in.list<Vec>();
  out.omega = in.list<Vec>();
  return out;
}

}  // namespace bnpvi
