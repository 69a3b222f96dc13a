import { expect, it } from 'vitest';
import { putSecret } from '../../handlers/secrets.ts';
import { call, json } from './call.ts';

const secret = { name: 'github', value: 'ghp_0123456789', hosts: ['api.github.com'] };

it.each([
  ['name', { name: 'a/b' }],
  ['name', { name: '' }],
  ['value', { value: '' }],
  ['value', { value: 'v'.repeat(65_537) }],
  ['value', { value: 5 }],
  ['value', { value: { a: 'ghp_0123456789' } }],
  ['hosts', { hosts: [] }],
  ['hosts[0]', { hosts: ['API.github.com'] }],
  ['hosts[0]', { hosts: ['*'] }],
  ['hosts[0]', { hosts: ['*.com'] }],
  ['hosts[0]', { hosts: ['192.0.2.1'] }],
  ['hosts[0]', { hosts: ['api.github.com:443'] }],
  ['hosts[0]', { hosts: ['https://api.github.com'] }],
  ['parts[0]', { parts: ['cookie'] }],
  ['shape', { shape: 'a b' }],
  ['header', { header: 'X-Api-Key' }],
  ['header', { header: 'x api' }],
  ['header', { header: 'x:' }],
  ['header', { header: 'x\n' }],
  ['header', { header: 'é' }],
  ['header', { header: 'x'.repeat(65) }],
  ['header', { header: 'host' }],
  ['header', { header: 'content-length' }],
  ['header', { header: 'transfer-encoding' }],
  ['header', { header: 'connection' }],
  ['header', { header: 'x-paddock-network' }],
])('refuses a wrong %s without showing the value: %j', async (field, wrong) => {
  const error = await call(putSecret, json({ ...secret, ...wrong }), {}).catch((each: Error) => each);
  expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining(field) });
  expect((error as Error).message).not.toContain('ghp_0123456789');
});

it.each(['x-api-key', 'authorization', 'cookie', 'hosts', 'connection-key', 'x'.repeat(64)])(
  'a value may go into the header %s',
  async (header) => {
    const put = async (request: object) => request as never;
    expect(await call(putSecret, json({ ...secret, header }), { secrets: { put } })).toMatchObject({ header });
  },
);

it('a body that is no JSON is refused without its text', async () => {
  const event = { ...json({}), body: '{"value": ghp_0123456789}' };
  const error = await call(putSecret, event, {}).catch((each: Error) => each);
  expect(String(error)).not.toContain('ghp_');
});
