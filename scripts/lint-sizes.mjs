/**
 * Refuses files of more than 300 lines and functions of more than 60, unless a comment at the top of the file gives the
 * reason after "Size:". Part of `npm run lint`; exit code 1 names each.
 * usage: lint-sizes.mjs [DIRECTORY]
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const ROOMS = ['app', 'adapters', 'handlers', 'lib', 'local-refusals', 'bench', 'scripts', 'proto', 'clients'];
const GENERATED = new Set([
  'lib/contract/messages.ts',
  'lib/contract/schema.ts',
  'clients/typescript/src/contract/messages.ts',
  'clients/typescript/src/contract/operations.ts',
]);
const FILE_LINES = 300;
const FUNCTION_LINES = 60;

const root = process.argv[2] ?? '.';
const problems = [];
for (const room of ROOMS) {
  for (const name of list(join(root, room))) {
    const file = `${room}/${name}`;
    if (!/\.(ts|mjs)$/.test(file) || /\/(dist|node_modules)\//.test(file) || GENERATED.has(file)) continue;
    const text = readFileSync(join(root, file), 'utf8');
    const found = tooLong(file, text);
    if (!hasReason(text)) problems.push(...found);
  }
}
for (const problem of problems) process.stdout.write(`${problem}\n`);
if (problems.length > 0) {
  process.stdout.write('Divide these, or give the reason at the top of the file: // Size: REASON\n');
  process.exitCode = 1;
}

function list(directory) {
  try {
    return readdirSync(directory, { recursive: true, encoding: 'utf8' });
  } catch {
    return [];
  }
}

function tooLong(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  const lineOf = (position) => source.getLineAndCharacterOfPosition(position).line + 1;
  const lines = lineOf(text.trimEnd().length);
  const found = lines > FILE_LINES ? [`${file}: ${lines} lines, at most ${FILE_LINES}`] : [];
  const visit = (node) => {
    if (ts.isFunctionLike(node) && 'body' in node) {
      const first = lineOf(node.getStart(source));
      const length = lineOf(node.end) - first + 1;
      if (length > FUNCTION_LINES)
        found.push(`${file}:${first}: a function of ${length} lines, at most ${FUNCTION_LINES}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Whether a comment before the first statement has a line `Size: ...`. */
function hasReason(text) {
  const comments = ts.getLeadingCommentRanges(text, ts.getShebang(text)?.length ?? 0) ?? [];
  return comments.some(({ pos, end }) => /^[\s/*]*Size: \S/m.test(text.slice(pos, end)));
}
