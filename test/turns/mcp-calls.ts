import type { Code } from '../../lib/errors.ts';
import { ADMIN } from './measured-server.ts';
import { OK, type Outcome } from './outcome.ts';

interface Answer {
  error?: { message: string };
  result?: { isError?: boolean; content?: { text?: string }[] };
}

/** Calls a tool of the face at `url`. */
export async function callTool(url: string, name: string, args: object): Promise<Outcome> {
  const { error, result } = await call(url, 'tools/call', { name, arguments: args });
  if (error) return { code: 'INVALID_ARGUMENT', message: error.message.slice(0, 150) };
  const text = result?.content?.[0]?.text ?? '';
  const refused = result?.isError ? /^(?<code>[A-Z_]+): (?<message>.{0,150})/.exec(text)?.groups : undefined;
  if (result?.isError && refused === undefined) return { code: 'UNKNOWN', message: text.slice(0, 150) };
  return refused ? { code: refused.code as Code, message: refused.message! } : OK;
}

async function call(url: string, method: string, params: object): Promise<Answer> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${ADMIN}`,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const text = await answer.text();
  return JSON.parse(text.startsWith('{') ? text : /^data: (.*)$/m.exec(text)![1]!) as Answer;
}
