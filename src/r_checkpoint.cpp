#include "r_checkpoint.h"

#include "r_convert.h"

namespace bnpvi {

namespace {

// True if x, or something in it, is evaluated or followed when it is read (promises, pointers).
bool acts(SEXP x, int depth) {
  switch (TYPEOF(x)) {
    case PROMSXP:
    case BCODESXP:
    case EXTPTRSXP:
    case WEAKREFSXP:
      return true;
    case VECSXP:
    case EXPRSXP:
      for (R_xlen_t i = 0; i < Rf_xlength(x); ++i)
        if (depth > 200 || acts(VECTOR_ELT(x, i), depth + 1)) return true;
      break;
    case LISTSXP:
    case LANGSXP:
    case DOTSXP:
      for (SEXP at = x; TYPEOF(at) == LISTSXP || TYPEOF(at) == LANGSXP || TYPEOF(at) == DOTSXP; at = CDR(at))
        if (depth > 200 || acts(CAR(at), depth + 1)) return true;
      break;
    default:
      break;
  }
  return ATTRIB(x) != R_NilValue && (depth > 200 || acts(ATTRIB(x), depth + 1));
}

// The list that serialize() wrote.
Rcpp::List plain_object(const std::string& bytes) {
  const Rcpp::Function unserialize("unserialize", "base");
  const Rcpp::Shield<SEXP> out(unserialize(Rcpp::RawVector(bytes.begin(), bytes.end())));
  if (TYPEOF(out) != VECSXP || acts(out, 0)) throw std::invalid_argument("it holds no plain list");
  return Rcpp::List(static_cast<SEXP>(out));
}

}  // namespace

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
    refuse_other_file(file_, archive_mark());
    replace_file(file_, bytes, Readers::none);
  } catch (const FileError& e) {
    if (first_) throw;
    if (!warned_)
      made_in_r([&]() -> Rcpp::RObject {
        const Rcpp::Function warn("warn_of_checkpoint", "bnpvi");
        return warn(std::string(e.what()));
      });
    warned_ = true;
  }
  first_ = false;
  written_ = Clock::now();
}

}  // namespace bnpvi

// Throws if another kind of file has the name of the checkpoint `file`, which must then not be overwritten.
// [[Rcpp::export]]
void engine_refuse_other_file(std::string file) { bnpvi::refuse_other_file(file, bnpvi::archive_mark()); }

// Removes temporary files that killed processes left next to a checkpoint.
// [[Rcpp::export]]
void engine_remove_left_beside(std::string file) { bnpvi::remove_left_beside(file, bnpvi::archive_mark()); }

// R's part of a checkpoint: an R object without promises and pointers, which reading it would evaluate or
// follow. Throws if the file is no checkpoint, is not complete, or is of another version.
// [[Rcpp::export]]
Rcpp::List engine_checkpoint_header(std::string file) {
  using namespace bnpvi;
  const std::string bytes = read_checked_file(file);
  Reader in(bytes.data(), bytes.size());
  const std::string header = in.text();
  return plain_object(header);
}

// Writes a file with a serialised R object and its checksum.
// [[Rcpp::export]]
void engine_write_bytes(std::string file, Rcpp::RawVector bytes) {
  bnpvi::replace_file(file, std::string(bytes.begin(), bytes.end()), bnpvi::Readers::as_usual);
}

// [[Rcpp::export]]
Rcpp::List engine_read_bytes(std::string file) { return bnpvi::plain_object(bnpvi::read_checked_file(file)); }
