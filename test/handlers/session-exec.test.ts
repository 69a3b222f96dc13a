import { describe, expect, it } from 'vitest';
import { sessionExec } from '../../handlers/session-exec.ts';
import { ServiceError } from '../../lib/errors.ts';
import type { CommandEvent } from '../../lib/runtime/runtime.ts';
import { execution, exit, output } from '../adapters/fake-services.ts';
import { call, json } from './call.ts';

const run = (...events: (CommandEvent | Error)[]) => {
  const outcome = () => ({ session_ended: true, session_reset: false });
  const sessions = { placeOf: () => undefined, exec: async () => ({ events: execution(...events), outcome }) };
  return call(sessionExec, { ...json({ command: 'x' }), pathParameters: { session_id: 'se_1' } }, { sessions });
};

describe('SessionExec', () => {
  it('answers like Exec, with what became of the session', async () => {
    const result = await run(output('a'), output('e', 'STDERR'), exit(2, 9));
    expect(result).toMatchObject({ exit_code: 2, duration_ms: 9, session_ended: true, session_reset: false });
    expect([String(result.stdout), String(result.stderr)]).toEqual(['a', 'e']);
  });

  it('has the output so far in the details of a timeout', async () => {
    const late = run(output('a'), new ServiceError('DEADLINE_EXCEEDED', 'late'));
    await expect(late).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED', details: [{ stdout: expect.anything() }] });
  });
});
