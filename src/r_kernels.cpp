// The versions of the numerical kernels that run on this machine.
#include "kernels/kernels.h"
#include "r_convert.h"

using namespace bnpvi;

// [[Rcpp::export]]
Rcpp::CharacterVector engine_kernel_versions() {
  Rcpp::CharacterVector names;
  for (const char* name : {"base", "avx2", "avx512"})
    if (kernels_named(name) != nullptr) names.push_back(name);
  names.attr("chosen") = kernels().name;
  return names;
}
