import { expect, it } from 'vitest';
import { CommandTurns } from '../../../../lib/sandboxes/sessions/turns.ts';

it('gives no turn to a command that was cancelled in the same moment', async () => {
  const turns = new CommandTurns();
  const never = new AbortController().signal;
  await turns.take(never);
  const leaving = new AbortController();
  const left = expect(turns.take(leaving.signal)).rejects.toMatchObject({ code: 'CANCELLED' });
  leaving.abort();
  turns.next();
  await left;
  await turns.take(never);
});
