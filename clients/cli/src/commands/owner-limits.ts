import type { OwnerLimits, OwnerSettings } from '../../../typescript/src/contract/messages.ts';
import { command } from '../command.ts';
import { UsageError } from '../errors.ts';
import { countOf } from '../exec/durations.ts';
import { sizeText } from '../progress.ts';
import { bytesOf, cpuQuotaOf } from '../sizes.ts';

/** Each option, its field, and how its value is read. */
const LIMITS = {
  sandboxes: ['sandboxes', countOf],
  codebases: ['codebases', countOf],
  'stored-bytes': ['storedBytes', bytesOf],
  'delta-bytes': ['deltaBytes', bytesOf],
  memory: ['memoryBytes', bytesOf],
  cpus: ['cpuQuota', cpuQuotaOf],
  commands: ['commands', countOf],
  streams: ['streams', countOf],
  'requests-per-second': ['requestsPerSecond', countOf],
  'request-burst': ['requestBurst', countOf],
  'creates-per-minute': ['createsPerMinute', countOf],
} as const satisfies Record<string, [keyof OwnerLimits, (option: string, text: string) => number]>;

type Name = keyof typeof LIMITS;
const NAMES = Object.keys(LIMITS) as Name[];
const option = (help: string) => ({ type: 'string', value: 'N', help }) as const;

export default command({
  name: 'owner limits',
  summary: 'show the limits of an owner, or set some of them',
  usage: '[OWNER]',
  details: `Without OWNER they are your own. 0 is no limit, "default" the configured one. What is not named stays. Only admins set limits.`,
  options: {
    sandboxes: option('sandboxes that are neither destroyed nor expired'),
    codebases: option('codebases'),
    'stored-bytes': option('of the files of all codebases, like 10g'),
    'delta-bytes': option('that all sandboxes keep, like 10g'),
    memory: option('of all sandboxes together, like 8g'),
    cpus: option('of all sandboxes together, like 2 or 1.5'),
    commands: option('commands at the same time'),
    streams: option('streams, uploads and downloads at the same time'),
    'requests-per-second': option('calls of all keys together'),
    'request-burst': option('calls at once after a pause'),
    'creates-per-minute': option('new sandboxes, forks, codebases, checkpoints and keys'),
  },
  examples: ['paddock owner limits', 'paddock owner limits ann --sandboxes 20 --memory 16g'],
  operands: [0, 1],
  async run(context, { operands: [given], values }) {
    const { out, signal } = context;
    const wanted = NAMES.flatMap((name) => {
      const text = values[name];
      if (text === undefined) return [];
      const [field, read] = LIMITS[name];
      return [[field, text === 'default' ? undefined : read(name, text)] as const];
    });
    const paddock = await context.paddock();
    const { api } = paddock;
    const ownerId = given ?? (await paddock.caller({ signal })).ownerId;
    if (ownerId === '') throw new UsageError('name the OWNER: your key has none of its own');
    let found = await api.getOwnerLimits({ ownerId }, { signal });
    if (wanted.length > 0) {
      const limits = { ...found.set, ...Object.fromEntries(wanted) };
      found = await api.setOwnerLimits({ ownerId, limits }, { signal });
    }
    if (out.json) out.value(found);
    else
      out.table(
        ['LIMIT', 'VALUE', 'FROM'],
        NAMES.map((name) => rowOf(name, found)),
      );
    return 0;
  },
});

function rowOf(name: Name, { set, effective }: OwnerSettings): string[] {
  const [field] = LIMITS[name];
  const value = effective?.[field] ?? 0;
  return [name, value === 0 ? 'none' : shownOf(name, value), set?.[field] === undefined ? 'configuration' : 'set'];
}

function shownOf(name: Name, value: number): string {
  const [, read] = LIMITS[name];
  if (read === bytesOf) return sizeText(value);
  return read === cpuQuotaOf ? String(value / 100_000) : String(value);
}
