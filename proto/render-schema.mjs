const HEADER = `// Generated from proto/service/v1 by \`npm run generate\`; do not edit.
import * as messages from './messages.ts';

`;

/** Returns the fields and rpcs as TypeScript data. */
export function renderSchema({ enums, messages, rpcs }) {
  return [
    HEADER,
    'const { ',
    enums.map(({ name }) => name).join(', '),
    ' } = messages;\n\n',
    '/** Values of each enum, in order of their numbers, which count from 0. */\nexport const enums = { ',
    enums.map(({ name }) => name).join(', '),
    ' } as const;\n\n',
    '/** Fields of each message: name -> type. */\nexport const fields = {\n',
    ...messages.map(renderMessage),
    '} as const;\n\n',
    '/** Service, messages and streams of each rpc. */\nexport const rpcs = {\n',
    ...rpcs.map(renderRpc),
    '} as const;\n',
  ].join('');
}

function renderMessage({ name, fields }) {
  if (fields.length === 0) return `  ${name}: {},\n`;
  const own = fields.filter(({ isTwin }) => !isTwin);
  return `  ${name}: {\n${own.map(renderField).join('')}  },\n`;
}

function renderField({ name, type, repeated, map, optional, twin }) {
  const flags = Object.entries({ repeated, map, optional }).flatMap(([flag, set]) => (set ? [`, ${flag}: true`] : []));
  return `    ${name}: { type: '${type}'${flags.join('')}${twin ? `, twin: '${twin}'` : ''} },\n`;
}

function renderRpc({ name, service, request, response, requestStream, responseStream }) {
  return `  ${name}: { service: '${service}', request: '${request}', response: '${response}', requestStream: ${requestStream}, responseStream: ${responseStream} },\n`;
}
