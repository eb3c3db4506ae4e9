// References to documents by batch and position, and look-ups in a state's memory of their topics.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "inference/moves/room.h"
#include "topics/model/topic_model.h"

namespace bnpvi::topics {

/// A document: its batch, and its position in the batch.
struct DocumentRef {
  Index batch, at;
};

/// All documents for which `such` is true, given their shares (topics and their counts), in the order of the
/// batches.
std::vector<DocumentRef> documents_with(const State& state, const std::function<bool(Shares)>& such);

/// All documents with at least `least` tokens in a topic, in the order of the batches.
std::vector<DocumentRef> users_of(const State& state, Index topic, double least = 0);

/// uses(): does a document with these shares (topics and their counts) use the topic? count_of(): its count
/// N_dk of the topic.
bool uses(Shares shares, Index topic);
double count_of(Shares shares, Index topic);

/// The topics, with their counts, of all documents of a batch.
const ShareTable& memory_of(const State& state, Index batch);

/// True if a document with these shares (topics and their counts) must be visited when topics are removed as
/// `room` says: it uses a topic that is dropped, or several that are joined.
bool touches(const Room& room, Shares shares);

/// The shares (topics and their counts) of a document at its last visit.
Shares shares_of(const State& state, const DocumentRef& ref);

/// Loads documents of several batches, for one thread; fastest when documents of a batch follow each other.
class PlacedReader {
 public:
  explicit PlacedReader(const Problem& problem) : problem_(problem) {}

  DocumentReader& at(const DocumentRef& ref);
  /// The document of the last call of at(), with the expected log-likelihoods C of its last visit. Argument
  /// `at`: number of the document's unit in the memory.
  DocumentView recall(const ShareTable& memory, Index at);
  /// Releases the batch, and with it the loaded document.
  void close();

 private:
  const Problem& problem_;
  DocumentRef ref_{-1, -1};
  std::shared_ptr<const Batch> batch_;
  std::optional<DocumentReader> reader_;
};

}  // namespace bnpvi::topics
