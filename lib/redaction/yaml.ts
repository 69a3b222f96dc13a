import { CST, Lexer, Parser } from 'yaml';
import { isConstant, joinKeys, placeOf, type Span } from './span.ts';

/** Lexical tokens in one step, and tokens of the tree. */
const TOKENS_PER_STEP = 48;
/** Lexical tokens of a file at most: the tree of each takes some hundred bytes. */
const MAX_TOKENS = 60_000;
/** Collections in each other: the parser looks through the empty lines behind one again for each that they end. */
const MAX_DEPTH = 100;
const MAX_KEY_LENGTH = 256;
/** Of the names in a key, the innermost. */
const MAX_NAMES = 32;
/** The rest of a directive's line could be anything. */
const DIRECTIVE = /^%(YAML [0-9.]+|TAG !\S* \S+)\s*$/;

type Names = readonly (string | number)[];
/** A token that is still to be looked at. */
type Waiting = [token: CST.Token, names: Names];

/** YAML. Keys are the plain and quoted keys of one line; all other scalars are values. */
export function* yamlValues(text: string): Generator<undefined, Span[] | undefined, void> {
  const documents = yield* parsed(text);
  if (documents === undefined) return undefined;
  const spans: Span[] = [];
  const waiting: Waiting[] = documents.map((document): Waiting => [document, []]).reverse();
  let looked = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (++looked % TOKENS_PER_STEP === 0) yield;
    const [token, names] = next;
    if (CST.isScalar(token)) {
      if (token.type !== 'block-scalar' && !areShown(token.end)) return undefined;
      addSpan(spans, token, names);
    } else {
      const below = tokensIn(token, names);
      if (below === undefined) return undefined;
      for (const each of below.reverse()) waiting.push(each);
    }
  }
  return spans.sort((a, b) => a.start - b.start);
}

/** undefined: an error, or too many tokens. */
function* parsed(text: string): Generator<undefined, CST.Token[] | undefined, void> {
  const documents: CST.Token[] = [];
  const parser = new Parser();
  let count = 0;
  for (const lexeme of new Lexer().lex(text)) {
    for (const document of parser.next(lexeme)) documents.push(document);
    if (++count > MAX_TOKENS || parser.stack.length > MAX_DEPTH) return undefined;
    if (count % TOKENS_PER_STEP === 0) yield;
  }
  for (const document of parser.end()) documents.push(document);
  return documents;
}

/** The tokens with values in a token that is no value itself; undefined: it is none that may be shown. */
function tokensIn(token: CST.Token, names: Names): Waiting[] | undefined {
  switch (token.type) {
    case 'document':
      if (!areShown(token.start) || !areShown(token.end)) return undefined;
      return token.value === undefined ? [] : [[token.value, names]];
    case 'doc-end':
      return areShown(token.end) ? [] : undefined;
    case 'directive':
      return DIRECTIVE.test(token.source) ? [] : undefined;
    case 'alias':
      return areShown(token.end) ? [] : undefined;
    case 'block-map':
    case 'block-seq':
      return tokensOfItems(token.items, names);
    case 'flow-collection':
      return areShown(token.end) ? tokensOfItems(token.items, names) : undefined;
    default:
      return isShown(token) ? [] : undefined;
  }
}

function tokensOfItems(items: readonly CST.CollectionItem[], names: Names): Waiting[] | undefined {
  const found: Waiting[] = [];
  for (const [index, { start, key, sep, value }] of items.entries()) {
    if (!areShown(start) || !areShown(sep) || isCompact(sep, value)) return undefined;
    const name = nameOf(start, key, sep);
    const below = [...names.slice(1 - MAX_NAMES), name ?? index];
    if (key && name === undefined) found.push([key, below]);
    if (value !== undefined) found.push([value, below]);
  }
  return found;
}

/**
 * Whether a map or sequence begins in the line of its key, which YAML does not permit: a value with a colon in it would be
 * taken for a key.
 */
function isCompact(sep: readonly CST.SourceToken[] | undefined, value: CST.Token | undefined): boolean {
  if (value?.type !== 'block-map' && value?.type !== 'block-seq') return false;
  const before = [...(sep ?? []), ...(value.items[0]?.start ?? [])];
  return sep !== undefined && sep.length > 0 && !before.some(({ type }) => type === 'newline');
}

/** The name of a key that is shown. In a flow collection an element without a value has the form of a key, too. */
function nameOf(
  start: readonly CST.SourceToken[],
  key: CST.Token | null | undefined,
  sep: readonly CST.SourceToken[] | undefined,
): string | undefined {
  if (!key || key.type === 'block-scalar' || !CST.isScalar(key)) return undefined;
  if (sep?.some(({ type }) => type === 'map-value-ind') !== true) return undefined;
  if (start.some(({ type }) => type === 'explicit-key-ind')) return undefined;
  if (key.source.length > MAX_KEY_LENGTH || key.source.includes('\n') || key.end !== undefined) return undefined;
  return textOf(key);
}

const SHOWN: readonly string[] = [
  'byte-order-mark',
  'doc-start',
  'space',
  'comment',
  'newline',
  'anchor',
  'tag',
  'seq-item-ind',
  'explicit-key-ind',
  'map-value-ind',
  'flow-map-start',
  'flow-map-end',
  'flow-seq-start',
  'flow-seq-end',
  'comma',
];

const isShown = ({ type }: CST.Token): boolean => SHOWN.includes(type);
const areShown = (tokens: readonly CST.Token[] | undefined): boolean => tokens === undefined || tokens.every(isShown);

function addSpan(spans: Span[], token: CST.FlowScalar | CST.BlockScalar, names: Names): void {
  const value = textOf(token);
  if (token.type === 'scalar' && isConstant(value)) return;
  const [key, place] = [joinKeys(names), placeOf(names)];
  if (token.type !== 'block-scalar') {
    const quote = token.type === 'single-quoted-scalar' ? "'" : token.type === 'double-quoted-scalar' ? '"' : '';
    const end = token.offset + token.source.length;
    spans.push({ start: token.offset, end, key, place, value, before: quote, after: quote });
    return;
  }
  // From its header on, with the comment behind it.
  const header = token.props.reduce((length, prop) => length + ('source' in prop ? prop.source.length : 0), 0);
  const start = token.props[0]!.offset;
  const end = start + header + token.source.length;
  spans.push({ start, end, key, place, value, before: '', after: token.source.endsWith('\n') ? '\n' : '' });
}

function textOf(token: CST.FlowScalar | CST.BlockScalar): string {
  try {
    return CST.resolveAsScalar(token, false)?.value ?? token.source;
  } catch {
    return token.source;
  }
}
