// How entries turn errors of the engine into errors of R.
#include <new>
#include <stdexcept>

#include "foundation/file_error.h"
#include "r_convert.h"

namespace bnpvi {

void rethrow_for_r() {
  std::string why;
  try {
    throw;
  } catch (const FileError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::length_error&) {
    throw;
  } catch (const Rcpp::eval_error&) {
    throw;
  } catch (const std::exception& error) {
    why = error.what();
  }
  const Rcpp::Function refuse("refuse_parts", "bnpvi");
  refuse(why);
  throw std::logic_error(why);
}

}  // namespace bnpvi
