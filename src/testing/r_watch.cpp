// Observers of fits for tests: an audit, a trace of proposals, or a breakdown in the middle.
#include "r_testing.h"
#include "testing/audit.h"
#include "testing/breaking_observer.h"
#include "testing/proposal_trace.h"

using namespace bnpvi;

namespace {

Rcpp::NumericVector audit_to_r(const testing::Audit& audit) {
  using Rcpp::_;
  return Rcpp::NumericVector::create(
      _["checks"] = static_cast<double>(audit.checks), _["elbo"] = audit.elbo,
      _["statistics"] = audit.statistics, _["entropy"] = audit.entropy, _["sums"] = audit.sums,
      _["smallest_gain"] = audit.smallest_gain, _["moves"] = static_cast<double>(audit.moves),
      _["rounds"] = static_cast<double>(audit.rounds), _["foreseen"] = static_cast<double>(audit.n_foreseen),
      _["gain"] = audit.gain, _["weights"] = static_cast<double>(audit.weights));
}

// The observer for control$audit.
class Audited final : public FitWatch {
 public:
  Observer& observer() override { return audit_; }
  void report(Rcpp::List& out) const override { out.push_back(audit_to_r(audit_), "audit"); }

 private:
  testing::Audit audit_;
};

// The observer for control$proposals; with control$spared also for proposals that forecasts refuse.
class Traced final : public FitWatch {
 public:
  explicit Traced(bool spared) : trace_(spared) {}
  Observer& observer() override { return trace_; }
  void report(Rcpp::List& out) const override {
    Rcpp::CharacterVector kind;
    Rcpp::List members;
    Rcpp::NumericVector states, failures, gain, seconds;
    Rcpp::LogicalVector accepted;
    for (const testing::ProposalTrace::Row& row : trace_.rows()) {
      states.push_back(static_cast<double>(row.states));
      kind.push_back(row.trial.kind);
      members.push_back(Rcpp::NumericVector(row.trial.members.begin(), row.trial.members.end()));
      failures.push_back(static_cast<double>(row.trial.failures));
      gain.push_back(row.trial.gain);
      accepted.push_back(row.trial.accepted);
      seconds.push_back(row.seconds);
    }
    using Rcpp::_;
    out.push_back(Rcpp::List::create(_["states"] = states, _["kind"] = kind, _["members"] = members,
                                     _["failures"] = failures, _["gain"] = gain, _["accepted"] = accepted,
                                     _["seconds"] = seconds),
                  "proposals");
  }

 private:
  testing::ProposalTrace trace_;
};

// The observer for control$break_at.
class Broken final : public FitWatch {
 public:
  explicit Broken(Index at) : observer_(at) {}
  Observer& observer() override { return observer_; }
  void report(Rcpp::List&) const override {}

 private:
  testing::BreakingObserver observer_;
};

std::unique_ptr<FitWatch> watch_of(const ListFields& control) {
  if (control.optional_flag("audit")) return std::make_unique<Audited>();
  if (control.optional_flag("proposals")) return std::make_unique<Traced>(control.optional_flag("spared"));
  if (control.has("break_at")) return std::make_unique<Broken>(control.integer("break_at"));
  return nullptr;
}

[[maybe_unused]] const bool hooked = [] {
  test_hooks().watch = watch_of;
  return true;
}();

}  // namespace
