#include "foundation/interval_search.h"

#include <algorithm>
#include <cmath>

namespace bnpvi {

namespace {

constexpr double golden = 0.3819660112501051;  // (3 − √5) / 2
constexpr double tolerance = 1e-6;
constexpr int max_narrowings = 60;  // golden sections alone narrow an interval of 40 to 1e-6 in 36

struct Point {
  double x, f;
};

// Points a < x < c of which x is the highest, or x is the end of the range that is the highest.
struct Bracket {
  Point a, x, c;
};

class Search {
 public:
  Search(const std::function<double(double)>& f, double low, double high, double worth)
      : f_(f), low_(low), high_(high), worth_(worth) {}

  Point at(double x) const {
    x = std::clamp(x, low_, high_);
    const double value = f_(x);
    return {x, std::isnan(value) ? -HUGE_VAL : value};
  }

  Bracket around(Point x, double step) const {
    Bracket b{at(x.x - step), x, at(x.x + step)};
    while (b.c.f > b.x.f) b = {b.x, b.c, at(b.c.x + (b.c.x - b.x.x) / golden)};
    while (b.a.f > b.x.f) b = {at(b.a.x - (b.x.x - b.a.x) / golden), b.a, b.x};
    return b;
  }

  Point narrowed(Bracket b) const {
    Point second = b.a.f > b.c.f ? b.a : b.c, third = b.a.f > b.c.f ? b.c : b.a;
    double last = b.c.x - b.a.x, before = last;  // lengths of the last two steps
    for (int i = 0; i < max_narrowings; ++i) {
      const double middle = (b.a.x + b.c.x) / 2;
      if (std::abs(b.x.x - middle) <= 2 * tolerance - (b.c.x - b.a.x) / 2) break;
      const Point top = vertex(b.x, second, third);
      double step = top.x - b.x.x;
      if (std::abs(step) < tolerance || (std::isfinite(step) && std::abs(top.f - b.x.f) < worth_)) break;
      const bool inside = b.x.x + step > b.a.x + tolerance && b.x.x + step < b.c.x - tolerance;
      if (!(inside && std::abs(step) < before / 2))
        step = golden * ((b.x.x < middle ? b.c.x : b.a.x) - b.x.x);
      before = last;
      last = std::abs(step);
      const Point now = at(b.x.x + step);
      if (now.f > b.x.f) {
        (now.x > b.x.x ? b.a : b.c) = b.x;
        third = second;
        second = b.x;
        b.x = now;
        continue;
      }
      (now.x > b.x.x ? b.c : b.a) = now;
      if (now.f >= second.f || second.x == b.x.x) {
        third = second;
        second = now;
      } else if (now.f >= third.f) {
        third = now;
      }
    }
    return b.x;
  }

 private:
  // The vertex of the parabola through three points; not finite where there is none.
  static Point vertex(const Point& x, const Point& y, const Point& z) {
    const double by_y = (x.f - y.f) / (x.x - y.x), by_z = (x.f - z.f) / (x.x - z.x);
    const double curvature = (by_y - by_z) / (y.x - z.x), slope = by_y + curvature * (x.x - y.x);
    const double step = -slope / (2 * curvature);
    return {x.x + step, x.f + slope * step / 2};
  }

  const std::function<double(double)>& f_;
  const double low_, high_, worth_;
};

}  // namespace

double maximise_near(const std::function<double(double)>& f, double x, double low, double high, double step,
                     double worth) {
  const Search search(f, low, high, worth);
  const Point start = search.at(x);
  if (!std::isfinite(start.f)) return x;
  const Point best = search.narrowed(search.around(start, step));
  return best.f > start.f ? best.x : x;
}

}  // namespace bnpvi
