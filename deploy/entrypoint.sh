#!/bin/sh
# Arguments that start with "-" are flags of the server; other arguments are a command to run instead of it.
set -eu
# A core file would have keys, contents of files and the TLS key.
ulimit -c 0
# Docker mounts the container's part of the cgroup tree read-only. The server creates the cgroups of sandboxes in it.
while read -r _ place type _; do
  case $type in cgroup | cgroup2) mount -o remount,bind,rw "$place" ;; esac
done </proc/self/mounts
case ${1:-} in "" | -*) set -- node /usr/lib/paddock/server.mjs "$@" ;; esac
exec "$@"
