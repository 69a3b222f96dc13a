import { DEFAULT_OUTPUT_BYTES } from '../lib/command-limits.ts';
import { ExecMemory } from '../lib/exec-memory.ts';
import { define, LISTS, sessionCommand } from './define.ts';
import { afterTimeout } from './input/after-timeout.ts';
import { ExecOutput } from './input/exec-output.ts';
import { collect, type ExecResult } from './input/exec-result.ts';

/** Runs a command in a session to its end. After a timeout, the output so far is in the details of the error. */
export const sessionExec = define(
  {
    rpc: 'SessionExec',
    route: 'POST /v1/sessions/{session_id}/exec',
    access: { role: 'agent', scope: 'exec', on: 'session' },
    retry: 'again',
    counts: ['command'],
    maxBody: LISTS,
    example: { body: { command: 'cd src; pwd' } },
    constraints: sessionCommand,
  },
  async ({ request }, { services, signal, answered, answerBytes }): Promise<ExecResult> => {
    const { limits, sessions } = services;
    const sandboxId = sessions.placeOf(request.session_id)?.sandbox ?? '';
    const late = { services, sandboxId };
    const memory = new ExecMemory(limits?.execMemory, sandboxId);
    answered?.(() => memory.release());
    try {
      const { events, outcome } = await sessions.exec(request, signal);
      const output = new ExecOutput(
        request,
        { stream: limits?.execOutputBytes ?? DEFAULT_OUTPUT_BYTES, answer: answerBytes },
        memory,
      );
      const result = await collect(events, output, (error, partial) => afterTimeout(error, late, partial));
      return { ...result, ...outcome() };
    } finally {
      // Held until the response is sent, if the adapter reports that.
      if (!answered) memory.release();
    }
  },
);
