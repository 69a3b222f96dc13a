import { expect, it } from 'vitest';
import { Paddock } from '../../clients/typescript/src/index.ts';
import { cli } from '../clients/cli/cli.ts';

/** The whole error, as a log has it. */
const saidOf = async (act: () => unknown): Promise<{ name: string; message: string }> => {
  try {
    await act();
  } catch (thrown) {
    const { name, message, stack, cause } = thrown as Error;
    expect(`${message} ${stack} ${cause}`).not.toContain('CREDENTIAL');
    return { name, message };
  }
  throw new Error('nothing was refused');
};
const NAME = 'InvalidArgumentError';

it.each(['a\nCREDENTIAL', 'CREDENTIAL b', 'CREDENTIAL\u0416'])(
  'a key that no header can have is refused unsaid: %j',
  async (key) => {
    const message = 'key must be printable ASCII without spaces';
    expect(await saidOf(() => new Paddock({ url: 'http://127.0.0.1:1', key }))).toEqual({ name: NAME, message });
    const { code, stderr } = await cli(['ls'], { url: 'http://127.0.0.1:1', env: { PADDOCK_KEY: key } });
    expect([code, stderr]).toEqual([1, `paddock: ${message}\n`]);
  },
);

it.each(['http://user:CREDENTIAL@127.0.0.1:1', 'http://127.0.0.1:1?key=CREDENTIAL', 'http://CREDENTIAL@'])(
  'a url with a credential is refused unsaid: %s',
  async (url) => {
    expect(await saidOf(() => new Paddock({ url }))).toMatchObject({ name: NAME });
    const { code, stdout, stderr } = await cli(['ls'], { url });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^paddock: url must [^\n]*\n$/);
    expect(stderr).not.toContain('CREDENTIAL');
  },
);

it('a header that cannot be sent is refused by its name', async () => {
  const paddock = new Paddock({ url: 'http://127.0.0.1:1' });
  const said = await saidOf(() => paddock.health({ headers: { 'x-token': 'a\nCREDENTIAL' } }));
  expect(said).toMatchObject({ name: NAME, message: expect.stringContaining('"x-token"') });
});
