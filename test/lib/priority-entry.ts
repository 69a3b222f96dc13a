import { readdirSync } from 'node:fs';
import { getPriority } from 'node:os';
import { raisePriority } from '../../lib/priority.ts';

/** Prints the previous niceness, and that of the main thread and of the other threads. */
const previous = raisePriority();
const threads = readdirSync('/proc/self/task').map(Number);
const others = threads.filter((thread) => thread !== process.pid).map((thread) => getPriority(thread));
process.stdout.write(JSON.stringify({ previous: previous ?? null, main: getPriority(), others }));
