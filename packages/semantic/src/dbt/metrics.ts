/** Measures and metrics of dbt as measures of cubes. What the language cannot say is left out, with the reason. */
import { modelName, takeName } from '../drafts/names.ts';
import { UNITS } from '../language/intervals.ts';
import type { AddNote, CubePlan } from './cubes.ts';
import { filterSql, filterTexts } from './filters.ts';
import { type Fields, fields, isFields, list, text, whole } from './json.ts';
import { expressionOf, type Member, type SemanticModel, sqlOfCube } from './semantic-models.ts';
import { NotExpressibleError, rewriteSql } from './sql.ts';
import { descriptionOf, metaOf, titleOf, withoutUndefined } from './yaml-text.ts';

/** An aggregation, before it has a name. */
interface Aggregation {
  readonly model: SemanticModel;
  readonly type: string;
  readonly sql: string | undefined;
  readonly filters: readonly string[];
}

/** A measure that was written. */
export interface WrittenMeasure {
  readonly model: SemanticModel;
  readonly member: string;
  /** Undefined for a measure that is computed from others. */
  readonly aggregation: Aggregation | undefined;
}

const TYPES: Record<string, string> = {
  sum: 'sum',
  min: 'min',
  max: 'max',
  average: 'avg',
  avg: 'avg',
  count: 'count',
  count_distinct: 'count_distinct',
  sum_boolean: 'sum',
};

function aggregationOf(model: SemanticModel, name: string, measure: Fields): Aggregation {
  const { cube } = model.members;
  const agg = text(measure.agg) ?? '';
  if (isFields(measure.non_additive_dimension))
    throw new NotExpressibleError('a measure that is not additive over time (`non_additive_dimension`)');
  const type = Object.hasOwn(TYPES, agg) ? TYPES[agg] : undefined;
  if (type === undefined) throw new NotExpressibleError(`there is no measure of the type \`${agg}\``);
  const expression = text(measure.expr) ?? (typeof measure.expr === 'number' ? String(measure.expr) : name);
  if (agg === 'count' && /^\s*(1|\*)\s*$/.test(expression))
    return { model, type, sql: undefined, filters: [] };
  if (agg === 'sum_boolean')
    return { model, type, sql: `case when ${sqlOfCube(cube, expression)} then 1 else 0 end`, filters: [] };
  return { model, type, sql: expressionOf(cube, expression).sql, filters: [] };
}

/** Metrics may be made of metrics, this deep. */
const DEPTH_MAX = 50;

export class Metrics {
  readonly #models: readonly SemanticModel[];
  readonly #note: AddNote;
  readonly #sources: ReadonlyMap<string, Fields>;
  readonly #measures = new Map<string, { model: SemanticModel; measure: Fields }>();
  readonly #written = new Map<string, WrittenMeasure | NotExpressibleError>();

