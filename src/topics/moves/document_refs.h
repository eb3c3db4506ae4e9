// References to documents by batch and position, and look-ups of the topics that a fit has stored for them.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "inference/moves/room.h"
#include "topics/model/topic_model.h"

namespace bnpvi::topics {

/// A reference to a document: the number of its batch, and its position in the batch.
struct DocumentRef {
  Index batch, at;
};

/// References to all documents for which such(shares) is true, in the order of the batches. The shares of a
/// document are its topics with their counts.
std::vector<DocumentRef> documents_with(const State& state, const std::function<bool(Shares)>& such);

/// References to all documents that have at least `least` tokens of this topic, in the order of the batches.
std::vector<DocumentRef> users_of(const State& state, Index topic, double least = 0);

/// True if a document with these shares (topics and their counts) uses the topic. count_of() returns the
/// document's count N_dk of the topic, 0 if the document does not use it.
bool uses(Shares shares, Index topic);
double count_of(Shares shares, Index topic);

/// For each document of a batch, the topics and counts that the state has stored at its last visit.
const ShareTable& memory_of(const State& state, Index batch);

/// True if a document with these shares (topics and their counts) must be visited when topics are removed.
/// room: topics that are dropped, and pairs that are joined. A document must be visited if it uses a dropped
/// topic, or two or more of the topics that become one.
bool touches(const Room& room, Shares shares);

/// The shares (topics and their counts) that a document had at the end of its last visit.
Shares shares_of(const State& state, const DocumentRef& ref);

/// Loads documents of several batches. It is fastest if documents of the same batch are loaded one after the
/// other. Each thread needs a reader of its own.
class PlacedReader {
 public:
  explicit PlacedReader(const Problem& problem) : problem_(problem) {}

  DocumentReader& at(const DocumentRef& ref);
  /// The document of the last call of at(DocumentRef), with the expected log-likelihoods of its rows or words
  /// at its last visit (update of q(z)). memory: what the state has stored of the document's batch; at:
  /// number of the document in `memory`.
  DocumentView recall(const ShareTable& memory, Index at);
  /// Releases the open batch, and with it the loaded document.
  void close();

 private:
  const Problem& problem_;
  DocumentRef ref_{-1, -1};
  std::shared_ptr<const Batch> batch_;
  std::optional<DocumentReader> reader_;
};

}  // namespace bnpvi::topics
