/** Which statements a server sends while something happens, except those in transactions. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Database, SingleStatement } from '../src/platform/db/database.ts';

const CHANNEL = 'oriel:single-statements';

export async function statementsDuring(
  db: Database,
  work: () => Promise<unknown>,
  onStatement: (statement: SingleStatement) => void = () => {},
) {
  const statements: SingleStatement['query'][] = [];
  const listen = (message: unknown) => {
    const statement = message as SingleStatement;
    if (statement.pool !== db.pool) return;
    statements.push(statement.query);
    onStatement(statement);
  };
  subscribe(CHANNEL, listen);
  try {
    await work();
  } finally {
    unsubscribe(CHANNEL, listen);
  }
  return statements;
}
