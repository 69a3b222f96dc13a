import type { RedactedForm } from '../../redaction/redacted-form.ts';
import type { Node } from '../nodes/node.ts';

/** Memory of one entry in bytes, without the contents. */
const ENTRY_BYTES = 512;
/** And of a value that was replaced. */
const VALUE_BYTES = 200;

interface Entry {
  version: string;
  form: RedactedForm;
}

/** The redacted forms of files of all workspaces that were used last: at most so many bytes, but always the newest. */
export class FormCache {
  readonly #limit: number;
  readonly #byUse = new Map<Node, Entry>();
  #bytes = 0;

  constructor(limit = 16 * 1024 * 1024) {
    this.#limit = limit;
  }

  /** The form of a version of the node's file. */
  get(node: Node, version: string): RedactedForm | undefined {
    const entry = this.#byUse.get(node);
    if (entry === undefined) return undefined;
    this.#byUse.delete(node);
    if (entry.version !== version) {
      this.#bytes -= memoryOf(entry.form);
      return undefined;
    }
    this.#byUse.set(node, entry);
    return entry.form;
  }

  set(node: Node, version: string, form: RedactedForm): void {
    this.delete(node);
    this.#byUse.set(node, { version, form });
    this.#bytes += memoryOf(form);
    for (const oldest of this.#byUse.keys()) {
      if (this.#bytes <= this.#limit || oldest === node) return;
      this.delete(oldest);
    }
  }

  delete(node: Node): void {
    const entry = this.#byUse.get(node);
    if (entry === undefined) return;
    this.#byUse.delete(node);
    this.#bytes -= memoryOf(entry.form);
  }
}

function memoryOf({ bytes, replaced }: RedactedForm): number {
  return ENTRY_BYTES + bytes.length + VALUE_BYTES * replaced.length;
}
