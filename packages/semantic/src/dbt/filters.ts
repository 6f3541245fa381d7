/** Filters of dbt's metrics: SQL with calls such as `{{ Dimension('order__status') }}` in it. */
import { columnOfCube } from './cubes.ts';
import { fields, list, text, texts } from './json.ts';
import { referTo, type SemanticModel } from './semantic-models.ts';
import { NotExpressibleError, rewriteSql, type SqlPart } from './sql.ts';

/** The texts of a filter, which may be a text, a list, or what the manifest makes of them. */
export function filterTexts(filter: unknown): string[] {
  const all = list(fields(filter).where_filters).map((one) => text(fields(one).where_sql_template) ?? '');
  return [...texts(filter), ...all].map((one) => one.trim()).filter((one) => one !== '');
}

const CALL = /\{\{([^{}]*)\}\}/g;
const SHAPE =
  /^\s*(Dimension|TimeDimension|Entity|Metric)\s*\(([^()]*)\)\s*(?:\.\s*grain\s*\(([^()]*)\)\s*)?$/;
const ARGUMENT = /(?:(\w+)\s*=\s*)?(\[[^\]]*\]|'[^']*'|"[^"]*")/g;

const unquoted = (text: string) => text.slice(1, -1);
const listed = (text: string) => [...text.matchAll(/'([^']*)'|"([^"]*)"/g)].map(([, a, b]) => a ?? b ?? '');

/** The arguments of a call: those without a name have the names of their places. */
function argumentsOf(text: string, names: readonly string[]): Map<string, string> {
  let place = 0;
  const found = [...text.matchAll(ARGUMENT)].map(
    ([, name, value]) => [name ?? names[place++] ?? '', value!] as const,
  );
  return new Map(found);
}

export interface FilterOptions {
  readonly from: SemanticModel;
  readonly models: readonly SemanticModel[];
}

/** A call of Jinja as a reference. */
export function referenceOf(call: string, { from, models }: FilterOptions) {
  const [, what, args, chained] = SHAPE.exec(call) ?? [];
  if (what === undefined) throw new NotExpressibleError(`\`${call.trim().slice(0, 100)}\` is code of dbt`);
  if (what === 'Metric') throw new NotExpressibleError('a filter by a metric needs another query');
  const given = argumentsOf(args!, ['name', what === 'TimeDimension' ? 'grain' : 'path', 'path']);
  const name = given.get('name') ?? given.get('dimension_name') ?? given.get('entity_name');
  if (name === undefined || name.startsWith('[')) throw new NotExpressibleError(`\`${what}\` names nothing`);
  const grain = given.get('grain') ?? given.get('time_granularity_name') ?? (chained || undefined);
  if (given.has('date_part_name')) throw new NotExpressibleError('a part of a date is not a granularity');
  const path = given.get('path') ?? given.get('entity_path');
  return {
    what,
    name: unquoted(name),
    grain: grain === undefined ? undefined : unquoted(grain.trim()).toLowerCase(),
    along: path === undefined ? [] : listed(path),
    from,
    models,
  };
}

/** The filter as a condition of a measure. Throws `NotExpressibleError` if that is not possible. */
export function filterSql(filter: string, options: FilterOptions): string {
  const parts: SqlPart[] = [];
  let from = 0;
  for (const match of filter.matchAll(CALL)) {
    parts.push(filter.slice(from, match.index));
    from = match.index + match[0].length;
    const call = referenceOf(match[1]!, options);
    parts.push({
      reference: call.what === 'Entity' ? entitySql(call.name, options) : referTo(call.name, call).text,
    });
  }
  parts.push(filter.slice(from));
  return rewriteSql(parts, () => undefined);
}

function entitySql(name: string, { from }: FilterOptions): string {
  const entity = from.entities.get(name);
  if (!entity) throw new NotExpressibleError(`there is no entity \`${name}\` here`);
  const { cube } = from.members;
  return entity.column === undefined ? `(${entity.sql})` : `{CUBE}.${columnOfCube(cube, entity.column)}`;
}
