# Copyright (c) 2026, the hsumma authors
#
# SPDX-License-Identifier: BSD-3-Clause

from spack_repo.builtin.build_systems.makefile import MakefilePackage

from spack.package import *


class Hsumma(MakefilePackage):
    """Distributed matrix multiplication over MPI by SUMMA and hierarchical SUMMA, on ScaLAPACK's layouts.

    In a Spack repository as packages/hsumma/package.py; then, in the tree: spack dev-build hsumma@0.1.0
    """

    manual_download = True  # the archive is made by "make dist"

    license("BSD-3-Clause")

    version("0.1.0")

    variant("scalapack", default=True, description="Compare with ScaLAPACK")

    # The comments give the Debian names of scripts/deps and debian/control; scripts/check-install compares them.
    depends_on("c", type="build")  # Debian: gcc libc6-dev
    depends_on("fortran", type="build")  # for the module
    depends_on("gmake", type="build")  # Debian: make
    depends_on("pkgconfig", type="build")  # Debian: pkg-config
    depends_on("mpi")  # Debian: mpich libmpich-dev
    depends_on("openblas")  # Debian: libopenblas-dev
    depends_on("hwloc")  # Debian: libhwloc-dev
    depends_on("jansson")  # Debian: libjansson-dev
    depends_on("scalapack", when="+scalapack")  # Debian: libscalapack-mpich-dev

    @property
    def settings(self):
        spec = self.spec
        return [
            "DEPS=no",
            "CUDA=0",
            "BUILD=build/spack",
            "MPI=" + ("openmpi" if spec["mpi"].name == "openmpi" else "mpich"),
            "MPICC=" + spec["mpi"].mpicc,
            "MPIFC=" + spec["mpi"].mpifc,
            "BLAS_CFLAGS=" + spec["openblas"].headers.include_flags,
            "BLAS_LIBS=" + spec["openblas"].libs.ld_flags,
            "SCALAPACK_LIBS=" + (spec["scalapack"].libs.ld_flags if "+scalapack" in spec else ""),
            "PREFIX=" + self.prefix,
        ]

    @property
    def build_targets(self):
        return [*self.settings, "all"]

    @property
    def install_targets(self):
        return [*self.settings, "install"]
