import type { NetworkRule } from './policy.ts';

export interface NetworkPreset {
  name: string;
  description: string;
  rules: readonly NetworkRule[];
}

/** Documented in docs/network.md. */
export const NETWORK_PRESETS: readonly NetworkPreset[] = [
  preset('npm', 'The registries of npm and Yarn, and headers of Node.js for native modules.', [
    'registry.npmjs.org',
    'registry.yarnpkg.com',
    'nodejs.org',
  ]),
  preset('pypi', 'The Python Package Index.', ['pypi.org', 'files.pythonhosted.org']),
  preset('debian', 'The package archives of Debian.', [
    'deb.debian.org',
    'security.debian.org',
    'ftp.debian.org',
    'snapshot.debian.org',
  ]),
  preset('ubuntu', 'The package archives of Ubuntu.', [
    'archive.ubuntu.com',
    '*.archive.ubuntu.com',
    'security.ubuntu.com',
    'ports.ubuntu.com',
  ]),
  preset(
    'github',
    'GitHub: repositories by HTTPS, the API, archives, raw files and releases. Anybody can publish there.',
    [
      'github.com',
      'api.github.com',
      'codeload.github.com',
      'raw.githubusercontent.com',
      'objects.githubusercontent.com',
      'release-assets.githubusercontent.com',
    ],
  ),
  preset('crates', 'The registry of Rust crates.', ['crates.io', 'index.crates.io', 'static.crates.io']),
  preset('go', 'The Go module proxy and its checksum database.', ['proxy.golang.org', 'sum.golang.org']),
  preset('rubygems', 'The registry of Ruby gems.', ['rubygems.org', 'index.rubygems.org', 'api.rubygems.org']),
  preset('maven', 'Maven Central.', ['repo.maven.apache.org', 'repo1.maven.org']),
];

export function findNetworkPreset(name: string): NetworkPreset | undefined {
  return NETWORK_PRESETS.find((each) => each.name === name);
}

function preset(name: string, description: string, hosts: readonly string[]): NetworkPreset {
  const all = { ports: [], methods: [], path_prefix: '', tls: '' } as const;
  // In the order of the fields of a parsed rule, so that equal ones have equal JSON.
  return { name, description, rules: hosts.map((host) => ({ action: 'allow', host, cidr: '', ...all, preset: name })) };
}
