// Access to the entries that only tests call.
#include <stdexcept>

#include "r_testing.h"
#include "r_testing_entries.h"

namespace bnpvi {

TestHooks& test_hooks() {
  static TestHooks hooks;
  return hooks;
}

namespace testing {

std::map<std::string, EntryOfTests>& entries_of_tests() {
  static std::map<std::string, EntryOfTests> entries;
  return entries;
}

}  // namespace testing
}  // namespace bnpvi

using bnpvi::testing::entries_of_tests;

// The names of the arguments of each entry for tests; empty in a build for users.
// [[Rcpp::export]]
Rcpp::List engine_testing_entries() {
  Rcpp::List out;
  for (const auto& [name, entry] : entries_of_tests()) out.push_back(entry.arguments, name);
  return out;
}

// Calls an entry for tests; arguments: in the order of engine_testing_entries().
// [[Rcpp::export]]
SEXP engine_testing(std::string name, Rcpp::List arguments) {
  const auto found = entries_of_tests().find(name);
  if (found == entries_of_tests().end()) throw std::invalid_argument("this build has no entry " + name);
  if (static_cast<std::size_t>(arguments.size()) != found->second.arguments.size())
    throw std::invalid_argument("another number of arguments than those of " + name);
  return found->second.call(arguments);
}
