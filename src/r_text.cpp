// Text files as tables: determines types of columns, and reads a given number of rows at a time.
#include <R_ext/Utils.h>

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "foundation/delimited_rows.h"
#include "foundation/utf8_path.h"
#include "r_convert.h"

using namespace bnpvi;

namespace {

enum class Type { unknown, logical, integer, number, text };

std::string_view trimmed(std::string_view text) {
  const auto from = text.find_first_not_of(" \t");
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t") - from + 1);
}

bool is_one_of(std::string_view text, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(), [&](const char* word) { return text == word; });
}

// A field as a number, as R reads it.
struct Number {
  explicit Number(std::string_view text) : text_(text) {
    char* end;
    value = R_strtod(text_.c_str(), &end);
    is = !text_.empty() && *end == '\0' && end != text_.c_str();
    const std::size_t sign = text_[0] == '-' || text_[0] == '+';
    whole = is && text_.find_first_not_of("0123456789", sign) == std::string::npos &&
            std::abs(value) < 2147483648.0;
  }
  double value;
  bool is, whole;

 private:
  std::string text_;
};

// What the fields of a column look like so far.
struct Evidence {
  bool logical = false, integer = false, number = false, text = false, quotes = false;
  std::string first_text;
  double text_line = 0;
};

struct Column {
  Type type = Type::unknown;
  std::vector<double> values;  // for numbers and truth values
  std::string text;
  std::vector<std::size_t> ends;
  std::vector<bool> missing;
};

class TextTable {
 public:
  explicit TextTable(char separator) : rows_(separator), separator_(separator) {}

  void feed(Rcpp::RawVector bytes, bool last) {
    rows_.feed(reinterpret_cast<const char*>(RAW(bytes)), static_cast<std::size_t>(bytes.size()), last);
    last_ = last;
  }
  // Moves to the next row. An empty line is a missing value if there is only one column.
  bool next() {
    while (pending_ == 0 && rows_.next()) {
      if (!named()) {
        if (!rows_.blank()) read_names();
      } else if (!rows_.blank()) {
        check_fields();
        pending_ = blank_ + 1;
        blank_ = 0;
      } else if (names_.size() + row_names_ == 1) {
        ++blank_;
      }
    }
    if (pending_ == 0) {
      if (last_ && !named()) throw TextError("It is empty, and should begin with a line of names.");
      return false;
    }
    missing_line_ = --pending_ > 0;
    return true;
  }
  void weigh();
  void keep();

  bool named() const { return !names_.empty(); }
  const std::vector<std::string>& names() const { return names_; }
  std::vector<Evidence> evidence;
  std::vector<Column> columns;
  // Rows of the present piece.
  double rows() const {
    return columns.empty() ? 0
                           : static_cast<double>(std::max(columns[0].values.size(), columns[0].ends.size()));
  }
  void set_types(const Rcpp::IntegerVector& types) {
    const Rcpp::CharacterVector names(Rf_getAttrib(types, R_NamesSymbol));
    std::unordered_map<std::string, int> type;
    for (R_xlen_t j = 0; j < types.size(); ++j) type[Rf_translateCharUTF8(names[j])] = types[j];
    for (std::size_t j = 0; j < columns.size(); ++j) columns[j].type = static_cast<Type>(type[names_[j]]);
  }

 private:
  void read_names();
  void check_fields() const;
  [[noreturn]] void refuse(std::size_t j, std::string_view value, const std::string& what) const;

  DelimitedRows rows_;
  char separator_;
  bool last_ = false, row_names_ = false, missing_line_ = false;
  std::vector<std::string> names_;
  std::int64_t blank_ = 0, pending_ = 0;
};

void TextTable::read_names() {
  for (std::size_t j = 0; j < rows_.fields(); ++j)
    names_.emplace_back(rows_.quoted(j) ? rows_.field(j) : trimmed(rows_.field(j)));
  const std::string line = "Line " + std::to_string(rows_.line());
  if (names_.size() == 1 && separator_ == ',' && names_[0].find_first_of(";\t") != std::string::npos)
    throw TextError(line +
                    " has names that are parted by semicolons or tabs, not by commas.\n"
                    "Give `read = read.csv2`, or the ending .tsv to a file with tabs.");
  if (names_.size() > 1 && names_[0].empty()) {  // as write.csv() writes row names
    row_names_ = true;
    names_.erase(names_.begin());
  }
  auto sorted = names_;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (sorted[0].empty()) throw TextError(line + " should name every column, and has an empty name.");
  if (twice != sorted.end()) throw TextError(line + " names two columns \"" + *twice + "\".");
  evidence.resize(names_.size());
  columns.resize(names_.size());
}

