import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
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
  close(): Promise<void>;
}

export type Era = '2026-07-28' | '2025-11-25, new client' | '2025-11-25, old client';
export const ERAS: readonly Era[] = ['2026-07-28', '2025-11-25, new client', '2025-11-25, old client'];

const INFO = { name: 'test', version: '1' };

/** Connects a client of the era to an address of Streamable HTTP. */
export async function connect(era: Era, url: string, key?: string): Promise<McpClient> {
  const options = { requestInit: { headers: key === undefined ? {} : { authorization: `Bearer ${key}` } } };
  if (era === '2025-11-25, old client') {
    const client = new Client1(INFO);
    await client.connect(new Transport1(new URL(url), options) as never);
    return wrapped(client as never);
  }
  const client = new Client(INFO, era === '2026-07-28' ? { versionNegotiation: { mode: { pin: era } } } : {});
  await client.connect(new StreamableHTTPClientTransport(new URL(url), options));
  return wrapped(client as never);
}

interface AnyClient {
  listTools(): Promise<{ tools: [] }>;
  callTool(...args: unknown[]): Promise<Answer>;
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
    close: () => client.close(),
  };
}
