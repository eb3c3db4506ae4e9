// Read access to the named values with which the caller describes a model.
#pragma once
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "foundation/types.h"

namespace bnpvi {

/// Read access to a named list. Throws std::invalid_argument if a name is missing or its value has another
/// type.
class Fields {
 public:
  virtual ~Fields() = default;
  virtual bool has(const char* name) const = 0;
  virtual std::string text(const char* name) const = 0;
  virtual double number(const char* name) const = 0;
  virtual Vec numbers(const char* name) const = 0;

  using Lists = std::vector<std::pair<std::string, std::unique_ptr<Fields>>>;
  /// The list `name` consists of named lists: returns these in their order, each with its name.
  virtual Lists lists(const char* name) const = 0;

  /// The numbers of field `name`; throws std::invalid_argument unless there are `size` of them.
  Vec numbers(const char* name, Index size) const {
    Vec out = numbers(name);
    if (static_cast<Index>(out.size()) != size)
      throw std::invalid_argument(std::string("internal error: field ") + name + " has " +
                                  std::to_string(out.size()) + " numbers, not " + std::to_string(size));
    return out;
  }

  Index integer(const char* name) const { return static_cast<Index>(number(name)); }
  bool flag(const char* name) const { return number(name) != 0; }
  /// The flag `name`, or false if there is no field of this name.
  bool optional_flag(const char* name) const { return has(name) && flag(name); }
};

}  // namespace bnpvi
