import type { OwnerLimits, OwnerSettings } from 'paddock-sandbox';
import { type Context, command, one, optional } from '../command-line/command.ts';
import { UsageError } from '../command-line/errors.ts';
import { countOf } from '../options/durations.ts';
import { bytesOf, cpuQuotaOf } from '../options/sizes.ts';
import { sizeText } from '../output/progress.ts';

type Read = (option: string, text: string) => number;

/** Each option: its field, how its value is read, and its help. */
const LIMITS = {
  sandboxes: ['sandboxes', countOf, 'sandboxes that are neither destroyed nor expired'],
  codebases: ['codebases', countOf, 'codebases'],
  'stored-bytes': ['storedBytes', bytesOf, 'of the files of all codebases, like 10g'],
  'delta-bytes': ['deltaBytes', bytesOf, 'that all sandboxes keep, like 10g'],
  memory: ['memoryBytes', bytesOf, 'of all sandboxes together, like 8g'],
  cpus: ['cpuQuota', cpuQuotaOf, 'of all sandboxes together, like 2 or 1.5'],
  commands: ['commands', countOf, 'commands at the same time'],
  streams: ['streams', countOf, 'streams, uploads and downloads at the same time'],
  'requests-per-second': ['requestsPerSecond', countOf, 'calls of all keys together'],
  'request-burst': ['requestBurst', countOf, 'calls at once after a pause'],
  'creates-per-minute': ['createsPerMinute', countOf, 'new sandboxes, forks, codebases, checkpoints and keys'],
} as const satisfies Record<string, [keyof OwnerLimits, Read, string]>;

const ROWS: readonly (readonly [name: string, field: keyof OwnerLimits, read: Read, help: string])[] = Object.entries(
  LIMITS,
).map(([name, row]) => [name, ...row]);

const OPTIONS = Object.fromEntries(ROWS.map(([name, , , help]) => [name, { value: 'N', help }]));

export const get = command({
  summary: 'show the limits of an owner',
  details: 'Without OWNER they are your own.',
  operands: { owner: optional('OWNER') },
  options: {},
  examples: ['paddock limits get', 'paddock limits get ann'],
  async run(context, { operands: { owner } }) {
    const paddock = await context.paddock();
    const ownerId = owner ?? (await paddock.caller(context.call)).ownerId;
    if (ownerId === '') throw new UsageError('name the OWNER: your key has none of its own');
    show(context, await paddock.api.getOwnerLimits({ ownerId }, context.call));
  },
});

export const set = command({
  summary: 'set limits of an owner',
  details: '0 is no limit, "default" the configured one. What is not named stays. Admins only.',
  operands: { owner: one('OWNER') },
  options: OPTIONS,
  examples: ['paddock limits set ann --sandboxes 20 --memory 16g'],
  async run(context, { operands: { owner: ownerId }, values }) {
    const wanted = ROWS.flatMap(([name, field, read]) => {
      const text = values[name] as string | undefined;
      return text === undefined ? [] : [[field, text === 'default' ? undefined : read(name, text)] as const];
    });
    if (wanted.length === 0) throw new UsageError('name the limits, like --sandboxes 20');
    const { api } = await context.paddock();
    const { set: before } = await api.getOwnerLimits({ ownerId }, context.call);
    show(
      context,
      await api.setOwnerLimits({ ownerId, limits: { ...before, ...Object.fromEntries(wanted) } }, context.call),
    );
  },
});

function show({ out }: Context, settings: OwnerSettings): void {
  const { set: own, effective } = settings;
  const rows = ROWS.map(([name, field, read]) => {
    const value = effective?.[field] ?? 0;
    const shown = read === bytesOf ? sizeText(value) : String(read === cpuQuotaOf ? value / 100_000 : value);
    return [name, value === 0 ? 'none' : shown, own?.[field] === undefined ? 'configuration' : 'set'];
  });
  if (out.json) out.value(settings);
  else out.table(['LIMIT', 'VALUE', 'FROM'], rows);
}
