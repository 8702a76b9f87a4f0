// The kernels with what every machine of this architecture has.
#define BERTH_ISA baseline
#define BERTH_ISA_NAME "baseline"
#define BERTH_ISA_FUNCTION BaselineKernels
#define BERTH_LANES 4
#define BERTH_TILE_ROWS 6
#include "agents/nn/kernels/kernel_body.inc"
