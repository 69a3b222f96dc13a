/**
 * A function that calls itself, once for each name in a path, with the calls on the heap: `yield` of another one is the call,
 * its value the answer. The stack of a thread does not hold the frames of a walk through 2,048 directories.
 */
export type Steps<Answer> = Generator<Steps<Answer>, Answer, Answer>;

export function run<Answer>(first: Steps<Answer>): Answer {
  const calls = [first];
  let next = first.next();
  for (;;) {
    if (!next.done) {
      calls.push(next.value);
      next = next.value.next();
      continue;
    }
    calls.pop();
    const caller = calls.at(-1);
    if (caller === undefined) return next.value;
    next = caller.next(next.value);
  }
}
