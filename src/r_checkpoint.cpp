#include "r_checkpoint.h"

#include "r_convert.h"

namespace bnpvi {

Checkpoints::Checkpoints(const Rcpp::List& control) {
  if (control.containsElementNamed("keep_lap")) keep_lap_ = Rcpp::as<int>(control["keep_lap"]);
  if (control.containsElementNamed("resume")) {
    const Rcpp::RawVector run(static_cast<SEXP>(control["resume"]));
    bytes_.assign(run.begin(), run.end());
    stored_.emplace(bytes_.data(), bytes_.size());
  }
  if (!control.containsElementNamed("checkpoints")) return;
  const Rcpp::List given(control["checkpoints"]);
  const ListFields fields(given);
  file_ = fields.text("file");
  every_ = fields.number("every");
  first_ = fields.flag("first");
  const Rcpp::RawVector header(static_cast<SEXP>(given["header"]));
  header_.assign(header.begin(), header.end());
  if (!fields.flag("resume")) return;
  bytes_ = read_checked_file(file_);
  stored_.emplace(bytes_.data(), bytes_.size());
  stored_->text();
}

bool Checkpoints::due(Index lap, bool last) {
  keeps_ = lap == keep_lap_;
  const bool begins = lap == 0;
  return keeps_ ||
         (!file_.empty() &&
          (begins || last || std::chrono::duration<double>(Clock::now() - written_).count() >= every_));
}

void Checkpoints::keep(const std::function<void(Writer&)>& write) {
  Writer out;
  if (!keeps_) out.text(header_);
  write(out);
  if (!keeps_) return put(out.bytes());
  kept_ = made_in_r([&] { return Rcpp::RawVector(out.bytes().begin(), out.bytes().end()); });
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
