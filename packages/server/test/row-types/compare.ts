/** Compares what a statement returned with the row type of the call. */
import type { FieldDef, QueryResult } from 'pg';
import type { Column, Kind, RowType } from './collect.ts';

const OIDS: [Kind, number[]][] = [
  ['boolean', [16]],
  ['buffer', [17]],
  // bigint is a number too: see the parsers in connection.ts.
  ['number', [20, 21, 23, 26, 700, 701]],
  // numeric is a string too, because it may not fit into a number.
  ['string', [18, 19, 25, 1042, 1043, 1082, 1083, 1114, 1184, 1186, 1266, 1700, 2278, 2950]],
  ['array', [1000, 1001, 1005, 1007, 1009, 1015, 1016, 1021, 1022, 1115, 1185, 1231, 2951]],
  // The kind of JSON is known only from its values.
  ['unknown', [114, 3802]],
];
const kindByOid = new Map(OIDS.flatMap(([kind, oids]) => oids.map((oid) => [oid, kind])));

/** Returns the differences. */
export function compare(type: RowType, { fields, rows }: Pick<QueryResult, 'fields' | 'rows'>): string[] {
  const names = fields.map(({ name }) => name);
  return [
    ...Object.entries(type)
      .filter(([name, { isOptional }]) => !isOptional && !names.includes(name))
      .map(([name]) => `the row type names ${name}, and the statement does not return it`),
    ...fields.flatMap((field) => {
      const column = type[field.name];
      if (!column) return [`the statement returns ${field.name}, and the row type does not name it`];
      return compareColumn(column, field, rows);
    }),
  ];
}

function compareColumn(column: Column, { name, dataTypeID }: FieldDef, rows: Record<string, unknown>[]) {
  const declared = column.kinds.join(' or ');
  const kind = kindByOid.get(dataTypeID);
  if (!kind) return [`${name} has the type ${dataTypeID} of PostgreSQL, which compare.ts does not know`];
  if (kind !== 'unknown' && !fits(column.kinds, kind))
    return [`${name} is ${kind}, and declared as ${declared}`];
  for (const row of rows) {
    const value = row[name];
    if (!fits(column.kinds, kindOf(value)))
      return [`${name} was ${kindOf(value)}, and is declared as ${declared}`];
    const wrong =
      Array.isArray(value) && column.items && value.find((item) => !fits(column.items!, kindOf(item)));
    if (wrong)
      return [`an item of ${name} was ${kindOf(wrong)}, and is declared as ${column.items!.join(' or ')}`];
  }
  return [];
}

const fits = (kinds: Kind[], kind: Kind) => kinds.includes(kind) || kinds.includes('unknown');

function kindOf(value: unknown): Kind {
  if (value === null) return 'null';
  if (Buffer.isBuffer(value)) return 'buffer';
  if (Array.isArray(value)) return 'array';
  return typeof value as Kind;
}
