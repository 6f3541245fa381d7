/**
 * In a row that is not grouped, a measure shows the value that it would aggregate. So the viewer must be able to query
 * every member that the SQL of the measure names, or they would see columns that are hidden from them. A count shows
 * only whether there is something to count.
 */
import type { Case, Cube, Dimension, Expression, Model, Reference } from '../model.ts';
import type { LexerPatterns } from '../sql-texts.ts';
import { type Budget, following, spend } from './budget.ts';
import { columnsIn, tokensIn } from './columns.ts';
import { queryError } from './errors.ts';
import { isCount, referredMeasure } from './measures.ts';
import { type MeasureMember, type Members, membersIn } from './members.ts';
import { shortestPath, withoutReturns } from './paths.ts';
import type { Dialect } from './render.ts';

interface Context {
  readonly model: Model;
  readonly dialect: Dialect;
  readonly budget: Budget;
}

/** The members count as named by the query, so that a policy which does not open them opens no rows. */
export function requireShown(context: Context, members: Members, measure: MeasureMember) {
  if (isShown(context, members, measure)) return;
  const message = `\`${measure.key}\` would show values of single rows that this query cannot use, so the query cannot be ungrouped.`;
  throw queryError('invalid_query', message, 'ungrouped');
}

function isShown({ model, dialect, budget }: Context, members: Members, measure: MeasureMember): boolean {
  const seen = new Set<string>();
  /** Calls the function if the viewer can use the member, and has not come here before. */
  const use = (cube: Cube, member: string, path: readonly string[], next: () => boolean = () => true) => {
    const id = [...path, member].join('.');
    if (seen.has(id)) return true;
    seen.add(id);
    spend(budget, 1);
    return members.mayUse(cube, member, path) && following(budget, next);
  };

  const measureIsShown = (member: MeasureMember): boolean => {
    const { measure: definition, path } = member;
    if (isCount(definition.type)) return true;
    const expression = definition.sql!;
    if (!membersAreShown(expression, path, member)) return false;
    const columns = columnsIn(expression, dialect.lexing);
    const bare = new Set(columns.filter(({ table }) => !table).map(({ name }) => name));
    const found = bare.size ? placesOf(expression, path) : [];
    const places = new Map(found.map((place) => [place.join('.'), place]));
    return (
      columns.every(({ name, table }) => !table || columnIsShown(name, pathTo(model, path, table))) &&
      [...bare].every((name) => [...places.values()].every((place) => columnIsShown(name, place)))
    );
  };

  /** The cubes that an expression joins, and its own: a name without a table may be a column of any of them. */
  const placesOf = (expression: Expression, from: readonly string[]): (readonly string[])[] => [
    from,
    ...expression.flatMap((part) => {
      if (typeof part === 'string') return [];
      spend(budget, 1);
      const path = pathTo(model, from, part);
      const parting = path.findIndex((cube, i) => cube !== from[i]);
      const way = path.map((_, i) => path.slice(0, i + 1)).slice(parting < 0 ? -1 : parting - 1);
      const dimension = part.kind === 'dimension' && model.cubes.get(part.cube)!.dimensions.get(part.member);
      if (!dimension || dimension.subQuery) return way;
      return [
        ...way,
        ...following(budget, () => expressionsOf(dimension.value).flatMap((one) => placesOf(one, path))),
      ];
    }),
  ];

  const membersAreShown = (expression: Expression, from: readonly string[], of?: MeasureMember): boolean =>
    expression.every((part): boolean => {
      if (typeof part === 'string' || part.kind === 'table') return true;
      if (part.kind === 'measure' && of) {
        const referred = referredMeasure(model, of, part);
        return use(referred.cube, part.member, referred.path, () => measureIsShown(referred));
      }
      const cube = model.cubes.get(part.cube)!;
      const path = pathTo(model, from, part);
      const dimension = cube.dimensions.get(part.member);
      // The measures of a `sub_query` are aggregated.
      const inner = !dimension || dimension.subQuery ? [] : expressionsOf(dimension.value);
      return use(cube, part.member, path, () => inner.every((one) => membersAreShown(one, path)));
    });

  const readings = new Map<Cube, readonly ColumnUse[]>();
  const readingsOf = (cube: Cube) => {
    if (!readings.has(cube)) readings.set(cube, readingsIn(cube, dialect.lexing));
    return readings.get(cube)!;
  };

  /** Dimensions of the same column show its values. Other columns are open to a viewer from whom nothing is hidden. */
  const columnIsShown = (column: string | undefined, path: readonly string[]): boolean => {
    const cube = model.cubes.get(path.at(-1)!)!;
    const name = column === cube.name.toLowerCase() ? undefined : column;
    spend(budget, 1);
    if (name === undefined) return membersIn(cube).every((member) => use(cube, member.name, path));
    const same = readingsOf(cube).filter((reading) => reading.column === name);
    if (same.length) return same.every(({ dimension }) => use(cube, dimension.name, path));
    const readers = readingsOf(cube).filter(({ heads }) => heads.has(undefined) || heads.has(headOf(name)));
    return [
      ...membersIn(cube).filter((member) => member.public),
      ...readers.map(({ dimension }) => dimension),
    ].every((member) => use(cube, member.name, path));
  };
  return measureIsShown(measure);
}

const pathTo = (model: Model, from: readonly string[], { path }: Reference): readonly string[] => {
  const start = from.at(-1)!;
  const way = path[0] === start ? path : [...shortestPath(model, start, path[0]!), ...path.slice(1)];
  return withoutReturns([...from, ...way.slice(1)]);
};

const expressionsOf = (value: Expression | Case): readonly Expression[] => {
  if (!('when' in value)) return [value];
  const labels = [...value.when.map(({ label }) => label), ...(value.otherwise ? [value.otherwise] : [])];
  return [
    ...value.when.map(({ condition }) => condition),
    ...labels.flatMap((label) => ('sql' in label ? [label.sql] : [])),
  ];
};

interface ColumnUse {
  readonly dimension: Dimension;
  /** The column of the cube that the dimension is, if it is nothing else. */
  readonly column: string | undefined;
  /** The columns of the cube that it names: of `payload.email`, the first part. Undefined for the whole row. */
  readonly heads: ReadonlySet<string | undefined>;
}

const readingsIn = (cube: Cube, lexing: LexerPatterns): ColumnUse[] =>
  [...cube.dimensions.values()].map((dimension) => {
    const { value } = dimension;
    const columns = expressionsOf(value)
      .flatMap((expression) => columnsIn(expression, lexing))
      .filter(({ table }) => !table || table.cube === cube.name);
    const [first] = columns;
    const isColumn = !('when' in value) && first?.table && first.length === tokensIn(value, lexing).length;
    const isRow = (name: string | undefined) => name === undefined || name === cube.name.toLowerCase();
    return {
      dimension,
      column: isColumn ? first.name : undefined,
      heads: new Set(columns.map(({ name }) => (isRow(name) ? undefined : headOf(name!)))),
    };
  });

const headOf = (name: string) => name.split('.')[0]!;
