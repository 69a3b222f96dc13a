import { type CallToolResult, createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { hideKeys } from '../../lib/access/key-format.ts';
import { ServiceError } from '../../lib/errors.ts';
import { toServiceError } from '../../lib/host-error.ts';
import type { Log } from '../../lib/log.ts';
import type { Granted } from '../../lib/services.ts';
import type { Caller } from './caller.ts';
import { toolsOf } from './faces.ts';
import { instructionsFor } from './instructions.ts';
import { listedSchema } from './json-schema.ts';

/** One message of a client. */
export interface McpRequest {
  /** The sandbox of the agent's face; undefined: the orchestrator's. */
  sandboxId: string | undefined;
  caller: Caller;
  headers: Headers;
  /** The parsed body: one JSON-RPC message. */
  message: object;
  signal: AbortSignal;
  log: Log;
  /** What the rules of the agent's sandbox grant; undefined: the orchestrator's face. */
  granted(): Promise<Granted | undefined>;
}

/** Methods whose answer has the instructions. */
const GREETINGS: ReadonlySet<unknown> = new Set(['initialize', 'server/discover']);
const SERVER = { name: 'paddock', version: PADDOCK_VERSION };

/**
 * Answers one message, of both eras of the protocol: those of 2026-07-28, and those of clients that begin with `initialize`.
 * No state is kept between messages.
 */
export async function serveMessage(request: McpRequest): Promise<Response> {
  const { sandboxId, caller, headers, message, signal, log, granted } = request;
  const isFirst = GREETINGS.has((message as { method?: unknown }).method);
  const instructions = isFirst ? instructionsFor(await granted()) : '';
  const factory = () => {
    const server = new McpServer(SERVER, {
      capabilities: { tools: { listChanged: false } },
      instructions,
    });
    for (const { name, description, input, output, hints, run } of toolsOf(sandboxId, caller)) {
      const config = {
        description,
        inputSchema: listedSchema(input),
        ...(output && { outputSchema: listedSchema(output) }),
        annotations: { ...hints, openWorldHint: false },
      };
      server.registerTool(name, config, (args) => run(args).catch((thrown) => refused(thrown, name, log)));
    }
    return server;
  };
  const onerror = (err: Error) => log.debug('mcp message refused', { err });
  // Nothing that is served here changes: nobody needs to listen.
  const handler = createMcpHandler(factory, { onerror, maxSubscriptions: 0 });
  const post = new Request('http://mcp.invalid/', { method: 'POST', headers, signal });
  return handler.fetch(post, { parsedBody: message });
}

/** A refusal is a result that the model reads, with the text that REST has. The text of a defect is for the log only. */
function refused(thrown: unknown, name: string, log: Log): CallToolResult {
  const error = toServiceError(thrown);
  if (!(thrown instanceof ServiceError)) log.error('tool failed', { tool: name, err: thrown });
  return { isError: true, content: [{ type: 'text', text: `${error.code}: ${hideKeys(error.message)}` }] };
}
