import type { PermissionRule } from '../contract/messages.ts';
import { EXAMPLES_PRIORITY, NO_SECRETS_PRIORITY, SECRETS_PRIORITY } from './preset-priorities.ts';

const KEYS = ['*.{pem,key,p12,pfx,jks,keystore,kdbx,ppk}', 'id_{rsa,dsa,ecdsa,ed25519,ecdsa_sk,ed25519_sk}'];
const DIRECTORIES = '{.ssh,.gnupg,.aws,.azure,.kube,.docker,.gcloud,secret,secrets,credential,credentials}';
const NAMES = [
  '.env*',
  '{.netrc,_netrc,.pgpass,.my.cnf,.htpasswd,.npmrc,.pypirc,.git-credentials,.vault-token,.dockercfg}',
  '{secret,secrets,credential,credentials}.{json,yml,yaml,toml,ini,txt,xml,properties,env}',
  '{service-account,service_account}*.json',
  '*.{tfstate,tfvars}',
  '*.tfstate.backup',
];
/** Of these, those below `DIRECTORIES` are programs that deal with secrets. */
const SOURCES =
  '{*.{c,cc,cpp,cs,css,cts,go,h,hpp,html,java,js,jsx,kt,less,md,mjs,mts,php,proto,py,pyi,rb,rs,rst,scala,scss,sql,svelte,swift,ts,tsx,vue},Dockerfile*}';
const TESTS = '{test,tests,__tests__,testing,testdata,test-data,fixtures,__fixtures__,spec,specs,e2e}';
const INSTALLED = '{node_modules,site-packages,dist-packages,vendor,third_party,bower_components}';

/**
 * Files whose names are those of secrets, in any directory: what is secret in them, their redactors find. Not in installed
 * packages, whose keys and certificates everybody has. The keys of tests are theirs alone.
 */
export const SECRETS: readonly PermissionRule[] = [
  ...[...KEYS, ...NAMES].map((name) => redacted(`**/${name}`, '', SECRETS_PRIORITY)),
  redacted(`**/${DIRECTORIES}/**`, '', SECRETS_PRIORITY),
  redacted('**/.aws/{config,credentials}', 'ini', EXAMPLES_PRIORITY),
  redacted('**/.kube/config', 'yaml', EXAMPLES_PRIORITY),
  redacted('**/.env*.{example,sample,template,dist,defaults}', 'tokens', EXAMPLES_PRIORITY),
  ...NAMES.map((name) => redacted(`**/${TESTS}/**/${name}`, 'tokens', EXAMPLES_PRIORITY)),
  shown(`**/${DIRECTORIES}/**/${SOURCES}`),
  ...KEYS.map((name) => shown(`**/${TESTS}/**/${name}`)),
  shown(`**/${INSTALLED}/**`),
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
