// The kernels with 512-bit registers (agents/nn/kernels/CMakeLists.txt gives the flags).
#if defined(__x86_64__)
#define BERTH_ISA avx512
#define BERTH_ISA_NAME "avx512"
#define BERTH_ISA_FUNCTION Avx512Kernels
#define BERTH_LANES 16
#define BERTH_TILE_ROWS 12
#include "agents/nn/kernels/kernel_body.inc"
#endif
