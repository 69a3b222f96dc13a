import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

export interface Seen {
  host: string;
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** What the model does: it runs this shell command, once, and then says that it is done. */
export interface Script {
  command: string;
  /** Of an agent without a shell: a file in its directory, and its new text. */
  file: string;
  content: string;
}

type Body = Record<string, unknown>;

/**
 * A model server of a few lines, which speaks as much of the APIs as agents need: messages of Anthropic, responses and chat
 * completions of OpenAI, and generateContent of Gemini. `seen` gets all requests.
 */
export function modelServer(script: () => Script, seen: Seen[]): RequestListener {
  return (request, response) => void answer(request, response, script(), seen);
}

async function answer(request: IncomingMessage, response: ServerResponse, script: Script, seen: Seen[]) {
  const { method = '', url: path = '', headers } = request;
  const body = await text(request);
  seen.push({ host: String(headers.host ?? headers[':authority']), method, path, headers, body });
  const parsed = body.startsWith('{') ? (JSON.parse(body) as Body) : {};
  const { pathname } = new URL(path, 'http://any');
  const events = method === 'POST' ? eventsOf(pathname, parsed, script) : undefined;
  if (events === undefined) {
    // No WebSockets: codex then uses requests.
    const status = headers.upgrade ? 426 : pathname.endsWith('/models') ? 200 : 404;
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ object: 'list', data: [], models: [] }));
    return;
  }
  if (!Array.isArray(events)) {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(events));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) {
    const { type } = event as { type?: string };
    response.write(
      `${type ? `event: ${type}\n` : ''}data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`,
    );
  }
  response.end();
}

/** Events of a stream, or one answer. */
function eventsOf(path: string, body: Body, script: Script): (Body | string)[] | Body | undefined {
  if (path.endsWith('/messages/count_tokens')) return { input_tokens: 10 };
  if (path.endsWith('/messages')) return messages(body, script);
  if (path.endsWith('/responses')) return responses(body, script);
  if (path.endsWith('/chat/completions')) return chat(body, script);
  if (path.endsWith(':streamGenerateContent')) return [gemini(body, script)];
  if (path.endsWith(':generateContent')) return gemini(body, script);
  if (path.endsWith(':countTokens')) return { totalTokens: 10 };
  return undefined;
}

const DONE = 'The file is written.';

interface Call {
  name: string;
  input: Body;
}

/** The input of the tools with which agents run shell commands. */
const SHELLS: Readonly<Record<string, (command: string) => Body>> = {
  Bash: (command) => ({ command, description: 'writes' }),
  bash: (command) => ({ command, description: 'writes' }),
  run_shell_command: (command) => ({ command, description: 'writes' }),
  exec_command: (cmd) => ({ cmd }),
  shell_command: (command) => ({ command }),
  shell: (command) => ({ command: ['sh', '-c', command] }),
};

function callOf(names: readonly string[], { command }: Script): Call | undefined {
  const name = Object.keys(SHELLS).find((each) => names.includes(each));
  return name === undefined ? undefined : { name, input: SHELLS[name]!(command) };
}

/** The whole file, as aider reads it. */
const asText = ({ file, content }: Script): string => `${file}\n\`\`\`\n${content}\`\`\`\n`;

const nameOf = (tool: unknown): string => {
  const { name, function: of } = tool as { name?: string; function?: { name: string } };
  return name ?? of?.name ?? '';
};

const toolsOf = (body: Body): string[] => ((body.tools as unknown[] | undefined) ?? []).map(nameOf);

