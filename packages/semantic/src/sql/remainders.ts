/** `%` and `mod`. PostgreSQL has no remainder of doubles, so all data sources refuse what is one for certain. */
import type { Sql } from '../plan/sql.ts';
import { constantOf } from './constants.ts';
import { FUNCTIONS } from './functions.ts';
import { isObject, namesOf, nodeOf, unsupported } from './tree.ts';

/** `made` is written already, so it is known that the parts are not nested too deep. */
export function remainderSql(parts: readonly unknown[], made: Sql): Sql {
  if (!parts.some(isDouble)) return made;
  throw unsupported(
    'The operator `%` and the function `mod` take whole numbers and decimals. Numbers with an exponent and results of functions like `sqrt` are doubles: write `10` for `1e1`, or `cast(… as numeric)`.',
  );
}

const DOUBLE_TYPES: ReadonlySet<string | undefined> = new Set(['float4', 'float8']);
const ARITHMETIC: ReadonlySet<string | undefined> = new Set(['+', '-', '*', '/']);

/** As far as the statement itself says it: the types of columns are not known here. */
function isDouble(node: unknown): boolean {
  if (node === undefined) return false;
  const { kind, fields } = nodeOf(node);
  switch (kind) {
    case 'A_Const': {
      const constant = constantOf(fields);
      return isObject(constant) && /e/i.test(String(constant.decimal));
    }
    case 'TypeCast':
      return isObject(fields.typeName) && DOUBLE_TYPES.has(namesOf(fields.typeName.names).at(-1));
    case 'FuncCall':
      return FUNCTIONS.get(namesOf(fields.funcname).at(-1) ?? '')?.ofDoubles === true;
    case 'A_Expr':
      return ARITHMETIC.has(namesOf(fields.name)[0]) && [fields.lexpr, fields.rexpr].some(isDouble);
    default:
      return false;
  }
}
