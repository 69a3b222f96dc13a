import { DetachKeys } from './detach-keys.ts';
import type { LocalTerminal } from './local-terminal.ts';

/** Bytes that are not yet sent, above which nothing more is read: what is pasted waits in the terminal. */
const MOST_UNSENT = 256 * 1024;
const EVERY_MS = 20;

interface Typed {
  type(bytes: Uint8Array): void;
  detach(): void;
  unsent(): number;
}

/** What is typed, as it is. */
export class Keyboard {
  readonly #keys: DetachKeys;
  #close: (() => void) | undefined;

  constructor(detachKeys: readonly number[]) {
    this.#keys = new DetachKeys(detachKeys);
  }

  /** Only the first call has an effect. */
  open(terminal: LocalTerminal, typed: Typed): void {
    if (this.#close) return;
    terminal.enterRaw();
    let timer: NodeJS.Timeout | undefined;
    const goOn = () => {
      if (typed.unsent() > MOST_UNSENT) return;
      clearInterval(timer);
      timer = undefined;
      process.stdin.resume();
    };
    const onData = (data: Uint8Array) => {
      const { send, detach } = this.#keys.feed(data);
      if (send.length > 0) typed.type(send);
      if (detach) return typed.detach();
      if (typed.unsent() <= MOST_UNSENT || timer) return;
      process.stdin.pause();
      timer = setInterval(goOn, EVERY_MS);
    };
    process.stdin.on('data', onData).resume();
    this.#close = () => {
      clearInterval(timer);
      process.stdin.off('data', onData).pause();
    };
  }

  close(): void {
    this.#close?.();
    this.#close = () => undefined;
  }
}
