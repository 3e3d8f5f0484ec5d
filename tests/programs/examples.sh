# TAP: the example of a user-defined algorithm runs on several numbers of processes, and its code is short.
. "$(dirname "$0")/../support/tap.sh"

for ranks in 1 2 5; do
    right=$($MPIEXEC -n $ranks "$BUILD/examples/bcast" | grep -c 'a vector that has come both ways$')
    [ "$right" = $ranks ]
    report "examples/bcast on $ranks: $right lines are right"
done
lines=$(sed '1,/begin \*\//d;/\/\* end/,$d' "$root/examples/bcast.c" | wc -l)
[ "$lines" -le 40 ]
report "$lines lines, at most 40"
planned
