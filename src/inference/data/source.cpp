#include "inference/data/source.h"

#include <algorithm>
#include <numeric>

namespace bnpvi {

MemorySource::MemorySource(const Dataset& data, std::vector<std::vector<Index>> units)
    : data_(data), units_(std::move(units)) {
  for (const auto& batch : units_) batches_.push_back(std::make_shared<const Batch>(Batch{data_, batch}));
}

DataShape MemorySource::shape() const { return data_; }

std::vector<Index> modelled_rows(const Batch& batch, bool grouped, Index lag) {
  std::vector<Index> out;
  for (Index unit : batch.units) {
    const Index from = grouped ? batch.data.starts[unit] + lag : unit,
                to = grouped ? batch.data.starts[unit + 1] : unit + 1;
    for (Index row = from; row < to; ++row) out.push_back(row);
  }
  return out;
}

std::vector<Place> places_of_rows(const Source& source, bool grouped, Index lag) {
  constexpr Index nowhere = -1;
  std::vector<Place> out(static_cast<std::size_t>(source.shape().n), Place{nowhere, 0});
  for (Index b = 0; b < source.n_batches(); ++b) {
    const auto batch = source.open(b);
    for (Index row : modelled_rows(*batch, grouped, lag)) out[batch->row_number(row)] = {b, row};
  }
  out.erase(std::remove_if(out.begin(), out.end(), [](const Place& p) { return p.batch == nowhere; }),
            out.end());
  return out;
}

std::vector<Place> places_of_groups(const Source& source) {
  std::vector<Place> out(static_cast<std::size_t>(source.shape().n_groups));
  for (Index b = 0; b < source.n_batches(); ++b) {
    const auto batch = source.open(b);
    for (Index unit : batch->units) out[batch->group_number(unit)] = {b, unit};
  }
  return out;
}

double weight_of_units(const Batch& batch, bool grouped) {
  if (!batch.data.weight) return static_cast<double>(batch.units.size());
  double sum = 0;
  for (Index unit : batch.units)
    sum += grouped ? batch.data.weight_of_group(unit) : batch.data.weight_of(unit);
  return sum;
}

double weight_of_units(const Source& source, bool grouped) {
  double sum = 0;
  for (Index b = 0; b < source.n_batches(); ++b) sum += weight_of_units(*source.open(b), grouped);
  return sum;
}

namespace {

// Calls visit(i, data of the batch) for every place i, batch by batch, so that only one batch is open at a
// time; within a batch in the given order.
template <class Visit>
void for_each_place(const Source& source, const std::vector<Place>& places, Visit visit) {
  std::vector<std::size_t> order(places.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t x, std::size_t y) { return places[x].batch < places[y].batch; });
  std::shared_ptr<const Batch> batch;
  Index opened = -1;
  for (std::size_t i : order) {
    if (places[i].batch != opened) {
      batch.reset();
      batch = source.open(opened = places[i].batch);
    }
    visit(i, batch->data);
  }
}

// Copies one range of consecutive rows for each place, as a group of its own. The range begins at first(data,
// place) and has length(data, place) rows.
template <class Length, class First>
Sample take(const Source& source, const std::vector<Place>& places, Length length, First first) {
  const auto in_batches = [&](auto visit) {
    for_each_place(source, places, [&](std::size_t i, const Dataset& data) {
      visit(i, data, first(data, places[i].at), length(data, places[i].at));
    });
  };
  Sample out;
  const DataShape shape = source.shape();
  std::vector<Index>& starts = out.data.starts;
  starts.assign(places.size() + 1, 0);
  in_batches([&](std::size_t i, const Dataset&, Index, Index n) { starts[i + 1] = n; });
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  out.data.n = starts.back();
  out.data.d = shape.d;
  out.data.rows_are_groups = shape.rows_are_groups;
  if (shape.weighted) {
    out.weight.resize(static_cast<std::size_t>(out.data.n));
    in_batches([&](std::size_t i, const Dataset& data, Index row, Index n) {
      std::copy_n(data.weight + row, n, out.weight.begin() + starts[i]);
    });
    out.data.weight = out.weight.data();
  }
  if (shape.labelled) {
    out.classes.resize(static_cast<std::size_t>(out.data.n));
    in_batches([&](std::size_t i, const Dataset& data, Index row, Index n) {
      std::copy_n(data.classes + row, n, out.classes.begin() + starts[i]);
      out.data.class_sets = data.class_sets;
    });
    out.data.classes = out.classes.data();
  }
  if (shape.trees) {
    out.back.resize(static_cast<std::size_t>(out.data.n));
    in_batches([&](std::size_t i, const Dataset& data, Index row, Index n) {
      std::copy_n(data.back + row, n, out.back.begin() + starts[i]);
    });
    out.data.back = out.back.data();
  }
  if (shape.positions) {
    out.position.resize(static_cast<std::size_t>(out.data.n));
    in_batches([&](std::size_t i, const Dataset& data, Index row, Index n) {
      std::copy_n(data.position + row, n, out.position.begin() + starts[i]);
    });
    out.data.position = out.position.data();
  }
  if (!shape.sparse) {
    out.dense.reserve(1);  // so that data() is not null for dense data without rows
    out.dense.resize(static_cast<std::size_t>(out.data.n * shape.d));
    in_batches([&](std::size_t i, const Dataset& data, Index row, Index n) {
      for (Index j = 0; j < shape.d; ++j)
        std::copy_n(data.dense + j * data.n + row, n, out.dense.begin() + j * out.data.n + starts[i]);
    });
    out.data.dense = out.dense.data();
    return out;
  }
  out.row_start.assign(static_cast<std::size_t>(out.data.n + 1), 0);
  in_batches([&](std::size_t i, const Dataset& data, Index row, Index n) {
    for (Index r = 0; r < n; ++r)
      out.row_start[starts[i] + r + 1] = data.row_start[row + r + 1] - data.row_start[row + r];
  });
  std::partial_sum(out.row_start.begin(), out.row_start.end(), out.row_start.begin());
  out.column.resize(static_cast<std::size_t>(out.row_start.back()));
  out.value.resize(out.column.size());
  in_batches([&](std::size_t i, const Dataset& data, Index row, Index n) {
    const int from = data.row_start[row], entries = data.row_start[row + n] - from;
    std::copy_n(data.column + from, entries, out.column.begin() + out.row_start[starts[i]]);
    std::copy_n(data.value + from, entries, out.value.begin() + out.row_start[starts[i]]);
  });
  out.data.row_start = out.row_start.data();
  out.data.column = out.column.data();
  out.data.value = out.value.data();
  return out;
}

}  // namespace

