# The Test Anything Protocol for shell tests, which source this file first. $root is the tree (two folders up, unless it
# is set); $scratch is an empty folder that is removed at the end.
root=$(cd "${root:-$(dirname "$0")/../..}" && pwd)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
count=0

# report NAME: reports a test by the status of the last command; after a failure shows the end of $scratch/out
report() {
    if [ $? -eq 0 ]; then echo "ok $((count += 1)) - $1"; return; fi
    echo "not ok $((count += 1)) - $1"
    [ ! -f "$scratch/out" ] || tail -n 20 "$scratch/out" | sed 's/^/# /'
}

# skip NAME REASON: reports a test that cannot run here.
skip() {
    echo "ok $((count += 1)) - $1 # SKIP $2"
}

# plant FILE TEXT: appends a line to a source file in the otherwise empty tree $scratch
plant() {
    mkdir -p "$scratch/${1%/*}"
    echo "$2" >>"$scratch/$1"
}

planned() {
    echo "1..$count"
}
