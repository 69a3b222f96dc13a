import { SerialQueue } from '../../../lib/serial-queue.ts';

/**
 * Lets edits of the files of one sandbox run one after the other: an edit reads a file, and writes it, and must not overwrite
 * what another one wrote in between. Clients call tools side by side. By owner, because an owner may name any sandbox, and
 * is refused only in its turn.
 */
export class EditTurns {
  readonly #queues = new Map<string, { queue: SerialQueue; users: number }>();

  async run<T>(owner_id: string, sandbox_id: string, edit: () => Promise<T>): Promise<T> {
    const name = JSON.stringify([owner_id, sandbox_id]);
    const turns = this.#queues.get(name) ?? { queue: new SerialQueue(), users: 0 };
    this.#queues.set(name, turns);
    turns.users++;
    try {
      return await turns.queue.run(edit);
    } finally {
      if (--turns.users === 0) this.#queues.delete(name);
    }
  }
}
