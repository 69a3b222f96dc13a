// Frames of AttachProcess, as adapters/http/attach reads and sends them.

const frame = (type, properties = {}) => ({
  type: 'object',
  properties: { type: { const: type }, ...properties },
  required: ['type', ...Object.keys(properties)],
});
const integer = { type: 'integer' };
const string = { type: 'string' };

export const websocket = {
  client: {
    binary: 'The byte 0, then standard input.',
    text: {
      oneOf: [
        frame('stdin', { data: { ...string, description: 'Input as text.' } }),
        frame('eof'),
        frame('resize', { cols: integer, rows: integer }),
        frame('signal', { signal: { ...string, description: 'For example `SIGINT`.' } }),
        frame('ping'),
      ],
    },
  },
  server: {
    binary:
      'The byte 1: standard output, or output of the terminal; 2: standard error. The byte 3, and an offset as 8 bytes, big-endian: output of a terminal from before the client came; the offset is the position after it.',
    text: {
      oneOf: [
        frame('connected', { mode: { enum: ['pty', 'pipe'] }, writer: { type: 'boolean' }, offset: integer }),
        frame('gap', { bytes: integer, next: integer }),
        frame('exit', { exit_code: integer, end_reason: string }),
        frame('pong'),
        frame('error', { code: integer, message: string, details: { type: 'array', items: {} } }),
      ],
    },
  },
  close: {
    1000: 'The process has ended.',
    1001: 'The sandbox or the server ended.',
    1003: 'A binary frame without the byte 0.',
    1008: 'The call was refused; the `error` frame says why.',
    1011: 'The server failed.',
    1013: 'A limit is reached.',
    4001: 'Another client took over the input.',
  },
};

export const WEBSOCKET_TEXT = `Over HTTP it is a WebSocket: \`x-websocket\` has the frames. Binary frames are input and output; text frames are JSON.`;
