import type { NetworkOptions, SecretBinding } from 'paddock-sandbox';
import type { Options } from '../command-line/command.ts';
import { UsageError } from '../command-line/errors.ts';

/** Options of the secrets of a sandbox. */
export const SECRET_OPTIONS = {
  secret: {
    multiple: true,
    value: 'NAME[=VARIABLE][@HOSTS]',
    help: 'let commands use a secret at these hosts; the variable has a placeholder',
  },
} as const satisfies Options;

export type SecretGiven = Pick<SecretBinding, 'name' | 'variable' | 'hosts'>;

/** "github=GITHUB_TOKEN@api.github.com,uploads.github.com". The variable of "my-token" is MY_TOKEN by default. */
export function secretsOf(given: readonly string[]): SecretGiven[] {
  return given.map((each) => {
    const [, name = '', variable, hosts] = /^([^=@]+)(?:=([^=@]+))?(?:@(.+))?$/.exec(each) ?? [];
    if (name === '') {
      throw new UsageError(`--secret is like github=GITHUB_TOKEN@api.github.com, not ${JSON.stringify(each)}`);
    }
    const usual = name.toUpperCase().replace(/[^A-Z0-9]/g, '_');
    return { name, variable: variable ?? usual, hosts: hosts?.split(',') ?? [] };
  });
}

/** The network with the hosts that are named with secrets, which could not be used otherwise. */
export function withHostsOf(
  secrets: readonly SecretGiven[],
  network: NetworkOptions | undefined,
): NetworkOptions | undefined {
  const rules = secrets.flatMap(({ hosts }) => hosts).map((host) => ({ action: 'allow', host, ports: [] }));
  if (rules.length === 0) return network;
  return { mode: 'allow_list', ...network, rules: [...(network?.rules ?? []), ...rules] };
}
