// Parsing of delimited text, such as CSV files, that arrives in portions of any size.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bnpvi {

/// Error for malformed text; the message names the line.
struct TextError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Parser of delimited text. Fields are separated by one character and may be enclosed in double quotes.
/// Within quotes, separators and line ends are part of the text, and a quote is written twice. A quote
/// anywhere else is an error, since an unmatched quote would silently swallow rows. Lines end with LF, CRLF
/// or CR; within quotes all three become LF. Text is UTF-8, with or without a byte order mark.
class DelimitedRows {
 public:
  explicit DelimitedRows(char separator) : separator_(separator) {}

  /// Takes the next bytes of the text. last: no more bytes follow.
  void feed(const char* bytes, std::size_t size, bool last);
  /// Moves to the next row of fields, which may be blank. Returns false if the row is not complete yet, or
  /// there is none.
  bool next();

  std::size_t fields() const { return end_.size(); }
  std::string_view field(std::size_t j) const;
  bool quoted(std::size_t j) const { return in_quotes_[j]; }
  bool blank() const;
  /// Number of the line in which the present row begins, from 1.
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
  std::string text_;  // the fields of the row, concatenated
  std::vector<std::size_t> end_;
  std::vector<bool> in_quotes_;
  bool this_in_quotes_ = false, beyond_ascii_ = false;
  std::int64_t now_ = 1, line_ = 1, quote_line_ = 1;
};

}  // namespace bnpvi
