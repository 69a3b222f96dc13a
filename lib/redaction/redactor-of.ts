import type { Redactor } from '../permissions/redactors.ts';

/** The redactor of a file by its name: 'all' for names that say nothing about the format. */
export function redactorOf(name: string): Redactor {
  return BY_NAME.find(([pattern]) => pattern.test(name))?.[1] ?? 'all';
}

const BY_NAME: readonly (readonly [pattern: RegExp, redactor: Redactor])[] = [
  [/\.(json|jsonc|json5|tfstate(\.backup)?|webmanifest)$|^\.dockercfg$/i, 'json'],
  [/\.ya?ml$/i, 'yaml'],
  [/\.(pem|key|p8|crt|cer)$/i, 'pem'],
  [/^id_(rsa|dsa|ecdsa|ed25519)(_sk)?$/, 'pem'],
  [/^\.git(config|modules)$/i, 'gitconfig'],
  [/^\.(npmrc|pypirc|my\.cnf)$/i, 'ini'],
  [/^[._]netrc$/i, 'netrc'],
  [/\.tfvars$|^\.env(\.|$)|\.env$|^\.envrc$|^\.dev\.vars$/i, 'dotenv'],
];
