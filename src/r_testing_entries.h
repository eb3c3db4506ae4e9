// Functions of the engine that are exported to R only for tests.
#pragma once
#include <Rcpp.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace bnpvi::testing {

/// A function for tests as R sees it: the names of its arguments, and a C++ function of a list of arguments
/// in this order.
struct EntryOfTests {
  std::vector<std::string> arguments;
  std::function<SEXP(const Rcpp::List&)> call;
};

/// All functions for tests, by name. Empty in a build without the sources of src/testing, as users install
/// it.
std::map<std::string, EntryOfTests>& entries_of_tests();

/// An object of this class adds one function to entries_of_tests() when the library is loaded.
class Entry {
 public:
  template <class Result, class... Argument>
  Entry(const char* name, const char* const (&arguments)[sizeof...(Argument)],
        Result (*function)(Argument...)) {
    entries_of_tests()[name] = {{arguments, arguments + sizeof...(Argument)},
                                [function](const Rcpp::List& values) {
                                  return called(function, values, std::index_sequence_for<Argument...>{});
                                }};
  }

 private:
  template <class Result, class... Argument, std::size_t... I>
  static SEXP called(Result (*function)(Argument...), const Rcpp::List& values, std::index_sequence<I...>) {
    return Rcpp::wrap(
        function(typename Rcpp::traits::input_parameter<Argument>::type(static_cast<SEXP>(values[I]))...));
  }
};

}  // namespace bnpvi::testing
