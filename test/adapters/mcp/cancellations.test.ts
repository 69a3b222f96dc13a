import { expect, it } from 'vitest';
import { Cancellations } from '../../../adapters/mcp/cancellations.ts';

it('50l: cancels the request with this id, of this key and session, while it runs', () => {
  const cancellations = new Cancellations();
  const session = cancellations.newSession();
  expect(cancellations.newSession()).not.toBe(session);
  const { signal, end } = cancellations.begin('key', session, 1);
  cancellations.cancel('other', session, 1);
  cancellations.cancel('key', cancellations.newSession(), 1);
  cancellations.cancel('key', session, '1');
  cancellations.cancel('key', undefined, 1);
  cancellations.cancel('key', session, { id: 1 });
  expect(signal.aborted).toBe(false);
  cancellations.cancel('key', session, 1);
  expect(signal.reason).toMatchObject({ code: 'CANCELLED' });
  end();
  const again = cancellations.begin('key', session, 1);
  again.end();
  cancellations.cancel('key', session, 1);
  expect(again.signal.aborted).toBe(false);
  const nameless = cancellations.begin('key', undefined, 1);
  cancellations.cancel('key', undefined, 1);
  expect(nameless.signal.aborted).toBe(false);
});
