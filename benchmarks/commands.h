/* The commands of hsumma. */
#ifndef HS_BENCHMARKS_COMMANDS_H
#define HS_BENCHMARKS_COMMANDS_H

#include "common/command.h"

extern const subcommand cmd_calibrate, cmd_coll, cmd_doctor, cmd_explain, cmd_gemm, cmd_multiply, cmd_redistribute,
    cmd_regret, cmd_soak, cmd_sweep, cmd_trace, cmd_tune;

#endif