  constructor(models: readonly SemanticModel[], metrics: readonly Fields[], note: AddNote) {
    this.#models = models;
    this.#note = note;
    this.#sources = new Map(metrics.map((metric) => [text(metric.name) ?? '', metric]));
    for (const model of models) {
      for (const measure of list(model.source.measures).map(fields)) {
        const name = text(measure.name);
        if (name !== undefined && !this.#measures.has(name)) this.#measures.set(name, { model, measure });
      }
    }
  }

  /** Writes all metrics, and the measures that no metric shows as they are. */
  writeAll(): void {
    for (const name of this.#sources.keys()) {
      const result = this.#find(name, 0);
      if (result instanceof NotExpressibleError)
        this.#note('left_out', idOf(this.#sources.get(name)!), `The metric \`${name}\`: ${result.message}.`);
    }
    const shown = new Set(
      [...this.#sources.values()].flatMap((metric) => (isPlain(metric) ? [measureNameOf(metric)] : [])),
    );
    for (const [name, { model, measure }] of this.#measures) {
      if (shown.has(name) || this.#sources.has(name)) continue;
      try {
        this.#write(name, aggregationOf(model, name, measure), describe(measure));
      } catch (error) {
        this.#note('left_out', model.id, `The measure \`${name}\`: ${reasonOf(error)}.`);
      }
    }
  }

  /** The measure of a metric, or why there is none. */
  find = (name: string) => this.#find(name, 0);

  #find(name: string, depth: number): WrittenMeasure | NotExpressibleError {
    const known = this.#written.get(name);
    if (known) return known;
    const metric = this.#sources.get(name);
    let result: WrittenMeasure | NotExpressibleError;
    // While the measure is being made, a second request for it means that the metric refers to itself.
    this.#written.set(name, new NotExpressibleError(`the metric \`${name}\` is made of itself`));
    try {
      if (!metric) throw new NotExpressibleError(`there is no metric \`${name}\``);
      if (depth > DEPTH_MAX) throw new NotExpressibleError('it is made of metrics of metrics, too many');
      result = this.#make(name, metric, depth);
    } catch (error) {
      result = new NotExpressibleError(reasonOf(error));
    }
    this.#written.set(name, result);
    return result;
  }

  #make(name: string, metric: Fields, depth: number): WrittenMeasure {
    const params = fields(metric.type_params);
    switch (metric.type) {
      case 'simple':
        return this.#write(name, this.#simple(name, metric), describe(metric));
      case 'cumulative':
        return this.#cumulative(name, metric, depth);
      case 'ratio':
        return this.#computed(name, metric, depth, [
          { ...inputOf(params.numerator), alias: 'numerator' },
          { ...inputOf(params.denominator), alias: 'denominator' },
        ]);
      case 'derived': {
        const inputs = list(params.metrics).map(inputOf);
        return this.#computed(name, metric, depth, inputs, text(params.expr) ?? name);
      }
      default:
        throw new NotExpressibleError(`there are no metrics of the type \`${String(metric.type)}\``);
    }
  }

  /** The aggregation of a simple metric: of a measure, or written in the metric itself, as newer versions do. */
  #simple(name: string, metric: Fields): Aggregation {
    const params = fields(metric.type_params);
    const own = fields(params.metric_aggregation_params);
    const input = fields(params.measure);
    if (input.fill_nulls_with != null || input.join_to_timespine === true) {
      const message = `The metric \`${name}\`: dates without rows have no value here (\`fill_nulls_with\`, \`join_to_timespine\`).`;
      this.#note('changed', idOf(metric), message);
    }
    const filters = [...filterTexts(input.filter), ...filterTexts(metric.filter)];
    const wanted = measureNameOf(metric);
    const found = wanted === undefined ? undefined : this.#measures.get(wanted);
    if (found) return this.#filtered(aggregationOf(found.model, wanted!, found.measure), filters);
    const owner = this.#models.find((model) => model.name === text(own.semantic_model));
    if (!owner)
      throw new NotExpressibleError(
        `its measure \`${wanted ?? text(own.semantic_model) ?? ''}\` is not part of this sync`,
      );
    return this.#filtered(aggregationOf(owner, name, { expr: params.expr, ...own }), filters);
  }

  #filtered(aggregation: Aggregation, filters: readonly string[]): Aggregation {
    const { model } = aggregation;
    const made = filters.map((filter) => filterSql(filter, { from: model, models: this.#models }));
    return { ...aggregation, filters: [...aggregation.filters, ...made] };
  }

  #cumulative(name: string, metric: Fields, depth: number): WrittenMeasure {
    const params = fields(metric.type_params);
    const own = fields(params.cumulative_type_params);
    if ((own.grain_to_date ?? params.grain_to_date) != null)
      throw new NotExpressibleError('a rolling window cannot begin with each period (`grain_to_date`)');
    const trailing = windowOf(own.window ?? params.window);
    const input = inputOf(own.metric);
    let aggregation: Aggregation;
    if (input.name === undefined) aggregation = this.#simple(name, metric);
    else {
      const found = this.#find(input.name, depth + 1);
      if (found instanceof NotExpressibleError) throw found;
      if (!found.aggregation)
        throw new NotExpressibleError(`\`${input.name}\` is computed from others, and has no window`);
      aggregation = this.#filtered(found.aggregation, [...input.filters, ...filterTexts(metric.filter)]);
    }
    const message = `The metric \`${name}\`: in steps that are coarser than its time, it shows the end of each step, where dbt shows the \`${text(own.period_agg) ?? 'first'}\` of its parts.`;
    this.#note('changed', idOf(metric), message);
    return this.#write(name, aggregation, describe(metric), { rolling_window: { trailing } });
  }

  /** A ratio, or whatever the expression says. */
  #computed(
    name: string,
    metric: Fields,
    depth: number,
    inputs: readonly Input[],
    expression?: string,
  ): WrittenMeasure {
    const found = inputs.map((input) => {
      if (input.name === undefined) throw new NotExpressibleError('it names no metric');
      if (input.isOffset)
        throw new NotExpressibleError(
          `it needs \`${input.name}\` of another period (\`offset_window\`, \`offset_to_grain\`), and measures cannot be shifted`,
        );
      const measure = this.#find(input.name, depth + 1);
      if (measure instanceof NotExpressibleError)
        throw new NotExpressibleError(`it needs \`${input.name}\`, and ${measure.message}`);
      return { input, measure };
    });
    const first = found[0];
    if (!first) throw new NotExpressibleError('it names no metric');
    const { model } = first.measure;
    const home = model.members.cube;
    const filters = filterTexts(metric.filter);
    const isElsewhere = found.some(({ measure }) => measure.model.members.cube !== home);
    if (isElsewhere && filters.length)
      throw new NotExpressibleError('its filter would be for measures of several cubes');
    for (const { measure } of found) {
      const { cube } = measure.model.members;
      if (cube !== home && !isConnected(home, cube, this.#models)) {
        throw new NotExpressibleError(`no join leads from \`${home.name}\` to \`${cube.name}\``);
      }
    }
    const names = new Map<string, string>();
    for (const { input, measure } of found) {
      const { member } = input.filters.length ? this.#narrowed(name, input, measure) : measure;
      const { cube } = measure.model.members;
      names.set(input.alias ?? input.name!, cube === home ? `{${member}}` : `{${cube.name}.${member}}`);
    }
    const sql =
      expression === undefined
        ? `${names.get('numerator')} / ${names.get('denominator')}`
        : rewriteSql([expression], (word) => names.get(word));
    const conditions = filters.map((filter) => filterSql(filter, { from: model, models: this.#models }));
    const aggregation = { model, type: 'number', sql, filters: conditions };
    return { ...this.#write(name, aggregation, describe(metric)), aggregation: undefined };
  }

  /** The measure of an input with filters of its own, which is hidden, because only its metric needs it. */
  #narrowed(name: string, input: Input, measure: WrittenMeasure): WrittenMeasure {
    const { model } = measure;
    const base = measure.aggregation ?? { model, type: 'number', sql: `{${measure.member}}`, filters: [] };
    const aggregation = this.#filtered(base, input.filters);
    return this.#write(`${name}_${input.alias ?? input.name}`, aggregation, { public: false });
  }

  #write(name: string, aggregation: Aggregation, described: object, more: object = {}): WrittenMeasure {
    const { model, type, sql, filters } = aggregation;
    const { members } = model;
    const member = takeName(modelName(name), members.taken);
    if (member !== modelName(name)) {
      const message = `The measure \`${name}\` is \`${member}\` here, because the name is taken.`;
      this.#note('changed', model.id, message);
    }
    members.measures.push(
      withoutUndefined({
        name: member,
        ...described,
        sql,
        type,
        filters: filters.length ? filters.map((filter) => ({ sql: filter })) : undefined,
        ...more,
      }) as Member,
    );
    return { model, member, aggregation };
  }
}

const idOf = (metric: Fields) => String(metric.unique_id);

function reasonOf(error: unknown): string {
  if (error instanceof NotExpressibleError) return error.message;
  throw error;
}

const measureNameOf = (metric: Fields): string | undefined => {
  const { measure } = fields(metric.type_params);
  return text(measure) ?? text(fields(measure).name);
};

/** A metric that is its measure, under another name. */
const isPlain = (metric: Fields) =>
  metric.type === 'simple' &&
  !filterTexts(metric.filter).length &&
  !filterTexts(fields(fields(metric.type_params).measure).filter).length;

interface Input {
  readonly name: string | undefined;
  readonly alias: string | undefined;
  readonly filters: readonly string[];
  readonly isOffset: boolean;
}

function inputOf(value: unknown): Input {
  const input = fields(value);
  return {
    name: text(value) ?? text(input.name),
    alias: text(input.alias),
    filters: filterTexts(input.filter),
    isOffset: input.offset_window != null || input.offset_to_grain != null,
  };
}

/** `{ count: 7, granularity: 'day' }`, or `7 days`, as an interval; without one, everything so far. */
function windowOf(value: unknown): string {
  if (value == null) return 'unbounded';
  const [, counted, unit] = /^\s*(\d+)\s+(\w+?)s?\s*$/.exec(text(value) ?? '') ?? [];
  const count = whole(fields(value).count) ?? Number(counted);
  const granularity = text(fields(value).granularity)?.replace(/s$/, '') ?? unit ?? '';
  if (!(count > 0) || !(UNITS as readonly string[]).includes(granularity))
    throw new NotExpressibleError('its window is not a number of days, weeks, months or years');
  return `${count} ${granularity}`;
}

const describe = (source: Fields) =>
  withoutUndefined({
    // dbt fills in the name where there is no label.
    title: source.label === source.name ? undefined : titleOf(text(source.label)),
    description: descriptionOf(text(source.description)),
    meta: metaOf({ ...fields(source.meta), ...fields(fields(source.config).meta) }) ?? undefined,
  });

/** Whether joins lead from one cube to the other, in any direction. */
function isConnected(from: CubePlan, to: CubePlan, models: readonly SemanticModel[]): boolean {
  const cubes = [...new Set(models.map(({ members }) => members.cube))];
  const reached = new Set([from]);
  for (const cube of reached) {
    for (const join of cube.joins) reached.add(join.to);
    for (const other of cubes) if (other.joins.some((join) => join.to === cube)) reached.add(other);
  }
  return reached.has(to);
}
