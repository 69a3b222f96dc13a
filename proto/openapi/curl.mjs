/** Variables that stand for the ids in a path. */
const VARIABLES = {
  sandbox_id: '$SANDBOX',
  codebase_id: '$CODEBASE',
  process_id: '$PROCESS',
  session_id: '$SESSION',
  key_id: '$KEY_ID',
};

/** A line for a POSIX shell. It needs the variables `B` (the address of the server) and `KEY`, and those of its ids. */
export function curlLine({ operation, method, path, example }) {
  const { path: inPath = {}, query, body, file, form, curl } = example;
  const url = path.replace(/\{(\w+)\+?\}/g, (_, name) => variableOf(operation, name, inPath));
  const fields = Object.entries(form ?? {}).map(([name, value]) => `-F ${name}=${value}`);
  const how = methodOption(method, { body, file, form });
  return [
    'curl -sS',
    how,
    '-H "authorization: Bearer $KEY"',
    curl,
    `"$B${url}${query ? `?${queryOf(query)}` : ''}"`,
    file && `-T ${file}`,
    body && `-d ${quoted(body)}`,
    ...fields,
  ]
    .filter(Boolean)
    .join(' ');
}

function variableOf(operation, name, inPath) {
  const value = inPath[name] ?? VARIABLES[name];
  if (value === undefined) throw new Error(`the example of ${operation} needs path.${name}`);
  return value;
}

/** curl derives POST from -d and -F, and PUT from -T. */
function methodOption(method, { body, file, form }) {
  if (method === 'HEAD') return '-I';
  const derived = body || form ? 'POST' : file ? 'PUT' : 'GET';
  return method === derived ? undefined : `-X ${method}`;
}

const queryOf = (query) =>
  Object.entries(query)
    .map(([name, value]) => `${name}=${value}`)
    .join('&');

/** JSON in single quotes, with its variables in double quotes. */
function quoted(body) {
  const json = JSON.stringify(body).replaceAll("'", `'\\''`);
  return `'${json.replace(/\$[A-Z_]+/g, (variable) => `'"${variable}"'`)}'`;
}
