// Answers that are errors.

/** Statuses with a meaning of their own. */
const ABOUT = {
  400: ['BadRequest', 'The request is not valid, or what it names is not in a state for it.'],
  401: ['Unauthenticated', 'The call has no valid key.'],
  403: [
    'Forbidden',
    'The key may not do this, or the request comes from a web page of another origin or has another host.',
  ],
  404: ['NotFound', 'What the request names does not exist, or belongs to another owner.'],
  409: ['Conflict', 'The request conflicts with what is there, or with a change made meanwhile.'],
  416: ['RangeNotSatisfiable', 'The range begins after the end of the file.'],
  426: ['UpgradeRequired', 'The request must ask for a WebSocket.'],
  429: ['TooManyRequests', 'A limit of the server, of the owner or of the key is reached.'],
  499: [
    'ClientClosedRequest',
    'The client disconnected, or the server ended the call. Rarely seen by the client itself.',
  ],
  500: ['InternalError', 'The server failed, or found damaged data.'],
  503: ['Unavailable', 'The sandbox or the server cannot serve the call at the moment.'],
  504: ['Timeout', 'The timeout of the command is over; the details have the output so far.'],
};
const CODES_OF = { 416: ['OUT_OF_RANGE'], 426: ['INVALID_ARGUMENT'] };
const HEADERS_OF = { 401: ['WWWAuthenticate'], 416: ['ContentRange'], 429: ['RetryAfter'] };

export function errorSchema(codes) {
  const table = Object.entries(codes).map(([name, { grpc, http }]) => `- ${grpc}: \`${name}\` (${http})`);
  return {
    type: 'object',
    description: 'An error, in every answer with a status of 400 or more.',
    properties: {
      code: {
        type: 'integer',
        description: `Code of gRPC, with the status of HTTP that it has:\n\n${table.join('\n')}`,
        enum: Object.values(codes).map(({ grpc }) => grpc),
      },
      message: { type: 'string', description: 'One sentence that names the field and the allowed values.' },
      details: {
        type: 'array',
        description: 'More about the error, for example the output of a command whose timeout is over.',
        items: {},
      },
    },
    required: ['code', 'message', 'details'],
  };
}

/** The shared responses, by name. */
export function errorResponses(codes) {
  return Object.fromEntries(
    Object.entries(ABOUT).map(([status, [name, description]]) => {
      const names = CODES_OF[status] ?? Object.keys(codes).filter((code) => codes[code].http === Number(status));
      const headers = ['RequestId', ...(HEADERS_OF[status] ?? [])];
      return [
        name,
        {
          description: `${description} Codes: ${names.map((each) => `\`${each}\``).join(', ')}.`,
          headers: Object.fromEntries(
            headers.map((each) => [HEADER_NAMES[each], { $ref: `#/components/headers/${each}` }]),
          ),
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
          'x-codes': names,
        },
      ];
    }),
  );
}

/** Names of the shared headers as they are sent. */
export const HEADER_NAMES = {
  RequestId: 'X-Request-Id',
  WWWAuthenticate: 'WWW-Authenticate',
  ContentRange: 'Content-Range',
  RetryAfter: 'Retry-After',
  RateLimit: 'RateLimit-Limit',
  RateRemaining: 'RateLimit-Remaining',
  RateReset: 'RateLimit-Reset',
  ETag: 'ETag',
  LastModified: 'Last-Modified',
  AcceptRanges: 'Accept-Ranges',
};

const COMMANDS = /^(Session)?Exec$/;

/** The errors of a row of the table of operations, by status. `text`: the comments of its rpc and its request. */
export function errorsOf({ operation, kind, access, method, retry }, text) {
  const open = access.role === 'public';
  const statuses = [
    400,
    ...(open ? [] : [401]),
    403,
    ...(open ? [] : [404]),
    ...(retry !== 'read' || kind === 'download' || kind === 'bytes' || /ABORTED|ALREADY_EXISTS/.test(text)
      ? [409]
      : []),
    ...(kind === 'download' && method === 'GET' ? [416] : []),
    ...(kind === 'attach' ? [426] : []),
    429,
    499,
    500,
    503,
    ...(COMMANDS.test(operation) ? [504] : []),
  ];
  return Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/${ABOUT[status][0]}` }]));
}
