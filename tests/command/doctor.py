"""TAP: "hsumma doctor" finds each planted fault and nothing else, and is silent without faults.

The machine is a directory with files of /proc, /sys and /dev (--root), so that findings do not depend on the test's
machine. Faults that are not files (affinity, launchers, libraries, permissions) are planted in the processes.
Environment: that of launch.py.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from command import BENCH, bench, csv_rows, helps, object_of, prints, read, refuses, said, write
from launch import BUILD, MPI, MPIEXEC, mpiexec
from tap import ok, run, skip

TOOLS = os.path.join(BUILD, "tests")
BIND = [["-bind-to", "core"], ["--bind-to", "core"]][MPI == "openmpi"]
CPUS = sorted(os.sched_getaffinity(0))
NEVER_PLANTED = {"serial-blas"}  # needs another build of the BLAS
CLEAN = ["-u", "HSUMMA_TEST_RUN", "-u", "OMP_NUM_THREADS", "-u", "OPENBLAS_NUM_THREADS", "-u", "OPENBLAS_CORETYPE"]
planted = set()


def machine(scratch, name, **files):
    """Makes a directory with the files of a faultless machine, replaced or extended by `files`; returns its path."""
    root = os.path.join(scratch, name)
    os.makedirs(os.path.join(root, "dev", "shm"))
    good = {"sys/devices/system/cpu/online": ",".join(map(str, CPUS)), "proc/cpuinfo": "flags\t\t: fpu sse2\n"}
    for path, text in {**good, **files}.items():
        os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
        write(f"{text}\n", root, path)
    return root


def doctor(root, *args, ranks=0, bind=True, settings=(), preload=(), head=()):
    """Runs doctor on the files below `root` (None: on this machine); returns the process and the report."""
    place = ["--root", root] if root else []
    launch = []
    if ranks:
        launch = mpiexec(ranks, preload=preload)
        launch[len(MPIEXEC):len(MPIEXEC)] = BIND if bind else []
    elif preload:
        settings = [*settings, f"LD_PRELOAD={':'.join(preload)}"]
    process = subprocess.run([*head, *launch, "env", *CLEAN, *settings, BENCH, "doctor", *place, "--format", "json", *args],
                             capture_output=True, text=True, timeout=120)
    return process, object_of(process)


def finds(expected, costly, root, name, *args, words=(), noisy=False, **how):
    """A test: doctor has exactly these findings, with the words in their texts; exit status 1 if one is costly."""
    process, report = doctor(root, *args, **how)
    found = {row["name"] for row in report["findings"]} if report else None
    texts = " ".join(row["what"] + row["do"] for row in report["findings"]) if report else ""
    planted.update(expected)
    ok(found == set(expected) and (process.returncode == 1) == costly and (noisy or not process.stderr)
       and all(word in texts for word in words)
       and all(row["what"] and row["why"] and row["do"] for row in report["findings"]), name, *said(process))
    return report


def needs(condition, name, reason):
    if not condition:
        skip(name, reason)
    return condition


def flags_here():
    return set(re.findall(r"\w+", (re.findall(r"^flags\s*:(.*)", read("/proc/cpuinfo") or "", re.M) or [""])[0]))


def test_good(scratch):
    root = machine(scratch, "good")
    finds([], False, root, "a good machine: nothing is found, one process")
    if needs(len(CPUS) > 1, "a good machine, two ranks", "one processor"):
        two = machine(scratch, "two", **{"sys/devices/system/cpu/online": ",".join(map(str, CPUS[:2]))})
        report = finds([], False, two, "a good machine: nothing is found, two bound ranks", ranks=2)
        if report:
            rows = [row for row in report["facts"] if row["name"] == "place"]
            ok([row["ranks"] for row in rows] == ["0", "1"] and {row["name"] for row in report["facts"]} >=
               {"MPI", "place", "threads", "BLAS", "shared", "huge pages", "profile", "tuned file",
                "start-up"},
               "  and it says where each rank is, and the rest", report)
    process = bench(0, "doctor -q --root", root, settings=CLEAN)
    prints(process, "-q: not a word", not process.stdout)
    process, report = doctor(None)
    if report and not report["findings"]:
        ok(process.returncode == 0, "nothing is found on this machine either")
    else:
        skip("nothing on this machine", f"it has {[row['name'] for row in report['findings']]}")


def test_blas(scratch):
    flags = flags_here()
    wide = "avx avx2 fma avx512f avx512dq avx512bw avx512vl"
    intel = machine(scratch, "intel", **{"proc/cpuinfo": f"vendor_id\t: GenuineIntel\nflags\t\t: fpu {wide}"})
    amd, zen4 = (machine(scratch, f"amd{family}", **{"proc/cpuinfo": f"vendor_id\t: AuthenticAMD\ncpu family\t: "
                                                    f"{family}\nflags\t\t: fpu {wide}"}) for family in (26, 25))
    sse = ["OPENBLAS_CORETYPE=Prescott"]
    process, _ = doctor(intel, settings=sse)
    if not needs("Prescott" in process.stdout, "kernels of another processor", "not OpenBLAS for several processors"):
        return
    finds(["kernels"], True, intel, "fault: kernels for an older processor", settings=sse,
          words=["Prescott", "AVX-512", "SkylakeX", "OPENBLAS_CORETYPE"])
    if needs("avx2" in flags, "kernels of AVX2", "a processor without AVX2"):
        haswell = ["OPENBLAS_CORETYPE=Haswell"]
        finds(["kernels"], True, intel, "  kernels of AVX2 on a processor with AVX-512", settings=haswell)
        finds(["kernels"], True, amd, "  and on AMD's with units of 512 bits", settings=haswell)
        finds([], False, zen4, "  which are good with units of 256 bits", settings=haswell)
    if needs(len(CPUS) > 1, "kernels of one rank", "one processor"):
        command = [BENCH, "doctor", "--root", intel, "--format", "csv"]
        # a BLAS that does not know the processor takes the kernels of the fault by itself
        good = ["OPENBLAS_CORETYPE=SkylakeX"] if "avx512f" in flags else []
        first, rest = mpiexec(1, "env", *CLEAN, *good, *command), mpiexec(1, "env", *CLEAN, *sse, *command)[len(MPIEXEC):]
        process = subprocess.run([*first, ":", *rest], capture_output=True, text=True, timeout=120)
        rows = [row for row in csv_rows(process) if row["name"] == "kernels" and "Prescott" in row["what"]]
        ok(process.returncode == 1 and len(rows) == 1 and rows[0]["ranks"] == "1" and rows[0]["kind"] == "costly",
           "  the rank that has it is named", *said(process))
    if needs(flags & {"avx"}, "gemm's note", "a processor without AVX"):
        process = bench(0, "gemm -m 64 --reps 1", settings=[*CLEAN, *sse])
        prints(process, "gemm: a line says what spoils its figures",
               re.findall(r"^note: .*Prescott.*hsumma doctor", process.stdout, re.M))
        process = bench(0, "gemm -m 64 --reps 1 --format json", settings=[*CLEAN, *sse])
        prints(process, "  and so does its JSON", "Prescott" in object_of(process)["warning"])
    process, report = doctor(None)
    if needs(report and not report["costly"], "gemm without a note", "this machine has a fault"):
        process = bench(0, "gemm -m 64 --reps 1", settings=CLEAN)
        prints(process, "gemm: no line where there is nothing", "note:" not in process.stdout)
    netlib = os.path.realpath("/usr/lib/x86_64-linux-gnu/blas/libblas.so.3")
    lapack = os.path.realpath("/usr/lib/x86_64-linux-gnu/lapack/liblapack.so.3")
    if needs(os.path.exists(netlib) and os.path.exists(lapack), "the reference BLAS", "it is not installed"):
        folder = os.path.join(scratch, "netlib")
        os.mkdir(folder)
        os.symlink(netlib, os.path.join(folder, "libopenblas.so.0"))
        os.symlink(netlib, os.path.join(folder, "libblas.so.3"))
        os.symlink(lapack, os.path.join(folder, "liblapack.so.3"))
        finds(["reference-blas"] + ["idle-cores"] * (len(CPUS) > 1), True, intel, "fault: the reference BLAS",
              settings=[f"LD_LIBRARY_PATH={folder}"], words=[netlib])


def test_cores(scratch):
    wide = machine(scratch, "four", **{"sys/devices/system/cpu/online": "0-3"})
    if needs(shutil.which("taskset"), "ranks on one core", "no taskset"):
        finds(["bound-together"], True, wide, "fault: all ranks bound to one core", ranks=2, bind=False,
              head=["taskset", "-c", str(CPUS[0])], words=["2 ranks may use 1 of the node's 4 cores"])
    one = machine(scratch, "one", **{"sys/devices/system/cpu/online": str(CPUS[0])})
    finds(["oversubscribed"], True, one, "more ranks than cores", ranks=2, bind=False, words=["2 ranks", "1 core"],
          **({"head": ["taskset", "-c", str(CPUS[0])]} if shutil.which("taskset") else {}))
    wide = machine(scratch, "many", **{"sys/devices/system/cpu/online": "0-511"})
    finds(["idle-cores"], False, wide, "cores that nobody uses", words=["512 cores"])
    good = machine(scratch, "all")
    if needs(len(CPUS) > 1, "threads of two ranks", "one processor"):
        finds(["unbound", "threads"], True, good, "fault: OMP_NUM_THREADS too large", ranks=2, bind=False,
              settings=["OMP_NUM_THREADS=64"], words=["OMP_NUM_THREADS"])
        finds(["unbound"] + ["idle-cores"] * (len(CPUS) > 3), False, good, "ranks that are not bound", "--threads", "1",
              ranks=2, bind=False, words=["bind"])
    finds(["threads"], True, good, "more threads than cores by option", "--threads", "4096", words=["4096"])
    group = {"proc/self/cgroup": "0::/job/step", "sys/fs/cgroup/job/cpu.max": "50000 100000",
             "sys/fs/cgroup/job/step/cpu.max": "max 100000"}
    finds(["quota"], True, machine(scratch, "half", **group), "fault: a quota of half a core", words=["0.5 cores"])


def test_memory(scratch):
    finds(["shared-memory"], True, machine(scratch, "no memfd"), "fault: no memfd",
          preload=[os.path.join(TOOLS, "no_memfd.so")], words=["memfd_create", "Function not implemented"])
    root = machine(scratch, "small")
    mount = ["unshare", "-m", "sh", "-c", f"mount -t tmpfs -o size=1m tmpfs {root}/dev/shm && exec \"$@\"", "sh"]
    if needs(not subprocess.run([*mount, "true"], capture_output=True).returncode, "a tiny /dev/shm", "cannot mount one"):
        finds(["dev-shm"], True, root, "fault: a tiny /dev/shm", head=mount, words=["1.0 MiB", "8.0 MiB"])
        mount[4] = "mount -t tmpfs -o size=1m tmpfs /dev/shm && exec \"$@\""
        process = subprocess.run([*mount, BENCH, "doctor"], capture_output=True, text=True, timeout=120)
        ok(process.stderr.startswith("hsumma: doctor: /dev/shm has 1.0 MiB free"), "  and it says so before MPI fails",
           *said(process))
    shutil.rmtree(os.path.join(root, "dev"))
    finds(["dev-shm"], True, root, "no /dev/shm at all", words=["no /dev/shm"])
    yama = {"proc/sys/kernel/yama/ptrace_scope": "1", "proc/self/status": "Name: x\nCapEff:\t0000000000000000"}
    if len(CPUS) == 2:
        finds(["yama"], False, machine(scratch, "yama", **yama), "yama", ranks=2, words=["ptrace_scope is 1"])
        yama["proc/self/status"] = "Name: x\nCapEff:\t000001ffffffffff"
        finds([], False, machine(scratch, "mighty", **yama), "  but not for the mighty", ranks=2)
        finds(["limits"], False, machine(scratch, "limits"), "limits of a process", ranks=2, words=["ulimit"],
              head=["prlimit", "--fsize=50000000"])


def test_mpi(scratch):
    other = {"mpich": "mpiexec.openmpi", "openmpi": "mpiexec.mpich"}[MPI]
    root = machine(scratch, "mixed")
    if needs(shutil.which(other), "the launcher of another MPI", f"no {other}"):
        extra = ["--bind-to", "none"] if MPI == "mpich" else []
        process = subprocess.run([other, *extra, "-n", "2", "env", *CLEAN, BENCH, "doctor", "--root", root, "-q", "--format",
                                  "csv"], capture_output=True, text=True, timeout=120)
        rows = csv_rows(process)
        planted.add("mixed-mpi")
        ok(process.returncode and [row["name"] for row in rows] == ["mixed-mpi"] and "2 processes" in rows[0]["what"],
           "fault: the launcher of another MPI; it is said once", *said(process))
        product = os.path.join(scratch, "C.npy")
        for line in (f"multiply A.npy B.npy -o {product}", "explain -m 100", "--version"):
            process = subprocess.run([other, *extra, "-n", "3", "env", *CLEAN, BENCH, *line.split()], capture_output=True,
                                     text=True, timeout=120)
            lines = [text for text in process.stderr.splitlines() if text.startswith("hsumma: ")]
            ok(process.returncode and len(lines) == 1 and "3 processes" in lines[0] and f"mpiexec.{MPI}" in lines[0]
               and not process.stdout and not os.path.exists(product), f"  hsumma {line.split()[0]} is refused by it",
               *said(process))
    srun = ["SLURM_STEP_NUM_TASKS=4", "SLURM_PROCID=0"]
    refuses(bench(0, "explain -m 100", settings=srun), "srun has started four processes, MPI knows one", "srun", "4 processes")
    prints(bench(0, "explain -m 100", settings=[*srun, "SLURM_PTY_PORT=1"]), "  but not in a shell of srun --pty")
    prints(bench(1, "explain -m 100", settings=srun), "  nor where the MPI's own launcher has started one process there")
    library = os.path.join(scratch, {"mpich": "libmpi.so.40", "openmpi": "libmpich.so.12"}[MPI])
    shutil.copy(os.path.join(TOOLS, "mpich_yield.so"), library)  # any library with the other MPI's name
    finds(["mixed-mpi"], True, root, "libraries of two MPIs in one process", preload=[library])


def test_device(scratch):
    finds(["device-memory"] + ["unbound"] * (len(CPUS) > 1) + ["oversubscribed"] * (len(CPUS) == 1)
          + ["idle-cores"] * (len(CPUS) > 2), True, machine(scratch, "device"), "devices whose memory cannot be shared",
          "--device", "host", ranks=2, bind=False, settings=["HSUMMA_HOST_DEVICE=noipc"])


def test_files(scratch):
    root = machine(scratch, "files")
    foreign = write("hsumma profile 1\nhost Z80; 1 cores; CP/M; none\nend\n", scratch, "foreign")
    finds(["foreign-profile"], True, root, "fault: the profile of another machine",
          settings=[f"HSUMMA_PROFILE={foreign}"], words=[foreign, "Z80", "calibrate"])
    damaged = write("hsumma profile 1\nnonsense\n", scratch, "damaged profile")
    finds(["damaged-profile"], True, root, "a damaged profile", settings=[f"HSUMMA_PROFILE={damaged}"], words=["line 2"])
    old = write("hsumma profile 1\nend\n", scratch, "old")
    finds([], False, root, "a new profile", settings=[f"HSUMMA_PROFILE={old}"])
    os.utime(old, (0, 0))
    finds(["old-profile"], False, root, "  and an old one", settings=[f"HSUMMA_PROFILE={old}"])
    home = os.path.join(scratch, "home")
    os.makedirs(os.path.join(home, "hsumma"))
    write("hsumma tuned 2\ngemm nonsense\n", home, "hsumma", "tuned")
    finds(["damaged-tuned"], False, root, "a damaged tuned file", settings=[f"XDG_CONFIG_HOME={home}"], words=["tuned"])
    locked = os.path.join(scratch, "locked")
    os.mkdir(locked, 0o555)
    user = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"] if os.geteuid() == 0 else []
    os.chmod(scratch, 0o755)
    can_run = not subprocess.run([*user, BENCH, "--version"], capture_output=True).returncode
    if needs(can_run, "a tuned file that cannot be written", "another user cannot run the command"):
        finds(["locked-tuned"], False, root, "fault: no permission for the tuned file", head=user,
              settings=[f"XDG_CONFIG_HOME={locked}"], words=[f"{locked}/hsumma/tuned", "HSUMMA_TUNED"])


def test_environment(scratch):
    root = machine(scratch, "environment")
    finds(["misspelt-variable"], False, root, "fault: misspelt variables",
          settings=["HSUMMA_LOKAHEAD=2", "HSUMA_TUNE=off", "HSUMMA_NONSENSE_OF_MINE=1"],
          words=["HSUMMA_LOKAHEAD", "HSUMMA_LOOKAHEAD?", "HSUMA_TUNE", "HSUMMA_TUNE?", "HSUMMA_NONSENSE_OF_MINE"])
    finds([], False, root, "variables that there are", settings=["HSUMMA_LOOKAHEAD=2", "HSUMMA_PMPI=x", "HSUMMA_ROOT=/x"])
    finds(["no-context"], True, root, "a value that is none", settings=["HSUMMA_LOOKAHEAD=many"], words=["many"])


def test_network(scratch):
    if not needs(len(CPUS) == 2, "the network against the profile", "not two processors"):
        return
    root = machine(scratch, "network")
    form = "hsumma profile 1\nnetwork.alpha_s {0}\nnetwork.beta_s_per_byte {0}\nend\n"
    for text, expected, name in (("1e-15", ["slow-network"], "slower than the profile says"), ("1", [], "faster")):
        profile = write(form.format(text), scratch, f"network {text}")
        report = finds(expected, bool(expected), root, f"the network is {name}", "--topology", "nodes:2", ranks=2,
                       settings=[f"HSUMMA_PROFILE={profile}"])
        ok("network" in [row["name"] for row in report["facts"]], "  and measured", report)


def test_forms(scratch):
    root = machine(scratch, "forms", **{"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "50000 100000"})
    process = bench(0, "doctor --root", root, settings=CLEAN)
    ok(process.returncode == 1 and "quota (costs more than 10 %): " in process.stdout
       and "\n  why  " in process.stdout and "\n  do   " in process.stdout and "1 finding, 1 of them costs" in process.stdout,
       "the table", *said(process))
    process = bench(0, "doctor --format csv --root", root, settings=CLEAN)
    rows = csv_rows(process)
    ok([row["name"] for row in rows if row["kind"] == "costly"] == ["quota"]
       and all(row["what"] and (row["kind"] == "fact" or row["why"] and row["do"]) for row in rows), "CSV", *said(process))
    refuses(bench(2, "doctor operand"), "an operand", "operand")
    refuses(bench(0, "doctor --format xml"), "a format", "xml")
    refuses(bench(0, "doctor --nonsense"), "an option", "--nonsense")


def test_planted(_):
    """The tests before this one have made every check find something; command/explain compares the page's table."""
    names = {row["name"] for row in object_of(bench(2, "doctor --list --format json"))["checks"]}
    left = names - planted - NEVER_PLANTED
    ok(not left or len(CPUS) != 2, "each finding has been planted", left)


def main():
    with tempfile.TemporaryDirectory() as scratch:
        helps(2, "doctor", "--quiet")
        return run(test_good, test_blas, test_cores, test_memory, test_mpi, test_device, test_files, test_environment, test_network,
                   test_forms, test_planted, args=[scratch])


if __name__ == "__main__":
    sys.exit(main())
