/** Names of tables and columns, as names of the model and as SQL. */

/** Words that databases do not take as a name without quotes. */
const RESERVED = new Set(
  `all analyse analyze and any array as asc asymmetric authorization between binary both by case cast check collate
  column constraint create cross current_date current_time current_timestamp current_user default deferrable desc
  distinct do else end except false fetch final for foreign freeze from full grant group having ilike in initially
  inner intersect into is isnull join key lateral leading left like limit localtime natural not notnull null offset on
  only or order outer overlaps placing pivot primary qualify references returning right sample select session_user
  similar some symmetric system_user table tablesample then to trailing true union unique unpivot user using variadic
  verbose when where window with`.split(/\s+/),
);

const isPlain = (name: string) => /^[a-z_][a-z0-9_]*$/.test(name) && !RESERVED.has(name);

/** A name as SQL, with quotes where it needs them. */
export const sqlName = (name: string) => (isPlain(name) ? name : `"${name.replaceAll('"', '""')}"`);

/** A column of the cube, as the `sql` of a member. */
export const columnSql = (column: string) => (isPlain(column) ? column : columnOf('CUBE', column));

/** Braces in the name itself are no references. */
export const columnOf = (cube: string, column: string) =>
  `{${cube}}.${sqlName(column).replace(/[{}]/g, '\\$&')}`;

const NAME_MAX = 100;

/** The name that a member or cube gets: small letters, digits and underscores. */
export function modelName(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, NAME_MAX);
  if (plain === '') return 'unnamed';
  return /^\d/.test(plain) ? `_${plain}` : plain;
}

/** Adds a number if the name is taken, and takes it. */
export function takeName(name: string, taken: Set<string>): string {
  let free = name;
  for (let i = 2; taken.has(free); i++) free = `${name}_${i}`;
  taken.add(free);
  return free;
}

/** `customer` for `customers`, `category` for `categories`, `address` for `addresses`. */
export function singularsOf(name: string): string[] {
  const forms = [name];
  if (name.endsWith('ies')) forms.push(`${name.slice(0, -3)}y`);
  if (name.endsWith('es')) forms.push(name.slice(0, -2));
  if (name.endsWith('s')) forms.push(name.slice(0, -1));
  return forms;
}
