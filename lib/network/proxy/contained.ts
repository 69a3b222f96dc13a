import type { Duplex } from 'node:stream';

/**
 * Runs what an event of one connection asks for. An exception is a defect: it ends this connection, not the thread, which has those of
 * all sandboxes, and is reported by the thread's last handler.
 */
export function contained(socket: Duplex, task: () => void): void {
  try {
    task();
  } catch (error) {
    socket.destroy();
    queueMicrotask(() => {
      throw error;
    });
  }
}
