/** SQL with its values kept apart: sql`select … where id = ${id}`. Fragments may be nested. */
export class Sql {
  readonly text: string;
  readonly values: unknown[];
  readonly name: string | undefined;

  constructor(text: string, values: unknown[], name?: string) {
    this.text = text;
    this.values = values;
    this.name = name;
  }

  /** Prepares the statement once a connection. The text must be the same at every call with this name. */
  named(name: string): Sql {
    return new Sql(this.text, this.values, name);
  }
}

export function sql(strings: TemplateStringsArray, ...parts: unknown[]): Sql {
  let text = strings[0]!;
  const values: unknown[] = [];
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
      values.push(part);
      text += `$${values.length}`;
    }
    text += strings[i + 1]!;
  });
  return new Sql(text, values);
}

/** Text that is SQL itself, such as a name of ours. Never anything that a caller sent. */
export const raw = (text: string) => new Sql(text, []);

/** A number of ours in the text, so that plans are made for it, such as a limit. */
export const literal = (value: number) => raw(String(value));

/** Fragments one behind the other, with `separator` between them. */
export const join = (fragments: Sql[], separator: string): Sql =>
  fragments.reduce((all, fragment) => sql`${all}${raw(separator)}${fragment}`);
