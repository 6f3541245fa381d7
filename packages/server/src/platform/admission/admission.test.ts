import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type AdmissionLimits, type AdmissionRequest, createAdmission } from './admission.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

class RefusedError extends Error {}

/**
 * Work that runs until the test ends it. Names begin with the sharer, and names in capitals are work that is alone. `log` has
 * what has begun, and what was refused and whose excess that was.
 */
function workshop(limits: Partial<AdmissionLimits> = {}) {
  const admission = createAdmission({
    places: 3,
    waitingMax: 6,
    sharerWaitingMax: 4,
    waitMs: 1000,
    refusal: (excess) => new RefusedError(excess),
    ...limits,
  });
  const log: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const work = (name: string) => () => {
    log.push(name);
    return new Promise<void>((resolve, reject) => {
      ends.set(name, (error) => (error ? reject(error) : resolve()));
    });
  };
  const note = (name: string) => (error: Error) => {
    log.push(`${name}: ${error.message}`);
  };
  const ask = (name: string, request: AdmissionRequest = {}) =>
    admission.take({ sharer: name[0]!, ...request }, work(name)).catch(note(name));
  const asks = (...names: string[]) => {
    for (const name of names) void ask(name);
  };
  /** For a key that is not shared. */
  const lock = (...names: string[]) => {
    for (const name of names) void ask(name, { key: 'key', sharer: null, isAlone: name < 'a' });
  };
  const passes = (...names: string[]) => {
    for (const name of names) admission.pass(name[0]!, work(name)).catch(note(name));
  };
  const own = (name: string) => admission.pass(null, work(name)).catch(note(name));
  const end = async (name: string, error?: Error) => {
    ends.get(name)!(error);
    await pass(0);
  };
  /** What is new in the log. */
  const logged = async () => {
    await pass(0);
    return log.splice(0).join(' ');
  };
  return { admission, ask, asks, lock, passes, own, end, logged };
}

describe('sharers', () => {
  test('nobody gets the last place, and who has the fewest gets the next one', async () => {
    const { asks, end, logged } = workshop();
    asks('a1', 'a2', 'a3');
    expect(await logged()).toBe('a1 a2');
    asks('b1', 'b2', 'b3', 'c1');
    expect(await logged()).toBe('b1');
    await end('a1');
    expect(await logged()).toBe('c1');
    await end('a2');
    expect(await logged()).toBe('a3');
  });

  test('those who have equally many take turns, however many calls of one wait', async () => {
    for (const how of ['asks', 'passes'] as const) {
      const { [how]: call, end, logged } = workshop({ places: 1 });
      call('a1', 'a2', 'a3', 'b1', 'c1');
      for (const name of ['a1', 'b1', 'c1', 'a2', 'b2']) {
        expect(await logged()).toBe(name);
        // A sharer who comes back does not stand before sharers who wait.
        if (name === 'b1') call('b2');
        await end(name);
      }
    }
  });

  test('among those who have equally many, who has used the least is next', async () => {
    const used = { a: 5, b: 9, c: 1 } as Record<string, number>;
    const { asks, end, logged } = workshop({ places: 1, usedBy: (name) => used[name] ?? 0 });
    asks('x', 'a1', 'b1', 'c1', 'c2');
    for (const name of ['x', 'c1', 'c2', 'a1', 'b1']) {
      expect(await logged()).toBe(name);
      await end(name);
    }
  });

  test('our own work has no share, and is not last for what it has', async () => {
    const { own, passes, end, logged } = workshop();
    for (const name of ['1', '2']) void own(name);
    passes('a1', 'a2');
    void own('3');
    expect(await logged()).toBe('1 2 a1');
    // It stands before the one whose turn has just ended, although that one has no place now.
    await end('a1');
    expect(await logged()).toBe('3');
  });

  test('keys have places of their own, and nothing is kept of those that nobody uses', async () => {
    const { admission, ask, end, logged } = workshop({ places: 1 });
    for (const key of ['one', 'two']) void ask(`a ${key}`, { key });
    expect(await logged()).toBe('a one a two');
    expect(admission.keys).toBe(2);
    await end('a one');
    await end('a two', new Error('failed'));
    expect(admission.keys).toBe(0);
  });

  test('a call may say how many run at once', async () => {
    const { ask, end, logged } = workshop({ places: 1 });
    for (const name of ['1', '2', '3', '4']) void ask(name, { sharer: null, key: 'key', places: 3 });
    expect(await logged()).toBe('1 2 3');
    await end('2');
    expect(await logged()).toBe('4');
  });

  test('work knows whether others ran beside it, and when they have ended', async () => {
    const { admission, asks, end } = workshop();
    let isAlone = false;
    const first = admission.take({ sharer: 'x' }, async (run) => {
      const before = run.hadOthers;
      asks('a1', 'b1');
      await run.whenOthersLeft();
      isAlone = true;
      return [before, run.hadOthers];
    });
    await end('a1');
    expect(isAlone).toBe(false);
    await end('b1');
    expect(await first).toEqual([false, true]);
  });
});

