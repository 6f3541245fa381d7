/** Collects what the files of operations define, and checks that no id, address, tag or error code is defined twice. */
import type { ErrorDefinitions } from './errors.ts';
import type { Operation } from './operation.ts';
import type { TagDefinitions } from './tags.ts';

/** What a file of operations exports: operations under their ids, and maybe `tags` and `errors`. */
export type OperationFile = Record<string, unknown>;

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const address = (op: Operation) => `${op.path} ${METHODS.indexOf(op.method)}`;
/** To the router, paths that differ only in the names of their parameters are the same path. */
const route = (op: Operation) => `${op.method} ${op.path.replaceAll(/\{\w+\}/g, '{}')}`;

/** Returns the operations in the order of their paths, and refuses two with the same route. */
export function orderedOperations(byName: Record<string, unknown>): readonly Operation[] {
  const routes = new Map<string, string>();
  for (const [name, exported] of Object.entries(byName)) {
    const op = exported as Operation;
    if (op.id !== name) throw new Error(`the operation ${op.id} is exported as ${name}: use one name`);
    const other = routes.get(route(op));
    if (other) throw new Error(`${other} and ${op.id} are both ${route(op)}`);
    routes.set(route(op), op.id);
  }
  return (Object.values(byName) as Operation[]).sort((a, b) => (address(a) < address(b) ? -1 : 1));
}

/** For each name of an operation, tag or error code, the file that defines it. */
export interface Catalogue {
  operations: Map<string, string>;
  tags: Map<string, string>;
  errors: Map<string, string>;
}

export function collectFiles(files: Record<string, OperationFile>): Catalogue {
  const catalogue: Catalogue = { operations: new Map(), tags: new Map(), errors: new Map() };
  const add = (kind: keyof Catalogue, name: string, file: string) => {
    const other = catalogue[kind].get(name);
    if (other) throw new Error(`${name} is in ${other} and in ${file}: ${kind} have names of their own`);
    catalogue[kind].set(name, file);
  };
  for (const [file, exported] of Object.entries(files)) {
    const { tags = {}, errors = {}, ...operations } = exported;
    for (const tag of Object.keys(tags as TagDefinitions)) add('tags', tag, file);
    for (const code of Object.keys(errors as ErrorDefinitions)) add('errors', code, file);
    for (const [name, value] of Object.entries(operations)) {
      if (!isOperation(value)) throw new Error(`${file} exports ${name}, which is not an operation`);
      add('operations', value.id, file);
    }
    orderedOperations(operations);
  }
  return catalogue;
}

const isOperation = (value: unknown): value is Operation =>
  typeof value === 'object' && value !== null && 'id' in value && 'method' in value && 'path' in value;
