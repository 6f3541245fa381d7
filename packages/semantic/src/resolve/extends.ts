/** A cube or view that extends another one takes over what it does not say itself. */
import type { RawCube, RawView } from '../language/files.ts';
import { didYouMean, type Problems } from '../problems.ts';
import { atKey, type Name, type ObjectPlace } from '../read.ts';
import { shorten } from '../yaml.ts';
import type { Size } from './size.ts';

interface ExtendingObject {
  readonly name: Name;
  readonly extends: Name | undefined;
  readonly where: ObjectPlace;
}

interface ExtendOptions<Raw> {
  readonly problems: Problems;
  readonly size: Size;
  extend(own: Raw, base: Raw): Raw;
}

/** Longer chains help nobody, and each of their members is taken over again. */
const CHAIN_MAX = 20;

interface ExtendedObject<Raw> {
  readonly raw: Raw;
  readonly depth: number;
}

/** All of them, in their order, with what they take over. */
export function extendAll<Raw extends ExtendingObject>(
  raws: readonly Raw[],
  how: ExtendOptions<Raw>,
): readonly Raw[] {
  const { problems, size, extend } = how;
  const byName = new Map(raws.map((raw) => [raw.name.text, raw] as const));
  const done = new Map<Raw, ExtendedObject<Raw>>();

  function extended(raw: Raw, on: readonly Raw[]): ExtendedObject<Raw> {
    const known = done.get(raw);
    if (known) return known;
    if (on.includes(raw)) {
      const message = `\`${raw.name.text}\` extends itself, perhaps through others.`;
      problems.add(atKey(raw, 'extends'), 'reference_cycle', message);
      return { raw, depth: 0 };
    }
    const made = on.length > CHAIN_MAX ? undefined : extendOne(raw, on);
    const isTooDeep = !made || made.depth > CHAIN_MAX;
    if (isTooDeep) {
      const message = `These extend each other more than ${CHAIN_MAX} deep.`;
      problems.add(atKey(raw, 'extends'), 'too_deep', message);
    }
    // Failures are cached too, so that nothing is done again for each one that extends it.
    const kept = isTooDeep ? { raw, depth: 0 } : made;
    done.set(raw, kept);
    return kept;
  }

  /** All characters of the base count again: each of its parts is resolved once more, even one that is replaced. */
  function extendOne(raw: Raw, on: readonly Raw[]): ExtendedObject<Raw> {
    const base = baseOf(raw);
    if (!base || size.isFull) return { raw, depth: 0 };
    const { raw: whole, depth } = extended(base, [...on, raw]);
    const { characters } = whole.where;
    return size.add(atKey(raw, 'extends'), { characters })
      ? { raw: extend(raw, whole), depth: depth + 1 }
      : { raw, depth: 0 };
  }

  function baseOf(raw: Raw): Raw | undefined {
    if (raw.extends === undefined || raw.extends.text === '') return undefined;
    const { text, spot } = raw.extends;
    const base = byName.get(text);
    if (!base) {
      const message = `There is no \`${shorten(text)}\` to extend: a cube extends a cube, and a view a view.`;
      problems.add(spot, 'unknown_name', message, () => didYouMean(text, byName.keys()));
    }
    return base;
  }

  return raws.map((raw) => extended(raw, []).raw);
}

/** Each member is taken over unless the cube has one of the same name and kind. */
export function extendCube(own: RawCube, base: RawCube): RawCube {
  const given = own.where.keys;
  const isOwnFrom = given.has('sql_table') || given.has('sql');
  return {
    ...(ownFirst(own, base) as RawCube),
    ...(isOwnFrom ? { sql_table: own.sql_table, sql: own.sql } : {}),
    joins: named(own.joins, base.joins),
    dimensions: named(own.dimensions, base.dimensions),
    measures: named(own.measures, base.measures),
    segments: named(own.segments, base.segments),
    hierarchies: named(own.hierarchies, base.hierarchies),
  };
}

/** The cubes of the other view, and those of its own. */
export const extendView = (own: RawView, base: RawView): RawView => ({
  ...(ownFirst(own, base) as RawView),
  cubes: [...base.cubes, ...own.cubes],
});

/** This includes policies: a cube or view without any has those of its base, so it is never more open. */
function ownFirst(own: RawCube | RawView, base: RawCube | RawView) {
  const given = Object.fromEntries(Object.entries(own).filter(([key]) => own.where.keys.has(key)));
  const where: ObjectPlace = {
    spot: own.where.spot,
    characters: own.where.characters + base.where.characters,
    keys: new Map([...base.where.keys, ...own.where.keys]),
  };
  return { ...base, ...given, name: own.name, extends: own.extends, where };
}

function named<Item extends { readonly name: Name }>(
  own: readonly Item[],
  base: readonly Item[],
): readonly Item[] {
  const names = new Set(own.map(({ name }) => name.text));
  return [...base.filter(({ name }) => !names.has(name.text)), ...own];
}
