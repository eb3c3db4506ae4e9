#include "hdp/concentration.h"

#include <algorithm>
#include <cmath>

#include "foundation/interval_search.h"

namespace bnpvi {

namespace {
constexpr double first_step = 0.02;     // first step of the search, in log α: a guess
constexpr double worth_a_value = 1e-6;  // least gain of the objective worth a new value, in nats: a guess
}  // namespace

Concentration make_concentration(const Vec& numbers, double least) {
  if (numbers.size() == 1) return {numbers[0], least};
  const GammaPrior prior{numbers.at(0), numbers.at(1)};
  const double value = numbers.size() > 2 ? numbers[2] : prior.mean();
  return {std::clamp(value, least, most_concentrated), least, prior};
}

void add_field(const char* name, const Concentration& concentration, NamedArrays& fields) {
  if (!concentration.prior) return;
  fields.push_back({name, {concentration.prior->shape, concentration.prior->rate, concentration.value}, {}});
}

double log_density(const Concentration& concentration) {
  return concentration.prior ? concentration.prior->log_density(concentration.value) : 0;
}

double better_value(const Concentration& concentration, const std::function<double(double)>& objective) {
  const double now = std::log(concentration.value);
  const double found =
      maximise_near([&](double log_value) { return objective(std::exp(log_value)); }, now,
                    std::log(concentration.least), std::log(most_concentrated), first_step, worth_a_value);
  return found == now ? concentration.value
                      : std::clamp(std::exp(found), concentration.least, most_concentrated);
}

}  // namespace bnpvi
