// Entry point of berth_tests. `--update-golden` writes tests/golden/ anew instead of comparing with it.
#define CATCH_CONFIG_RUNNER
#include "tests/golden.hpp"
#include "tests/listener.hpp"

int main(int argc, char** argv) {
  Catch::Session session;
  bool update = false;
  session.cli(session.cli() | Catch::clara::Opt(update)["--update-golden"]("write tests/golden/ anew"));
  if (const int bad = session.applyCommandLine(argc, argv); bad != 0) return bad;
  berth::test::UpdateGolden() = update;
  return session.run();
}