function messages(body: Body, script: Script): Body[] | Body {
  const isDone = JSON.stringify(body.messages).includes('"tool_result"');
  const call = isDone ? undefined : callOf(toolsOf(body), script);
  const said = toolsOf(body).length === 0 ? asText(script) : DONE;
  const block = call ? { type: 'tool_use', id: 'toolu_1', name: call.name, input: {} } : { type: 'text', text: '' };
  const delta = call
    ? { type: 'input_json_delta', partial_json: JSON.stringify(call.input) }
    : { type: 'text_delta', text: said };
  const stop_reason = call ? 'tool_use' : 'end_turn';
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: body.model,
    usage: { input_tokens: 10, output_tokens: 10 },
  };
  if (!body.stream) {
    const content = [call ? { ...block, input: call.input } : { type: 'text', text: said }];
    return { ...message, content, stop_reason, stop_sequence: null };
  }
  return [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null, stop_sequence: null } },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 10 } },
    { type: 'message_stop' },
  ];
}

/** What the model says next: a call of a tool, of one that runs JavaScript with tools in it, or that it is done. */
function itemOf(body: Body, script: Script): Body {
  const input = JSON.stringify(body.input);
  const status = 'completed';
  const call = callOf(toolsOf(body), script);
  if (
    /"(custom_tool|function)_call_output"/.test(input) ||
    (call === undefined && !input.includes('"additional_tools"'))
  ) {
    const content = [{ type: 'output_text', text: DONE, annotations: [] }];
    return { type: 'message', id: 'item_1', role: 'assistant', status, content };
  }
  const common = { id: 'item_1', call_id: 'call_1', status };
  if (call) return { ...common, type: 'function_call', name: call.name, arguments: JSON.stringify(call.input) };
  const code = `text(await tools.exec_command({ cmd: ${JSON.stringify(script.command)} }))`;
  return { ...common, type: 'custom_tool_call', namespace: 'functions', name: 'exec', input: code };
}

function responses(body: Body, script: Script): Body[] | Body {
  const item = itemOf(body, script);
  const usage = {
    input_tokens: 10,
    output_tokens: 10,
    total_tokens: 20,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 },
  };
  const response = { id: 'resp_1', object: 'response', created_at: 1, model: body.model, status: 'in_progress' };
  const completed = { ...response, status: 'completed', output: [item], usage };
  if (!body.stream) return completed;
  return [
    { type: 'response.created', response: { ...response, output: [], usage: null } },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress' } },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: completed },
  ].map((event, index) => ({ ...event, sequence_number: index }));
}

function chat(body: Body, script: Script): (Body | string)[] | Body {
  const isDone = JSON.stringify(body.messages).includes('"role":"tool"');
  const call = isDone ? undefined : callOf(toolsOf(body), script);
  const content = call ? null : toolsOf(body).length === 0 ? asText(script) : DONE;
  const tool_calls = call && [
    { index: 0, id: 'call_1', type: 'function', function: { name: call.name, arguments: JSON.stringify(call.input) } },
  ];
  const finish_reason = call ? 'tool_calls' : 'stop';
  const said = { role: 'assistant', content, ...(tool_calls && { tool_calls }) };
  const answer = { id: 'chat_1', created: 1, model: body.model };
  const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
  if (!body.stream)
    return { ...answer, object: 'chat.completion', choices: [{ index: 0, message: said, finish_reason }], usage };
  const chunk = { ...answer, object: 'chat.completion.chunk' };
  return [
    { ...chunk, choices: [{ index: 0, delta: said, finish_reason: null }] },
    { ...chunk, choices: [{ index: 0, delta: {}, finish_reason }], usage },
    '[DONE]',
  ];
}

function gemini(body: Body, script: Script): Body {
  const isDone = JSON.stringify(body.contents).includes('"functionResponse"');
  const groups = (body.tools as { functionDeclarations?: unknown[] }[] | undefined) ?? [];
  const names = groups.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(nameOf));
  const call = isDone ? undefined : callOf(names, script);
  // How hard the task is, by which it chooses a model.
  const isJson = JSON.stringify(body.generationConfig ?? {}).includes('complexity_score');
  const said = isJson ? JSON.stringify({ complexity_reasoning: 'easy', complexity_score: 10 }) : DONE;
  const part = call ? { functionCall: { name: call.name, args: call.input } } : { text: said };
  return {
    candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 10, totalTokenCount: 20 },
  };
}
