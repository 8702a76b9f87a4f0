// Pages of the documentation that are made from the code, as Markdown: `berth_tests --update-golden 'docs*'`
// writes them, and a test fails where one is not current.
#pragma once

#include <string>

namespace berth {

// env/REFERENCE.md: what a policy sees, does and is paid for, from the tables of encoders and rewards.
std::string ReferencePage();
// tools/verbs/VERB.md. `help` is what `berth VERB --help-all` prints.
std::string VerbPage(const std::string& verb, const std::string& help);
// tools/verbs/README.md: every verb, a line each.
std::string VerbsPage();

}  // namespace berth
