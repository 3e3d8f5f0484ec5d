# TAP: an algorithm is one file and one row. A broadcast is added that way to a copy of the sources; without further
# changes it is built, listed, proven, priced and selected. Objects of the build directory are reused.
. "$(dirname "$0")/../support/tap.sh"
BUILD=${BUILD:-$root/build}
[ -d "$BUILD/obj/src" ] || { echo "1..0 # SKIP no objects in $BUILD"; exit 0; }
# says PATTERN COMMAND...: hsumma succeeds and prints a matching line
says() {
    pattern=$1; shift
    "$scratch/build/hsumma" "$@" >"$scratch/out" 2>&1 && grep -qE "$pattern" "$scratch/out"
}

cp -pr "$root/Makefile" "$root/src" "$root/include" "$root/benchmarks" "$root/scripts" "$root/fortran" "$scratch"
mkdir -p "$scratch/build/obj"
cp -pr "$BUILD/obj/src" "$BUILD/obj/benchmarks" "$scratch/build/obj"
cp -p "$BUILD"/obj/*.stamp "$scratch/build/obj" 2>/dev/null

cat >"$scratch/src/coll/bcast/relay.c" <<'C'
/* Broadcast, relay: every rank passes the whole vector on to the next one.  Cost: (q - 1)(alpha + m beta). */
#include "coll/schedule/rows.h"

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    int received = -1;
    if (shape->rank > 0)
        received = hs_emit_recv(builder, shape->rank - 1, hs_out(0), shape->bytes, -1);
    if (shape->rank + 1 < shape->size)
        hs_emit_send(builder, shape->rank + 1, hs_out(0), shape->bytes, received);
}

HS_ALG(HS_BCAST, bcast_relay, "relay", .build = build, .doc = "rank after rank: (q-1)(alpha + m beta)");
C
# Only the registry must see the new row: other files that include rows.h are not compiled again.
rows=$scratch/src/coll/schedule/rows.h
sed -i 's/^    ALG(bcast_flat) .*/&\n    ALG(bcast_relay) \\/' "$rows"
touch -r "$root/src/coll/schedule/rows.h" "$rows"
touch "$scratch/src/coll/schedule/registry.c"

make -C "$scratch" BUILD=build TESTS= build/hsumma >"$scratch/out" 2>&1
report "one file and one row build"
says '^  relay$' coll --list --op bcast
report "coll --list has it"
says 'relay .* proven$' coll --verify --op bcast --alg relay --ranks 6
report "coll --verify proves it"
says '^verified: 4 messages, 4096 bytes, 4 rounds' coll --dump --op bcast --alg relay --ranks 5 --bytes 1k
report "coll --dump has its rounds"
says '^relay +4 +4 .*(us|ms)' explain --collective bcast --ranks 5 --nodes 5 --bytes 1k
report "explain prices it among the others"
says 'bcast=relay' explain -m 1000 --grid 4x4 --bcast relay
report "a product takes it by its name"
planned
