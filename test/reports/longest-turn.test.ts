import { Client, credentials } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '../../adapters/mcp/caller.ts';
import { toolsOf } from '../../adapters/mcp/faces.ts';
import { operations } from '../../handlers/index.ts';
import type { Rpc } from '../../handlers/input/request-fields.ts';
import { callRpc } from '../turns/grpc-calls.ts';
import { type Door, type Input, inOrder, inputs } from '../turns/inputs.ts';
import { callTool } from '../turns/mcp-calls.ts';
import { type Figures, MeasuredServer } from '../turns/measured-server.ts';
import type { Outcome } from '../turns/outcome.ts';
import { callRoute } from '../turns/rest-calls.ts';
import { inOrderOfTools, toolInputs } from '../turns/tool-inputs.ts';
import { makeWorld, type World } from '../turns/world.ts';

/**
 * Milliseconds of the longest turn of the main thread. What a turn waits for is shown only: on a busy machine a page that the
 * kernel has no room for takes longer than all of its work.
 */
const WORK_MS = Number(process.env.PADDOCK_TURN_MS ?? 50);
const MOST = { work: WORK_MS, cpu: 3 * WORK_MS };
const SHOWN = 12;

let server: MeasuredServer;
let world: World;
const measured: (Figures & { name: string })[] = [];

beforeAll(async () => {
  server = await MeasuredServer.start();
});

afterAll(async () => {
  await server?.stop();
  const longest = measured.toSorted((a, b) => b.cpu + b.waited - a.cpu - a.waited).slice(0, SHOWN);
  const lines = longest.map(({ name, ...figures }) => {
    const shown = Object.entries(figures).map(([figure, ms]) => `${figure} ${ms.toFixed(1)} ms`);
    return `${name}: ${shown.join(', ')}`;
  });
  process.stdout.write(`The longest turns:\n${lines.join('\n')}\n`);
});

/** Makes the calls in turn. They must have their outcomes, and no turn of the server may be too long. */
async function expectShort(
  name: string,
  calls: readonly { expected?: Outcome['code'] | undefined; call: () => Promise<Outcome> }[],
): Promise<void> {
  const problems: string[] = [];
  for (const [index, { call, expected = 'ok' }] of calls.entries()) {
    const { result, ...figures } = await server.measure(call);
    const input = `${name}, input ${index}`;
    measured.push({ name: input, ...figures });
    if (result.code !== expected)
      problems.push(`${input}: ${expected} expected, got ${result.code}: ${result.message}`);
    for (const [figure, most] of Object.entries(MOST)) {
      const ms = figures[figure as keyof typeof MOST];
      if (ms > most) problems.push(`${input}: a turn has ${ms.toFixed(1)} ms (${figure}), and ${most} are permitted`);
    }
  }
  expect(problems).toEqual([]);
}

const rows = inOrder(operations.filter(({ operation }) => operation !== 'Health'));
const rpcNames = [...new Set(rows.map(({ operation }) => operation as Rpc))];
const isOver = (door: Door) => (input: Input) => input.only === undefined || input.only === door;
const noCaller = {} as Caller;
const ofAgent = toolsOf('sb_1', noCaller);
const names = new Set(ofAgent.map(({ name }) => name));
/** A tool that both have does the same for both: of an owner, the others are measured. */
const faces = { agent: ofAgent, owner: toolsOf(undefined, noCaller).filter(({ name }) => !names.has(name)) };

describe('no turn of the main thread is long for the largest input of', () => {
  describe('an operation over REST', () => {
    beforeAll(async () => {
      world = await makeWorld(server);
    });

    it.each(rows.map((row) => [row.method, row.operation as Rpc, row] as const))('%s %s', async (method, name, row) => {
      const calls = inputs[name](world)
        .filter(isOver('REST'))
        .map((input) => ({
          expected: input.code,
          call: () => callRoute(server, row, input),
        }));
      await expectShort(`REST ${method} ${name}`, calls);
    });
  });

  describe('an operation over gRPC', () => {
    let client: Client;
    beforeAll(async () => {
      client = new Client(server.grpcAddress, credentials.createInsecure(), { 'grpc.max_receive_message_length': -1 });
      world = await makeWorld(server);
    });
    afterAll(() => client?.close());

    it.each(rpcNames)('%s', async (name) => {
      const calls = inputs[name](world)
        .filter(isOver('gRPC'))
        .map((input) => ({
          expected: input.code,
          call: () => callRpc(client, name, input),
        }));
      await expectShort(`gRPC ${name}`, calls);
    });
  });

  describe.each(Object.entries(faces))('a tool of MCP, of an %s', (face, tools) => {
    beforeAll(async () => {
      world = await makeWorld(server);
      // The library of the protocol is loaded by the first message of a server.
      await callTool(`${server.url}/mcp`, 'sandbox_list', {});
    });

    const inputOf = Object.fromEntries(tools.map(({ name, input }) => [name, input.shape]));
    it.each(inOrderOfTools(Object.keys(inputOf)))('%s', async (name) => {
      const { sandbox_id } = world;
      const isAgent = face === 'agent';
      const url = server.url + (isAgent ? `/v1/sandboxes/${sandbox_id}/mcp` : '/mcp');
      const calls = toolInputs(name, inputOf[name]!, world).map(({ args, code }) => ({
        expected: code,
        call: () => callTool(url, name, isAgent ? args : { ...args, sandbox_id }),
      }));
      await expectShort(`MCP ${face} ${name}`, calls);
    });
  });
});
