#include "topics/moves/document_refs.h"

#include <algorithm>

namespace bnpvi::topics {

const ShareTable& memory_of(const State& state, Index batch) { return state.batch[batch]->memory->shares; }

Shares shares_of(const State& state, const DocumentRef& ref) {
  return memory_of(state, ref.batch).shares(ref.at);
}

DocumentReader& PlacedReader::at(const DocumentRef& ref) {
  if (ref.batch != ref_.batch) {
    close();
    batch_ = problem_.source.open(ref.batch);
    reader_.emplace(problem_.obs, batch_->data);
  }
  ref_ = ref;
  return *reader_;
}

void PlacedReader::close() {
  reader_.reset();
  batch_.reset();
  ref_ = {-1, -1};
}

DocumentView PlacedReader::recall(const ShareTable& memory, Index at) {
  return reader_->recall(batch_->units[ref_.at], memory, at);
}

std::vector<DocumentRef> documents_with(const State& state, const std::function<bool(Shares)>& such) {
  std::vector<DocumentRef> out;
  for (std::size_t b = 0; b < state.batch.size(); ++b) {
    const ShareTable& memory = memory_of(state, static_cast<Index>(b));
    for (Index i = 0; i < static_cast<Index>(memory.unit.size()); ++i)
      if (such(memory.shares(i))) out.push_back({static_cast<Index>(b), i});
  }
  return out;
}

std::vector<DocumentRef> users_of(const State& state, Index topic, double least) {
  return documents_with(state, [&](Shares shares) {
    return std::any_of(shares.begin(), shares.end(),
                       [&](const Share& s) { return s.cluster == topic && s.count >= least; });
  });
}

bool uses(Shares shares, Index topic) {
  return std::any_of(shares.begin(), shares.end(), [&](const Share& s) { return s.cluster == topic; });
}

double count_of(Shares shares, Index topic) {
  for (const Share& s : shares)
    if (s.cluster == topic) return s.count;
  return 0;
}

bool touches(const Room& room, Shares shares) {
  if (std::any_of(room.dropped.begin(), room.dropped.end(), [&](Index j) { return uses(shares, j); }))
    return true;
  return std::any_of(room.joined.begin(), room.joined.end(), [&](const auto& pair) {
    if (!uses(shares, pair.second)) return false;
    return uses(shares, pair.first) ||
           std::any_of(room.joined.begin(), room.joined.end(), [&](const auto& other) {
             return other.first == pair.first && other.second != pair.second && uses(shares, other.second);
           });
  });
}

}  // namespace bnpvi::topics
