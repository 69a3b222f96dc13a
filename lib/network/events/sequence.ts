/** The numbers of connections, refusals and events of one network: each has one of its own. */
export class Sequence {
  /** Below all its numbers. Time, so that numbers increase when the network is opened again. */
  readonly start = Date.now() * 1000;
  #last = this.start;

  get last(): number {
    return this.#last;
  }

  next(): number {
    return ++this.#last;
  }
}
