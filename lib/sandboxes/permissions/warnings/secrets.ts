import type { ByteString } from '../../../byte-string.ts';
import { baseNameOf } from '../../../byte-string.ts';

const NAMES =
  /^(\.env(\..+)?|.+\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk|tfstate|tfvars)|id_(rsa|dsa|ecdsa|ed25519)(_sk)?|\.(netrc|pgpass|my\.cnf|htpasswd|git-credentials|vault-token|dockercfg)|(secrets?|credentials?)\.(json|ya?ml|toml|ini|txt|xml|properties|env)|service[-_]account.*\.json)$/i;
/** Models of such files, which contain no values. */
const EXAMPLES = /(^|[.-])(example|sample|template|dist|schema)([.-]|$)|\.pub$/i;

const CONTENTS: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/-----BEGIN (?:[A-Z]{2,10} ){0,3}PRIVATE KEY-----/, 'a private key'],
  [/\bAKIA[0-9A-Z]{16}\b/, 'a key of AWS'],
  [/\bgh[pousr]_[A-Za-z0-9]{36}/, 'a token of GitHub'],
  [/\bgithub_pat_[A-Za-z0-9_]{50}/, 'a token of GitHub'],
  [/\bglpat-[A-Za-z0-9_-]{20}/, 'a token of GitLab'],
  [/\bxox[abpr]-[A-Za-z0-9-]{20}/, 'a token of Slack'],
  [/\bAIza[A-Za-z0-9_-]{35}/, 'a key of Google'],
  [/\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{32}/, 'a key of a model provider'],
  [/\bnpm_[A-Za-z0-9]{36}/, 'a token of npm'],
];

/** Whether files of this name usually contain secrets. */
export function secretNamed(path: ByteString): boolean {
  const name = baseNameOf(path);
  return NAMES.test(name) && !EXAMPLES.test(name);
}

/** What the first bytes of a file look like; undefined: nothing secret. */
export function secretIn(text: string): string | undefined {
  return CONTENTS.find(([pattern]) => pattern.test(text))?.[1];
}
