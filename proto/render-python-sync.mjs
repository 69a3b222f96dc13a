import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Modules that each of the two packages has in a form of its own, and the one that is generated. */
const OWN = new Set(['concurrency.py', 'opening.py', '__init__.py', 'api.py']);

/**
 * In this order. The words are Python's own names of the asynchronous protocols.
 *
 * @type {[RegExp, string][]}
 */
const REPLACEMENTS = [
  [/^from \.opening import Opening\n/gm, ''],
  [/\bOpening\[(\w+)\]/g, '$1'],
  [/\bOpening\((.*)\)$/gm, '$1'],
  [/\bAwaitable, /g, ''],
  [/\bAwaitable\[(\w+)\]/g, '$1'],
  [/\basync (def|with|for)\b/g, '$1'],
  [/\bawait /g, ''],
  [/\bhandle_async_request\b/g, 'handle_request'],
  [/\bAsyncByteStream\b/g, 'SyncByteStream'],
  [/\bAsyncGenerator\[(.*), None\]/g, 'Generator[$1, None, None]'],
  [/\basyncio\.run\((.*)\)/g, '$1'],
  [/\b__a(enter|exit|iter|next)__/g, '__$1__'],
  [/\bAsync([A-Z]\w*)/g, '$1'],
  [/\baclose\b/g, 'close'],
  [/\basynchronous\b/g, 'synchronous'],
];

/**
 * Returns the modules of the synchronous client by path: those of the asynchronous one without `async` and `await`, so
 * that the two cannot differ.
 */
export function renderPythonSync(directory) {
  const names = readdirSync(join(directory, '_async')).filter((name) => name.endsWith('.py') && !OWN.has(name));
  return Object.fromEntries(
    names.sort().map((name) => {
      const source = readFileSync(join(directory, '_async', name), 'utf8');
      return [join(directory, '_sync', name), toSync(name, source)];
    }),
  );
}

/** Returns a module without `async` and `await`. */
export function toSync(name, source) {
  const text = REPLACEMENTS.reduce((all, [from, to]) => all.replace(from, to), source);
  return `# Generated from _async/${name} by \`npm run generate\`; do not edit.\n${text}`;
}
