/** Time zones. A local time is written as milliseconds too: those of the same date and clock in UTC. */

export interface Zone {
  readonly name: string;
  /** What a clock in the zone shows at an instant. */
  localOf(instantMs: number): number;
  /** The first instant at which a clock in the zone shows this, or the next instant if clocks leave it out. */
  instantOf(localMs: number): number;
}

export const UTC: Zone = { name: 'UTC', localOf: (ms) => ms, instantOf: (ms) => ms };

const NAME = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/;
/** There are about 600 zones, and each can be written in many cases. Few of them are in use at a time. */
const KNOWN_MAX = 100;
/** How many blocks of days of each zone have a cached offset: 20,000 days. */
const BLOCKS_MAX = 5000;
const known = new Map<string, Zone>();

export function findZone(name: string): Zone | undefined {
  const found = known.get(name);
  if (found) return found;
  const zone = NAME.test(name) ? createZone(name) : undefined;
  if (zone) {
    if (known.size >= KNOWN_MAX) known.clear();
    known.set(name, zone);
  }
  return zone;
}

const DAY_MS = 86_400_000;
/** No zone has ever changed its offset twice within so many days: the least are seven, in Brazil in 2000. */
const BLOCK_MS = 4 * DAY_MS;
/** Beyond these years there are no rules for clocks, and years have other than four digits. */
const EARLIEST = Date.UTC(1000, 0, 1);
const LATEST = Date.UTC(9999, 0, 1);

function createZone(given: string): Zone | undefined {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: given,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    return undefined;
  }
  const name = format.resolvedOptions().timeZone;
  if (name === UTC.name) return UTC;
  const readOffset = (instantMs: number) => {
    const whole = Math.floor(Math.min(Math.max(instantMs, EARLIEST), LATEST) / 1000) * 1000;
    const [month, day, year, hour, minute, second] = format.format(whole).match(/\d+/g)!.map(Number);
    return Date.UTC(year!, month! - 1, day, hour, minute, second) - whole;
  };
  const blocks = new Map<number, number>();
  const offsetOfBlock = (block: number) => {
    const kept = blocks.get(block);
    if (kept !== undefined) return kept;
    if (blocks.size >= BLOCKS_MAX) blocks.clear();
    const offset = readOffset(block * BLOCK_MS);
    blocks.set(block, offset);
    return offset;
  };
  const offsetAt = (instantMs: number) => {
    const block = Math.floor(instantMs / BLOCK_MS);
    const offset = offsetOfBlock(block);
    // The offset changes at most once within a block, so not between two that are equal.
    return offset === offsetOfBlock(block + 1) ? offset : readOffset(instantMs);
  };
  return {
    name,
    localOf: (ms) => ms + offsetAt(ms),
    instantOf(localMs) {
      // Offsets change at most once within two days, so one of these is in force at the time that is sought.
      const before = localMs - offsetAt(localMs - DAY_MS);
      const after = localMs - offsetAt(localMs + DAY_MS);
      const fits = (ms: number) => ms + offsetAt(ms) === localMs;
      if (fits(before) && fits(after)) return Math.min(before, after);
      return fits(after) ? after : before;
    },
  };
}
