/** The beginnings of tokens that say what the token is for, and nothing of its value. The longer ones first. */
const PREFIXES = [
  'github_pat_',
  'sk-ant-api03-',
  'sk-ant-',
  'sk-proj-',
  'sk_live_',
  'sk_test_',
  'pk_live_',
  'pk_test_',
  'rk_live_',
  'rk_test_',
  'whsec_',
  'dop_v1_',
  'glpat-',
  'pypi-',
  'shpat_',
  'xoxa-',
  'xoxb-',
  'xoxp-',
  'xoxr-',
  'xoxs-',
  'ghp_',
  'gho_',
  'ghu_',
  'ghs_',
  'ghr_',
  'npm_',
  'AKIA',
  'ASIA',
  'AIza',
  'SG.',
  'hf_',
  'sk-',
] as const;

/** Characters that follow the prefix at least: a shorter word is no token, and its prefix may be all of it. */
const SHORTEST_REST = 12;

/** The prefix of a token that may be shown; '' if there is none. */
export function prefixOf(value: string): string {
  if (/\s/.test(value)) return '';
  const prefix = PREFIXES.find((each) => value.startsWith(each));
  return prefix !== undefined && value.length >= prefix.length + SHORTEST_REST ? prefix : '';
}

const HEXADECIMAL = /^[0-9a-f]{32,}$/i;
const RANDOM = /^(?=.*[0-9])(?=.*[a-z])(?=.*[A-Z])[A-Za-z0-9+/_.-]{24,}$/;

/** Whether a word of a comment or a key looks like a token or a password of a program. */
export function looksSecret(word: string): boolean {
  return prefixOf(word) !== '' || HEXADECIMAL.test(word) || RANDOM.test(word);
}

/** As `looksSecret`, of a part of an address: names of repositories have dots and dashes. */
export function looksSecretInAddress(word: string): boolean {
  return prefixOf(word) !== '' || (looksSecret(word) && !/[._-]/.test(word));
}

const SECRET_NAME =
  /pass|pwd|secret|token|auth(?!or|ority|-type)|cred|cookie|session|private|otp|key(?!file|s$|word|board)/i;

/** Whether a setting of this name has a secret, whatever its value looks like. */
export function namesSecret(name: string): boolean {
  return SECRET_NAME.test(name);
}
