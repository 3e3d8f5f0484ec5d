# TAP: the example of an algorithm of one's own runs on several numbers of processes, and its code is short.
root=$(cd "$(dirname "$0")/../.." && pwd)
echo 1..4
i=0
for ranks in 1 2 5; do
    i=$((i + 1))
    right=$($MPIEXEC -n $ranks "$BUILD/examples/bcast" | grep -c 'a vector that has come both ways$')
    [ "$right" = $ranks ] && echo "ok $i - examples/bcast on $ranks" || echo "not ok $i - examples/bcast on $ranks: $right lines are right"
done
lines=$(sed '1,/begin \*\//d;/\/\* end/,$d' "$root/examples/bcast.c" | wc -l)
[ "$lines" -le 40 ] && echo "ok 4 - $lines lines" || echo "not ok 4 - $lines lines: more than 40"
