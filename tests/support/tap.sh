# The Test Anything Protocol for the shell tests, which begin with it: $root is the tree (two folders up, unless it is set),
# $scratch an empty folder that goes at the end.
root=$(cd "${root:-$(dirname "$0")/../..}" && pwd)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
count=0

# report NAME: the status of the last command becomes the result of a test; if it failed, the end of $scratch/out is shown
report() {
    if [ $? -eq 0 ]; then echo "ok $((count += 1)) - $1"; return; fi
    echo "not ok $((count += 1)) - $1"
    [ ! -f "$scratch/out" ] || tail -n 20 "$scratch/out" | sed 's/^/# /'
}

# skip NAME REASON
skip() {
    echo "ok $((count += 1)) - $1 # SKIP $2"
}

# plant FILE TEXT: a line of a source, in a tree that has nothing else
plant() {
    mkdir -p "$scratch/${1%/*}"
    echo "$2" >>"$scratch/$1"
}

planned() {
    echo "1..$count"
}
