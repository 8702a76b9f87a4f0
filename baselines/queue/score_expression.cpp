#include "baselines/queue/score_expression.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <memory>

#include "env/base/check.hpp"
#include "env/base/portable_math.hpp"
#include "env/predict/run_times.hpp"

namespace berth {
namespace {

struct Variable {
  const char* name;
  double (*value)(const ClusterView& view, int job);
  Knowledge knowledge;
  bool moves;
};
constexpr Variable kVariables[] = {
    // seconds since its arrival
    {"wait", [](const ClusterView& view, int job) { return view.now() - view.Arrival(job); },
     Knowledge::kNone, true},
    // seconds from the scenario's origin
    {"arrival", [](const ClusterView& view, int job) { return view.Arrival(job); }, Knowledge::kNone, false},
    // seconds that its user requested, or what remains on its fastest type
    {"request", RequestedSeconds, Knowledge::kEstimate, false},
    // seconds that remain on its fastest type
    {"remaining",
     [](const ClusterView& view, int job) { return view.RemainingSteps(job) / view.BestRate(job); },
     Knowledge::kEstimate, false},
    // GPUs
    {"gang", [](const ClusterView& view, int job) { return double{1} * view.Gang(job); }, Knowledge::kNone,
     false},
    // its weight, 1 unless given
    {"weight", [](const ClusterView& view, int job) { return view.Weight(job); }, Knowledge::kNone, false},
    // seconds from the scenario's origin, infinite where there is none
    {"deadline", [](const ClusterView& view, int job) { return view.Deadline(job); }, Knowledge::kNone,
     false},
    // seconds from the scenario's origin
    {"now", [](const ClusterView& view, int) { return view.now(); }, Knowledge::kNone, true},
};

std::string List(const auto& table) {
  std::string list;
  for (const auto& row : table) list += (list.empty() ? "" : ", ") + std::string(row.name);
  return list;
}

struct Function {
  const char* name;
  int arguments;
  double (*of)(double a, double b);
};
double Power(double x, double y) {
  const bool whole = y == std::floor(y);
  if (x < 0.0 && !whole) return std::nan("");
  if (y < 0.0 || y > 16.0 || !whole) {
    const double power = Pow(std::abs(x), y);
    return x < 0.0 && std::fmod(std::abs(y), 2.0) == 1.0 ? -power : power;
  }
  double product = 1.0;
  for (int i = 0; i < static_cast<int>(y); ++i) product = i == 0 ? x : product * x;
  return product;
}
constexpr Function kFunctions[] = {
    {"min", 2, [](double a, double b) { return std::isnan(b) ? b : std::min(a, b); }},
    {"max", 2, [](double a, double b) { return std::isnan(b) ? b : std::max(a, b); }},
    {"abs", 1, [](double a, double) { return std::abs(a); }},
    {"sqrt", 1, [](double a, double) { return std::sqrt(a); }},
    {"exp", 1, [](double a, double) { return Exp(a); }},
    {"log", 1, [](double a, double) { return Log(a); }},
    {"log2", 1, [](double a, double) { return Log2(a); }},
    {"log10", 1, [](double a, double) { return Log10(a); }},
};
constexpr Function kAdd = {"+", 2, [](double a, double b) { return a + b; }};
constexpr Function kSubtract = {"-", 2, [](double a, double b) { return a - b; }};
constexpr Function kMultiply = {"*", 2, [](double a, double b) { return a * b; }};
constexpr Function kDivide = {"/", 2, [](double a, double b) { return a / b; }};
constexpr Function kNegate = {"-", 1, [](double a, double) { return -a; }};
constexpr Function kPower = {"^", 2, Power};

// One step of the expression in postfix order: exactly one of the three.
struct Step {
  double number = 0.0;
  const Variable* variable = nullptr;
  const Function* function = nullptr;
};
constexpr int kDeepest = 64;  // values on the stack, and nested parentheses

double Evaluate(const std::vector<Step>& steps, const ClusterView& view, int job) {
  std::array<double, kDeepest> stack;
  std::size_t top = 0;
  for (const Step& step : steps) {
    if (step.function == nullptr) {
      stack[top++] = step.variable == nullptr ? step.number : step.variable->value(view, job);
      continue;
    }
    const double b = step.function->arguments == 2 ? stack[--top] : 0.0;
    stack[top - 1] = step.function->of(stack[top - 1], b);
  }
  return std::isnan(stack[0]) ? kNever : stack[0];
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::vector<Step> Parse() {
    Sum();
    if (Peek() != '\0') throw Fail("an operator or the end", Found());
    return std::move(steps_);
  }

 private:
  Error Fail(const std::string& expected, const std::string& found) const {
    return Error(Join("score '", std::string(text_), "': column ", at_ + 1, ": expected ", expected,
                      ", found ", found));
  }
  std::string Found() const {
    return at_ < text_.size() ? Join("'", std::string(1, text_[at_]), "'") : "the end";
  }
  char Peek() {  // the next character that is not blank, '\0' at the end
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Accept(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }
  void Push(const Step& step) {
    depth_ += step.function == nullptr ? 1 : 1 - step.function->arguments;
    if (depth_ > kDeepest) throw Fail(Join("at most ", kDeepest, " values at once"), "more");
    steps_.push_back(step);
  }
  void Apply(const Function& function) { Push({0.0, nullptr, &function}); }

  void Sum() {
    Product();
    while (Peek() == '+' || Peek() == '-') {
      const Function& function = text_[at_++] == '+' ? kAdd : kSubtract;
      Product();
      Apply(function);
    }
  }
  void Product() {
    Sign();
    while (Peek() == '*' || Peek() == '/') {
      const Function& function = text_[at_++] == '*' ? kMultiply : kDivide;
      Sign();
      Apply(function);
    }
  }
  void Sign() {
    if (++nested_ > kDeepest) throw Fail(Join("at most ", kDeepest, " nested parts"), "more");
    if (Accept('-')) {
      Sign();
      Apply(kNegate);
    } else {
      Atom();
      if (Accept('^')) {
        Sign();
        Apply(kPower);
      }
    }
    --nested_;
  }
  void Atom() {
    const char c = Peek();
    if (c == '(') {
      ++at_;
      Sum();
      Close();
    } else if ((c >= '0' && c <= '9') || c == '.') {
      Number();
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_') {
      Name();
    } else {
      throw Fail("a number, a variable, a function or '('", Found());
    }
  }
  void Close() {
    if (!Accept(')')) throw Fail("')'", Found());
  }
  void Number() {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) throw Fail("a number", Found());
    at_ = static_cast<std::size_t>(end - text_.data());
    Push({value, nullptr, nullptr});
  }
  void Name() {
    std::size_t end = at_;
    while (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) || text_[end] == '_'))
      ++end;
    const std::string name(text_.substr(at_, end - at_));
    for (const Variable& variable : kVariables) {
      if (name != variable.name) continue;
      at_ = end;
      return Push({0.0, &variable, nullptr});
    }
    for (const Function& function : kFunctions) {
      if (name == function.name) return Call(function, end);
    }
    std::vector<std::string> known;
    for (const Variable& variable : kVariables) known.emplace_back(variable.name);
    for (const Function& function : kFunctions) known.emplace_back(function.name);
    throw Fail(Join("one of ", List(kVariables), " or a function (", List(kFunctions), ")"),
               Join("'", name, "'", DidYouMean(name, known)));
  }
  void Call(const Function& function, std::size_t end) {
    at_ = end;
    if (!Accept('(')) throw Fail(Join("'(' after ", function.name), Found());
    for (int i = 0; i < function.arguments; ++i) {
      if (i > 0 && !Accept(',')) {
        throw Fail(Join("',': ", function.name, " takes ", function.arguments, " values"), Found());
      }
      Sum();
    }
    Close();
    Apply(function);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0, nested_ = 0;
  std::vector<Step> steps_;
};

}  // namespace

ScoreRule ParseScore(std::string_view text) {
  const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  std::vector<Step> steps = Parser(quoted ? text.substr(1, text.size() - 2) : text).Parse();
  ScoreRule rule{nullptr, Knowledge::kNone, false};
  for (const Step& step : steps) {
    if (step.variable == nullptr) continue;
    rule.knowledge = std::max(rule.knowledge, step.variable->knowledge);
    rule.moves = rule.moves || step.variable->moves;
    rule.reads_work = rule.reads_work || std::string_view(step.variable->name) == "remaining";
  }
  rule.score = [steps = std::move(steps)](const ClusterView& view, int job) {
    return Evaluate(steps, view, job);
  };
  return rule;
}

}  // namespace berth
