import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export type Answer = (res: ServerResponse, seen: Seen) => void;

/** A server that answers each request by the next of `answers`, and the last one for ever, until the test ends. */
export async function fakeServer(...answers: Answer[]): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer(async (req, res) => {
    let body = '';
    for await (const piece of req) body += piece;
    const answer = answers[Math.min(seen.length, answers.length - 1)]!;
    seen.push({ method: req.method ?? '', url: req.url ?? '', headers: req.headers, body });
    answer(res, seen.at(-1)!);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

export const json =
  (value: unknown, status = 200, headers: Record<string, string> = {}): Answer =>
  (res) =>
    res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));

export const refused = (code: number, status: number, headers: Record<string, string> = {}): Answer =>
  json({ code, message: 'refused', details: [] }, status, headers);

/** The service's answer for what does not exist. */
export const gone = (resourceType: string): Answer =>
  json(
    { code: 5, message: 'gone', details: [{ '@type': 'type.googleapis.com/google.rpc.ResourceInfo', resourceType }] },
    404,
  );

/** Ends the connection without an answer, or in the middle of one. */
export const cut =
  (begun = ''): Answer =>
  (res) => {
    if (begun === '') return res.destroy();
    res.writeHead(200, { 'content-type': 'application/x-ndjson' });
    res.write(begun, () => setImmediate(() => res.destroy()));
  };

export const lines =
  (...messages: object[]): Answer =>
  (res) =>
    res.writeHead(200).end(messages.map((each) => `${JSON.stringify(each)}\n`).join(''));
