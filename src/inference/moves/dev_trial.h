#pragma once
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>
#include <cstdint>
struct DevTrial { const char* kind; std::vector<std::uint64_t> members; long failures; double gain; bool accepted; };
inline std::clock_t& dev_clock() { static std::clock_t c = std::clock(); return c; }
inline void dev_mark() { dev_clock() = std::clock(); }
inline void dev_tried(const DevTrial& t) {
  static const bool on = std::getenv("DEV_TRIALS") != nullptr;
  if (!on) return;
  const std::clock_t now = std::clock();
  std::fprintf(stderr, "TRIAL,%s,", t.kind);
  for (auto m : t.members) std::fprintf(stderr, "%d ", (int)m);
  std::fprintf(stderr, ",%ld,%.6g,%d,%.6f\n", t.failures, t.gain, (int)t.accepted, double(now - dev_clock()) / CLOCKS_PER_SEC);
  dev_clock() = now;
}
