#!/bin/sh
# Flags are the server's; anything else is a command to run in its place.
set -eu
# The container's own part of the cgroup tree is there, but read-only: the limits of sandboxes are made in it.
while read -r _ place type _; do
  case $type in cgroup | cgroup2) mount -o remount,bind,rw "$place" ;; esac
done </proc/self/mounts
case ${1:-} in "" | -*) set -- node /usr/lib/paddock/server.mjs "$@" ;; esac
exec "$@"
