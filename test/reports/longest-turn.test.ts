import { Client, credentials } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Operation, operations } from '../../handlers/index.ts';
import type { Rpc } from '../../handlers/input/request-fields.ts';
import { callGrpc } from '../adapters/access-calls.ts';
import { callRoute, callTool } from '../turns/calls.ts';
import { inOrder, inputs } from '../turns/inputs.ts';
import { ADMIN, type Figures, MeasuredServer } from '../turns/measured-server.ts';
import { toolInputs } from '../turns/tool-inputs.ts';
import { makeWorld, type World } from '../turns/world.ts';

/**
 * CPU milliseconds of the main thread in one turn of the event loop. A long collection of garbage in it is not counted: its
 * time is that of the whole heap, and not of the input.
 */
const MOST = 50;

let server: MeasuredServer;
const figures: (Figures & { name: string; outcome: string })[] = [];

beforeAll(async () => {
  server = await MeasuredServer.start();
});

afterAll(async () => {
  await server?.stop();
  const rows = figures.toSorted((a, b) => b.turn - a.turn);
  process.stdout.write(
    `${rows.map(({ name, turn, gc, outcome }) => `${name.padEnd(44)} ${turn.toFixed(1).padStart(7)} ms, gc ${gc.toFixed(1).padStart(5)}  ${outcome}`).join('\n')}\n`,
  );
});

async function measure(name: string, call: () => Promise<string>): Promise<void> {
  const { turn, gc, result } = await server.measure(call);
  figures.push({ name, turn, gc, outcome: result });
}

const tooLong = (from: string) => figures.filter(({ name, turn, gc }) => name.startsWith(from) && turn - gc > MOST);

const rpcRows: readonly Operation[] = operations.filter(({ operation }) => operation !== 'Health');
const rpcNames = [...new Set(rpcRows.map(({ operation }) => operation as Rpc))];

describe('no turn of the main thread takes more than 50 ms of CPU time for the largest input of', () => {
  let world: World;

  it('an operation over REST', async () => {
    world = await makeWorld(server);
    expect(rpcNames.filter((name) => inputs[name] === undefined)).toEqual([]);
    for (const row of inOrder(rpcRows)) {
      const name = row.operation as Rpc;
      for (const [index, { request, bytes }] of inputs[name](world).entries()) {
        await measure(`REST ${row.method} ${name} ${index}`, () => callRoute(server.url, row, request, bytes));
      }
    }
    expect(tooLong('REST')).toEqual([]);
  }, 600_000);

  it('an operation over gRPC', async () => {
    world = await makeWorld(server);
    const client = new Client(server.grpcAddress, credentials.createInsecure(), {
      'grpc.max_receive_message_length': -1,
    });
    for (const row of inOrder(rpcNames.map((name) => rpcRows.find(({ operation }) => operation === name)!))) {
      const name = row.operation as Rpc;
      for (const [index, { request, bytes }] of inputs[name](world).entries()) {
        const whole = bytes ? { ...request, chunk: bytes.subarray(0, 3_000_000) } : request;
        await measure(`gRPC ${name} ${index}`, () => callGrpc(client, name, whole, ADMIN));
      }
    }
    client.close();
    expect(tooLong('gRPC')).toEqual([]);
  }, 600_000);

  it('a tool of MCP', async () => {
    world = await makeWorld(server);
    const { sandbox_id } = world;
    const faces = [
      ['agent', `/v1/sandboxes/${sandbox_id}/mcp`, {}],
      ['owner', '/mcp', { sandbox_id }],
    ] as const;
    const listed = [];
    for (const [face, path, place] of faces) {
      const names = await toolNames(path);
      listed.push(...names);
      const known = Object.keys(toolInputs);
      for (const name of names.toSorted((a, b) => known.indexOf(a) - known.indexOf(b))) {
        for (const [index, args] of toolInputs[name]?.(world).entries() ?? []) {
          await measure(`MCP ${face} ${name} ${index}`, () => callTool(server.url, path, name, { ...args, ...place }));
        }
      }
    }
    expect(listed.filter((name) => toolInputs[name] === undefined)).toEqual([]);
    expect(tooLong('MCP')).toEqual([]);
  }, 600_000);
});

async function toolNames(path: string): Promise<string[]> {
  const answer = await fetch(server.url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${ADMIN}`,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
  const text = await answer.text();
  const message = JSON.parse(text.startsWith('{') ? text : /^data: (.*)$/m.exec(text)![1]!);
  return message.result.tools.map(({ name }: { name: string }) => name);
}
