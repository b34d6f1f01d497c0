#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Lays out an installation: bazel run --config=opt //:install -- PREFIX
# The BUILD file gives DIRECTORY=FILE pairs; the last argument is the prefix. May be run again over
# an older installation; what an older one had and this one has not stays.
set -euo pipefail

[[ $# -gt 0 ]] && prefix=${!#} || prefix=
if [[ $prefix != /* || $prefix == *=* ]]; then
  echo "usage: bazel run --config=opt //:install -- /absolute/prefix" >&2
  exit 2
fi
# Elsewhere than its final place, for packaging: DESTDIR is put in front.
root=${DESTDIR-}$prefix

link() { # FOLDER NAME TARGET
  ln -sfn "$3" "$root/$1/$2"
}

for pair in "${@:1:$#-1}"; do
  directory=${pair%%=*} file=${pair#*=} mode=0644
  [[ $directory == bin || $file == *.so.* ]] && mode=0755
  install -d "$root/$directory"
  if [[ $file == *.tar ]]; then # many small files
    tar -xmf "$file" --no-same-owner -C "$root/$directory"
    continue
  fi
  # A running program or a mapped library must not be overwritten in place: copy, then rename.
  name=${file##*/}
  install -m $mode "$file" "$root/$directory/.$name.new"
  mv -f "$root/$directory/.$name.new" "$root/$directory/$name"
done

for name in mpirun lamina; do link bin $name mpiexec; done
for name in mpicc_abi mpicxx mpic++ mpiCC mpicxx_abi mpifort mpif77 mpif90 mpifort_abi; do
  link bin $name mpicc
done
for name in libmpi_abi.so libmpi_abi.so.0 libmpi.so; do link lib $name libmpi_abi.so.1; done
for name in mpi mpifort; do link lib lib$name.a lib${name}_abi.a; done
for name in libmpifort_abi.so libmpifort.so; do link lib $name libmpifort_abi.so.1; done
link share/man/man1 mpirun.1 mpiexec.1
for name in mpicc_abi mpicxx mpic++ mpiCC mpicxx_abi mpifort mpif77 mpif90 mpifort_abi; do link share/man/man1 $name.1 mpicc.1; done
for name in mpirun lamina; do link share/bash-completion/completions $name mpiexec; done

echo "installed in $root"
