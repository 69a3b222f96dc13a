import type { IncomingMessage, ServerResponse } from 'node:http';

/** Headers of one connection only (RFC 9110, 7.6.1), and those that this proxy answers or makes itself. */
export const NOT_PASSED: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'x-paddock-network',
]);

/** Names and values in turn, without the headers of one connection. `shown`: a name as it is passed. */
export function passedHeaders(
  { rawHeaders, headers }: IncomingMessage,
  value: (text: string, name: string) => string | undefined,
  shown: (name: string) => string = (name) => name,
): string[] {
  const named = String(headers.connection ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase());
  const passed: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    const lower = name.toLowerCase();
    // A connection cannot declare the name of the server, or the length, to be its own matter.
    if (NOT_PASSED.has(lower) || (named.includes(lower) && lower !== 'host' && lower !== 'content-length')) continue;
    const text = value(rawHeaders[index + 1]!, lower);
    if (text !== undefined) passed.push(shown(name), text);
  }
  return passed;
}

/** An answer of the proxy itself: the sandbox can tell it from those of servers by its header. */
export function answerOfProxy(status: number, code: string, sentence: string): { headers: string[]; body: string } {
  const body = `paddock: ${sentence}\n`;
  const headers = [
    ...[
      'content-type',
      'text/plain; charset=utf-8',
      'x-paddock-network',
      `${status === 502 ? 'failed' : 'refused'}; code=${code}`,
    ],
    ...['content-length', String(Buffer.byteLength(body)), 'connection', 'close'],
  ];
  return { headers, body };
}

export function refuse(response: ServerResponse, status: number, code: string, sentence: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { headers, body } = answerOfProxy(status, code, sentence);
  response.writeHead(status, headers);
  response.end(body);
}
