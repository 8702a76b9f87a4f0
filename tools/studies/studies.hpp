// libberth_studies.so: the verbs `bench` and `reproduce`, apart from the everyday binary, which opens the
// library when one of them is named. Binary and library are of one build; the version says that they are.
#pragma once

#include <string>
#include <vector>

namespace berth {

struct StudiesApi {
  int version;  // kStudiesApiVersion
  // As RunBench and RunReproduce of verbs.hpp; `commit` is the binary's, for the files that they write.
  int (*bench)(const std::vector<std::string>& arguments, const std::string& commit);
  int (*reproduce)(const std::vector<std::string>& arguments, const std::string& commit);
};
inline constexpr int kStudiesApiVersion = 1;
inline constexpr const char* kStudiesApiSymbol = "berth_studies_api";  // const StudiesApi* (*)()

int Bench(const std::vector<std::string>& arguments);      // tools/bench/bench.cpp
int Reproduce(const std::vector<std::string>& arguments);  // tools/reproduce/reproduce.cpp

}  // namespace berth
