/** A message type or namespace of protobufjs' JSON. */
interface Node {
  fields?: Readonly<Record<string, { type: string; id: number; rule?: string; keyType?: string }>>;
  nested?: Readonly<Record<string, Node>>;
}

/** What a field of a message has in it: another message, or several numbers in one field (packed). */
export type Content = { message: Shape } | { packed: number | 'varint' };

/** The fields of a message that have more than one value in them, by number. */
export type Shape = ReadonlyMap<number, Content>;

/** Bytes of a number in a packed field, unless it is a varint. */
const FIXED: Readonly<Record<string, number>> = {
  double: 8,
  fixed64: 8,
  sfixed64: 8,
  float: 4,
  fixed32: 4,
  sfixed32: 4,
};
const UNPACKED: ReadonlySet<string> = new Set(['string', 'bytes']);

/** The shape of a message, by its full name and the JSON of its file. */
export function shapeOf(file: object, message: string): Shape {
  return new Shapes(file as Node).of(message.split('.'));
}

/** Whether the message is in the JSON of this file. */
export function hasMessage(file: object, message: string): boolean {
  return at(file as Node, message.split('.'))?.fields !== undefined;
}

function at(root: Node, path: readonly string[]): Node | undefined {
  let node: Node | undefined = root;
  for (const name of path) node = node?.nested?.[name];
  return node;
}

class Shapes {
  readonly #root: Node;
  readonly #known = new Map<Node, Map<number, Content>>();

  constructor(root: Node) {
    this.#root = root;
  }

  of(path: readonly string[]): Map<number, Content> {
    const node = this.#at(path);
    if (node?.fields === undefined) throw new Error(`there is no message ${path.join('.')}`);
    const known = this.#known.get(node);
    if (known !== undefined) return known;
    const shape = new Map<number, Content>();
    // Before its fields are read: a message may have itself in it.
    this.#known.set(node, shape);
    for (const { type, id, rule, keyType } of Object.values(node.fields)) {
      const target = this.#resolve(path, type);
      const isMessage = target !== undefined && this.#at(target)?.fields !== undefined;
      const value = isMessage ? { message: this.of(target) } : undefined;
      if (keyType !== undefined) shape.set(id, { message: value ? new Map([[2, value]]) : new Map() });
      else if (value) shape.set(id, value);
      else if (rule === 'repeated' && !UNPACKED.has(type)) shape.set(id, { packed: FIXED[type] ?? 'varint' });
    }
    return shape;
  }

  #at(path: readonly string[]): Node | undefined {
    return at(this.#root, path);
  }

  /** A name is looked up in the innermost scope first. undefined: a scalar type. */
  #resolve(scope: readonly string[], name: string): string[] | undefined {
    if (name.startsWith('.')) return name.slice(1).split('.');
    for (let depth = scope.length; depth >= 0; depth--) {
      const path = [...scope.slice(0, depth), ...name.split('.')];
      if (this.#at(path) !== undefined) return path;
    }
    return undefined;
  }
}
