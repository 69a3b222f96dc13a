/**
 * Runs each way once in each round, and returns what they return, by name, without the rounds of the warm-up.
 * @template T
 * @param {Record<string, () => Promise<T>>} ways
 * @param {number} rounds
 * @param {number} warmUp
 * @returns {Promise<Record<string, T[]>>}
 */
export async function alternate(ways, rounds, warmUp) {
  /** @type {Record<string, T[]>} */
  const results = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  for (let round = -warmUp; round < rounds; round++) {
    for (const [name, way] of Object.entries(ways)) {
      const result = await way();
      if (round >= 0) results[name].push(result);
    }
  }
  return results;
}

export const verdictOf = (reached) => (reached ? 'reached' : 'MISSED');
