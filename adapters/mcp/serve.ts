import { type CallToolResult, createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { hideKeys } from '../../lib/access/key-format.ts';
import { ServiceError } from '../../lib/errors.ts';
import { toServiceError } from '../../lib/host-error.ts';
import type { Log } from '../../lib/log.ts';
import type { Caller } from './caller.ts';
import { toolsOf } from './faces.ts';
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
}

const SERVER = { name: 'paddock', version: PADDOCK_VERSION };

const INSTRUCTIONS = {
  agent:
    'You work in a sandbox: files are in /workspace, commands run there. Rules decide which paths can be seen, read and written; explain_access says why. Nothing changes outside until the owner commits.',
  orchestrator:
    'Sandboxes are isolated copies of codebases. Create one, work in it with the tools that take sandbox_id, look at its changes, then commit or discard them.',
};

/**
 * Answers one message, of both eras of the protocol: those of 2026-07-28, and those of clients that begin with `initialize`.
 * No state is kept between messages.
 */
export function serveMessage({ sandboxId, caller, headers, message, signal, log }: McpRequest): Promise<Response> {
  const factory = () => {
    const face = sandboxId === undefined ? 'orchestrator' : 'agent';
    const server = new McpServer(SERVER, {
      capabilities: { tools: { listChanged: false } },
      instructions: INSTRUCTIONS[face],
    });
    for (const { name, description, input, output, hints, run } of toolsOf(sandboxId, caller)) {
      const config = {
        description,
        inputSchema: listedSchema(input),
        outputSchema: listedSchema(output),
        annotations: { ...hints, openWorldHint: false },
      };
      server.registerTool(name, config, (args) => run(args).catch((thrown) => refused(thrown, name, log)));
    }
    return server;
  };
  const onerror = (err: Error) => log.debug('mcp message refused', { err });
  // Nothing that is served here changes: nobody needs to listen.
  const handler = createMcpHandler(factory, { onerror, maxSubscriptions: 0 });
  const request = new Request('http://mcp.invalid/', { method: 'POST', headers, signal });
  return handler.fetch(request, { parsedBody: message });
}

/** A refusal is a result that the model reads, with the text that REST has. The text of a defect is for the log only. */
function refused(thrown: unknown, name: string, log: Log): CallToolResult {
  const error = toServiceError(thrown);
  if (!(thrown instanceof ServiceError)) log.error('tool failed', { tool: name, err: thrown });
  return { isError: true, content: [{ type: 'text', text: `${error.code}: ${hideKeys(error.message)}` }] };
}
