import { describe, expect, it } from 'vitest';
import { TooLongError } from '../../../../lib/network/inspection/replacer.ts';
import { SecretUse } from '../../../../lib/network/inspection/secret-use.ts';

const HOST = 'api.test';

function secret(value: string, placeholder = 'pdk_secret_token_0123456789abcdef') {
  return { name: 'token', placeholder, value, hosts: [HOST], in: ['header', 'query', 'body'] as const };
}

function shown(use: SecretUse, text: string): string {
  return use.reflected()!.whole(Buffer.from(text)).toString();
}

describe('a value that a server reflects is found', () => {
  const value = 'v"<al>/ué&\'+';
  const json = JSON.stringify(value).slice(1, -1);

  it.each([
    ['as it is', value],
    ['in a URL', encodeURIComponent(value)],
    ['in a URL in lower case', encodeURIComponent(value).replace(/%../g, (each) => each.toLowerCase())],
    ['in a form', new URLSearchParams({ a: value }).toString().slice(2)],
    ['in JSON', json],
    ['in JSON with slashes escaped', json.replaceAll('/', '\\/')],
    ['in HTML', 'v&quot;&lt;al&gt;/ué&amp;&#39;+'],
  ])('%s', (_, text) => {
    const use = new SecretUse([secret(value)], HOST);
    expect(shown(use, `a ${text} b`)).toBe(`a ${secret(value).placeholder} b`);
  });

  it.each(['', 'u', 'ab', 'user:', 'a longer user:'])('in Basic authentication after %j', (before) => {
    const token = 'ghp_0123456789abcdef';
    const use = new SecretUse([secret(token)], HOST);
    const sent = use.header(`Basic ${Buffer.from(`${before}${secret(token).placeholder}`).toString('base64')}`, 'a');
    expect(Buffer.from(sent.slice(6), 'base64').toString()).toBe(before + token);
    const answer = Buffer.from(shown(use, sent).slice(6), 'base64').toString('latin1');
    // The two ends share a byte's bits with what is beside them.
    expect(answer).not.toContain(token.slice(1, -1));
    expect(answer.slice(before.length + 1, -1)).not.toMatch(/[0-9a-f]{3}/);
  });

  it('also if another value begins it', () => {
    const use = new SecretUse([secret('password', 'SHORT'), secret('password-of-ann', 'LONG')], HOST);
    expect(shown(use, 'password-of-ann, password')).toBe('LONG, SHORT');
  });
});

it('what is searched for is prepared once for all hosts', () => {
  const one = { ...secret('"'.repeat(65_536)), hosts: ['*.test'] };
  const before = process.memoryUsage().arrayBuffers;
  const uses = Array.from({ length: 20 }, (_, at) => new SecretUse([one], `${at}.test`));
  expect(uses.map((use) => shown(use, `a ${one.value}`))).toEqual(uses.map(() => `a ${one.placeholder}`));
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(40_000_000);
});

it('a header, a URL or a body does not grow without bound', () => {
  const { placeholder } = secret('');
  const use = new SecretUse([secret('x'.repeat(65_536))], HOST);
  expect(use.header(placeholder, 'a')).toHaveLength(65_536);
  const many = placeholder.repeat(1000);
  expect(() => use.header(many, 'a')).toThrow(TooLongError);
  expect(() => use.url(`/?${many}`)).toThrow(TooLongError);
  const body = use.body('text/plain')!;
  expect(() => {
    for (let chunk = 0; chunk < 10; chunk++) body.push(Buffer.from(placeholder));
  }).toThrow(TooLongError);
});
