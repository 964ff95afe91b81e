#include "doc/pattern.h"

#include <re2/re2.h>

#include <array>
#include <utility>

#include "base/strings.h"

namespace fjord::doc {
namespace {

constexpr std::string_view kSpaces = "\\t\\n\\v\\f\\r \\x{a0}\\x{feff}\\x{2028}\\x{2029}\\p{Zs}";

// Unicode properties by the long names that ECMAScript has and the engine does not know.
constexpr std::pair<std::string_view, std::string_view> kProperties[] = {{"Letter", "L"},
                                                                         {"Lowercase_Letter", "Ll"},
                                                                         {"Uppercase_Letter", "Lu"},
                                                                         {"Titlecase_Letter", "Lt"},
                                                                         {"Mark", "M"},
                                                                         {"Number", "N"},
                                                                         {"Decimal_Number", "Nd"},
                                                                         {"digit", "Nd"},
                                                                         {"Punctuation", "P"},
                                                                         {"punct", "P"},
                                                                         {"Symbol", "S"},
                                                                         {"Separator", "Z"},
                                                                         {"Space_Separator", "Zs"},
                                                                         {"Other", "C"},
                                                                         {"Control", "Cc"}};

class Translator {
 public:
  explicit Translator(std::string_view in) : in_(in) {}

  std::string Run() {
    while (at_ < in_.size()) Step();
    return std::move(out_);
  }

 private:
  bool StartsWith(std::string_view what) const { return in_.substr(at_).starts_with(what); }
  void Replace(std::string_view what, std::string_view with) {
    at_ += what.size();
    out_ += with;
  }

  void Step() {
    if (in_[at_] == '\\') return Escape();
    if (in_class_) {
      if (in_[at_] == ']') in_class_ = false;
      // The engine would take "[:" for the beginning of a POSIX class.
      if (in_[at_] == '[') return Replace("[", "\\[");
    } else {
      if (StartsWith("[^]")) return Replace("[^]", "(?s:.)");
      if (StartsWith("[]")) return Replace("[]", "[^\\x00-\\x{10FFFF}]");
      if (in_[at_] == '[') {
        in_class_ = true;
        if (StartsWith("[^")) out_ += in_[at_++];
      }
      if (StartsWith("(?<") && !StartsWith("(?<=") && !StartsWith("(?<!")) {
        return Replace("(?<", "(?P<");
      }
    }
    out_ += in_[at_++];
  }

  void Escape() {
    if (at_ + 1 == in_.size()) return Replace("\\", "\\");
    const char c = in_[at_ + 1];
    const std::string_view rest = in_.substr(at_ + 2);
    if (c == 's')
      return Replace("\\s", in_class_ ? std::string(kSpaces) : StrCat("[", kSpaces, "]"));
    if (c == 'S' && !in_class_) return Replace("\\S", StrCat("[^", kSpaces, "]"));
    if (c == 'c' && !rest.empty()) return Control(rest.front());
    if (c == 'u') return CodePoint(rest);
    if ((c == 'p' || c == 'P') && rest.starts_with('{')) return Property(c, rest);
    // "\/" and the like: an escaped character that means itself.
    out_ += in_[at_++];
    out_ += in_[at_++];
  }

  void Control(char letter) {
    constexpr std::string_view kHex = "0123456789abcdef";
    const int code = letter % 32;
    out_ += "\\x";
    out_ += kHex[static_cast<size_t>(code) >> 4];
    out_ += kHex[static_cast<size_t>(code) & 15];
    at_ += 3;
  }

  void CodePoint(std::string_view rest) {
    if (rest.starts_with('{')) return Replace("\\u", "\\x");
    const size_t digits = std::min<size_t>(4, rest.size());
    StrAppend(&out_, "\\x{", rest.substr(0, digits), "}");
    at_ += 2 + digits;
  }

  void Property(char kind, std::string_view rest) {
    const size_t end = rest.find('}');
    if (end == std::string_view::npos) return Replace("\\", "\\");
    std::string_view name = rest.substr(1, end - 1);
    for (const std::string_view prefix : {"Script=", "sc=", "General_Category=", "gc="}) {
      if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
    }
    for (const auto& [long_name, short_name] : kProperties) {
      if (name == long_name) name = short_name;
    }
    StrAppend(&out_, "\\", std::string(1, kind), "{", name, "}");
    at_ += 2 + end + 1;
  }

  std::string_view in_;
  size_t at_ = 0;
  bool in_class_ = false;
  std::string out_;
};

}  // namespace

struct Pattern::Engine {
  explicit Engine(const std::string& expression, const RE2::Options& options)
      : regex(expression, options) {}
  RE2 regex;
};

Pattern::Pattern(std::unique_ptr<const Engine> engine) : engine_(std::move(engine)) {}
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;
Pattern::~Pattern() = default;

absl::StatusOr<Pattern> Pattern::Compile(std::string_view expression) {
  RE2::Options options(RE2::Quiet);
  auto engine = std::make_unique<const Engine>(TranslatePattern(expression), options);
  if (!engine->regex.ok()) {
    return absl::InvalidArgumentError(
        StrCat("the pattern ", expression, " cannot be run: ", engine->regex.error(),
               " (patterns run in linear time: no looking around, no references to groups)"));
  }
  return Pattern(std::move(engine));
}

bool Pattern::Matches(std::string_view text) const {
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), engine_->regex);
}

std::string TranslatePattern(std::string_view expression) { return Translator(expression).Run(); }

}  // namespace fjord::doc
