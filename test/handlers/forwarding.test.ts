import { describe, expect, it } from 'vitest';
import type { Handler, HandlerEvent } from '../../handlers/index.ts';
import { rpcs } from '../../lib/contract/schema.ts';
import { ServiceError } from '../../lib/errors.ts';
import { call, message } from './call.ts';
import { leaves, permittedRequest, type Row, restEvent, rows, servicesThat } from './permitted-requests.ts';

/** Their answers are made of events, or their requests of merge patches. */
const OWN = ['Exec', 'ExecStream', 'SessionExec', 'SessionExecStream', 'WatchNetwork', 'UpdateSandbox'];
const { signal } = new AbortController();
const ANSWER = { of: 'the service' };
const forwarding = rows.filter(
  ({ operation, kind }) => !OWN.includes(operation) && (kind === 'unary' || kind === 'events'),
);

/** Calls a handler with services that all do the same; returns what they were called with, and the answer. */
async function forwarded({ operation, handler }: Row, event: Partial<HandlerEvent>, outcome?: Error) {
  const calls: unknown[][] = [];
  const services = servicesThat((...args) => {
    calls.push(args.map((each) => (typeof each === 'function' ? 'a function' : each)));
    if (outcome) throw outcome;
    return operation === 'Fork' ? [ANSWER] : ANSWER;
  });
  const answer = await call(handler as Handler, event, { ...services, signal });
  return { calls, answer };
}

describe.each(forwarding.map((row) => [row.operation, row] as const))('%s', (_, row) => {
  it('passes the whole request to its service, the same one for both protocols, and answers with its answer', async () => {
    const request = permittedRequest(row);
    const rest = await forwarded(row, restEvent(row, request));
    const grpc = await forwarded(row, message(request));
    expect(rest).toEqual(grpc);
    expect(grpc.calls.length).toBe(1);
    expect(leaves(grpc.calls)).toEqual(expect.arrayContaining(leaves(request)));
    expect(leaves(grpc.answer)).toEqual(rpcs[row.operation].response === 'Empty' ? [] : leaves(ANSWER));
  });

  it('passes on an error of its service', async () => {
    const error = new ServiceError('NOT_FOUND', 'there is none');
    await expect(forwarded(row, message(permittedRequest(row)), error)).rejects.toBe(error);
  });

  it('refuses a field that it does not know', async () => {
    const refused = forwarded(row, message({ ...permittedRequest(row), nonsense: 1 }));
    await expect(refused).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(/^nonsense is not a known field/),
    });
  });
});

const defaults = rows.flatMap((row) =>
  Object.entries(row.handler.constraints).flatMap(([name, each]) =>
    each.default === undefined ? [] : [[row.operation, name, each.default, row] as const],
  ),
);

it.each(defaults)('%s without %s, or with 0, is one with %d', async (_, name, standard, row) => {
  const { [name]: __, ...request } = permittedRequest(row);
  const expected = await forwarded(row, message({ ...request, [name]: standard }));
  for (const each of [{}, { [name]: 0 }])
    expect(await forwarded(row, message({ ...request, ...each }))).toEqual(expected);
});
