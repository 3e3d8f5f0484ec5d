# TAP: src/ keeps to its layers, and scripts/check-layers detects every kind of violation.
. "$(dirname "$0")/../support/tap.sh"

# refused PATTERN NAME [OPTION...]: a test: check-layers refuses the planted tree with a message that matches PATTERN.
refused() {
    pattern=$1 name=$2; shift 2
    "$root/scripts/check-layers" "$@" "$scratch/src" >"$scratch/out"
    grep -q "$pattern" "$scratch/out"
    report "$name"
    rm -rf "$scratch/src" "$scratch/obj"
}

# compiled FILE: compiles a planted file; its object belongs to the planted tree.
compiled() {
    object=$scratch/obj/src/${1%.c}.o
    mkdir -p "${object%/*}"
    ${CC:-gcc} -I"$scratch/src" -c -o "$object" "$scratch/src/$1"
}

"$root/scripts/check-layers" --build "$BUILD" >"$scratch/out"
report "no border of src/ is crossed"

# include FILE NAME: a test: check-layers refuses a planted FILE that includes the header NAME.
include() {
    plant "src/$1" "#include $2"
    refused "$1:.*include" "$1 may not include $2"
}
include dist/axis.c '"coll/schedule/steps.h"'
include coll/bcast/tree.c '"coll/team/team.h"'
include coll/proof/verify.c '"coll/run/executor.h"'
include coll/model/clock.h '"coll/proof/verify.h"'
include coll/pattern/ring.inc '<mpi.h>'
include coll/select/by_rules.c '<mpi.h>'
include dist/axis.c '<hsumma.h>'
include summa/panels.c '"hsumma/plan/plan.h"'
include summa/node/fill_and_sum.c '"gpu/devices.h"'
include api/context_create.c '"gpu/cuda.h"'
include gpu/devices.c '"summa/panels.h"'
include coll/team/team.c '"../node/comm.h"'

plant src/coll/other/file.c 'int nothing;'
refused 'coll/other/file.c:.*table' "a folder that is in no layer"

plant src/summa/local/local.c 'int is(const char *name) { return name == "cuda:0"; }'
refused 'local.c: "cuda' "summa may not name a kind of device"
plant src/coll/select/by_rules.c '/* "cuda" */ extern int kind, hs_device_cuda;'
refused 'rules.c: hs_device_cuda' "coll may not name a kind of device"

plant src/api/grids.c '#include <stdlib.h>
const char *it(void) { return getenv("HSUMMA_TUNED"); }'
refused 'grids.c: getenv' "the environment is read in one place"
! grep -rnwE --include='*.[ch]' '(secure_)?getenv' "$root/benchmarks" >"$scratch/out"
report "the command reads it there, too"

plant src/coll/team/team.c 'void hs_above(void); void hs_team(void) { hs_above(); }'
plant src/summa/above.c 'void hs_above(void) {}'
compiled coll/team/team.c && compiled summa/above.c
refused 'team.c: hs_above' "coll may not call what is defined in summa" --build "$scratch"

plant src/hsumma/plan/plan.h 'struct hs_plan { int (*run)(void); }; void hs_grid_release(struct hs_plan *plan);'
plant src/api/grids.c 'void hs_grid_release(void *plan) { (void)plan; }'
compiled api/grids.c
refused 'plan.h: hs_grid_release' "hsumma may not declare what is defined in api" --build "$scratch"

planned
