// Rows of delimited text, as CSV files have them, whose bytes come in portions of any size.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bnpvi {

/// Text that is not what it should be; says in which line.
struct TextError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Fields are parted by a separator and may be in double quotes, within which separators and ends of lines
/// are text and a quote is doubled. Anything else that has a quote is refused: where quotes do not match,
/// rows would be swallowed. Lines end with LF, CRLF or CR, which is LF within quotes. Text is UTF-8, with or
/// without a byte order mark.
class DelimitedRows {
 public:
  explicit DelimitedRows(char separator) : separator_(separator) {}

  /// Takes the next bytes of the text; last: they are the last ones.
  void feed(const char* bytes, std::size_t size, bool last);
  /// Moves to the next line, also a blank one; false if it is not complete yet, or there is none.
  bool next();

  std::size_t fields() const { return end_.size(); }
  std::string_view field(std::size_t j) const;
  bool quoted(std::size_t j) const { return in_quotes_[j]; }
  bool blank() const;
  /// Number of the line in which the row begins, from 1.
  std::int64_t line() const { return line_; }

 private:
  enum class Place { field_start, plain, in_quotes, quote_in_quotes, after_quotes };

  bool take(char c);
  void end_field();
  void begin_row();
  void check_row() const;
  [[noreturn]] void fail(std::int64_t line, const std::string& what) const;

  char separator_;
  std::string bytes_;
  std::size_t at_ = 0;
  bool begun_ = false, last_ = false, after_return_ = false, complete_ = true;
  Place place_ = Place::field_start;
  std::string text_;  // of the fields of a row, one after the other
  std::vector<std::size_t> end_;
  std::vector<bool> in_quotes_;
  bool this_in_quotes_ = false, beyond_ascii_ = false;
  std::int64_t now_ = 1, line_ = 1, quote_line_ = 1;
};

}  // namespace bnpvi
