// Named values, as a model is described by its caller.
#pragma once
#include <string>

#include "foundation/types.h"

namespace bnpvi {

/// Read access to a named list; a missing or mistyped name throws std::invalid_argument.
class Fields {
 public:
  virtual ~Fields() = default;
  virtual bool has(const char* name) const = 0;
  virtual std::string text(const char* name) const = 0;
  virtual double number(const char* name) const = 0;
  virtual Vec numbers(const char* name) const = 0;

  Index integer(const char* name) const { return static_cast<Index>(number(name)); }
  bool flag(const char* name) const { return number(name) != 0; }
};

}  // namespace bnpvi
