// The kernels with 256-bit registers and fused multiply-add (agents/nn/kernels/CMakeLists.txt gives the
// flags).
#if defined(__x86_64__)
#define BERTH_ISA avx2
#define BERTH_ISA_NAME "avx2"
#define BERTH_ISA_FUNCTION Avx2Kernels
#define BERTH_LANES 8
#define BERTH_TILE_ROWS 6
#include "agents/nn/kernels/kernel_body.inc"
#endif
