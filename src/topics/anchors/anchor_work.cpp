#include "topics/anchors/anchor_work.h"

#include <algorithm>

#include "inference/learn/visit_batches.h"
#include "topics/model/topic_model.h"

namespace bnpvi::topics {

struct SumsOfBatches::Wanted {
  enum What : std::int64_t { of_words, by_half, of_all, of_columns };
  What what;
  unsigned long long seed;  // of the halves
  RowsOfWords b;
  std::vector<int> number;  // of each word
  Index n_numbers;
  std::vector<int> words;  // of the columns
};

Vec SumsOfBatches::sum(Wanted wanted) {
  wanted.seed = problem_.seed;
  const auto what = std::make_shared<const Wanted>(std::move(wanted));
  Vec out;
  for (const std::vector<Index>& wave : in_waves(all_batches(problem_.source), problem_.wave)) {
    std::vector<std::unique_ptr<AnchorWork>> work;
    for (Index b : wave) work.push_back(std::make_unique<AnchorWork>(b, what));
    do_work(problem_, pool_, work);
    for (const auto& done : work) {
      out.resize(done->found.size(), 0.0);
      for (std::size_t i = 0; i < out.size(); ++i) out[i] += done->found[i];
    }
  }
  return out;
}

DocumentSums::Counts SumsOfBatches::counts() {
  const Vec all = sum({Wanted::of_words, 0, {}, {}, 0, {}});
  const std::size_t d = static_cast<std::size_t>(problem_.source.shape().d);
  Counts out;
  out.n = static_cast<Index>(all[0]);
  auto from = all.begin() + 1;
  for (Vec* part : {&out.tokens, &out.users, &out.mass, &out.half_a, &out.half_b}) {
    part->assign(from, from + d);
    from += d;
  }
  return out;
}

Vec SumsOfBatches::times_by_half(const RowsOfWords& b, const std::vector<int>& number, Index n_numbers) {
  return sum({Wanted::by_half, 0, b, number, n_numbers, {}});
}

Vec SumsOfBatches::times(const RowsOfWords& b, const std::vector<int>& number, Index n_numbers) {
  return sum({Wanted::of_all, 0, b, number, n_numbers, {}});
}

Vec SumsOfBatches::columns(const std::vector<int>& words) {
  return sum({Wanted::of_columns, 0, {}, {}, 0, words});
}

AnchorWork::AnchorWork(Index batch, std::shared_ptr<const SumsOfBatches::Wanted> wanted)
    : BatchWork(batch, nullptr), wanted_(std::move(wanted)) {}

void AnchorWork::run(const Problem& problem, const Batch& batch, Pool& pool) {
  using Wanted = SumsOfBatches::Wanted;
  const std::vector<Index> rows = modelled_rows(batch, problem.alloc.grouped(), 0);
  std::vector<int> half;
  for (Index row : rows) {
    const auto number = static_cast<std::uint64_t>(batch.row_number(row));
    half.push_back(static_cast<int>(Stream(wanted_->seed, Purpose::initial_seeds, 1, number).index(2)));
  }
  const PartialCounts documents = counts_of_rows(batch.data, rows);
  SumsOfCounts sums(documents, half, batch.data.d, pool);
  switch (wanted_->what) {
    case Wanted::by_half:
      found = sums.times_by_half(wanted_->b, wanted_->number, wanted_->n_numbers);
      break;
    case Wanted::of_all:
      found = sums.times(wanted_->b, wanted_->number, wanted_->n_numbers);
      break;
    case Wanted::of_columns:
      found = sums.columns(wanted_->words);
      break;
    case Wanted::of_words: {
      const DocumentSums::Counts counts = sums.counts();
      found.assign(1, static_cast<double>(counts.n));
      for (const Vec* part : {&counts.tokens, &counts.users, &counts.mass, &counts.half_a, &counts.half_b})
        found.insert(found.end(), part->begin(), part->end());
    }
  }
}

AnchorWork::AnchorWork(Index batch, Reader& in) : BatchWork(batch, nullptr) {
  auto wanted = std::make_shared<SumsOfBatches::Wanted>();
  wanted->what = static_cast<SumsOfBatches::Wanted::What>(in.integer());
  wanted->seed = static_cast<unsigned long long>(in.integer());
  wanted->b = RowsOfWords::read(in);
  wanted->number = in.list<std::vector<int>>();
  wanted->n_numbers = in.integer();
  wanted->words = in.list<std::vector<int>>();
  wanted_ = std::move(wanted);
}

void AnchorWork::write_task(Writer& out) const {
  out.integer(wanted_->what);
  out.integer(static_cast<std::int64_t>(wanted_->seed));
  wanted_->b.write(out);
  out.list(wanted_->number);
  out.integer(wanted_->n_numbers);
  out.list(wanted_->words);
}

}  // namespace bnpvi::topics
