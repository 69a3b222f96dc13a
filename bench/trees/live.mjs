/** The live tree of a workspace (lib/workspaces/tree) over the trees of trees.mjs. */

/** As a sandbox's store has them; nothing is encoded here. */
const journal = { bytes: 0, append() {} };
const time = { s: 1_700_000_100, ns: 7 };

/**
 * @param {any} trees the bundled modules
 * @param {{ source: any, sink: any, file: Function, names: (count: number) => string[], median: Function, row: Function }} tools
 * @param {any} hundred 100 directories of 100 files
 */
export function measureLive(trees, tools, hundred) {
  const { source, sink, file, names, median, row } = tools;
  const list = names(100);
  const live = (frozen = hundred, base = frozen) =>
    new trees.LiveTree({ source, frozen, base: { version: 1, base }, journal, epochs: new trees.Epochs('', 1, 0) });

  const tree = live();
  const clean = tree.lookup(tree.root, list[0]);
  const own = tree.own(tree.root, list[1]);
  for (const name of list.slice(0, 50)) trees.thaw(tree, own, name);
  const lookups = (directory, looked) => () => {
    for (let times = 0; times < 1000; times++) tree.lookup(directory, looked[times % looked.length]);
  };
  row('live: look up in a clean directory of 100', median(200, lookups(clean, list)), 'µs', '0.3–0.5');
  row('live: in an own one, what it has changed', median(200, lookups(own, list.slice(0, 50))), 'µs', '–');
  row('live: in an own one, what it has not', median(200, lookups(own, list.slice(50))), 'µs', '0.3–0.5');
  const files = list.map((name) => file(`new ${name}`, 1));
  const create = () => {
    for (let times = 0; times < 10; times++) {
      for (const entry of files) trees.put(tree, own, entry.name, entry, time);
      for (const entry of files) trees.drop(tree, own, entry.name, time);
    }
  };
  row('live: create and unlink', median(50, create), 'µs', '–');
  const [data] = [trees.thaw(tree, own, list[0])];
  const write = () => {
    for (let times = 0; times < 1000; times++) trees.setData(tree, data, { key: data.entry.key, size: times }, time);
  };
  row('live: record a write', median(200, write), 'µs', '–');

  for (const { count, design } of [
    { count: 1000, design: '1.0' },
    { count: 4096, design: '3.8' },
    { count: 10_000, design: '5.7–6.5' },
  ]) {
    const trial = () => {
      const changed = live();
      const each = Math.ceil(count / 100);
      for (const directory of list)
        for (const name of list.slice(0, each))
          trees.put(changed, changed.own(changed.root, directory), name, file(name, 1), time);
      return () => trees.freeze(changed, sink, journal, false);
    };
    row(`live: freeze ${count} changed files in 100 directories`, median(20, trial(), trial), 'ms', design);
  }
  measureTake(trees, tools, hundred, live);
}

/** One file of head, for 1,000 workspaces that each changed 100 others. */
function measureTake(trees, { source, sink, file, names, median, row }, hundred, live) {
  const [first, second, third] = names(100);
  const sorted = names(100).slice().sort();
  const changed = live();
  for (const name of sorted) trees.put(changed, changed.own(changed.root, second), name, file(name, 1), time);
  trees.freeze(changed, sink, journal, false);
  const head = live();
  trees.put(head, head.own(head.root, first), third, file(third, 2), time);
  trees.freeze(head, sink, journal, false);
  for (const { what, of, design } of [
    { what: 'without own changes', of: hundred, design: '0.07' },
    { what: 'with 100 own frozen changes', of: changed.frozen, design: '1.6–3.6' },
  ]) {
    const trial = () => {
      const workspaces = Array.from({ length: 1000 }, () => live(of, hundred));
      return () => {
        const move = new trees.HeadMove(source, hundred, head.frozen);
        for (const workspace of workspaces) if (!trees.take(workspace, move, 2)) throw new Error('refused');
      };
    };
    row(`live: a moved head for 1,000 workspaces, ${what}`, median(20, trial(), trial), 'ms', design);
  }
}
