# Lets bwrap make user namespaces where kernel.apparmor_restrict_unprivileged_userns is 1 (Ubuntu 24.04).
# `unconfined` adds no other rule: what runs in bwrap is confined by bwrap. Written by Paddock's scripts/setup.sh.
abi <abi/4.0>,
include <tunables/global>

profile paddock-bwrap /usr/bin/bwrap flags=(unconfined) {
  userns,

  include if exists <local/paddock-bwrap>
}
