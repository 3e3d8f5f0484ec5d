# TAP: the include borders of src/ hold, and the check sees an include that crosses one.
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
echo 1..4

found=$("$root/scripts/check-layers") && echo "ok 1 - no include of src/ crosses a border" ||
    { echo "not ok 1 - no include of src/ crosses a border"; echo "$found" | sed 's/^/# /'; }

# plant NUMBER FILE INCLUDE: a tree with this one line must be refused
plant() {
    rm -rf "$scratch/src"
    mkdir -p "$scratch/src/${2%/*}"
    echo "#include $3" >"$scratch/src/$2"
    if "$root/scripts/check-layers" "$scratch/src" >/dev/null; then echo "not ok $1 - $2 may not include $3"; else echo "ok $1 - $2 may not include $3"; fi
}
plant 2 coll/ring.c '"summa/loop.h"'
plant 3 dist/axis.c '<mpi.h>'
plant 4 coll/ring.inc '<mpi.h>'
