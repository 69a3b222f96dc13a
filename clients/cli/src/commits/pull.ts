import type { Sandbox } from 'paddock-sandbox';
import type { Context } from '../command-line/command.ts';
import { EXIT } from '../command-line/errors.ts';
import { type Came, findCommits, refusalOf, showCommits, takeCommits } from './take.ts';

interface Pull {
  directory: string;
  allow: readonly string[];
  dryRun: boolean;
}

/** Brings the commits of a sandbox, which is started for it if it is stopped. Returns the exit code. */
export async function pullCommits(
  context: Context,
  sandbox: Sandbox,
  { directory, allow, dryRun }: Pull,
): Promise<number> {
  const { out, signal } = context;
  const wasStopped = sandbox.info.status === 'stopped';
  if (wasStopped) await sandbox.resume({ signal });
  const commits = await findCommits(sandbox, { directory, allow }, context).finally(() =>
    wasStopped ? sandbox.stop() : undefined,
  );
  try {
    let came: Came[] = [];
    let refusal: string | undefined;
    if (commits === undefined) out.note('the sandbox has no commits that are not here');
    else {
      showCommits(commits, context);
      refusal = refusalOf(commits, false);
      if (refusal !== undefined) out.warn(refusal);
      else if (!dryRun) came = await takeCommits(commits, context);
    }
    if (out.json) out.value(came);
    return refusal === undefined ? 0 : EXIT.conflict;
  } finally {
    await commits?.close();
  }
}
