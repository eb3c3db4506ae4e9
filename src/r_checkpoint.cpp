#include "r_checkpoint.h"

#include "r_convert.h"

namespace bnpvi {

Checkpoints::Checkpoints(const Rcpp::List& control) {
  if (!control.containsElementNamed("checkpoints")) return;
  const Rcpp::List given(control["checkpoints"]);
  const ListFields fields(given);
  file_ = fields.text("file");
  every_ = fields.number("every");
  first_ = fields.flag("first");
  resume_ = fields.flag("resume");
  const Rcpp::RawVector header(static_cast<SEXP>(given["header"]));
  header_.assign(header.begin(), header.end());
}

bool Checkpoints::due() const {
  return wanted() && std::chrono::duration<double>(Clock::now() - written_).count() >= every_;
}

void Checkpoints::put(const std::string& bytes) {
  try {
    replace_file(file_, bytes);
  } catch (const FileError& e) {
    if (first_) throw;
    if (!warned_)
      made_in_r([&]() -> Rcpp::RObject {
        const Rcpp::Function warn = Rcpp::Environment::namespace_env("bnpvi")["warn_of_checkpoint"];
        return warn(std::string(e.what()));
      });
    warned_ = true;
  }
  first_ = false;
  written_ = Clock::now();
}

}  // namespace bnpvi

// R's part of a checkpoint. Throws where the file is no checkpoint, is not complete, or is of another
// version.
// [[Rcpp::export]]
Rcpp::RawVector engine_checkpoint_header(std::string file) {
  using namespace bnpvi;
  const std::string bytes = read_checked_file(file);
  Reader in(bytes.data(), bytes.size());
  const std::string header = in.text();
  return Rcpp::RawVector(header.begin(), header.end());
}
