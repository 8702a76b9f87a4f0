// What a mutated source asks: has this mutant been chosen? Only build/mutants compiles it (README.md).
#pragma once

namespace berth::mutation {

extern int chosen;              // the environment variable BERTH_MUTANT, -1 = none
extern unsigned char* reached;  // a byte a mutant; in the file that BERTH_MUTANT_REACHED names, where it is set

inline bool On(int mutant) {
  __atomic_store_n(&reached[mutant], 1, __ATOMIC_RELAXED);
  return mutant == chosen;
}

}  // namespace berth::mutation
