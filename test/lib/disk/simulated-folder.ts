import { type Choose, SimulatedFile } from './simulated-file.ts';

export type Node = SimulatedFile | SimulatedFolder;

/** A name that changes. A rename has two. */
interface NameChange {
  readonly in: SimulatedFolder;
  readonly name: string;
  /** undefined: removed. */
  readonly node: Node | undefined;
}

/** Changes that survive together, or not at all. */
interface Step {
  readonly changes: readonly NameChange[];
  synced: boolean;
}

/** Names and what they name: as programs see them, and what is durable. */
export class SimulatedFolder {
  readonly names = new Map<string, Node>();
  readonly #durable = new Map<string, Node>();
  /** In their order; the first one is not durable yet. */
  #steps: Step[] = [];

  static change(changes: readonly NameChange[]): void {
    const step = { changes, synced: false };
    for (const { in: folder, name, node } of changes) set(folder.names, name, node);
    for (const folder of new Set(changes.map((change) => change.in))) folder.#steps.push(step);
  }

  sync(): void {
    const folders = this.#steps.flatMap(({ changes }) => changes.map((change) => change.in));
    for (const step of this.#steps) step.synced = true;
    for (const folder of new Set(folders)) folder.#fold();
  }

  /** Any of the steps that are not durable survive, also later ones without earlier ones. */
  crashed(choose: Choose, seen = new Map<object, unknown>()): SimulatedFolder {
    const once = <T>(key: object, make: () => T): T => {
      if (!seen.has(key)) seen.set(key, make());
      return seen.get(key) as T;
    };
    const left = new Map(this.#durable);
    for (const step of this.#steps) if (step.synced || once(step, () => choose(2))) this.#apply(step, left);
    const folder = new SimulatedFolder();
    for (const [name, node] of left) {
      const after = once(node, () =>
        node instanceof SimulatedFile ? node.crashed(choose) : node.crashed(choose, seen),
      );
      if (after instanceof SimulatedFile) after.names++;
      folder.names.set(name, after);
      folder.#durable.set(name, after);
    }
    return folder;
  }

  #fold(): void {
    while (this.#steps[0]?.synced) this.#apply(this.#steps.shift()!, this.#durable);
  }

  #apply({ changes }: Step, names: Map<string, Node>): void {
    for (const { in: folder, name, node } of changes) if (folder === this) set(names, name, node);
  }
}

function set(names: Map<string, Node>, name: string, node: Node | undefined): void {
  if (node === undefined) names.delete(name);
  else names.set(name, node);
}
