/** Writes journals of deltas, in the format of lib/workspaces/delta/index: making a million files by commands takes minutes. */
import { appendFileSync, readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';

const FORMAT = ['paddock-delta', 4];
/** First inode number of new inodes. */
const FIRST_INO = 2 ** 48;
const AT_ONCE = 1 << 20;
const [DIRECTORY, FILE] = [0o40755, 0o100644];
const TIMES = [1_700_000_000, 1, 1_700_000_000, 2, 1_700_000_000, 3];
/** Of files without contents. */
const NO_SLOT = -1;

/** A line with a checksum; `before`: that of the line before. */
function sealed(record, before) {
  const rest = JSON.stringify(record).slice(1);
  const sum = crc32(rest, before);
  return { line: `[${sum},${rest}\n`, sum };
}

/** A journal without records. `below`: the frozen layers that it needs, the last of which it extends. */
export function emptyJournal(top, below = []) {
  const nextId = 2;
  return sealed([...FORMAT, nextId, FIRST_INO, top, below, below.at(-1) ?? '', 0], 0).line;
}

/**
 * @param {string} path of a journal
 * @param {Iterable<unknown[]>} records
 */
export function append(path, records) {
  const last = readFileSync(path, 'latin1').trimEnd().split('\n').at(-1) ?? '';
  let sum = Number(/^\[(\d+),/.exec(last)?.[1]);
  let text = '';
  for (const record of records) {
    const next = sealed(record, sum);
    sum = next.sum;
    text += next.line;
    if (text.length < AT_ONCE) continue;
    appendFileSync(path, text, 'latin1');
    text = '';
  }
  appendFileSync(path, text, 'latin1');
}

/**
 * Directories of empty files in the root, as commands make them. Each has as many entries as it says, itself included, with
 * ids from `first` on.
 * @param {string} layer that would have their contents
 */
export function* made(layer, { directories, entries, first }) {
  for (let id = first; id < first + directories * entries; id++) {
    const place = (id - first) % entries;
    const [dir, mode, body, name] =
      place === 0 ? [1, DIRECTORY, 0, `d${id}`] : [id - place, FILE, [layer, id, NO_SLOT, 0, 0, 0], `f${place}`];
    yield [
      ['new', id, FIRST_INO + id, mode, 0, 0, TIMES, body],
      ['link', dir, name, id],
      ['touch', dir, 1_700_000_001, 0],
    ];
  }
}

/** The removal of what `made` made. */
export function* removed({ directories, entries, first }) {
  for (let dir = first; dir < first + directories * entries; dir += entries) {
    for (let place = 1; place < entries; place++) {
      yield [
        ['drop', dir, `f${place}`],
        ['touch', dir, 1_700_000_002, 0],
      ];
    }
    yield [
      ['drop', 1, `d${dir}`],
      ['touch', 1, 1_700_000_002, 0],
    ];
  }
}
