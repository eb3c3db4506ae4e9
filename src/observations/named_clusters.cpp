#include "observations/named_clusters.h"

#include <algorithm>
#include <stdexcept>

namespace bnpvi {

namespace {

// Puts the array of one cluster in the place of cluster j among those of k, along the axis in which the two
// differ.
void put_cluster(const NamedArray& own, Index j, Index k, NamedArray& out) {
  std::size_t inner = 1, axis = 0;
  while (axis < own.dim.size() && own.dim[axis] == out.dim[axis])
    inner *= static_cast<std::size_t>(own.dim[axis++]);
  for (std::size_t i = 0; i < own.value.size(); ++i)
    out.value[i % inner + inner * (static_cast<std::size_t>(j) + static_cast<std::size_t>(k) * (i / inner))] =
        own.value[i];
}

// The arrays of all clusters; the parts of named clusters come from the models of their names.
template <class Arrays>
NamedArrays with_named_clusters(const ObsModel& obs, const double* t, Index k, const std::vector<int>& names,
                                Arrays arrays) {
  NamedArrays out = arrays(obs, t, k);
  for (std::size_t j = 0; j < names.size(); ++j) {
    if (names[j] == 0) continue;
    const NamedArrays own =
        arrays(under_name(obs, names[j]), t + static_cast<Index>(j) * obs.n_features(), Index{1});
    for (std::size_t a = 0; a < out.size(); ++a) put_cluster(own[a], static_cast<Index>(j), k, out[a]);
  }
  return out;
}

}  // namespace

bool has_names(const ObsModel& obs, const std::vector<int>& names, Index k) {
  if (names.empty()) return true;
  const NamedClusters* own = obs.capabilities().names;
  std::vector<int> given;
  for (int name : names)
    if (name != 0) given.push_back(name);
  std::sort(given.begin(), given.end());
  bool right =
      own && static_cast<Index>(names.size()) == k && static_cast<Index>(given.size()) == own->n_names();
  for (std::size_t i = 0; right && i < given.size(); ++i) right = given[i] == static_cast<int>(i) + 1;
  return right;
}

const ObsModel& under_name(const ObsModel& obs, int name) {
  if (name == 0) return obs;
  const NamedClusters* names = obs.capabilities().names;
  if (!names || name > names->n_names()) throw std::logic_error("no such name of clusters");
  return names->named(name);
}

std::shared_ptr<const ObsModel> learned_prior(const ObsModel& obs, const double* t, Index k,
                                              const std::vector<int>& names, PriorSteps steps, Pool* pool) {
  const Capabilities can = obs.capabilities();
  if (!can.prior) return nullptr;
  return names.empty() ? can.prior->learned(t, k, steps, pool)
                       : can.names->learned_with_names(t, k, names, steps, pool);
}

NamedArrays posterior_of(const ObsModel& obs, const double* t, Index k, const std::vector<int>& names) {
  return with_named_clusters(obs, t, k, names, [](const ObsModel& model, const double* own, Index n) {
    return model.posterior(own, n);
  });
}

NamedArrays mean_parameters_of(const ObsModel& obs, const double* t, Index k, const std::vector<int>& names) {
  return with_named_clusters(obs, t, k, names, [](const ObsModel& model, const double* own, Index n) {
    return model.mean_parameters(own, n);
  });
}

}  // namespace bnpvi