void Sample::write(Writer& out) const {
  out.integer(data.n);
  out.integer(data.d);
  out.flag(data.sparse());
  out.list(data.starts);
  out.list(rows);
  out.list(dense);
  out.list(row_start);
  out.list(column);
  out.list(value);
}

Sample Sample::read(Reader& in) {
  Sample out;
  out.data.n = in.integer();
  out.data.d = in.integer();
  const bool sparse = in.flag();
  out.data.starts = in.list<std::vector<Index>>();
  out.rows = in.list<std::vector<Index>>();
  out.dense = in.list<Vec>();
  out.row_start = in.list<std::vector<int>>();
  out.column = in.list<std::vector<int>>();
  out.value = in.list<Vec>();
  out.data.row_start = out.row_start.data();
  out.data.column = out.column.data();
  out.data.value = out.value.data();
  out.dense.reserve(1);
  if (!sparse) out.data.dense = out.dense.data();
  return out;
}

Vec weights_of_rows(const Source& source, const std::vector<Place>& rows) {
  if (!source.shape().weighted) return {};
  Vec out(rows.size());
  for_each_place(source, rows,
                 [&](std::size_t i, const Dataset& data) { out[i] = data.weight_of(rows[i].at); });
  return out;
}

Sample take_rows(const Source& source, const std::vector<Place>& places, Index lag) {
  Sample out = take(
      source, places, [lag](const Dataset&, Index) { return lag + 1; },
      [lag](const Dataset&, Index row) { return row - lag; });
  out.rows.resize(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) out.rows[i] = out.data.starts[i + 1] - 1;
  return out;
}

Sample take_groups(const Source& source, const std::vector<Place>& places) {
  Sample out = take(
      source, places, [](const Dataset& data, Index g) { return data.starts[g + 1] - data.starts[g]; },
      [](const Dataset& data, Index g) { return data.starts[g]; });
  out.rows.resize(static_cast<std::size_t>(out.data.n));
  std::iota(out.rows.begin(), out.rows.end(), Index{0});
  return out;
}

}  // namespace bnpvi
