#include "foundation/delimited_rows.h"

namespace bnpvi {

namespace {

constexpr std::size_t longest_row = std::size_t{1} << 28;  // a longer row has an unclosed quote

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const int more = lead < 0x80                   ? 0
                     : lead >= 0xC2 && lead < 0xE0 ? 1
                     : lead >= 0xE0 && lead < 0xF0 ? 2
                     : lead >= 0xF0 && lead < 0xF5 ? 3
                                                   : -1;
    if (more < 0 || i + static_cast<std::size_t>(more) >= text.size() + (more == 0)) return false;
    for (int k = 1; k <= more; ++k)
      if ((static_cast<unsigned char>(text[i + static_cast<std::size_t>(k)]) & 0xC0) != 0x80) return false;
    i += static_cast<std::size_t>(more) + 1;
  }
  return true;
}

}  // namespace

void DelimitedRows::feed(const char* bytes, std::size_t size, bool last) {
  bytes_.erase(0, at_);
  at_ = 0;
  bytes_.append(bytes, size);
  last_ = last;
  if (begun_ || bytes_.size() < 3) return;
  begun_ = true;
  if (bytes_.compare(0, 3, "\xEF\xBB\xBF") == 0) at_ = 3;
  if (bytes_.compare(0, 2, "\xFF\xFE") == 0 || bytes_.compare(0, 2, "\xFE\xFF") == 0)
    throw TextError("It is in UTF-16, and text must be in UTF-8.");
}

std::string_view DelimitedRows::field(std::size_t j) const {
  const std::size_t from = j ? end_[j - 1] : 0;
  return std::string_view(text_).substr(from, end_[j] - from);
}

bool DelimitedRows::blank() const {
  return fields() == 1 && !in_quotes_[0] && text_.find_first_not_of(" \t") == std::string::npos;
}

void DelimitedRows::fail(std::int64_t line, const std::string& what) const {
  throw TextError("Line " + std::to_string(line) + " " + what);
}

void DelimitedRows::begin_row() {
  complete_ = false;
  text_.clear();
  end_.clear();
  in_quotes_.clear();
  beyond_ascii_ = false;
  line_ = now_;
}

void DelimitedRows::end_field() {
  end_.push_back(text_.size());
  in_quotes_.push_back(this_in_quotes_);
  this_in_quotes_ = false;
  place_ = Place::field_start;
}

void DelimitedRows::check_row() const {
  if (beyond_ascii_ && !is_utf8(text_))
    fail(line_,
         "is not text in UTF-8.\nWrite the file in UTF-8, or give `read`, such as "
         "function(path) read.csv(path, fileEncoding = \"latin1\").");
}

bool DelimitedRows::next() {
  if (complete_) begin_row();
  while (at_ < bytes_.size()) {
    char c = bytes_[at_++];
    if (c == '\n' && after_return_) {
      after_return_ = false;
      continue;
    }
    after_return_ = c == '\r';
    if (after_return_) c = '\n';
    if (take(c)) {
      check_row();
      return complete_ = true;
    }
  }
  if (!last_) return false;
  if (place_ == Place::in_quotes) fail(quote_line_, "opens a quote that is never closed.");
  if (text_.empty() && end_.empty() && place_ == Place::field_start) return false;
  end_field();
  check_row();
  return complete_ = true;
}

// Processes one character; true when the row is complete with it.
bool DelimitedRows::take(char c) {
  if (c == '\0') fail(now_, "has a byte of zero: the file is not text, or damaged.");
  if (static_cast<unsigned char>(c) >= 0x80) beyond_ascii_ = true;
  if (text_.size() > longest_row) fail(line_, "begins a row that does not end: does a quote stand alone?");
  if (c == '\n') ++now_;
  if (place_ == Place::in_quotes) {
    if (c == '"')
      place_ = Place::quote_in_quotes;
    else
      text_ += c;
    return false;
  }
  if (c == '"') {
    if (place_ == Place::quote_in_quotes) {
      text_ += c;
      place_ = Place::in_quotes;
      return false;
    }
    const std::size_t from = end_.empty() ? 0 : end_.back();
    const bool only_spaces = text_.find_first_not_of(" \t", from) == std::string::npos;
    if (place_ == Place::after_quotes || !only_spaces)
      fail(now_,
           "has a quote within a field: is one missing?\nA field with quotes is in quotes itself, and those "
           "within are doubled.");
    text_.resize(from);
    this_in_quotes_ = true;
    quote_line_ = now_;
    place_ = Place::in_quotes;
    return false;
  }
  if (c == separator_ || c == '\n') {
    end_field();
    return c == '\n';
  }
  if (place_ == Place::quote_in_quotes || place_ == Place::after_quotes) {
    if (c != ' ' && c != '\t')
      fail(now_,
           "has text behind a closing quote" +
               (quote_line_ == now_ ? std::string() : ", opened in line " + std::to_string(quote_line_)) +
               ": is a quote missing?\nQuotes within a field are doubled.");
    place_ = Place::after_quotes;
    return false;
  }
  text_ += c;
  place_ = Place::plain;
  return false;
}

}  // namespace bnpvi
