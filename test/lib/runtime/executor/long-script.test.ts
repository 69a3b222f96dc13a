import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { LongScript } from '../../../../lib/runtime/executor/long-script.ts';
import { type ScriptPart, scriptText } from '../../../../lib/runtime/executor/script-part.ts';
import { Shares } from '../../../../lib/shares.ts';

const dir = mkdtempSync(join(tmpdir(), 'paddock-script-'));
afterAll(() => rmSync(dir, { recursive: true }));
const MIB = 1024 * 1024;

/** A host whose turns run when the test calls `turn`. */
function host(bytes: number) {
  const waiting: (() => void)[] = [];
  const scripts = { next: () => new Promise<void>((resolve) => waiting.push(resolve)) };
  return { dir, room: new Shares<object>(bytes), paces: { scripts }, waiting };
}

/** Eight values of 130,000 quotes: as long as a command's environment may be. */
const QUOTES: ScriptPart[] = Array.from({ length: 8 }, (_, index) => [
  `A${index}=`,
  { quoted: "'".repeat(130_000) },
  ' ',
]).flat();

/** Runs the turns one by one and returns the size of the file after each. */
async function sizes(on: ReturnType<typeof host>, name: string): Promise<number[]> {
  const found: number[] = [];
  for (;;) {
    found.push(readFileSync(join(dir, name)).length);
    const [next] = on.waiting.splice(0, 1);
    if (next === undefined) return found;
    next();
    // The piece is written in the microtasks after its turn.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('LongScript', () => {
  it('writes one value or 64 KiB of short ones per turn', async () => {
    const on = host(64 * MIB);
    const many = Array.from({ length: 40_000 }, (_, index): ScriptPart[] => [`V${index}=`, { quoted: "it's" }]).flat();
    const written = LongScript.write(on, 'a.cmd', [...QUOTES, ...many]);
    const steps = (await sizes(on, 'a.cmd')).map((size, index, all) => size - (all[index - 1] ?? 0));
    const script = await written;
    expect(steps.length).toBeGreaterThan(8 + 5);
    expect(Math.max(...steps)).toBeLessThan(4 * 131_072);
    expect(readFileSync(join(dir, 'a.cmd'), 'utf8')).toBe(scriptText([...QUOTES, ...many]));
    expect(script.line).toBe('. /run/agent/a.cmd\n');
    script.release();
    script.release();
    expect(readdirSync(dir)).toEqual([]);
    expect(on.room.available({})).toBe(32 * MIB);
  });

  it('is refused and leaves nothing if the sandbox’s share has no room for all of it', async () => {
    const on = host(4 * MIB);
    const written = LongScript.write(on, 'b.cmd', QUOTES);
    const refused = expect(written).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
    while (on.waiting.length > 0) {
      on.waiting.shift()!();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await refused;
    expect(readdirSync(dir)).toEqual([]);
    expect(on.room.available({})).toBe(2 * MIB);
  });
});
