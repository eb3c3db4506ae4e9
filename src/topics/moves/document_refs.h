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

/// References to all documents for which such(shares) is true, in the order of the batches; shares are a
/// document's topics with their counts.
std::vector<DocumentRef> documents_with(const State& state, const std::function<bool(Shares)>& such);

/// References to all documents that have at least `least` tokens of this topic, in the order of the batches.
std::vector<DocumentRef> users_of(const State& state, Index topic, double least = 0);

/// Whether a document with these shares (topics and their counts) uses the topic; count_of() returns its
/// count N_dk of the topic, 0 if it does not.
bool uses(Shares shares, Index topic);
double count_of(Shares shares, Index topic);

/// The topics that the state has stored for all documents of a batch, with their counts.
const ShareTable& memory_of(const State& state, Index batch);

/// Whether a document with these shares (topics and their counts) must be visited when topics are removed as
/// `room` says. It must if it uses a topic that is dropped, or several that are joined.
bool touches(const Room& room, Shares shares);

/// The shares (topics and their counts) of a document at its last visit.
Shares shares_of(const State& state, const DocumentRef& ref);

/// Loads documents of several batches; for one thread. Fastest when documents of the same batch follow each
/// other.
class PlacedReader {
 public:
  explicit PlacedReader(const Problem& problem) : problem_(problem) {}

  DocumentReader& at(const DocumentRef& ref);
  /// The document of the last call of at(DocumentRef), together with the expected log-likelihoods of its rows
  /// or words at its last visit (update of q(z)). memory: what was stored of its batch; at: the number of the
  /// document in `memory`.
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
