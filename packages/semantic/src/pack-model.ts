/** A model in parts, none of which is large, so that it can be brought into another thread step by step. */
import type { Cube, Model, View } from './model.ts';

const LISTS = ['dimensions', 'measures', 'segments', 'hierarchies'] as const;

export type PackedPart =
  /** A cube or a view, without its members. */
  | { readonly cube: Cube }
  | { readonly view: View }
  /** Members of the cube or view before it, of one kind. */
  | {
      readonly list: (typeof LISTS)[number] | 'members';
      readonly items: readonly (readonly [string, unknown])[];
    };

const TOGETHER = 100;

export function* packModel({ cubes, views }: Model): Generator<PackedPart> {
  const nothing = new Map<string, never>();
  for (const cube of cubes.values()) {
    yield {
      cube: { ...cube, dimensions: nothing, measures: nothing, segments: nothing, hierarchies: nothing },
    };
    for (const list of LISTS) yield* partsOf(list, cube[list]);
  }
  for (const view of views.values()) {
    yield { view: { ...view, members: nothing } };
    yield* partsOf('members', view.members);
  }
}

function* partsOf(
  list: Extract<PackedPart, { list: unknown }>['list'],
  map: ReadonlyMap<string, unknown>,
): Generator<PackedPart> {
  let items: [string, unknown][] = [];
  for (const item of map) {
    if (items.push(item) < TOGETHER) continue;
    yield { list, items };
    items = [];
  }
  if (items.length) yield { list, items };
}

/** Call `add` for each part, in their order. Then the model is whole. */
export function unpackModel(): { readonly model: Model; add(part: PackedPart): void } {
  const cubes = new Map<string, Cube>();
  const views = new Map<string, View>();
  let last: Partial<Record<string, Map<string, unknown>>> = {};
  return {
    model: { cubes, views },
    add(part) {
      if ('cube' in part) {
        const { cube } = part;
        const own = {
          ...cube,
          dimensions: new Map(),
          measures: new Map(),
          segments: new Map(),
          hierarchies: new Map(),
        };
        cubes.set(cube.name, own);
        last = own as never;
      } else if ('view' in part) {
        const own = { ...part.view, members: new Map() };
        views.set(own.name, own);
        last = own as never;
      } else for (const [name, item] of part.items) last[part.list]!.set(name, item);
    },
  };
}