describe('a key that is not shared', () => {
  test('work runs in its order, together up to the limit, and alone only when nothing else runs', async () => {
    const { lock, end, logged } = workshop();
    lock('a', 'b', 'c', 'd', 'E', 'f', 'G');
    expect(await logged()).toBe('a b c');
    await end('a');
    expect(await logged()).toBe('d');
    for (const name of ['b', 'c']) await end(name);
    expect(await logged()).toBe('');
    await end('d');
    expect(await logged()).toBe('E');
    await end('E', new Error('failed'));
    expect(await logged()).toBe('f E: failed');
    await end('f');
    expect(await logged()).toBe('G');
  });

  test('who leaves or is late does not run later, and those behind begin', async () => {
    const { ask, lock, end, logged } = workshop();
    const [leaving, gone] = [new AbortController(), AbortSignal.abort(new Error('gone'))];
    const alone = { key: 'key', sharer: null, isAlone: true };
    lock('a');
    void ask('B', { ...alone, signal: leaving.signal });
    lock('c');
    void ask('d', { ...alone, signal: gone });
    expect(await logged()).toBe('a d: gone');
    leaving.abort(new Error('left'));
    expect(await logged()).toBe('c B: left');
    lock('E');
    await pass(500);
    lock('f');
    await pass(499);
    expect(await logged()).toBe('');
    await pass(1);
    expect(await logged()).toBe('f E: all');
    for (const name of ['a', 'c', 'f']) await end(name);
    expect(await logged()).toBe('');
  });

  test('a signal that is aborted after the work has begun leaves the work alone', async () => {
    const { ask, lock, end, logged } = workshop();
    const leaving = new AbortController();
    lock('A');
    const second = ask('B', { key: 'key', sharer: null, isAlone: true, signal: leaving.signal });
    await end('A');
    leaving.abort(new Error('left'));
    await end('B');
    await second;
    expect(await logged()).toBe('A B');
  });
});

