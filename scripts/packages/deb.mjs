/**
 * Makes the Debian package: the command line and the server in /usr/lib/paddock, the unit, the reservation of host users and
 * the documentation. Its installation neither starts nor enables the server: it is configured first.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Source in the checkout, target below the root, and mode. @type {[string, string, number][]} */
const FILES = [
  ['dist/paddock.mjs', 'usr/lib/paddock/paddock.mjs', 0o755],
  ['dist/server.mjs', 'usr/lib/paddock/server.mjs', 0o755],
  ['configs/server.yaml', 'etc/paddock/server.yaml', 0o644],
  ['deploy/systemd/paddock.service', 'lib/systemd/system/paddock.service', 0o644],
  ['deploy/systemd/paddock.sysusers', 'usr/lib/sysusers.d/paddock.conf', 0o644],
  ['LICENSE', 'usr/share/doc/paddock/copyright', 0o644],
  ['CHANGELOG.md', 'usr/share/doc/paddock/CHANGELOG.md', 0o644],
];

/** @type {(version: string) => string} */
const control = (version) => `Package: paddock
Version: ${version}
Architecture: all
Maintainer: The Paddock project
Section: devel
Priority: optional
Depends: bubblewrap, util-linux, mount, perl-base
Recommends: nodejs (>= 20.19), git, python3, uidmap
Description: Sandboxes for AI agents, with rules for each path
 Runs commands of agents on a codebase, isolated by bubblewrap, with rules that
 the file system itself enforces. Changes are kept apart until a review.
`;

/** Node need not be a package: it is looked for in the PATH of the unit. */
const POSTINST = `#!/bin/sh
set -e
[ "$1" = configure ] || exit 0
if command -v systemd-sysusers >/dev/null 2>&1; then systemd-sysusers paddock.conf || true; fi
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
fits='const [a, b] = process.versions.node.split(".").map(Number); process.exit(a >= 24 || (a === 22 && b >= 12) || (a === 20 && b >= 19) ? 0 : 1)'
env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin node -e "$fits" 2>/dev/null ||
  echo 'paddock: Node 24, 22.12 or 20.19 or a later release of these is needed in /usr/bin or /usr/local/bin: https://nodejs.org/en/download' >&2
[ -n "$2" ] || cat <<END
paddock: configure the server, then start it (/usr/lib/paddock/docs/operations.md):
  sed -i 's/^  mode: off /  mode: keys /' /etc/paddock/server.yaml
  paddock key create --admin -config /etc/paddock/server.yaml
  systemctl enable --now paddock
END
`;

const PRERM = `#!/bin/sh
set -e
[ "$1" = remove ] || exit 0
if [ -d /run/systemd/system ]; then systemctl disable --now paddock || true; fi
`;

/** The codebases and the changes of sandboxes stay, also after a purge. */
const POSTRM = `#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
if [ "$1" = purge ] && [ -d /var/lib/paddock ]; then echo 'paddock: codebases and sandboxes stay in /var/lib/paddock' >&2; fi
`;

/**
 * Writes the package into `directory` and returns its path. The same files give the same package.
 *
 * @param {{ root: string, version: string, directory: string }} options
 */
export function makeDeb({ root, version, directory }) {
  const tree = mkdtempSync(join(tmpdir(), 'paddock-deb-'));
  try {
    for (const [source, target, mode] of FILES) {
      mkdirSync(dirname(join(tree, target)), { recursive: true, mode: 0o755 });
      cpSync(join(root, source), join(tree, target), { preserveTimestamps: true });
      chmodSync(join(tree, target), mode);
    }
    cpSync(join(root, 'docs'), join(tree, 'usr/lib/paddock/docs'), { recursive: true, preserveTimestamps: true });
    mkdirSync(join(tree, 'usr/bin'));
    symlinkSync('../lib/paddock/paddock.mjs', join(tree, 'usr/bin/paddock'));
    mkdirSync(join(tree, 'DEBIAN'));
    writeFileSync(join(tree, 'DEBIAN/control'), control(version));
    writeFileSync(join(tree, 'DEBIAN/conffiles'), '/etc/paddock/server.yaml\n');
    for (const [name, script] of Object.entries({ postinst: POSTINST, prerm: PRERM, postrm: POSTRM })) {
      writeFileSync(join(tree, 'DEBIAN', name), script, { mode: 0o755 });
    }
    const deb = join(directory, `paddock_${version}_all.deb`);
    execFileSync('chmod', ['-R', 'u=rwX,go=rX', tree]);
    // Of directories and generated files; those of sources are older.
    const SOURCE_DATE_EPOCH = `${Math.ceil(statSync(join(root, 'dist/server.mjs')).mtimeMs / 1000)}`;
    execFileSync('dpkg-deb', ['--root-owner-group', '-Zxz', '--build', tree, deb], {
      env: { ...process.env, SOURCE_DATE_EPOCH },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return deb;
  } finally {
    rmSync(tree, { recursive: true });
  }
}
