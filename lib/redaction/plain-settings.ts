import { namesSecret } from './secret-words.ts';

/** Names whose values count or measure something: a number at another name can be a PIN or a one-time code. */
const MEASURE =
  /(?:^|_)(?:port|timeout|ttl|interval|delay|retries|attempts|limit|size|count|workers|threads|concurrency|level|debug|verbose)(?:_(?:ms|seconds|minutes|hours|days|bytes|kb|mb))?$/i;
const NUMBER = /^\d{1,7}$/;
/** Environments and levels of logs. */
const WORD =
  /^(?:production|prod|development|dev|test|testing|staging|local|trace|debug|verbose|info|notice|warn|warning|error|fatal|silent)$/i;
/** This machine, without a user, a query, or a path that could be a token. */
const LOCAL =
  /^(?:[a-z][a-z0-9+]{0,15}:\/\/)?(?:localhost|127\.0\.0\.1|0\.0\.0\.0)(?::\d{1,5})?(?:\/[a-z]{0,16}\d?){0,3}$/;

/** Whether the value of an environment variable, with its quotes, cannot be a secret. What is in doubt, may be one. */
export function isPlainSetting(name: string, raw: string): boolean {
  if (raw.length > 128 || namesSecret(name)) return false;
  const value = raw.trimEnd().replace(/^(["'])(.*)\1$/, '$2');
  return WORD.test(value) || LOCAL.test(value) || (NUMBER.test(value) && MEASURE.test(name));
}
