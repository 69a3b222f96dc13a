type Settle<T> = (value: T | PromiseLike<T>) => void;
type Refuse = (error: unknown) => void;

/**
 * The end of work in another thread. It is a promise whose callbacks run at once: the request worker has no event loop, in
 * which those of a promise would have their turn. Nobody needs to listen.
 */
export class Ending<T = void> implements PromiseLike<T> {
  #waiting: [Settle<T>, Refuse][] | undefined = [];
  #value: T | undefined;
  #failure: { readonly error: unknown } | undefined;

  /** `run` may call `ended` later, or throw. */
  constructor(run: (ended: Settle<T>, failed: Refuse) => void) {
    const failed = (error: unknown) => this.#end(() => (this.#failure = { error }));
    const ended: Settle<T> = (value) => {
      if (isLater(value)) value.then(ended, failed);
      else this.#end(() => (this.#value = value));
    };
    try {
      run(ended, failed);
    } catch (error) {
      failed(error);
    }
  }

  // biome-ignore lint/suspicious/noThenProperty: what waits for a promise may wait for it.
  then<A = T, B = never>(
    done?: ((value: T) => A | PromiseLike<A>) | null,
    refused?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Ending<A | B> {
    return new Ending<A | B>((ended, failed) => {
      const settled: Settle<T> = (value) => attempt(() => (done ? done(value as T) : (value as A)));
      const other: Refuse = (error) => (refused ? attempt(() => refused(error)) : failed(error));
      const attempt = (call: () => A | B | PromiseLike<A | B>) => {
        try {
          ended(call());
        } catch (error) {
          failed(error);
        }
      };
      if (this.#waiting !== undefined) this.#waiting.push([settled, other]);
      else this.#tell(settled, other);
    });
  }

  catch<B>(refused: (error: unknown) => B | PromiseLike<B>): Ending<T | B> {
    return this.then(null, refused);
  }

  #end(note: () => void): void {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    note();
    this.#waiting = undefined;
    for (const [settled, refused] of waiting) this.#tell(settled, refused);
  }

  #tell(settled: Settle<T>, refused: Refuse): void {
    if (this.#failure !== undefined) refused(this.#failure.error);
    else settled(this.#value as T);
  }
}

function isLater<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && 'then' in value;
}
