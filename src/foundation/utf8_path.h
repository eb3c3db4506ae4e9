// Paths of files from and to text in UTF-8, as R gives it.
#pragma once
#include <filesystem>
#include <string>

namespace bnpvi {

/// The path that is written in UTF-8, whatever the encoding of the system. C++20 has another way than C++17,
/// whose way it deprecates.
inline std::filesystem::path utf8_path(const std::string& text) {
#if defined(__cpp_char8_t)
  return std::filesystem::path(std::u8string(text.begin(), text.end()));
#else
  return std::filesystem::u8path(text);
#endif
}

/// The text of a path in UTF-8.
inline std::string utf8_text(const std::filesystem::path& path) {
  const auto text = path.u8string();
  return std::string(text.begin(), text.end());
}

}  // namespace bnpvi
