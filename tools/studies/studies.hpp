// libberth_studies.so: the verbs `bench`, `reproduce`, `size` and `sweep`, apart from the everyday binary, which opens the
// library when one of them is named. Binary and library are of one build; the version says that they are.
#pragma once

#include <string>
#include <vector>

namespace berth {

struct StudiesApi {
  int version;  // kStudiesApiVersion
  // As RunBench and its like of verbs.hpp; `commit` is the binary's, for the files that they write.
  int (*bench)(const std::vector<std::string>& arguments, const std::string& commit);
  int (*reproduce)(const std::vector<std::string>& arguments, const std::string& commit);
  int (*size)(const std::vector<std::string>& arguments, const std::string& commit);
  int (*sweep)(const std::vector<std::string>& arguments, const std::string& commit);
};
inline constexpr int kStudiesApiVersion = 2;
inline constexpr const char* kStudiesApiSymbol = "berth_studies_api";  // const StudiesApi* (*)()

int Bench(const std::vector<std::string>& arguments);      // tools/bench/bench.cpp
int Reproduce(const std::vector<std::string>& arguments);  // tools/reproduce/reproduce.cpp
int Size(const std::vector<std::string>& arguments);       // tools/size/size_verb.cpp
int Sweep(const std::vector<std::string>& arguments);      // tools/sweep/sweep_verb.cpp

}  // namespace berth
