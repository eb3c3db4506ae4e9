#include "r_checkpoint.h"

#include "foundation/archive.h"
#include "foundation/durable_file.h"
#include "r_convert.h"

namespace bnpvi {

namespace {

void write_optional(Writer& out, const Progress* p) {
  out.flag(p != nullptr);
  if (p) p->write(out);
}

std::optional<Progress> read_optional(Reader& in) {
  if (!in.flag()) return std::nullopt;
  return Progress::read(in);
}

}  // namespace

void Run::write(Writer& out, const Progress* now, const Progress* best) const {
  out.integer(restart);
  out.integer(best_restart);
  out.list(ends);
  out.list(seeds);
  write_optional(out, best);
  write_optional(out, now);
}

Run Run::read(Reader& in) {
  Run out;
  out.restart = in.integer();
  out.best_restart = in.integer();
  out.ends = in.list<std::vector<LapRecord>>();
  out.seeds = in.list<Vec>();
  out.best = read_optional(in);
  out.now = read_optional(in);
  return out;
}

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

Run Checkpoints::begin() const {
  if (!resume_) return {};
  const std::string bytes = read_checked_file(file_);
  Reader in(bytes.data(), bytes.size());
  in.text();
  return Run::read(in);
}

bool Checkpoints::due() const {
  return wanted() && std::chrono::duration<double>(Clock::now() - written_).count() >= every_;
}

void Checkpoints::write(const Run& run, const Progress* now, const Progress* best) {
  if (!wanted()) return;
  Writer out;
  out.text(header_);
  run.write(out, now, best);
  try {
    replace_file(file_, out.bytes());
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
