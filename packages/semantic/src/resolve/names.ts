/** What the files define, by name. */
import type { RawCube, RawFile, RawView } from '../language/files.ts';
import type { RawDimension, RawHierarchy, RawMeasure, RawSegment } from '../language/members.ts';
import { didYouMean, type Problems } from '../problems.ts';
import type { Name } from '../read.ts';
import { shorten } from '../yaml.ts';
import { extendAll, extendCube, extendView } from './extends.ts';
import type { Size } from './size.ts';

export interface CubeNames {
  readonly name: string;
  readonly raw: RawCube;
  readonly dimensions: ReadonlyMap<string, RawDimension>;
  readonly measures: ReadonlyMap<string, RawMeasure>;
  readonly segments: ReadonlyMap<string, RawSegment>;
  readonly hierarchies: ReadonlyMap<string, RawHierarchy>;
  /** Members of all kinds share their names. */
  readonly kinds: ReadonlyMap<string, MemberKind>;
}
const DEFAULT_DATA_SOURCE = 'default';
export const dataSourceOf = ({ raw }: CubeNames) => raw.data_source?.text ?? DEFAULT_DATA_SOURCE;

export type MemberKind = 'dimension' | 'measure' | 'segment' | 'hierarchy';

export interface Names {
  readonly cubes: ReadonlyMap<string, CubeNames>;
  readonly views: ReadonlyMap<string, RawView>;
}

export function collectNames(
  files: readonly RawFile[],
  { problems, size }: { problems: Problems; size: Size },
): Names {
  const cubes = new Map<string, CubeNames>();
  const views = new Map<string, RawView>();
  const taken = (name: Name) => {
    const isTaken = cubes.has(name.text) || views.has(name.text);
    if (isTaken) {
      problems.add(
        name.spot,
        'duplicate_name',
        `There is another cube or view with the name \`${name.text}\`.`,
      );
    }
    return isTaken || name.text === '';
  };
  const extended = {
    cubes: extendAll(
      files.flatMap((file) => file.cubes),
      { problems, size, extend: extendCube },
    ),
    views: extendAll(
      files.flatMap((file) => file.views),
      { problems, size, extend: extendView },
    ),
  };
  for (const raw of extended.cubes) {
    const names = membersOf(raw, problems);
    if (!taken(raw.name)) cubes.set(raw.name.text, names);
  }
  for (const raw of extended.views) if (!taken(raw.name)) views.set(raw.name.text, raw);
  return { cubes, views };
}

function membersOf(raw: RawCube, problems: Problems): CubeNames {
  const kinds = new Map<string, MemberKind>();
  const byName = <T extends { name: Name }>(kind: MemberKind, items: readonly T[]) => {
    const found = new Map<string, T>();
    for (const item of items) {
      const { text, spot } = item.name;
      if (text === '') continue;
      if (kinds.has(text)) {
        const message = `The cube has another member with the name \`${text}\`.`;
        problems.add(spot, 'duplicate_name', message, 'Members of all kinds share their names.');
        continue;
      }
      kinds.set(text, kind);
      found.set(text, item);
    }
    return found;
  };
  return {
    name: raw.name.text,
    raw,
    dimensions: byName('dimension', raw.dimensions),
    measures: byName('measure', raw.measures),
    segments: byName('segment', raw.segments),
    hierarchies: byName('hierarchy', raw.hierarchies),
    kinds,
  };
}

/** Returns the cube, or reports that there is none. */
export function requireCube(names: Names, { text, spot }: Name, problems: Problems): CubeNames | undefined {
  const cube = names.cubes.get(text);
  if (!cube && text !== '') {
    const isView = names.views.has(text);
    const message = isView
      ? `\`${text}\` is a view, and not a cube.`
      : `There is no cube \`${shorten(text)}\`.`;
    problems.add(
      spot,
      'unknown_name',
      message,
      isView ? undefined : () => didYouMean(text, names.cubes.keys()),
    );
  }
  return cube;
}
