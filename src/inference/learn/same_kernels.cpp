#include "inference/learn/same_kernels.h"

#include <stdexcept>

#include "kernels/kernels.h"

namespace bnpvi {

void write_kernels(Writer& out) { out.text(kernels().name); }

void expect_kernels(Reader& in) {
  if (const std::string made_with = in.text(); made_with != kernels().name)
    throw std::invalid_argument("a state that was computed with the kernels \"" + made_with +
                                "\", while this machine uses \"" + kernels().name +
                                "\": its numbers would differ in the last digits");
}

}  // namespace bnpvi
