import type { Database } from '../src/platform/db/database.ts';
import type { Sql } from '../src/platform/db/sql.ts';

/** The same database, but reports each statement before it runs, which waits for the promise that it gets. */
export function observed(db: Database, tell: (text: string) => unknown): Database {
  return new Proxy(db, {
    get(_, name) {
      const value = Reflect.get(db, name) as unknown;
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        const told =
          name === 'as' ? undefined : tell(name === 'transaction' ? 'begin' : (args[0] as Sql).text);
        return told instanceof Promise ? told.then(() => value.apply(db, args)) : value.apply(db, args);
      };
    },
  });
}
