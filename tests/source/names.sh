# TAP: no name in the sources has two meanings, and scripts/check-names detects one that has.
. "$(dirname "$0")/../support/tap.sh"

"$root/scripts/check-names" >"$scratch/out"
report "no name has two meanings"

# answers NAME PATTERN: a test: check-names refuses the planted tree with a message that matches PATTERN; with an empty
# PATTERN it accepts the tree.
answers() {
    "$root/scripts/check-names" "$scratch" >"$scratch/out"
    if [ -n "$2" ]; then grep -q "$2" "$scratch/out"; else [ ! -s "$scratch/out" ]; fi
    report "$1"
    rm -rf "${scratch:?}"/*
}

plant src/base/a.h 'struct hs_line { int n; };'
plant benchmarks/coll/b.c 'static const struct hs_line { int m; } line;'
answers "a struct in two files" '^struct hs_line: benchmarks/coll/b.c, src/base/a.h; rename one$'

plant src/base/a.c 'enum { FIRST, LENGTH = sizeof(int[2]), LAST };'
plant tests/support/b.c 'enum kind { OTHER = 1 << 3, LENGTH };'
answers "an enum constant in two files" '^LENGTH:'

plant src/base/a.c 'int hs_sum(int a, int (*f)(void)) { return a + f(); }'
plant src/dist/b.c 'int hs_sum(int a) { if (a) { return 1; } return 0; }'
answers "a function in two files" '^hs_sum():'

plant src/base/a.c '#define SUM(x) struct hs_sum { int x; }
/* struct hs_sum { int in; }; */ static int sum(int a) { return a; } struct hs_sum *from(const char *text);'
plant src/base/b.c 'static int sum(void) { struct hs_sum *first = from("struct hs_sum { "); return sizeof first; }
int other(void) { return sum(); }'
plant src/coll/bcast/ring.c 'int hs_a(void) { return 0; }'
plant src/coll/allgather/ring.c 'int hs_b(void) { return 0; }'
answers "what is declared, static, or in comments and strings is no duplicate" ''

plant src/base/plan.c 'int hs_a(void) { return 0; }'
plant src/hsumma/plan/plan.h 'int hs_b(void);'
answers "files of one name" '^files named plan:'

plant src/base/a.c '/* What base/other_file.c does, and a.c. */'
answers "a comment that names a file that is not there" 'a.c: there is no file base/other_file.c$'

for i in $(seq 26); do plant "benchmarks/coll/f$i.c" ''; done
answers "a folder with too many files" '^benchmarks/coll: 26 files'

planned
