/** SQL with its values kept apart: sql`select … where id = ${id}`. Fragments may be nested. */
export class Sql {
  readonly text: string;
  readonly values: Bound[];
  readonly name: string | undefined;

  constructor(text: string, values: Bound[], name?: string) {
    this.text = text;
    this.values = values;
    this.name = name;
  }

  /** Prepares the statement once a connection. The text must be the same at every call with this name. */
  named(name: string): Sql {
    return new Sql(this.text, this.values, name);
  }
}

/** What the driver is given. It would turn anything else into a text of its own choice. */
type Bound = string | number | boolean | null | Buffer | readonly Bound[];

/**
 * What a statement takes as a value. There is no `Date`, because it would cut off the microseconds of a time: times are
 * text. There is no `undefined`, because it may be a misspelt field: say `null`.
 */
export type Bindable = string | number | boolean | null | Buffer | Json | readonly Bindable[];

/** A value for a column of type json or jsonb; see `json`. */
class Json {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What has a JSON form. Promises and functions would become `{}` and nothing. */
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
  const values: Bound[] = [];
  parts.forEach((part, i) => {
    if (part instanceof Sql) {
      const offset = values.length;
      // Long texts without values are common, and need no look.
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

function bound(value: Bindable): Bound {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  if (value === null || Buffer.isBuffer(value)) return value;
  if (value instanceof Json) return value.text;
  if (Array.isArray(value)) return value.map(bound);
  throw new TypeError(`${describe(value)} can not be bound to a statement`);
}

const isThenable = (value: unknown) => typeof (value as { then?: unknown } | undefined)?.then === 'function';

/** The kind of the value and never the value itself: this goes into logs. */
const describe = (value: unknown) =>
  typeof value === 'object' && value !== null
    ? `an object of type ${value.constructor?.name ?? 'Object'}`
    : `a value of type ${typeof value}`;

/** Text that is SQL itself, such as a name of ours. Never anything that a caller sent. */
export const raw = (text: string) => new Sql(text, []);

/** A number of ours in the text, so that plans are made for it, such as a limit. */
export const literal = (value: number) => raw(String(value));

/** Fragments one behind the other, with `separator` between them. */
export const join = (fragments: Sql[], separator: string): Sql =>
  fragments.reduce((all, fragment) => sql`${all}${raw(separator)}${fragment}`);
