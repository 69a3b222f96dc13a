/** A JSON-RPC message, as far as it is forwarded by it. */
export interface Message {
  id?: string | number | null;
  method?: string;
  params?: {
    name?: unknown;
    requestId?: unknown;
    _meta?: Record<string, unknown>;
  };
  result?: {
    protocolVersion?: unknown;
    structuredContent?: { process_id?: unknown; running?: unknown };
  };
  error?: unknown;
}

/** Codes of JSON-RPC. */
const NO_JSON = -32_700;
const NO_REQUEST = -32_600;

/** The message of a line, or the answer to one that is none. */
export function readMessage(line: string): { message: Message } | { refusal: object } {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { refusal: errorMessage(null, NO_JSON, 'the line is not valid JSON') };
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { message: value as Message };
  const reason = Array.isArray(value)
    ? 'batches are not accepted: send each message by itself'
    : 'the line is not a JSON object';
  return { refusal: errorMessage(null, NO_REQUEST, reason) };
}

export const errorMessage = (id: Message['id'], code: number, message: string): object => ({
  jsonrpc: '2.0',
  id: id ?? null,
  error: { code, message },
});

const VERSION = 'io.modelcontextprotocol/protocolVersion';

/** The revision that a message says it is of: only those since 2026-07-28 do. */
export const versionOf = ({ params }: Message): string | undefined => {
  const version = params?._meta?.[VERSION];
  return typeof version === 'string' ? version : undefined;
};

/** Headers that repeat parts of the message, which the server compares. */
export function headersOf(message: Message, version: string): Record<string, string> {
  const { method = '', params } = message;
  const name = typeof params?.name === 'string' ? params.name : undefined;
  return {
    'mcp-protocol-version': inHeader(version),
    'mcp-method': inHeader(method),
    ...(name !== undefined && { 'mcp-name': inHeader(name) }),
  };
}

/** A header has visible ASCII only: other values are encoded as the protocol says. */
const inHeader = (value: string): string =>
  /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !value.startsWith('=?base64?')
    ? value
    : `=?base64?${Buffer.from(value).toString('base64')}?=`;