void TextTable::check_fields() const {
  const std::size_t wanted = names_.size() + row_names_;
  if (rows_.fields() == wanted) return;
  throw TextError("Line " + std::to_string(rows_.line()) + " has " + std::to_string(rows_.fields()) +
                  " fields, and the line of names " + std::to_string(wanted) + "." +
                  (rows_.fields() == wanted + 1
                       ? "\nNames of rows need a name of their column: write the file "
                         "with `row.names = FALSE`."
                       : ""));
}

void TextTable::refuse(std::size_t j, std::string_view value, const std::string& what) const {
  throw TextError("Line " + std::to_string(rows_.line()) + " has \"" + std::string(value.substr(0, 40)) +
                  "\" in the column \"" + names_[j] + "\", which is to hold " + what +
                  ".\nHave it read as text: `types = c(" + names_[j] + " = \"text\")`.");
}

// Updates the possible types of the columns by the present row.
void TextTable::weigh() {
  if (missing_line_) return;
  for (std::size_t j = 0; j < names_.size(); ++j) {
    Evidence& known = evidence[j];
    const std::string_view field = rows_.field(j + row_names_), value = trimmed(field);
    const bool quoted = rows_.quoted(j + row_names_);
    if (value.empty() || value == "NA") {
      known.quotes = known.quotes || quoted;
    } else if (const Number number(value); number.is) {
      (number.whole ? known.integer : known.number) = true;
    } else if (is_one_of(value, {"TRUE", "FALSE", "true", "false", "True", "False"})) {
      known.logical = true;
    } else if (!known.text) {
      known.text = true;
      known.first_text = std::string(field.substr(0, 40));
      known.text_line = static_cast<double>(rows_.line());
    }
  }
}

// Appends the present row to the piece.
void TextTable::keep() {
  for (std::size_t j = 0; j < names_.size(); ++j) {
    Column& column = columns[j];
    const std::string_view field = missing_line_ ? std::string_view() : rows_.field(j + row_names_);
    const bool quoted = !missing_line_ && rows_.quoted(j + row_names_);
    const std::string_view value = trimmed(field);
    if (column.type == Type::text) {
      column.missing.push_back(missing_line_ || (field == "NA" && !quoted));
      column.text += field;
      column.ends.push_back(column.text.size());
      continue;
    }
    if (value.empty() || value == "NA") {
      column.values.push_back(NA_REAL);
    } else if (column.type == Type::unknown) {
      refuse(j, field, "nothing: the file has changed");
    } else if (column.type == Type::logical) {
      const bool yes = is_one_of(value, {"TRUE", "true", "True", "T"});
      if (!yes && !is_one_of(value, {"FALSE", "false", "False", "F"})) refuse(j, field, "TRUE and FALSE");
      column.values.push_back(yes);
    } else {
      const Number number(value);
      if (!number.is) refuse(j, field, "numbers");
      if (column.type == Type::integer &&
          (number.value != std::trunc(number.value) || std::abs(number.value) > 2147483647.0))
        refuse(j, field, "whole numbers up to 2147483647");
      column.values.push_back(number.value);
    }
  }
}

SEXP column_to_r(const Column& column) {
  if (column.type != Type::text) {
    const Rcpp::NumericVector values(column.values.begin(), column.values.end());
    if (column.type == Type::number) return values;
    return Rf_coerceVector(values, column.type == Type::integer ? INTSXP : LGLSXP);
  }
  Rcpp::CharacterVector out(static_cast<R_xlen_t>(column.ends.size()));
  std::size_t from = 0;
  for (std::size_t i = 0; i < column.ends.size(); ++i) {
    const int size = static_cast<int>(column.ends[i] - from);
    SET_STRING_ELT(out, static_cast<R_xlen_t>(i),
                   column.missing[i] ? NA_STRING : Rf_mkCharLenCE(column.text.data() + from, size, CE_UTF8));
    from = column.ends[i];
  }
  return out;
}

