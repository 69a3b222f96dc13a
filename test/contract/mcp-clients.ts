import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

export interface Answer {
  isError?: boolean;
  content: { type: string; text?: string }[];
  structuredContent?: Record<string, unknown>;
}

interface CallOptions {
  signal?: AbortSignal;
}

/** A client of any era. */
export interface McpClient {
  tools(): Promise<{ name: string; annotations?: object; inputSchema: object; outputSchema?: object }[]>;
  call(name: string, args?: object, options?: CallOptions): Promise<Answer>;
  /** What the server told it at the beginning. */
  instructions(): string;
  close(): Promise<void>;
}

export type Era = '2026-07-28' | '2025-11-25, new client' | '2025-11-25, old client';
export const ERAS: readonly Era[] = ['2026-07-28', '2025-11-25, new client', '2025-11-25, old client'];

const INFO = { name: 'test', version: '1' };

/** Connects a client of the era to an address of Streamable HTTP. */
export function connect(era: Era, url: string, key?: string): Promise<McpClient> {
  const options = { requestInit: { headers: key === undefined ? {} : { authorization: `Bearer ${key}` } } };
  const isOld = era === '2025-11-25, old client';
  return connected(
    era,
    isOld ? new Transport1(new URL(url), options) : new StreamableHTTPClientTransport(new URL(url), options),
  );
}

/** Starts a program that speaks MCP at its standard input and output. `said` gets what it writes to standard error. */
export function connectStdio(
  era: Era,
  args: readonly string[],
  env: Record<string, string>,
  said: (text: string) => void = () => undefined,
): Promise<McpClient> {
  const options = { command: process.execPath, args: [...args], env, stderr: 'pipe' as const };
  const transport = era === '2025-11-25, old client' ? new Stdio1(options) : new StdioClientTransport(options);
  transport.stderr?.on('data', (data: Buffer) => said(data.toString()));
  return connected(era, transport);
}

async function connected(era: Era, transport: object): Promise<McpClient> {
  if (era === '2025-11-25, old client') {
    const client = new Client1(INFO);
    await client.connect(transport as never);
    return wrapped(client as never);
  }
  const client = new Client(INFO, era === '2026-07-28' ? { versionNegotiation: { mode: { pin: era } } } : {});
  await client.connect(transport as never);
  return wrapped(client as never);
}

interface AnyClient {
  listTools(): Promise<{ tools: [] }>;
  callTool(...args: unknown[]): Promise<Answer>;
  getInstructions(): string | undefined;
  close(): Promise<void>;
}

function wrapped(client: AnyClient): McpClient {
  const isOld = client instanceof Client1;
  return {
    tools: async () => (await client.listTools()).tools,
    call: (name, args = {}, options = {}) => {
      const request = { name, arguments: args };
      return isOld ? client.callTool(request, undefined, options) : client.callTool(request, options);
    },
    instructions: () => client.getInstructions() ?? '',
    close: () => client.close(),
  };
}
