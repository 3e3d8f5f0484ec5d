# Generates hsumma.F90 from hsumma.F90.in, and bits.f90 of the tests: Fortran has generic names, but no templates.
#     awk -f expand.awk hsumma.F90.in >hsumma.F90
#   !table TYPE s real(c_float)      the value of {TYPE[T]} in lines where T is s
#   !each T=s,d R=1,2                repeats the lines up to !end for each combination; {T} and {R} are the values
#   !end
# An error names its line; the exit status is 1.
function fail(text) { print FILENAME ":" FNR ": " text > "/dev/stderr"; failed = 1; exit 1 }

function put(line, name, key) {
    while (match(line, /\{[A-Z]+(\[[A-Z]\])?\}/)) {
        name = substr(line, RSTART + 1, RLENGTH - 2)
        key = name
        sub(/.*\[/, "", key)
        sub(/\]/, "", key)
        if (!(key in value)) fail("nothing is said of " key " in {" name "}")
        if (name != key) {
            sub(/\[.*/, "", name)
            if (!((name, value[key]) in table)) fail("table " name " has no " value[key])
            name = table[name, value[key]]
        } else
            name = value[key]
        line = substr(line, 1, RSTART - 1) name substr(line, RSTART + RLENGTH)
    }
    print line
}

# Repeats the block for each combination of the variables from number v on.
function repeat(v, list, n, i) {
    if (v > variables) {
        for (i = 1; i <= lines; i++) put(line[i])
        return
    }
    n = split(values[v], list, ",")
    for (i = 1; i <= n; i++) {
        value[variable[v]] = list[i]
        repeat(v + 1)
    }
}

FNR == 1 { input = FILENAME; sub(/.*\//, "", input); print "! Generated from " input " by expand.awk." }
/^!table / {
    name = $2; key = $3
    sub(/^!table +[^ ]+ +[^ ]+ */, "")
    table[name, key] = $0
    next
}
/^ *!each / {
    if (variables) fail("!each inside !each")
    for (i = 2; i <= NF; i++) {
        split($i, pair, "=")
        variable[i - 1] = pair[1]; values[i - 1] = pair[2]
    }
    variables = NF - 1; lines = 0
    next
}
/^ *!end$/ {
    if (!variables) fail("!end without !each")
    repeat(1)
    variables = 0; split("", value)
    next
}
variables { line[++lines] = $0; next }
{ put($0) }
END { if (variables && !failed) fail("!each without !end") }
