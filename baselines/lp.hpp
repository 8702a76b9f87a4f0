// Linear programs as plain data, solved by HiGHS.
//
//   LpModel model;                       // maximise 3x + 2y, x + y <= 4, 0 <= x <= 3, y >= 0
//   model.maximize = true;
//   const int x = model.AddColumn(3, 0, 3), y = model.AddColumn(2, 0, kLpInfinity);
//   model.AddEntry(x, 1), model.AddEntry(y, 1), model.EndRow(-kLpInfinity, 4);
//   LpSolver solver;
//   LpSolution solution;
//   if (solver.Solve(model, LpMethod::kSimplex, solution) == LpStatus::kOptimal) ... solution.x ...
#pragma once

#include <limits>
#include <memory>
#include <vector>

namespace berth {

inline constexpr double kLpInfinity = std::numeric_limits<double>::infinity();

// minimise (or maximise) cost.x  subject to  row_lower <= A x <= row_upper,  lower <= x <= upper.
struct LpModel {
  bool maximize = false;
  std::vector<double> cost, lower, upper;    // [n]
  std::vector<double> row_lower, row_upper;  // [r]
  std::vector<int> row_begin = {0};          // [r + 1] into column and coefficient
  std::vector<int> column;                   // [nonzeros]
  std::vector<double> coefficient;           // [nonzeros]
  std::vector<int> integer;                  // columns that must be whole; kSimplex only, then without duals
  // A program with symmetries, each orbit of columns or rows written once: how many there are, and of the
  // columns of an entry's orbit how many stand in one row (coefficient is the sum of theirs, cost that of all
  // columns). Optima are those of the program written out that treat members alike; only kEmbedding's point
  // depends on the numbers (quotients by equitable partitions; Boedi, Grundhoefer and Herr 2010).
  std::vector<double> column_members, row_members;  // [n], [r]
  std::vector<double> in_row;                       // [nonzeros]

  int columns() const { return static_cast<int>(cost.size()); }
  int rows() const { return static_cast<int>(row_lower.size()); }
  int AddColumn(double its_cost, double its_lower, double its_upper, double its_members = 1.0);  // its index
  void AddEntry(int in_column, double its_coefficient, double its_in_row = 1.0);  // of the row being built
  void EndRow(double its_lower, double its_upper, double its_members = 1.0);
  void Clear();  // keeps the memory
};

struct LpSolution {
  std::vector<double> x;         // [n]
  std::vector<double> row_dual;  // [r] change of the objective per unit of the row's active bound
  double objective = 0.0;
};

enum class LpStatus { kOptimal, kInfeasible, kUnbounded, kTimeLimit, kError };
const char* ToString(LpStatus status);
const char* Explain(LpStatus status);  // "the LP solver: time limit", for logs

// kSimplex ends in a vertex of the optimal face, kInteriorPoint (HiGHS, no crossover, no presolve) and
// kEmbedding (our own, embedding.hpp: the point where the reference's solver ends) in its interior.
enum class LpMethod { kSimplex, kInteriorPoint, kEmbedding };

// One HiGHS instance, reused between solves; silent, single-threaded. Thread rule: one thread at a time.
class LpSolver {
 public:
  LpSolver();
  ~LpSolver();
  LpSolver(LpSolver&&) noexcept;
  LpSolver& operator=(LpSolver&&) noexcept;
  // `solution` is written only when the answer is kOptimal.
  [[nodiscard]] LpStatus Solve(const LpModel& model, LpMethod method, LpSolution& solution,
                               double time_limit_s = kLpInfinity);

 private:
  struct Instance;
  std::unique_ptr<Instance> instance_;
};

// How far a claimed solution is from satisfying the optimality conditions, computed from the model alone
// (lp_check.cpp). Relative figures: a violation is divided by 1 + the size of what is compared.
struct Optimality {
  double primal_infeasibility = 0.0;  // bounds and rows
  double dual_infeasibility = 0.0;    // reduced costs and row duals of the wrong sign
  double gap = 0.0;  // |primal - dual objective|; zero with both above means complementary slackness
  [[nodiscard]] bool Within(double tolerance) const {
    return primal_infeasibility <= tolerance && dual_infeasibility <= tolerance &&
           gap <= tolerance;  // false on NaN
  }
};
Optimality CheckOptimality(const LpModel& model, const LpSolution& solution);

// A linear program whose answer is believed only once it is proven: every answer passes CheckOptimality,
// which knows nothing of the solvers, or is thrown away and another method tried.
class CheckedLp {
 public:
  explicit CheckedLp(LpMethod method, double time_limit_s = kLpInfinity)
      : method_(method), time_limit_s_(time_limit_s) {}

  LpModel& model() { return model_; }
  // kOptimal: solution() is within the tolerance of optimality. kInfeasible or kUnbounded: two methods say
  // so. kTimeLimit: a method ran out of its time; no other is tried. kError: none gave an answer that passes.
  // `first` comes first, then simplex, then HiGHS' interior point.
  [[nodiscard]] LpStatus Solve() { return Solve(method_); }
  [[nodiscard]] LpStatus Solve(LpMethod first);
  // The same, and no other method is tried: infeasible is then that method's word alone.
  [[nodiscard]] LpStatus SolveOnly(LpMethod method);
  const LpSolution& solution() const { return solution_; }

  LpMethod method() const { return method_; }
  int failed_checks() const { return failed_checks_; }  // answers that were thrown away
  const char* failure() const { return failure_; }      // why the last Solve was not kOptimal

 private:
  LpMethod method_;
  double time_limit_s_;
  LpSolver solver_;
  LpModel model_;
  LpSolution solution_;
  int failed_checks_ = 0;
  const char* failure_ = "";
};

}  // namespace berth
