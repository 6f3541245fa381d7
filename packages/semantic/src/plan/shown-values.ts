/**
 * In a row that is not grouped, a measure shows the value that it would aggregate. So the viewer must be able to query
 * every member that the SQL of the measure names, or they would see columns that are hidden from them. A count shows
 * only whether there is something to count.
 */
import type { Case, Cube, Dimension, Expression, Model, Reference, TableReference } from '../model.ts';
import type { Lexing } from '../sql-texts.ts';
import { type Budget, following, spend } from './budget.ts';
import { queryError } from './errors.ts';
import { isCount, referredMeasure } from './measures.ts';
import { type MeasureMember, type Members, membersIn } from './members.ts';
import { shortestPath, withoutReturns } from './paths.ts';
import type { Dialect } from './render.ts';
import { tokensOf } from './tokens.ts';

interface Context {
  readonly model: Model;
  readonly dialect: Dialect;
  readonly budget: Budget;
}

/** The members count as named by the query, so that a policy which does not open them opens no rows. */
export function requireShown(context: Context, members: Members, measure: MeasureMember) {
  if (isShown(context, members, measure)) return;
  const message = `\`${measure.key}\` would show values of single rows that this query can not use, so the query can not be ungrouped.`;
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
    const { measure: definition, cube, path } = member;
    if (isCount(definition.type)) return true;
    const expression = definition.sql!;
    return (
      membersAreShown(expression, path, member) &&
      columnsIn(expression, cube.name, dialect.lexing).every((column) => columnIsShown(column, path))
    );
  };

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

  /** A dimension of the same column shows its values. Other columns are open to those from whom nothing is hidden. */
  const columnIsShown = ({ name, table }: ColumnReference, from: readonly string[]): boolean => {
    const cube = model.cubes.get(table.cube)!;
    const path = pathTo(model, from, table);
    const same = [...cube.dimensions.values()].filter(
      (dimension) => name !== undefined && columnOf(dimension, dialect.lexing) === name,
    );
    if (same.length) return same.some((dimension) => use(cube, dimension.name, path));
    return membersIn(cube).every((member) => {
      const isConcerned =
        member.public ||
        name === undefined ||
        ('value' in member && reads(member, cube.name, name, dialect.lexing));
      return !isConcerned || use(cube, member.name, path);
    });
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

interface ColumnReference {
  /** In lower case; undefined for all columns of the row. */
  readonly name: string | undefined;
  readonly table: TableReference;
}

/** The column, if the dimension is one and nothing else. */
function columnOf({ value }: Dimension, lexing: Lexing): string | undefined {
  if ('when' in value || value.length !== 2) return undefined;
  const [table, text] = value;
  if (typeof table === 'string' || table!.kind !== 'table' || typeof text !== 'string') return undefined;
  const tokens = wordsIn(text, lexing);
  return tokens.length === 2 && tokens[0] === '.' ? plainName(tokens[1]!) : undefined;
}

const reads = ({ value }: Dimension, cube: string, column: string, lexing: Lexing) =>
  expressionsOf(value).some((expression) =>
    columnsIn(expression, cube, lexing).some(
      ({ name, table }) => table.cube === cube && (name === undefined || headOf(name) === headOf(column)),
    ),
  );

/** Of `payload.email`, a part of a column. */
const headOf = (name: string) => name.split('.')[0];

/** The columns that the texts of an expression name. A name without a table, or a word that may be one, is of the cube. */
function columnsIn(expression: Expression, cube: string, lexing: Lexing): ColumnReference[] {
  const own: TableReference = { kind: 'table', cube, path: [cube] };
  return expression.flatMap((part, i): ColumnReference[] => {
    if (typeof part !== 'string') {
      const isRow = part.kind === 'table' && !/^\s*\.\s*["`\w]/.test(textAt(expression, i + 1));
      return isRow ? [{ name: undefined, table: part }] : [];
    }
    const before = expression[i - 1];
    const table = typeof before === 'object' && before.kind === 'table' ? before : undefined;
    const words = wordsIn(part, lexing);
    return words.flatMap((word, at): ColumnReference[] => {
      if (table && at === 1 && words[0] === '.') return [{ name: plainName(word), table }];
      if (!/^[A-Za-z_"`]/.test(word) || words[at + 1] === '(' || KEYWORDS.has(word.toLowerCase())) return [];
      const names = word.split('.').map(plainName);
      return names.map((name) => ({ name: name === cube.toLowerCase() ? undefined : name, table: own }));
    });
  });
}

const textAt = (expression: Expression, index: number) => {
  const part = expression[index];
  return typeof part === 'string' ? part : '';
};

const wordsIn = (text: string, lexing: Lexing) =>
  tokensOf([text], lexing).filter((token): token is string => typeof token === 'string' && !!token.trim());

/** Names that differ by case or quotes are taken for the same, which hides more, and not less. */
const plainName = (word: string) => word.replace(/^["`]|["`]$/g, '').toLowerCase();

const KEYWORDS = new Set(
  `and as between case cast distinct div else end escape false from ilike in interval is like not null or precision then
  true when bigint boolean date decimal double float float8 int integer numeric real text timestamp varchar`.split(
    /\s+/,
  ),
);