describe('refusals', () => {
  test('too many who wait are refused at once: of one sharer, and in all', async () => {
    for (const how of ['asks', 'passes'] as const) {
      const { admission, [how]: call, end, logged } = workshop({ places: 1 });
      call('a1', 'a2', 'a3', 'a4', 'a5', 'a6');
      expect(await logged()).toBe('a1 a6: sharer');
      call('b1', 'b2', 'a7', 'b3', 'b4');
      // Three of each wait in the end, so nobody has a better right than others.
      expect(await logged()).toBe('a7: sharer a5: all b4: all');
      expect(admission.waiting).toBe(6);
      for (const name of ['a1', 'b1', 'a2', 'b2', 'a3', 'b3', 'a4']) await end(name);
      expect(await logged()).toBe('b1 a2 b2 a3 b3 a4');
      expect(admission.waiting).toBe(0);
    }
  });

  test('who waits with fewer takes the room of the last of those who have the most', async () => {
    const { asks, logged } = workshop({ places: 1 });
    asks('x', 'a1', 'a2', 'a3', 'a4', 'b1', 'b2');
    asks('c1', 'd1');
    expect(await logged()).toBe('x a4: all a3: all');
    asks('c2');
    expect(await logged()).toBe('c2: all');
  });

  test('who has waited too long is refused, and who leaves makes way', async () => {
    const { admission, ask, asks, end, logged } = workshop({ places: 2 });
    const leaving = new AbortController();
    asks('a1', 'b1', 'a2');
    void ask('c1', { signal: leaving.signal });
    asks('d1');
    leaving.abort(new Error('left'));
    expect(await logged()).toBe('a1 b1 c1: left');
    await pass(1000);
    expect(await logged()).toBe('a2: all d1: all');
    expect(admission.waiting).toBe(0);
    asks('e1');
    await end('a1', new Error('failed'));
    expect(await logged()).toBe('e1 a1: failed');
  });

  test('without an error of its own, a refusal says who has too much and when to try again', async () => {
    const { take } = createAdmission({ places: 1, waitingMax: 1, sharerWaitingMax: 0 });
    const ask = (sharer: string | null) => take({ sharer }, () => new Promise(() => {}));
    void ask(null);
    void ask(null);
    const retryAfterSeconds = 1;
    await expect(ask(null)).rejects.toMatchObject({ code: 'busy', statusCode: 503, retryAfterSeconds });
    await expect(ask('a')).rejects.toMatchObject({
      code: 'too_many_at_once',
      statusCode: 429,
      retryAfterSeconds,
    });
  });

  test('a place can be taken and left without waiting', () => {
    const { enter, leave, keys } = createAdmission({ places: 3, sharerPlaces: 2, waitingMax: 0 });
    const entered = ['a', 'a', 'a', 'b', 'b', 'b'].map((name) => enter(name, 'key'));
    expect(entered).toEqual([undefined, undefined, 'sharer', undefined, 'all', 'all']);
    leave('a', 'key');
    expect([enter('b', 'key'), enter('b', 'key')]).toEqual([undefined, 'sharer']);
    expect([enter(), enter(), enter(), enter()]).toEqual([undefined, undefined, undefined, 'all']);
    expect(keys).toBe(0);
  });
});

describe('if turns are remembered', () => {
  /** All of these have had a turn, and then `x` has the only place. */
  const strangers = async (before: string, limits: Partial<AdmissionLimits> = {}) => {
    const shop = workshop({ places: 1, waitingMax: 3, rememberedMax: 10, ...limits });
    for (const name of before) {
      shop.passes(name);
      await shop.end(name);
    }
    shop.passes('x');
    await shop.logged();
    /** Ends each work as it begins. */
    const order = async (first: string) => {
      const begun: string[] = [];
      for (let next = first; next; next = await shop.logged()) {
        begun.push(next);
        await shop.end(next);
      }
      return begun.slice(1).join('');
    };
    return { ...shop, order };
  };

  test('those who are new, the last one first, and those who return, the earliest first, are served alternately', async () => {
    const { passes, order } = await strangers('abc', { waitingMax: 10 });
    passes('c', 'a', 'm', 'b', 'n');
    expect(await order('x')).toBe('nambc');
  });

  test('one who returns is served, although others have a new name each time', async () => {
    const { passes, end, logged } = await strangers('a', { waitingMax: 10 });
    passes('1', '2', 'a');
    await end('x');
    passes('3');
    const first = await logged();
    await end(first);
    expect([first, await logged()]).toContain('a');
  });

  test('one who returns finds room among those who are new, and one who is new among those who return', async () => {
    const fresh = await strangers('a');
    fresh.passes('1', '2', '3', 'a', '4');
    expect(await fresh.logged()).toBe('1: all 2: all');
    expect(await fresh.order('x')).toBe('4a3');
    const returning = await strangers('abc');
    returning.passes('a', 'b', 'c', 'm', 'n');
    expect(await returning.logged()).toBe('c: all b: all');
    // The one that was refused has no better right to a place now.
    returning.passes('c');
    expect(await returning.logged()).toBe('c: all');
    expect(await returning.order('x')).toBe('nam');
    expect(returning.admission.waiting).toBe(0);
  });

  test('a sharer who waits already takes no room of others', async () => {
    const { passes, logged } = await strangers('ab');
    passes('a', 'b', 'm', 'm');
    expect(await logged()).toBe('m: all');
  });

  test('only so many are remembered', async () => {
    const { passes, order } = await strangers('abc', { rememberedMax: 2 });
    passes('b', 'a', 'c');
    // `a` was forgotten, and is new again.
    expect(await order('x')).toBe('abc');
  });
});
