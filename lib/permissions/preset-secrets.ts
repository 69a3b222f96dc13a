import type { PermissionRule } from '../contract/messages.ts';
import { DIRECTORIES_PRIORITY, EXAMPLES_PRIORITY, NO_SECRETS_PRIORITY, SECRETS_PRIORITY } from './preset-priorities.ts';

const KEYS = ['*.{pem,key,p8,p12,pfx,jks,keystore,kdbx,ppk}', 'id_{rsa,dsa,ecdsa,ed25519,ecdsa_sk,ed25519_sk}'];
const ENVIRONMENTS = ['.env*', '*.env', '.dev.vars'];
const NAMES = [
  '{.netrc,_netrc,.pgpass,.my.cnf,.htpasswd,.npmrc,.pypirc,.git-credentials,.vault-token,.dockercfg}',
  '{secret,secrets,credential,credentials}.{json,yml,yaml,toml,ini,txt,xml,properties,env}',
  '{service-account,service_account}*.json',
  '*.{tfstate,tfvars}',
  '*.tfstate.backup',
];
/** Of programs that keep what they log in with there. */
const DIRECTORIES = '{.ssh,.gnupg,.aws,.azure,.kube,.gcloud}';
/** Programs that deal with secrets have such directories, too. */
const WORDS = '{.docker,secret,secrets,credential,credentials}';
const SOURCES =
  '{*.{c,cc,cpp,cs,css,cts,go,h,hpp,html,java,js,jsx,kt,less,md,mjs,mts,php,proto,py,pyi,rb,rs,rst,scala,scss,svelte,swift,ts,tsx,vue},Dockerfile*}';
/** Not `testing` and `e2e`, which are environments with secrets, too. */
const TESTS = '{test,tests,__tests__,testdata,test-data,fixtures,__fixtures__,spec,specs}';
const INSTALLED = '{node_modules,site-packages,dist-packages}';
const EXAMPLES = [
  '.env*.{example,sample,template,dist,defaults}',
  '{*example*,*sample*,*template*}.env',
  '.dev.vars.{example,sample,template}',
];

/**
 * Files whose names are those of secrets, in any directory: what is secret in them, their redactors find. An exemption is
 * for names that are not those of secrets by themselves: an ancestor says little, since a `.env` can be in any directory.
 * The keys of installed packages everybody has, and those of tests are made for them: a test that reads a placeholder fails.
 */
export const SECRETS: readonly PermissionRule[] = [
  ...[...KEYS, ...ENVIRONMENTS, ...NAMES].map((name) => redacted(`**/${name}`, '', SECRETS_PRIORITY)),
  redacted('**/.yarnrc.yml', 'ini', SECRETS_PRIORITY),
  // Elsewhere it is often a text in a language.
  ...['auth.json', '**/.*/auth.json'].map((name) => redacted(name, '', SECRETS_PRIORITY)),
  redacted('**/.envs/**', 'dotenv', DIRECTORIES_PRIORITY),
  ...[DIRECTORIES, WORDS].map((name) => redacted(`**/${name}/**`, '', DIRECTORIES_PRIORITY)),
  redacted('**/.aws/{config,credentials}', 'ini', EXAMPLES_PRIORITY),
  redacted('**/.kube/config', 'yaml', EXAMPLES_PRIORITY),
  ...EXAMPLES.map((name) => redacted(`**/${name}`, 'tokens', EXAMPLES_PRIORITY)),
  ...NAMES.map((name) => redacted(`**/${TESTS}/**/${name}`, 'tokens', EXAMPLES_PRIORITY)),
  // What their names and forms tell of: tests read settings like FOO=1 of their own.
  ...ENVIRONMENTS.map((name) => redacted(`**/${TESTS}/**/${name}`, 'ini', EXAMPLES_PRIORITY)),
  ...KEYS.map((name) => shown(`**/${TESTS}/**/${name}`)),
  redacted(`**/${WORDS}/**/${SOURCES}`, 'tokens', EXAMPLES_PRIORITY),
  redacted(`**/${INSTALLED}/**/${WORDS}/**`, 'tokens', DIRECTORIES_PRIORITY + 1),
  ...[...KEYS, '.npmrc'].map((name) => shown(`**/${INSTALLED}/**/${name}`)),
];

function redacted(pattern: string, redactor: string, priority: number): PermissionRule {
  return { ...aboutContents(pattern, priority), contents: 'redacted', ...(redactor !== '' && { redactor }) };
}

function shown(pattern: string): PermissionRule {
  return { ...aboutContents(pattern, NO_SECRETS_PRIORITY), contents: 'shown' };
}

function aboutContents(pattern: string, priority: number) {
  return { pattern, permission: 'PERMISSION_NONE', type: 'PATTERN_GLOB', priority } as const;
}
