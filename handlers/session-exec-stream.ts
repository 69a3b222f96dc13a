import { define, sessionCommand } from './define.ts';
import { chunks } from './input/exec-chunks.ts';

/** The command was given to the shell when this resolves; it runs at the pace of the reader. */
export const sessionExecStream = define(
  'SessionExecStream',
  sessionCommand,
  async ({ request }, { services, signal }) => {
    const { events, outcome } = await services.sessions.exec(request, signal);
    return chunks(events, outcome);
  },
);
