import { expect, it } from 'vitest';
import { sessionExecStream } from '../../handlers/session-exec-stream.ts';
import { execution, exit, output } from '../adapters/fake-services.ts';
import { call, json } from './call.ts';

it('SessionExecStream yields the output, and last the exit code with what became of the session', async () => {
  const outcome = () => ({ session_ended: false, session_reset: true });
  const sessions = {
    placeOf: () => undefined,
    exec: async () => ({ events: execution(output('a'), exit(3)), outcome }),
  };
  const request = { ...json({ command: 'x' }), pathParameters: { session_id: 'se_1' } };
  const chunks = [];
  for await (const chunk of await call(sessionExecStream, request, { sessions })) chunks.push(chunk);
  expect(chunks).toMatchObject([
    { data: Buffer.from('a') },
    { exit_code: 3, session_ended: false, session_reset: true },
  ]);
});
