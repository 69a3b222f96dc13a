import * as z from 'zod';
import type { ExecResponse } from '../../../lib/contract/messages.ts';
import { ServiceError } from '../../../lib/errors.ts';
import { notFound } from '../../../lib/not-found.ts';
import { answerOf, CHANGES, type Place, type ToolAnswer, tool } from '../tool.ts';
import { SHOWN_BYTES } from './output-window.ts';

/** Clients give up after 60 s by default. */
const TIMEOUT_SECONDS = 50;

export const sessionExec = tool({
  name: 'session_exec',
  operation: 'SessionExec',
  description:
    'Run a command in a shell that keeps directory, variables and functions for the next one. Without session_id a new shell, whose session_id is in the answer; the command exit ends it. Standard input is empty.',
  input: {
    command: z.string(),
    session_id: z.string().optional(),
    timeout: z
      .int()
      .min(1)
      .default(TIMEOUT_SECONDS)
      .describe('Seconds until the command is killed, and the state of the shell is lost'),
  },
  output: {
    output: z.string(),
    session_id: z.string(),
    exit_code: z.int(),
    session_ended: z.boolean(),
    session_reset: z.boolean(),
    omitted_bytes: z.int().optional(),
  },
  hints: CHANGES,
  async run({ command, session_id, timeout }, place: Place) {
    if (session_id !== undefined) {
      await checkPlace(place, session_id);
      return run(place, { session_id, command, timeout });
    }
    const { caller, sandbox_id } = place;
    const { id } = await caller.request('CreateSession', { sandbox_id });
    try {
      return await run(place, { session_id: id, command, timeout });
    } catch (error) {
      // The caller never received its id.
      await caller.takeBack('DestroySession', { session_id: id });
      throw error;
    }
  },
});

/** A key of an owner has sessions of other sandboxes, too, which the agent's face must not name. */
async function checkPlace({ caller, sandbox_id }: Place, session_id: string): Promise<void> {
  const session = await caller.request('GetSession', { session_id });
  if (session.sandbox_id !== sandbox_id) throw notFound('session', session_id);
}

async function run({ caller }: Place, request: { session_id: string; command: string; timeout: number }) {
  try {
    const answer = await caller.request('SessionExec', { ...request, merge: true, max_output: SHOWN_BYTES });
    return answerOfSession(request.session_id, answer);
  } catch (error) {
    throw withOutput(error, request.timeout);
  }
}

/** A model sees no details of errors. */
function withOutput(error: unknown, timeout: number): unknown {
  if (!(error instanceof ServiceError) || error.code !== 'DEADLINE_EXCEEDED') return error;
  const partial = error.details.find((each): each is { output: string } => Object(each).output !== undefined);
  const problem = `the command was killed after ${timeout} s, and the state of its shell is lost`;
  return new ServiceError(error.code, `${problem}: use exec for long commands\n${partial?.output ?? ''}`);
}

function answerOfSession(session_id: string, answer: ExecResponse): ToolAnswer {
  const { output, exit_code, session_ended, session_reset, output_dropped_bytes } = answer;
  const notes = [
    ...(exit_code === 0 ? [] : [`exit code ${exit_code}`]),
    ...(session_reset ? ['the shell was new: the one before was killed'] : []),
    session_ended ? 'the session has ended' : `session_id ${session_id}`,
  ];
  const text = `${output}${output === '' || output.endsWith('\n') ? '' : '\n'}[${notes.join('; ')}]`;
  return answerOf(text, {
    output,
    session_id,
    exit_code,
    session_ended,
    session_reset,
    ...(output_dropped_bytes > 0 && { omitted_bytes: output_dropped_bytes }),
  });
}