Rcpp::CharacterVector names_to_r(const std::vector<std::string>& names) {
  Rcpp::CharacterVector out(static_cast<R_xlen_t>(names.size()));
  for (std::size_t j = 0; j < names.size(); ++j)
    SET_STRING_ELT(out, static_cast<R_xlen_t>(j),
                   Rf_mkCharLenCE(names[j].data(), static_cast<int>(names[j].size()), CE_UTF8));
  return out;
}

}  // namespace

// Begins to read a text file.
// [[Rcpp::export]]
SEXP engine_text_begin(std::string separator) { return Rcpp::XPtr<TextTable>(new TextTable(separator[0])); }

// Takes the next bytes and updates the possible types of columns.
// [[Rcpp::export]]
void engine_text_weigh(SEXP table, Rcpp::RawVector bytes, bool last) {
  const Rcpp::XPtr<TextTable> text(table);
  text->feed(bytes, last);
  while (text->next()) text->weigh();
}

// The types seen in all rows: one row for each column.
// [[Rcpp::export]]
Rcpp::List engine_text_evidence(SEXP table) {
  const Rcpp::XPtr<TextTable> text(table);
  const auto& known = text->evidence;
  const R_xlen_t n = static_cast<R_xlen_t>(known.size());
  Rcpp::LogicalVector logical(n), integer(n), number(n), is_text(n), quotes(n);
  Rcpp::NumericVector line(n);
  std::vector<std::string> first;
  for (R_xlen_t j = 0; j < n; ++j) {
    const Evidence& e = known[static_cast<std::size_t>(j)];
    logical[j] = e.logical, integer[j] = e.integer, number[j] = e.number, is_text[j] = e.text,
    quotes[j] = e.quotes;
    line[j] = e.text_line;
    first.push_back(e.first_text);
  }
  using Rcpp::_;
  return Rcpp::List::create(_["name"] = names_to_r(text->names()), _["logical"] = logical,
                            _["integer"] = integer, _["number"] = number, _["text"] = is_text,
                            _["quotes"] = quotes, _["line"] = line, _["first"] = names_to_r(first));
}

// Takes the next bytes. Returns TRUE when there are as many rows as a piece should have. types: for each
// column name, the number of its Type.
// [[Rcpp::export]]
bool engine_text_read(SEXP table, Rcpp::RawVector bytes, bool last, double rows, Rcpp::IntegerVector types) {
  const Rcpp::XPtr<TextTable> text(table);
  text->feed(bytes, last);
  while (text->rows() < rows && text->next()) {
    if (text->rows() == 0) text->set_types(types);
    text->keep();
  }
  return text->rows() >= rows;
}

// The rows read so far, as columns, which are then removed from the table.
// [[Rcpp::export]]
Rcpp::List engine_text_piece(SEXP table) {
  const Rcpp::XPtr<TextTable> text(table);
  Rcpp::List out(static_cast<R_xlen_t>(text->columns.size()));
  for (std::size_t j = 0; j < text->columns.size(); ++j) {
    out[static_cast<R_xlen_t>(j)] = column_to_r(text->columns[j]);
    text->columns[j] = Column();
  }
  out.names() = names_to_r(text->names());
  return out;
}

// The checksum of these bytes as in gzip files; before: checksum of the bytes before them.
// [[Rcpp::export]]
double engine_crc32(Rcpp::RawVector bytes, double before) {
  static const std::vector<std::uint32_t> table = [] {
    std::vector<std::uint32_t> out(256);
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t c = i;
      for (int bit = 0; bit < 8; ++bit) c = c & 1U ? 0xEDB88320U ^ (c >> 1) : c >> 1;
      out[i] = c;
    }
    return out;
  }();
  std::uint32_t crc = ~static_cast<std::uint32_t>(before);
  for (const Rbyte byte : bytes) crc = table[(crc ^ byte) & 0xFFU] ^ (crc >> 8);
  return static_cast<double>(~crc);
}

// Is there a regular file at this path (UTF-8), or a link to one? FALSE for folders, pipes and devices.
// [[Rcpp::export]]
bool engine_is_regular_file(std::string path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(utf8_path(path), ignored);
}
