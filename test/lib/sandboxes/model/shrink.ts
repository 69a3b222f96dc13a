import { play } from './play.ts';
import type { Step } from './steps.ts';
import type { WorldOptions } from './world.ts';

/** What went wrong, without the names and numbers of the one case. */
function kindOf(error: unknown): string {
  const [line = ''] = String(error instanceof Error ? error.message : error).split('\n');
  return line
    .replace(/cb_\w+|sb_\w+|paddock-model-\w+|base: \S+|\/fd\/\d+/g, '*')
    .replace(/(?<![\w-])[abds](\/[abds])*(?![\w-])|_*\d+\.\S*|\d+/g, '*')
    .slice(0, 70);
}

export interface Failure {
  options: WorldOptions;
  sequence: readonly Step[];
  error: unknown;
}

/** The same kind of failure with no step that it does not need. Steps are of use together, so they are tried by halves first. */
export async function shrunk(failure: Failure): Promise<Failure> {
  const kind = kindOf(failure.error);
  let least = failure;
  const attempt = async (options: WorldOptions, sequence: readonly Step[]): Promise<boolean> => {
    try {
      await play(options, sequence);
      return false;
    } catch (error) {
      if (kindOf(error) !== kind) return false;
      least = { options, sequence, error };
      return true;
    }
  };
  for (
    let length = Math.ceil(least.sequence.length / 2);
    length > 0;
    length = length === 1 ? 0 : Math.ceil(length / 2)
  ) {
    for (let end = least.sequence.length; end > 0; end -= length) {
      const { options, sequence } = least;
      await attempt(options, [...sequence.slice(0, Math.max(0, end - length)), ...sequence.slice(end)]);
    }
  }
  const { options } = least;
  const plain: WorldOptions = { ...options, autoCommit: options.autoCommit.map(() => 'never') };
  await attempt(plain, least.sequence);
  await attempt({ ...least.options, rules: options.rules.map(() => 0) }, least.sequence);
  return least;
}
