// In the place of HiGHS' header of this name, so that the signatures need nothing but a compiler: whoever
// passes it a program is told that it is not there.
#pragma once

#include "env/base/check.hpp"

using HighsInt = int;
inline constexpr HighsInt kHighsStatusError = -1, kHighsMatrixFormatRowwise = 2, kHighsObjSenseMinimize = 1,
                          kHighsObjSenseMaximize = -1, kHighsVarTypeContinuous = 0, kHighsVarTypeInteger = 1,
                          kHighsModelStatusOptimal = 7, kHighsModelStatusInfeasible = 8,
                          kHighsModelStatusUnboundedOrInfeasible = 9, kHighsModelStatusUnbounded = 10,
                          kHighsModelStatusTimeLimit = 13, kHighsModelStatusSolutionLimit = 16,
                          kHighsSolutionStatusFeasible = 2;

[[noreturn]] inline HighsInt BerthNoHighs() {
  throw berth::Error("needs HiGHS");
}
inline void* Highs_create() {
  static int there;
  return &there;
}
inline void Highs_destroy(void*) {}
#define BERTH_HIGHS_SETS(name) \
  template <class... T>        \
  HighsInt name(T...) {        \
    return 0;                  \
  }
BERTH_HIGHS_SETS(Highs_setBoolOptionValue)
BERTH_HIGHS_SETS(Highs_setIntOptionValue)
BERTH_HIGHS_SETS(Highs_setDoubleOptionValue)
BERTH_HIGHS_SETS(Highs_setStringOptionValue)
BERTH_HIGHS_SETS(Highs_zeroAllClocks)
#undef BERTH_HIGHS_SETS
#define BERTH_HIGHS_DOES(name) \
  template <class... T>        \
  HighsInt name(T...) {        \
    return BerthNoHighs();     \
  }
BERTH_HIGHS_DOES(Highs_passLp)
BERTH_HIGHS_DOES(Highs_passMip)
BERTH_HIGHS_DOES(Highs_run)
BERTH_HIGHS_DOES(Highs_changeColIntegrality)
BERTH_HIGHS_DOES(Highs_getModelStatus)
BERTH_HIGHS_DOES(Highs_getSolution)
BERTH_HIGHS_DOES(Highs_getObjectiveValue)
BERTH_HIGHS_DOES(Highs_setSolution)
BERTH_HIGHS_DOES(Highs_getIntInfoValue)
BERTH_HIGHS_DOES(Highs_getDoubleInfoValue)
#undef BERTH_HIGHS_DOES
