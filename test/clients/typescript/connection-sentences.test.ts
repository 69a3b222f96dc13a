import { expect, it } from 'vitest';
import { connectionError } from '../../../clients/typescript/src/http/error-of.ts';

const failed = (code?: string) => new TypeError('fetch failed', { cause: Object.assign(new Error('e'), { code }) });

it.each([
  ['DEPTH_ZERO_SELF_SIGNED_CERT', /^the certificate of https:\/\/h is not trusted: set NODE_EXTRA_CA_CERTS to /],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /^the certificate of https:\/\/h is not trusted: /],
  ['CERT_HAS_EXPIRED', /^the certificate of https:\/\/h is not valid: CERT_HAS_EXPIRED$/],
  ['ERR_TLS_CERT_ALTNAME_INVALID', /^the certificate of https:\/\/h is not valid: /],
  ['ECONNREFUSED', /^no connection to https:\/\/h: ECONNREFUSED; is the server running/],
  ['ECONNRESET', /^the connection to https:\/\/h was lost: ECONNRESET$/],
  [undefined, /^cannot connect to https:\/\/h$/],
])('a failure of the connection says what to do: %s', (code, sentence) => {
  expect(connectionError(failed(code), 'https://h', 'health').message).toMatch(sentence);
});
