/** SQL text with separate values: sql`select … where id = ${id}`. Fragments may be nested. */
export class Sql {
  readonly text: string;
  readonly values: BoundValue[];
  readonly name: string | undefined;

  constructor(text: string, values: BoundValue[], name?: string) {
    this.text = text;
    this.values = values;
    this.name = name;
  }

  /** Prepares the statement once per connection. The text must be the same at every call with this name. */
  named(name: string): Sql {
    return new Sql(this.text, this.values, name);
  }
}

/** The values that the driver gets. It would convert any other value to text in its own way. */
export type BoundValue = string | number | boolean | null | Buffer | readonly BoundValue[];

/**
 * The values that a statement accepts. `Date` is missing because it has no microseconds: use text for times.
 * `undefined` is missing because it may come from a misspelt field: use `null`.
 */
export type Bindable = string | number | boolean | null | Buffer | Json | readonly Bindable[];

/** A value for a column of type json or jsonb; see `json`. */
class Json {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value that has a JSON form. Promises would become `{}`, and functions would disappear. */
export type Jsonable =
  | string
  | number
  | boolean
  | null
  | (object & { readonly then?: never; readonly apply?: never });

/** A value for a column of type json or jsonb. `null` is the null of SQL: no column holds the null of JSON. */
export function json(value: Jsonable): Json | null {
  if (value === null) return null;
  const text = isThenable(value) ? undefined : JSON.stringify(value);
  if (text === undefined) throw new TypeError(`${describe(value)} has no JSON form`);
  return new Json(text);
}

export function sql(strings: TemplateStringsArray, ...parts: (Bindable | Sql)[]): Sql {
  let text = strings[0]!;
  const values: BoundValue[] = [];
  parts.forEach((part, i) => {
    if (part instanceof Sql) {
      const offset = values.length;
      // Long texts without values are common, and need no renumbering.
      text +=
        offset && part.values.length
          ? part.text.replace(/\$(\d+)/g, (_, n) => `$${Number(n) + offset}`)
          : part.text;
      values.push(...part.values);
    } else {
      values.push(bound(part));
      text += `$${values.length}`;
    }
    text += strings[i + 1]!;
  });
  return new Sql(text, values);
}

function bound(value: Bindable): BoundValue {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  if (value === null || Buffer.isBuffer(value)) return value;
  if (value instanceof Json) return value.text;
  if (Array.isArray(value)) return value.map(bound);
  throw new TypeError(`${describe(value)} cannot be bound to a statement`);
}

const isThenable = (value: unknown) => typeof (value as { then?: unknown } | undefined)?.then === 'function';

/** Returns the kind of the value and never the value itself, because the text goes into logs. */
const describe = (value: unknown) =>
  typeof value === 'object' && value !== null
    ? `an object of type ${value.constructor?.name ?? 'Object'}`
    : `a value of type ${typeof value}`;

/** Text that is used as SQL, such as the name of a column. Must never contain anything that a caller sent. */
export const raw = (text: string) => new Sql(text, []);

/** Puts one of our own numbers, such as a limit, into the text, so that the plan is made for this value. */
export const literal = (value: number) => raw(String(value));

/** Joins the fragments with `separator` between them. */
export const join = (fragments: Sql[], separator: string): Sql =>
  fragments.reduce((all, fragment) => sql`${all}${raw(separator)}${fragment}`);

/** A pattern for `like` that finds exactly this text, anywhere. */
export const containing = (text: string) => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
