import { describe, expect, it } from 'vitest';
import { ConnectionPlaces } from '../../../../lib/network/proxy/connection-places.ts';

describe('the places for connections', () => {
  const taking = (places: ConnectionPlaces) => {
    const cut: string[] = [];
    let last = 0;
    return {
      cut,
      take: (holder: string) => {
        const name = `${holder}${++last}`;
        return places.take(holder, () => cut.push(name));
      },
    };
  };

  it('are for whoever comes, while there are any', () => {
    const { cut, take } = taking(new ConnectionPlaces(3));
    const [first] = [take('a'), take('a'), take('a')];
    expect(take('a')).toBeUndefined();
    first!.leave();
    first!.leave();
    expect(take('a')).toBeDefined();
    expect(take('a')).toBeUndefined();
    expect(cut).toEqual([]);
  });

  it('go from the sandbox that has most, the newest first, to one that has fewer', () => {
    const { cut, take } = taking(new ConnectionPlaces(4));
    for (const holder of ['a', 'a', 'a', 'a', 'b', 'b']) expect(take(holder), holder).toBeDefined();
    expect(cut).toEqual(['a4', 'a3']);
    // Nobody has two more than another one.
    expect(take('b')).toBeUndefined();
    expect(take('c')).toBeDefined();
    expect(take('d')).toBeDefined();
    expect([take('c'), take('e')]).toEqual([undefined, undefined]);
    expect(cut).toHaveLength(4);
  });

  it('are left once by a connection that was cut for another one', () => {
    const places = new ConnectionPlaces(2);
    const { cut, take } = taking(places);
    const [, second] = [take('a'), take('a')];
    const other = take('b')!;
    expect(cut).toEqual(['a2']);
    second!.leave();
    expect(take('b')).toBeUndefined();
    other.leave();
    expect(take('b')).toBeDefined();
  });

  it('have a few descriptors for second attempts, each given back once', () => {
    const places = new ConnectionPlaces(2, 1);
    const giveBack = places.takeSpare()!;
    expect(places.takeSpare()).toBeUndefined();
    giveBack();
    giveBack();
    expect([places.takeSpare(), places.takeSpare()].map((each) => each !== undefined)).toEqual([true, false]);
  });
});
