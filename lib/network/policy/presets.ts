import type { NetworkRule } from './policy.ts';

export interface NetworkPreset {
  name: string;
  description: string;
  rules: readonly NetworkRule[];
}

/** Documented in docs/network.md. */
export const NETWORK_PRESETS: readonly NetworkPreset[] = [
  preset('npm', 'The registries of npm and Yarn, Yarn itself, and headers of Node.js for native modules.', [
    'registry.npmjs.org',
    'registry.yarnpkg.com',
    'repo.yarnpkg.com',
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
    'GitHub: repositories by HTTPS with large files, the API, archives, raw files, diffs and releases. Anybody can publish there.',
    [
      'github.com',
      'api.github.com',
      'codeload.github.com',
      'raw.githubusercontent.com',
      'objects.githubusercontent.com',
      'release-assets.githubusercontent.com',
      'patch-diff.githubusercontent.com',
      'media.githubusercontent.com',
      'github-cloud.githubusercontent.com',
      'github-cloud.s3.amazonaws.com',
    ],
  ),
  preset('crates', 'The registry of Rust crates.', ['crates.io', 'index.crates.io', 'static.crates.io']),
  preset('go', 'The Go module proxy with its storage, and the checksum database.', [
    'proxy.golang.org',
    'sum.golang.org',
    // The proxy redirects downloads there. Anybody can publish at this host, so that only reading below one path is allowed.
    {
      host: 'storage.googleapis.com',
      methods: ['GET', 'HEAD'],
      path_prefix: '/proxy-golang-org-prod',
      tls: 'inspect',
    },
  ]),
  preset('rubygems', 'The registry of Ruby gems.', ['rubygems.org', 'index.rubygems.org', 'api.rubygems.org']),
  preset('maven', 'Maven Central.', ['repo.maven.apache.org', 'repo1.maven.org']),
];

export function findNetworkPreset(name: string): NetworkPreset | undefined {
  return NETWORK_PRESETS.find((each) => each.name === name);
}

type Host = Pick<NetworkRule, 'host' | 'methods' | 'path_prefix' | 'tls'>;

function preset(name: string, description: string, hosts: readonly (string | Host)[]): NetworkPreset {
  // In the order of the fields of a parsed rule, so that equal ones have equal JSON.
  const rules = hosts.map((given): NetworkRule => {
    const all = { methods: [], path_prefix: '', tls: '' } as const;
    const { host, methods, path_prefix, tls } = typeof given === 'string' ? { host: given, ...all } : given;
    return { action: 'allow', host, cidr: '', ports: [], methods, path_prefix, tls, preset: name };
  });
  return { name, description, rules };
}
